//! The body of an exchange between its two ends.

use bytes::Bytes;

/// A body on its way.
#[derive(Debug, Clone)]
pub enum Body<'a> {
    /// In the buffer that all connections share: gone with the next reading.
    Shared(&'a [u8]),
    /// Of its own.
    Held(Bytes),
}

impl Body<'_> {
    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Body::Shared(bytes) => bytes,
            Body::Held(bytes) => bytes,
        }
    }

    /// What is left behind the first `from` bytes; copied unless it is of its own.
    pub fn rest(self, from: usize) -> Bytes {
        match self {
            Body::Shared(bytes) => Bytes::copy_from_slice(&bytes[from..]),
            Body::Held(bytes) => bytes.slice(from..),
        }
    }
}
