//! The things that windows showed. One law covers keys and revisions: **a key at one revision names
//! one thing**. If it shows another label, either the thing's meaning changed without its revision,
//! or the key was given to another thing.

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::projection::{ObjectSlot, Piece, Projection};

use crate::limits::QUOTE;

/// All objects that were shown so far.
#[derive(Debug, Default)]
pub struct ShownObjects {
    /// The label of each object, by key and revision.
    labels: BTreeMap<(String, u64), String>,
    /// Keys that were gone once.
    gone: BTreeSet<String>,
    /// The objects of the newest window, in its order.
    pub shown: Vec<ObjectSlot>,
    /// The keys of the very first window, whose objects the run didn't create.
    pub first: BTreeSet<String>,
    /// The number of texts that were generated for arguments.
    texts: u64,
}

/// A key that violates a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct BrokenKey {
    pub rule: &'static str,
    pub key: String,
    pub text: String,
    /// True for a key whose thing was gone.
    pub was_gone: bool,
}

impl ShownObjects {
    /// Returns the things of a window.
    pub fn of(shown: &Projection) -> Vec<ObjectSlot> {
        let pieces = shown.content.iter().filter_map(|piece| match piece {
            Piece::Object(object) => Some(object.clone()),
            _ => None,
        });
        let mut all: Vec<ObjectSlot> = Vec::new();
        for object in pieces.chain(shown.names.values().cloned()) {
            if !all.iter().any(|known| known.key == object.key) {
                all.push(object);
            }
        }
        all
    }

    /// Takes in what a window shows. Returns the keys that break the law; none of a window that
    /// changes by itself.
    pub fn show(&mut self, shown: &Projection, restless: bool) -> Vec<BrokenKey> {
        let now = Self::of(shown);
        let mut broken = Vec::new();
        for object in &now {
            let id = (object.key.clone(), object.rev);
            let Some(before) = self.labels.insert(id, object.label.clone()) else { continue };
            // A name's label is the thing's at that moment, not the window's.
            if before == object.label || restless {
                continue;
            }
            let was_others = self
                .shown
                .iter()
                .any(|other| other.key != object.key && other.label == object.label);
            let (before, label) = (quoted(&before), quoted(&object.label));
            let (rev, was_gone) = (object.rev, self.gone.contains(&object.key));
            broken.push(match was_others || was_gone {
                true => BrokenKey {
                    rule: "key-reused",
                    was_gone,
                    key: object.key.clone(),
                    text: format!(
                        "named {before} before and names {label} now, at revision {rev}: a key is never used again for another thing"
                    ),
                },
                false => BrokenKey {
                    rule: "rev-unchanged",
                    was_gone,
                    key: object.key.clone(),
                    text: format!(
                        "changed from {before} to {label} and kept revision {rev}: change `rev` when the meaning changes"
                    ),
                },
            });
        }
        self.shown = now;
        broken
    }

    /// Returns the keys that were shown, aren't any more, and aren't known to be gone.
    pub fn missing(&self) -> Vec<String> {
        let shown = |key: &str| self.shown.iter().any(|object| object.key == key);
        let known: BTreeSet<&String> = self.labels.keys().map(|(key, _)| key).collect();
        let missing = known.into_iter().filter(|key| !shown(key) && !self.gone.contains(*key));
        missing.take(500).cloned().collect()
    }

    /// Records that the object of a key is gone.
    pub fn set_gone(&mut self, key: &str) {
        self.gone.insert(key.to_owned());
    }

    /// Returns true for a key whose thing is gone.
    pub fn is_gone(&self, key: &str) -> bool {
        self.gone.contains(key)
    }

    /// Makes a text for an argument, which no other has.
    pub fn next_text(&mut self) -> String {
        self.texts += 1;
        format!("check {}", self.texts)
    }

    /// Returns true for a thing that the run made: it wasn't there in the beginning, and its label
    /// has a text that was given as an argument.
    pub fn is_own(&self, key: &str) -> bool {
        let Some(object) = self.find(key) else { return false };
        !self.first.contains(key)
            && object.label.match_indices("check ").any(|(at, found)| {
                let number = &object.label[at + found.len()..];
                let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
                number[..end].parse().is_ok_and(|number| (1..=self.texts).contains(&number))
            })
    }

