//! Shows a long list in pages.
//!
//! ```
//! use docui::paging::Pages;
//!
//! let items: Vec<u32> = (1..=45).collect();
//! let mut pages = Pages::new(20);
//! assert_eq!(pages.page(&items).items, &items[..20]);
//! pages.next(items.len()).unwrap();
//! let page = pages.page(&items);
//! assert_eq!((page.position(), page.items[0]), ("21-40 of 45".to_owned(), 21));
//! assert!(pages.hides(3, items.len()));
//! ```
//!
//! In an app that is [`App::PER_READER`](crate::App::PER_READER), each reader turns pages for
//! itself:
//!
//! ```
//! use docui::paging::ReaderPages;
//!
//! let items: Vec<u32> = (1..=45).collect();
//! let mut pages = ReaderPages::new(20);
//! pages.of_mut("ann").next(items.len()).unwrap();
//! assert_eq!(pages.of("ann").page(&items).position(), "21-40 of 45");
//! assert_eq!(pages.of("bob").page(&items).position(), "1-20 of 45");
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use pipemux_proto::Fault;

use crate::limits::PAGED_READERS_MAX;

/// Which page of a list is shown. The list itself may grow and shrink: the page that is shown
/// always exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Pages {
    size: usize,
    /// The index of the first item that is shown.
    first: usize,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<'a, T> {
    /// The items of the page.
    pub items: &'a [T],
    /// The indexes that they have in the list.
    pub indexes: Range<usize>,
    /// How many items the list has.
    pub of: usize,
}

impl Pages {
    /// Pages of so many items; the first one is shown.
    pub fn new(size: usize) -> Self {
        Self { size: size.max(1), first: 0 }
    }

    /// Returns the page that is shown.
    pub fn page<'a, T>(&self, items: &'a [T]) -> Page<'a, T> {
        let indexes = self.indexes(items.len());
        Page { items: &items[indexes.clone()], indexes, of: items.len() }
    }

    /// Shows the next page.
    ///
    /// # Errors
    /// The last page is shown.
    pub fn next(&mut self, length: usize) -> Result<(), Fault> {
        let end = self.indexes(length).end;
        if end >= length {
            return Err(Fault::refused("this is the last page"));
        }
        self.first = end;
        Ok(())
    }

    /// Shows the previous page.
    ///
    /// # Errors
    /// The first page is shown.
    pub fn previous(&mut self, length: usize) -> Result<(), Fault> {
        let start = self.indexes(length).start;
        if start == 0 {
            return Err(Fault::refused("this is the first page"));
        }
        self.first = start.saturating_sub(self.size);
        Ok(())
    }

    /// Shows the page that has an item.
    pub fn show(&mut self, index: usize) {
        self.first = index / self.size * self.size;
    }

    /// Returns true for an item that exists and isn't on the page: [`crate::Found::Hidden`].
    pub fn hides(&self, index: usize, length: usize) -> bool {
        index < length && !self.indexes(length).contains(&index)
    }

    fn indexes(&self, length: usize) -> Range<usize> {
        // Of a list that became shorter, the last page is shown.
        let first = match self.first {
            first if first < length => first,
            _ => length.saturating_sub(1) / self.size * self.size,
        };
        first..first.saturating_add(self.size).min(length)
    }
}

impl<T> Page<'_, T> {
    /// Returns which part of the list it is, for [`crate::View::position`]: `21-40 of 45`.
    pub fn position(&self) -> String {
        match self.indexes.is_empty() {
            true => format!("0 of {}", self.of),
            false => format!("{}-{} of {}", self.indexes.start + 1, self.indexes.end, self.of),
        }
    }

    /// True when a page follows.
    pub fn has_next(&self) -> bool {
        self.indexes.end < self.of
    }

    /// True when a page comes before.
    pub fn has_previous(&self) -> bool {
        self.indexes.start > 0
    }
}

/// The page that each reader is shown.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReaderPages {
    size: usize,
    /// By reader, with the number of the turn that was last.
    turned: BTreeMap<String, (u64, Pages)>,
    turns: u64,
}

impl ReaderPages {
    /// Pages of so many items; each reader is shown the first one.
    pub fn new(size: usize) -> Self {
        Self { size, turned: BTreeMap::new(), turns: 0 }
    }

    /// Returns the page that a reader is shown.
    pub fn of(&self, reader: &str) -> Pages {
        self.turned.get(reader).map_or_else(|| Pages::new(self.size), |(_, pages)| *pages)
    }

    /// Returns the page that a reader is shown, to be turned. Of more than [`PAGED_READERS_MAX`]
    /// readers, the one who turned a page the longest time ago is shown the first page again.
    pub fn of_mut(&mut self, reader: &str) -> &mut Pages {
        if !self.turned.contains_key(reader) && self.turned.len() >= PAGED_READERS_MAX {
            let oldest = self.turned.iter().min_by_key(|(_, (turn, _))| *turn);
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.map(|name| self.turned.remove(&name));
        }
        self.turns += 1;
        let first = || (0, Pages::new(self.size));
        let (turn, pages) = self.turned.entry(reader.to_owned()).or_insert_with(first);
        *turn = self.turns;
        pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reader_turns_pages_for_itself_up_to_a_bound() {
        let mut pages = ReaderPages::new(10);
        pages.of_mut("a").next(100).unwrap();
        assert_eq!(pages.of("a").indexes(100), 10..20);
        assert_eq!(pages.of("b").indexes(100), 0..10);
        for reader in 1..PAGED_READERS_MAX {
            pages.of_mut(&format!("r{reader}")).next(100).unwrap();
        }
        pages.of_mut("a").next(100).unwrap();
        pages.of_mut("one more").next(100).unwrap();
        assert_eq!(pages.turned.len(), PAGED_READERS_MAX);
        assert_eq!(pages.of("a").indexes(100), 20..30, "it turned lately");
        assert_eq!(pages.of("r1").indexes(100), 0..10, "it made room");
    }

    #[test]
    fn page_exists_however_the_list_changes() {
        let mut pages = Pages::new(10);
        pages.next(25).unwrap();
        pages.next(25).unwrap();
        assert!(pages.next(25).is_err());
        let list: Vec<usize> = (0..25).collect();
        let page = pages.page(&list);
        assert_eq!((page.position().as_str(), page.has_next()), ("21-25 of 25", false));
        // The list became shorter, and empty.
        assert_eq!(pages.page(&list[..12]).position(), "11-12 of 12");
        assert_eq!(pages.page(&list[..10]).position(), "1-10 of 10");
        let none = pages.page(&list[..0]);
        assert_eq!((none.position().as_str(), none.has_previous()), ("0 of 0", false));
        assert!(pages.previous(0).is_err());
        pages.previous(12).unwrap();
        assert_eq!(pages.page(&list).indexes, 0..10);
        pages.show(24);
        assert_eq!(pages.page(&list).indexes, 20..25);
        assert!(pages.hides(3, 25) && !pages.hides(24, 25) && !pages.hides(25, 25));
    }
}
