//! Parameters that take texts with a meaning of their own.

use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

use super::arg_type::{ArgType, origin, with_origin};

/// A text that may have been copied from another app by reference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where the text was copied from: the session and the label that its app gave it, such as
    /// `("editor/main", "src/parse.rs:101-300")`. `None` when the text was written in the call.
    pub from: Option<(String, String)>,
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { text: text.into(), from: None }
    }
}

impl ArgType for Text {
    fn ty() -> Type {
        Type::String
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        let from = origin(&arg);
        String::from_arg(arg).map(|text| Self { text, from })
    }
    fn to_arg(&self) -> Arg {
        let value = Value::from(self.text.as_str());
        with_origin(value, self.from.as_ref())
    }
}

/// The id of a change, for the parameter of an action that takes one change back or repeats it.
///
/// A link in an outcome whose action has a value of this type stays valid after further changes,
/// since it says which change it is about. Any other link in an outcome is stale once the state has
/// changed since, if its action changes something and it refers to no object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change(pub String);

impl From<String> for Change {
    fn from(id: String) -> Self {
        Self(id)
    }
}

text_arg! { Change {
    fn names_change(&self) -> bool {
        true
    }
} }

/// The path of a file: a text as a reader writes it, or an object of another app.
///
/// A text means a path in the caller's directory. The path of an object doesn't depend on the
/// caller: it is absolute, and the app that shows the object gives it with [`crate::App::path`].
/// [`crate::Context::path`] resolves both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePath(pub String);

text_arg! { FilePath {
    const IS_PATH: bool = true;
} }
