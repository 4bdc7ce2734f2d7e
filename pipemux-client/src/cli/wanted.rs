//! Verbs that are one request to the daemon each.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use nix::fcntl::OFlag;
use pipemux_client::ClientError;
use pipemux_client::proto::client::{NewProvider, Providers, Verb as Wanted, View};

use super::args::{AppVerb, Verb};
use super::around::Around;
use super::{open, run};

/// Longest manifest that is read, in bytes; the daemon takes less.
const MANIFEST_MAX: u64 = 256 * 1024;

/// A command line's verb.
#[derive(Debug)]
pub enum Means {
    /// One request.
    Request(Wanted),
    /// More than that.
    More(Verb),
}

/// What a verb asks of the daemon, if that is one request.
///
/// # Errors
/// What it needs can't be had; its words can't be meant so.
pub fn wanted(verb: Verb, around: &dyn Around) -> Result<Means, ClientError> {
    Ok(Means::Request(match verb {
        Verb::Open { target, args, pin, unpin } => {
            open::wanted(target, args, (pin || unpin).then_some(pin), around)?
        }
        Verb::View { session, since, wait } => {
            let wait_ms = wait.map_or(0, milliseconds);
            Wanted::View(View { session, since, wait_ms })
        }
        Verb::Click { link } => Wanted::Click { link },
        Verb::Run { code } => run::wanted(code, around)?,
        // The words of an answer are one: `all but 2` may stand unquoted.
        Verb::Answer { words, to } => Wanted::Answer { text: words.join(" "), to },
        Verb::Read { target } => Wanted::Read { target },
        Verb::Help { provider: Some(provider) } => Wanted::Help { provider },
        Verb::Close { session, end } => Wanted::Close { session, end },
        Verb::History { detail, rounds } => Wanted::History { detail, rounds },
        Verb::Set { option, value } => Wanted::Set { option, value },
        Verb::Apps => Wanted::Apps,
        Verb::App(verb) => Wanted::Providers(app(verb, around)?),
        Verb::Sessions => Wanted::Sessions,
        Verb::Logs { session, lines, follow: false } => {
            Wanted::Logs { session, lines, after: None, wait_ms: 0 }
        }
        Verb::Restart { session } => Wanted::Restart { session },
        Verb::End { session } => Wanted::End { session },
        Verb::Up => Wanted::Status,
        more => return Ok(Means::More(more)),
    }))
}

/// How much longer than others a request may take, for it waits for something to happen.
pub fn patience(verb: &Wanted) -> Duration {
    let wait_ms = match verb {
        Wanted::View(view) => view.wait_ms,
        Wanted::Watch(watch) => watch.wait_ms,
        Wanted::Logs { wait_ms, .. } => *wait_ms,
        _ => 0,
    };
    Duration::from_millis(wait_ms.into())
}

/// A time as the wire has it: less than one counts as one.
pub fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1)
}

fn app(verb: AppVerb, around: &dyn Around) -> Result<Providers, ClientError> {
    let (manifest, replace) = match verb {
        AppVerb::Add { manifest, replace } => (manifest, replace),
        AppVerb::Remove { provider } => {
            return Ok(Providers { remove: Some(provider), ..Providers::default() });
        }
    };
    let path = around.absolute(&manifest)?;
    let shown = path.display().to_string();
    let cannot = |why: String| {
        ClientError::invalid(format!("{shown}: {why}"))
            .hint("expected a manifest: id = \"todo\" and command = \"/path/to/todo\", in TOML")
    };
    let text = text_of(&path).map_err(cannot)?;
    let file = path.into_os_string().into_string().map_err(|path| {
        ClientError::invalid(format!("{}: the path is not UTF-8", path.display()))
            .hint("copy the manifest to a path that is")
    })?;
    let variables = around.variables();
    let path = variables.into_iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    let path = path.and_then(|path| path.into_string().ok()).unwrap_or_default();
    let add = Some(NewProvider { file, text, replace, path });
    Ok(Providers { add, ..Providers::default() })
}

/// A manifest's text; a pipe is not waited for, and what has no end isn't read to it.
fn text_of(path: &Path) -> Result<String, String> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let read = |file: File| {
        // Of what was opened: a path may mean something else by now.
        let regular = file.metadata()?.is_file();
        let mut bytes = Vec::new();
        let most = if regular { MANIFEST_MAX + 1 } else { 0 };
        file.take(most).read_to_end(&mut bytes)?;
        Ok((regular, bytes))
    };
    let (regular, bytes) = opened.and_then(read).map_err(|error| error.to_string())?;
    if !regular {
        return Err("it is no manifest, for it is not a regular file".into());
    }
    if bytes.len() as u64 > MANIFEST_MAX {
        return Err(format!("it is no manifest, for it is longer than {MANIFEST_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is no manifest, for it is not UTF-8".into())
}
