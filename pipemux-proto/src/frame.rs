//! Frames: a `u32` big-endian length, then that many bytes: an envelope and a body.

use bytes::Bytes;

use crate::codec::{EncodeError, encode_into};
use crate::envelope::{Envelope, EnvelopeError};
use crate::fault::Fault;
use crate::limits::FRAME_MAX;
use serde::Serialize;

/// One message: a decoded envelope and an encoded body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The decoded envelope.
    pub envelope: Envelope,
    /// The encoded body.
    pub body: Bytes,
}

/// The reason why bytes are not a stream of frames. The connection can't be used any more, except
/// after an unknown method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The length prefix exceeds [`FRAME_MAX`] bytes.
    #[error("a frame of {0} bytes is longer than the {FRAME_MAX} that are allowed")]
    TooLong(u64),
    /// The envelope can't be read.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
}

const PREFIX: usize = 4;
/// Initial capacity in bytes; it is enough for most messages, which saves growing the buffer.
const USUAL_FRAME: usize = 512;

impl Frame {
    /// Encodes a whole frame, with its length prefix.
    ///
    /// # Errors
    /// The body can't be encoded, or the frame exceeds [`FRAME_MAX`].
    pub fn encode<T: Serialize>(envelope: &Envelope, body: &T) -> Result<Bytes, EncodeError> {
        let mut out = Vec::with_capacity(USUAL_FRAME);
        out.extend([0; PREFIX]);
        envelope.write(&mut out);
        encode_into(&mut out, body)?;
        finish(out)
    }

    /// Encodes the refusal of a request.
    pub fn fault(request: &Envelope, fault: &Fault) -> Result<Bytes, EncodeError> {
        Self::encode(&request.answer(crate::Kind::Fault), fault)
    }

    /// Encodes a frame from an envelope and an encoded body.
    ///
    /// # Errors
    /// The frame exceeds [`FRAME_MAX`].
    pub fn forward(envelope: &Envelope, body: &[u8]) -> Result<Bytes, EncodeError> {
        let mut out = Vec::with_capacity(PREFIX + Envelope::MAX + body.len());
        out.extend([0; PREFIX]);
        envelope.write(&mut out);
        out.extend_from_slice(body);
        finish(out)
    }

    /// Encodes the part of a frame before a body of `body` bytes.
    ///
    /// # Errors
    /// The frame exceeds [`FRAME_MAX`].
    pub fn head(envelope: &Envelope, body: usize) -> Result<FrameHead, EncodeError> {
        let mut bytes = [0; FrameHead::MAX];
        let end = envelope.write_at(&mut bytes, PREFIX);
        let length = end - PREFIX + body;
        if length > FRAME_MAX {
            return Err(EncodeError::TooLong(length));
        }
        bytes[..PREFIX].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(FrameHead { bytes, length: end as u8 })
    }

    /// Reads a frame from the bytes after its length prefix.
    ///
    /// # Errors
    /// The envelope can't be read.
    pub fn from_payload(payload: Bytes) -> Result<Self, EnvelopeError> {
        let (envelope, length) = Envelope::read(&payload)?;
        Ok(Self { envelope, body: payload.slice(length..) })
    }
}

/// The part of a frame before its body: the length prefix and the envelope.
#[derive(Debug, Clone, Copy)]
pub struct FrameHead {
    bytes: [u8; Self::MAX],
    length: u8,
}

impl FrameHead {
    /// Length of the longest head, in bytes.
    pub const MAX: usize = PREFIX + Envelope::MAX;
}

impl std::ops::Deref for FrameHead {
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

/// A whole frame that borrows its body.
#[derive(Debug, PartialEq, Eq)]
pub struct FrameSlice<'a> {
    /// The length of the frame in bytes, with its length prefix.
    pub length: usize,
    /// The decoded envelope.
    pub envelope: Result<Envelope, EnvelopeError>,
    /// The encoded body; empty if the envelope can't be read.
    pub body: &'a [u8],
}

