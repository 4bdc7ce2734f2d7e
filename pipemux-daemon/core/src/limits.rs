//! The daemon's bounds; those of the wire are in `pipemux_proto::limits`.

/// Milliseconds from the start of a process to its `Hello` and the reply to its first `Open`.
pub const START_MS: u64 = 10_000;
/// Milliseconds from a client's connection to its `Hello`; longer closes it.
pub const GREET_MS: u64 = 10_000;
/// Milliseconds for one request to an app when the client named no deadline.
pub const REQUEST_MS: u64 = 30_000;
/// Milliseconds that a view waits for a fresh projection before it shows the last one.
pub const PROJECT_MS: u64 = 1_000;
/// Milliseconds that an app is asked where a thing is that its window doesn't show.
pub const LOCATE_MS: u64 = 500;
/// Milliseconds that an app gets to end after `Close`, and again after SIGTERM.
pub const DRAIN_MS: u64 = 2_000;
/// Milliseconds that a question waits for its answer.
pub const QUESTION_MS: u64 = 3_600_000;
/// Milliseconds that the steps behind a failed one are kept for a corrected call.
pub const KEPT_MS: u64 = 24 * 3_600_000;
/// Failed runs of one reader whose further steps are kept; the oldest make room.
pub const KEPT_RESTS_MAX: usize = 8;
/// Bytes of code and standard input that are kept of the failed runs of one reader; the oldest make
/// room.
pub const KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of all open questions and kept steps together, of all workspaces; the oldest make room.
pub const OPEN_RUNS_BYTES: usize = 64 * 1024 * 1024;
/// Characters of kept steps that an answer repeats; past it each of them is shortened.
pub const KEPT_CHARS: usize = 2_000;
/// Crashes within [`CRASH_WINDOW_MS`] after which a session stays down until `restart`.
pub const CRASHES_MAX: usize = 5;
/// The span in which crashes are counted, in milliseconds.
pub const CRASH_WINDOW_MS: u64 = 60_000;

/// Milliseconds before a session that crashed again is started again; doubled with each crash in
/// the window, with up to half of it added so that sessions don't come back in step. The first
/// crash of a window costs no wait.
pub const BACKOFF_MS: u64 = 200;
/// Longest such wait, in milliseconds.
pub const BACKOFF_MAX_MS: u64 = 5_000;

