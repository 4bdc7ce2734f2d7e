//! Declarations that the parser doesn't see: the bodies of Rust's macros are only tokens to it.

use std::ops::Range;

use crate::language::Language;
use crate::source::Source;

impl Source {
    /// Returns the lines, from 0, of Rust's macros and their calls in which a function seems to be
    /// declared. No outline has it.
    pub fn macros_with_functions(&self) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.language() != Language::Rust {
            return found;
        }
        let mut end = 0;
        self.walk(|node, _| {
            let is_macro = matches!(node.kind(), "macro_definition" | "macro_invocation");
            if !is_macro || node.start_byte() < end {
                return;
            }
            end = node.end_byte();
            if declares_function(self.text_of(node)) {
                found.push(node.start_position().row..node.end_position().row + 1);
            }
        });
        found
    }
}

/// True if `fn` and a name stand in a text, also one that a macro puts there: `fn $name`.
fn declares_function(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices("fn").any(|(at, _)| {
        let after = text[at + "fn".len()..].trim_start();
        let apart = after.len() < text.len() - at - "fn".len();
        !text[..at].ends_with(is_word) && apart && after.starts_with(|c| is_word(c) || c == '$')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_with_functions_are_found_with_their_lines() {
        let text = "fn a() {}\nmacro_rules! m {\n    ($n:ident) => {\n        unsafe fn $n() {}\n    };\n}\n\
                    thread_local! {\n    static X: fn() = a;\n}\nm!(b);\nwrap! { fn c() {} }\nmod d { wrap! {\n pub fn e() {}\n} }\n";
        let source = Source::parse(Language::Rust, text).unwrap();
        assert_eq!(source.macros_with_functions(), [1..6, 10..11, 11..14]);
        let source = Source::parse(Language::Python, "def a(): pass\n").unwrap();
        assert!(source.macros_with_functions().is_empty());
    }
}
