//! `pipemux app add`, `pipemux app remove`, `pipemux app new` and `pipemux app check`.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::fcntl::OFlag;
use pipemux_client::proto::ProviderId;
use pipemux_client::proto::client::{NewProvider, ProvidersArgs, Verb};
use pipemux_client::{ClientError, daemon};

use super::app_new;
use super::args::AppVerb;
use super::command_env::CommandEnv;
use super::requester::Requester;
use crate::output;

/// The exit status of an invalid command line.
const USAGE: u8 = 2;
/// Longest manifest that is read, in bytes; the daemon accepts less.
const MANIFEST_MAX: u64 = 256 * 1024;

/// Makes the request that takes an app away.
pub fn remove(provider: ProviderId) -> Verb {
    Verb::Providers(ProvidersArgs { remove: Some(provider), ..ProvidersArgs::default() })
}

/// Makes the request that adds an app.
///
/// # Errors
/// The manifest can't be read.
pub fn add(manifest: &Path, replace: bool, env: &dyn CommandEnv) -> Result<Verb, ClientError> {
    let path = env.absolute_path(manifest)?;
    let shown = path.display().to_string();
    let unreadable = |why: String| {
        ClientError::invalid(format!("{shown}: {why}"))
            .hint("expected a manifest: id = \"todo\" and command = \"/path/to/todo\", in TOML")
    };
    let text = read_manifest(&path).map_err(unreadable)?;
    let file = path.into_os_string().into_string().map_err(|path| {
        ClientError::invalid(format!("{}: the path is not UTF-8", path.display()))
            .hint("copy the manifest to a path that is")
    })?;
    let path = env.variables().into_iter().find(|(name, _)| name == "PATH");
    let path = path.and_then(|(_, value)| value.into_string().ok()).unwrap_or_default();
    let add = Some(NewProvider { file, text, replace, path });
    Ok(Verb::Providers(ProvidersArgs { add, ..ProvidersArgs::default() }))
}

/// Executes a verb that needs no daemon.
///
/// # Errors
/// `pipemuxd` can't be run.
pub fn execute(requester: &Requester, verb: AppVerb) -> Result<u8, ClientError> {
    let (manifest, args, destructive) = match verb {
        AppVerb::Check { manifest, args, destructive } => (manifest, args, destructive),
        AppVerb::New { name, lang, docui } => {
            let text = app_new::create(&name, lang, docui.as_deref())?;
            return Ok(output::print(&text));
        }
        AppVerb::Add { .. } | AppVerb::Remove { .. } => return Ok(USAGE),
    };
    let program = daemon::program_path(&requester.options);
    let mut command = Command::new(&program);
    command.arg("app-check");
    command.args(requester.global.json.then_some("--json"));
    command.args(destructive.then_some("--destructive"));
    command.arg(manifest).arg("--").args(args).stdin(Stdio::null());
    let ended = command.status().map_err(|error| {
        let next = "put pipemuxd beside pipemux or on PATH, or set PIPEMUX_DAEMON to its path";
        ClientError::invalid(format!("{} can't be started: {error}", program.display())).hint(next)
    })?;
    Ok(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Reads a manifest. Only regular files are read: a pipe could block, and a device might have no
/// end.
fn read_manifest(path: &Path) -> Result<String, String> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let read = |file: File| {
        // Asks the open file, because the path may lead to another file by now.
        let regular = file.metadata()?.is_file();
        let mut bytes = Vec::new();
        let most = if regular { MANIFEST_MAX + 1 } else { 0 };
        file.take(most).read_to_end(&mut bytes)?;
        Ok((regular, bytes))
    };
    let (regular, bytes) = opened.and_then(read).map_err(|error| error.to_string())?;
    if !regular {
        return Err("it is not a manifest, because it is not a regular file".into());
    }
    if bytes.len() as u64 > MANIFEST_MAX {
        return Err(format!(
            "it is not a manifest, because it is longer than {MANIFEST_MAX} bytes"
        ));
    }
    String::from_utf8(bytes).map_err(|_| "it is not a manifest, because it is not UTF-8".into())
}
