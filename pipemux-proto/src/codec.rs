//! MessagePack bodies: maps with named fields.

use std::io::{self, Write};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::limits::{FRAME_MAX, VALUE_DEPTH_MAX};

/// Deepest nesting of a body: a message nests deeper than the values in it.
const DEPTH_MAX: usize = VALUE_DEPTH_MAX * 4;

/// The reason why a body can't be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes aren't the MessagePack that the type expects.
    #[error("{0}")]
    Body(String),
    /// Bytes after the body's end.
    #[error("{0} bytes follow the body")]
    Trailing(usize),
}

/// The reason why a body can't be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// MessagePack can't represent the value.
    #[error("{0}")]
    Body(String),
    /// The message is longer than a frame may be.
    #[error("the message is {0} bytes long, at most {FRAME_MAX} fit one frame")]
    TooLong(usize),
}

/// Encodes a value; a struct becomes a map with named fields.
///
/// # Errors
/// MessagePack can't represent the value.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    encode_into(&mut out, value)?;
    Ok(out)
}

/// Appends the encoding to `out`, like [`encode`].
///
/// # Errors
/// The same as for [`encode`].
pub fn encode_into<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), EncodeError> {
    let mut serializer = rmp_serde::Serializer::new(Appender(out)).with_struct_map();
    value.serialize(&mut serializer).map_err(|error| EncodeError::Body(error.to_string()))
}

/// Appends what the serializer writes. Inlined because most writes are a byte or a short name, for
/// which a function call would cost more than the work.
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

/// Decodes a whole body; the result may borrow text from it. Unknown fields are ignored.
///
/// # Errors
/// The bytes are not exactly one value of the type.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    pipemux_tokens::work::spend(bytes.len());
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
    deserializer.set_max_depth(DEPTH_MAX);
    let value =
        T::deserialize(&mut deserializer).map_err(|error| DecodeError::Body(error.to_string()))?;
    // The deserializer doesn't report its position, but reading once more fails in this way at the
    // end. A type without content makes sure that it is the end of the body, not of a value inside.
    match bool::deserialize(&mut deserializer) {
        Err(rmp_serde::decode::Error::InvalidMarkerRead(_)) => Ok(value),
        _ => Err(DecodeError::Trailing(trailing(bytes))),
    }
}

/// Tells why bytes are no message of a type, with the path of the field at fault:
/// `content[17].object: missing field `key``. It decodes them once more, which [`decode`] spares
/// every message that is sound.
#[cold]
pub fn explain<T: DeserializeOwned>(bytes: &[u8]) -> String {
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
    deserializer.set_max_depth(DEPTH_MAX);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Ok(_) => match trailing(bytes) {
            0 => "the body is incomplete".to_owned(),
            more => DecodeError::Trailing(more).to_string(),
        },
        Err(error) => match error.path().to_string() {
            path if path == "." => error.inner().to_string(),
            path => format!("{path}: {}", error.inner()),
        },
    }
}

/// Returns the number of bytes after the first value.
#[cold]
fn trailing(bytes: &[u8]) -> usize {
    // A deserializer over a reader reports its position. It ignores the value's type, so that this
    // function exists only once, not for every message.
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
    fn unreadable_field_is_told_with_its_path() {
        use crate::projection::Projection;

        let why = |json: &str| {
            let value: serde_json::Value = serde_json::from_str(json).expect("JSON");
            explain::<Projection>(&encode(&value).expect("it encodes"))
        };
        let pieces = r#"{"version": 1, "content": [{"text": "a"}, {"object": {"label": "b"}}]}"#;
        assert_eq!(why(pieces), "content[1].object: missing field `key`");
        let key = r#"{"version": 1, "content": [{"object": {"key": 7, "label": "b"}}]}"#;
        let found = why(key);
        assert!(found.starts_with("content[0].object.key: "), "{found}");
        assert_eq!(why("{}"), "missing field `version`");
        assert_eq!(explain::<bool>(&[0xc2, 0, 0]), "2 bytes follow the body");
    }

    #[test]
    fn trailing_bytes_are_counted_whole_or_cut_off() {
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
