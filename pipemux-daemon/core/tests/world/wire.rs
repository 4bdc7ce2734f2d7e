//! Frames and chunks, as clients and apps send and receive them.

use bytes::Bytes;
use pipemux_proto::app::{Chunk, ReadRequest};
use pipemux_proto::{Envelope, Frame, FrameDecoder};

/// Makes a frame as it arrives from outside.
pub fn frame<T: serde::Serialize>(envelope: &Envelope, body: &T) -> Frame {
    let bytes = Frame::encode(envelope, body).expect("it encodes");
    frames(&bytes).expect("frames").remove(0)
}

/// Splits the bytes of an effect into frames. Fails unless they are one or more whole frames.
pub fn frames(bytes: &[u8]) -> Result<Vec<Frame>, String> {
    let mut decoder = FrameDecoder::default();
    decoder.extend(bytes);
    let mut all = Vec::new();
    while let Some(frame) = decoder.next_frame().map_err(|error| error.to_string())? {
        all.push(frame);
    }
    if decoder.is_empty() && !all.is_empty() { Ok(all) } else { Err("no whole frames".into()) }
}

/// Makes a frame whose body can't be decoded.
pub fn garbage(envelope: Envelope) -> Frame {
    Frame { envelope, body: Bytes::from_static(&[0xc1, 0xff, 0x00]) }
}

/// Answers a read with at most `most` bytes, so that a value comes in several chunks. Of a text
/// that begins with `cut` the end never comes.
pub fn chunk(text: &str, read: &ReadRequest, most: usize) -> Chunk {
    let bytes = text.as_bytes();
    let start = (read.offset as usize).min(bytes.len());
    let end = (start + (read.max as usize).min(most)).min(bytes.len());
    Chunk {
        data: bytes[start..end].to_vec().into(),
        total: bytes.len() as u64 + if text.starts_with("cut") { 5 } else { 0 },
        text: true,
        path: None,
    }
}