/// Milliseconds without a request after which a session is put to sleep when its manifest says
/// nothing else.
pub const IDLE_MS: u64 = 30 * 60_000;
/// Milliseconds that an app gets to write down its state before it is put to sleep.
pub const SAVE_MS: u64 = 5_000;
/// Longest that an app may defer its sleep by one `Busy`, in milliseconds.
pub const BUSY_MAX_MS: u64 = 24 * 3_600_000;
/// Notices of one session that are passed on within [`NOTICE_SPAN_MS`]; further ones are counted.
pub const NOTICE_RATE: u32 = 20;
/// The span in which a session's notices are counted, in milliseconds.
pub const NOTICE_SPAN_MS: u64 = 10_000;
/// Characters of a notice that are passed on.
pub const NOTICE_CHARS: usize = 400;
/// Notes of one `open` that are passed on; further ones are counted.
pub const NOTES_MAX: usize = 16;
/// Characters of what an app says that it works on.
pub const BUSY_CHARS: usize = 200;
/// Characters of why a thing is hidden or gone, as its app says.
pub const REASON_CHARS: usize = 400;
/// Characters of the line that says what an action did.
pub const BRIEF_CHARS: usize = 400;
/// Characters of an action's detail.
pub const DETAIL_CHARS: usize = 64 * 1024;
/// Characters of what an app says that a job or a request does at the moment.
pub const PROGRESS_CHARS: usize = 200;
/// Running jobs of one session; a further one isn't followed.
pub const JOBS_RUNNING_MAX: usize = 64;
/// Jobs of one session that have ended and are kept; the oldest make room.
pub const JOBS_ENDED_MAX: usize = 64;
/// Jobs of all sessions that have ended and are kept; the oldest make room.
pub const JOBS_KEPT_MAX: usize = 4096;
/// Running jobs that one window shows; further ones are counted.
pub const JOBS_SHOWN: usize = 8;
/// Running jobs of which it is kept how far one reader has seen them; the oldest are forgotten.
pub const SEEN_JOBS_MAX: usize = 1_024;
/// Readers who are told of one job's end.
pub const JOB_READERS_MAX: usize = 256;
/// Bytes of a job's output that are kept: the last ones.
pub const JOB_OUTPUT_MAX: usize = 128 * 1024;
/// Bytes of a job's output that are saved on disk once it has ended: the last ones.
pub const JOB_OUTPUT_SAVED: usize = 16 * 1024;
/// Bytes of the outputs of all jobs; past it the oldest job's output is dropped.
pub const JOBS_OUTPUT_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of the name of a job that its app gives.
pub const JOB_NAME_MAX: usize = 32;
/// Milliseconds between two reports of a job's progress to those who watch.
pub const JOB_REPORT_MS: u64 = 1_000;
/// Milliseconds that a `view --wait` lasts at least when nothing but the progress of jobs has
/// changed.
pub const JOB_PROGRESS_MS: u64 = 10_000;
/// Milliseconds that the click which cancels a job waits for the job's end.
pub const CANCEL_JOB_MS: u64 = 5_000;
/// Characters of an app's error, with the lines that follow its first.
pub const FAULT_CHARS: usize = 16 * 1024;
/// Hints of one error that are passed on; further ones are counted.
pub const HINTS_MAX: usize = 8;
/// Bytes of a hint; a longer one is left out, since a command that is cut doesn't work.
pub const HINT_CHARS: usize = 1_000;
/// Characters of a question.
pub const QUESTION_CHARS: usize = 1_000;
/// Characters of an option's line, beside its label.
pub const OPTION_CHARS: usize = 400;
/// Bytes that a question carries for its app; past it the action is refused.
pub const TOKEN_MAX: usize = 256 * 1024;
/// Characters of a window's title.
pub const TITLE_CHARS: usize = 400;
/// Characters of which part of the whole a window shows.
pub const POSITION_CHARS: usize = 200;
/// Links of the row at the top of a window; further ones are counted.
pub const NAV_MAX: usize = 32;
/// Characters of the label of a thing or a link.
pub const LABEL_CHARS: usize = 400;
/// Bytes of a link's action and arguments; past it the link is only text.
pub const LINK_ARGS_MAX: usize = 64 * 1024;
/// Bytes of a link's code; past it the link is only text.
pub const LINK_CODE_MAX: usize = 8 * 1024;
/// Names that one window binds.
pub const NAMES_MAX: usize = 64;
/// Bytes of the state that an app gives a window for `view --json`; past it only its length is
/// told.
pub const CUSTOM_MAX: usize = 64 * 1024;
/// Keys that one window gives to two things and that are remembered; further ones are not told.
pub const CONFLICTS_MAX: usize = 64;
/// Bytes of a path that stands for a thing.
pub const PATH_MAX: usize = 4096;
/// Bytes of the prefix of an app's ref tokens.
pub const TOKEN_PREFIX_MAX: usize = 8;
/// Bytes of a media type; a longer one is not shown.
pub const MEDIA_TYPE_MAX: usize = 127;
/// Optional features that one app names; further ones are ignored.
pub const FEATURES_MAX: usize = 64;
/// Characters of what an app calls its software.
pub const SOFTWARE_CHARS: usize = 200;
/// Actions of one app.
pub const PROTOTYPES_MAX: usize = 512;
/// Bytes of the signatures and the documentation of all actions of one app.
pub const PROTOTYPES_BYTES: usize = 256 * 1024;
/// Characters of an action's documentation.
pub const DOC_CHARS: usize = 2_000;
/// Parameters of one action.
pub const PARAMS_MAX: usize = 64;
/// Characters of a parameter's documentation.
pub const PARAM_DOC_CHARS: usize = 1_000;
/// Bytes of a parameter's default.
pub const DEFAULT_MAX: usize = 1_024;
/// Strings that one type may be one of.
pub const UNION_MAX: usize = 64;
/// Fields of one record or one form.
pub const FIELDS_MAX: usize = 64;
/// Bytes of the pattern of a field.
pub const PATTERN_MAX: usize = 256;
/// Bytes of a text that is compared with a pattern.
pub const PATTERN_TEXT_MAX: usize = 16 * 1024;
/// Things that a form lists for each of its fields.
pub const FIELD_CHOICES_MAX: usize = 8;
/// Lists and options within each other in a type.
pub const TYPE_NESTING_MAX: usize = 8;
/// Frames of one session that a trace keeps; the oldest make room.
pub const TRACE_LINES: usize = 256;
/// Bytes of one session's trace; the oldest frames make room.
pub const TRACE_BYTES: usize = 256 * 1024;
/// Questions for secrets whose answers a trace recognises.
pub const TRACE_SECRETS_MAX: usize = 64;
/// Flaws that the author of an app is told in one life of its process.
pub const AUTHOR_TOLD_MAX: usize = 200;
/// Milliseconds between two questions whether an app is still there, asked while it owes an answer.
pub const PING_MS: u64 = 5_000;
/// Milliseconds that an app may take to answer such a question; longer makes it `silent`.
pub const PONG_MS: u64 = 2_000;
/// Milliseconds that an app may be silent when nobody waits for it any more; then it is ended.
pub const WEDGED_MS: u64 = 60_000;
/// Milliseconds that an app may be silent while it has an action to answer that nobody waits for
/// any more; then it is ended.
pub const WORKING_MS: u64 = 5 * 60_000;
/// Milliseconds for which events of an app that answers nothing count as a sign of life.
pub const EVENTS_ALIVE_MS: u64 = 10 * 60_000;
/// Crashes by the same request after which that request isn't delivered any more.
pub const QUARANTINE_AFTER: u32 = 3;
/// Requests in quarantine, or on the way to it, that one session remembers; the oldest is forgotten
/// first.
pub const SUSPECTS_MAX: usize = 64;

