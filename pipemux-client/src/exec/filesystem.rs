//! The tools of the MCP reference server for files. They reach what lies in the workspace, as that
//! server reaches its allowed directories. Texts are read and edited by the editor; folders are
//! made, and moved, by commands of the terminal.

mod date;
mod edit;

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pipemux_proto::command;
use serde::Serialize;
use serde_json::Value;

use super::arguments::Arguments;
use super::bash::{PATIENCE, run};
use super::code::Code;
use super::daemon::Daemon;
use super::edits::{Target, absolute};
use super::folders::{below, entries, matches, within};
use super::outcome::{Failure, Outcome, ToolAnswer};
use date::date;
pub use edit::edit;

/// `read_text_file`: all of it, or its first or last lines.
///
/// # Errors
/// It can't be read, or no daemon answers.
pub fn read(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let path = allowed_path(arguments.text("path")?, daemon)?;
    let lines = |name| {
        let number = arguments.optional_number(name)?.filter(|number| *number > 0);
        Ok::<_, Failure>(number.and_then(|number| usize::try_from(number).ok()))
    };
    let (head, tail) = (lines("head")?, lines("tail")?);
    if head.is_some() && tail.is_some() {
        return Err(failed("Cannot specify both head and tail parameters simultaneously"));
    }
    let text = text_of(&path, daemon)?;
    let kept: Vec<&str> = text.split('\n').collect();
    let text = match (head, tail) {
        (Some(head), _) => kept.get(..head).map_or(text.clone(), |kept| kept.join("\n")),
        (_, Some(tail)) => {
            kept.get(kept.len().saturating_sub(tail)..).unwrap_or_default().join("\n")
        }
        _ => text,
    };
    Ok(ToolAnswer::done(text))
}

/// `read_multiple_files`: one that can't be read doesn't stop the others.
///
/// # Errors
/// No daemon answers.
pub fn read_several(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let mut parts = Vec::new();
    for path in texts(arguments, "paths")? {
        let read = allowed_path(path, daemon).and_then(|real| text_of(&real, daemon));
        parts.push(match read {
            Ok(text) => format!("{path}:\n{text}\n"),
            Err(Failure::Told(answer)) => format!("{path}: Error - {}", answer.text),
            Err(lost) => return Err(lost),
        });
    }
    Ok(ToolAnswer::done(parts.join("\n---\n")))
}

/// `write_file`: a new file, or another text for one.
///
/// # Errors
/// It can't be written, or no daemon answers.
pub fn write(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let path = arguments.text("path")?;
    let real = allowed_path(path, daemon)?;
    Target(&real).write(arguments.text("content")?, daemon)?;
    Ok(ToolAnswer::done(format!("Successfully wrote to {path}")))
}

/// `create_directory`.
///
/// # Errors
/// It can't be made, or no daemon answers.
pub fn create_directory(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let path = arguments.text("path")?;
    let real = allowed_path(path, daemon)?;
    if !Path::new(&real).is_dir() {
        by_command(&["mkdir", "-p", "--", &real], daemon)?;
    }
    Ok(ToolAnswer::done(format!("Successfully created directory {path}")))
}

/// `list_directory`.
///
/// # Errors
/// It can't be read.
pub fn list(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let real = allowed_path(arguments.text("path")?, daemon)?;
    let found = entries(Path::new(&real)).map_err(|error| node_error(&error, "scandir", &real))?;
    let lines: Vec<String> = found
        .iter()
        .map(|entry| {
            format!("{} {}", if entry.is_folder { "[DIR]" } else { "[FILE]" }, name_of(&entry.path))
        })
        .collect();
    Ok(ToolAnswer::done(lines.join("\n")))
}

/// `directory_tree`: as JSON.
///
/// # Errors
/// It can't be read.
pub fn tree(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let real = allowed_path(arguments.text("path")?, daemon)?;
    let excluded = excluded(arguments, true)?;
    let root = Path::new(&real);
    entries(root).map_err(|error| node_error(&error, "scandir", &real))?;
    let mut all = below(root, usize::MAX, &|path| !excluded(&relative(root, path)));
    // Each folder stands before what it has, so from the end each is complete before it is put into
    // its own.
    let mut inner: Vec<(PathBuf, Vec<Node>)> = Vec::new();
    while let Some(entry) = all.pop() {
        let children = match inner.last() {
            Some((folder, _)) if *folder == entry.path => inner.pop().map(|(_, nodes)| nodes),
            _ => None,
        };
        let in_order = |nodes: Vec<Node>| nodes.into_iter().rev().collect();
        let node = Node {
            name: name_of(&entry.path),
            kind: if entry.is_folder { "directory" } else { "file" },
            children: entry.is_folder.then(|| in_order(children.unwrap_or_default())),
        };
        let parent = entry.path.parent().unwrap_or(root);
        match inner.last_mut() {
            Some((folder, nodes)) if folder == parent => nodes.push(node),
            _ => inner.push((parent.to_owned(), vec![node])),
        }
    }
    let nodes: Vec<Node> = inner.pop().unwrap_or_default().1.into_iter().rev().collect();
    Ok(ToolAnswer::done(serde_json::to_string_pretty(&nodes).unwrap_or_default()))
}

/// An entry of a directory tree.
#[derive(Serialize)]
struct Node {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<Node>>,
}

