//! The values of MessagePack one by one, whatever they belong to.

use serde::de::{Error as _, Expected, Unexpected};

use super::read_error::{ReadError, Segment};

/// One value, or the beginning of one that contains others.
pub(super) enum Token<'de> {
    Nil,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'de str),
    /// What says that it is text, but isn't UTF-8.
    NotText(&'de [u8]),
    Bytes(&'de [u8]),
    List(u32),
    Map(u32),
    Extension(&'de [u8]),
}

impl Token<'_> {
    /// The error for a value of another type than the expected one.
    #[cold]
    pub(super) fn unexpected(&self, expected: &dyn Expected) -> ReadError {
        let found = match *self {
            Self::Nil => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(value),
            Self::Unsigned(number) => Unexpected::Unsigned(number),
            Self::Signed(number) => Unexpected::Signed(number),
            Self::Float(number) => Unexpected::Float(number),
            Self::Text(text) => Unexpected::Str(text),
            Self::NotText(_) => return ReadError::new("a text isn't UTF-8"),
            Self::Bytes(bytes) => Unexpected::Bytes(bytes),
            Self::List(_) => Unexpected::Seq,
            Self::Map(_) => Unexpected::Map,
            Self::Extension(_) => Unexpected::Other("an extension type"),
        };
        ReadError::invalid_type(found, expected)
    }
}

/// Reads values from the front of `rest`.
pub(super) struct Reader<'de> {
    pub(super) rest: &'de [u8],
    /// How deep lists and maps may still nest.
    pub(super) depth: usize,
    /// True while `rest` are bytes that are read as a list of numbers.
    pub(super) is_bytes: bool,
}

impl<'de> Reader<'de> {
    pub(super) fn new(bytes: &'de [u8], depth: usize) -> Self {
        Self { rest: bytes, depth, is_bytes: false }
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'de [u8], ReadError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(ReadError::cut_off());
        };
        self.rest = rest;
        Ok(taken)
    }

    /// Reads a number of `N` bytes, big-endian.
    fn number<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let Some((number, rest)) = self.rest.split_first_chunk() else {
            return Err(ReadError::cut_off());
        };
        self.rest = rest;
        Ok(*number)
    }

    /// Reads a length of `N` bytes.
    fn length<const N: usize>(&mut self) -> Result<u32, ReadError> {
        let bytes = self.number::<N>()?;
        Ok(bytes.into_iter().fold(0, |length, byte| length << 8 | u32::from(byte)))
    }

    fn text(&mut self, length: u32) -> Result<Token<'de>, ReadError> {
        let bytes = self.take(length as usize)?;
        Ok(std::str::from_utf8(bytes).map_or(Token::NotText(bytes), Token::Text))
    }

    fn extension(&mut self, length: u32) -> Result<Token<'de>, ReadError> {
        self.number::<1>()?;
        self.take(length as usize).map(Token::Extension)
    }

    pub(super) fn token(&mut self) -> Result<Token<'de>, ReadError> {
        let [marker] = self.number()?;
        if self.is_bytes {
            return Ok(Token::Unsigned(marker.into()));
        }
        Ok(match marker {
            0x00..=0x7f => Token::Unsigned(marker.into()),
            0x80..=0x8f => Token::Map(u32::from(marker & 0x0f)),
            0x90..=0x9f => Token::List(u32::from(marker & 0x0f)),
            0xa0..=0xbf => self.text(u32::from(marker & 0x1f))?,
            0xc0 => Token::Nil,
            0xc1 => return Err(ReadError::new("0xc1 begins no value")),
            0xc2 => Token::Bool(false),
            0xc3 => Token::Bool(true),
            0xc4 => self
                .length::<1>()
                .and_then(|length| self.take(length as usize))
                .map(Token::Bytes)?,
            0xc5 => self
                .length::<2>()
                .and_then(|length| self.take(length as usize))
                .map(Token::Bytes)?,
            0xc6 => self
                .length::<4>()
                .and_then(|length| self.take(length as usize))
                .map(Token::Bytes)?,
            0xc7 => self.length::<1>().and_then(|length| self.extension(length))?,
            0xc8 => self.length::<2>().and_then(|length| self.extension(length))?,
            0xc9 => self.length::<4>().and_then(|length| self.extension(length))?,
            0xca => Token::Float(f32::from_be_bytes(self.number()?).into()),
            0xcb => Token::Float(f64::from_be_bytes(self.number()?)),
            0xcc => Token::Unsigned(u8::from_be_bytes(self.number()?).into()),
            0xcd => Token::Unsigned(u16::from_be_bytes(self.number()?).into()),
            0xce => Token::Unsigned(u32::from_be_bytes(self.number()?).into()),
            0xcf => Token::Unsigned(u64::from_be_bytes(self.number()?)),
            0xd0 => Token::Signed(i8::from_be_bytes(self.number()?).into()),
            0xd1 => Token::Signed(i16::from_be_bytes(self.number()?).into()),
            0xd2 => Token::Signed(i32::from_be_bytes(self.number()?).into()),
            0xd3 => Token::Signed(i64::from_be_bytes(self.number()?)),
            0xd4..=0xd8 => self.extension(1 << (marker - 0xd4))?,
            0xd9 => self.length::<1>().and_then(|length| self.text(length))?,
            0xda => self.length::<2>().and_then(|length| self.text(length))?,
            0xdb => self.length::<4>().and_then(|length| self.text(length))?,
            0xdc => Token::List(self.length::<2>()?),
            0xdd => Token::List(self.length::<4>()?),
            0xde => Token::Map(self.length::<2>()?),
            0xdf => Token::Map(self.length::<4>()?),
            0xe0..=0xff => Token::Signed(i8::from_be_bytes([marker]).into()),
        })
    }

    pub(super) fn is_nil(&self) -> bool {
        !self.is_bytes && self.rest.first() == Some(&0xc0)
    }

    /// Reads the key of a map's entry, for a message that names the place of an error.
    pub(super) fn segment(key: &'de [u8]) -> Segment {
        let mut reader = Reader::new(key, 1);
        match reader.token() {
            Ok(Token::Text(text)) => Segment::Key(text.to_owned()),
            Ok(Token::Unsigned(number)) => Segment::Key(number.to_string()),
            Ok(Token::Signed(number)) => Segment::Key(number.to_string()),
            _ => Segment::Key("?".to_owned()),
        }
    }
}
