//! Finds the prose lines of Markdown, so that the beginning of a README isn't mostly badges.

use std::iter::Peekable;

use crate::model::buffer::Buffer;

/// The number of leading columns of a line that decide whether it is prose.
const MARKUP_HEAD: usize = 120;

/// Keeps the lines of Markdown, in order, that have prose or code: no badges, images, addresses of
/// links, or HTML. An empty line that follows such a line goes with it.
pub(super) fn prose_lines(buffer: &Buffer, wanted: Vec<usize>) -> Vec<usize> {
    let Some(last) = wanted.last() else { return wanted };
    let mut lines = ProseLines::default();
    let is_prose: Vec<bool> =
        (0..=*last).map(|line| lines.is_prose(&buffer.line_head(line, MARKUP_HEAD).0)).collect();
    wanted.into_iter().filter(|line| is_prose[*line]).collect()
}

/// The state of a scan of Markdown lines from top to bottom.
#[derive(Default)]
struct ProseLines {
    /// The characters that close the code block around the current line.
    fence: Option<String>,
    /// True inside of an HTML comment.
    is_comment: bool,
    /// True if the line before was left out.
    after_markup: bool,
}

impl ProseLines {
    fn is_prose(&mut self, line: &str) -> bool {
        let text = line.trim();
        let run = fence_run(&mut text.chars().peekable());
        if let Some(open) = &self.fence {
            if run.len() >= open.len() && run.starts_with(open.as_str()) && text == run {
                self.fence = None;
            }
            return true;
        }
        if run.len() >= 3 {
            self.fence = Some(run);
            self.after_markup = false;
            return true;
        }
        let starts_comment = text.starts_with("<!--");
        let is_markup = self.is_comment
            || starts_comment
            || is_markup(text)
            || (text.is_empty() && self.after_markup);
        if starts_comment || self.is_comment {
            self.is_comment = !text.contains("-->");
        }
        self.after_markup = is_markup;
        !is_markup
    }
}

/// Returns the run of backticks or tildes with which a line begins.
fn fence_run(chars: &mut Peekable<std::str::Chars<'_>>) -> String {
    let Some(mark) = chars.peek().copied().filter(|c| matches!(c, '`' | '~')) else {
        return String::new();
    };
    std::iter::from_fn(|| chars.next_if_eq(&mark)).collect()
}

/// Returns true for a line that is only a badge, an image, a tag or the address of a link, or a
/// list of such.
fn is_markup(text: &str) -> bool {
    let is_address = text.starts_with('[')
        && text.split_once("]:").is_some_and(|(_, rest)| {
            let rest = rest.trim_start();
            rest.starts_with("http") || rest.starts_with(['#', '.', '/'])
        });
    // The address of a badge may stand in a line of its own.
    let is_tail = text.starts_with("http") && text.ends_with(')') && !text.contains(' ');
    let is_badge = ["[![", "![", "[<"].iter().any(|start| text.starts_with(start));
    is_address || is_tail || is_badge || is_tag(text)
}

/// Returns true for a line that begins with an HTML tag, and not with an address in angle brackets.
fn is_tag(text: &str) -> bool {
    let Some(name) = text.strip_prefix('<').map(|rest| rest.trim_start_matches('/')) else {
        return false;
    };
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && matches!(name.as_bytes().get(end), None | Some(b' ' | b'>' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> String {
        let mut lines = ProseLines::default();
        let kept: Vec<&str> = text.lines().filter(|line| lines.is_prose(line)).collect();
        kept.join("\n")
    }

    #[test]
    fn badges_images_tags_and_addresses_are_no_prose() {
        let text = "# A\n\n[![CI](https://x.svg)](https://ci)\n![logo](logo.png)\n[<img src=\"x\">](https://x)\n[![L](https://l)](\nhttps://x.y/z)\n\n<p align=\"center\">\n</p>\n\n\
            <!-- a\n comment -->\nA *fast* thing, see [docs](https://docs).\n[docs]: https://docs\n[1]: #usage\n\nDone.";
        let kept = "# A\n\nA *fast* thing, see [docs](https://docs).\nDone.";
        assert_eq!(prose(text), kept);
    }

    #[test]
    fn code_addresses_and_lists_are_kept() {
        let text = "```html\n<p>\n[![a](b)](c)\n```\n<https://a.b>\n- [x] done\n[link](https://a) begins this.\n~~~\n```\n<b>\n~~~\n<3 is no tag";
        assert_eq!(prose(text), text);
    }
}
