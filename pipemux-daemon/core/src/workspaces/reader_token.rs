//! Tokens of readers: one agent doesn't speak as another by mistake.
//!
//! A token is kept in memory only. It is no protection from a program that means harm: that can read the token where
//! its owner has it.

use pipemux_proto::Fault;

use crate::workspaces::Workspace;

impl Workspace {
    /// Checks that a request may speak as a reader, and keeps the first token of that reader.
    ///
    /// # Errors
    /// The reader has another token.
    pub fn check_token(&mut self, name: &str, token: &str) -> Result<(), Fault> {
        let Some(reader) = self.readers.get_mut(name) else { return Ok(()) };
        let why = match &reader.token {
            Some(known) if **known == *token => return Ok(()),
            None => {
                reader.token = (!token.is_empty()).then(|| token.into());
                return Ok(());
            }
            Some(_) if token.is_empty() => "this request has none",
            Some(_) => "this request has another one",
        };
        let name = name.escape_debug();
        Err(Fault::refused(format!("reader {name} has a token, and {why}")).hint(
            "speak as another reader: --reader NAME; or give its token: PIPEMUX_READER_TOKEN",
        ))
    }
}
