//! `pipemux mcp`: becomes the program that serves the Model Context Protocol.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use pipemux_client::ClientError;

use super::requester::Requester;

/// The name of the program, which is next to this one.
const PROGRAM: &str = "pipemux-mcp";

/// Replaces this process, so that a harness that ends it ends the bridge.
///
/// # Errors
/// The program isn't there.
pub fn execute(
    requester: &Requester,
    http: Option<Option<SocketAddr>>,
    diff: Option<u32>,
) -> Result<u8, ClientError> {
    let program = beside().unwrap_or_else(|| PROGRAM.into());
    let mut command = Command::new(&program);
    let global = &requester.global;
    for (name, value) in [("--reader", &global.reader), ("--workspace", &global.workspace)] {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    let numbers = [
        ("--budget", global.budget.map(|budget| budget.to_string())),
        ("--diff", diff.map(|diff| diff.to_string())),
        ("--timeout", global.timeout.map(|timeout| timeout.as_secs_f64().to_string())),
    ];
    for (name, value) in numbers {
        command.args(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    }
    if !requester.options.reader_token.is_empty() {
        command.env("PIPEMUX_READER_TOKEN", &requester.options.reader_token);
    }
    if let Some(address) = http {
        command.arg("--http").args(address.map(|address| address.to_string()));
    }
    let error = command.exec();
    Err(ClientError::invalid(format!("{} can't be started: {error}", program.display()))
        .hint(format!("put {PROGRAM} beside pipemux or on PATH")))
}

fn beside() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    // A symbolic link on PATH leads to the directory into which both were installed.
    let candidates = [own.canonicalize().ok()?, own];
    candidates.iter().map(|own| own.with_file_name(PROGRAM)).find(|path| path.is_file())
}
