//! The range of a symbol, including its documentation and its end, and the range between its
//! braces.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, children};

/// Returns an item with its doc comment, the comment directly above it, its attributes, and what
/// ends it.
pub(super) fn whole(source: &Source, item: Node<'_>, comments: &[Range<usize>]) -> Range<usize> {
    let text = source.text();
    let attributes = attributes(item);
    let mut start = attributes.last().map_or(item.start_byte(), |one| one.start);
    let end = end_with_separator(item);
    let line = source.line_start(start);
    if !text[line..start].trim().is_empty() {
        return start..end;
    }
    start = line;
    while let Some(above) = line_above(source, start, comments, &attributes) {
        start = above;
    }
    match end_of_line(source, end, comments) {
        Some(end) => start..end,
        None => start + source.indent_at(start).len()..end,
    }
}

/// Extends a Python function by the comments below it that are indented like its body.
pub(super) fn with_deeper_comments(
    source: &Source,
    item: Node<'_>,
    whole: Range<usize>,
    comments: &[Range<usize>],
) -> Range<usize> {
    if source.language() != Language::Python {
        return whole;
    }
    let (text, indent) = (source.text(), source.indent_at(item.start_byte()).len());
    let (mut end, mut line) = (whole.end, whole.end);
    while line < text.len() && (line == 0 || text.as_bytes()[line - 1] == b'\n') {
        let next = next_line(text, line);
        let body = text[line..next].trim_start();
        let at = next - body.len();
        let deeper =
            !body.is_empty() && at - line > indent && comments.iter().any(|one| one.start == at);
        if deeper {
            end = next;
        } else if !body.is_empty() {
            break;
        }
        line = next;
    }
    whole.start..end
}

/// Returns the attributes of a Rust item that stand before it as nodes of their own, the last one
/// first.
fn attributes(item: Node<'_>) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut before = item.prev_sibling();
    while let Some(one) = before {
        match one.kind() {
            "attribute_item" => all.push(one.byte_range()),
            "line_comment" | "block_comment" => {}
            _ => break,
        }
        before = one.prev_sibling();
    }
    all
}

/// Returns the end of an item with the `;` or `,` behind it.
fn end_with_separator(item: Node<'_>) -> usize {
    let next = item.next_sibling().filter(|next| matches!(next.kind(), ";" | ","));
    next.map_or(item.end_byte(), |next| next.end_byte())
}

/// Returns the start of the line of a comment or an attribute that ends directly above a line and
/// belongs to what stands there.
fn line_above(
    source: &Source,
    line: usize,
    comments: &[Range<usize>],
    attributes: &[Range<usize>],
) -> Option<usize> {
    let text = source.text();
    let before = text[..line].trim_end();
    let blank = text[before.len()..line].matches('\n').count() > 1;
    let starts_line = |at: usize| text[source.line_start(at)..at].trim().is_empty();
    if let Some(attribute) = attributes.iter().find(|one| one.end == before.len()) {
        let start = attribute.start;
        return starts_line(start).then(|| source.line_start(start));
    }
    let at = comments.partition_point(|one| one.end < before.len());
    let comment = comments.get(at).filter(|one| {
        // A comment may end with white space.
        text[..one.end].trim_end().len() == before.len()
    })?;
    let body = &text[comment.clone()];
    let inner = body.starts_with("//!") || body.starts_with("/*!") || body.starts_with("#!");
    let documents = !inner && is_doc(body);
    // Only in Rust a doc comment reaches over an empty line.
    let reaches = !blank || (documents && source.language() == Language::Rust);
    let of_file = is_first(source, comment, comments) && is_about_file(text, comment, comments);
    if inner || !reaches || !starts_line(comment.start) {
        return None;
    }
    (documents || !(is_separator(body) || of_file)).then(|| source.line_start(comment.start))
}

fn is_doc(comment: &str) -> bool {
    let line = comment.starts_with("///") && !comment.starts_with("////");
    line || (comment.starts_with("/**") && !comment.starts_with("/***") && comment != "/**/")
}

