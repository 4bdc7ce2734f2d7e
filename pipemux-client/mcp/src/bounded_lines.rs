//! Reads lines of bounded length from standard input.

use std::mem;

use rmcp::transport::io::StdioReader;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::limits::MESSAGE_MAX;
use crate::malformed::Outline;

/// The result of reading a line.
#[derive(Debug)]
pub enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// A line of more than [`MESSAGE_MAX`] bytes, of which only this was kept.
    TooLong(Outline),
}

/// Reads lines.
#[derive(Debug)]
pub struct BoundedLines<R = StdioReader> {
    reader: BufReader<R>,
    /// What was read of a line whose end has not come. It stays when [`BoundedLines::next`] is
    /// dropped.
    line: Vec<u8>,
    /// The outline of a line that is too long.
    outline: Option<Outline>,
    max: usize,
}

impl<R: AsyncRead + Unpin> BoundedLines<R> {
    /// Makes a reader of lines.
    pub fn new(reader: R) -> Self {
        let reader = BufReader::new(reader);
        Self { reader, line: Vec::new(), outline: None, max: MESSAGE_MAX }
    }

    /// Returns the next line; `None` at the end of the input, also where a line has no end. It may
    /// be dropped and called again without a loss.
    pub async fn next(&mut self) -> Option<Line> {
        loop {
            // Nothing is consumed before the last `await`.
            let part = self.reader.fill_buf().await.ok().filter(|part| !part.is_empty())?;
            let end = part.iter().position(|byte| *byte == b'\n');
            let part = &part[..end.unwrap_or(part.len())];
            match &mut self.outline {
                Some(outline) => outline.feed(part),
                None if self.line.len() + part.len() > self.max => {
                    let outline = self.outline.insert(Outline::default());
                    outline.feed(&mem::take(&mut self.line));
                    outline.feed(part);
                }
                None => self.line.extend_from_slice(part),
            }
            let consumed = part.len() + usize::from(end.is_some());
            self.reader.consume(consumed);
            if end.is_some() {
                let line = mem::take(&mut self.line);
                return Some(self.outline.take().map_or(Line::Whole(line), Line::TooLong));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use rmcp::model::RequestId;
    use tokio::io::ReadBuf;

    use super::*;

    /// A reader that yields these pieces one by one.
    struct Pieces(VecDeque<Vec<u8>>);

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            buffer.put_slice(&self.0.pop_front().unwrap_or_default());
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn long_line_is_outlined_and_the_next_one_is_whole() {
        let id_behind = r#"{"method":"m","params":{"id":1,"x":"}\"{"},"id":"b"}"#;
        let text = format!("{{}}\n{id_behind}\n\n{}\r\nrest", "x".repeat(20));
        for size in [1, 7, 8192] {
            let pieces = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
            let mut lines = BoundedLines { max: 20, ..BoundedLines::new(Pieces(pieces)) };
            assert!(matches!(lines.next().await, Some(Line::Whole(line)) if line == b"{}"));
            let Some(Line::TooLong(outline)) = lines.next().await else { panic!("a long line") };
            assert_eq!(outline.request(), Some(RequestId::String("b".into())));
            assert!(matches!(lines.next().await, Some(Line::Whole(line)) if line.is_empty()));
            let Some(Line::TooLong(outline)) = lines.next().await else { panic!("a long line") };
            assert_eq!(outline.request(), None);
            assert!(lines.next().await.is_none());
        }
    }
}
