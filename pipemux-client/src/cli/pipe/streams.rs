//! The two streams. Reading and writing wait, so each has a thread; queues between are bounded.

use std::io::{self, BufRead, Read};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use crate::output::{self, Written};

/// Longest line, in bytes. What a request holds fits one message; JSON may write a byte as six.
pub const LINE_MAX: usize = 6 * 1024 * 1024;

/// Lines that were read ahead, and answers that wait to be written.
const QUEUE: usize = 8;

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// What stands in it.
    Bytes(Vec<u8>),
    /// It is longer than [`LINE_MAX`]; nothing of it is kept.
    TooLong,
}

/// Lines of standard input.
#[derive(Debug)]
pub struct Lines {
    lines: mpsc::Receiver<Line>,
}

impl Lines {
    /// Begins to read.
    pub fn start() -> Self {
        let (send, lines) = mpsc::channel(QUEUE);
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            // An error of the stream is its end.
            while let Ok(Some(line)) = read_line(&mut input, LINE_MAX) {
                let blank = matches!(&line, Line::Bytes(bytes) if bytes.trim_ascii().is_empty());
                if !blank && send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self { lines }
    }

    /// The next line that isn't blank; none at the end.
    pub async fn next(&mut self) -> Option<Line> {
        self.lines.recv().await
    }
}

/// Standard output.
#[derive(Debug)]
pub struct Out {
    pieces: mpsc::Sender<(Vec<u8>, oneshot::Sender<()>)>,
}

impl Out {
    /// Begins to write.
    pub fn start() -> Self {
        let (pieces, mut waiting) = mpsc::channel::<(Vec<u8>, oneshot::Sender<()>)>(QUEUE);
        thread::spawn(move || {
            while let Some((bytes, written)) = waiting.blocking_recv() {
                match output::out(&bytes) {
                    Ok(Written::Whole) => drop(written.send(())),
                    Ok(Written::Abandoned) => return,
                    Err(error) => return output::unwritable(&error),
                }
            }
        });
        Self { pieces }
    }

    /// Writes; false when nobody reads any more.
    pub async fn write(&self, bytes: Vec<u8>) -> bool {
        let (written, done) = oneshot::channel();
        self.pieces.send((bytes, written)).await.is_ok() && done.await.is_ok()
    }

    /// Returns once nobody reads any more.
    pub async fn closed(&self) {
        self.pieces.closed().await;
    }
}

/// The next line, at most `most` bytes; none at the end.
fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    // One byte for the line's end, one to tell a longer one.
    let read = input.by_ref().take(most as u64 + 2).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > most {
        skip_line(input)?;
        return Ok(Some(Line::TooLong));
    }
    if bytes.len() > most { Ok(Some(Line::TooLong)) } else { Ok(Some(Line::Bytes(bytes))) }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let there = input.fill_buf()?;
        let end = there.iter().position(|byte| *byte == b'\n');
        let (length, done) = match end {
            Some(at) => (at + 1, true),
            None => (there.len(), there.is_empty()),
        };
        input.consume(length);
        if done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines_of(mut input: &[u8], most: usize) -> Vec<Line> {
        std::iter::from_fn(|| read_line(&mut input, most).unwrap()).collect()
    }

    proptest! {
        /// Each line comes as it is or is known to be too long, whatever stands before it.
        #[test]
        fn lines_are_whole_or_too_long(text in "[a\n]{0,40}", most in 1usize..8) {
            let expected: Vec<Line> = text.split_terminator('\n').map(|line| {
                if line.len() > most { Line::TooLong } else { Line::Bytes(line.into()) }
            }).collect();
            prop_assert_eq!(lines_of(text.as_bytes(), most), expected);
        }
    }
}