/// Bytes of memory of its own that one process may have when its manifest says nothing else.
pub const APP_MEMORY_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Descriptors that one process may have open when its manifest says nothing else.
pub const APP_FILES_MAX: u64 = 1024;
/// Processes that a session may have, its descendants included, when its manifest says nothing
/// else.
pub const APP_PROCESSES_MAX: u64 = 512;
/// Threads that a session's processes may have together when its manifest says nothing else.
pub const APP_THREADS_MAX: u64 = 4096;
/// Bytes that a session's directory may take on the disk when its manifest says nothing else.
pub const APP_DISK_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Clients connected at once.
pub const CLIENTS_MAX: usize = 1024;
/// Requests that one client has open at once.
pub const CLIENT_REQUESTS_MAX: usize = 64;
/// Bytes that wait to be written to one client; past it the client is disconnected.
pub const CLIENT_QUEUE_MAX: usize = 8 * 1024 * 1024;
/// Requests that wait for one app at once.
pub const APP_REQUESTS_MAX: usize = 256;
/// Bytes that wait to be written to one app; past it the app counts as broken.
pub const APP_QUEUE_MAX: usize = 24 * 1024 * 1024;
/// Exchanges that one client has open at once.
pub const CLIENT_EXCHANGES_MAX: usize = 256;
/// Bytes of exchanges that one client has open at once.
pub const CLIENT_EXCHANGE_BYTES: usize = 4 * 1024 * 1024;
/// Exchanges that one app has open at once.
pub const APP_EXCHANGES_MAX: usize = 1024;
/// Bytes of exchanges that one app has open at once: they never fill its queue.
pub const APP_EXCHANGE_BYTES: usize = 16 * 1024 * 1024;
/// Sessions at once.
pub const SESSIONS_MAX: usize = 4096;
/// Workspaces at once.
pub const WORKSPACES_MAX: usize = 4096;
/// Workspaces that made room and whose numbers are kept.
pub const RETIRED_MAX: usize = 65_536;
/// Windows of one workspace.
pub const WINDOWS_MAX: usize = 256;
/// Readers of one workspace; the one longest unheard of is forgotten first.
pub const READERS_MAX: usize = 64;
/// Readers of whom a window that shows each something else is kept; who isn't among the last ones
/// is shown it whole again.
pub const READERS_SHOWN_MAX: usize = 8;
/// Opens of one session that are repeated after a restart; older ones are dropped first.
pub const OPENS_MAX: usize = 64;
/// Files with values for one session that may wait for it at the same time.
pub const VALUE_FILES_MAX: usize = 16;
/// How long a file with a value is kept that no run removed, in milliseconds: longer than a
/// question that it belongs to.
pub const VALUE_FILE_MS: u64 = 2 * QUESTION_MS;
/// Most paths that a session is granted by being named after it was opened.
pub const GRANTED_MAX: usize = 64;
/// The most attempts to save an app in use before its sandbox counts as not widenable.
pub const SAVES_MAX: u32 = 16;
/// Longest text of a call that the audit log has as it is, in bytes; of longer ones it has length
/// and hash.
pub const AUDIT_VALUE_MAX: usize = 64;
/// Longest code that the audit log has as it is, in bytes; of what follows it has length and hash.
pub const AUDIT_CALL_MAX: usize = 4096;
/// Words of a command that the audit log has.
pub const AUDIT_WORDS_MAX: usize = 64;
/// Bytes of environment that an `open` passes on.
pub const ENV_MAX: usize = 128 * 1024;
/// Longest id of an acting request, in bytes.
pub const RUN_ID_MAX: usize = 128;
/// Acting requests that are remembered, so that one sent again isn't carried out twice.
pub const RECORDS_MAX: usize = 65_536;
/// Acting requests of one reader of a workspace that are remembered.
pub const READER_RECORDS_MAX: usize = 16_384;
/// Milliseconds that an acting request is remembered, unless there are more than that.
pub const RECORDS_MS: u64 = 3_600_000;
/// Milliseconds that the time in a request's id may be ahead of the daemon's clock.
pub const CLOCK_AHEAD_MS: u64 = 300_000;
/// Bytes of answers kept for that.
pub const RECORDS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Tokens that the contents of a run's outcomes may take together when the request names no budget.
pub const RUN_BUDGET: u32 = 8_000;
/// Tokens of a job's newest output that the answer of a run shows which has waited for its end.
pub const JOB_OUTPUT_TOKENS: u32 = 1_500;
/// Tokens that an answer may take at least: a smaller budget counts as this one.
pub const ANSWER_BUDGET_MIN: u32 = 100;
/// Tokens that are shown of an answer that is longer than one message may be.
pub const LONG_ANSWER_TOKENS: u64 = 4_000;
/// Tokens that an answer's last line takes at most, unless the workspace has a long name.
pub const LAST_LINE_TOKENS: u32 = 40;
/// Tokens of the budget that a `view` of a workspace names which its windows don't share: they hold
/// the last line and the line that says what was cut. No more than a third of the budget.
pub const VIEW_FRAME_TOKENS: u32 = 60;
/// Tokens that the content of one outcome may always take, so that it can say how to see the rest.
pub const CONTENT_BUDGET_MIN: u32 = 60;
/// Tokens that are kept of a run's budget for the result of each query behind the next step.
pub const SHORT_RESULT_TOKENS: u32 = 300;
/// Longest name of a reader whom a pause holds, in bytes.
pub const PAUSE_READER_MAX: usize = 256;
/// Pauses that last at a time.
pub const PAUSES_MAX: usize = 64;
/// Rounds of history that one workspace keeps.
pub const HISTORY_MAX: usize = 10_000;
/// Rounds that one `history` shows when nothing else is said.
pub const HISTORY_SHOWN: u32 = 20;
/// Rounds that the context of a prompt begins with after a reset.
pub const RECAP_ROUNDS: usize = 30;
/// Files that a round of history names; further ones are counted.
pub const ROUND_FILES_MAX: usize = 64;
/// Bytes of the names of all files of a round; further ones are counted.
pub const ROUND_FILES_BYTES: usize = 8 * 1024;
/// Longest path of a changed file that an app may tell, in bytes; longer ones are left out.
pub const CHANGED_PATH_MAX: usize = 4096;
/// Characters of a round's calls in its line of the history.
pub const LINE_ACTION_MAX: usize = 120;
/// Characters of a round's result in its line of the history.
pub const LINE_RESULT_MAX: usize = 160;
/// Rounds of its session that a Context has.
pub const CONTEXT_ROUNDS: usize = 8;
/// Characters of a round's action.
pub const ROUND_ACTION_MAX: usize = 200;
/// Characters of a round's result.
pub const ROUND_RESULT_MAX: usize = 400;
/// Characters of a round's detail.
pub const ROUND_DETAIL_MAX: usize = 4_000;
/// Characters of what a round changed in files.
pub const ROUND_DIFF_MAX: usize = 4_000;
/// Rounds of which it is known what they changed in files.
pub const ROUND_DIFFS_MAX: usize = 200;
/// Bytes of the arguments that take the steps of one round back; past it the round can't be undone.
pub const ROUND_UNDO_MAX: usize = 16 * 1024;
/// Names of actions that take steps back, of one workspace.
pub const UNDO_ACTIONS_MAX: usize = 256;
/// Other runs that an undo is told of, which changed files while what it takes back ran.
pub const CHANGED_BESIDE_MAX: usize = 64;
/// Most tokens that one panel of the workspace document takes.
pub const PANEL_BUDGET: u32 = 300;
/// The divisor of the document's budget that gives the most that a panel takes.
pub const PANEL_PART: u32 = 16;
/// Notices, rounds and questions that a panel lists.
pub const PANEL_LINES: usize = 5;
/// Levels of detail and budgets at which one window is kept for the windows that embed it; one that
/// is asked for beyond takes the place of the oldest.
pub const EMBED_DETAILS_MAX: usize = 8;
/// Deliveries of a window that are kept, for `--since` and `--at`.
pub const PAST_MAX: usize = 32;
/// Events that are kept for those who watch; the oldest make room.
pub const FEED_MAX: usize = 1_024;
/// Characters of an event's text.
pub const EVENT_CHARS: usize = 800;
/// Events that one answer of `watch` tells.
pub const EVENTS_A_TURN: usize = 256;
/// Milliseconds from the begin of a `watch` to its answer at least, so that a flood of events is
/// told in few answers.
pub const WATCH_PAUSE_MS: u64 = 50;
/// Milliseconds between two checks whether a session that a client waits for has changed without
/// saying so.
pub const WAIT_CHECK_MS: u64 = 1_000;
/// Failures of the same call in a row after which the answer advises to step back.
pub const FAILURES_MAX: u32 = 3;
/// Notices of the daemon that wait for one reader.
pub const NOTICES_MAX: usize = 32;
/// Tokens of the notices of one answer when the request names no budget; else half of it.
pub const NOTICES_TOKENS: u32 = 4_000;
/// Notices of all apps of a workspace that wait for one reader; the app that says most loses its
/// oldest.
pub const APP_NOTICES_MAX: usize = 32;
/// Characters of what tells an object from others with the same label, where a reader chooses one.
pub const OBJECT_DETAIL_CHARS: usize = 80;
/// Jobs whose ends one step's outcome tells; those of further ones are told again.
pub const ENDED_JOBS_MAX: usize = 64;
/// Links that one step's outcome offers; further ones are dropped.
pub const OUTCOME_LINKS_MAX: usize = 8;
/// Slots of one projection.
pub const SLOTS_MAX: usize = 10_000;
/// Anchors that one workspace remembers, vanished ones included.
pub const ANCHORS_MAX: usize = 100_000;
/// Anchors of one session that a workspace remembers, vanished ones included.
pub const SESSION_ANCHORS_MAX: usize = 25_000;
/// Epochs for which a vanished anchor is remembered.
pub const VANISHED_EPOCHS: u64 = 64;
/// Ranges of line numbers of one document that are kept of one reader; past it all of them are
/// retired.
pub const LINE_RANGES_MAX: usize = 512;
/// Earlier epochs for which the line numbers of a session are kept of one reader, for `--at`; older
/// ones are refused.
pub const LINE_EPOCHS_MAX: usize = 16;
/// Documents of one session whose line numbers are kept of one reader; the longest untouched is
/// forgotten.
pub const SEEN_DOCUMENTS_MAX: usize = 128;
/// Sessions whose line numbers are kept of one reader; further ones are forgotten.
pub const SEEN_SESSIONS_MAX: usize = 512;
/// Names of forgotten readers that are kept; past it every new reader may be one of them.
pub const FORGOTTEN_READERS_MAX: usize = 1_024;
/// Line numbers that one answer or window of an app names; past it their documents are retired.
pub const LINE_NUMBERS_MAX: usize = 1_024;
/// Deliveries of one reader that wait to be confirmed.
pub const DELIVERIES_MAX: usize = 16;
/// Bytes of the deliveries of one reader that wait to be confirmed; the oldest make room.
pub const READER_UNCONFIRMED_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of all deliveries that wait to be confirmed; the oldest make room.
pub const UNCONFIRMED_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of the states of one window that are kept, for `--since` and `--at`.
pub const PAST_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of all windows that are kept, as they were sent, shown and seen; past it what is needed
/// least is given up.
pub const KEPT_VIEWS_BYTES: usize = 256 * 1024 * 1024;
/// Bytes of the open requests of one client.
pub const CLIENT_REQUEST_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the open requests of all clients.
pub const REQUESTS_BYTES: usize = 128 * 1024 * 1024;
/// Bytes that wait to be written to all clients; past it the client that leaves most unread is
/// disconnected.
pub const CLIENT_QUEUES_MAX: usize = 64 * 1024 * 1024;
/// Bytes that wait to be written to all apps; past it the app that leaves most unread counts as
/// broken.
pub const APP_QUEUES_MAX: usize = 128 * 1024 * 1024;
/// Lines of a log that one `logs` shows at most.
pub const LOG_LINES_MAX: u32 = 2_000;
/// Consents that apps ask for, of all workspaces; the oldest make room.
pub const CONSENTS_ASKED_MAX: usize = 64;
/// Consents that persons gave, of all workspaces; the oldest make room.
pub const CONSENTS_ALLOWED_MAX: usize = 1_024;
/// Last lines of a log that an error shows.
pub const LAST_LINES: usize = 8;
/// Bytes that are kept of the log of a session that could not be opened.
pub const FAILED_LOG_KEPT: u64 = 16 * 1024;
/// Bytes of a session's log after which it is rotated.
pub const LOG_MAX: u64 = 1024 * 1024;

