//! A text that is scrolled.

use std::collections::BTreeMap;

use super::look::Theme;
use super::page::{self, Page};
use super::rows::{Row, rows};

/// A text in rows of a given width, of which as many are shown as fit.
#[derive(Debug, Clone, Default)]
pub struct Pane {
    text: String,
    page: Page,
    /// The number of the text's first link.
    first: usize,
    theme: Theme,
    /// The sizes of objects' pictures in columns and rows, by ref.
    sizes: BTreeMap<String, (u16, u16)>,
    /// The refs of the pictures, each with the row at which it begins.
    pictures: Vec<(usize, String)>,
    width: u16,
    rows: Vec<Row>,
    /// The first row that is shown.
    top: usize,
    /// True once somebody scrolled to the end: it then stays at the end when the text grows.
    at_end: bool,
    /// The number of rows at the last drawing.
    height: u16,
}

impl Pane {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the links that the text has, in the order of their numbers.
    pub fn links(&self) -> &[u64] {
        &self.page.links
    }

    /// Numbers the links from another number on.
    pub fn number_from(&mut self, first: usize) {
        if first != self.first {
            self.first = first;
            self.read();
        }
    }

    /// Shows what the terminal can show.
    pub fn use_theme(&mut self, theme: Theme) {
        self.theme = theme;
        self.read();
    }

    /// Makes room for pictures of so many columns and rows below the lines with their things.
    pub fn show_pictures(&mut self, sizes: BTreeMap<String, (u16, u16)>) {
        if sizes != self.sizes {
            self.sizes = sizes;
            self.break_lines();
            self.settle();
        }
    }

    /// Returns the pictures that are shown whole: the row, counted from the first that is shown,
    /// the ref, columns and rows.
    pub fn pictures(&self) -> impl Iterator<Item = (u16, &str, (u16, u16))> {
        self.pictures.iter().filter_map(|(row, name)| {
            let size = *self.sizes.get(name)?;
            let row = u16::try_from(row.checked_sub(self.top)?).ok()?;
            (row.saturating_add(size.1) <= self.height).then_some((row, name.as_str(), size))
        })
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the rows that are shown.
    pub fn shown(&self) -> &[Row] {
        let end = (self.top + usize::from(self.height)).min(self.rows.len());
        &self.rows[self.top.min(end)..end]
    }

    /// Returns the numbers of the first and the last row that are shown, and of all: `1–20 of 34`.
    /// `None` if all are shown.
    pub fn position(&self) -> Option<String> {
        let shown = self.shown().len();
        (shown < self.rows.len()).then(|| {
            let (first, last, all) = (self.top + 1, self.top + shown, self.rows.len());
            format!("{first}–{last} of {all}")
        })
    }

    /// Shows another text at the same place.
    pub fn set_text(&mut self, text: String) {
        if text != self.text {
            self.text = text;
            self.read();
            self.settle();
        }
    }

    /// Shows another text from its beginning.
    pub fn begin(&mut self, text: String) {
        if text != self.text {
            self.go_to_start();
            self.set_text(text);
        }
    }

    /// Fits the text into another room. What stood at the top stays there, as far as its rows are
    /// the same.
    pub fn resize(&mut self, width: u16, height: u16) {
        if width != self.width {
            // The part of the text before the top stays before it.
            let part = (self.top as f64) / (self.rows.len().max(1) as f64);
            self.width = width;
            self.break_lines();
            self.top = (part * self.rows.len() as f64).round() as usize;
        }
        self.height = height;
        self.settle();
    }

    /// Scrolls by rows, down for positive numbers.
    pub fn scroll(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by);
        self.at_end = self.top >= self.last_top() && self.last_top() > 0 && by > 0;
        self.settle();
    }

    /// Scrolls by as many rows as are shown, but one.
    pub fn page(&mut self, down: bool) {
        let rows = isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1);
        self.scroll(if down { rows } else { -rows });
    }

    pub fn go_to_start(&mut self) {
        (self.top, self.at_end) = (0, false);
    }

    pub fn go_to_end(&mut self) {
        self.at_end = true;
        self.settle();
    }

    fn read(&mut self) {
        self.page = page::read(&self.text, self.first, self.theme);
        self.break_lines();
    }

    fn break_lines(&mut self) {
        self.rows.clear();
        self.pictures.clear();
        for line in &self.page.lines {
            self.rows.extend(rows(line, self.width));
            for (thing, size) in
                line.things.iter().filter_map(|thing| self.sizes.get_key_value(thing))
            {
                self.pictures.push((self.rows.len(), thing.clone()));
                self.rows.extend(std::iter::repeat_n(Row::new(), size.1.into()));
            }
        }
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(usize::from(self.height))
    }

    fn settle(&mut self) {
        self.top = if self.at_end { self.last_top() } else { self.top.min(self.last_top()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::rows::text_of;

    fn pane(lines: usize) -> Pane {
        let mut pane = Pane::default();
        pane.resize(20, 5);
        pane.set_text(numbered(lines));
        pane
    }

    fn numbered(lines: usize) -> String {
        (1..=lines).map(|n| format!("line {n}\n")).collect()
    }

    fn first(pane: &Pane) -> String {
        text_of(&pane.shown()[0])
    }

    #[test]
    fn place_is_kept_when_the_text_changes() {
        let mut pane = pane(20);
        pane.scroll(3);
        pane.set_text(numbered(30));
        assert_eq!(first(&pane), "line 4");
        assert_eq!(pane.position().as_deref(), Some("4–8 of 30"));
        pane.set_text(numbered(6));
        assert_eq!(first(&pane), "line 2");
        pane.set_text(String::new());
        assert!(pane.shown().is_empty() && pane.position().is_none());
    }

    #[test]
    fn end_is_followed_once_it_was_scrolled_to() {
        let mut pane = pane(20);
        pane.page(true);
        assert_eq!(first(&pane), "line 5");
        pane.go_to_end();
        pane.set_text(numbered(40));
        assert_eq!(first(&pane), "line 36");
        pane.scroll(-1);
        pane.set_text(numbered(50));
        assert_eq!(first(&pane), "line 35");
        pane.go_to_start();
        pane.page(false);
        assert_eq!(first(&pane), "line 1");
    }

    #[test]
    fn text_is_broken_again_for_another_width() {
        let mut pane = pane(3);
        pane.set_text("规划研讨会".into());
        for width in (0..12).chain((0..12).rev()) {
            pane.resize(width, width % 3);
            assert!(pane.shown().len() <= usize::from(width % 3));
        }
        pane.resize(4, 5);
        assert_eq!(pane.rows().len(), 3);
    }

    #[test]
    fn pictures_are_shown_where_all_of_their_rows_are() {
        let mut pane = pane(0);
        pane.set_text("one\n[a](obj:1) and [b](obj:2)\ntwo\nthree\n".into());
        pane.show_pictures([("obj:1".to_owned(), (4, 2)), ("obj:3".to_owned(), (1, 1))].into());
        let shown = |pane: &Pane| pane.pictures().map(|(row, ..)| row).collect::<Vec<_>>();
        assert_eq!((pane.rows().len(), shown(&pane)), (6, vec![2]));
        pane.resize(20, 3);
        assert_eq!(shown(&pane), [0; 0]);
        pane.scroll(2);
        assert_eq!(shown(&pane), [0]);
        pane.scroll(1);
        assert_eq!(shown(&pane), [0; 0]);
        pane.show_pictures(BTreeMap::new());
        assert_eq!(pane.rows().len(), 4);
    }
}
