//! Which edits of a client must be there.

use std::collections::BTreeMap;

/// Whether a marker must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Writing it was answered as done.
    Present,
    /// Writing it was refused, or deleting it was answered as done.
    Absent,
    /// An outcome was unknown: it may be there, but only once.
    Uncertain,
}

/// The effect of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The edit took effect.
    Applied,
    /// The edit had no effect.
    NotApplied,
    /// The outcome is unknown.
    Unknown,
}

/// The markers of one client, by session.
#[derive(Debug, Default)]
pub struct Model {
    markers: BTreeMap<String, BTreeMap<String, Expected>>,
}

/// How many absent markers are kept for each session.
const ABSENT_KEPT: usize = 100;

impl Model {
    /// Records an attempt to write a marker.
    pub fn wrote(&mut self, session: &str, marker: &str, ended: Effect) {
        let known = match ended {
            Effect::Applied => Expected::Present,
            Effect::NotApplied => Expected::Absent,
            Effect::Unknown => Expected::Uncertain,
        };
        self.set(session, marker, known);
    }

    /// Records an attempt to delete a marker.
    pub fn deleted(&mut self, session: &str, marker: &str, ended: Effect) {
        let markers = self.markers.entry(session.to_owned()).or_default();
        match ended {
            Effect::Applied => self.set(session, marker, Expected::Absent),
            // It may never have been there, and can't be decided any more.
            Effect::NotApplied if markers.get(marker) == Some(&Expected::Uncertain) => {
                markers.remove(marker);
            }
            Effect::NotApplied => {}
            Effect::Unknown => self.set(session, marker, Expected::Uncertain),
        }
    }

    /// Returns the markers of a session that are or may be there.
    pub fn held(&self, session: &str) -> Vec<String> {
        let markers = self.markers.get(session).into_iter().flatten();
        markers
            .filter(|(_, known)| **known != Expected::Absent)
            .map(|(marker, _)| marker.clone())
            .collect()
    }

    /// Returns all markers of a session, with what is expected.
    pub fn known(&self, session: &str) -> impl Iterator<Item = (&str, Expected)> {
        let markers = self.markers.get(session).into_iter().flatten();
        markers.map(|(marker, known)| (marker.as_str(), *known))
    }

    /// Returns how many markers must be there.
    pub fn present_count(&self) -> usize {
        self.markers
            .values()
            .flat_map(BTreeMap::values)
            .filter(|k| **k == Expected::Present)
            .count()
    }

    fn set(&mut self, session: &str, marker: &str, known: Expected) {
        let markers = self.markers.entry(session.to_owned()).or_default();
        markers.insert(marker.to_owned(), known);
        let gone = markers.iter().filter(|(_, known)| **known == Expected::Absent);
        if gone.clone().count() > ABSENT_KEPT
            // Markers are numbered in order, so the first is the oldest.
            && let Some(oldest) = gone.map(|(marker, _)| marker.clone()).next()
        {
            markers.remove(&oldest);
        }
    }
}
