//! Reads MessagePack. What depends on the type that is read is as little as serde allows, since it is compiled once for
//! each of some hundred types: everything else is in functions that exist once.

use serde::de::value::BorrowedBytesDeserializer;
use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::parts::{Parts, Variant};
use super::read_error::ReadError;
use super::token::{Reader, Token};

impl<'de> Reader<'de> {
    fn enter(&mut self) -> Result<(), ReadError> {
        self.depth = self.depth.checked_sub(1).ok_or_else(ReadError::too_deep)?;
        Ok(())
    }

    fn list<V: Visitor<'de>>(&mut self, length: u32, visitor: V) -> Result<V::Value, ReadError> {
        self.enter()?;
        let mut parts = Parts::new(self, length);
        let value = visitor.visit_seq(&mut parts)?;
        parts.end()?;
        Ok(value)
    }

    fn map<V: Visitor<'de>>(&mut self, length: u32, visitor: V) -> Result<V::Value, ReadError> {
        self.enter()?;
        let mut parts = Parts::new(self, length);
        let value = visitor.visit_map(&mut parts)?;
        parts.end()?;
        Ok(value)
    }

    /// Reads bytes as a list of numbers.
    fn bytes<V: Visitor<'de>>(
        &mut self,
        bytes: &'de [u8],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let mut inner = Reader { rest: bytes, depth: self.depth, is_bytes: true };
        inner.list(bytes.len() as u32, visitor)
    }

    fn any<V: Visitor<'de>>(
        &mut self,
        token: Token<'de>,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match token {
            Token::Nil => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Unsigned(number) => visitor.visit_u64(number),
            Token::Signed(number) => visitor.visit_i64(number),
            Token::Float(number) => visitor.visit_f64(number),
            Token::Text(text) => visitor.visit_borrowed_str(text),
            Token::NotText(bytes) | Token::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Token::List(length) => self.list(length, visitor),
            Token::Map(length) => self.map(length, visitor),
            Token::Extension(bytes) => {
                visitor.visit_newtype_struct(BorrowedBytesDeserializer::new(bytes))
            }
        }
    }
}

macro_rules! read_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match self.token()? {
                Token::Unsigned(number) => visitor.visit_u64(number),
                Token::Signed(number) => visitor.visit_i64(number),
                Token::Float(number) => visitor.visit_f64(number),
                other => Err(other.unexpected(&visitor)),
            }
        }
    )*};
}

macro_rules! read_texts {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match self.token()? {
                Token::Text(text) => visitor.visit_borrowed_str(text),
                other => Err(other.unexpected(&visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = ReadError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let token = self.token()?;
        self.any(token, visitor)
    }

    read_numbers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_f32 deserialize_f64
    }
    read_texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.token()? {
            Token::Bool(value) => visitor.visit_bool(value),
            other => Err(other.unexpected(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.is_nil() {
            self.take(1)?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.token()? {
            Token::List(length) => self.list(length, visitor),
            Token::Bytes(bytes) => self.bytes(bytes, visitor),
            other => Err(other.unexpected(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.token()? {
            Token::Map(length) => self.map(length, visitor),
            other => Err(other.unexpected(&visitor)),
        }
    }

    /// A map with named fields. A list of their values isn't one, since no version of the protocol has sent any.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.token()? {
            // A unit struct is written as an empty list.
            Token::List(0) | Token::Nil => visitor.visit_unit(),
            other => Err(other.unexpected(&visitor)),
        }
    }

    /// A variant without content is its name; with content, a map with one entry.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let start = self.rest;
        let has_content = match self.token()? {
            Token::Map(1) => true,
            Token::Map(length) => return Err(ReadError::length(length)),
            _ => false,
        };
        if has_content {
            self.enter()?;
        } else {
            self.rest = start;
        }
        let name = self.rest;
        visitor.visit_enum(Variant { reader: self, name, has_content })
    }

    forward_to_deserialize_any! { bytes byte_buf unit ignored_any }
}
