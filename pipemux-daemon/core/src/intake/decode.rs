//! Decodes bodies of apps. Nowhere else is one decoded.

use pipemux_proto::codec::explain;
use pipemux_proto::{Value, decode};
use serde::de::DeserializeOwned;

use crate::foreign::Speaker;

/// A message of an app that can be cut to its bounds.
pub trait FromApp: DeserializeOwned {
    /// Cuts what may be cut.
    ///
    /// # Errors
    /// What exceeds its bound and can't be cut, in words.
    fn bound(&mut self) -> Result<(), String>;
}

/// Decodes the body of an app's message, and brings it within its bounds.
///
/// # Errors
/// The bytes are no such message (with the path of the field at fault), or something in it exceeds
/// its bound and can't be cut; in words.
pub fn read<T: FromApp>(body: &[u8]) -> Result<T, String> {
    let mut message: T = decode(body).map_err(|_| explain::<T>(body))?;
    message.bound()?;
    Ok(message)
}

/// A message of an app with texts that are attributed to the app.
pub trait SaidByApp: DeserializeOwned {
    /// Cuts what may be cut, and marks what the app says as the app's.
    ///
    /// # Errors
    /// What exceeds its bound and can't be cut, in words.
    fn bound(&mut self, by: Speaker<'_>) -> Result<(), String>;
}

/// Does what [`read`] does for a message whose sentences name their app.
///
/// # Errors
/// As [`read`].
pub fn read_said<T: SaidByApp>(body: &[u8], by: Speaker<'_>) -> Result<T, String> {
    let mut message: T = decode(body).map_err(|_| explain::<T>(body))?;
    message.bound(by)?;
    Ok(message)
}

/// Decodes any body, to be shown to an app's author.
///
/// # Errors
/// The bytes are no value, in words.
pub fn any(body: &[u8]) -> Result<Value, String> {
    decode(body).map_err(|error| error.to_string())
}

/// Decodes the body of an app's message without enforcing bounds, to tell its author what is wrong
/// with it. The result must not be kept.
///
/// # Errors
/// The bytes are no such message, with the path of the field at fault.
pub fn as_sent<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    decode(body).map_err(|_| explain::<T>(body))
}
