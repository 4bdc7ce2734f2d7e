//! Finds the statements that a selection means.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, children, field, fields, named};

use super::refusal::Refusal;

/// Whole statements of one block.
pub(super) struct Selected<'t> {
    /// The moved text: the statements and the comments that are selected with them.
    pub text: Range<usize>,
    /// The statements without comments.
    pub statements: Vec<Node<'t>>,
    /// The parent node of the statements.
    pub list: Node<'t>,
    /// The innermost function around the statements.
    pub scope: Node<'t>,
    /// The function next to which the new one is written.
    pub host: Node<'t>,
    /// The declaration that contains the host; the new function comes after it.
    pub anchor: Node<'t>,
    /// The class or `impl` that the host is a member of.
    pub class: Option<Node<'t>>,
    /// The node that is checked for syntax errors.
    pub container: Node<'t>,
}

impl<'t> Selected<'t> {
    /// Returns the byte range of the statements.
    pub(super) fn range(&self) -> Range<usize> {
        let (first, last) = (self.statements.first(), self.statements.last());
        let start = first.map_or(self.text.start, |node| node.start_byte());
        start..last.map_or(self.text.end, |node| node.end_byte())
    }

    pub(super) fn last(&self) -> Node<'t> {
        self.statements.last().copied().unwrap_or(self.list)
    }

    /// True if no statement follows in the block.
    pub(super) fn is_at_end(&self) -> bool {
        let last = self.range().end;
        !statements_of(self.list).iter().any(|node| node.start_byte() >= last)
    }

    /// True if the end of the statements is the end of the function around them.
    pub(super) fn ends_function(&self) -> bool {
        // In Go the list is within the block.
        let list = self.list;
        let block = if list.kind() == "statement_list" { list.parent() } else { Some(list) };
        self.is_at_end() && block.is_some() && field(self.scope, "body") == block
    }
}

/// Returns the statements of a block, without comments.
pub(super) fn statements_of<'t>(list: Node<'t>) -> Vec<Node<'t>> {
    let all = match list.kind() {
        "switch_case" | "switch_default" => fields(list, "body"),
        _ => named(list),
    };
    all.into_iter().filter(|node| !Language::is_comment(node.kind())).collect()
}

/// Returns the statements that a range selects.
pub(super) fn select<'t>(
    source: &'t Source,
    range: &Range<usize>,
) -> Result<Selected<'t>, Refusal> {
    let text = trim(source.text(), range);
    let core = without_comments(source, text.clone());
    if core.is_empty() {
        return Err(Refusal::because("there is no statement in it"));
    }
    let language = source.language();
    let smallest = source.node_at(&core);
    let mut lists = std::iter::once(smallest).chain(ancestors(smallest));
    let list = lists.find(|node| language.is_statement_list(*node));
    let outside = || Refusal::because("the lines are not in the body of a function");
    // The nearest statements of a selection outside of any function are of no use.
    let list = list.ok_or_else(outside)?;
    let functions: Vec<_> =
        ancestors(list).take_while(|node| !is_barrier(language, *node)).collect();
    let functions: Vec<_> =
        functions.into_iter().filter(|node| language.is_function(node.kind())).collect();
    let touched: Vec<_> = statements_of(list)
        .into_iter()
        .filter(|node| node.start_byte() < core.end && node.end_byte() > core.start)
        .collect();
    let (Some(first), Some(last)) = (touched.first(), touched.last()) else {
        return Err(Refusal::NotWholeStatements { nearest: None });
    };
    let nearest = first.start_byte()..last.end_byte();
    let whole = first.start_byte() >= core.start && last.end_byte() <= core.end;
    if !whole || !only_separators(source, &core, &touched) || splits_attribute(*first, *last) {
        return Err(Refusal::NotWholeStatements { nearest: Some(nearest).filter(|_| !whole) });
    }
    let scope = *functions.first().ok_or_else(outside)?;
    let host = host(language, &functions).ok_or_else(outside)?;
    let (anchor, class) = (anchor(language, host), class(host));
    let container = class.unwrap_or(anchor);
    Ok(Selected { text, statements: touched, list, scope, host, anchor, class, container })
}

/// True for nodes whose functions belong to them rather than to what is around them.
fn is_barrier(language: Language, node: Node<'_>) -> bool {
    match language {
        Language::Rust => matches!(node.kind(), "impl_item" | "trait_item" | "mod_item"),
        Language::Python => node.kind() == "class_definition",
        Language::Go => false,
        _ => matches!(node.kind(), "class_body"),
    }
}

