//! The prose of a paragraph: without images, addresses and HTML, and the first sentences of it.

use crate::limits::SENTENCES_MIN;

/// A paragraph during parsing.
#[derive(Default)]
pub(super) struct Paragraph {
    text: String,
    /// The number of links that enclose the current position.
    pub(super) links: usize,
    /// True when a letter or a digit stands outside of links.
    outside_links: bool,
}

impl Paragraph {
    pub(super) fn push(&mut self, part: &str) {
        self.outside_links |= self.links == 0 && part.chars().any(char::is_alphanumeric);
        self.text += part;
    }

    /// Returns its text, unless it has only links: a list of places to go says nothing of what is
    /// here.
    pub(super) fn prose(self) -> Option<String> {
        if self.outside_links { without_addresses(&self.text) } else { None }
    }
}

/// Returns a text with single spaces and without addresses; `None` if no word is left.
fn without_addresses(text: &str) -> Option<String> {
    let is_address = |word: &&str| {
        let word = word.trim_start_matches(['(', '<', '[']);
        word.starts_with("http://") || word.starts_with("https://")
    };
    let words = text.split_whitespace().filter(|word| !is_address(word));
    let text = words.collect::<Vec<_>>().join(" ");
    text.chars().any(char::is_alphanumeric).then_some(text)
}

/// Returns the first sentence of a text, and those after it while that is very short; cut at a word
/// beyond `most` characters.
pub(super) fn first_sentences(text: &str, most: usize) -> Option<String> {
    let ends = text.char_indices().filter_map(|(at, c)| sentence_end(text, at, c));
    let mut end = None;
    for at in ends {
        let is_first = end.is_none();
        if !is_first && text[..at].chars().count() > most {
            break;
        }
        end = Some(at);
        if text[..at].chars().count() >= SENTENCES_MIN {
            break;
        }
    }
    let sentences = &text[..end.unwrap_or(text.len())];
    if sentences.is_empty() {
        return None;
    }
    let cut = sentences.char_indices().nth(most).map(|(at, _)| at);
    Some(match cut {
        None => sentences.to_owned(),
        Some(at) => {
            let word = sentences[..at].rfind(' ').filter(|word| *word > at / 2).unwrap_or(at);
            format!("{}…", &sentences[..word])
        }
    })
}

/// Returns where a sentence ends that has this character at this place.
fn sentence_end(text: &str, at: usize, c: char) -> Option<usize> {
    let after = &text[at + c.len_utf8()..];
    let new = after.strip_prefix(' ').and_then(|after| after.chars().next());
    let abbreviated = ["e.g", "i.e", "etc", "vs"].iter().any(|end| text[..at].ends_with(end));
    let ends = match c {
        '.' | '!' | '?' => {
            after.is_empty() || (!abbreviated && new.is_some_and(|new| !new.is_lowercase()))
        }
        '。' | '！' | '？' => true,
        _ => false,
    };
    ends.then_some(at + c.len_utf8())
}

/// Returns the text of the first heading in HTML.
pub(super) fn html_title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<h1").or_else(|| lower.find("<h2"))?;
    let end = lower[start..].find("</h").map_or(html.len(), |end| start + end);
    text_of_html(&html[start..end])
}

/// Returns what is left of HTML without tags and comments; `None` if no word is.
pub(super) fn text_of_html(html: &str) -> Option<String> {
    let (mut text, mut rest) = (String::new(), html);
    while let Some(start) = rest.find('<') {
        text += &rest[..start];
        text.push(' ');
        let (open, close) = if rest[start..].starts_with("<!--") { (4, "-->") } else { (1, ">") };
        let after = &rest[start + open..];
        rest = after.find(close).map_or("", |end| &after[end + close.len()..]);
    }
    text += rest;
    for (entity, character) in [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\"")] {
        text = text.replace(entity, character);
    }
    without_addresses(&text.replace("&amp;", "&"))
}
