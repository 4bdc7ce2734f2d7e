//! Secrets: texts that nothing prints.

use std::fmt;

use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

use super::arg_type::ArgType;

/// A text that is never printed, logged or kept, such as a password.
///
/// The daemon hides it wherever it tells of the action. Its `Debug` form hides it as well;
/// [`Secret::reveal`] returns the text, which the app is to keep to itself: not in a brief, a log,
/// or a link's arguments.
///
/// ```
/// let password = docui::Secret::from("hunter2");
/// assert_eq!(format!("{password:?}"), "***");
/// assert_eq!(password.reveal(), "hunter2");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl ArgType for Secret {
    const IS_SECRET: bool = true;

    fn ty() -> Type {
        Type::String
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        String::from_arg(arg).map(Self)
    }
    fn to_arg(&self) -> Arg {
        Value::from(self.0.as_str()).into()
    }
}
