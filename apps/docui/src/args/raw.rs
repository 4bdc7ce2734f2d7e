//! Texts that are taken as they are written, backslashes included: regular expressions.

use super::arg_type::RawTexts;

/// A regular expression, which is taken as it is written: `'\bfn\s'`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pattern(pub String);

/// A text that is a regular expression, taken as it is written, in calls with `regex=true`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextOrPattern(pub String);

text_arg! { Pattern { const RAW: RawTexts = RawTexts::Always; } }
text_arg! { TextOrPattern { const RAW: RawTexts = RawTexts::If("regex"); } }
