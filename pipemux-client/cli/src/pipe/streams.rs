//! Standard input and output. Reading and writing block, so each has a thread, connected by a
//! bounded queue.

use std::io::{self, BufRead, Read};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use crate::output::{self, WriteOutcome};

/// Longest line, in bytes. A request must fit into one message, and JSON may write a byte as six.
pub const LINE_MAX: usize = 6 * 1024 * 1024;

/// Lines that are read ahead, and answers that wait to be written.
const QUEUE: usize = 8;

/// A line without its newline.
#[derive(Debug, PartialEq, Eq)]
pub enum InputLine {
    Bytes(Vec<u8>),
    /// The line is longer than [`LINE_MAX`]; its content is dropped.
    TooLong,
}

/// The lines of standard input.
#[derive(Debug)]
pub struct InputLines {
    lines: mpsc::Receiver<InputLine>,
}

impl InputLines {
    /// Starts the thread that reads.
    pub fn start() -> Self {
        let (send, lines) = mpsc::channel(QUEUE);
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            // A read error counts as the end of the stream.
            while let Ok(Some(line)) = read_line(&mut input, LINE_MAX) {
                let blank =
                    matches!(&line, InputLine::Bytes(bytes) if bytes.trim_ascii().is_empty());
                if !blank && send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self { lines }
    }

    /// Returns the next line that isn't blank; `None` at the end.
    pub async fn next(&mut self) -> Option<InputLine> {
        self.lines.recv().await
    }
}

/// Standard output, as lines that are written whole.
#[derive(Debug)]
pub struct OutputLines {
    lines: mpsc::Sender<(Vec<u8>, oneshot::Sender<()>)>,
}

impl OutputLines {
    /// Starts the thread that writes.
    pub fn start() -> Self {
        let (lines, mut queue) = mpsc::channel::<(Vec<u8>, oneshot::Sender<()>)>(QUEUE);
        thread::spawn(move || {
            while let Some((bytes, written)) = queue.blocking_recv() {
                match output::write_stdout(&bytes) {
                    Ok(WriteOutcome::Complete) => drop(written.send(())),
                    Ok(WriteOutcome::ReaderGone) => return,
                    Err(error) => return output::report_write_error(&error),
                }
            }
        });
        Self { lines }
    }

    /// Writes a line; returns false when nobody reads the output any more.
    pub async fn write(&self, bytes: Vec<u8>) -> bool {
        let (written, done) = oneshot::channel();
        self.lines.send((bytes, written)).await.is_ok() && done.await.is_ok()
    }

    /// Returns once nobody reads the output any more.
    pub async fn closed(&self) {
        self.lines.closed().await;
    }
}

/// Reads the next line of at most `most` bytes; returns `None` at the end.
fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<InputLine>> {
    let mut bytes = Vec::new();
    // One byte more for the newline, and one to recognise a longer line.
    let read = input.by_ref().take(most as u64 + 2).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > most {
        skip_line(input)?;
        return Ok(Some(InputLine::TooLong));
    }
    if bytes.len() > most {
        Ok(Some(InputLine::TooLong))
    } else {
        Ok(Some(InputLine::Bytes(bytes)))
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffered = input.fill_buf()?;
        let end = buffered.iter().position(|byte| *byte == b'\n');
        let (length, done) = match end {
            Some(at) => (at + 1, true),
            None => (buffered.len(), buffered.is_empty()),
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

    fn lines_of(mut input: &[u8], most: usize) -> Vec<InputLine> {
        std::iter::from_fn(|| read_line(&mut input, most).unwrap()).collect()
    }

    proptest! {
        /// Each line is returned whole or reported as too long, whatever precedes it.
        #[test]
        fn lines_are_returned_whole_or_reported_as_too_long(text in "[a\n]{0,40}", most in 1usize..8) {
            let expected: Vec<InputLine> = text.split_terminator('\n').map(|line| {
                if line.len() > most { InputLine::TooLong } else { InputLine::Bytes(line.into()) }
            }).collect();
            prop_assert_eq!(lines_of(text.as_bytes(), most), expected);
        }
    }
}
