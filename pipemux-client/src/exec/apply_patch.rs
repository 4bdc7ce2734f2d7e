//! OpenAI's `apply_patch`: a patch as the text of a custom tool or as a function's argument, and
//! single operations.

use std::time::Duration;

use super::arguments::Arguments;
use super::code::Code;
use super::daemon::{Daemon, Stopped};
use super::edits::forget_deleted;
use super::outcome::{Failure, Outcome, ToolAnswer};
use super::text::as_codex;

/// The beginnings of lines that name a file, and the letter by which the answer tells what became
/// of it.
const HEADS: &[(&str, char)] =
    &[("*** Add File: ", 'A'), ("*** Update File: ", 'M'), ("*** Delete File: ", 'D')];
const MOVE: &str = "*** Move to: ";

/// Applies all of a patch or nothing, and answers as Codex does.
///
/// # Errors
/// No daemon answers.
pub fn answer(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let patch = match arguments.optional_text("input")? {
        Some(patch) => patch,
        None => arguments.text("patch")?,
    };
    whole(patch, daemon)
}

/// Applies a patch.
///
/// # Errors
/// No daemon answers.
pub fn whole(patch: &str, daemon: &mut Daemon) -> Outcome {
    apply(patch, daemon)?;
    let summary = format!("Success. Updated the following files:\n{}", files(patch));
    Ok(ToolAnswer::done(as_codex(0, Duration::ZERO, &summary)))
}

/// Carries out one operation: `create_file`, `update_file` or `delete_file`.
///
/// # Errors
/// No daemon answers.
pub fn operation(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let (kind, path) = (arguments.text("type")?, arguments.text("path")?);
    let diff = arguments.optional_text("diff")?.unwrap_or_default();
    let diff = diff.strip_suffix('\n').unwrap_or(diff);
    let (head, done) = match kind {
        "create_file" => ("Add", "Created"),
        "update_file" => ("Update", "Updated"),
        "delete_file" => ("Delete", "Deleted"),
        _ => {
            let why =
                format!("there is no operation {kind}: create_file, update_file, delete_file");
            return Err(ToolAnswer::failed(why).into());
        }
    };
    let body =
        if kind == "delete_file" || diff.is_empty() { String::new() } else { format!("{diff}\n") };
    apply(&format!("*** Begin Patch\n*** {head} File: {path}\n{body}*** End Patch"), daemon)?;
    Ok(ToolAnswer::done(format!("{done} {path}")))
}

fn apply(patch: &str, daemon: &mut Daemon) -> Result<(), Failure> {
    let call = || Code::call("editor.apply").long_text("patch", patch);
    let mut applied = daemon.act(call());
    if let Err(Stopped::Told(fault)) = &applied {
        let mut forgot = false;
        for (_, path) in named(patch).into_iter().filter(|(letter, _)| *letter == 'A') {
            forgot |= forget_deleted(fault, path, daemon)?;
        }
        if forgot {
            applied = daemon.act(call());
        }
    }
    applied.map(drop).map_err(|stopped| match stopped {
        Stopped::Told(mut fault) => {
            fault.message = format!("apply_patch verification failed: {}", fault.message);
            Stopped::Told(fault).into()
        }
        lost => lost.into(),
    })
}

/// Lists the files of a patch: what was added, then changed, then deleted.
fn files(patch: &str) -> String {
    let named = named(patch);
    let of = |wanted: char| named.iter().filter(move |(letter, _)| *letter == wanted);
    let lines = ['A', 'M', 'D'].into_iter().flat_map(of);
    lines.map(|(letter, path)| format!("{letter} {path}\n")).collect()
}

/// Returns the files that a patch names, and what becomes of each.
fn named(patch: &str) -> Vec<(char, &str)> {
    let mut named: Vec<(char, &str)> = Vec::new();
    for line in patch.lines().map(str::trim_end) {
        if let Some((letter, path)) =
            HEADS.iter().find_map(|(head, letter)| Some((*letter, line.strip_prefix(head)?)))
        {
            named.push((letter, path));
        } else if let (Some(new), Some(last)) = (line.strip_prefix(MOVE), named.last_mut()) {
            last.1 = new;
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_as_codex_does() {
        let patch = "*** Begin Patch\n*** Delete File: d\n*** Update File: a b\n*** Move to: c\n@@\n-x\n+*** Add File: no\n*** Add File: n\n+y\n*** End Patch";
        assert_eq!(files(patch), "A n\nM c\nD d\n");
    }
}
