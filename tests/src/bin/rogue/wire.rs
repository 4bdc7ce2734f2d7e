//! The connection to the daemon, on which any bytes can be sent.

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
    /// Takes over descriptor 3.
    pub fn inherited() -> Self {
        // SAFETY: the launcher opened descriptor 3 for this process alone; this is its only user,
        // once.
        #[allow(unsafe_code)]
        let owned = unsafe { OwnedFd::from_raw_fd(3) };
        Self { stream: Some(UnixStream::from(owned)), decoder: FrameDecoder::default() }
    }

    /// Writes bytes that need not be a frame.
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

    /// Waits for the next request; `None` when the daemon has closed the connection.
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

/// Waits without an end.
pub fn block() -> ! {
    loop {
        std::thread::park();
    }
}

/// Prints a line to the log of the session.
pub fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Ends the process at once.
pub fn exit(status: i32) -> ! {
    #[allow(clippy::exit, reason = "ending without a clean-up is the fault")]
    std::process::exit(status)
}
