//! Those limits of the daemon's IO that a user can reach, for `status --limits`.

use pipemux_core::bounds;
use pipemux_core::bounds::Bound;

use crate::limits::*;

pub const BOUNDS: &[Bound] = bounds! {
    "The daemon" {
        LOG_READ Bytes "one answer of logs",
        LINGER_MS Milliseconds "time for a refused client to read why",
        LOCK_WAIT_MS Milliseconds "time for an earlier daemon to end when systemd starts the next one",
        LAUNCHER_END_S Seconds "time to end all apps when the daemon stops",
        UNWRITTEN_MAX Bytes "state that is kept in memory while the disk is full",
        JOURNAL_GROWTH Bytes "growth of the saved state before it is compacted",
        BAD_MAX Count "damaged states that are set aside",
        AUDIT_MAX Bytes "the audit log (config.toml: audit.size)",
        AUDIT_DAYS Count "days for which the audit log is kept (config.toml: audit.keep_days)",
        AUDIT_MIN Bytes "the smallest audit log that config.toml may ask for",
        AUDIT_DAYS_MAX Count "the most days that config.toml may ask for",
        HISTORY_MIN Count "the fewest rounds of history that config.toml may ask for",
        AUDIT_PENDING_MAX Bytes "lines of the audit log that are kept in memory while the disk is full",
        ANCESTORS_MAX Count "processes above a client; below more of them it can't act",
        DAEMON_LOG_MAX Bytes "the daemon's own log before it is rotated",
        MANIFEST_MAX Bytes "one manifest",
        LOG_BURST Bytes "what one log keeps at once",
        LOG_RATE Bytes "what one log keeps per second after that; a line in the log stands for the rest",
        LOG_TAIL Bytes "the end of what is left out of a log, which is kept after all",
        LOG_MIN Bytes "the shortest log that a manifest may ask for",
        APP_MEMORY_MIN Bytes "the least memory that a manifest may give a process",
        APP_FILES_MIN Count "the fewest descriptors that a manifest may give a process",
    }
};

/// The limits that no user reaches, each with the reason.
#[cfg(test)]
const INTERNAL: &[(&str, &str)] = &[
    ("SCRATCH_BUFFER", "longer messages take several reads"),
    ("READ_TURN", "only divides turns; nothing is refused"),
    ("WRITE_TURN", "only divides turns; nothing is refused"),
    ("BULK_ONLY_TURN", "only divides turns; nothing is refused"),
    ("SMALL_FRAME_QUIET_MS", "only divides turns; nothing is refused"),
    ("BUSY_POLL_FRAMES_MIN", "only affects when the daemon sleeps"),
    ("BUSY_POLL_BODY_MAX", "only affects when the daemon sleeps"),
    ("BUSY_POLL_US", "only affects when the daemon sleeps"),
    ("BULKY_TURN", "only divides turns; nothing is refused"),
    ("SEND_BUFFER_BODY_MIN", "only affects how a body is written"),
    ("SEND_BUFFER", "only affects how a body is written"),
    ("LARGE_FIRST_READ", "only affects how a body is read"),
    ("DIRECT_READ_MIN", "only affects how a body is read"),
    ("POOL_BUFFERS_MAX", "only affects how a body is read"),
    ("TRIM_AFTER", "how often freed memory is given back"),
    ("TRIMS", "how often freed memory is given back"),
    ("TRIM_AGAIN_MS", "how often freed memory is given back"),
    ("TRIM_PAUSE_MS", "how often freed memory is given back"),
    ("SLOW_TURN_MS", "which turns the log names"),
    ("POOL_IDLE_MS", "only affects how a body is read"),
    ("FINAL_READ_MAX", "sockets hold less"),
    ("DENIAL_SEARCH_MAX", "only affects which refusal is explained"),
    ("FINAL_OUTPUT_MAX", "no pipe holds more"),
    ("LOG_TURN", "only divides turns; nothing is refused"),
    ("LOG_PAUSE_MS", "only divides turns; nothing is refused"),
    ("LOG_STARTS_MAX", "a position that is forgotten is counted from the start again"),
    ("LEFTOVERS_MS", "concerns only what an earlier daemon left"),
    ("FLUSH_MS", "concerns only the daemon's own end"),
    ("DISK_RETRY_MS", "how often a full disk is tried"),
    ("ACCEPT_RETRY_MS", "how often accepting is tried without descriptors"),
    ("LOCK_RETRY_MS", "how often an earlier daemon's lock is tried"),
    ("PASSED_MAX", "a daemon that is passed more than one socket refuses to start anyway"),
    ("METRICS_CONNECTIONS_MAX", "further readers of metrics wait"),
    ("METRICS_MS", "a reader of metrics connects again"),
    ("METRICS_HEAD_MAX", "no scraper sends a longer one"),
    ("METRICS_REQUESTS_MAX", "times of further requests aren't measured; nothing is refused"),
    ("FILES_CHECK_MS", "how soon a socket that was cleaned away is restored"),
    ("REFUSED_MAX", "how many clients are told why they are turned away"),
    ("ACCEPT_TURN", "only divides turns; nothing is refused"),
    ("LOG_DATE_MS", "how often a log says what time it is; nothing is refused by it"),
    ("DEV_FILES_MAX", "changes of further files of a program start nothing again"),
    ("PINNED_KNOWN_MAX", "beyond it hashes of programs are computed again"),
    ("AUDIT_FILES", "only divides the audit log"),
    ("ANCESTORS_WRITTEN", "only shortens lines of the audit log"),
    ("ANCESTORS_KNOWN_MAX", "beyond it processes above a client are looked up again"),
    ("ANCESTRY_TRIES", "processes above a client that end all the time"),
    ("ORPHANS_MS", "concerns only the apps of a lost launcher"),
    ("RECORD_MAX", "a longer record means damage; none that is written is that long"),
    ("JOURNAL_ROOM", "space on the disk that is reserved early; nothing is refused"),
    ("UNSYNCED_MAX", "how far numbers leap after power loss"),
    ("DAMAGE_SEARCH_MAX", "how long damage is examined; it only affects its description"),
    ("RECORDS_BATCH", "how many records are gathered for one write"),
    ("SYNC_BATCH_MS", "how long records are gathered for one sync"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_listed_or_internal_with_a_reason() {
        let source = include_str!("limits.rs");
        let declared = source.lines().filter_map(|line| line.strip_prefix("pub const "));
        let declared: Vec<&str> = declared.filter_map(|rest| rest.split(':').next()).collect();
        assert!(declared.len() > 15);
        let listed: Vec<&str> = BOUNDS.iter().map(|bound| bound.name).collect();
        for name in &declared {
            let internal = INTERNAL.iter().any(|(known, why)| known == name && !why.is_empty());
            assert!(listed.contains(name) != internal, "{name}: list it in BOUNDS or in INTERNAL");
        }
        for name in listed.iter().chain(INTERNAL.iter().map(|(name, _)| name)) {
            assert!(declared.contains(name), "{name} is no limit any more");
        }
    }
}
