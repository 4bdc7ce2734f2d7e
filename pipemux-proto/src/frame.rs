//! Frames: a `u32` big-endian length, then that many bytes: an envelope and a body.

use bytes::Bytes;

use crate::codec::{EncodeError, encode_into};
use crate::envelope::{Envelope, EnvelopeError};
use crate::fault::Fault;
use crate::limits::FRAME_MAX;
use serde::Serialize;

/// One message: an envelope that was read, and a body that wasn't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What routing needs.
    pub envelope: Envelope,
    /// The MessagePack body, untouched.
    pub body: Bytes,
}

/// Why a stream of bytes is no stream of frames. After one of these the connection can't go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The length prefix names more than [`FRAME_MAX`] bytes.
    #[error("a frame of {0} bytes is longer than the {FRAME_MAX} that are allowed")]
    TooLong(u64),
    /// The envelope can't be read.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
}

const PREFIX: usize = 4;
/// Room for most messages: a buffer that grows is copied.
const USUAL: usize = 512;

impl Frame {
    /// Encodes envelope and body as bytes ready to be written.
    ///
    /// # Errors
    /// A body that can't be encoded, or a frame above [`FRAME_MAX`].
    pub fn encode<T: Serialize>(envelope: &Envelope, body: &T) -> Result<Bytes, EncodeError> {
        let mut out = Vec::with_capacity(USUAL);
        out.extend([0; PREFIX]);
        envelope.write(&mut out);
        encode_into(&mut out, body)?;
        finish(out)
    }

    /// Encodes a refusal of a request.
    pub fn fault(request: &Envelope, fault: &Fault) -> Result<Bytes, EncodeError> {
        Self::encode(&request.answer(crate::Kind::Fault), fault)
    }

    /// Puts a body that is encoded already under a new envelope.
    ///
    /// # Errors
    /// A frame above [`FRAME_MAX`].
    pub fn forward(envelope: &Envelope, body: &[u8]) -> Result<Bytes, EncodeError> {
        let mut out = Vec::with_capacity(PREFIX + Envelope::MAX + body.len());
        out.extend([0; PREFIX]);
        envelope.write(&mut out);
        out.extend_from_slice(body);
        finish(out)
    }

    /// The bytes before a body of that many bytes.
    ///
    /// # Errors
    /// A frame above [`FRAME_MAX`].
    pub fn head(envelope: &Envelope, body: usize) -> Result<Head, EncodeError> {
        let mut bytes = [0; Head::MAX];
        let end = envelope.write_at(&mut bytes, PREFIX);
        let length = end - PREFIX + body;
        if length > FRAME_MAX {
            return Err(EncodeError::TooLong(length));
        }
        bytes[..PREFIX].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(Head { bytes, length: end as u8 })
    }

    /// Reads a frame from the bytes after its length prefix.
    ///
    /// # Errors
    /// An envelope that can't be read.
    pub fn from_payload(payload: Bytes) -> Result<Self, EnvelopeError> {
        let (envelope, length) = Envelope::read(&payload)?;
        Ok(Self { envelope, body: payload.slice(length..) })
    }
}

/// What stands before a body: the length of both together, and the envelope.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    bytes: [u8; Self::MAX],
    length: u8,
}

impl Head {
    /// Longest head, in bytes.
    pub const MAX: usize = PREFIX + Envelope::MAX;
}

impl std::ops::Deref for Head {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

fn finish(mut out: Vec<u8>) -> Result<Bytes, EncodeError> {
    let length = out.len() - PREFIX;
    if length > FRAME_MAX {
        return Err(EncodeError::TooLong(length));
    }
    out[..PREFIX].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(out.into())
}

/// A whole frame where it lies, nothing copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Cut<'a> {
    /// How many bytes it takes, its length prefix included.
    pub length: usize,
    /// What routing needs.
    pub envelope: Result<Envelope, EnvelopeError>,
    /// The body, untouched; empty when the envelope can't be read.
    pub body: &'a [u8],
}

