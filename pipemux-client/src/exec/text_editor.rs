//! Anthropic's text editor: `str_replace_based_edit_tool`, and its older names. Answers and errors are worded as those of the
//! reference implementation.

use std::path::Path;

use super::code::Code;
use super::daemon::{Daemon, Step};
use super::text::{clipped, lines, numbered};
use super::{Arguments, Outcome, ToolAnswer};
use pipemux_proto::Code as Kind;

/// Lines shown around an edit.
const SNIPPET_LINES: usize = 4;
/// Lines shown of a file that is too long to be sent whole.
const PAGE: usize = 1_000;
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
            create(
                path,
                required(arguments.optional_text("file_text")?, "file_text", command)?,
                daemon,
            )?;
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

fn required<T>(value: Option<T>, name: &str, command: &str) -> Result<T, super::Failure> {
    value.ok_or_else(|| {
        let why = format!("Parameter `{name}` is required for command: {command}");
        ToolAnswer::failed(why).into()
    })
}

/// Refuses a path that the command can't be about.
fn check(command: &str, path: &str) -> Result<(), super::Failure> {
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
            let count = read(path, daemon)?.map(|text| text.split('\n').count());
            (checked(&[first, last], count)?, usize::try_from(last).ok())
        }
        Some(_) => {
            let why = "Invalid `view_range`. It should be a list of two integers.";
            return Err(ToolAnswer::failed(why).into());
        }
    };
    let text = shown(path, first, last, daemon)?;
    let listed = numbered(&clipped(&text), first);
    Ok(ToolAnswer::done(format!("Here's the result of running `cat -n` on {path}:\n{listed}")))
}

