//! Records: `{count: 2, note: 'x'}`.

use std::collections::HashSet;

use super::error::CallError;
use super::excerpt::clip;
use super::lexer::TokenKind;
use super::parser::Parser;
use super::span::Span;
use super::syntax_tree::{Entry, Expr};

impl Parser<'_> {
    /// Reads the fields of a record after its `{`.
    pub(super) fn record(&mut self, open: Span) -> Result<(Expr, Span), CallError> {
        self.enter_nesting(open)?;
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        while !self.closes('}', open)? {
            self.check_count(entries.len(), "fields")?;
            let entry = self.entry()?;
            if !names.insert(entry.name.clone()) {
                let note = format!("{} is given twice", clip(&entry.name));
                return Err(CallError::new("duplicate field", entry.name_span, note));
            }
            entries.push(entry);
            self.separator('}', open)?;
        }
        let end = self.leave()?;
        Ok((Expr::Record(entries), Span { start: open.start, end }))
    }

    /// Reads `name: value`. A name in quotes may be any text.
    fn entry(&mut self) -> Result<Entry, CallError> {
        if !matches!(
            self.token.kind,
            TokenKind::Word(_) | TokenKind::Text(_) | TokenKind::Quoted(_)
        ) {
            let error = CallError::new(self.unexpected(), self.token.span, EXPECTED);
            return Err(match self.token.kind {
                TokenKind::Ref(_) => error.hint("write a space behind the colon: {obj: 7}"),
                _ => error,
            });
        }
        let first = self.advance()?;
        let name = match first.kind {
            TokenKind::Word(word) => word.to_owned(),
            TokenKind::Text(text) => text,
            TokenKind::Quoted(text) => text.text?,
            _ => String::new(),
        };
        if !matches!(self.token.kind, TokenKind::Sign('=' | ':')) {
            return Err(CallError::new(self.unexpected(), self.token.span, EXPECTED));
        }
        self.advance()?;
        let value = self.advance()?;
        let (value, span) = self.expr(value)?;
        Ok(Entry { name, name_span: first.span, value, span })
    }
}

const EXPECTED: &str = "expected a field: {name: value}";
