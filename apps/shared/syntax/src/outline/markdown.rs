//! The headings of Markdown, each with the text below it, and what a text is about.

mod prose;

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::language::Language;
use crate::limits::{LEAD_MAX, SUMMARY_MAX};
use crate::source::Source;

use super::symbol::{Symbol, SymbolKind};
use prose::{Paragraph, first_sentences, html_title, text_of_html};

struct Heading {
    level: usize,
    range: Range<usize>,
    name: String,
    name_range: Range<usize>,
    /// The first paragraph of prose below the heading, up to the next heading.
    prose: Option<String>,
}

impl Heading {
    fn new(level: usize, range: Range<usize>) -> Self {
        let name_range = range.start..range.start;
        Self { level, name: String::new(), name_range, range, prose: None }
    }

    /// Adds a part of the name.
    fn push(&mut self, part: &str, range: &Range<usize>) {
        self.name.push_str(part);
        if self.name_range.is_empty() {
            self.name_range.start = range.start;
        }
        self.name_range.end = range.end;
    }
}

/// A short description of a Markdown text, for a list of many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lead {
    pub title: Option<String>,
    /// The first sentences of prose, preferably those below the title.
    pub prose: Option<String>,
}

/// The beginnings of headings whose section describes the text.
const INTRODUCTIONS: [&str; 8] =
    ["intro", "overview", "about", "description", "summary", "abstract", "what ", "purpose"];

/// The headings and the prose of a text.
#[derive(Default)]
struct Scanned {
    headings: Vec<Heading>,
    /// The first paragraph of prose before the first heading.
    before_headings: Option<String>,
    /// The title in HTML that comes before any prose.
    html_title: Option<String>,
    html_prose: Option<String>,
}

impl Source {
    /// Returns what a Markdown text is about; `None` for another language.
    pub fn lead(&self) -> Option<Lead> {
        (self.language() == Language::Markdown).then(|| scan(self.text()).lead())
    }
}

impl Scanned {
    fn lead(self) -> Lead {
        let introduces = |heading: &&Heading| {
            let name = heading.name.trim().to_lowercase();
            INTRODUCTIONS.iter().any(|word| name.starts_with(word))
        };
        let titled = self.headings.first().filter(|first| {
            first.level == 1 || (self.before_headings.is_none() && self.html_title.is_none())
        });
        let title = titled.map(|heading| heading.name.clone()).or(self.html_title);
        let with_prose = || self.headings.iter().filter(|heading| heading.prose.is_some());
        let prose = self.before_headings.as_ref();
        let prose = prose.or_else(|| titled.and_then(|heading| heading.prose.as_ref()));
        let prose = prose.or_else(|| {
            let heading = with_prose().find(introduces).or_else(|| with_prose().next());
            heading.and_then(|heading| heading.prose.as_ref())
        });
        let prose = prose.or(self.html_prose.as_ref());
        Lead { title, prose: prose.and_then(|text| first_sentences(text, LEAD_MAX)) }
    }

    /// Takes in a paragraph of prose.
    fn add_prose(&mut self, text: String) {
        let place = match self.headings.last_mut() {
            Some(heading) => &mut heading.prose,
            None => &mut self.before_headings,
        };
        place.get_or_insert(text);
    }

    /// Takes in a block of HTML.
    fn add_html(&mut self, html: &str) {
        if self.headings.is_empty() && self.html_title.is_none() {
            self.html_title = html_title(html);
        }
        if self.html_prose.is_none() && html_title(html).is_none() {
            self.html_prose = text_of_html(html);
        }
    }
}

/// Returns the headings, each with those of deeper levels below it. Headings in quotes and lists
/// don't count.
pub(super) fn headings(source: &Source) -> Vec<Symbol> {
    let found = scan(source.text()).headings;
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
            summary: heading.prose.as_ref().and_then(|text| first_sentences(text, SUMMARY_MAX)),
            children,
        });
        index = next;
    }
}

fn scan(text: &str) -> Scanned {
    let mut found = Scanned::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    // How many blocks are around an event; images, whose text is no prose; what is being read.
    let (mut depth, mut images, mut paragraph) = (0usize, 0usize, None::<Paragraph>);
    let (mut heading, mut html): (Option<Heading>, Option<String>) = (None, None);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                heading = Some(Heading::new(level as usize, range));
            }
            Event::End(TagEnd::Heading(_)) if depth == 0 => {
                if let Some(mut heading) = heading.take() {
                    // Where badges stood, only the spaces around them are left.
                    heading.name = heading.name.split_whitespace().collect::<Vec<_>>().join(" ");
                    found.headings.push(heading);
                }
            }
            Event::Start(Tag::Paragraph) if depth == 0 => paragraph = Some(Paragraph::default()),
            Event::End(TagEnd::Paragraph) if depth == 0 => {
                if let Some(prose) = paragraph.take().and_then(Paragraph::prose) {
                    found.add_prose(prose);
                }
            }
            Event::Start(Tag::HtmlBlock) if depth == 0 => html = Some(String::new()),
            Event::End(TagEnd::HtmlBlock) if depth == 0 => {
                if let Some(html) = html.take() {
                    found.add_html(&html);
                }
            }
            Event::Html(part) => html.iter_mut().for_each(|html| html.push_str(&part)),
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images = images.saturating_sub(1),
            Event::Start(Tag::Link { .. }) => {
                paragraph.iter_mut().for_each(|paragraph| paragraph.links += 1);
            }
            Event::End(TagEnd::Link) => {
                paragraph.iter_mut().for_each(|paragraph| paragraph.links -= 1);
            }
            Event::Start(
                Tag::Paragraph
                | Tag::Emphasis
                | Tag::Strong
                | Tag::Strikethrough
                | Tag::HtmlBlock
                | Tag::Heading { .. },
            )
            | Event::End(
                TagEnd::Paragraph
                | TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::HtmlBlock
                | TagEnd::Heading(_),
            ) => {}
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(part) | Event::Code(part) if images == 0 => {
                if let Some(heading) = &mut heading {
                    heading.push(&part, &range);
                } else if let Some(paragraph) = &mut paragraph {
                    paragraph.push(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                paragraph.iter_mut().for_each(|paragraph| paragraph.push(" "));
            }
            _ => {}
        }
    }
    found
}
