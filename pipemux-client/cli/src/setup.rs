//! `pipemux setup`: writes what a harness needs to use PipeMux, and takes it out again.
//!
//! | module | holds |
//! |---|---|
//! | `harness` | which files each harness reads, and what belongs into them |
//! | `json` | edits of JSON with comments |
//! | `toml` | edits of TOML |
//! | `block` | edits of Markdown |
//! | `endings` | keeps what editors put around lines |
//! | `records` | what was changed, so that it is taken back exactly |
//! | `files` | reads and writes files whole, all or none, and shows differences |
//!
//! **Invariant: a user's file is never made worse.** Only PipeMux's own entries are touched;
//! comments, order and everything else stay. A file that can't be understood is left as it is, and
//! what belongs into it is printed.

mod block;
mod endings;
pub(super) mod files;
mod harness;
mod json;
mod records;
mod toml;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod user_files_tests;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use pipemux_client::ClientError;

use super::args::{Harness, With};
use super::changes::Changes;
use super::guide;
use super::requester::Requester;
use harness::{Content, Places, Target};
use records::{Change, Records};

/// The most attempts to edit a file that another program keeps changing.
const ATTEMPTS: u32 = 8;

#[derive(Debug, Clone, Copy)]
pub struct SetupArgs {
    pub harness: Harness,
    /// Without it, the server is set up, and everything is taken out.
    pub with: Option<With>,
    pub project: bool,
    pub remove: bool,
    pub dry_run: bool,
}

/// Sets a harness up. Returns the exit status.
///
/// # Errors
/// There is no home directory, or a file can't be understood, read or written.
pub fn execute(requester: &Requester, args: SetupArgs) -> Result<u8, ClientError> {
    let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let directory = std::env::current_dir().ok();
    let places = Places::new(get, directory, args.project)?;
    let own = std::env::current_exe().unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let (changes, said) = set_up(args, &places, &own_command(&own, &path, args.project))?;
    Ok(changes.print(requester, &said))
}

/// Returns the command that starts the program `own`: its absolute path, since a harness that a
/// desktop starts may not have the shell's PATH. One in the PATH that is the same program stays
/// where it is when that is updated. In the files of a project, which are of all who work on it, it
/// is the name, if the shell finds the program by that.
fn own_command(own: &Path, path: &OsStr, project: bool) -> String {
    let found = std::env::split_paths(path).map(|directory| directory.join("pipemux"));
    let first = found.into_iter().find(|path| path.is_file());
    let real = |path: &Path| path.canonicalize().ok();
    let found = first.filter(|first| real(first).is_some() && real(first) == real(own));
    match found {
        Some(_) if project => "pipemux".to_owned(),
        found => {
            let command = found.filter(|path| path.is_absolute()).unwrap_or_else(|| own.to_owned());
            command.to_str().filter(|path| !path.is_empty()).unwrap_or("pipemux").to_owned()
        }
    }
}

/// Makes the changes, and says which, with a last line. All are worked out before the first file is
/// written.
fn set_up(
    args: SetupArgs,
    places: &Places,
    command: &str,
) -> Result<(Changes, String), ClientError> {
    let with = args.with.unwrap_or(if args.remove { With::Both } else { With::Mcp });
    let targets = args.harness.targets(places, with, command);
    if targets.is_empty() {
        let why = format!("{} belongs to a project", args.harness.name());
        return Err(ClientError::invalid(why)
            .hint(format!("pipemux setup {} --project", args.harness.word()))
            .hint("or a skill for all projects: --with skill"));
    }
    if let Some(root) = places.project() {
        // What the project contains may be anybody's: its links lead no write out of it.
        for Target { path, .. } in &targets {
            files::check_inside(path, root)?;
        }
    }
    let mut records = Records::open(&places.state, args.dry_run)?;
    for _ in 0..ATTEMPTS {
        if let Some(report) = attempt(args, &targets, &mut records)? {
            return Ok(report);
        }
    }
    let why = "another program keeps writing the same file: no file was changed";
    Err(ClientError::invalid(why).hint(format!("end {} and do it again", args.harness.name())))
}

