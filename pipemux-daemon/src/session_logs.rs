//! Logs of sessions: written while their processes print, read on request.
//!
//! A log is a file of bounded length, and the file before it, `<name>.1`. The app can write to its
//! directory, too. Therefore a log is opened without following links and without waiting, and must
//! be a regular file: a pipe in its place can't stall the daemon.
//!
//! | module | contents |
//! |---|---|
//! | `session_logs::files` | opens log files |
//! | `session_logs::writer` | writes a log: rotates it, and limits floods |
//! | `session_logs::omission` | the part of a flood that is left out |
//! | `session_logs::reader` | reads a log by line and by position |

mod files;
mod omission;
mod reader;
mod writer;

pub use files::{end, rotated_length};
pub use reader::LogReader;
pub use writer::LogWriter;
