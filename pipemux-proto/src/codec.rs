//! MessagePack bodies: maps with named fields.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits::FRAME_MAX;

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
    let mut serializer = rmp_serde::Serializer::new(out).with_struct_map();
    value.serialize(&mut serializer).map_err(|error| EncodeError::Body(error.to_string()))
}

/// Decodes a whole body. Fields that the type doesn't know are ignored.
///
/// # Errors
/// Anything else than one value of the type, up to the last byte.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    // Over a reader, since only that tells how much was read.
    let mut deserializer = rmp_serde::Deserializer::new(bytes);
    deserializer.set_max_depth(crate::limits::VALUE_DEPTH_MAX * 4);
    let value =
        T::deserialize(&mut deserializer).map_err(|error| DecodeError::Body(error.to_string()))?;
    let left = deserializer.get_ref().len();
    if left > 0 { Err(DecodeError::Trailing(left)) } else { Ok(value) }
}
