//! `pipemux audit`: prints the last lines of the audit log. It reads the files themselves, so it
//! works without a daemon.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pipemux_client::ClientError;
use serde_json::{Value, json};

use super::requester::Requester;

/// Most files that the log is divided into.
const FILES_MAX: u32 = 64;

/// Prints the last `lines` acts, oldest first, of all workspaces and readers or of those that the
/// command line names. Returns the exit status.
///
/// # Errors
/// The log is there and can't be read.
pub fn execute(requester: &Requester, lines: u32) -> Result<u8, ClientError> {
    let path = requester.options.paths.state_dir.join("audit.log");
    let workspace = requester.global.workspace.as_ref().map(|_| &requester.options.workspace.key);
    let reader = requester.global.reader.as_ref();
    let wanted = |line: &Value| {
        workspace.is_none_or(|key| line["workspace"] == **key)
            && reader.is_none_or(|name| line["reader"] == **name)
    };
    let most = usize::try_from(lines).unwrap_or(usize::MAX);
    let found = newest(&path, most, wanted).map_err(|error| {
        ClientError::invalid(format!("can't read {}: {error}", path.display()))
            .hint("see who may read it: pipemux doctor")
    })?;
    let text = match found.as_slice() {
        [] => format!("no acts are recorded in {}", path.display()),
        lines => lines.iter().map(written).collect::<Vec<_>>().join("\n"),
    };
    Ok(requester.print_own(&text, &json!(found)))
}

/// Returns the last lines that are wanted, oldest first. What is no line of the log, such as one
/// that a power failure cut, is skipped.
fn newest(path: &Path, most: usize, wanted: impl Fn(&Value) -> bool) -> io::Result<Vec<Value>> {
    let mut found = Vec::new();
    for number in 0..FILES_MAX {
        let bytes = match fs::read(file(path, number)) {
            Ok(bytes) => bytes,
            // The first may be missing for a moment, while the daemon begins a new one.
            Err(error) if error.kind() == io::ErrorKind::NotFound && number == 0 => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(error),
        };
        let lines = bytes.split(|byte| *byte == b'\n').rev();
        let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        found.extend(lines.filter(|line| wanted(line)).take(most - found.len()));
        if found.len() == most {
            break;
        }
    }
    found.reverse();
    Ok(found)
}

fn file(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    if number > 0 {
        name.push(format!(".{number}"));
    }
    name.into()
}

/// Writes a line of the log for people. The log holds what agents and apps wrote, so nothing of it
/// reaches the terminal as a control character.
fn written(line: &Value) -> String {
    let text = |name: &str| line[name].as_str().map(visible).filter(|text| !text.is_empty());
    let number = |name: &str| line[name].as_u64();
    let mut parts = Vec::new();
    let time = text("time").unwrap_or_default();
    if let Some(note) = text("note") {
        return format!("{time} {note}");
    }
    let call = [text("verb"), text("call")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    parts.push(format!("{time} {}", text("outcome").unwrap_or_default()));
    parts.push(call);
    parts.extend(text("calls"));
    parts.extend(text("confirmed").map(|what| format!("confirmed {what}")));
    parts.extend(text("result"));
    parts.extend(number("answered").map(|number| format!("answers question {number}")));
    parts.extend(number("asked").map(|number| format!("asks question {number}")));
    parts.extend(number("round").map(|number| format!("round {number}")));
    let workspace = text("workspace").unwrap_or_default();
    let name = workspace.rsplit('/').next().unwrap_or_default().to_owned();
    parts.push(match text("reader") {
        Some(reader) => format!("{reader} in {name}"),
        None => format!("in {name}"),
    });
    if let Some(pid) = number("pid") {
        let program = text("program").unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default().to_owned();
        let parents = line["parents"].as_array().into_iter().flatten();
        let parents = parents.filter_map(|name| name.as_str()).map(visible);
        let line = [format!("{program} {pid}")].into_iter().chain(parents);
        parts.push(line.collect::<Vec<_>>().join(" < "));
    }
    parts.join(" · ")
}

/// Writes control characters, and those that reorder or hide text, as `\u{…}`.
fn visible(text: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    let mut shown = String::new();
    for c in text.chars() {
        match hides(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_written_for_people_and_hides_nothing() {
        let line = json!({
            "time": "2026-11-22T23:40:05.000Z", "pid": 7, "program": "/usr/bin/pipemux",
            "parents": ["bash", "agent"], "reader": "a\u{1b}[2J", "workspace": "/home/ann/demo", "verb": "answer",
            "call": "yes", "calls": "notes.remove(obj:7)", "outcome": "done", "exit": 0, "round": 3,
            "answered": 2, "confirmed": "notes.remove: 1 note\u{202e}",
        });
        assert_eq!(
            written(&line),
            "2026-11-22T23:40:05.000Z done · answer yes · notes.remove(obj:7) · confirmed notes.remove: 1 \
             note\\u{202e} · answers question 2 · round 3 · a\\u{1b}[2J in demo · pipemux 7 < bash < agent"
        );
        let note = json!({ "time": "2026-11-22T23:40:05.000Z", "note": "2 lines are lost" });
        assert_eq!(written(&note), "2026-11-22T23:40:05.000Z 2 lines are lost");
    }

    #[test]
    fn newest_lines_are_taken_across_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        assert_eq!(newest(&path, 2, |_| true).unwrap(), Vec::<Value>::new());
        fs::write(file(&path, 1), "{\"n\":1}\n{\"n\":2}\n").unwrap();
        fs::write(&path, "{\"n\":\n{\"n\":3}\n{\"n\":4}\n").unwrap();
        let of = |most| newest(&path, most, |line| line["n"] != 3).unwrap();
        assert_eq!(of(2), [json!({ "n": 2 }), json!({ "n": 4 })]);
        assert_eq!(of(9).len(), 3);
    }
}