impl<'a> FrameSlice<'a> {
    /// Returns the frame at the front of `bytes`, or `None` if more bytes are needed.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] if the length prefix exceeds [`FRAME_MAX`].
    pub fn first(bytes: &'a [u8]) -> Result<Option<Self>, FrameError> {
        let Some(length) = length_at(bytes)? else { return Ok(None) };
        let Some(payload) = bytes.get(PREFIX..length) else { return Ok(None) };
        let (envelope, body) = match Envelope::read(payload) {
            Ok((envelope, end)) => (Ok(envelope), &payload[end..]),
            Err(error) => (Err(error), &[][..]),
        };
        Ok(Some(Self { length, envelope, body }))
    }

    /// Returns how many bytes the frame at the front lacks; 0 if it is whole or its length is
    /// unknown.
    pub fn missing(bytes: &[u8]) -> usize {
        match length_at(bytes) {
            Ok(Some(length)) => length.saturating_sub(bytes.len()),
            _ => 0,
        }
    }
}

/// Returns the length of the frame at the front with its prefix, once the prefix is there.
fn length_at(bytes: &[u8]) -> Result<Option<usize>, FrameError> {
    let Some(prefix) = bytes.first_chunk::<PREFIX>() else { return Ok(None) };
    let length = u32::from_be_bytes(*prefix) as usize;
    if length > FRAME_MAX {
        return Err(FrameError::TooLong(length as u64));
    }
    Ok(Some(PREFIX + length))
}

/// Length in bytes of the longest body that is copied out of the decoder's buffer; a longer one
/// takes the buffer over. So a small body never keeps a large buffer alive.
const COPIED_BODY_MAX: usize = 8 * 1024;

/// Cuts a stream of bytes into frames: feed it with [`FrameDecoder::extend`] or through
/// [`FrameDecoder::room`], drain it with [`FrameDecoder::next_frame`].
///
/// It holds at most one incomplete frame and the bytes that were fed last. Once it is drained it
/// frees its buffer, unless [`FrameDecoder::keep_buffer`] was called.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: Vec<u8>,
    /// The index at which the next frame begins.
    start: usize,
    keeps: bool,
}

impl FrameDecoder {
    /// Keeps the buffer between frames, for a connection that is rarely idle.
    pub fn keep_buffer(&mut self) {
        self.keeps = true;
    }

    /// Appends received bytes.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).extend_from_slice(bytes);
        // Reserves space for the rest of an incomplete frame.
        self.room(0);
    }

    /// Returns the buffer to append to, with capacity for `least` bytes and for the rest of an
    /// incomplete frame.
    pub fn room(&mut self, least: usize) -> &mut Vec<u8> {
        if self.start > 0 {
            self.buffer.drain(..std::mem::take(&mut self.start));
        }
        self.buffer.reserve_exact(self.missing().max(least));
        &mut self.buffer
    }

    /// Returns how many bytes of an incomplete frame are missing; 0 if there is none or its length
    /// is unknown.
    pub fn missing(&self) -> usize {
        FrameSlice::missing(&self.buffer[self.start..])
    }

    /// Returns the bytes that were not taken yet: an incomplete frame, once
    /// [`FrameDecoder::next_frame`] returned `None`.
    pub fn held(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Returns the next whole frame, or `None` if more bytes are needed.
    ///
    /// # Errors
    /// [`FrameError::TooLong`], before anything is allocated for the frame, or an unreadable
    /// envelope. A frame with an unknown method is consumed, so that the caller may refuse it and
    /// continue.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some(FrameSlice { length, envelope, body }) =
            FrameSlice::first(&self.buffer[self.start..])?
        else {
            return Ok(None);
        };
        let end = self.start + length;
        let last = end == self.buffer.len();
        let body = if body.len() <= COPIED_BODY_MAX || !last {
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

    /// Returns true when no bytes wait.
    pub fn is_empty(&self) -> bool {
        self.start == self.buffer.len()
    }
}