/// Ids and epochs are reserved durably in blocks of this size.
pub const BLOCK: u64 = 64;

/// Longest call that a link shows as its title, in characters; a longer one is left out.
pub const LINK_TITLE_CHARS: usize = 200;
/// Tokens of a window when nothing else is said.
pub const WINDOW_BUDGET: u32 = 1_500;
/// Tokens of a window at level of detail `Full` when nothing else is said.
pub const FULL_BUDGET: u32 = 8_000;
/// Tokens of the workspace document when nothing else is said.
pub const VIEW_BUDGET: u32 = 4_000;
/// Tokens of the context of a prompt when nothing else is said: about 10 KiB, which harnesses take
/// from a hook.
pub const INJECT_BUDGET: u32 = 2_500;
/// Bytes of a reader's last whole context that are kept, to say how far the next one begins the
/// same.
pub const CONTEXT_BYTES: usize = 12 * 1024;
/// Fewest tokens that a budget may be.
pub const BUDGET_MIN: u32 = 50;
/// Most tokens that a budget may be: a window has to fit one frame.
pub const BUDGET_MAX: u32 = 200_000;
/// Units of work that a turn may take before the windows that an answer still lacks are left out of
/// it: a unit is about one byte that is looked at. Half a second or so.
pub const TURN_WORK_MAX: u64 = 256_000_000;

/// Ends of steps that are kept for a reader who didn't hear of them.
pub const UNHEARD_MAX: usize = 8;
