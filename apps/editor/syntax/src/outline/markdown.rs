//! The headings of Markdown, each with the text below it.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::limits::SUMMARY_MAX;
use crate::source::Source;

use super::{Symbol, SymbolKind};

struct Heading {
    level: usize,
    range: Range<usize>,
    name: String,
    name_range: Range<usize>,
    summary: Option<String>,
}

/// Returns the headings, each with those of deeper levels below it. Headings in quotes and lists don't count.
pub(super) fn headings(source: &Source) -> Vec<Symbol> {
    let found = scan(source.text());
    let mut all: Vec<Symbol> = Vec::new();
    nest(source, &found, 0, source.text().len(), &mut all);
    all
}

/// Adds the headings from one on that begin before a byte.
fn nest(source: &Source, found: &[Heading], from: usize, end: usize, into: &mut Vec<Symbol>) {
    let mut index = from;
    while let Some(heading) = found.get(index).filter(|one| one.range.start < end) {
        let rest = &found[index + 1..];
        let next = rest.iter().position(|other| other.level <= heading.level);
        let next = next.map_or(found.len(), |next| index + 1 + next);
        let section_end =
            found.get(next).map_or(source.text().len(), |one| one.range.start).min(end);
        let start = source.line_start(heading.range.start);
        let range = start..section_end;
        let body = heading.range.end.min(section_end)..section_end;
        // The empty lines before the next heading belong to no section.
        let trimmed = source.text()[..section_end].trim_end().len().max(heading.range.start);
        let text_end = source.text()[trimmed..section_end].find('\n');
        let text_end = text_end.map_or(section_end, |newline| trimmed + newline + 1);
        let mut children = Vec::new();
        nest(source, found, index + 1, section_end, &mut children);
        into.push(Symbol {
            kind: SymbolKind::Heading,
            keyword: "",
            name: heading.name.clone(),
            owner: None,
            whole: start..text_end.max(body.start),
            range,
            name_range: heading.name_range.clone(),
            interior: Some(body.start..text_end.max(body.start)),
            body: Some(body),
            indent: String::new(),
            public: true,
            flags: Vec::new(),
            summary: heading.summary.clone(),
            children,
        });
        index = next;
    }
}

fn scan(text: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    // How many blocks are around an event; images, whose text is no prose; the paragraph being read.
    let (mut depth, mut images, mut paragraph) = (0usize, 0usize, None::<String>);
    let mut heading: Option<Heading> = None;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                heading = Some(Heading {
                    level: level as usize,
                    name: String::new(),
                    name_range: range.start..range.start,
                    range,
                    summary: None,
                });
            }
            Event::End(TagEnd::Heading(_)) if depth == 0 => found.extend(heading.take()),
            Event::Start(Tag::Paragraph) if depth == 0 => paragraph = Some(String::new()),
            Event::End(TagEnd::Paragraph) if depth == 0 => {
                let sentence = paragraph.take().and_then(|text| first_sentence(&text));
                if let (Some(heading), Some(sentence)) = (found.last_mut(), sentence) {
                    heading.summary.get_or_insert(sentence);
                }
            }
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images -= 1,
            Event::Start(
                Tag::Link { .. }
                | Tag::Emphasis
                | Tag::Strong
                | Tag::Strikethrough
                | Tag::Heading { .. },
            )
            | Event::End(
                TagEnd::Link
                | TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Heading(_),
            ) => {}
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => {}
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(part) | Event::Code(part) if images == 0 => {
                if let Some(heading) = &mut heading {
                    heading.name += &part;
                    if heading.name_range.is_empty() {
                        heading.name_range = range.clone();
                    }
                    heading.name_range.end = range.end;
                } else if let Some(paragraph) = &mut paragraph {
                    *paragraph += &part;
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                paragraph.iter_mut().for_each(|text| text.push(' '));
            }
            _ => {}
        }
    }
    found
}

/// Returns the first sentence of a paragraph, cut at a word if it is long; `None` if there is no word in it.
fn first_sentence(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let ends = |(at, c): (usize, char)| {
        let after = &text[at + c.len_utf8()..];
        let new = after.strip_prefix(' ').and_then(|after| after.chars().next());
        let abbreviated = ["e.g", "i.e", "etc", "vs"].iter().any(|end| text[..at].ends_with(end));
        match c {
            '.' | '!' | '?' => {
                after.is_empty() || (!abbreviated && new.is_some_and(|new| !new.is_lowercase()))
            }
            '。' | '！' | '？' => true,
            _ => false,
        }
        .then_some(at + c.len_utf8())
    };
    let end = text.char_indices().find_map(ends).unwrap_or(text.len());
    let sentence = &text[..end];
    let cut = sentence.char_indices().nth(SUMMARY_MAX).map(|(at, _)| at);
    Some(match cut {
        None => sentence.to_owned(),
        Some(at) => {
            let word = sentence[..at].rfind(' ').filter(|word| *word > at / 2).unwrap_or(at);
            format!("{}…", &sentence[..word])
        }
    })
}
