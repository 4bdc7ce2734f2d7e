//! Import and export: the headings of a Markdown text as a tree, and a tree as headings.
//!
//! A heading may name its node: `## Title [[MT:Node:id]]` or `## Title {#id}`. Words like
//! `#decision` at the end of its title are tags; with a backslash before it, such a word belongs to
//! the title. What stands below a heading is the content of its node, up to the next heading.
//! Headings inside of fences are none. A line of a content that would be read as a heading is
//! exported with a backslash before it, which importing takes away.

use crate::actions::{NewNode, NewPlace, NodePlace};
use crate::error::StoreError;
use crate::index::NodeRow;
use crate::name::NodeId;
use crate::store::{Committed, Store};
use crate::token::{TokenKind, find, inert};

/// Levels that Markdown has.
const HEADING_MAX: usize = 6;

/// A heading of a Markdown text, with the text below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The level of the heading, from 1.
    pub level: usize,
    /// The text of the heading.
    pub title: String,
    /// The id named in the heading, if any.
    pub id: Option<String>,
    /// The tags at the end of the heading.
    pub tags: Vec<String>,
    /// The text up to the next heading.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The nodes that were added.
    pub added: Vec<NodeId>,
    /// The existing nodes whose titles and contents were set.
    pub updated: Vec<NodeId>,
    /// The changes that were made, in order.
    pub committed: Vec<Committed>,
}

/// Reads the headings of a Markdown text. What stands before the first one is returned, too.
pub fn headings(markdown: &str) -> (String, Vec<Heading>) {
    let markdown = markdown.strip_prefix('\u{feff}').unwrap_or(markdown).replace("\r\n", "\n");
    let (mut preamble, mut found): (String, Vec<Heading>) = (String::new(), Vec::new());
    let mut fence: Option<(char, usize)> = None;
    for line in markdown.split_inclusive('\n') {
        let in_fence = fence.is_some();
        fence = next_fence(fence, line);
        let heading = if in_fence || fence.is_some() { None } else { heading(line) };
        match (heading, found.last_mut()) {
            (Some(heading), _) => found.push(heading),
            (None, Some(last)) => last.text += unescaped(line, in_fence),
            (None, None) => preamble += unescaped(line, in_fence),
        }
    }
    let trim = |text: &str| match text.trim_matches('\n') {
        "" => String::new(),
        text => format!("{text}\n"),
    };
    found.iter_mut().for_each(|heading| heading.text = trim(&heading.text));
    (trim(&preamble), found)
}

/// Returns the fence that is open after a line.
fn next_fence(open: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let text = line.trim_end();
    let inner = text.trim_start_matches(' ');
    if text.len() - inner.len() > 3 {
        return open;
    }
    let mark = inner.chars().next().filter(|c| matches!(c, '`' | '~'));
    let Some(mark) = mark else { return open };
    let length = inner.chars().take_while(|c| *c == mark).count();
    let rest = &inner[length..];
    match open {
        None if length >= 3 && !(mark == '`' && rest.contains('`')) => Some((mark, length)),
        Some((own, least)) if own == mark && length >= least && rest.is_empty() => None,
        open => open,
    }
}

fn heading(line: &str) -> Option<Heading> {
    let text = line.trim_end();
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = text.get(level..).filter(|_| (1..=HEADING_MAX).contains(&level))?;
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let (title, id) = named(rest.trim());
    let (title, tags) = tagged(&title);
    Some(Heading { level, title, id, tags, text: String::new() })
}

/// Splits off the tags at the end of a title, and takes away the backslashes before words that look
/// like some.
fn tagged(title: &str) -> (String, Vec<String>) {
    let mut words: Vec<&str> = title.split(' ').collect();
    let mut tags = Vec::new();
    while words.len() > 1
        && let Some(tag) = words.last().and_then(|word| pipemux_notes::query::tag(word))
    {
        tags.push(tag.to_owned());
        words.pop();
        while words.len() > 1 && words.last().is_some_and(|word| word.is_empty()) {
            words.pop();
        }
    }
    tags.reverse();
    let plain = |word: &&str| match word.strip_prefix('\\') {
        Some(rest) if rest.trim_start_matches('\\').starts_with('#') => rest.to_owned(),
        _ => (*word).to_owned(),
    };
    (words.iter().map(plain).collect::<Vec<_>>().join(" "), tags)
}

/// Writes a title so that [`tagged`] returns it again.
fn escaped_title(title: &str) -> String {
    let escaped = |word: &str| match word.trim_start_matches('\\').starts_with('#') {
        true => format!("\\{word}"),
        false => word.to_owned(),
    };
    title.split(' ').map(escaped).collect::<Vec<_>>().join(" ")
}

/// Splits off the id that a heading names.
fn named(text: &str) -> (String, Option<String>) {
    if let Some((start, end, token)) = find(text).last()
        && token.kind == TokenKind::Node
        && end == text.len()
    {
        return (text[..start].trim_end().to_owned(), Some(token.name));
    }
    let attribute = text.strip_suffix('}').and_then(|text| text.rsplit_once("{#"));
    if let Some((title, id)) = attribute.filter(|(_, id)| NodeId::parse(id).is_ok()) {
        return (title.trim_end().to_owned(), Some(id.to_owned()));
    }
    (text.to_owned(), None)
}

