//! Anthropic's `memory`: files below `/memories`, as the tool's documentation words its answers.
//! They lie in PipeMux's state directory, a folder for each workspace: outside of the project, so
//! that no edit of it, and no undo, touches them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::daemon::Daemon;
use super::folders::{Entry, below, within};
use super::outcome::{Failure, Outcome, ToolAnswer};
use super::text::{SNIPPET_LINES, clipped, lines, numbered};

/// The path by which the model knows the folder.
const ROOT: &str = "/memories";
/// Most lines of a file that is shown.
const LINES_MAX: usize = 999_999;
/// Longest file, in bytes.
const FILE_MAX: usize = 8 * 1024 * 1024;
/// Levels of folders that a listing shows.
const DEPTH: usize = 2;

/// Carries out a command of the tool.
///
/// # Errors
/// It can't be done. No daemon is needed.
pub fn answer(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let command = arguments.text("command")?;
    let root = root(daemon);
    fs::create_dir_all(&root).map_err(|error| system(ROOT, &error))?;
    let place = |name: &str| -> Result<(&str, PathBuf), Failure> {
        let path = arguments.text(name)?;
        let place = place_of(&root, path);
        let why = || failed(format!("Error: Invalid path {path}. Paths must be within {ROOT}"));
        Ok((path, place.ok_or_else(why)?))
    };
    if command == "rename" {
        return rename(place("old_path")?, place("new_path")?, &root);
    }
    let (path, place) = place("path")?;
    let missing =
        |prefix: &str, rest: &str| failed(format!("{prefix}The path {path} does not exist{rest}"));
    match command {
        "view" if place.is_dir() => Ok(ToolAnswer::done(listing(path, &place))),
        "view" if !place.is_file() => Err(missing("", ". Please provide a valid path.")),
        "view" => view(path, &read(path, &place)?, arguments.range("view_range")?),
        "create" if place.exists() => Err(failed(format!("Error: File {path} already exists"))),
        "create" => {
            write(path, &place, arguments.text("file_text")?)?;
            Ok(ToolAnswer::done(format!("File created successfully at: {path}")))
        }
        "str_replace" if !place.is_file() => {
            Err(missing("Error: ", ". Please provide a valid path."))
        }
        "str_replace" => {
            let new = arguments.optional_text("new_str")?.unwrap_or_default();
            str_replace(path, &place, arguments.text("old_str")?, new)
        }
        "insert" if !place.is_file() => Err(missing("Error: ", "")),
        "insert" => {
            let line = arguments.optional_number("insert_line")?;
            let line = line.ok_or_else(|| arguments.wrong("insert_line", "an integer"))?;
            insert(path, &place, line, arguments.text("insert_text")?)
        }
        "delete" if place.symlink_metadata().is_err() => Err(missing("Error: ", "")),
        "delete" if place == root => {
            Err(failed(format!("Error: Cannot delete the {ROOT} directory itself")))
        }
        "delete" => {
            let is_folder = place.is_dir();
            let gone = if is_folder { fs::remove_dir_all(&place) } else { fs::remove_file(&place) };
            gone.map_err(|error| system(path, &error))?;
            Ok(ToolAnswer::done(format!("Successfully deleted {path}")))
        }
        _ => Err(failed(format!(
            "Unrecognized command {command}: view, create, str_replace, insert, delete, rename"
        ))),
    }
}

fn system(path: &str, error: &std::io::Error) -> Failure {
    failed(format!("Error: {path}: {error}"))
}

fn read(path: &str, place: &Path) -> Result<String, Failure> {
    fs::read_to_string(place).map_err(|error| system(path, &error))
}

/// Writes a file whole or not at all.
fn write(path: &str, place: &Path, text: &str) -> Result<(), Failure> {
    if text.len() > FILE_MAX {
        return Err(failed(format!("Error: {path} would have more than {FILE_MAX} bytes")));
    }
    let written = || {
        let folder = place.parent().unwrap_or(place);
        fs::create_dir_all(folder)?;
        let beside = folder.join(format!(".new-{}", std::process::id()));
        let mut file = fs::File::create(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, place)
    };
    written().map_err(|error| system(path, &error))
}

fn str_replace(path: &str, place: &Path, old: &str, new: &str) -> Outcome {
    let text = read(path, place)?;
    let line_of = |(at, _): (usize, &str)| {
        text.get(..at).unwrap_or_default().matches('\n').count().saturating_add(1)
    };
    let mut found: Vec<usize> = match old.is_empty() {
        true => Vec::new(),
        false => text.match_indices(old).map(line_of).collect(),
    };
    match found.as_slice() {
        [] => Err(failed(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        ))),
        [line] => {
            let text = text.replacen(old, new, 1);
            write(path, place, &text)?;
            let first = line.saturating_sub(SNIPPET_LINES).max(1);
            let last = line.saturating_add(new.matches('\n').count() + SNIPPET_LINES);
            let shown = numbered(&lines(&text, first, last), first);
            let shown = shown.trim_end_matches('\n');
            Ok(ToolAnswer::done(format!("The memory file has been edited.\n{shown}")))
        }
        _ => {
            found.dedup();
            let lines: Vec<String> = found.iter().map(usize::to_string).collect();
            Err(failed(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                lines.join(", ")
            )))
        }
    }
}

fn insert(path: &str, place: &Path, line: i64, added: &str) -> Outcome {
    let text = read(path, place)?;
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = usize::try_from(line).ok().filter(|at| *at <= lines.len());
    let at = at.ok_or_else(|| {
        failed(format!(
            "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {}]",
            lines.len()
        ))
    })?;
    let whole = format!("{}\n", added.strip_suffix('\n').unwrap_or(added));
    // Behind a last line without its line break that comes first.
    let is_open = at > 0 && at == lines.len() && !text.ends_with('\n');
    lines.insert(at, if is_open { "\n" } else { &whole });
    if is_open {
        lines.push(whole.strip_suffix('\n').unwrap_or(&whole));
    }
    write(path, place, &lines.concat())?;
    Ok(ToolAnswer::done(format!("The file {path} has been edited.")))
}

