//! Loads a journal, and finds out what is missing of it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pipemux_core::Loss;
use pipemux_core::saved::Record;

use super::file::set_aside;
use super::format::{Damage, Parsed, parse};
use super::mark::{self, Mark};
use crate::limits::UNSYNCED_MAX;

/// The data that an earlier daemon wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LoadedJournal {
    /// The records, oldest first.
    pub records: Vec<Record>,
    /// Descriptions of the damage and of what was done about it, for the daemon's log.
    pub problems: Vec<String>,
    /// A description of the lost data, for the core to continue from.
    pub loss: Option<Loss>,
    /// True when that daemon stopped in order.
    pub clean_shutdown: bool,
}

/// Reads the saved state up to the first damage. A damaged or unreadable file is kept beside it as
/// `<name>.bad-<n>`.
pub fn load(path: &Path) -> LoadedJournal {
    load_with_boot_id(path, current_boot_id().as_deref())
}

/// Describes what is wrong with a saved state, without changing it.
///
/// # Errors
/// As `read`.
pub fn check(path: &Path) -> io::Result<Option<String>> {
    let bytes = fs::read(path)?;
    let parsed = parse(&bytes);
    let lost_bytes = (bytes.len() - parsed.valid_length) as u64;
    // A truncated end isn't reported: a daemon that was killed, or that is writing just now, leaves
    // one, and nothing is lost.
    Ok(describe_problem(&parsed, &bytes, lost_bytes)
        .filter(|_| parsed.damage != Some(Damage::Truncated)))
}

pub(super) fn load_with_boot_id(path: &Path, boot_id: Option<&str>) -> LoadedJournal {
    let mark = mark::read(path);
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return missing(path, mark),
        Err(error) => return unreadable(path, &error, mark),
    };
    let parsed = parse(&bytes);
    let lost_bytes = (bytes.len() - parsed.valid_length) as u64;
    let cut = mark.as_ref().and_then(|mark| what_is_cut(&parsed, mark, boot_id));
    let mut loaded = LoadedJournal {
        loss: loss(&parsed, lost_bytes, boot_id, mark),
        ..LoadedJournal::default()
    };
    let shown = path.display();
    let kept = parsed.records.len();
    if let Some(what) = describe_problem(&parsed, &bytes, lost_bytes) {
        let mut problem = format!("{shown} {what}: {kept} records kept");
        if parsed.damage != Some(Damage::Truncated) {
            let note = set_aside_note(path, true);
            problem += &format!(", {note}");
            let told = Some(reader_notice("was damaged", &note));
            let written = Some(last_written(path));
            loaded.loss =
                loaded.loss.map(|loss| Loss { told, acts_to: loss.acts_to.max(written), ..loss });
        }
        loaded.problems.push(problem);
    }
    if let Some(what) = cut {
        loaded.problems.push(format!("{shown} {what}: {kept} records kept"));
        let loss = loaded.loss.take().unwrap_or_default();
        let told = loss.told.or_else(|| Some(reader_notice(&what, &format!("in {shown}"))));
        let high_water = mark.map(|mark| mark.high_water);
        let acts_to = loss.acts_to.max(Some(last_written(path)));
        let workspaces = loss.workspaces || !parsed.snapshot_complete;
        loaded.loss = Some(Loss { told, acts_to, high_water, workspaces, ..loss });
    }
    loaded.clean_shutdown = parsed.clean_shutdown;
    loaded.records = parsed.records;
    loaded
}

/// Describes a journal that lacks records at its end, or has others than the latest; none when it
/// has all that its mark says.
fn what_is_cut(parsed: &Parsed, mark: &Mark, boot_id: Option<&str>) -> Option<String> {
    let generation = parsed.generation?;
    let Some(of) = mark.journals.iter().find(|journal| journal.generation == generation) else {
        // A later one than the mark knows took its place just before the daemon was killed.
        return (generation < mark.generation()).then(|| "is an older copy".to_owned());
    };
    let missing = of.length.saturating_sub(parsed.valid_length as u64);
    // A loss of power may cost what was written last.
    let excused = if is_synced(parsed, boot_id) { 0 } else { UNSYNCED_MAX };
    (missing > excused).then(|| format!("was cut: {missing} bytes are missing"))
}

/// True when everything that was written is there, synced or not: within the same boot of the
/// machine it is.
fn is_synced(parsed: &Parsed, boot_id: Option<&str>) -> bool {
    parsed.clean_shutdown || (boot_id.is_some() && parsed.boot_id.as_deref() == boot_id)
}