/// Makes the changes once. Returns `None` if another program wrote one of the files meanwhile.
fn attempt(
    args: SetupArgs,
    targets: &[Target],
    records: &mut Records,
) -> Result<Option<(Changes, String)>, ClientError> {
    let name = args.harness.name();
    let mut changes = Vec::new();
    for target in targets {
        let before = files::read(&target.path)?;
        let after = edited(target, before.as_deref(), args.remove, records)?;
        if after.as_deref() != before.as_deref() {
            changes.push((target.path.as_path(), before, after));
        }
    }
    let mut report = Changes::new(args.dry_run);
    for (path, before, after) in &changes {
        report.file(path, &files::difference(path, before.as_deref(), after.as_deref()));
    }
    if changes.is_empty() {
        let said = match args.remove {
            false => format!("{name} is set up already: nothing changed"),
            true => format!("{name} has nothing of PipeMux: nothing changed"),
        };
        return Ok(Some((report, said)));
    }
    if args.dry_run {
        return Ok(Some((report, "nothing was written: that was --dry-run".to_owned())));
    }
    // A project's files are meant for all who work on it.
    let mode = if args.project { 0o644 } else { 0o600 };
    let replacements: Vec<files::Replacement<'_>> = changes
        .iter()
        .map(|(path, before, after)| (*path, before.as_deref(), after.as_deref()))
        .collect();
    let is_missing = |(path, ..): &files::Replacement<'_>| !files::directory(path).exists();
    let missing: Vec<bool> = replacements.iter().map(is_missing).collect();
    if files::replace(&replacements, mode)? == files::Replaced::Changed {
        return Ok(None);
    }
    let paths: Vec<&Path> = changes.iter().map(|(path, _, _)| *path).collect();
    let made = |((path, before, after), missing): (&files::Replacement<'_>, &bool)| {
        Some(Change::new(path, *before, (*after)?).with_directory(*missing))
    };
    match args.remove {
        true => {
            let is_gone = |path: &&&Path| !path.exists() && records.made_directory(path);
            for path in paths.iter().filter(is_gone) {
                // It may have other files by now.
                let _ = fs::remove_dir(files::directory(path));
            }
            records.update(Vec::new(), &paths)?;
        }
        false => {
            records.update(replacements.iter().zip(&missing).filter_map(made).collect(), &[])?;
        }
    }
    let said = match args.remove {
        true => format!("PipeMux was removed from {name}"),
        false => {
            let project = if args.project { " --project" } else { "" };
            let word = args.harness.word();
            format!(
                "{name} is set up; new sessions have it · take it back: pipemux setup {word}{project} --remove"
            )
        }
    };
    Ok(Some((report, said)))
}

/// Returns a file's text after the change; `None` if there is to be no such file.
fn edited(
    target: &Target,
    before: Option<&str>,
    remove: bool,
    records: &Records,
) -> Result<Option<String>, ClientError> {
    let text = before.unwrap_or_default();
    // Where there is no file, there is nothing to take out.
    if remove && before.is_none() {
        return Ok(None);
    }
    if let Content::Skill = target.content {
        return skill(target, before, remove, records);
    }
    let entries_only = |text: &str| match (&target.content, remove) {
        (Content::Json(entries), remove) => json::edit(text, entries, remove),
        (Content::Toml(server), false) => toml::set(text, server),
        (Content::Toml(server), true) => toml::remove(text, server),
        (Content::Block(block), remove) => block::edit(text, block, remove),
        (Content::Skill, _) => Ok(text.to_owned()),
    };
    let after = endings::keep(text, entries_only).map_err(|why| unreadable(target, &why))?;
    if !remove || after == text {
        return Ok(Some(after));
    }
    // What PipeMux wrote is taken back to the byte, where that says the same as without its
    // entries.
    let says_the_same = |text: &str| match target.content {
        Content::Toml(_) => {
            toml::meaning(text).is_some_and(|said| toml::meaning(&after) == Some(said))
        }
        Content::Block(_) => plain(text).trim_end() == plain(&after).trim_end(),
        _ => json::meaning(plain(text))
            .is_some_and(|said| json::meaning(plain(&after)) == Some(said)),
    };
    let mut taken = Some(text.to_owned());
    for change in records.of(&target.path) {
        let Some(now) = &taken else { break };
        if let Some(before) = change.take_back(now) {
            taken = before;
        }
    }
    let found = Some(taken).filter(|taken| says_the_same(taken.as_deref().unwrap_or_default()));
    Ok(found.unwrap_or(Some(after)))
}

/// Returns a text without the mark that some editors write at its beginning.
fn plain(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns the skill's file after the change. One that the user wrote, or edited, is the user's.
fn skill(
    target: &Target,
    before: Option<&str>,
    remove: bool,
    records: &Records,
) -> Result<Option<String>, ClientError> {
    let wanted = guide::skill();
    let is_own = |text: &str| text == wanted || records.is_as_written(&target.path, text);
    match before {
        Some(text) if !is_own(text) => {
            let path = target.path.display();
            let why = format!("{path} isn't as PipeMux wrote it: no file was changed");
            Err(ClientError::invalid(why).hint(format!("move it away: mv {path} {path}.own")))
        }
        _ => Ok((!remove).then_some(wanted)),
    }
}

fn unreadable(target: &Target, why: &str) -> ClientError {
    let path = target.path.display();
    ClientError::invalid(format!("{path} can't be understood, so nothing was written: {why}"))
        .hint(format!("mend it, or add this by hand:\n{}", target.by_hand()))
}
