//! One line of the audit log.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek};

use jiff::Timestamp;
use pipemux_core::audit::{AuditEntry, CallPart};
use pipemux_core::peer::PeerProcess;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::limits::ANCESTORS_WRITTEN;

/// The longest beginning of a file in which its first line's time is looked for, in bytes.
const FIRST_TIME_MAX: u64 = 256;

/// A line in its file format. Fields may be added; the meaning of a field never changes.
#[derive(Serialize)]
struct Line<'l> {
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    program: &'l str,
    /// The names of the client process's ancestors, its parent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parents: Vec<&'l str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reader: &'l str,
    workspace: &'l str,
    verb: &'l str,
    call: String,
    outcome: &'static str,
    exit: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'l str>,
    /// The number of the question with which the request ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<u64>,
    /// The number of the question that the request answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<u64>,
    /// The destructive step that the answer confirmed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<&'l str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    run_id: &'l str,
}

/// A line about the log itself.
#[derive(Serialize)]
struct Note {
    time: String,
    note: String,
}

/// Appends the line of an act.
pub fn write(out: &mut Vec<u8>, entry: &AuditEntry) {
    let unknown = PeerProcess::default();
    let peer = entry.peer.as_deref().unwrap_or(&unknown);
    let parents = peer.ancestors.iter().take(ANCESTORS_WRITTEN);
    let notes = &entry.notes;
    let line = Line {
        time: utc(entry.unix_ms),
        pid: peer.pid,
        program: &peer.program,
        parents: parents.map(|parent| parent.name.as_str()).collect(),
        reader: &entry.reader,
        workspace: &entry.workspace,
        verb: entry.verb,
        call: shown(&entry.call),
        outcome: outcome(entry.exit),
        exit: entry.exit,
        round: notes.round,
        calls: notes.calls.as_deref(),
        result: notes.result.as_deref().filter(|result| !result.is_empty()),
        asked: notes.asked,
        answered: notes.answered,
        confirmed: notes.confirmed.as_deref(),
        run_id: &entry.run_id,
    };
    append(out, &line);
}

/// Appends the line that says how many lines are missing before it.
pub fn write_lost(out: &mut Vec<u8>, now: u64, lost: u64) {
    let note = format!("{lost} lines before this one are lost: the log could not be written");
    append(out, &Note { time: utc(now), note });
}

/// Appends the line that says that somebody removed the log.
pub fn write_removed(out: &mut Vec<u8>, now: u64) {
    let note = "the log before this line was removed while the daemon ran".to_owned();
    append(out, &Note { time: utc(now), note });
}

/// Returns the time of a file's first line, in milliseconds since 1970.
pub fn first_time(file: &mut File) -> Option<u64> {
    #[derive(Deserialize)]
    struct Begin {
        time: String,
    }
    file.rewind().ok()?;
    let mut begin = Vec::new();
    file.take(FIRST_TIME_MAX).read_to_end(&mut begin).ok()?;
    let begin = String::from_utf8_lossy(&begin).into_owned();
    // `time` is the first field of every line.
    let (time, _) = begin.split_once(',')?;
    let begin: Begin = serde_json::from_str(&format!("{time}}}")).ok()?;
    let time: Timestamp = begin.time.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok()
}

fn append(out: &mut Vec<u8>, line: &impl Serialize) {
    let before = out.len();
    // Writing into memory fails for no line; half of one would make the next unreadable.
    if serde_json::to_writer(&mut *out, line).is_err() {
        out.truncate(before);
        return;
    }
    out.push(b'\n');
}

fn shown(parts: &[CallPart]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            CallPart::Text(written) => text.push_str(written),
            CallPart::Value(bytes) => {
                let _ = write!(text, "<{} bytes sha256:", bytes.len());
                for byte in Sha256::digest(bytes) {
                    let _ = write!(text, "{byte:02x}");
                }
                text.push('>');
            }
        }
    }
    text
}

/// Returns what an exit status means.
fn outcome(exit: u8) -> &'static str {
    match exit {
        0 => "done",
        1 => "failed",
        2 => "wrong call",
        3 => "not found",
        4 => "stale",
        5 => "asked",
        6 => "unavailable",
        7 => "unknown",
        _ => "refused",
    }
}

fn utc(unix_ms: u64) -> String {
    let ms = i64::try_from(unix_ms).unwrap_or(i64::MAX);
    let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
    format!("{time:.3}")
}
