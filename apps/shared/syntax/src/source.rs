//! A parsed file.

use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use crate::language::Language;
use crate::limits::{DEPTH_MAX, SOURCE_MAX};

/// The reason why a text can't be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// The text is longer than [`SOURCE_MAX`].
    TooLong,
    /// The nodes are nested more deeply than [`DEPTH_MAX`].
    TooDeep,
    /// The parser gave up.
    Failed,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong => write!(f, "the file has more than {} MiB", SOURCE_MAX / 1024 / 1024),
            Self::TooDeep => write!(f, "the file nests more than {DEPTH_MAX} levels deep"),
            Self::Failed => f.write_str("the file can't be parsed"),
        }
    }
}

impl std::error::Error for ParseError {}

/// A text with its syntax tree.
#[derive(Debug)]
pub struct Source {
    text: String,
    language: Language,
    tree: Tree,
    /// True if nothing is known of the text's language.
    plain: bool,
}

impl Source {
    /// Parses a text. Syntax errors are part of the tree.
    ///
    /// # Errors
    /// The text is too long or nested too deeply.
    pub fn parse(language: Language, text: impl Into<String>) -> Result<Self, ParseError> {
        let text = text.into();
        if text.len() > SOURCE_MAX {
            return Err(ParseError::TooLong);
        }
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).map_err(|_| ParseError::Failed)?;
        // Markdown is scanned, not parsed: its tree stays empty, so that whatever walks a tree
        // finds nothing.
        let parsed = if language == Language::Markdown { "" } else { text.as_str() };
        let tree = parser.parse(parsed, None).ok_or(ParseError::Failed)?;
        let source = Self { text, language, tree, plain: false };
        if source.is_too_deep() { Err(ParseError::TooDeep) } else { Ok(source) }
    }

    /// Takes a text of any length that isn't parsed: it has no symbols, and lines in it can be
    /// moved.
    ///
    /// # Errors
    /// The parser gave up.
    pub fn plain(text: impl Into<String>) -> Result<Self, ParseError> {
        let unparsed = Self::parse(Language::Markdown, "")?;
        Ok(Self { text: text.into(), plain: true, ..unparsed })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn language(&self) -> Language {
        self.language
    }

    /// The number of places that the parser couldn't parse.
    pub fn error_count(&self) -> usize {
        let mut errors = 0;
        self.walk(|node, _| errors += usize::from(node.is_error() || node.is_missing()));
        errors
    }

    /// The line that contains a byte, counted from 0.
    pub fn line_of(&self, byte: usize) -> usize {
        self.text.as_bytes()[..byte.min(self.text.len())].iter().filter(|b| **b == b'\n').count()
    }

    /// True if nothing is known of the text's language.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(crate) fn text_of(&self, node: Node<'_>) -> &str {
        &self.text[node.byte_range()]
    }

    /// The first byte of the line that contains a byte.
    pub(crate) fn line_start(&self, byte: usize) -> usize {
        self.text[..byte].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// The end of the line that contains a byte, before the line ending.
    pub(crate) fn line_end(&self, byte: usize) -> usize {
        let end = self.text[byte..].find('\n').map_or(self.text.len(), |newline| byte + newline);
        if self.text[byte..end].ends_with('\r') { end - 1 } else { end }
    }

    /// The indentation of the line that contains a byte.
    pub(crate) fn indent_at(&self, byte: usize) -> &str {
        let line = &self.text[self.line_start(byte)..];
        let end = line.find(|c: char| c != ' ' && c != '\t').unwrap_or(line.len());
        &line[..end]
    }

    /// The most frequent line ending.
    pub fn line_ending(&self) -> &'static str {
        let (all, crlf) = (self.text.matches('\n').count(), self.text.matches("\r\n").count());
        if crlf * 2 > all { "\r\n" } else { "\n" }
    }

    /// The smallest named node that contains a range.
    pub(crate) fn node_at(&self, range: &Range<usize>) -> Node<'_> {
        let root = self.root();
        root.named_descendant_for_byte_range(range.start, range.end).unwrap_or(root)
    }

    /// Visits every node without recursion, so that any depth is safe.
    pub(crate) fn walk(&self, mut visit: impl FnMut(Node<'_>, usize)) {
        let (mut cursor, mut depth) = (self.root().walk(), 0);
        loop {
            visit(cursor.node(), depth);
            if cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                depth -= 1;
            }
        }
    }

    fn is_too_deep(&self) -> bool {
        let mut deepest = 0;
        self.walk(|_, depth| deepest = deepest.max(depth));
        deepest > DEPTH_MAX
    }
}

/// Returns a node's named children.
pub(crate) fn named<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children(&mut node.walk()).collect()
}

/// Returns a node's children, also the tokens between the named ones.
pub(crate) fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.children(&mut node.walk()).collect()
}

/// Returns a node's children with a field name.
pub(crate) fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    node.children_by_field_name(name, &mut node.walk()).collect()
}

/// Returns a node's child with a field name.
pub(crate) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// True if a node has a token of this kind among its children.
pub(crate) fn has_token(node: Node<'_>, kind: &str) -> bool {
    children(node).iter().any(|child| child.kind() == kind)
}

/// Returns the nodes from a node's parent to the root.
pub(crate) fn ancestors<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    std::iter::successors(node.parent(), |node| node.parent())
}

/// True if a range holds all of a node.
pub(crate) fn holds(range: &Range<usize>, node: Node<'_>) -> bool {
    range.start <= node.start_byte() && node.end_byte() <= range.end
}

/// Returns every node below a node, itself included, in the order of the text.
pub(crate) fn descendants<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let (mut all, mut open) = (Vec::new(), vec![node]);
    while let Some(next) = open.pop() {
        all.push(next);
        open.extend(children(next).into_iter().rev());
    }
    all
}