fn failed(why: String) -> Failure {
    ToolAnswer::failed(why).into()
}

/// Returns where a workspace's memories lie.
pub fn root(daemon: &Daemon) -> PathBuf {
    let options = daemon.options();
    let key = &options.workspace.key;
    let folder = match key.strip_prefix('/') {
        Some(path) => path.to_owned(),
        // A workspace that was named; a path has no such part.
        None => format!("@/{}", key.replace('/', "_").replace("..", "_")),
    };
    // Another workspace may lie within this one.
    options.paths.state_dir.join("memories").join(folder).join(".memories")
}

/// Returns where a path below `/memories` lies; `None` for any other.
fn place_of(root: &Path, path: &str) -> Option<PathBuf> {
    let rest = path.strip_prefix(ROOT)?;
    let relative = match rest.strip_prefix('/') {
        Some(relative) => relative.trim_end_matches('/'),
        None if rest.is_empty() => "",
        None => return None,
    };
    let is_plain = |part: &str| {
        let lower = part.to_ascii_lowercase();
        !matches!(part, "" | "." | "..")
            && !lower.contains("%2e")
            && !lower.contains("%2f")
            && !part.contains(['\\', '\0', '\n'])
    };
    if !relative.is_empty() && !relative.split('/').all(is_plain) {
        return None;
    }
    let place = if relative.is_empty() { root.to_owned() } else { root.join(relative) };
    within(root, &place).map(|_| place)
}

fn view(path: &str, text: &str, range: Option<Vec<i64>>) -> Outcome {
    if text.split('\n').count() > LINES_MAX {
        return Err(failed(format!("File {path} exceeds maximum line limit of 999,999 lines.")));
    }
    let (first, last) = match range.as_deref() {
        Some(&[first, last]) if first >= 1 && (last == -1 || last >= first) => {
            (usize::try_from(first).unwrap_or(1), usize::try_from(last).unwrap_or(usize::MAX))
        }
        Some(_) => {
            let why = "Invalid `view_range`. It should be a list of two integers.";
            return Err(failed(why.into()));
        }
        None => (1, usize::MAX),
    };
    let text = text.strip_suffix('\n').unwrap_or(text);
    let listed = numbered(&clipped(&lines(text, first, last)), first);
    let listed = listed.trim_end_matches('\n');
    Ok(ToolAnswer::done(format!("Here's the content of {path} with line numbers:\n{listed}")))
}

fn is_listed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.starts_with('.') && name != "node_modules"
}

fn listing(path: &str, place: &Path) -> String {
    let shown = path.trim_end_matches('/');
    let all = below(place, usize::MAX, &is_listed);
    let size_below = |folder: &Path| {
        all.iter()
            .filter(|entry| !entry.is_folder && entry.path.starts_with(folder))
            .map(|entry| entry.size)
            .sum()
    };
    let line = |entry: &Entry| {
        let size = if entry.is_folder { size_below(&entry.path) } else { entry.size };
        let rest = entry.path.strip_prefix(place).unwrap_or(&entry.path).display();
        format!("\n{}\t{shown}/{rest}", size_words(size))
    };
    let depth = |entry: &&Entry| {
        entry.path.strip_prefix(place).is_ok_and(|rest| rest.components().count() <= DEPTH)
    };
    let lines: String = all.iter().filter(depth).map(line).collect();
    format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:\n{}\t{shown}{lines}",
        size_words(size_below(place))
    )
}

/// Writes a size as `du -h` does: `5.5K`.
fn size_words(bytes: u64) -> String {
    let mut size = bytes as f64;
    for unit in ["B", "K", "M"] {
        if size < 1024.0 {
            return if unit == "B" { format!("{bytes}B") } else { format!("{size:.1}{unit}") };
        }
        size /= 1024.0;
    }
    format!("{size:.1}G")
}

fn rename((old, from): (&str, PathBuf), (new, to): (&str, PathBuf), root: &Path) -> Outcome {
    if from.symlink_metadata().is_err() {
        return Err(failed(format!("Error: The path {old} does not exist")));
    }
    if to.symlink_metadata().is_ok() {
        return Err(failed(format!("Error: The destination {new} already exists")));
    }
    if from == root || to.starts_with(&from) {
        return Err(failed(format!("Error: {old} cannot be renamed to {new}")));
    }
    let folder = to.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::rename(&from, &to)).map_err(|error| system(old, &error))?;
    Ok(ToolAnswer::done(format!("Successfully renamed {old} to {new}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_root_have_a_place() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "/memories",
            "/memories/",
            "/memories/a.md",
            "/memories/a/b c/深い.txt",
            "/memories/a/",
        ] {
            assert!(place_of(root.path(), path).is_some(), "{path}");
        }
        for path in [
            "",
            "/",
            "memories",
            "/memoriesx",
            "/memories/../x",
            "/memories/a/../../x",
            "/memories/./a",
            "/memories/%2e%2e/x",
            "/memories/%2E%2E%2fx",
            "/memories/..\\x",
            "/memories//a",
            "/etc/passwd",
        ] {
            assert!(place_of(root.path(), path).is_none(), "{path}");
        }
    }

    #[test]
    fn sizes_are_written_as_documented() {
        for (bytes, words) in [(0, "0B"), (1023, "1023B"), (5632, "5.5K"), (1_258_291, "1.2M")] {
            assert_eq!(size_words(bytes), words);
        }
    }
}
