//! The options of a window that a reader sets, and their saved form.

use pipemux_proto::projection::Lod;

use crate::persist::records::SavedPlacement;

/// A window's position in the workspace document, and its share of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The priority; windows with a higher one come earlier.
    pub priority: i32,
    /// The share of the budget relative to the other windows', at least 1.
    pub weight: u32,
}

impl Placement {
    /// Returns the placement that a record holds.
    pub fn from_saved(saved: Option<SavedPlacement>) -> Self {
        saved.map_or_else(Self::default, |SavedPlacement { priority, weight }| Self {
            priority,
            weight: weight.max(1),
        })
    }

    /// Returns what is saved of it; none for the usual placement.
    pub fn to_saved(self) -> Option<SavedPlacement> {
        let Self { priority, weight } = self;
        (self != Self::default()).then_some(SavedPlacement { priority, weight })
    }
}

impl Default for Placement {
    fn default() -> Self {
        Self { priority: 0, weight: 1 }
    }
}

/// The options of a window in its record.
#[derive(Debug)]
pub struct SavedDetail<'a> {
    /// The level of detail, by [`lod_name`]; any other word means the default.
    pub lod: &'a str,
    pub budget: Option<u32>,
    pub pinned: bool,
    pub placement: Option<SavedPlacement>,
}

/// Returns a level of detail as it is typed and saved.
pub fn lod_name(lod: Lod) -> &'static str {
    match lod {
        Lod::Gist => "gist",
        Lod::Summary => "summary",
        Lod::Full => "full",
    }
}