impl<'a> Cut<'a> {
    /// The frame at the front of `bytes`; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`FrameError::TooLong`].
    pub fn first(bytes: &'a [u8]) -> Result<Option<Self>, FrameError> {
        let Some(length) = length_at(bytes)? else { return Ok(None) };
        let Some(payload) = bytes.get(PREFIX..length) else { return Ok(None) };
        let (envelope, body) = match Envelope::read(payload) {
            Ok((envelope, end)) => (Ok(envelope), &payload[end..]),
            Err(error) => (Err(error), &[][..]),
        };
        Ok(Some(Self { length, envelope, body }))
    }

    /// How many bytes the frame at the front lacks; 0 when it is whole, or its length isn't known.
    pub fn missing(bytes: &[u8]) -> usize {
        match length_at(bytes) {
            Ok(Some(length)) => length.saturating_sub(bytes.len()),
            _ => 0,
        }
    }
}

/// The length of the frame at the front, its prefix included, once that is known.
fn length_at(bytes: &[u8]) -> Result<Option<usize>, FrameError> {
    let Some(prefix) = bytes.first_chunk::<PREFIX>() else { return Ok(None) };
    let length = u32::from_be_bytes(*prefix) as usize;
    if length > FRAME_MAX {
        return Err(FrameError::TooLong(length as u64));
    }
    Ok(Some(PREFIX + length))
}

/// Longest body that is copied out of the decoder's buffer; a longer one takes its part of the buffer
/// along. So a small body never keeps a large buffer alive.
const COPIED_MAX: usize = 8 * 1024;

/// Cuts a stream of bytes into frames. Feed it with [`FrameDecoder::extend`] or through
/// [`FrameDecoder::room`], drain it with [`FrameDecoder::next_frame`]. Holds at most one incomplete frame
/// and what was last fed; none of it once it is drained, unless it is told
/// to [`FrameDecoder::keep_buffer`].
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: Vec<u8>,
    /// Where the next frame begins.
    start: usize,
    keeps: bool,
}

impl FrameDecoder {
    /// Has it keep its buffer for the next bytes: for a connection that is rarely idle.
    pub fn keep_buffer(&mut self) {
        self.keeps = true;
    }

    /// Appends bytes as they came.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).extend_from_slice(bytes);
        // What has begun goes on where it is.
        self.room(0);
    }

    /// The buffer to append to, with room for the rest of a frame that has begun and for `least` bytes.
    pub fn room(&mut self, least: usize) -> &mut Vec<u8> {
        if self.start > 0 {
            self.buffer.drain(..std::mem::take(&mut self.start));
        }
        self.buffer.reserve_exact(self.missing().max(least));
        &mut self.buffer
    }

    /// How many bytes of a frame are still to come; 0 when that isn't known, or none has begun.
    pub fn missing(&self) -> usize {
        Cut::missing(&self.buffer[self.start..])
    }

    /// What is held: a frame that hasn't come whole, once the whole ones before it are taken.
    pub fn held(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// The next whole frame; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] before anything is allocated for the frame; an unreadable envelope.
    /// An unknown method consumes its frame, so that the caller may refuse it and go on.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some(Cut { length, envelope, body }) = Cut::first(&self.buffer[self.start..])? else {
            return Ok(None);
        };
        let end = self.start + length;
        let last = end == self.buffer.len();
        let body = if body.len() <= COPIED_MAX || !last {
            let body = Bytes::copy_from_slice(body);
            self.start = end;
            body
        } else {
            let from = end - body.len();
            self.start = 0;
            Bytes::from(std::mem::take(&mut self.buffer)).slice(from..)
        };
        if self.start == self.buffer.len() {
            self.start = 0;
            self.buffer.clear();
            if !self.keeps {
                // An idle connection keeps no buffer.
                self.buffer = Vec::new();
            }
        }
        Ok(Some(Frame { envelope: envelope?, body }))
    }

    /// True when no part of a frame is waiting.
    pub fn is_empty(&self) -> bool {
        self.start == self.buffer.len()
    }
}
