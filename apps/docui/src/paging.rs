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

use std::ops::Range;

use pipemux_proto::Fault;

/// Which page of a list is shown. The list itself may grow and shrink: the page that is shown always exists.
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

#[cfg(test)]
mod tests {
    use super::*;

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
