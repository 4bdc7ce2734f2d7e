//! `pipemux who`: which rounds of history changed a file, and whether it was written since.

use std::path::Path;
use std::time::UNIX_EPOCH;

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::Value;
use pipemux_client::proto::client::{Body, Format, HistoryArgs, Verb};

use super::clock;
use super::requester::Requester;

/// Shows the rounds that changed a file or folder, with their details if wanted, at most so many, since a time. Returns the
/// exit status.
///
/// # Errors
/// The path is no text, the time is none, or the daemon can't be reached.
pub fn execute(
    requester: &Requester,
    file: &Path,
    (detail, rounds): (bool, Option<u32>),
    since: Option<&str>,
) -> Result<u8, ClientError> {
    let since_ms = since.map(clock::since).transpose()?;
    let path = absolute(file)?;
    let args = |detail, rounds| HistoryArgs {
        detail,
        rounds,
        since_ms,
        all: false,
        file: Some(path.clone()),
        clock: clock::offsets(),
    };
    let mut connection = Connection::open(&requester.options)?;
    let answer = requester.request_on(&mut connection, Verb::History(args(detail, rounds)))?;
    let exit = requester.print_and_confirm(&mut connection, &answer);
    if requester.global.json || exit != 0 {
        return Ok(exit);
    }
    let mut call = requester.call(Verb::History(args(false, Some(1))));
    call.format = Format::Json;
    let newest = connection.call(&call, requester.options.timeout)?;
    match outside(Path::new(&path), changed_at(&newest.body)) {
        Some(line) => Ok(requester.print_own(&line, &serde_json::Value::Null)),
        None => Ok(exit),
    }
}

/// Returns the path with which apps name a file: its folder's own, without symbolic links.
fn absolute(file: &Path) -> Result<String, ClientError> {
    let path = file.canonicalize().or_else(|_| {
        // A file that was removed has a history, too.
        let name = file.file_name().unwrap_or_default();
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new(".")).canonicalize().map(|folder| folder.join(name))
    });
    let path =
        path.map_err(|error| ClientError::invalid(format!("{}: {error}", file.display())))?;
    path.into_os_string()
        .into_string()
        .map_err(|_| ClientError::invalid(format!("{}: the path is not UTF-8", file.display())))
}

/// Returns when the first of the rounds in an answer ended, in milliseconds since 1970.
fn changed_at(body: &Body) -> Option<i64> {
    let Body::Data(Value::List(rounds)) = body else { return None };
    let at: jiff::Timestamp = rounds.first()?.get("timestamp")?.as_str()?.parse().ok()?;
    Some(at.as_millisecond())
}

/// Says that a file was written after the newest round that changed it. A folder's own time says nothing of its files.
fn outside(path: &Path, newest: Option<i64>) -> Option<String> {
    let found = path.symlink_metadata();
    let Ok(found) = found else {
        return newest.map(|_| "it isn't there now".to_owned());
    };
    let at = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let at = i64::try_from(at.as_millis()).ok().filter(|_| found.is_file())?;
    // A round is recorded after it has written, and its time is told to the second.
    (at / 1000 > newest? / 1000)
        .then(|| format!("changed on disk since, at {}: by no round", clock::shown(at)))
}
