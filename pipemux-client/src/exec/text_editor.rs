//! Anthropic's text editor: `str_replace_based_edit_tool`, and its older names. Answers and errors
//! are worded as those of the reference implementation.

use std::path::Path;

use super::arguments::Arguments;
use super::code::Code;
use super::daemon::{Daemon, Step};
use super::edits::{Target, Unreplaced, absolute};
use super::outcome::{Failure, Outcome, ToolAnswer};
use super::text::{clipped, numbered};

const COMMANDS: &str = "view, create, str_replace, insert, undo_edit";

/// Carries out a command of the tool.
///
/// # Errors
/// No daemon answers.
pub fn answer(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let command = arguments.text("command")?;
    let path = arguments.text("path")?;
    check(command, path)?;
    match command {
        "view" => view(path, arguments.range("view_range")?, daemon),
        "create" => {
            let text = required(arguments.optional_text("file_text")?, "file_text", command)?;
            Target(path).create(text, daemon)?;
            Ok(ToolAnswer::done(format!("File created successfully at: {path}")))
        }
        "str_replace" => {
            let old = required(arguments.optional_text("old_str")?, "old_str", command)?;
            str_replace(path, old, arguments.optional_text("new_str")?.unwrap_or_default(), daemon)
        }
        "insert" => {
            let line = required(arguments.optional_number("insert_line")?, "insert_line", command)?;
            let text = match arguments.optional_text("insert_text")? {
                Some(text) => text,
                None => required(arguments.optional_text("new_str")?, "new_str", command)?,
            };
            insert(path, line, text, daemon)
        }
        "undo_edit" => undo_edit(path, daemon),
        _ => Err(ToolAnswer::failed(format!(
            "Unrecognized command {command}. The allowed commands for the {} tool are: {COMMANDS}",
            arguments.tool
        ))
        .into()),
    }
}

fn required<T>(value: Option<T>, name: &str, command: &str) -> Result<T, Failure> {
    value.ok_or_else(|| {
        let why = format!("Parameter `{name}` is required for command: {command}");
        ToolAnswer::failed(why).into()
    })
}

/// Refuses a path that the command can't be about.
fn check(command: &str, path: &str) -> Result<(), Failure> {
    let on_disk = Path::new(path);
    let why = match command {
        "create" if on_disk.exists() => {
            format!(
                "File already exists at: {path}. Cannot overwrite files using command `create`."
            )
        }
        "create" => return Ok(()),
        // An undone edit may be the one that made or removed it.
        "undo_edit" if !on_disk.is_dir() => return Ok(()),
        _ if !on_disk.exists() => {
            format!("The path {path} does not exist. Please provide a valid path.")
        }
        "view" => return Ok(()),
        _ if on_disk.is_dir() => format!(
            "The path {path} is a directory and only the `view` command can be used on directories"
        ),
        _ => return Ok(()),
    };
    Err(ToolAnswer::failed(why).into())
}

fn view(path: &str, range: Option<Vec<i64>>, daemon: &mut Daemon) -> Outcome {
    if Path::new(path).is_dir() {
        if range.is_some() {
            let why =
                "The `view_range` parameter is not allowed when `path` points to a directory.";
            return Err(ToolAnswer::failed(why).into());
        }
        let Step { value, content, .. } =
            daemon.show(Code::call("editor.view").text("path", path))?;
        let root = path.trim_end_matches('/');
        let entry = |name: &str| format!("\n{root}/{}", name.trim_end_matches('/'));
        let mut listed: String = value.unwrap_or_default().lines().map(entry).collect();
        let more = content.lines().last().filter(|line| line.starts_with('…'));
        more.into_iter().for_each(|more| listed.extend(["\n", more]));
        return Ok(ToolAnswer::done(format!(
            "Here's the files and directories up to 2 levels deep in {path}, excluding hidden items:\n{path}{listed}\n\n"
        )));
    }
    let (first, last) = match range.as_deref() {
        None => (1, None),
        Some(&[first, last]) => {
            let count = Target(path).read(daemon)?.map(|text| text.split('\n').count());
            (checked(&[first, last], count)?, usize::try_from(last).ok())
        }
        Some(_) => {
            let why = "Invalid `view_range`. It should be a list of two integers.";
            return Err(ToolAnswer::failed(why).into());
        }
    };
    let text = Target(path).show(first, last, daemon)?;
    let listed = numbered(&clipped(&text), first);
    Ok(ToolAnswer::done(format!("Here's the result of running `cat -n` on {path}:\n{listed}")))
}

