//! `pipemux setup`: writes what a harness needs to use PipeMux, and takes it out again.
//!
//! | module | holds |
//! |---|---|
//! | `harness` | which files each harness reads, and what belongs into them |
//! | `json` | edits of JSON with comments |
//! | `toml` | edits of TOML |
//! | `files` | reads and writes files whole, and shows differences |
//!
//! **Invariant: a user's file is never made worse.** Only PipeMux's own entries are touched; comments, order and
//! everything else stay. A file that can't be understood is left as it is, and what belongs into it is printed.

pub(super) mod files;
mod harness;
mod json;
mod toml;

#[cfg(test)]
mod tests;

use pipemux_client::ClientError;

use super::guide;
use crate::output;
pub use harness::Harness;
use harness::{Content, Places, Target};

/// What is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum With {
    /// The Model Context Protocol's server.
    Mcp,
    /// The command line: a skill, and hooks where the harness has them.
    Skill,
    Both,
}

/// The arguments of `setup`.
#[derive(Debug, Clone, Copy)]
pub struct SetupArgs {
    pub harness: Harness,
    pub with: With,
    pub project: bool,
    pub remove: bool,
    pub dry_run: bool,
}

/// Sets a harness up. Returns the exit status.
///
/// # Errors
/// There is no home directory, or a file can't be understood, read or written.
pub fn execute(args: SetupArgs) -> Result<u8, ClientError> {
    let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let directory = std::env::current_dir().ok();
    let places = Places::new(get, directory, args.project)?;
    let report = set_up(args, &places, &own_command())?;
    Ok(match output::write_stdout(report.as_bytes()) {
        Ok(_) => 0,
        Err(error) => {
            output::report_write_error(&error);
            1
        }
    })
}

/// Returns the command that starts this program: its name if the shell finds it by that, else its path.
fn own_command() -> String {
    let Ok(own) = std::env::current_exe() else { return "pipemux".to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|directory| directory.join("pipemux"));
    let first = found.into_iter().find(|path| path.is_file());
    let is_own = first.and_then(|path| path.canonicalize().ok()) == own.canonicalize().ok();
    match own.to_str().filter(|_| !is_own) {
        Some(path) => path.to_owned(),
        None => "pipemux".to_owned(),
    }
}

/// Makes the changes, and says which. All are worked out before the first file is written.
fn set_up(args: SetupArgs, places: &Places, command: &str) -> Result<String, ClientError> {
    let targets = args.harness.targets(places, args.with, command);
    if targets.is_empty() {
        let why = format!("{} has no skills: only its MCP server is set up", args.harness.name());
        return Err(ClientError::invalid(why).hint("leave out --with, or say --with mcp"));
    }
    let mut changes = Vec::new();
    for target in &targets {
        let before = files::read(&target.path)?;
        let after = edited(target, before.as_deref(), args.remove)
            .map_err(|why| unreadable(target, &why))?;
        if after.as_deref() != before.as_deref() {
            changes.push((target, before, after));
        }
    }
    let mut report = String::new();
    for (target, before, after) in &changes {
        report += &files::difference(&target.path, before.as_deref(), after.as_deref());
        if !args.dry_run {
            files::write(&target.path, after.as_deref())?;
        }
    }
    report += &match (changes.len(), args.dry_run, args.remove) {
        (0, _, false) => format!("{} is set up already: nothing changed\n", args.harness.name()),
        (0, _, true) => {
            format!("{} has nothing of PipeMux: nothing changed\n", args.harness.name())
        }
        (_, true, _) => "nothing was written: that was --dry-run\n".to_owned(),
        (_, false, true) => format!("PipeMux was removed from {}\n", args.harness.name()),
        (_, false, false) => format!(
            "{} is set up; it takes effect when {} starts again · take it back: pipemux setup {} --remove\n",
            args.harness.name(),
            args.harness.name(),
            args.harness.word()
        ),
    };
    Ok(report)
}

/// Returns a file's text after the change; `None` if there is to be no such file.
fn edited(target: &Target, before: Option<&str>, remove: bool) -> Result<Option<String>, String> {
    let text = before.unwrap_or_default();
    match (&target.content, remove) {
        (Content::Skill, true) => Ok(None),
        (Content::Skill, false) => Ok(Some(guide::skill())),
        // Where there is no file, there is nothing to take out.
        (_, true) if before.is_none() => Ok(None),
        (Content::Json(entries), remove) => json::edit(text, entries, remove).map(Some),
        (Content::Toml(server), false) => toml::set(text, server).map(Some),
        (Content::Toml(server), true) => toml::remove(text, server).map(Some),
    }
}

fn unreadable(target: &Target, why: &str) -> ClientError {
    let path = target.path.display();
    ClientError::invalid(format!("{path} can't be understood, so nothing was written: {why}"))
        .hint(format!("mend it, or add this by hand:\n{}", target.by_hand()))
}
