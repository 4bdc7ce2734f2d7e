//! The table of the bounds that a user can reach: what `status --limits` lists. A test reads the sources
//! of the `limits` modules and demands that each bound stands here or among [`INTERNAL`].

use crate::limits::*;
use pipemux_proto::limits::*;

/// What a bound counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number of things: of connections, windows, entries.
    Count,
    /// Bytes of a text or a message.
    Bytes,
    /// A time in milliseconds.
    Milliseconds,
    /// A time in seconds.
    Seconds,
    /// Tokens, as estimated.
    Tokens,
    /// Lines of a text.
    Lines,
    /// Unicode characters of a text.
    Characters,
}

/// A bound that a user can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// What it is listed under.
    pub group: &'static str,
    /// Its name in the sources.
    pub name: &'static str,
    /// What it bounds, in words.
    pub what: &'static str,
    /// How much may be.
    pub value: u64,
    /// Of what.
    pub unit: Unit,
}

/// Makes a table of bounds: groups, in each the constant, its unit and what it bounds.
#[macro_export]
macro_rules! bounds {
    ($($group:literal { $($name:ident $unit:ident $what:literal,)* })*) => {
        &[$($($crate::bounds::Bound {
            group: $group,
            name: stringify!($name),
            what: $what,
            value: $name as u64,
            unit: $crate::bounds::Unit::$unit,
        },)*)*]
    };
}

