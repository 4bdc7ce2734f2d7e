//! The connection: frames and raw bytes.

use std::io::{Error, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use pipemux_proto::{Envelope, Frame, FrameDecoder, Kind, Method};
use serde::Serialize;

/// The inherited socket.
pub struct Wire {
    stream: Option<UnixStream>,
    decoder: FrameDecoder,
}

impl Wire {
    /// Takes descriptor 3.
    pub fn inherited() -> Self {
        // SAFETY: the launcher opened descriptor 3 for this process alone; this is its only user, once.
        #[allow(unsafe_code)]
        let owned = unsafe { OwnedFd::from_raw_fd(3) };
        Self { stream: Some(UnixStream::from(owned)), decoder: FrameDecoder::default() }
    }

    /// Writes bytes that may be no frame.
    pub fn raw(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.as_mut().map_or(Ok(()), |stream| stream.write_all(bytes))
    }

    /// Writes a frame.
    pub fn send<T: Serialize>(&mut self, envelope: &Envelope, body: &T) -> std::io::Result<()> {
        let bytes = Frame::encode(envelope, body).map_err(Error::other)?;
        self.raw(&bytes)
    }

    /// Answers a request.
    pub fn reply<T: Serialize>(&mut self, request: &Frame, body: &T) -> std::io::Result<()> {
        self.send(&request.envelope.answer(Kind::Reply), body)
    }

    /// Closes the connection.
    pub fn close(&mut self) {
        self.stream = None;
    }

    /// Waits for the next request; none when the other side has closed.
    pub fn next_request(&mut self) -> std::io::Result<Option<Frame>> {
        let mut chunk = [0; 16 * 1024];
        loop {
            while let Some(frame) = self.decoder.next_frame().map_err(Error::other)? {
                if frame.envelope.kind == Kind::Request && frame.envelope.method != Method::Hello {
                    return Ok(Some(frame));
                }
            }
            let Some(stream) = &mut self.stream else { block() };
            match stream.read(&mut chunk)? {
                0 => return Ok(None),
                length => self.decoder.extend(&chunk[..length]),
            }
        }
    }
}

/// Does nothing for ever.
pub fn block() -> ! {
    loop {
        std::thread::park();
    }
}

/// Prints a line to the session's log.
pub fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Ends at once, without a goodbye.
pub fn exit(status: i32) -> ! {
    #[allow(clippy::exit, reason = "the fault that is wanted")]
    std::process::exit(status)
}
