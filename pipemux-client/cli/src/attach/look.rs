//! The appearance of text on a terminal (links, objects, code) and the terminal's capabilities.

use std::ops::BitOr;

use ratatui_core::style::{Color, Modifier, Style};

/// The style of a part of a text, as a set of flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look(u8);

impl Look {
    pub const PLAIN: Look = Look(0);
    pub const STRONG: Look = Look(1);
    pub const EMPHASIS: Look = Look(1 << 1);
    pub const CODE: Look = Look(1 << 2);
    pub const DIM: Look = Look(1 << 3);
    pub const LINK: Look = Look(1 << 4);
    pub const OBJECT: Look = Look(1 << 5);
    /// The number of a link, which stays behind the link's last word.
    pub const NUMBER: Look = Look(1 << 6);
    /// Markup: it isn't shown.
    pub const HIDDEN: Look = Look(1 << 7);

    pub fn has(self, other: Look) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Look {
    type Output = Look;

    fn bitor(self, other: Look) -> Look {
        Look(self.0 | other.0)
    }
}

/// A part of a line in a single style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub look: Look,
}

impl Span {
    pub fn new(text: impl Into<String>, look: Look) -> Span {
        Span { text: text.into(), look }
    }
}

/// A line before it is broken into rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// The prefix of the first row.
    pub first: Vec<Span>,
    /// The prefix of each further row, of the same width.
    pub rest: Vec<Span>,
    pub body: Vec<Span>,
    /// The refs of the line's objects.
    pub things: Vec<String>,
}

/// The terminal's display capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    pub colour: bool,
    /// True if its characters are those of Unicode: else the marks are of ASCII.
    pub unicode: bool,
}

impl Default for Theme {
    fn default() -> Theme {
        Theme { colour: true, unicode: true }
    }
}

impl Theme {
    /// Makes the theme for a terminal that shows colours or doesn't. `variable` reads the
    /// environment, whose locale tells the characters.
    pub fn new(colour: bool, variable: impl Fn(&str) -> Option<String>) -> Theme {
        let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        Theme { colour, unicode: locale.contains("utf-8") || locale.contains("utf8") }
    }

    /// Returns what is written behind the words of a link.
    pub fn number(self, number: usize) -> String {
        if self.unicode { format!(" ⟨{number}⟩") } else { format!(" <{number}>") }
    }

    /// Returns true for a character of a text that would look like the beginning of a link's
    /// number.
    pub fn begins_number(self, c: char, behind: &str) -> bool {
        match self.unicode {
            true => c == '⟨',
            false => {
                c == '<' && behind.starts_with(|c: char| c.is_ascii_digit() || "*_`".contains(c))
            }
        }
    }

    /// Returns what stands before each row of a block of code, and between the columns of a table.
    pub fn bar(self) -> &'static str {
        if self.unicode { "│ " } else { "| " }
    }

    /// Returns what a part of a text is drawn with.
    pub fn style(self, look: Look) -> Style {
        let mut style = Style::new();
        for (part, modifier, colour) in [
            (Look::STRONG, Modifier::BOLD, None),
            (Look::EMPHASIS, Modifier::ITALIC, None),
            (Look::CODE, Modifier::empty(), Some(Color::Magenta)),
            (Look::OBJECT, Modifier::empty(), Some(Color::Green)),
            (Look::LINK, Modifier::UNDERLINED, Some(Color::Cyan)),
            (Look::DIM, Modifier::DIM, None),
            (Look::NUMBER, Modifier::DIM, None),
        ] {
            if look.has(part) {
                style = style.add_modifier(modifier);
                style.fg = colour.filter(|_| self.colour).or(style.fg);
            }
        }
        // Without colours a thing would look like any word.
        match look.has(Look::OBJECT) && !self.colour {
            true => style.add_modifier(Modifier::ITALIC),
            false => style,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locale_tells_the_characters() {
        let unicode = |set: &[(&str, &str)]| {
            let find = |name: &str| set.iter().find(|(known, _)| *known == name);
            Theme::new(true, |name| find(name).map(|(_, value)| (*value).to_owned())).unicode
        };
        assert!(unicode(&[("LANG", "C.UTF-8")]));
        assert!(unicode(&[("LC_ALL", ""), ("LC_CTYPE", "de_DE.utf8"), ("LANG", "C")]));
        assert!(!unicode(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
        assert!(!unicode(&[]) && !unicode(&[("LANG", "de_DE.ISO-8859-1")]));
    }

    #[test]
    fn link_and_thing_differ_from_words_without_colours() {
        let theme = Theme { colour: false, unicode: false };
        let looks = [Look::PLAIN, Look::LINK, Look::OBJECT].map(|look| theme.style(look));
        assert!(looks.iter().all(|style| style.fg.is_none()));
        assert!(looks[0] != looks[1] && looks[1] != looks[2] && looks[0] != looks[2]);
        assert_eq!((theme.number(3), theme.bar()), (" <3>".to_owned(), "| "));
    }
}