/// The bounds of the wire and of the daemon's decisions.
pub const BOUNDS: &[Bound] = bounds! {
    "Clients" {
        RUN_ID_MAX Bytes "the id of an acting request",
        READER_TOKEN_MAX Bytes "the token of a reader",
        GREET_MS Milliseconds "from a client's connection to its Hello",
        CLIENTS_MAX Count "connected at once",
        CLIENT_REQUESTS_MAX Count "open requests of one client",
        CLIENT_QUEUE_MAX Bytes "answers that one client leaves unread, then it is disconnected",
        CLIENT_QUEUES_MAX Bytes "answers that all clients leave unread, then the slowest is disconnected",
        CLIENT_REQUEST_BYTES Bytes "open requests of one client",
        REQUESTS_BYTES Bytes "open requests of all clients",
        CLIENT_EXCHANGES_MAX Count "open exchanges of one client",
        CLIENT_EXCHANGE_BYTES Bytes "open exchanges of one client, their bytes",
        READERS_MAX Count "readers of a workspace",
        DELIVERIES_MAX Count "answers that one reader leaves unconfirmed",
        READER_UNCONFIRMED_BYTES Bytes "answers that one reader leaves unconfirmed",
        UNCONFIRMED_BYTES Bytes "answers that all readers leave unconfirmed",
        RECORDS_MAX Count "acting requests that are not carried out again when they are sent again",
        READER_RECORDS_MAX Count "acting requests of one reader of a workspace among them",
        RECORDS_MS Milliseconds "time that they are remembered while there is room",
        CLOCK_AHEAD_MS Milliseconds "time that a request's id may be ahead of the daemon's clock",
        RECORDS_BYTES_MAX Bytes "answers that are kept for that",
    }
    "Requests" {
        REQUEST_MS Milliseconds "time for a request that names none",
        FRAME_MAX Bytes "one message",
        EXCHANGE_MAX Bytes "one exchange",
        CODE_MAX Bytes "code of a run",
        RESOLVE_TEXT_MAX Bytes "a text that resolve looks through",
        RESOLVE_MAX Count "refs and tokens that resolve tells of",
        STDIN_MAX Bytes "standard input of a run",
        STEPS_MAX Count "steps of a run",
        NESTING_MAX Count "calls within calls",
        VALUE_DEPTH_MAX Count "lists and maps within each other in a value",
        LIST_MAX Count "items of a list in a call",
        COPY_MAX Bytes "a value that one app takes from another",
        VALUE_FILE_MAX Bytes "a value that one app takes from another as a file",
        VALUE_FILES_MAX Count "files with values that wait for one session",
        CHOICES_MAX Count "choices that a question lists",
        QUESTION_MS Milliseconds "time for the answer to a question",
        CANCEL_JOB_MS Milliseconds "time that the click which cancels a job waits for its end",
        KEPT_MS Milliseconds "time that the steps behind a failed one are kept",
        KEPT_RESTS_MAX Count "failed runs of a reader whose further steps are kept",
        KEPT_BYTES_MAX Bytes "code and standard input of kept steps of a reader",
        OPEN_RUNS_BYTES Bytes "open questions and kept steps, of all workspaces",
        WAIT_MAX_MS Milliseconds "time that view, watch and logs wait for something to happen",
        FAILURES_MAX Count "failures of one call in a row before another way is advised",
        ENV_MAX Bytes "environment that an open passes on",
    }
    "Sessions" {
        SESSIONS_MAX Count "sessions at once",
        APP_REQUESTS_MAX Count "requests that wait for one app",
        APP_QUEUE_MAX Bytes "requests that one app leaves unread, then it is ended",
        APP_QUEUES_MAX Bytes "requests that all apps leave unread, then the slowest is ended",
        APP_EXCHANGES_MAX Count "open exchanges of one app",
        APP_EXCHANGE_BYTES Bytes "open exchanges of one app, their bytes",
        START_MS Milliseconds "time for an app to start",
        PROJECT_MS Milliseconds "time for a window, then the last one is shown as busy",
        LOCATE_MS Milliseconds "time to say where a thing is",
        DRAIN_MS Milliseconds "time to end after Close, and again after SIGTERM",
        SAVE_MS Milliseconds "time to save before hibernation",
        IDLE_MS Milliseconds "time without use before hibernation (manifest: idle)",
        BUSY_MAX_MS Milliseconds "time that an app may put hibernation off by one Busy",
        PING_MS Milliseconds "time between two questions whether an app is there",
        PONG_MS Milliseconds "time to answer that, then it is silent",
        WEDGED_MS Milliseconds "time that an app may be silent while nobody waits, then it is ended",
        WORKING_MS Milliseconds "the same while it has an action to answer",
        EVENTS_ALIVE_MS Milliseconds "time for which events of an app that answers nothing show that it works",
        JOBS_RUNNING_MAX Count "running jobs of one session that are followed",
        JOBS_ENDED_MAX Count "jobs of one session that have ended and are known",
        JOBS_KEPT_MAX Count "jobs that have ended and are known, of all sessions",
        JOB_NAME_MAX Bytes "the name that an app gives a job",
        JOB_OUTPUT_MAX Bytes "a job's output that is kept",
        JOB_OUTPUT_SAVED Bytes "a job's output that survives the daemon, once the job has ended",
        JOBS_OUTPUT_BYTES Bytes "the outputs of all jobs that are kept",
        CRASHES_MAX Count "crashes in a row before a session stays down",
        CRASH_WINDOW_MS Milliseconds "time in which crashes are counted",
        BACKOFF_MAX_MS Milliseconds "longest wait before a restart",
        QUARANTINE_AFTER Count "crashes by one request before it is not delivered any more",
        SUSPECTS_MAX Count "requests of a session in quarantine or on the way to it",
        NOTICE_RATE Count "notices of one session in their span",
        NOTICE_SPAN_MS Milliseconds "the span of notices",
        NOTICE_CHARS Characters "one notice",
        APP_MEMORY_MAX Bytes "memory of one process, and of one session (manifest: limits.memory)",
        APP_FILES_MAX Count "open files of one process (manifest: limits.files)",
        APP_PROCESSES_MAX Count "processes of one session (manifest: limits.processes)",
        APP_THREADS_MAX Count "threads of one session (manifest: limits.threads)",
        APP_DISK_MAX Bytes "a session's directory (manifest: limits.disk)",
        FAILED_LOG_KEPT Bytes "the log of a session that could not be opened",
        LOG_MAX Bytes "one log before it is rotated (manifest: limits.log)",
        LOG_LINES_MAX Lines "one answer of logs",
        OPENS_MAX Count "opens that are repeated after a restart",
        GRANTED_MAX Count "paths that a session is granted after it was opened",
        SAVES_MAX Count "attempts to save an app that is in use, to widen its sandbox",
        PROVIDER_MAX Bytes "a provider's name",
        SESSION_MAX Bytes "a session's name",
    }
    "What an app says" {
        NOTES_MAX Count "notes of one open",
        BUSY_CHARS Characters "what it works on",
        PROGRESS_CHARS Characters "what a job or a request does at the moment",
        REASON_CHARS Characters "why a thing is hidden or gone",
        BRIEF_CHARS Characters "what an action did, in one line",
        DETAIL_CHARS Characters "an action's detail",
        FAULT_CHARS Characters "an error",
        HINTS_MAX Count "hints of an error",
        HINT_CHARS Bytes "one hint",
        QUESTION_CHARS Characters "a question",
        OPTION_CHARS Characters "an option's line",
        TOKEN_MAX Bytes "what a question carries for its app",
        TITLE_CHARS Characters "a window's title",
        POSITION_CHARS Characters "which part a window shows",
        NAV_MAX Count "links at the top of a window",
        LABEL_CHARS Characters "a label",
        LINK_ARGS_MAX Bytes "a link's action and arguments",
        LINK_CODE_MAX Bytes "a link's code",
        NAMES_MAX Count "names that a window binds",
        CUSTOM_MAX Bytes "the state of a window for view --json",
        PATH_MAX Bytes "a path that stands for a thing",
        TOKEN_PREFIX_MAX Bytes "the prefix of ref tokens",
        SOFTWARE_CHARS Characters "what it calls its software",
        PROTOTYPES_MAX Count "actions",
        PROTOTYPES_BYTES Bytes "signatures and documentation of all actions",
        DOC_CHARS Characters "an action's documentation",
        PARAMS_MAX Count "parameters of an action",
        PARAM_DOC_CHARS Characters "a parameter's documentation",
        DEFAULT_MAX Bytes "a parameter's default",
        UNION_MAX Count "strings of a type",
        FIELDS_MAX Count "fields of a record or a form",
        PATTERN_MAX Bytes "a field's pattern",
        FIELD_CHOICES_MAX Count "things that a form lists for one field",
        PATTERN_TEXT_MAX Bytes "a text that is compared with a pattern",
        TYPE_NESTING_MAX Count "lists and options within each other in a type",
    }
    "Workspaces" {
        WORKSPACES_MAX Count "workspaces at once",
        RETIRED_MAX Count "workspaces without windows that made room",
        WINDOWS_MAX Count "windows of this workspace",
        SLOTS_MAX Count "slots of a window",
        EMBEDS_MAX Count "windows that a window embeds",
        EMBED_DETAILS_MAX Count "levels of detail and budgets at which one window is embedded",
        KEY_MAX Bytes "a key",
        TYPE_MAX Bytes "a type that refs show",
        MEDIA_TYPE_MAX Bytes "a media type",
        NAME_MAX Bytes "a name in a prototype",
        ANCHORS_MAX Count "anchors of this workspace",
        SESSION_ANCHORS_MAX Count "anchors of one session in a workspace",
        VANISHED_EPOCHS Count "epochs for which a vanished anchor is known",
        PAST_MAX Count "states of a window that --since and --at reach back",
        PAST_BYTES Bytes "states of a window that --since and --at reach back",
        KEPT_VIEWS_BYTES Bytes "windows that are kept, of all workspaces",
        HISTORY_MAX Count "rounds of history of this workspace (config.toml: history.rounds)",
        ROUND_ACTION_MAX Characters "what was done in a round of history",
        ROUND_RESULT_MAX Characters "what came of it",
        ROUND_DETAIL_MAX Characters "its detail",
        ROUND_DIFF_MAX Characters "what it changed in files",
        ROUND_DIFFS_MAX Count "rounds of which that is known",
        ROUND_UNDO_MAX Bytes "what takes a round of history back",
        NOTICES_MAX Count "notices of the daemon that wait for a reader",
        APP_NOTICES_MAX Count "notices of apps that wait for a reader",
        FEED_MAX Count "events that watch reaches back",
        EVENT_CHARS Characters "one event",
        EVENTS_A_TURN Count "events of one answer of watch",
    }
    "Audit log" {
        AUDIT_VALUE_MAX Bytes "a text of a call that is written as it is; of a longer one length and hash",
        AUDIT_CALL_MAX Bytes "a call that is written as it is; of the rest length and hash",
        AUDIT_WORDS_MAX Count "words of a command that are written",
    }
    "What is shown" {
        WINDOW_BUDGET Tokens "a window that names no budget",
        FULL_BUDGET Tokens "a window at --lod full",
        PANEL_BUDGET Tokens "a panel of the workspace document",
        PANEL_PART Count "a panel's part of the document's budget: one of so many",
        PANEL_LINES Count "notices, rounds and questions that a panel lists",
        EMBED_BUDGET Tokens "an embedded window that names no budget",
        LINK_TITLE_CHARS Characters "a call that a link shows",
        VIEW_BUDGET Tokens "a workspace that names no budget",
        INJECT_BUDGET Tokens "the context of a prompt that names no budget",
        BUDGET_MIN Tokens "least budget",
        BUDGET_MAX Tokens "largest budget",
        RUN_BUDGET Tokens "the contents of a run's outcomes, without --budget",
        NOTICES_TOKENS Tokens "the notices of an answer, without --budget",
        ANSWER_BUDGET_MIN Tokens "an answer, in any case",
        LONG_ANSWER_TOKENS Tokens "what is shown of an answer that one message can't hold",
        LAST_LINE_TOKENS Tokens "the last line of an answer",
        CONTENT_BUDGET_MIN Tokens "the content of one outcome, in any case",
        KEPT_CHARS Characters "kept steps that an answer repeats",
        OBJECT_DETAIL_CHARS Characters "an object's detail in a question",
        OUTCOME_LINKS_MAX Count "links that one step's outcome offers",
        LATER_BYTES_MAX Bytes "arguments of later calls that one question is about",
        LATER_CALLS_MAX Count "later calls that one question is about",
        JOBS_SHOWN Count "running jobs that a window shows",
        HISTORY_SHOWN Count "rounds that history shows unasked",
        CONTEXT_ROUNDS Count "rounds of its session that view --json has for a window",
        LAST_LINES Lines "a log's end in an error",
    }
};

