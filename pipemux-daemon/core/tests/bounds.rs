//! Every bound is either listed by `status --limits` or declared internal with a reason.

use pipemux_core::bounds::BOUNDS;

/// Bounds that no user reaches, with the reason.
const INTERNAL: &[(&str, &str)] = &[
    (
        "HINT_OPTIONS_MAX",
        "options that only a client writes; the command line leaves longer ones out",
    ),
    ("CLIENT_NAME_MAX", "a name that only a client writes; clients cut it"),
    ("CLOCK_OFFSETS_MAX", "older times are told with the oldest offset"),
    ("PASSED_VARIABLES_MAX", "variables that only a client writes; longer ones are left out"),
    ("TRACE_LINES", "beyond it the oldest frames of a trace are left out, and counted"),
    ("TRACE_BYTES", "beyond it the oldest frames of a trace are left out, and counted"),
    ("TRACE_SECRETS_MAX", "no app asks for so many secrets before the first one is answered"),
    ("AUTHOR_TOLD_MAX", "beyond it an author has enough to mend"),
    (
        "CONTEXT_BYTES",
        "how far a whole context is compared with the last one; nothing is refused by it",
    ),
    ("VALUE_FILE_MS", "when a file is removed that a lost run left behind"),
    ("READ_CHUNK", "how a copy is cut into messages; its whole is COPY_MAX"),
    ("JOB_READERS_MAX", "no workspace has more readers; only sessions of many workspaces reach it"),
    ("SEEN_JOBS_MAX", "beyond it a job's progress counts as unseen again"),
    ("JOB_REPORT_MS", "how progress is gathered into one event; none but the last one counts"),
    ("JOB_PROGRESS_MS", "how progress is gathered into one answer of view --wait"),
    ("BACKOFF_MS", "where the wait before a restart begins; its end is BACKOFF_MAX_MS"),
    ("BLOCK", "how many numbers are reserved at a time; nothing is refused by it"),
    ("FEATURES_MAX", "features that nobody knows; further ones are ignored like those"),
    ("CONFLICTS_MAX", "beyond it a mistake of an app in its keys is not told again"),
    ("LINE_RANGES_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("LINE_EPOCHS_MAX", "beyond it numbers pinned to an epoch are refused as stale"),
    ("SEEN_DOCUMENTS_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("SEEN_SESSIONS_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("READERS_SHOWN_MAX", "beyond it a window is asked of its app and shown whole again"),
    ("FORGOTTEN_READERS_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("LINE_NUMBERS_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("REF_MAX", "no valid ref is longer; it bounds the search for a ref's end"),
    ("TURN_WORK_MAX", "only an answer with many megabytes of windows reaches it, and says so"),
    (
        "WAIT_CHECK_MS",
        "how often a session is asked that a client waits for; nothing is refused by it",
    ),
    ("WATCH_PAUSE_MS", "how events are gathered into one answer; none is lost by it"),
];

const SOURCES: [&str; 2] =
    [include_str!("../src/limits.rs"), include_str!("../../../pipemux-proto/src/limits.rs")];

fn declared() -> Vec<&'static str> {
    let lines = SOURCES.iter().flat_map(|source| source.lines());
    let rest = lines.filter_map(|line| line.strip_prefix("pub const "));
    rest.filter_map(|rest| rest.split(':').next()).collect()
}

#[test]
fn every_bound_is_listed_or_internal_with_a_reason() {
    let listed: Vec<&str> = BOUNDS.iter().map(|bound| bound.name).collect();
    let declared = declared();
    assert!(declared.len() > 70, "only {} bounds were found", declared.len());
    for name in &declared {
        let internal = INTERNAL.iter().any(|(known, why)| known == name && !why.is_empty());
        assert!(
            listed.contains(name) != internal,
            "{name}: list it in BOUNDS of core's bounds.rs or, with the reason, in INTERNAL of this test"
        );
    }
    for name in listed.iter().chain(INTERNAL.iter().map(|(name, _)| name)) {
        assert!(declared.contains(name), "{name} is no bound any more");
    }
}

#[test]
fn bounds_of_a_group_have_distinct_descriptions() {
    for (at, bound) in BOUNDS.iter().enumerate() {
        for other in &BOUNDS[at + 1..] {
            let alike = bound.group == other.group && bound.what == other.what;
            assert!(!alike || bound.unit != other.unit, "{} and {}", bound.name, other.name);
        }
    }
}
