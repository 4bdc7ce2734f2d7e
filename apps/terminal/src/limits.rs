//! The bounds of the terminal, each with its unit.

use std::time::Duration;

/// Longest time that a call waits for the end of a command or for a text, in seconds. It leaves
/// room for the answer before the deadline of the request.
pub const WAIT_MAX: i64 = 25;
/// The time that a request may take beyond its wait.
pub const WAIT_MARGIN: Duration = Duration::from_secs(4);
/// The longest wait for a program's response to input.
pub const INPUT_PATIENCE: Duration = Duration::from_secs(2);
/// The longest time that typed input may wait for a program that doesn't read.
pub const TYPE_PATIENCE: Duration = Duration::from_secs(1);
/// How long a program that listens on a port must be silent until it counts as a server that has
/// started.
pub const SERVER_SILENCE: Duration = Duration::from_millis(1_500);
/// Pause before the first look whether a command listens on a port, and longest pause between two.
pub const PORTS_SPACING: (Duration, Duration) =
    (Duration::from_millis(200), Duration::from_secs(1));
/// Longest pause between two looks where silent commands listen that nobody waits for.
pub const PORTS_PAUSE_MAX: Duration = Duration::from_secs(5);
/// Characters of a server's first lines that its answer shows.
pub const SERVER_SHOWN: usize = 200;
/// The silence after which a program's output counts as its response to input.
pub const INPUT_SILENCE: Duration = Duration::from_millis(150);
/// How long a full-screen program must be silent until its screen is shown to who waits for its
/// end.
pub const SCREEN_SILENCE: Duration = Duration::from_millis(700);
/// The time that a command has to end after it was asked to, before it is killed.
pub const STOP_PATIENCE: Duration = Duration::from_secs(3);
/// The time that a command's leftover processes have to end before they are killed.
pub const LEFTOVER_PATIENCE: Duration = Duration::from_millis(1_500);
/// The longest wait for the rest of the output once all processes are gone.
pub const DRAIN_PATIENCE: Duration = Duration::from_secs(1);
/// Longest command lines of one call, in bytes.
pub const COMMAND_MAX: usize = 64 * 1024;
/// Commands of one call that run one after the other.
pub const SEQUENCE_MAX: usize = 20;
/// Longest part of a command line that is shown where it names a run, in bytes.
pub const COMMAND_SHOWN: usize = 80;
/// Commands that run at once.
pub const RUNNING_MAX: usize = 32;
/// Runs that are remembered; the oldest that have ended are forgotten.
pub const RUNS_MAX: usize = 200;
/// The time for which a line that the user allowed may be run again.
pub const CONSENT_TIME: Duration = Duration::from_secs(600);
/// Newest bytes of an output in which refusals of the system are looked for.
pub const REFUSAL_BYTES: usize = 8 * 1024;
/// Changes of commands that are remembered.
pub const CHANGES_MAX: usize = 100;
/// Other sessions of a workspace that are asked whether their commands changed files.
pub const SESSIONS_MAX: usize = 100;
/// Characters of the files that a command changed which are named.
pub const CHANGED_SHOWN: usize = 60;
/// Files of a command's change that history is told of.
pub const CHANGED_TOLD: usize = 256;
/// The longest time that a command waits for the scan of the files before it.
pub const BEFORE_PATIENCE: Duration = Duration::from_secs(2);
/// The longest time that a command's end waits for the scan of the files after it.
pub const AFTER_PATIENCE: Duration = Duration::from_secs(5);
/// Looks in a row that take longer, after which there are no more.
pub const LATE_MAX: u32 = 3;
/// The time limit for writing the files of an undo.
pub const UNDO_PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of the files that an undo wrote which are named below its line.
pub const UNDO_SHOWN: usize = 4000;
/// The duration of a run from which on its undo warns of possible writes by others.
pub const LONG_RUN: Duration = Duration::from_secs(10);
/// Bytes of one file with output.
pub const SEGMENT_BYTES: u64 = 32 * 1024 * 1024;
/// Files with output of one run: the first one and the newest; those between are removed.
pub const SEGMENTS_MAX: usize = 6;
/// Bytes of output of all runs that have ended; of the oldest ones it is removed.
pub const OUTPUT_BYTES: u64 = 512 * 1024 * 1024;
/// Lines between two places that the index of an output knows.
pub const INDEX_LINES: u64 = 256;
/// Places that the index of an output knows; past it every second one is dropped.
pub const INDEX_MAX: usize = 65_536;
/// The time limit for reading an output on a slow disk.
pub const LOOK: Duration = Duration::from_secs(10);
/// The time limit of a search of an output. It leaves time for the answer.
pub const FIND_PATIENCE: Duration = Duration::from_secs(8);
/// The time limit for reading the output lines that an answer shows.
pub const READ_PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of one line that are read again from an output.
pub const LINE_MAX: usize = 16 * 1024;
/// Bytes of a line that are shown.
pub const LINE_SHOWN: usize = 400;
/// Characters of the newest line that are shown.
pub const LINE_NEWEST: usize = 100;
/// Newest bytes of an output that are kept in memory.
pub const TAIL_BYTES: usize = 64 * 1024;
/// Bytes that one read of a terminal may bring.
pub const READ_BYTES: usize = 64 * 1024;
/// Lines of the terminal in which commands run.
pub const ROWS: u16 = 40;
/// Columns of the terminal in which commands run.
pub const COLUMNS: u16 = 160;
/// Lines of an output that are shown as they are when nothing in it was recognised.
pub const PLAIN_LINES: usize = 200;
/// Tokens that the answer of a command may take at most, within the budget of the answer.
pub const ANSWER_TOKENS: u64 = 2000;
/// Problems and failed tests that are listed with their details.
pub const DETAILED: usize = 8;
/// Problems and failed tests that are listed.
pub const LISTED: usize = 40;
/// Lines of detail that are shown of one problem.
pub const DETAIL_SHOWN: usize = 9;
/// Lines at the end that are shown of an output whose problems are listed.
pub const TAIL_SHOWN: usize = 6;
/// Lines at the end that are shown of a command that was stopped.
pub const STOPPED_SHOWN: u64 = 3;
/// Lines that a search finds at most.
pub const FOUND_MAX: usize = 200;
/// Lines that one look at an output shows at most.
pub const LINES_MAX: u64 = 2000;
/// As [`TAIL_SHOWN`], if errors are listed, since these explain the failure.
pub const TAIL_FAILED: usize = 4;
/// Lines that look like errors and weren't recognised that are shown beside the problems.
pub const SUSPECTS_SHOWN: usize = 12;
/// Tokens that are kept for what isn't recognised when there are many problems.
pub const REST_TOKENS: u64 = 300;
/// Blank lines in a row that are shown as they are.
pub const BLANK_SHOWN: usize = 3;
/// Files whose lines are remembered, so that problems follow edits.
pub const PLACES_FILES: usize = 100;
/// Largest file in which problems follow edits, in bytes.
pub const PLACES_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Lines of all files of one run that are remembered.
pub const PLACES_LINES: usize = 100_000;
/// The time limit for comparing a file with its earlier version.
pub const PLACES_PATIENCE: Duration = Duration::from_millis(500);
/// The shortest time between two progress reports of a job.
pub const PROGRESS_SPACING: Duration = Duration::from_millis(500);
/// The interval at which adopted processes that have ended are reaped.
pub const ORPHANS_SPACING: Duration = Duration::from_secs(1);
/// Processes that are looked at to find those of a run.
pub const PROCESSES_MAX: usize = 100_000;
/// Runs that the window shows in one line each.
pub const WINDOW_RUNS: usize = 6;
