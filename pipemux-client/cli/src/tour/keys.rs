//! One key of a person at a terminal.

use std::io::{self, stdin};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::read;

/// Most bytes that one key sends.
const KEY_MAX: usize = 64;

/// A key press in the tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Go to the next step.
    Next,
    /// Leave the tour: q, or the end of the input.
    Leave,
}

/// Puts the terminal's modes back.
struct Modes(Termios);

impl Drop for Modes {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), SetArg::TCSANOW, &self.0);
    }
}

/// Waits for a key, without its line's end and without showing it, until a signal sets
/// `interrupted`.
///
/// # Errors
/// Standard input is no terminal, or is gone.
pub fn read_key(interrupted: &AtomicBool) -> io::Result<Key> {
    let stdin = stdin();
    let before = tcgetattr(&stdin)?;
    let mut modes = before.clone();
    modes.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
    let _before = Modes(before);
    tcsetattr(&stdin, SetArg::TCSANOW, &modes)?;
    while !interrupted.load(Ordering::Relaxed) {
        // Unlike a read, it ends with a signal. One that comes just before it is seen at the next
        // key.
        match poll(&mut [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            polled => polled?,
        };
        let mut bytes = [0; KEY_MAX];
        let length = read(stdin.as_fd(), &mut bytes)?;
        let leaves = matches!(bytes.get(..length), Some([] | [b'q' | b'Q' | 0x04]));
        return Ok(if leaves { Key::Leave } else { Key::Next });
    }
    Ok(Key::Leave)
}