/// Bounds that no user reaches, with the reason.
pub const INTERNAL: &[(&str, &str)] = &[
    (
        "HINT_OPTIONS_MAX",
        "options that only a client writes; the command line leaves longer ones out",
    ),
    ("PASSED_VARIABLES_MAX", "variables that only a client writes; longer ones are left out"),
    ("TRACE_MS", "how long a trace outlasts the last question for it; nothing is refused by it"),
    ("TRACE_LINES", "beyond it the oldest frames of a trace are left out, and counted"),
    ("TRACE_BYTES", "beyond it the oldest frames of a trace are left out, and counted"),
    ("TRACE_FRAME_CHARS", "beyond it a frame is shown without its end"),
    ("TRACE_TEXT_CHARS", "beyond it a text in a trace is shown without its end"),
    ("TRACE_ITEMS", "beyond it items of a list in a trace are counted"),
    ("TRACE_SECRETS_MAX", "no app asks for so many secrets before the first one is answered"),
    ("AUTHOR_TOLD_MAX", "beyond it an author has enough to mend"),
    ("KEPT_VIEWS_CHECK_BYTES", "how often KEPT_VIEWS_BYTES is looked at; nothing is refused by it"),
    ("KEPT_LINE_CHARS", "how long kept steps are told whole in the answer of the run that failed"),
    (
        "KEPT_TEXT_MIN",
        "how long a failed call's text is so that writing it again would cost more than saying that it is kept",
    ),
    ("KEPT_CALL_CHARS", "how far each kept step is shortened where KEPT_CHARS is passed"),
    ("VALUE_FILE_MS", "when a file is removed that a lost run left behind"),
    ("READ_CHUNK", "how a copy is cut into messages; its whole is COPY_MAX"),
    ("JOB_READERS_MAX", "no workspace has more readers; only sessions of many workspaces reach it"),
    ("SEEN_JOBS_MAX", "beyond it a job's progress counts as unseen again"),
    ("JOB_REPORT_MS", "how progress is gathered into one event; none but the last one counts"),
    ("JOB_PROGRESS_MS", "how progress is gathered into one answer of view --wait"),
    ("PROGRESS_MS", "how the progress of a request is gathered; none but the last one counts"),
    (
        "EVENTS_PING_MS",
        "how often an app is asked that only tells things; nothing is refused by it",
    ),
    ("SLEEP_MIN_MS", "a session that would sleep for less is left running"),
    ("WAKE_RECHECK_MS", "how often the clock is looked at; nothing is refused by it"),
    ("WAKE_RETRY_MS", "a pause before a session's start is tried again; nothing is refused by it"),
    ("BACKOFF_MS", "where the wait before a restart begins; its end is BACKOFF_MAX_MS"),
    ("BLOCK", "how many numbers are reserved at a time; nothing is refused by it"),
    ("REJOIN_MS", "a pause before the provider's next process is tried; nothing is refused by it"),
    ("FEATURES_MAX", "features that nobody knows; further ones are ignored like those"),
    ("PATTERN_PROGRAM_MAX", "the memory of a pattern of PATTERN_MAX bytes"),
    ("CONFLICTS_MAX", "beyond it a mistake of an app in its keys is not told again"),
    ("LINE_RANGES_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("LINE_EPOCHS_MAX", "beyond it numbers pinned to an epoch are refused as stale"),
    ("SEEN_DOCUMENTS_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("SEEN_SESSIONS_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("READERS_SHOWN_MAX", "beyond it a window is asked of its app and shown whole again"),
    ("FORGOTTEN_READERS_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("LINE_NUMBERS_MAX", "beyond it numbers are refused as stale until they are shown again"),
    ("MOVES_TOLD_MAX", "beyond it a window is shown whole instead of as a difference"),
    ("DIFF_STEPS_MAX", "beyond it a window is shown whole instead of as a difference"),
    ("REF_MAX", "no valid ref is longer; it bounds the search for a ref's end"),
    ("DIFF_LINES_MAX", "beyond it a window is shown whole instead of as a difference"),
    ("TURN_WORK_MAX", "only an answer with many megabytes of windows reaches it, and says so"),
    (
        "WAIT_CHECK_MS",
        "how often a session is asked that a client waits for; nothing is refused by it",
    ),
    ("WATCH_PAUSE_MS", "how events are gathered into one answer; none is lost by it"),
];
