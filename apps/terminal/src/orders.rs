//! Turns a call into the commands to run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use docui::{Context, Fault, FilePath, Secret};

use crate::limits::{COMMAND_MAX, SEQUENCE_MAX};
use crate::model::Terminal;
use crate::order::Order;

/// Returns what a call is to run: each line in the same directory, with the same variables.
///
/// # Errors
/// It can't be read as commands.
pub fn of_call(
    app: &Terminal,
    commands: &[String],
    cwd: Option<&FilePath>,
    env: &BTreeMap<String, Secret>,
    context: &Context,
) -> Result<Vec<Order>, Fault> {
    let bytes: usize = commands.iter().map(String::len).sum();
    let is_line = |line: &String| !line.trim().is_empty() && !line.contains('\0');
    if !commands.iter().all(is_line) || commands.is_empty() || bytes > COMMAND_MAX {
        return Err(Fault::usage(format!(
            "command: expected a line, or several to be run in order: ['cargo build', 'cargo test'], of {COMMAND_MAX} \
             bytes at most"
        )));
    }
    if commands.len() > SEQUENCE_MAX {
        let count = commands.len();
        return Err(Fault::usage(format!("command: {count} lines, at most {SEQUENCE_MAX}")));
    }
    let env: BTreeMap<String, String> =
        env.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned())).collect();
    let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
    if !env.iter().all(|(name, value)| is_name(name) && !value.contains('\0')) {
        return Err(Fault::usage("env: expected names and values: env={\"RUST_LOG\": \"debug\"}"));
    }
    let directory = app.directory(context);
    let cwd: PathBuf = cwd.map_or_else(|| directory.clone(), |cwd| directory.join(&cwd.0));
    let mut all = Vec::new();
    for command in commands {
        let mut opener = Cow::Borrowed(&app.env);
        let names_port = ["$PORT", "${PORT"].iter().any(|port| command.contains(port));
        if let Some((_, port)) = names_port.then(|| app.port_now()).flatten() {
            opener.to_mut().insert("PORT".into(), port.to_string());
        }
        all.push(Order::new(command.clone(), cwd.clone(), env.clone(), &opener));
    }
    Ok(all)
}