/// Returns the function that the new one is written beside, of those around the selection,
/// innermost first.
fn host<'t>(language: Language, functions: &[Node<'t>]) -> Option<Node<'t>> {
    match language {
        // A function within a function sees none of its variables.
        Language::Rust => functions.iter().find(|node| node.kind() == "function_item").copied(),
        _ => functions.last().copied(),
    }
}

fn anchor<'t>(language: Language, host: Node<'t>) -> Node<'t> {
    match language {
        Language::Rust | Language::Go => host,
        Language::Python => match host.parent() {
            Some(decorated) if decorated.kind() == "decorated_definition" => decorated,
            _ => host,
        },
        // A member of a class, or the whole statement that the function is a part of.
        _ => std::iter::once(host)
            .chain(ancestors(host))
            .find(|node| {
                let list = |parent: Node<'_>| {
                    matches!(parent.kind(), "program" | "class_body" | "statement_block")
                };
                node.parent().is_none_or(list)
            })
            .unwrap_or(host),
    }
}

fn class<'t>(host: Node<'t>) -> Option<Node<'t>> {
    let body = ancestors(host).find(|node| {
        !matches!(node.kind(), "decorated_definition" | "declaration_list" | "block" | "class_body")
    })?;
    let class = matches!(
        body.kind(),
        "class_definition"
            | "class_declaration"
            | "abstract_class_declaration"
            | "class"
            | "impl_item"
            | "trait_item"
    );
    class.then_some(body)
}

fn trim(text: &str, range: &Range<usize>) -> Range<usize> {
    let end = floor(text, range.end.min(text.len()));
    let start = floor(text, range.start.min(end));
    let inside = &text[start..end];
    let left = inside.len() - inside.trim_start().len();
    let trimmed = inside.trim();
    start + left..start + left + trimmed.len()
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Takes comments and separators off both ends, because a comment may belong to the block around.
fn without_comments(source: &Source, mut range: Range<usize>) -> Range<usize> {
    loop {
        range = trim(source.text(), &range);
        if range.is_empty() {
            return range;
        }
        let first = source.node_at(&(range.start..range.start + 1));
        let last = source.node_at(&(range.end - 1..range.end));
        let text = &source.text()[range.clone()];
        if Language::is_comment(first.kind()) {
            range.start = first.end_byte().min(range.end).max(range.start + 1);
        } else if Language::is_comment(last.kind()) {
            range.end = last.start_byte().max(range.start);
        } else if text.starts_with(';') {
            range.start += 1;
        } else if text.ends_with(';') && source.language() == Language::Python {
            range.end -= 1;
        } else {
            return range;
        }
    }
}

/// True if between the statements there is nothing but white space, comments and semicolons.
fn only_separators(source: &Source, core: &Range<usize>, statements: &[Node<'_>]) -> bool {
    let mut from = core.start;
    for node in statements {
        if !is_filler(source, from..node.start_byte()) {
            return false;
        }
        from = node.end_byte();
    }
    is_filler(source, from..core.end)
}

fn is_filler(source: &Source, range: Range<usize>) -> bool {
    let mut at = range.start;
    while at < range.end {
        let rest = &source.text()[at..range.end];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', ';', '\\']).len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let node = source.node_at(&(at..at + 1));
        if !Language::is_comment(node.kind()) || node.end_byte() <= at {
            return false;
        }
        at = node.end_byte();
    }
    true
}

/// True if an attribute stands before the first statement, or is the last one.
fn splits_attribute(first: Node<'_>, last: Node<'_>) -> bool {
    let before =
        std::iter::successors(first.prev_named_sibling(), |node| node.prev_named_sibling());
    let mut before = before.skip_while(|node| Language::is_comment(node.kind()));
    let attribute = |node: Node<'_>| matches!(node.kind(), "attribute_item" | "decorator");
    before.next().is_some_and(attribute) || attribute(last)
}

/// Returns the loops around a node, up to a function.
pub(super) fn loops_around<'t>(node: Node<'t>, until: Node<'t>) -> Vec<Node<'t>> {
    let inside = ancestors(node).take_while(|one| *one != until);
    inside.filter(|one| Language::is_loop(one.kind())).collect()
}

/// True if a statement has a token, such as `async`, or one of its children has.
pub(super) fn has_keyword(node: Node<'_>, keyword: &str) -> bool {
    children(node).iter().any(|child| {
        child.kind() == keyword
            || (child.kind() == "function_modifiers"
                && children(*child).iter().any(|c| c.kind() == keyword))
    })
}
