//! The daemon's log, which is its standard error: one line per entry, rotated when it grows too
//! long.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use nix::sys::stat::fstat;
use nix::unistd::dup2_stderr;

use crate::limits::DAEMON_LOG_MAX;

/// The file that receives standard error, once the daemon is serving.
static LOG: OnceLock<PathBuf> = OnceLock::new();

/// Writes a line with the time in UTC. Failures are ignored: the daemon goes on without its log.
pub fn log(text: impl Display) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let line = format!("{} {text}\n", utc(since.as_secs()));
    let _ = io::stderr().write_all(line.as_bytes());
    if let Some(path) = LOG.get() {
        let _ = rotate(path, DAEMON_LOG_MAX);
    }
}

/// Rotates this log from now on whenever it exceeds [`DAEMON_LOG_MAX`]; the file before it is
/// `<name>.1`.
pub fn limit_size(path: &Path) {
    let path = LOG.get_or_init(|| path.to_owned());
    let _ = rotate(path, DAEMON_LOG_MAX);
}

/// Continues in a new file when standard error is that log and it is longer than `max` bytes. A
/// terminal, or a file that someone else put there, is left alone.
fn rotate(path: &Path, max: u64) -> io::Result<()> {
    let current = fstat(io::stderr())?;
    if u64::try_from(current.st_size).unwrap_or(0) <= max {
        return Ok(());
    }
    let named = fs::symlink_metadata(path)?;
    #[allow(clippy::unnecessary_cast, reason = "macOS numbers devices with 32 bits")]
    let device = current.st_dev as u64;
    if (named.dev(), named.ino()) != (device, current.st_ino) || !named.is_file() {
        return Ok(());
    }
    let mut older = path.as_os_str().to_owned();
    older.push(".1");
    fs::rename(path, older)?;
    let new = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    Ok(dup2_stderr(new)?)
}

/// Formats seconds since 1970 as `2026-11-21T22:20:05Z`.
fn utc(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(utc(1_735_689_600), "2025-01-01T00:00:00Z");
        assert_eq!(utc(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
