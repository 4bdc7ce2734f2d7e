//! The types of a text that an app wrote: only the modules beside this one can read them.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// A text that an app wrote.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ForeignText(pub(super) String);

/// A text that an app wrote, borrowed.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignStr<'a>(pub(super) &'a str);

/// A shared text that an app wrote, also as the key of the object that it names.
#[derive(Clone, PartialEq, Eq)]
pub struct ForeignRc(pub(super) Rc<str>);

impl ForeignRc {
    /// Keeps a text; the same as another one shares its bytes.
    pub fn new(text: ForeignStr<'_>, other: Option<&Rc<str>>) -> Self {
        match other {
            Some(other) if **other == *text.0 => Self(other.clone()),
            _ => Self(text.0.into()),
        }
    }

    /// Borrows the text.
    pub fn borrow(&self) -> ForeignStr<'_> {
        ForeignStr(&self.0)
    }
}

impl ForeignText {
    /// Borrows the text.
    pub fn borrow(&self) -> ForeignStr<'_> {
        ForeignStr(&self.0)
    }

    /// Returns true for a text without characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns its length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<'a> ForeignStr<'a> {
    /// Copies the text.
    pub fn to_owned(self) -> ForeignText {
        ForeignText(self.0.to_owned())
    }

    /// Returns true for a text without characters.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns its length in bytes.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Compares it with what a reader wrote.
    pub fn fits(self, fits: impl Fn(&str) -> bool) -> bool {
        fits(self.0)
    }

    /// Returns its lines, each with the newline that ends it.
    pub fn lines_with_ends(self) -> impl Iterator<Item = ForeignStr<'a>> {
        self.0.split_inclusive('\n').map(ForeignStr)
    }

    /// Estimates its tokens.
    pub fn tokens(self) -> u64 {
        pipemux_tokens::estimate(self.0)
    }
}

/// Quotes the text as a string literal, for tests and error logs.
impl std::fmt::Debug for ForeignText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.borrow().fmt(f)
    }
}

impl std::fmt::Debug for ForeignRc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.borrow().fmt(f)
    }
}

impl std::fmt::Debug for ForeignStr<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Foreign({:?})", self.0)
    }
}

impl From<String> for ForeignText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for ForeignText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<'a> From<&'a str> for ForeignStr<'a> {
    fn from(text: &'a str) -> Self {
        Self(text)
    }
}

impl<'a> From<&'a String> for ForeignStr<'a> {
    fn from(text: &'a String) -> Self {
        Self(text)
    }
}

impl<'a> From<&'a ForeignText> for ForeignStr<'a> {
    fn from(text: &'a ForeignText) -> Self {
        text.borrow()
    }
}

impl PartialEq<str> for ForeignText {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for ForeignText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