/// Checks a range against the number of lines, where that is known, and returns its first line.
fn checked(range: &[i64; 2], count: Option<usize>) -> Result<usize, Failure> {
    let [first, last] = *range;
    let count = count.map_or(i64::MAX, |count| i64::try_from(count).unwrap_or(i64::MAX));
    let why = if first < 1 || first > count {
        format!(
            "Its first element `{first}` should be within the range of lines of the file: [1, {count}]"
        )
    } else if last > count {
        format!(
            "Its second element `{last}` should be smaller than the number of lines in the file: `{count}`"
        )
    } else if last != -1 && last < first {
        format!("Its second element `{last}` should be larger or equal than its first `{first}`")
    } else {
        return Ok(usize::try_from(first).unwrap_or(1));
    };
    Err(ToolAnswer::failed(format!("Invalid `view_range`: [{first}, {last}]. {why}")).into())
}

fn str_replace(path: &str, old: &str, new: &str, daemon: &mut Daemon) -> Outcome {
    let shown = Target(path).replace(old, new, daemon).map_err(|why| match why {
        Unreplaced::Missing => ToolAnswer::failed(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        ))
        .into(),
        Unreplaced::Several(lines) => ToolAnswer::failed(format!(
            "No replacement was performed. Multiple occurrences of old_str `{old}` in lines {lines:?}. Please ensure it is unique"
        ))
        .into(),
        Unreplaced::Other(failure) => failure,
    })?;
    Ok(ToolAnswer::done(format!(
        "The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:\n{shown}Review the changes and make sure they are as expected. Edit the file again if necessary."
    )))
}

fn insert(path: &str, line: i64, text: &str, daemon: &mut Daemon) -> Outcome {
    let shown = Target(path).insert(line, text, daemon)?;
    Ok(ToolAnswer::done(format!(
        "The file {path} has been edited. Here's the result of running `cat -n` on a snippet of the edited file:\n{shown}Review the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary."
    )))
}

/// Takes back the newest edit, if it was one of this file.
fn undo_edit(path: &str, daemon: &mut Daemon) -> Outcome {
    let none = || Failure::from(ToolAnswer::failed(format!("No edit history found for {path}.")));
    let preview =
        daemon.look(Code::call("editor.undo").plain("preview", true)).map_err(|stopped| {
            match Failure::from(stopped) {
                Failure::Told(_) => none(),
                lost => lost,
            }
        })?;
    // It names the files behind a colon: `1 file: a.txt (deleted)`.
    let named = preview.brief.rsplit(": ").next().unwrap_or_default().split(", ");
    let is_meant = |name: &str| {
        Path::new(&absolute(path)).ends_with(name.split(" (").next().unwrap_or_default())
    };
    if named.filter(|name| !name.is_empty()).all(|name| !is_meant(name)) {
        return Err(none());
    }
    daemon.act(Code::call("editor.undo"))?;
    let text = match Path::new(path).exists() {
        true => Target(path).show(1, None, daemon)?,
        false => String::new(),
    };
    let listed = numbered(&clipped(&text), 1);
    Ok(ToolAnswer::done(format!(
        "Last edit to {path} undone successfully. Here's the result of running `cat -n` on {path}:\n{listed}"
    )))
}
