//! Why a message can't be read, and where.

use std::fmt;

use serde::de;

/// A part of the way to a place in a message.
#[derive(Debug)]
pub(super) enum Segment {
    /// The entry of a map, or the content of a variant.
    Key(String),
    /// The element of a list.
    Place(u32),
}

/// The reason, behind a pointer, since results are passed through every field of every message.
#[derive(Debug)]
pub(super) struct ReadError(Box<Reason>);

#[derive(Debug)]
struct Reason {
    message: String,
    /// From the inside to the outside.
    path: Vec<Segment>,
}

impl ReadError {
    #[cold]
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Reason { message: message.into(), path: Vec::new() }))
    }

    #[cold]
    pub(super) fn cut_off() -> Self {
        Self::new("the body is incomplete")
    }

    #[cold]
    pub(super) fn too_deep() -> Self {
        Self::new("it nests too deep")
    }

    #[cold]
    pub(super) fn length(length: u32) -> Self {
        Self::new(format!("{length} elements are too many or too few"))
    }

    /// Adds where the place is in what surrounds it.
    #[cold]
    pub(super) fn within(mut self, segment: Segment) -> Self {
        self.0.path.push(segment);
        self
    }

    /// The reason without the place.
    pub(super) fn message(self) -> String {
        self.0.message
    }
}

/// `content[17].object: missing field `key``.
impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.path.iter().rev().enumerate() {
            match segment {
                Segment::Key(key) if at == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Place(place) => write!(f, "[{place}]")?,
            }
        }
        match self.0.path.is_empty() {
            true => f.write_str(&self.0.message),
            false => write!(f, ": {}", self.0.message),
        }
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}
