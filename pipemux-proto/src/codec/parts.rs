//! What contains other values: lists, maps and variants.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};

use super::read_error::{ReadError, Segment};
use super::token::{Reader, Token};

/// The parts of a list or a map.
pub(super) struct Parts<'a, 'de> {
    reader: &'a mut Reader<'de>,
    length: u32,
    left: u32,
    /// What begins with the key of the entry that is being read.
    key: &'de [u8],
}

impl<'a, 'de> Parts<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>, length: u32) -> Self {
        Self { reader, length, left: length, key: &[] }
    }

    fn next(&mut self) -> bool {
        let more = self.left > 0;
        self.left -= u32::from(more);
        more
    }

    /// Makes sure that all parts were read.
    pub(super) fn end(self) -> Result<(), ReadError> {
        self.reader.depth += 1;
        match self.left {
            0 => Ok(()),
            left => Err(ReadError::length(self.length - left)),
        }
    }
}

impl<'de> SeqAccess<'de> for &mut Parts<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        if !self.next() {
            return Ok(None);
        }
        match seed.deserialize(&mut *self.reader) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error.within(Segment::Place(self.length - self.left - 1))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left as usize)
    }
}

impl<'de> MapAccess<'de> for &mut Parts<'_, 'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        if !self.next() {
            return Ok(None);
        }
        self.key = self.reader.rest;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        match seed.deserialize(&mut *self.reader) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.within(Reader::segment(self.key))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left as usize)
    }
}

/// A variant of an enum.
pub(super) struct Variant<'a, 'de> {
    pub(super) reader: &'a mut Reader<'de>,
    /// What begins with its name.
    pub(super) name: &'de [u8],
    pub(super) has_content: bool,
}

impl<'de> Variant<'_, 'de> {
    /// Makes sure that there is content. The depth of what follows counts.
    fn content(&mut self, expected: &dyn Expected) -> Result<(), ReadError> {
        match self.has_content {
            true => Ok(()),
            false => Err(ReadError::invalid_type(Unexpected::UnitVariant, expected)),
        }
    }

    fn ended<T>(self, read: Result<T, ReadError>) -> Result<T, ReadError> {
        self.reader.depth += 1;
        read.map_err(|error| error.within(Reader::segment(self.name)))
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), ReadError> {
        Ok((seed.deserialize(&mut *self.reader)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        if !self.has_content {
            return Ok(());
        }
        let read = match self.reader.token() {
            Ok(Token::Nil) => Ok(()),
            Ok(other) => Err(other.unexpected(&"unit variant")),
            Err(error) => Err(error),
        };
        self.ended(read)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        mut self,
        seed: T,
    ) -> Result<T::Value, ReadError> {
        self.content(&"newtype variant")?;
        let read = seed.deserialize(&mut *self.reader);
        self.ended(read)
    }

    fn tuple_variant<V: Visitor<'de>>(
        mut self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.content(&"tuple variant")?;
        let read = self.reader.deserialize_seq(visitor);
        self.ended(read)
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.content(&"struct variant")?;
        let read = self.reader.deserialize_map(visitor);
        self.ended(read)
    }
}
