//! Text of apps as a field of its own: of JSON, of a record, of what another app gets. Whoever
//! reads the field knows whose text it is.

use crate::foreign::text::{ForeignStr, ForeignText};

/// Returns the text as it came.
pub fn exact<'a>(text: impl Into<ForeignStr<'a>>) -> String {
    text.into().0.to_owned()
}

/// Returns the bytes that came, to be compared or measured.
pub fn borrowed(text: ForeignStr<'_>) -> &str {
    text.0
}

/// Returns the text as it came, where there is one.
pub fn exact_option(text: Option<&ForeignText>) -> Option<String> {
    text.map(exact)
}
