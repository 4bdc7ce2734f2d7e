//! Checks of values that can't be cut.

use pipemux_proto::limits::KEY_MAX;

/// Checks a key or another name that must stay as it is.
pub(super) fn check_name(what: &str, name: &str, most: usize) -> Result<(), String> {
    match name.len() {
        length if length > most => Err(format!("{what} of {length} bytes (limit {most})")),
        _ => Ok(()),
    }
}

/// Checks how many there are of something.
pub(super) fn check_count(what: &str, count: usize, most: usize) -> Result<(), String> {
    match count {
        count if count > most => Err(format!("{count} {what} (limit {most})")),
        _ => Ok(()),
    }
}

/// Drops a key that no thing can have.
pub(super) fn bound_key(key: &mut Option<impl AsRef<str>>) {
    if key.as_ref().is_some_and(|key| !(1..=KEY_MAX).contains(&key.as_ref().len())) {
        *key = None;
    }
}
