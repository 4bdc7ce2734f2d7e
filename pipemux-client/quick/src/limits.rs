//! The bounds. What exceeds one is left to the ordinary program.

/// Most words of a command line.
pub const WORDS_MAX: usize = 12;
/// Longest path of the current directory, in bytes.
pub const DIRECTORY_MAX: usize = 1024;
/// Longest path that is looked for, with the zero at its end, in bytes.
pub const PATH_MAX: usize = DIRECTORY_MAX + 16;
/// Longest path of a socket, in bytes.
pub const SOCKET_PATH_MAX: usize = 100;
/// Longest greeting and request together, and then, behind them, longest greeting and answer, in
/// bytes.
pub const BUFFER: usize = 64 * 1024;
/// Most variables of the environment that are passed to an app.
pub const VARIABLES_MAX: usize = 32;
/// Most bytes of these.
pub const VARIABLES_BYTES_MAX: usize = 16 * 1024;
/// Longest options that hints repeat, in bytes.
pub const HINT_OPTIONS_MAX: usize = 512;
/// Longest name of a harness's session, in bytes.
pub const SESSION_MAX: usize = 64;
/// The time limit of the daemon for a request, in milliseconds.
pub const REQUEST_MS: u32 = 30_000;
/// The wait until the ordinary program, which knows the deadlines, takes over, in ms.
pub const PATIENCE_MS: u32 = 1000;
/// Deepest nesting of a value that is skipped.
pub const DEPTH_MAX: u32 = 32;
