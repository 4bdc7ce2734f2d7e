//! What one client has to find again.

use std::collections::BTreeMap;

/// What is known of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Writing it was answered as done: it must be there.
    There,
    /// Writing it was denied, or deleting it was done: it must not be there.
    Gone,
    /// Nobody knows: it may be there, once.
    Perhaps,
}

/// How an act ended, as far as its effect goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It took effect.
    Done,
    /// It took none.
    Not,
    /// Nobody knows.
    Unknown,
}

/// Marks that are kept, by session.
#[derive(Debug, Default)]
pub struct Model {
    marks: BTreeMap<String, BTreeMap<String, Known>>,
}

/// Marks that are gone and yet remembered, a session.
const GONE_KEPT: usize = 100;

impl Model {
    /// A mark was to be written.
    pub fn wrote(&mut self, session: &str, mark: &str, ended: Ended) {
        let known = match ended {
            Ended::Done => Known::There,
            Ended::Not => Known::Gone,
            Ended::Unknown => Known::Perhaps,
        };
        self.set(session, mark, known);
    }

    /// A mark was to be deleted.
    pub fn deleted(&mut self, session: &str, mark: &str, ended: Ended) {
        let marks = self.marks.entry(session.to_owned()).or_default();
        match ended {
            Ended::Done => self.set(session, mark, Known::Gone),
            // It may not have been there; one that stays uncertain for ever would only be in the way.
            Ended::Not if marks.get(mark) == Some(&Known::Perhaps) => drop(marks.remove(mark)),
            Ended::Not => {}
            Ended::Unknown => self.set(session, mark, Known::Perhaps),
        }
    }

    /// The marks of a session that are or may be there.
    pub fn held(&self, session: &str) -> Vec<String> {
        let marks = self.marks.get(session).into_iter().flatten();
        marks.filter(|(_, known)| **known != Known::Gone).map(|(mark, _)| mark.clone()).collect()
    }

    /// All that is known of a session's marks.
    pub fn known(&self, session: &str) -> impl Iterator<Item = (&str, Known)> {
        let marks = self.marks.get(session).into_iter().flatten();
        marks.map(|(mark, known)| (mark.as_str(), *known))
    }

    /// How many marks must be there.
    pub fn there(&self) -> usize {
        self.marks.values().flat_map(BTreeMap::values).filter(|k| **k == Known::There).count()
    }

    fn set(&mut self, session: &str, mark: &str, known: Known) {
        let marks = self.marks.entry(session.to_owned()).or_default();
        marks.insert(mark.to_owned(), known);
        let gone = marks.iter().filter(|(_, known)| **known == Known::Gone);
        if gone.clone().count() > GONE_KEPT
            // Marks rise, so the first is the oldest.
            && let Some(oldest) = gone.map(|(mark, _)| mark.clone()).next()
        {
            marks.remove(&oldest);
        }
    }
}
