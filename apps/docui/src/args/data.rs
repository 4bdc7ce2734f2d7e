//! Parameters that take bytes of any kind.

use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

use super::arg_type::{ArgType, expected, origin, value_of, with_origin};
use super::text::Text;

/// Bytes: a text as a reader writes it, or the value of an object of another app, whatever that is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Data {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where they were copied from, as in [`Text`].
    pub from: Option<(String, String)>,
}

impl Data {
    /// Returns the bytes as a text, if they are one.
    ///
    /// # Errors
    /// The bytes are not valid UTF-8. They are returned unchanged.
    pub fn into_text(self) -> Result<Text, Self> {
        let Self { bytes, from } = self;
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(Text { text, from }),
            Ok(text) => Err(Self { bytes: text.into_bytes(), from }),
            Err(error) => Err(Self { bytes: error.into_bytes(), from }),
        }
    }
}

impl From<Text> for Data {
    fn from(text: Text) -> Self {
        Self { bytes: text.text.into_bytes(), from: text.from }
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Self {
        Self { bytes: text.into(), from: None }
    }
}

impl ArgType for Data {
    fn ty() -> Type {
        Type::String
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        let from = origin(&arg);
        match value_of(&arg)? {
            Value::Str(text) => Ok(Self { bytes: text.into_bytes(), from }),
            Value::Bin(bytes) => Ok(Self { bytes: bytes.into(), from }),
            _ => Err(expected(&Type::String, &arg)),
        }
    }
    fn to_arg(&self) -> Arg {
        let value = match std::str::from_utf8(&self.bytes) {
            Ok(text) => Value::from(text),
            Err(_) => Value::Bin(bytes::Bytes::copy_from_slice(&self.bytes)),
        };
        with_origin(value, self.from.as_ref())
    }
}
