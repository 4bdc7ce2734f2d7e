//! The bounds of the wire. Both ends enforce them: what exceeds a bound is refused, never cut
//! silently.

/// Longest frame without its length prefix, in bytes: envelope and body together.
pub const FRAME_MAX: usize = 1024 * 1024;
/// Longest body of an exchange, in bytes: with the longest envelope it still fits one frame.
pub const EXCHANGE_MAX: usize = FRAME_MAX - 64;
/// Longest provider name, in bytes.
pub const PROVIDER_MAX: usize = 32;
/// Longest session id, in bytes.
pub const SESSION_MAX: usize = 64;
/// Longest app-local key, in bytes.
pub const KEY_MAX: usize = 512;
/// Bytes of the key of a consent.
pub const CONSENT_KEY_MAX: usize = 256;
/// Lines that a consent shows.
pub const CONSENT_LINES_MAX: usize = 64;
/// Characters of one line that a consent shows.
pub const CONSENT_LINE_CHARS: usize = 1_000;
/// Longest type of a thing that is shown in its refs, in bytes.
pub const TYPE_MAX: usize = 32;
/// Longest ref that is looked for in a text, in bytes: the longest owner, type and key, each byte
/// of the key written as three.
pub const REF_MAX: usize = 2048;
/// Longest name of an action, a parameter or the type of an anchor in a prototype, in bytes.
pub const NAME_MAX: usize = 64;
/// Longest code of one `run`, in bytes. Its `stdin` has a bound of its own.
pub const CODE_MAX: usize = 256 * 1024;
/// Longest standard input of one `run`, in bytes. Code and standard input together fit one frame.
pub const STDIN_MAX: usize = 640 * 1024;
/// Largest number of steps in one `run`, including nested calls.
pub const STEPS_MAX: usize = 256;
/// Deepest nesting of calls, lists and records in the call syntax.
pub const NESTING_MAX: usize = 16;
/// Deepest nesting of arrays and maps in a value.
pub const VALUE_DEPTH_MAX: usize = 32;
/// Largest number of items of a list, fields of a record, or arguments of a call, in the call
/// syntax.
pub const LIST_MAX: usize = 4096;
/// Largest number of options that one question lists; the rest are counted.
pub const CHOICES_MAX: usize = 20;
/// Longest options that commands in hints repeat, in bytes.
pub const HINT_OPTIONS_MAX: usize = 1024;
/// Longest name of what a request was made with, in bytes.
pub const CLIENT_NAME_MAX: usize = 128;
/// Most offsets of a reader's clock that count: four years with daylight saving.
pub const CLOCK_OFFSETS_MAX: usize = 8;
/// Most windows of which a client says what version it has.
pub const HELD_MAX: usize = 64;
/// Most files that one action names as changed; further ones aren't told.
pub const CHANGED_FILES_MAX: usize = 256;
/// Longest token of a reader, in bytes.
pub const READER_TOKEN_MAX: usize = 256;
/// Most bytes of environment variables that a client sends with a run.
pub const PASSED_VARIABLES_MAX: usize = 32 * 1024;
/// Most windows of other sessions that one window embeds; of further ones only the names are shown.
pub const EMBEDS_MAX: usize = 16;
/// The default budget of an embedded window, in tokens.
pub const EMBED_BUDGET: u32 = 300;
/// Longest text that `resolve` looks through, in bytes.
pub const RESOLVE_TEXT_MAX: usize = 256 * 1024;
/// Most refs and tokens of a text that `resolve` tells of; further ones are counted.
pub const RESOLVE_MAX: usize = 64;
/// Longest value passed from one app to another, in bytes.
pub const COPY_MAX: usize = 512 * 1024;
/// Longest value passed from one app to another as a file, in bytes.
pub const VALUE_FILE_MAX: u64 = 32 * 1024 * 1024;
/// Length of one chunk when the daemon reads a value, in bytes.
pub const READ_CHUNK: u32 = 128 * 1024;
/// Longest time that a `view`, `watch` or `logs` waits, in milliseconds.
pub const WAIT_MAX_MS: u32 = 3_600_000;
