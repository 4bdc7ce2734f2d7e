//! Tokens of readers: one agent doesn't speak as another by mistake.
//!
//! A token is kept in memory only. It is no protection from a program that means harm: that can
//! read the token where its owner has it.

use pipemux_proto::Fault;

/// The token in a reader's first request that had one; all later requests need it.
#[derive(Debug, Default)]
pub(super) struct ReaderToken(Option<Box<str>>);

impl ReaderToken {
    /// Checks that a request with this token may speak as the reader of this name, and keeps the
    /// reader's first token.
    ///
    /// # Errors
    /// The reader has another token.
    pub fn check(&mut self, reader: &str, token: &str) -> Result<(), Fault> {
        let why = match &self.0 {
            Some(known) if **known == *token => return Ok(()),
            None => {
                self.0 = (!token.is_empty()).then(|| token.into());
                return Ok(());
            }
            Some(_) if token.is_empty() => "this request has none",
            Some(_) => "this request has another one",
        };
        let name = reader.escape_debug();
        Err(Fault::refused(format!("reader {name} has a token, and {why}")).hint(
            "speak as another reader: --reader NAME; or give its token: PIPEMUX_READER_TOKEN",
        ))
    }
}
