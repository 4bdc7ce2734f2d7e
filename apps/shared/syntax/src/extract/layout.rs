//! Indentation, line endings, and where the new function goes.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, descendants};

use super::selection::Selected;

/// The layout of the file around the selection.
pub(super) struct Layout {
    /// The indentation of the line that the selection begins on.
    pub base: String,
    /// One level of indentation.
    pub unit: String,
    pub ending: &'static str,
    /// True if statements end with a semicolon, where they may.
    pub semicolons: bool,
}

impl Layout {
    pub(super) fn of(source: &Source, selected: &Selected<'_>) -> Self {
        let base = source.indent_at(selected.text.start).to_owned();
        let unit = unit(source, selected.host).unwrap_or_else(|| match source.language() {
            Language::Go => "\t".to_owned(),
            Language::Rust | Language::Python => "    ".to_owned(),
            _ => "  ".to_owned(),
        });
        let semicolons = semicolons(source, selected);
        Self { base, unit, ending: source.line_ending(), semicolons }
    }

    /// Returns lines joined by the file's ending, each indented.
    pub(super) fn lines(&self, indent: &str, lines: &[String]) -> String {
        let lines: Vec<_> = lines.iter().map(|line| format!("{indent}{line}")).collect();
        lines.join(self.ending)
    }
}

/// Returns one level of indentation: that of the first statement of a function, compared with its
/// header.
fn unit(source: &Source, host: Node<'_>) -> Option<String> {
    let header = source.indent_at(host.start_byte());
    let text = &source.text()[host.byte_range()];
    let inside = text.split('\n').skip(1).find_map(|line| {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let own = line[..indent].strip_prefix(header)?;
        (!own.is_empty() && !line.trim().is_empty()).then(|| own.to_owned())
    })?;
    Some(inside)
}

fn semicolons(source: &Source, selected: &Selected<'_>) -> bool {
    let simple: Vec<_> = descendants(selected.host)
        .into_iter()
        .filter(|node| {
            matches!(
                node.kind(),
                "expression_statement" | "lexical_declaration" | "return_statement"
            )
        })
        .collect();
    simple.is_empty() || simple.iter().any(|node| source.text_of(*node).ends_with(';'))
}

/// A replacement of bytes in the body.
pub(super) type Rewrite = (Range<usize>, String);

/// Returns the selected text at another indentation, with its rewrites. The first line is indented,
/// too.
pub(super) fn body(
    source: &Source,
    selected: &Selected<'_>,
    base: &str,
    new: &str,
    rewrites: &[Rewrite],
) -> String {
    let strings: Vec<_> = selected
        .statements
        .iter()
        .flat_map(|statement| descendants(*statement))
        .filter(|node| Language::is_string(node.kind()))
        .map(|node| node.byte_range())
        .filter(|range| source.text()[range.clone()].contains('\n'))
        .collect();
    let text = &source.text()[selected.text.clone()];
    let mut out = String::new();
    let mut at = selected.text.start;
    for line in text.split_inclusive('\n') {
        let in_string = strings.iter().any(|range| range.start < at && at < range.end);
        let blank = line.trim().is_empty();
        let mut skip = 0;
        if at == selected.text.start {
            out += new;
        } else if !in_string && !blank {
            skip = base.len() * usize::from(line.starts_with(base));
            if skip > 0 || base.is_empty() {
                out += new;
            }
        }
        let end = at + line.len();
        let mut from = at + skip;
        for (range, text) in rewrites {
            if range.start >= from && range.end <= end {
                out += &source.text()[from..range.start];
                out += text;
                from = range.end;
            }
        }
        out += &source.text()[from.min(end)..end];
        at = end;
    }
    out
}

/// Returns where a function goes that comes after a declaration: the end of its last line, if
/// nothing else stands there.
pub(super) fn end_of(source: &Source, anchor: Node<'_>) -> usize {
    let end = anchor.end_byte();
    // Python's blocks may end with the newline.
    let trimmed = source.text()[..end].trim_end().len();
    let line_end = source.line_end(trimmed);
    let rest = source.text()[trimmed..line_end].trim_start();
    let rest_is_comment = rest.trim_start_matches([';', ',', ' ']).is_empty()
        || rest.starts_with("//")
        || rest.starts_with('#');
    if rest_is_comment { line_end } else { trimmed }
}
