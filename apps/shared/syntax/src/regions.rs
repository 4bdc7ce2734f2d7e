//! Divides a text into comments, strings and code.

use std::ops::Range;

use tree_sitter::{Node, Parser};

use crate::language::Language;
use crate::limits::SOURCE_MAX;
use crate::source::{Source, named};

/// The kind of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Region {
    /// Neither of the others.
    Code,
    /// A comment, including a doc comment.
    Comment,
    /// A literal of text: a string, a character, a regular expression, the text in JSX. What is
    /// computed within one (`${name}`) is code.
    String,
}

/// The byte ranges of the comments and strings in a text. Everything else is code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Regions {
    /// The comments in the order of the text, without their line endings.
    pub comments: Vec<Range<usize>>,
    /// The strings with their quotes, in the order of the text.
    pub strings: Vec<Range<usize>>,
}

impl Regions {
    /// Returns what a range is: a comment or a string if it lies in one, code if any of it is code.
    pub fn of(&self, range: &Range<usize>) -> Region {
        let inside = |all: &[Range<usize>]| {
            let after = all.partition_point(|one| one.start <= range.start);
            let one = after.checked_sub(1).map(|index| &all[index]);
            one.is_some_and(|one| {
                range.end <= one.end && (range.start < one.end || range.is_empty())
            })
        };
        match (inside(&self.comments), inside(&self.strings)) {
            (true, _) => Region::Comment,
            (_, true) => Region::String,
            _ => Region::Code,
        }
    }

    /// True if nothing is known to be other than code.
    pub fn is_empty(&self) -> bool {
        self.comments.is_empty() && self.strings.is_empty()
    }
}

/// Returns the comments and the strings of a parsed file.
pub fn regions(source: &Source) -> Regions {
    regions_below(source.language(), source.text(), source.root())
}

/// Returns the comments and the strings of a text. All is code where no language is given, in
/// Markdown, and in a text that is too long to be parsed. Unlike [`Source::parse`] it takes any
/// depth.
pub fn regions_of(language: Option<Language>, text: &str) -> Regions {
    let Some(language) = language else { return Regions::default() };
    if language == Language::Markdown || text.len() > SOURCE_MAX {
        return Regions::default();
    }
    let mut parser = Parser::new();
    if parser.set_language(&language.grammar()).is_err() {
        return Regions::default();
    }
    match parser.parse(text, None) {
        Some(tree) => regions_below(language, text, tree.root_node()),
        None => Regions::default(),
    }
}

/// The kind of a node for finding regions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Comment,
    String,
    /// Code within a string.
    Interpolation,
    /// A part of a macro definition that the grammar doesn't parse.
    Unparsed,
}

fn class_of(kind: &str) -> Class {
    match kind {
        "comment" | "line_comment" | "block_comment" | "html_comment" | "hash_bang_line"
        | "shebang" | "shebang_directive" => Class::Comment,
        "string"
        | "string_literal"
        | "raw_string_literal"
        | "char_literal"
        | "template_string"
        | "template_literal_type"
        | "regex"
        | "jsx_text"
        | "interpreted_string_literal"
        | "rune_literal"
        | "system_lib_string"
        | "character_literal"
        | "verbatim_string_literal"
        | "interpolated_string_expression" => Class::String,
        "interpolation" | "template_substitution" | "template_type" | "string_interpolation" => {
            Class::Interpolation
        }
        "preproc_arg" => Class::Unparsed,
        _ => Class::Other,
    }
}

fn regions_below(language: Language, text: &str, root: Node<'_>) -> Regions {
    let grammar = language.grammar();
    let classes: Vec<Class> = (0..grammar.node_kind_count())
        .map(|id| {
            let id = u16::try_from(id).unwrap_or(u16::MAX);
            match grammar.node_kind_is_named(id) {
                true => grammar.node_kind_for_id(id).map_or(Class::Other, class_of),
                false => Class::Other,
            }
        })
        .collect();
    let class =
        |node: Node<'_>| classes.get(usize::from(node.kind_id())).copied().unwrap_or(Class::Other);
    let mut found = Regions::default();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let mut descend = true;
        match class(node) {
            Class::Comment => {
                found.comments.push(without_line_end(text, node.byte_range()));
                descend = false;
            }
            Class::String => {
                let mut from = node.start_byte();
                for part in
                    named(node).into_iter().filter(|one| class(*one) == Class::Interpolation)
                {
                    push(&mut found.strings, from..part.start_byte());
                    from = part.end_byte();
                }
                push(&mut found.strings, from..node.end_byte());
            }
            Class::Unparsed => {
                scan_unparsed(text, node.byte_range(), &mut found);
                descend = false;
            }
            Class::Interpolation | Class::Other => {}
        }
        if descend && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                // A string within the code of another one was found after that one's parts.
                found.strings.sort_by_key(|one| one.start);
                return found;
            }
        }
    }
}

fn push(all: &mut Vec<Range<usize>>, range: Range<usize>) {
    if !range.is_empty() {
        all.push(range);
    }
}

/// Returns a range without its line ending, which Rust doc comments include.
fn without_line_end(text: &str, range: Range<usize>) -> Range<usize> {
    let body = text[range.clone()].trim_end_matches(['\n', '\r']);
    range.start..range.start + body.len()
}

/// Finds the comments and strings in what stands behind `#define`.
fn scan_unparsed(text: &str, range: Range<usize>, found: &mut Regions) {
    let bytes = &text.as_bytes()[..range.end];
    let mut at = range.start;
    while at < range.end {
        let start = at;
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'/')) => {
                found.comments.push(without_line_end(text, at..range.end));
                return;
            }
            (b'/', Some(b'*')) => {
                let end = text[at + 2..range.end].find("*/");
                at = end.map_or(range.end, |end| at + 2 + end + 2);
                found.comments.push(start..at);
            }
            (quote @ (b'"' | b'\''), _) => {
                at += 1;
                while at < range.end && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(range.end);
                found.strings.push(start..at);
            }
            _ => at += 1,
        }
    }
}
