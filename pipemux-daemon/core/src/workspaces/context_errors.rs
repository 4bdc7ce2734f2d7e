//! The errors of a Context: what is wrong with a window, by name. Those of an app arrive as faults;
//! these are the daemon's own.

use pipemux_proto::{Code, Fault};

use crate::keys::SessionKey;

/// The number of conflicts of one window that are reported at once.
pub const CONFLICTS_TOLD: usize = 8;

/// Returns the error of a key that an app gave to two things.
pub fn anchor_conflict(session: &SessionKey, key: &str) -> Fault {
    let message = format!("{session} shows two things under the key {key}: the first one is kept");
    Fault::new(Code::AnchorConflict, message)
}

/// Returns the error of an app whose version went back within one process's life.
pub fn version_mismatch(session: &SessionKey, (from, to): (u64, u64)) -> Fault {
    Fault::new(Code::VersionMismatch, format!("{session} went from {from} to {to}; shown anew"))
}

/// Returns the error of a window that takes too many tokens for its budget. `command` shows all of
/// it.
pub fn context_too_large(session: &SessionKey, tokens: u64, command: String) -> Fault {
    let message =
        format!("{session} takes about {tokens} tokens and is shown with less detail, to fit");
    Fault::new(Code::ContextTooLarge, message).hint(command)
}