/// `move_file`: a file or a folder, never over another one.
///
/// # Errors
/// It can't be moved, or no daemon answers.
pub fn move_file(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let (source, destination) = (arguments.text("source")?, arguments.text("destination")?);
    let (from, to) = (allowed_path(source, daemon)?, allowed_path(destination, daemon)?);
    let about = Path::new(&from).symlink_metadata();
    let about = about.map_err(|error| node_error(&error, "rename", &from))?;
    if Path::new(&to).symlink_metadata().is_ok() {
        return Err(failed(format!("Destination already exists: {to}")));
    }
    let patch =
        format!("*** Begin Patch\n*** Update File: {from}\n*** Move to: {to}\n*** End Patch\n");
    let is_text = about.is_file() && !from.contains('\n') && !to.contains('\n');
    let moved = match is_text {
        true => daemon.act(Code::call("editor.apply").long_text("patch", &patch)).is_ok(),
        false => false,
    };
    if !moved {
        by_command(&["mv", "-n", "-T", "--", &from, &to], daemon)?;
    }
    Ok(ToolAnswer::done(format!("Successfully moved {source} to {destination}")))
}

/// `search_files`: by their names.
///
/// # Errors
/// It can't be read.
pub fn search(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let real = allowed_path(arguments.text("path")?, daemon)?;
    let (pattern, excluded) = (arguments.text("pattern")?, excluded(arguments, false)?);
    let root = Path::new(&real);
    let found = below(root, usize::MAX, &|path| !excluded(&relative(root, path)));
    let paths = found.iter().map(|entry| &entry.path);
    let lines: Vec<String> = paths
        .filter(|path| matches(&relative(root, path), pattern))
        .map(|path| path.display().to_string())
        .collect();
    Ok(ToolAnswer::done(if lines.is_empty() {
        "No matches found".to_owned()
    } else {
        lines.join("\n")
    }))
}

/// `get_file_info`.
///
/// # Errors
/// There is no such file.
pub fn info(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let real = allowed_path(arguments.text("path")?, daemon)?;
    let about = std::fs::metadata(&real).map_err(|error| node_error(&error, "stat", &real))?;
    let time = |time: fn(&Metadata) -> std::io::Result<SystemTime>| {
        date(time(&about).unwrap_or(UNIX_EPOCH))
    };
    Ok(ToolAnswer::done(format!(
        "size: {}\ncreated: {}\nmodified: {}\naccessed: {}\nisDirectory: {}\nisFile: {}\npermissions: {:03o}",
        about.len(),
        time(|about| about.created().or_else(|_| about.modified())),
        time(Metadata::modified),
        time(Metadata::accessed),
        about.is_dir(),
        about.is_file(),
        about.permissions().mode() & 0o777,
    )))
}

/// `list_allowed_directories`.
///
/// # Errors
/// There is none.
pub fn allowed(_: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    Ok(ToolAnswer::done(format!("Allowed directories:\n{}", root(daemon).display())))
}

/// Returns the folder of the workspace: of one that was only named, the current one.
fn root(daemon: &Daemon) -> PathBuf {
    match daemon.options().workspace.key.as_str() {
        key if key.starts_with('/') => key.into(),
        _ => absolute(".").into(),
    }
}

fn allowed_path(path: &str, daemon: &Daemon) -> Result<String, Failure> {
    let root = root(daemon);
    let path = match path.strip_prefix("~/").zip(std::env::var("HOME").ok()) {
        Some((rest, home)) => PathBuf::from(home).join(rest),
        None => absolute(path).into(),
    };
    match within(&root, &path) {
        Some(real) => Ok(real.display().to_string()),
        None => Err(failed(format!(
            "Access denied - path outside allowed directories: {} not in {}",
            path.display(),
            root.display()
        ))),
    }
}

fn text_of(path: &str, daemon: &mut Daemon) -> Result<String, Failure> {
    let about = std::fs::metadata(path).map_err(|error| node_error(&error, "open", path))?;
    if about.is_dir() {
        return Err(failed("EISDIR: illegal operation on a directory, read"));
    }
    Target(path).show(1, None, daemon)
}

/// Words an error of the system as the reference server's runtime does.
fn node_error(error: &std::io::Error, call: &str, path: &str) -> Failure {
    failed(match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("ENOENT: no such file or directory, {call} '{path}'")
        }
        std::io::ErrorKind::NotADirectory => format!("ENOTDIR: not a directory, {call} '{path}'"),
        std::io::ErrorKind::PermissionDenied => {
            format!("EACCES: permission denied, {call} '{path}'")
        }
        _ => format!("{error}, {call} '{path}'"),
    })
}

fn by_command(words: &[&str], daemon: &mut Daemon) -> Result<(), Failure> {
    let call = Code::call("terminal.shell").text("command", &command::join(words));
    let ran = run(call, PATIENCE, daemon)?;
    match ran.exit {
        Some(0) => Ok(()),
        _ => Err(failed(if ran.output.is_empty() { ran.verdict } else { ran.output })),
    }
}

fn failed(why: impl Into<String>) -> Failure {
    ToolAnswer::failed(why).into()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

fn texts<'c>(arguments: &Arguments<'c>, name: &str) -> Result<Vec<&'c str>, Failure> {
    let Some(given) = arguments.given(name) else { return Ok(Vec::new()) };
    let list = given.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
    list.ok_or_else(|| arguments.wrong(name, "a list of texts"))
}

/// Returns what tells whether a path is left out. A plain name of `directory_tree` counts at any
/// depth.
fn excluded<'c>(
    arguments: &Arguments<'c>,
    names: bool,
) -> Result<impl Fn(&str) -> bool + use<'c>, Failure> {
    let patterns = texts(arguments, "excludePatterns")?;
    Ok(move |path: &str| {
        patterns.iter().any(|pattern| {
            matches(path, pattern)
                || names && !pattern.contains('*') && matches(path, &format!("**/{pattern}"))
        })
    })
}
