//! The body of an exchange on its way from one peer to the other.

use bytes::Bytes;

/// The body of one exchange frame.
#[derive(Debug, Clone)]
pub enum ExchangeBody<'a> {
    /// Lies in the scratch buffer that all connections share; the next read overwrites it.
    Borrowed(&'a [u8]),
    /// Has a buffer of its own.
    Owned(Bytes),
}

impl ExchangeBody<'_> {
    /// Returns the whole body.
    pub fn bytes(&self) -> &[u8] {
        match self {
            ExchangeBody::Borrowed(bytes) => bytes,
            ExchangeBody::Owned(bytes) => bytes,
        }
    }

    /// Returns the body without its first `from` bytes; copies only a borrowed one.
    pub fn into_rest(self, from: usize) -> Bytes {
        match self {
            ExchangeBody::Borrowed(bytes) => Bytes::copy_from_slice(&bytes[from..]),
            ExchangeBody::Owned(bytes) => bytes.slice(from..),
        }
    }
}
