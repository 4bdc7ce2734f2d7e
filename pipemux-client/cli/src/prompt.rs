//! Asks a person at a terminal for a line that isn't shown.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use nix::sys::termios::{self, LocalFlags, SetArg, Termios};
use pipemux_client::ClientError;

/// Asks for a line of at most `most` bytes.
///
/// # Errors
/// The terminal doesn't let its echo be turned off, the person gave it up with Ctrl-C, or the line
/// is longer.
pub fn read_hidden(prompt: &str, most: usize) -> Result<String, ClientError> {
    let failed = |error: io::Error| ClientError::invalid(format!("the terminal: {error}"));
    let hidden = Hidden::new().map_err(failed)?;
    let mut stderr = io::stderr();
    write!(stderr, "{prompt}").and_then(|()| stderr.flush()).map_err(failed)?;
    let line = read_line(&mut io::stdin().lock(), most);
    drop(hidden);
    // What was typed didn't end the line.
    let _ = writeln!(stderr);
    line.map_err(failed)?.ok_or_else(|| ClientError::invalid("cancelled: nothing was answered"))
}

/// Reads a line as it is typed, without what was erased. None when it was given up.
fn read_line(input: &mut impl Read, most: usize) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        if input.read(&mut byte)? == 0 {
            break;
        }
        match byte[0] {
            b'\n' | b'\r' => break,
            // Ctrl-C; the terminal passes it on like any other.
            3 => return Ok(None),
            // Ctrl-D ends the line, Ctrl-U erases it, Backspace erases a character.
            4 => break,
            21 => line.clear(),
            8 | 127 => while line.pop().is_some_and(|last: u8| last & 0xc0 == 0x80) {},
            _ if line.len() == most => {
                return Err(io::Error::other(format!("the line is longer than {most} bytes")));
            }
            other => line.push(other),
        }
    }
    String::from_utf8(line).map(Some).map_err(io::Error::other)
}

/// A terminal whose echo is off until this is dropped.
struct Hidden {
    before: Termios,
}

impl Hidden {
    fn new() -> io::Result<Self> {
        let stdin = io::stdin();
        let before = termios::tcgetattr(stdin.as_fd())?;
        let mut hidden = before.clone();
        // Signals would end the process while nothing is shown: their keys are read like any other.
        hidden.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG);
        termios::tcsetattr(stdin.as_fd(), SetArg::TCSADRAIN, &hidden)?;
        Ok(Self { before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // If it fails, nothing more can be done.
        let _ = termios::tcsetattr(io::stdin().as_fd(), SetArg::TCSADRAIN, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[u8]) -> Option<String> {
        read_line(&mut &*keys, 8).unwrap()
    }

    #[test]
    fn keys_are_read_as_a_line() {
        assert_eq!(typed(b"secret\nmore").as_deref(), Some("secret"));
        assert_eq!(typed("aä\x7fb\r".as_bytes()).as_deref(), Some("ab"));
        assert_eq!(typed(b"wrong\x15right\x04").as_deref(), Some("right"));
        assert_eq!(typed(b"\x7f\x7fa").as_deref(), Some("a"));
        assert_eq!(typed(b"abc\x03"), None);
        assert!(read_line(&mut &b"123456789\n"[..], 8).is_err());
    }
}
