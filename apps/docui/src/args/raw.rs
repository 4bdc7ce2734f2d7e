//! Texts that are taken as they are written, backslashes included: regular expressions.

use pipemux_proto::prototype::Raw;

/// Which quoted texts a parameter takes as they are written: see [`pipemux_proto::prototype::Raw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawTexts {
    /// None of them: their escapes are resolved.
    Never,
    /// All of them: a backslash in them stands for itself.
    Always,
    /// Those of calls that give this parameter as `true`.
    If(&'static str),
}

impl RawTexts {
    /// Returns it as it is sent.
    pub fn to_wire(self) -> Raw {
        match self {
            Self::Never => Raw::Never,
            Self::Always => Raw::Always,
            Self::If(flag) => Raw::If(flag.to_owned()),
        }
    }
}

/// A regular expression, which is taken as it is written: `'\bfn\s'`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pattern(pub String);

/// A text that is a regular expression, taken as it is written, in calls with `regex=true`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextOrPattern(pub String);

text_arg! { Pattern { const RAW: RawTexts = RawTexts::Always; } }
text_arg! { TextOrPattern { const RAW: RawTexts = RawTexts::If("regex"); } }