/// True for a comment that divides a file rather than telling of what follows:
/// `// ---- Helpers ----`.
fn is_separator(comment: &str) -> bool {
    let body = comment.trim_start_matches(['/', '*', '#', '!', ' ', ';']);
    let body = body.trim_end_matches(['/', ' ']);
    let ruled = |rule: char| {
        let rule: String = std::iter::repeat_n(rule, 3).collect();
        body.starts_with(&rule) || body.ends_with(&rule)
    };
    let marks = ["MARK:", "region", "endregion", "SECTION", "#region", "#endregion"];
    body.is_empty()
        || ['-', '=', '*', '#', '~', '─', '━', '═', '_', '+'].into_iter().any(ruled)
        || marks.iter().any(|mark| body.starts_with(mark))
}

/// True if nothing but comments stands before a comment.
fn is_first(source: &Source, comment: &Range<usize>, comments: &[Range<usize>]) -> bool {
    let mut from = 0;
    for one in comments.iter().take_while(|one| one.start < comment.start) {
        if !source.text()[from..one.start]
            .trim_matches([' ', '\n', '\r', '\t', '\u{feff}'])
            .is_empty()
        {
            return false;
        }
        from = one.end;
    }
    source.text()[from..comment.start].trim_matches([' ', '\n', '\r', '\t', '\u{feff}']).is_empty()
}

/// True if the comments at the top of a file are about the file: its licence or how it is read.
fn is_about_file(text: &str, comment: &Range<usize>, comments: &[Range<usize>]) -> bool {
    let top = comments.iter().take_while(|one| one.start <= comment.start);
    let about = [
        "copyright",
        "license",
        "licence",
        "spdx",
        "-*-",
        "coding:",
        "eslint",
        "@ts-",
        "generated",
    ];
    top.into_iter().any(|one| {
        let body = text[one.clone()].to_lowercase();
        about.iter().any(|word| body.contains(word))
    })
}

/// Returns the start of the next line, if nothing but white space and comments stands between.
fn end_of_line(source: &Source, end: usize, comments: &[Range<usize>]) -> Option<usize> {
    let text = source.text();
    // An item may end with the end of its line.
    if end > 0 && text.as_bytes()[end - 1] == b'\n' {
        return Some(end);
    }
    let next = next_line(text, end);
    let mut at = end;
    while at < next {
        let rest = &text[at..next];
        let blank = rest.len() - rest.trim_start().len();
        if blank == rest.len() {
            return Some(next);
        }
        at += blank;
        let index = comments.partition_point(|one| one.start < at);
        let comment = comments.get(index).filter(|one| one.start == at && one.end <= next)?;
        at = comment.end;
    }
    Some(next)
}

fn next_line(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |newline| from + newline + 1)
}

/// Returns what stands between the braces of a body.
pub(super) fn interior(source: &Source, body: Node<'_>, node: Node<'_>) -> Range<usize> {
    let text = source.text();
    if source.language() == Language::Python {
        return python_interior(source, body, node);
    }
    let all = children(body);
    let open = all.iter().find(|one| matches!(one.kind(), "{" | "("));
    let close = all.iter().rfind(|one| matches!(one.kind(), "}" | ")"));
    let inside = match (open, close) {
        (Some(open), Some(close)) if open.end_byte() <= close.start_byte() => {
            let (from, to) = (open.end_byte(), close.start_byte());
            let (first, last) = (next_line(text, from), source.line_start(to));
            let own_lines = text[from..first].trim().is_empty()
                && text[last..to].trim().is_empty()
                && first <= last
                && text[from..to].contains('\n');
            if own_lines {
                return first..last;
            }
            from..to
        }
        _ => match all.first().filter(|one| one.kind() == "=>") {
            Some(arrow) => arrow.end_byte()..body.end_byte(),
            None => body.byte_range(),
        },
    };
    trimmed(text, inside)
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + inside.len() - inside.trim_start().len();
    start..start + inside.trim().len()
}

/// Returns the lines below the header, including comments before the first statement.
fn python_interior(source: &Source, body: Node<'_>, node: Node<'_>) -> Range<usize> {
    let text = source.text();
    let colon = children(node)
        .into_iter()
        .rfind(|one| one.kind() == ":" && one.start_byte() <= body.start_byte());
    let Some(colon) = colon else { return body.byte_range() };
    let first = next_line(text, colon.end_byte());
    let header = text[colon.end_byte()..first].trim();
    if header.is_empty() || header.starts_with('#') {
        // What a line ends with belongs to it.
        let end = body.end_byte().max(first);
        return first..if end > 0 && text.as_bytes()[end - 1] == b'\n' {
            end
        } else {
            next_line(text, end)
        };
    }
    trimmed(text, body.byte_range())
}
