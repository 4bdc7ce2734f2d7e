//! `pipemux who`: which rounds of history changed a file, or each of its lines, and whether it was
//! written since.

mod lines;

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::Value;
use pipemux_client::proto::client::{Body, Format, HistoryArgs, Verb, VerbRequest};
use serde_json::json;

use self::lines::Difference;
use super::clock;
use super::requester::Requester;

/// Shows the rounds that changed a file or folder, with their details if wanted, at most so many,
/// since a time. Returns the exit status.
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

/// Shows which round each line of a file comes from. Returns the exit status.
///
/// # Errors
/// The file can't be read, or the daemon can't be reached.
pub fn execute_lines(requester: &Requester, file: &Path) -> Result<u8, ClientError> {
    let text = fs::read_to_string(file)
        .map_err(|error| ClientError::invalid(format!("{}: {error}", file.display())))?;
    let path = absolute(file)?;
    let args = HistoryArgs {
        detail: true,
        rounds: Some(u32::MAX),
        since_ms: None,
        all: false,
        file: Some(path.clone()),
        clock: clock::offsets(),
    };
    let call = requester.call(Verb::History(args));
    let call = VerbRequest { format: Format::Json, budget: None, ..call };
    let mut connection = Connection::open(&requester.options)?;
    let answer = connection.call(&call, requester.options.timeout)?;
    let Body::Data(Value::List(rounds)) = &answer.body else {
        return Ok(requester.print_and_confirm(&mut connection, &answer));
    };
    let told = |round: &Value, name: &str| {
        round.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let differences: Vec<Option<Difference>> = rounds
        .iter()
        .map(|round| {
            let Some(Value::List(files)) = round.get("files") else { return None };
            let files: Vec<String> =
                files.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            Difference::of_file(&told(round, "diff"), &path, &files)
        })
        .collect();
    let origins = lines::origins(&text, &differences);
    let (mut shown, mut data) = (String::new(), Vec::new());
    let mut first = 0;
    for same in origins.chunk_by(|one, next| one == next) {
        let last = first + same.len();
        let at = if last == first + 1 { last.to_string() } else { format!("{}-{last}", first + 1) };
        let round = same.first().copied().flatten().and_then(|index| rounds.get(index));
        let by = match round {
            None => "by no round that is kept".to_owned(),
            Some(round) => by(round),
        };
        shown += &format!("{at} \t{by}\n");
        data.push(json!({
            "first": first + 1,
            "last": last,
            "round": round.and_then(|round| round.get("round")),
            "workspace": round.map(|round| told(round, "workspace")),
            "reader": round.map(|round| told(round, "reader")),
            "client": round.map(|round| told(round, "client")),
            "timestamp": round.map(|round| told(round, "timestamp")),
        }));
        first = last;
    }
    let untold = rounds.len() - differences.iter().flatten().count();
    if untold > 0 {
        shown += &format!(
            "of {untold} of {} rounds that changed it no difference is kept\n",
            rounds.len()
        );
    }
    Ok(requester.print_own(shown.trim_end(), &json!(data)))
}

/// Says in a line which round it was.
fn by(round: &Value) -> String {
    let told = |name: &str| round.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let number = round.get("round").map(Value::to_string).unwrap_or_default();
    let reader = told("reader").filter(|reader| *reader != "default");
    let at = told("timestamp").and_then(|at| at.parse::<jiff::Timestamp>().ok());
    let parts = [
        Some(format!("round {number}")),
        told("workspace").map(|name| format!("in {name}")),
        at.map(|at| clock::shown(at.as_millisecond())),
        reader.map(|reader| format!("by {reader}")),
        told("client").map(|client| format!("via {client}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
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

/// Says that a file was written after the newest round that changed it. A folder's own time says
/// nothing of its files.
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
