//! Every bound of the planner.

use std::time::Duration;

/// Bytes of a file of the project that a trusted command may name: a longer one is never trusted.
pub const TRUSTED_FILE_MAX: u64 = 16 * 1024 * 1024;
/// Bytes that a driver may answer: more of it is a failure.
pub const DRIVER_OUTPUT_MAX: usize = 1024 * 1024;

/// Bytes of a driver's standard error that are kept for the log and the reason.
pub const DRIVER_STDERR_MAX: usize = 16 * 1024;

/// The default time limit of a driver, unless `planner.toml` sets another.
pub const DRIVER_DEADLINE: Duration = Duration::from_secs(300);

/// The highest time limit that can be set for a command.
pub const DRIVER_DEADLINE_MAX: Duration = Duration::from_secs(3600);

/// Bytes of one message of an agent that speaks the Agent Client Protocol. What it answers comes in
/// many.
pub const ACP_MESSAGE_MAX: usize = 1024 * 1024;

/// Bytes of all messages of such an agent in one turn. A piece of an answer takes some 200 bytes
/// beside its text.
pub const ACP_OUTPUT_MAX: usize = 32 * 1024 * 1024;

/// Messages of such an agent that wait to be read.
pub const ACP_QUEUE_MAX: usize = 16;

/// The time in which a cancelled agent must end its turn before it is killed.
pub const ACP_LEAVE: Duration = Duration::from_secs(1);

/// Tries of a request to a chat endpoint that fails for a reason that may pass.
pub const HTTP_TRIES: u32 = 4;

/// The pause before the first retry; each further pause is twice as long.
pub const HTTP_BACKOFF: Duration = Duration::from_millis(250);

/// Bytes of a plan, a draft or a note that a brief comes with.
pub const PRIOR_MAX: u64 = 512 * 1024;

/// Points that are taken of it.
pub const KEY_POINTS_MAX: usize = 40;

/// Points that were agreed on in it and that are inherited.
pub const AGREED_POINTS_MAX: usize = 100;

/// Bytes of such a point.
pub const POINT_MAX: usize = 4_000;

/// Characters of a prompt in `planner.toml`.
pub const PROMPT_MAX: usize = 8_000;

/// Bytes of `planner.toml`.
pub const CONFIG_MAX: u64 = 128 * 1024;

/// Bytes that a codegen command may print; the rest is left out, and that is said.
pub const HANDOFF_OUTPUT_MAX: usize = 4 * 1024 * 1024;

/// The time limit of a codegen command.
pub const HANDOFF_DEADLINE: Duration = Duration::from_secs(3600);

/// Characters of a topic's name, which stands in each window and path.
pub const TOPIC_MAX: usize = 24;

/// Earlier topics that the coach is told of.
pub const HISTORY_MAX: usize = 20;

/// Tokens that what a speaker is given may take of a window; more of it is read by a query.
pub const GIVEN_MAX: u64 = 900;

/// Lines of the record that a window shows.
pub const RECORD_LINES: usize = 40;

/// Characters of one speaker's newest words that a window shows.
pub const WORDS_MAX: usize = 1_200;

/// Cited files of one verdict that are looked for.
pub const CITES_MAX: usize = 50;

/// How long the planner waits for another program that holds a lock on a topic's file. A session
/// that writes holds it for some milliseconds.
pub const LOCK_PATIENCE: Duration = Duration::from_millis(500);
/// How long an artifact's file may be empty, because another program writes it, before it is
/// written again.
pub const WRITE_PATIENCE: Duration = Duration::from_millis(300);
/// Between two looks at such a lock or file.
pub const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Commands of a plan that one check runs. A consent shows 64 lines.
pub const CHECK_COMMANDS_MAX: usize = 40;

/// The time limit of one command of a check.
pub const CHECK_DEADLINE: Duration = Duration::from_secs(600);

/// Lines of a command's output that are kept, its last ones.
pub const CHECK_LINES: usize = 20;

/// Characters of these lines.
pub const CHECK_OUTPUT_MAX: usize = 2_000;

/// Bytes of the record of a check that are read.
pub const CHECK_RECORD_MAX: u64 = 2 * 1024 * 1024;

/// Checks of a topic whose records are kept, the newest ones.
pub const CHECKS_KEPT: u32 = 50;

/// Characters of what failed that a new cycle is given.
pub const EVIDENCE_MAX: usize = 16_000;
