//! Reads standard input, within a time limit.

use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{SFlag, fstat};
use pipemux_client::ClientError;

/// The longest wait for input of a command that requires some.
const INPUT_PATIENCE: Duration = Duration::from_secs(1);

/// Reads standard input to its end, as text of at most `most` bytes.
///
/// # Errors
/// Standard input is a terminal, where the command might wait for input that never comes; it
/// doesn't end within `timeout`; it is not UTF-8; or it is longer.
pub fn read_text(most: usize, timeout: Duration) -> Result<String, ClientError> {
    if io::stdin().is_terminal() {
        return Err(ClientError::invalid(
            "standard input is a terminal: expected a file or a pipe",
        )
        .hint("to see both: pipemux run --help"));
    }
    let bytes = run_with_timeout(timeout, move || {
        let mut bytes = Vec::new();
        // One byte more, to tell a text of exactly this length from a longer one.
        io::stdin().lock().take(most as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
    })
    .ok_or_else(|| {
        ClientError::invalid(format!(
            "standard input did not end within {} s",
            timeout.as_secs_f32()
        ))
        .hint("close it (< /dev/null), or allow more time: --timeout SECONDS")
    })?
    .map_err(|error| ClientError::invalid(format!("standard input can't be read: {error}")))?;
    check_text(bytes, most)
}

/// True if standard input is a here-document, or what a command that has ended left in a pipe.
///
/// Nothing is read: what isn't taken stays for others, such as the loop that runs this command. A
/// file by its name, or a pipe that is still being written, may be meant for them and is none.
pub fn is_own() -> bool {
    let stdin = io::stdin();
    let fd = stdin.as_fd();
    let Ok(stat) = fstat(fd) else { return false };
    match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
        // A shell removes the file of a here-document before the command begins.
        SFlag::S_IFREG => stat.st_nlink == 0 && stat.st_size > 0,
        SFlag::S_IFIFO => {
            let mut polled = [PollFd::new(fd, PollFlags::POLLIN)];
            let ready = poll(&mut polled, PollTimeout::ZERO).is_ok_and(|ready| ready > 0);
            let events = polled[0].revents().unwrap_or(PollFlags::empty());
            ready && events.contains(PollFlags::POLLIN | PollFlags::POLLHUP)
        }
        _ => false,
    }
}

/// True if a pipe has something to read soon: whoever writes into it may have begun after this
/// command.
pub fn begins() -> bool {
    let stdin = io::stdin();
    let fd = stdin.as_fd();
    let Ok(stat) = fstat(fd) else { return false };
    if SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT != SFlag::S_IFIFO {
        return false;
    }
    let mut polled = [PollFd::new(fd, PollFlags::POLLIN)];
    let patience = PollTimeout::try_from(INPUT_PATIENCE).unwrap_or(PollTimeout::ZERO);
    let ready = poll(&mut polled, patience).is_ok_and(|ready| ready > 0);
    ready && polled[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN))
}

fn check_text(bytes: Vec<u8>, most: usize) -> Result<String, ClientError> {
    if bytes.len() > most {
        let message = format!("standard input is longer than the allowed {most} bytes");
        return Err(ClientError::invalid(message).hint("split it over several runs"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ClientError::invalid(format!("standard input is not UTF-8 text (byte {at})"))
            .hint("convert it first: iconv -t UTF-8")
    })
}

/// Runs the work on a thread and returns its result. Returns `None` and abandons the thread when
/// the time is over.
fn run_with_timeout<T: Send + 'static>(
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
    fn text_must_be_utf8_within_the_limit() {
        assert_eq!(check_text(b"abc".to_vec(), 3).unwrap(), "abc");
        assert_eq!(check_text(Vec::new(), 3).unwrap(), "");
        let error = check_text(b"abcd".to_vec(), 3).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains("3 bytes"), "{error}");
        let error = check_text(b"ab\xff".to_vec(), 3).unwrap_err();
        assert_eq!(error.to_string(), "standard input is not UTF-8 text (byte 2)");
    }

    #[test]
    fn work_that_never_ends_is_abandoned() {
        let (_keep, never) = mpsc::channel::<()>();
        assert_eq!(run_with_timeout(Duration::from_millis(1), move || never.recv().is_ok()), None);
        assert_eq!(run_with_timeout(Duration::from_secs(10), || 7), Some(7));
    }
}
