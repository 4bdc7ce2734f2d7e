//! Text that is written once and shared by many owners.

use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;

/// A text that is shared without copying, also with the bytes of messages that are being sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedText(Arc<String>);

impl SharedText {
    /// Returns the text as bytes, without copying them.
    pub fn to_bytes(&self) -> Bytes {
        Bytes::from_owner(self.clone())
    }
}

impl From<String> for SharedText {
    fn from(mut text: String) -> Self {
        text.shrink_to_fit();
        Self(text.into())
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