/// Checks a range against the number of lines, where that is known, and returns its first line.
fn checked(range: &[i64; 2], count: Option<usize>) -> Result<usize, super::Failure> {
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

/// Returns lines of a file that the model is shown.
fn shown(
    path: &str,
    first: usize,
    last: Option<usize>,
    daemon: &mut Daemon,
) -> Result<String, super::Failure> {
    let call = |last: Option<usize>| {
        let call = Code::call("editor.view").text("path", path);
        match (first, last) {
            (1, None) => call,
            (_, None) => call.plain("view_range", format!("[{first}, -1]")),
            (_, Some(last)) => call.plain("view_range", format!("[{first}, {last}]")),
        }
    };
    let text = match reading(path, daemon.show(call(last)))?.value {
        Some(text) => text,
        None => {
            let page = first.saturating_add(PAGE).min(last.unwrap_or(usize::MAX));
            reading(path, daemon.show(call(Some(page))))?.value.unwrap_or_default()
        }
    };
    // Lines that end within the file end without their line break.
    Ok(match last {
        Some(_) => text.strip_suffix('\n').map(str::to_owned).unwrap_or(text),
        None => text,
    })
}

/// Returns a file's text as it is now; `None` if it is too long to be sent whole.
pub fn read(path: &str, daemon: &mut Daemon) -> Result<Option<String>, super::Failure> {
    let call = Code::call("editor.view").text("path", path);
    Ok(reading(path, daemon.look(call))?.value)
}

fn reading(path: &str, read: Result<Step, super::daemon::Stopped>) -> Result<Step, super::Failure> {
    read.map_err(|stopped| match super::Failure::from(stopped) {
        super::Failure::Told(answer) if answer.kind == Some(Kind::NotFound) => ToolAnswer::failed(
            format!("The path {path} does not exist. Please provide a valid path."),
        )
        .into(),
        super::Failure::Told(answer) => {
            ToolAnswer::failed(format!("Ran into {} while trying to read {path}", answer.text))
                .into()
        }
        lost => lost,
    })
}

/// Makes a file with exactly this text.
pub fn create(path: &str, text: &str, daemon: &mut Daemon) -> Result<Step, super::Failure> {
    let call = match text.is_empty() || text.ends_with('\n') {
        true => Code::call("editor.create").text("path", path).long_text("text", text),
        // The editor ends a new file with a line break; a patch says that there is none.
        false => {
            let lines: Vec<_> = text.split('\n').collect();
            let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
            let patch = format!(
                "--- /dev/null\n+++ {}\n@@ -0,0 +1,{} @@\n{added}\\ No newline at end of file\n",
                absolute(path),
                lines.len()
            );
            Code::call("editor.apply").long_text("patch", &patch)
        }
    };
    Ok(daemon.act(call)?)
}

/// Returns a path that a patch can name.
fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

fn str_replace(path: &str, old: &str, new: &str, daemon: &mut Daemon) -> Outcome {
    let before = read(path, daemon)?;
    let old_lines = unix(old);
    if let Some(before) = &before {
        let before = unix(before);
        let found: Vec<usize> = before.match_indices(&old_lines).map(|(at, _)| at).collect();
        let line_of =
            |at: &usize| newlines(before.get(..*at).unwrap_or_default()).saturating_add(1);
        match found.as_slice() {
            _ if old.is_empty() => {}
            [] => return Err(not_found(path, old)),
            [_] => {}
            _ => {
                let mut lines: Vec<usize> = found.iter().map(line_of).collect();
                lines.dedup();
                return Err(ToolAnswer::failed(format!(
                    "No replacement was performed. Multiple occurrences of old_str `{old}` in lines {lines:?}. Please ensure it is unique"
                ))
                .into());
            }
        }
    }
    let call = Code::call("editor.str_replace").text("path", path).text("old_str", old);
    daemon.act(call.long_text("new_str", new))?;
    let place = before.as_deref().map(unix);
    let place = place.as_deref().and_then(|before| before.split(&old_lines).next());
    let line = newlines(place.unwrap_or_default());
    let (from, to) = (line.saturating_sub(SNIPPET_LINES), line.saturating_add(SNIPPET_LINES));
    let to = to.saturating_add(newlines(new));
    let shown = snippet(path, from, to.saturating_add(1), &format!("a snippet of {path}"), daemon)?;
    Ok(ToolAnswer::done(format!(
        "The file {path} has been edited. {shown}Review the changes and make sure they are as expected. Edit the file again if necessary."
    )))
}

fn not_found(path: &str, old: &str) -> super::Failure {
    ToolAnswer::failed(format!(
        "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
    ))
    .into()
}

fn insert(path: &str, line: i64, text: &str, daemon: &mut Daemon) -> Outcome {
    let before = read(path, daemon)?;
    let count = before.as_deref().map(|before| before.split('\n').count());
    let most = count.map_or(i64::MAX, |count| i64::try_from(count).unwrap_or(i64::MAX));
    if line < 0 || line > most {
        let why = format!(
            "Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {most}]"
        );
        return Err(ToolAnswer::failed(why).into());
    }
    // What stands behind the last line break is a line in the tool's count, and none in the editor's.
    let ends_whole =
        before.as_deref().is_some_and(|before| before.ends_with('\n') || before.is_empty());
    let line = if ends_whole && line == most { line.saturating_sub(1) } else { line };
    let call = Code::call("editor.insert").text("path", path).plain("insert_line", line);
    daemon.act(call.long_text("insert_text", text))?;
    let line = usize::try_from(line).unwrap_or(0);
    let from = line.saturating_sub(SNIPPET_LINES);
    let inserted = text.strip_suffix('\n').unwrap_or(text).split('\n').count();
    let to = line.saturating_add(inserted).saturating_add(SNIPPET_LINES);
    let shown = snippet(path, from, to, "a snippet of the edited file", daemon)?;
    Ok(ToolAnswer::done(format!(
        "The file {path} has been edited. {shown}Review the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary."
    )))
}

/// Takes back the newest edit, if it was one of this file.
fn undo_edit(path: &str, daemon: &mut Daemon) -> Outcome {
    let none =
        || super::Failure::from(ToolAnswer::failed(format!("No edit history found for {path}.")));
    let preview =
        daemon.look(Code::call("editor.undo").plain("preview", true)).map_err(|stopped| {
            match super::Failure::from(stopped) {
                super::Failure::Told(_) => none(),
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
        true => shown(path, 1, None, daemon)?,
        false => String::new(),
    };
    let listed = numbered(&clipped(&text), 1);
    Ok(ToolAnswer::done(format!(
        "Last edit to {path} undone successfully. Here's the result of running `cat -n` on {path}:\n{listed}"
    )))
}

/// Shows lines around an edit, from 0; the whole file then counts as seen, since its other lines are the model's own.
fn snippet(
    path: &str,
    from: usize,
    end: usize,
    of: &str,
    daemon: &mut Daemon,
) -> Result<String, super::Failure> {
    let text = shown(path, 1, None, daemon)?;
    let listed =
        numbered(&clipped(&lines(&text, from.saturating_add(1), end)), from.saturating_add(1));
    Ok(format!("Here's the result of running `cat -n` on {of}:\n{listed}"))
}

fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}
