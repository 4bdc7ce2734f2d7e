//! The sections of a patch, as far as its bounds go.

use crate::limits::{HUNKS_MAX, SECTIONS_MAX};
use crate::model::{Attributes, Section, SectionChange};

use super::error::{ParseError, ParseErrorKind, fail};

/// The sections that were read so far.
pub(super) struct Sections<'p> {
    pub(super) list: Vec<Section<'p>>,
    pub(super) hunks: usize,
}

impl<'p> Sections<'p> {
    pub(super) fn new() -> Self {
        Self { list: Vec::new(), hunks: 0 }
    }

    pub(super) fn push(&mut self, at: usize, change: SectionChange<'p>) -> Result<(), ParseError> {
        self.push_with(at, Attributes::default(), change)
    }

    pub(super) fn push_with(
        &mut self,
        at: usize,
        attributes: Attributes,
        change: SectionChange<'p>,
    ) -> Result<(), ParseError> {
        if self.list.len() == SECTIONS_MAX {
            return fail(at, ParseErrorKind::TooLarge("more than 10,000 sections"));
        }
        self.list.push(Section { at, crlf: false, attributes, change });
        Ok(())
    }

    pub(super) fn count_hunk(&mut self, at: usize) -> Result<(), ParseError> {
        self.hunks += 1;
        if self.hunks > HUNKS_MAX {
            return fail(at, ParseErrorKind::TooLarge("more than 20,000 hunks"));
        }
        Ok(())
    }
}
