//! One line in the daemon's log, which is its standard error; the log is rotated when it is long.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::stat::fstat;
use nix::unistd::dup2_stderr;

use crate::limits::DAEMON_LOG_MAX;

/// The file that standard error goes to, once the daemon serves.
static LOG: OnceLock<PathBuf> = OnceLock::new();

/// Writes a line with the time, UTC. A log that can't be written is no reason to stop.
pub fn note(text: impl Display) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let line = format!("{} {text}\n", utc(since.as_secs()));
    let _ = io::stderr().write_all(line.as_bytes());
    if let Some(log) = LOG.get() {
        let _ = rotate(log, DAEMON_LOG_MAX);
    }
}

/// Keeps this log within [`DAEMON_LOG_MAX`] from now on, with the one before as `<name>.1`.
pub fn keep_short(log: &Path) {
    let log = LOG.get_or_init(|| log.to_owned());
    let _ = rotate(log, DAEMON_LOG_MAX);
}

/// Goes on in a new file when standard error is that log and it is longer. A terminal, or a file that
/// was put there by somebody else, is left alone.
fn rotate(log: &Path, max: u64) -> io::Result<()> {
    let now = fstat(io::stderr())?;
    if u64::try_from(now.st_size).unwrap_or(0) <= max {
        return Ok(());
    }
    let named = fs::symlink_metadata(log)?;
    if (named.dev(), named.ino()) != (now.st_dev, now.st_ino) || !named.is_file() {
        return Ok(());
    }
    let mut kept = log.as_os_str().to_owned();
    kept.push(".1");
    fs::rename(log, kept)?;
    let new = OpenOptions::new().append(true).create(true).mode(0o600).open(log)?;
    Ok(dup2_stderr(new)?)
}

/// `2026-11-21T22:20:05Z`
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March put the leap day last: 400 of them are 146,097 days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(utc(1_735_689_600), "2025-01-01T00:00:00Z");
        assert_eq!(utc(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