/// Loads a journal that isn't there: at the first start of a daemon, or because somebody removed
/// it.
fn missing(path: &Path, mark: Option<Mark>) -> LoadedJournal {
    let sessions = path.with_file_name("sessions");
    let was_used = fs::read_dir(sessions).is_ok_and(|mut entries| entries.next().is_some());
    if mark.is_none() && !was_used {
        return LoadedJournal::default();
    }
    let problem = format!("{} is gone, though a daemon has written it", path.display());
    let told = Some(reader_notice("was removed", &format!("it was {}", path.display())));
    LoadedJournal {
        problems: vec![problem],
        loss: Some(all_lost(path, told, mark)),
        ..Default::default()
    }
}

fn all_lost(path: &Path, told: Option<String>, mark: Option<Mark>) -> Loss {
    let high_water = mark.map(|mark| mark.high_water);
    Loss { told, bytes: 0, workspaces: true, acts_to: Some(last_written(path)), high_water }
}

/// Describes the damage for people.
fn describe_problem(parsed: &Parsed, bytes: &[u8], lost_bytes: u64) -> Option<String> {
    let at = parsed.valid_length;
    match (parsed.damage, parsed.unknown_records) {
        (Some(Damage::Truncated), _) => {
            Some(format!("ends in the middle of a record: {lost_bytes} bytes dropped"))
        }
        (Some(Damage::Corrupt), _) => Some(format!("is damaged at byte {at}")),
        (Some(Damage::NotAJournal), _) if bytes.starts_with(b"pipemux state ") => {
            Some("was written by another release".to_owned())
        }
        (Some(Damage::NotAJournal), _) => Some("is not a saved state".to_owned()),
        (None, 0) => None,
        (None, count) => Some(format!("has {count} records of a newer release, which are skipped")),
    }
}

fn loss(
    parsed: &Parsed,
    lost_bytes: u64,
    boot_id: Option<&str>,
    mark: Option<Mark>,
) -> Option<Loss> {
    let synced = is_synced(parsed, boot_id);
    let unsynced = if synced { 0 } else { UNSYNCED_MAX };
    if parsed.damage.is_none() && parsed.unknown_records == 0 && synced {
        return None;
    }
    let whole = parsed.damage.is_some() && !parsed.snapshot_complete;
    // Nothing followed from an incomplete record, and the mark knows the numbers of complete ones.
    let known = synced && mark.is_some() && parsed.unknown_records == 0;
    let bytes = if known { 0 } else { lost_bytes + unsynced };
    let high_water = mark.map(|mark| mark.high_water);
    // What was lost with the machine's power was done before this boot.
    let acts_to = (!synced).then(boot_time);
    Some(Loss { told: None, bytes, workspaces: whole, acts_to, high_water })
}

fn unreadable(path: &Path, error: &io::Error, mark: Option<Mark>) -> LoadedJournal {
    let note = set_aside_note(path, false);
    let problem = format!("{} can't be read: {error}: {note}", path.display());
    let loss = all_lost(path, Some(reader_notice("was damaged", &note)), mark);
    LoadedJournal { problems: vec![problem], loss: Some(loss), ..LoadedJournal::default() }
}

fn set_aside_note(path: &Path, readable: bool) -> String {
    match set_aside(path, readable) {
        Ok(aside) => format!("the file is kept as {}", aside.display()),
        Err(error) => format!("the file can't be set aside: {error}"),
    }
}

/// Returns the notice for readers.
fn reader_notice(what: &str, note: &str) -> String {
    format!(
        "the daemon's saved state {what}: windows, history and questions may be outdated or \
         missing, apps have kept their own data; check with: pipemux view, pipemux history ({note})"
    )
}

/// Returns when an earlier daemon wrote something for the last time, in milliseconds since 1970;
/// the present where nothing tells.
fn last_written(path: &Path) -> u64 {
    let changed = |path: &Path| fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    let at = changed(&mark::mark_path(path)).or_else(|| changed(path));
    unix_ms(at.unwrap_or_else(SystemTime::now))
}

/// Returns when the machine was started, in milliseconds since 1970; the present where nothing
/// tells.
fn boot_time() -> u64 {
    let now = SystemTime::now();
    let uptime = fs::read_to_string("/proc/uptime").ok();
    let seconds = uptime.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let up = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    unix_ms(up.and_then(|up| now.checked_sub(up)).unwrap_or(now))
}

fn unix_ms(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns what identifies this boot of the machine, where the system tells it.
pub(super) fn current_boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}