fn unescaped(line: &str, in_fence: bool) -> &str {
    match line.strip_prefix('\\') {
        Some(rest) if !in_fence && rest.trim_start_matches('\\').starts_with('#') => rest,
        _ => line,
    }
}

/// Takes the headings of a Markdown text as a tree below a node. Headings that name a node that
/// there is set its title and content, add their tags, and leave it where it is; those that name
/// one that there isn't make it by that name, if no node has had it.
///
/// # Errors
/// There is no such parent, a title isn't allowed, or a file can't be written.
pub fn import(
    store: &mut Store,
    markdown: &str,
    parent: Option<&str>,
) -> Result<Imported, StoreError> {
    let (preamble, headings) = headings(markdown);
    let mut done = Imported { added: Vec::new(), updated: Vec::new(), committed: Vec::new() };
    // The headings that the next one may stand below: level, and where it is.
    let mut stack: Vec<(usize, NewPlace)> = Vec::new();
    let root = NewPlace::At(NodePlace { parent: parent.map(str::to_owned), before: None });
    let mut new: Vec<NewNode> = Vec::new();
    let mut known: Vec<(String, Heading)> = Vec::new();
    if !preamble.is_empty() && headings.is_empty() {
        let title = preamble.lines().next().unwrap_or_default().chars().take(60).collect();
        new.push(NewNode { title, text: preamble, place: root.clone(), ..NewNode::default() });
    }
    for heading in headings {
        while stack.last().is_some_and(|(level, _)| *level >= heading.level) {
            stack.pop();
        }
        let existing = match &heading.id {
            Some(id) => store.files.index.node(id)?.map(|row| row.id.to_string()),
            None => None,
        };
        if let Some(id) = existing {
            let place = NodePlace { parent: Some(id.clone()), before: None };
            stack.push((heading.level, NewPlace::At(place)));
            known.push((id, heading));
            continue;
        }
        let place = stack.last().map_or(&root, |(_, place)| place).clone();
        stack.push((heading.level, NewPlace::Below(new.len())));
        let title = if heading.title.is_empty() { "untitled".to_owned() } else { heading.title };
        let Heading { text, tags, id, .. } = heading;
        // So that the same text changes it the next time.
        let name = id.unwrap_or_default();
        new.push(NewNode { title, name, text, tags, place, ..NewNode::default() });
    }
    for (id, heading) in known {
        let mut changed = Vec::new();
        if !heading.title.is_empty() && heading.title != store.files.node(&id)?.title {
            changed.push(store.retitle(&id, &heading.title)?);
        }
        let (_, file, _) = store.files.read(&id)?;
        if file.content().trim_matches('\n') != heading.text.trim_matches('\n') {
            changed.push(store.edit(&id, &heading.text)?);
        }
        if !heading.tags.iter().all(|tag| file.list("tags").contains(tag)) {
            changed.push(store.tag(&[&id], &heading.tags, &[])?);
        }
        if !changed.is_empty() {
            done.updated.push(NodeId::parse(&id)?);
        }
        done.committed.extend(changed);
    }
    if !new.is_empty() {
        let (added, committed) = store.add(&new)?;
        done.added = added;
        done.committed.push(committed);
    }
    Ok(done)
}

/// Writes nodes, with all that is below them, as headings; of no node: all.
///
/// # Errors
/// There is no such node, or a file isn't readable.
pub fn export(store: &mut Store, ids: &[&str]) -> Result<String, StoreError> {
    let mut stack: Vec<(NodeRow, usize)> = Vec::new();
    if ids.is_empty() {
        let roots = store.files.index.children(None, 0, usize::MAX >> 1)?;
        stack.extend(roots.into_iter().rev().map(|row| (row, 1)));
    }
    for id in ids.iter().rev() {
        stack.push((store.files.node(id)?, 1));
    }
    let mut out = String::new();
    while let Some((NodeRow { id, title, tags, .. }, level)) = stack.pop() {
        if !out.is_empty() {
            out.push('\n');
        }
        let marks = "#".repeat(level.min(HEADING_MAX));
        // Tags of several words can't be written in a heading.
        let tags = tags.iter().map(|tag| format!("#{tag}"));
        let tags =
            tags.filter(|tag| pipemux_notes::query::tag(tag).is_some() && !tag.contains(' '));
        let tags: String = tags.map(|tag| format!(" {}", inert(&tag))).collect();
        let title = escaped_title(&inert(&title));
        out += &format!("{marks} {title}{tags} [[MT:Node:{id}]]\n");
        let (_, text) = store.files.text(id.as_str())?;
        let text = text.trim_matches('\n');
        let mut fence = None;
        if !text.is_empty() {
            out.push('\n');
        }
        for line in text.split_inclusive('\n') {
            let in_fence = fence.is_some();
            fence = next_fence(fence, line);
            if !in_fence && line.trim_start_matches('\\').starts_with('#') {
                out.push('\\');
            }
            out += line;
        }
        if !text.is_empty() {
            out.push('\n');
        }
        if let Some((mark, length)) = fence {
            // Left open, it would take in the next heading.
            out += &format!("{}\n", mark.to_string().repeat(length));
        }
        let children = store.files.index.children(Some(id.as_str()), 0, usize::MAX >> 1)?;
        stack.extend(children.into_iter().rev().map(|row| (row, level + 1)));
    }
    Ok(out)
}