    /// Returns true when a thing is shown that the run made.
    pub fn has_own(&self) -> bool {
        self.shown.iter().any(|object| self.is_own(&object.key))
    }

    /// Returns a thing of a type: the first or the last one that the run made, else any.
    pub fn pick(&self, ty: Option<&str>, last: bool) -> Option<&ObjectSlot> {
        let fits = |object: &&ObjectSlot| ty.is_none() || object.ty.as_deref() == ty;
        let mut own: Vec<&ObjectSlot> = self.shown.iter().filter(fits).collect();
        if own.iter().any(|object| self.is_own(&object.key)) {
            own.retain(|object| self.is_own(&object.key));
        }
        if last { own.last().copied() } else { own.first().copied() }
    }

    /// Returns a thing that is shown.
    pub fn find(&self, key: &str) -> Option<&ObjectSlot> {
        self.shown.iter().find(|object| object.key == key)
    }

    /// Forgets what the newest window showed; not what keys named.
    pub fn forget_window(&mut self) {
        self.shown.clear();
    }
}

/// Quotes the beginning of a text.
pub fn quoted(text: &str) -> String {
    let short: String = text.chars().take(QUOTE).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(objects: &[(&str, u64, &str)]) -> Projection {
        let object = |(key, rev, label): &(&str, u64, &str)| {
            let (key, label) = ((*key).to_owned(), (*label).to_owned());
            Piece::Object(ObjectSlot { key, rev: *rev, label, ..ObjectSlot::default() })
        };
        Projection { content: objects.iter().map(object).collect(), ..Projection::default() }
    }

    fn rules(objects: &mut ShownObjects, shown: &[(&str, u64, &str)]) -> Vec<&'static str> {
        objects.show(&window(shown), false).iter().map(|broken| broken.rule).collect()
    }

    #[test]
    fn key_at_one_revision_names_one_thing() {
        let mut objects = ShownObjects::default();
        assert_eq!(rules(&mut objects, &[("a", 0, "one"), ("b", 0, "two")]), [""; 0]);
        // Another revision may have another label.
        assert_eq!(rules(&mut objects, &[("a", 1, "one!"), ("b", 0, "two")]), [""; 0]);
        assert_eq!(rules(&mut objects, &[("a", 1, "once"), ("b", 0, "two")]), ["rev-unchanged"]);
        // Keys that are positions: the label was another key's.
        assert_eq!(rules(&mut objects, &[("a", 1, "two")]), ["key-reused"]);
        assert_eq!(objects.missing(), ["b"]);
        objects.set_gone("b");
        assert_eq!(objects.missing(), [""; 0]);
        assert_eq!(rules(&mut objects, &[("b", 0, "two")]), [""; 0], "it came back");
        assert_eq!(rules(&mut objects, &[("b", 0, "three")]), ["key-reused"]);
        assert!(objects.show(&window(&[("b", 0, "four")]), true).is_empty(), "it is restless");
    }

    #[test]
    fn things_of_the_run_are_picked_before_others() {
        let mut objects = ShownObjects::default();
        objects.show(
            &window(&[("first", 0, "check 1"), ("real", 0, "r"), ("later", 0, "check 3")]),
            false,
        );
        objects.first.insert("first".into());
        assert_eq!(objects.pick(None, false).unwrap().key, "first");
        assert_eq!(["check 1", "check 2"], [objects.next_text(), objects.next_text()]);
        // Neither what was there, nor what came without a text of the run.
        assert!(["first", "real", "later", "gone"].iter().all(|key| !objects.is_own(key)));
        let own = [
            ("first", 0, "check 1"),
            ("real", 0, "r"),
            ("a", 0, "- check 2!"),
            ("b", 0, "check 1"),
        ];
        objects.show(&window(&own), false);
        assert_eq!(objects.pick(None, false).unwrap().key, "a");
        assert_eq!(objects.pick(None, true).unwrap().key, "b");
        assert_eq!(objects.pick(Some("item"), true), None);
    }
}
