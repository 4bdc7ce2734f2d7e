//! Frames: a `u32` big-endian length, then that many bytes: an envelope and a body.

use bytes::{Buf, Bytes, BytesMut};

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

impl Frame {
    /// Encodes envelope and body as bytes ready to be written.
    ///
    /// # Errors
    /// A body that can't be encoded, or a frame above [`FRAME_MAX`].
    pub fn encode<T: Serialize>(envelope: &Envelope, body: &T) -> Result<Bytes, EncodeError> {
        let mut out = Vec::with_capacity(128);
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

    /// Reads a frame from the bytes after its length prefix.
    ///
    /// # Errors
    /// An envelope that can't be read.
    pub fn from_payload(payload: Bytes) -> Result<Self, EnvelopeError> {
        let (envelope, length) = Envelope::read(&payload)?;
        Ok(Self { envelope, body: payload.slice(length..) })
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

/// Cuts a stream of bytes into frames. Feed it with [`FrameDecoder::extend`], drain it with
/// [`FrameDecoder::next_frame`]. Holds at most one incomplete frame and what was last fed.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: BytesMut,
}

impl FrameDecoder {
    /// Appends bytes as they came.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] before anything is allocated for the frame; an unreadable envelope.
    /// An unknown method consumes its frame, so that the caller may refuse it and go on.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some(prefix) = self.buffer.first_chunk::<PREFIX>() else { return Ok(None) };
        let length = u32::from_be_bytes(*prefix) as usize;
        if length > FRAME_MAX {
            return Err(FrameError::TooLong(length as u64));
        }
        if self.buffer.len() < PREFIX + length {
            return Ok(None);
        }
        self.buffer.advance(PREFIX);
        let payload = self.buffer.split_to(length).freeze();
        if self.buffer.is_empty() {
            // An idle connection keeps no buffer.
            self.buffer = BytesMut::new();
        }
        Ok(Some(Frame::from_payload(payload)?))
    }

    /// True when no part of a frame is waiting.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
}
