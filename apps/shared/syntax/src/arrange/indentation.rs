//! Blocks shifted to another indentation.

use std::ops::Range;

use crate::language::Language;
use crate::outline::{Symbol, flatten};
use crate::regions::regions_of;
use crate::source::{Source, field, named};

/// Returns the white space before the first line that isn't empty.
pub(super) fn indent_of(lines: &str) -> &str {
    let line = lines.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns one level of indentation as the file has it.
pub fn unit_of(source: &Source) -> String {
    fn deeper(symbols: &[Symbol]) -> Option<String> {
        flatten(symbols).into_iter().find_map(|symbol| {
            symbol.children.iter().find_map(|child| {
                let more = child.indent.strip_prefix(symbol.indent.as_str())?;
                (!more.is_empty()).then(|| more.to_owned())
            })
        })
    }
    // Else what the bodies of functions have more than their heads.
    let body = |symbols: &[Symbol]| {
        flatten(symbols).into_iter().find_map(|symbol| {
            let inside = &source.text()[symbol.interior.clone()?];
            let more = indent_of(inside).strip_prefix(symbol.indent.as_str())?;
            (inside.contains('\n') && !more.is_empty()).then(|| more.to_owned())
        })
    };
    let symbols = source.declarations();
    deeper(&symbols).or_else(|| body(&symbols)).unwrap_or_else(|| {
        match source.language() {
            Language::Go => "\t",
            Language::JavaScript | Language::TypeScript | Language::Tsx => "  ",
            _ => "    ",
        }
        .to_owned()
    })
}

/// Returns a block with another indentation. Lines within strings stay, but for Python's doc
/// strings.
pub fn reindented(block: &str, to: &str, language: Option<Language>) -> String {
    if language == Some(Language::Markdown) {
        return block.to_owned();
    }
    let strings = regions_of(language, block).strings;
    let is_doc = |string: &Range<usize>| {
        language == Some(Language::Python)
            && block[..string.start].rsplit('\n').next().is_some_and(|head| head.trim().is_empty())
            && block[string.clone()].trim_start_matches(['r', 'u', 'R', 'U']).len() > 5
    };
    let fixed = |at: usize| {
        strings.iter().any(|string| string.start < at && at < string.end && !is_doc(string))
    };
    let from = own_indent(block, fixed);
    if from == to && indent_of(block) == to {
        return block.to_owned();
    }
    let (mut new, mut at) = (String::with_capacity(block.len()), 0);
    for line in block.split_inclusive('\n') {
        let body = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - body.len()];
        if fixed(at) || body.trim().is_empty() {
            new += line;
        } else {
            new += to;
            // A first line without the indentation of the others is given it.
            new += indent.strip_prefix(from).unwrap_or(indent);
            new += body;
        }
        at += line.len();
    }
    new
}

/// The indentation of a block: of its first line, or of its last one if only the first line lacks
/// it and the last one closes the block.
fn own_indent(block: &str, fixed: impl Fn(usize) -> bool) -> &str {
    let mut at = 0;
    let mut lines: Vec<&str> = Vec::new();
    for line in block.split_inclusive('\n') {
        if !line.trim().is_empty() && !fixed(at) {
            lines.push(line);
        }
        at += line.len();
    }
    let first = indent_of(block);
    if !first.is_empty() {
        // Lines may be indented less than the first one.
        let least = lines.iter().map(|line| indent_of(line));
        return least.min_by_key(|indent| indent.len()).unwrap_or(first);
    }
    let last = lines.last().copied().unwrap_or_default();
    let indent = indent_of(last);
    let closes = last.trim_start().starts_with(['}', ')', ']']);
    match closes && lines.iter().skip(1).all(|one| one.starts_with(indent)) {
        true => indent,
        false => first,
    }
}

/// Returns where a block can begin between braces: behind a doc string, inner comments and inner
/// attributes.
pub(super) fn after_leading(source: &Source, interior: &Range<usize>) -> Option<usize> {
    let text = source.text();
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1);
    match source.language() {
        Language::Python => {
            let blank = text[interior.clone()].len() - text[interior.clone()].trim_start().len();
            let at = interior.start + blank;
            let node = source.root().descendant_for_byte_range(at, at)?;
            let string = std::iter::successors(Some(node), |node| node.parent())
                .take_while(|node| node.start_byte() == at)
                .find(|node| node.kind() == "string")?;
            let alone = string.parent().is_some_and(|one| one.kind() == "expression_statement");
            alone.then(|| line_end(string.end_byte()))
        }
        Language::Rust => {
            let mut end = None;
            let mut at = interior.start;
            for line in text[interior.clone()].split_inclusive('\n') {
                let body = line.trim_start();
                at += line.len();
                if body.starts_with("//!") || body.starts_with("#![") {
                    end = Some(at);
                } else if !body.is_empty() {
                    break;
                }
            }
            end
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let first = source.node_at(&(interior.start..interior.end));
            let directive = named(first).into_iter().next()?;
            let string = directive.named_child(0).filter(|one| one.kind() == "string")?;
            let statement = directive.kind() == "expression_statement";
            (statement && field(directive, "left").is_none()).then(|| line_end(string.end_byte()))
        }
        _ => None,
    }
}
