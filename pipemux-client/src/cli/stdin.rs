//! Standard input: read only when it was asked for, never for ever.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use pipemux_client::ClientError;

/// Reads standard input to its end, as text of at most `most` bytes.
///
/// # Errors
/// A terminal, for nobody may be there to type; no end within `timeout`; not UTF-8; longer.
pub fn text(most: usize, timeout: Duration) -> Result<String, ClientError> {
    if io::stdin().is_terminal() {
        return Err(ClientError::invalid(
            "standard input is a terminal: expected a file or a pipe",
        )
        .hint("pipemux run 'editor.insert(3, text=stdin)' < text.md")
        .hint("pipemux run - <<'EOF'"));
    }
    let bytes = within(timeout, move || {
        let mut bytes = Vec::new();
        // One byte more, to tell a text of exactly so many from a longer one.
        io::stdin().lock().take(most as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
    })
    .ok_or_else(|| {
        ClientError::invalid(format!(
            "standard input did not end within {} s",
            timeout.as_secs_f32()
        ))
        .hint("give it an end (< /dev/null), or more time: --timeout SECONDS")
    })?
    .map_err(|error| ClientError::invalid(format!("standard input can't be read: {error}")))?;
    checked(bytes, most)
}

fn checked(bytes: Vec<u8>, most: usize) -> Result<String, ClientError> {
    if bytes.len() > most {
        let message = format!("standard input is longer than the {most} bytes that are allowed");
        return Err(ClientError::invalid(message).hint("split it over several runs"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ClientError::invalid(format!("standard input is not UTF-8 text (byte {at})"))
            .hint("convert it first: iconv -t UTF-8")
    })
}

/// The work's result, or nothing when it isn't done in time; it is then left behind.
fn within<T: Send + 'static>(
    timeout: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(timeout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_up_to_the_bound_passes_and_nothing_else() {
        assert_eq!(checked(b"abc".to_vec(), 3).unwrap(), "abc");
        assert_eq!(checked(Vec::new(), 3).unwrap(), "");
        let error = checked(b"abcd".to_vec(), 3).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains("3 bytes"), "{error}");
        let error = checked(b"ab\xff".to_vec(), 3).unwrap_err();
        assert_eq!(error.to_string(), "standard input is not UTF-8 text (byte 2)");
    }

    #[test]
    fn what_never_ends_is_left_behind() {
        let (_keep, never) = mpsc::channel::<()>();
        assert_eq!(within(Duration::from_millis(1), move || never.recv().is_ok()), None);
        assert_eq!(within(Duration::from_secs(10), || 7), Some(7));
    }
}
