//! The bounds of the daemon's IO that a user can reach, for `status --limits`.

use pipemux_core::bounds;
use pipemux_core::bounds::Bound;

use crate::limits::*;

/// Those that can be reached.
pub const BOUNDS: &[Bound] = bounds! {
    "The daemon" {
        LOG_READ Bytes "one answer of logs",
        LINGER_MS Milliseconds "time for a refused client to read why",
        LAUNCHER_END_S Seconds "time to end all apps when the daemon ends",
        UNWRITTEN_MAX Bytes "state that is kept in memory while the disk is full",
        JOURNAL_GROWTH Bytes "growth of the saved state before it is written anew",
        BAD_MAX Count "damaged states that are set aside",
        DAEMON_LOG_MAX Bytes "the daemon's own log before it is rotated",
        MANIFEST_MAX Bytes "one manifest",
        LOG_BURST Bytes "what one log keeps at once",
        LOG_RATE Bytes "what one log keeps a second after that; the rest is left out, and said",
        LOG_TAIL Bytes "the last of what was left out, which is kept after all",
        LOG_MIN Bytes "least that a manifest may give a log",
        APP_MEMORY_MIN Bytes "least memory that a manifest may give a process",
        APP_FILES_MIN Count "fewest descriptors that a manifest may give a process",
    }
};

/// Those that no user reaches, with the reason.
#[cfg(test)]
const INTERNAL: &[(&str, &str)] = &[
    ("SCRATCH_BUFFER", "a buffer; longer messages come in several readings"),
    ("READ_TURN", "how turns are shared; nothing is refused by it"),
    ("WRITE_TURN", "how turns are shared; nothing is refused by it"),
    ("BULK_ONLY_TURN", "how turns are shared; nothing is refused by it"),
    ("SMALL_FRAME_QUIET_MS", "how turns are shared; nothing is refused by it"),
    ("BUSY_POLL_FRAMES_MIN", "how turns are shared; nothing is refused by it"),
    ("BUSY_POLL_BODY_MAX", "how turns are shared; nothing is refused by it"),
    ("BUSY_POLL_US", "how turns are shared; nothing is refused by it"),
    ("BULKY_TURN", "how turns are shared; nothing is refused by it"),
    ("SEND_BUFFER_BODY_MIN", "how a body is written; nothing is refused by it"),
    ("SEND_BUFFER", "how a body is written; nothing is refused by it"),
    ("LARGE_FIRST_READ", "how a body is read; nothing is refused by it"),
    ("DIRECT_READ_MIN", "how a body is read; nothing is refused by it"),
    ("POOL_BUFFERS_MAX", "how a body is read; nothing is refused by it"),
    ("POOL_IDLE_MS", "how a body is read; nothing is refused by it"),
    ("FINAL_READ_MAX", "sockets hold less"),
    ("FINAL_OUTPUT_MAX", "no pipe holds more"),
    ("LOG_TURN", "how turns are shared; nothing is refused by it"),
    ("LOG_PAUSE_MS", "how turns are shared; nothing is refused by it"),
    ("LOG_STARTS_MAX", "positions of logs that nobody prints to; one forgotten is counted anew"),
    ("LEFTOVERS_MS", "the end of what an earlier daemon left"),
    ("FLUSH_MS", "the daemon's own end"),
    ("DISK_RETRY_MS", "how often a full disk is tried"),
    ("ACCEPT_RETRY_MS", "how often accepting is tried without descriptors"),
    ("SOCKET_CHECK_MS", "how soon a socket that was cleaned away is back"),
    ("REFUSED_MAX", "how many are told why they are turned away"),
    ("ACCEPT_TURN", "how turns are shared; nothing is refused by it"),
    ("ORPHANS_MS", "the end of a lost launcher's apps"),
    ("RECORD_MAX", "a longer record means damage; none that is written is that long"),
    ("JOURNAL_ROOM", "room on the disk that is taken early; nothing is refused by it"),
    ("UNSYNCED_MAX", "how far numbers leap after power loss"),
    ("DAMAGE_SEARCH_MAX", "how long damage is looked at; it only changes what is told"),
    ("RECORDS_BATCH", "how records are gathered for one write; nothing is refused by it"),
    ("SYNC_BATCH_MS", "how records are gathered for one sync"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_is_listed_or_internal_with_a_reason() {
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
            assert!(declared.contains(name), "{name} is no bound any more");
        }
    }
}
