//! MessagePack bodies: maps with named fields.

use std::io::{self, Write};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::limits::{FRAME_MAX, VALUE_DEPTH_MAX};

/// How deep a body may nest: some types nest in themselves more often than values do.
const DEPTH_MAX: usize = VALUE_DEPTH_MAX * 4;

/// Why a body can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Not the MessagePack that was expected.
    #[error("{0}")]
    Body(String),
    /// Bytes after the body's end.
    #[error("{0} bytes follow the body")]
    Trailing(usize),
}

/// Why a body can't be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A value that MessagePack can't hold.
    #[error("{0}")]
    Body(String),
    /// Longer than a frame may be.
    #[error("the message is {0} bytes long, at most {FRAME_MAX} fit one frame")]
    TooLong(usize),
}

/// Encodes a value: structs as maps with named fields.
///
/// # Errors
/// A value that MessagePack can't hold.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    encode_into(&mut out, value)?;
    Ok(out)
}

/// Like [`encode`], appending.
///
/// # Errors
/// As [`encode`].
pub fn encode_into<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), EncodeError> {
    let mut serializer = rmp_serde::Serializer::new(Appender(out)).with_struct_map();
    value.serialize(&mut serializer).map_err(|error| EncodeError::Body(error.to_string()))
}

/// Appends what is written. Most of that is a byte or a short name: a call for each costs more than it does.
struct Appender<'a>(&'a mut Vec<u8>);

impl Write for Appender<'_> {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    #[inline(always)]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decodes a whole body; text may stay in it, borrowed. Fields that the type doesn't know are ignored.
///
/// # Errors
/// Anything else than one value of the type, up to the last byte.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
    deserializer.set_max_depth(DEPTH_MAX);
    let value =
        T::deserialize(&mut deserializer).map_err(|error| DecodeError::Body(error.to_string()))?;
    // It doesn't tell how much it has read, but whether anything is left; asked for a type that holds no others,
    // so that the end which is met is this one.
    match bool::deserialize(&mut deserializer) {
        Err(rmp_serde::decode::Error::InvalidMarkerRead(_)) => Ok(value),
        _ => Err(DecodeError::Trailing(left(bytes))),
    }
}

/// How many bytes follow a value.
#[cold]
fn left(bytes: &[u8]) -> usize {
    // Over a reader, which tells how much was read; for any value, so that there is only one of it.
    let mut deserializer = rmp_serde::Deserializer::new(bytes);
    deserializer.set_max_depth(DEPTH_MAX);
    match IgnoredAny::deserialize(&mut deserializer) {
        Ok(_) => deserializer.get_ref().len(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_follows_a_value_is_told() {
        let value = encode(&vec![1_u8, 2]).expect("it encodes");
        assert_eq!(decode::<Vec<u8>>(&value), Ok(vec![1, 2]));
        let cut_off: [&[u8]; 12] = [
            &[0x91],
            &[0x81],
            &[0x91, 0x91, 0x91],
            &[0xdc, 0, 1],
            &[0xdd, 0, 0, 0, 1],
            &[0xde, 0, 1],
            &[0xa1],
            &[0xd9],
            &[0xc4],
            &[0xc7],
            &[0xc1],
            &[0xca, 0],
        ];
        let whole: [&[u8]; 6] = [&[0], &[0xc2], &[0x90], &[0x80], &[0xa0], &[0xc4, 0]];
        for more in cut_off.into_iter().chain(whole) {
            let read = decode::<Vec<u8>>(&[&value, more].concat());
            assert_eq!(read, Err(DecodeError::Trailing(more.len())), "{more:x?}");
        }
    }
}
