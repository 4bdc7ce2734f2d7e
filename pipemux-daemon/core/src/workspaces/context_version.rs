//! The version of a window's Context.

use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;

use crate::event::Now;

/// Counts the versions of a window's Context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextVersionCounter {
    /// Data versions so far.
    pub major: u64,
    /// Changes of the level of detail since the last data version.
    pub minor: u64,
    /// Different texts of the same data at the same level since then.
    pub patch: u64,
    /// When one of them last rose.
    pub at: Now,
    /// The process, data version and level of detail that were counted last.
    pub counted: Option<(Incarnation, u64, Lod)>,
}

impl ContextVersionCounter {
    /// Counts what was written: `major` rises with the data, `minor` with the level of detail, `patch`
    /// when the text of the same data at the same level differs.
    pub fn count(&mut self, written: (Incarnation, u64, Lod), differs: bool, now: Now) {
        let before = (self.major, self.minor, self.patch);
        match self.counted {
            Some((app, data, _)) if (app, data) != (written.0, written.1) => {
                (self.major, self.minor, self.patch) = (self.major + 1, 0, 0);
            }
            Some((_, _, lod)) if lod != written.2 => {
                (self.minor, self.patch) = (self.minor + 1, 0);
            }
            Some(_) => self.patch += u64::from(differs),
            None => self.major += 1,
        }
        if before != (self.major, self.minor, self.patch) {
            self.at = now;
        }
        self.counted = Some(written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_lod_and_text_count_major_minor_and_patch() {
        let mut counter = ContextVersionCounter { major: 7, ..Default::default() };
        let mut count = |app, data, lod, differs, unix_ms| {
            let now = Now { mono_ms: 0, unix_ms };
            counter.count((Incarnation(app), data, lod), differs, now);
            (counter.major, counter.minor, counter.patch, counter.at.unix_ms)
        };
        assert_eq!(count(1, 1, Lod::Summary, true, 10), (8, 0, 0, 10));
        assert_eq!(count(1, 1, Lod::Summary, false, 20), (8, 0, 0, 10));
        assert_eq!(count(1, 1, Lod::Summary, true, 30), (8, 0, 1, 30));
        assert_eq!(count(1, 1, Lod::Full, true, 40), (8, 1, 0, 40));
        assert_eq!(count(1, 2, Lod::Full, true, 50), (9, 0, 0, 50));
        // Data of another process is new data, whatever its version is.
        assert_eq!(count(2, 2, Lod::Full, false, 60), (10, 0, 0, 60));
    }
}
