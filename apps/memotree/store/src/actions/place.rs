//! Moves nodes: sets their parents and order keys.

use super::NodePlace;
use super::draft::Draft;
use crate::error::StoreError;
use crate::name::NodeId;
use crate::order;
use crate::stamp::hash;

impl Draft<'_> {
    /// Moves a node.
    pub(super) fn move_node(&mut self, id: &str, place: &NodePlace) -> Result<(), StoreError> {
        let id = self.store.files.node(id)?.id;
        let parent = match &place.parent {
            Some(parent) => Some(self.store.files.node(parent)?.id),
            // Before a sibling, wherever that is.
            None => match &place.before {
                Some(before) => self.store.files.node(before)?.shown_under,
                None => None,
            },
        };
        if let Some(parent) =
            parent.as_ref().filter(|parent| self.is_below(parent.as_str(), id.as_str()))
        {
            return Err(StoreError::Circle { node: id, parent: parent.clone() });
        }
        if place.before.as_deref() == Some(id.as_str())
            && self.store.files.node(id.as_str())?.shown_under == parent
        {
            return Ok(());
        }
        if let Some(before) = &place.before {
            self.keep_at_root(before, id.as_str())?;
        }
        let place =
            NodePlace { parent: parent.map(|id| id.to_string()), before: place.before.clone() };
        let (parent, order) = self.place(&id, &place)?;
        let file = self.file(id.as_str())?;
        file.set("parent", &parent);
        file.set("order", &order);
        Ok(())
    }

    /// Returns the parent and the order key of a node at a place. Siblings without usable keys get
    /// some.
    pub(super) fn place(
        &mut self,
        id: &NodeId,
        place: &NodePlace,
    ) -> Result<(String, String), StoreError> {
        let parent = match &place.parent {
            None => match &place.before {
                Some(before) => self.store.files.node(before)?.shown_under.map(|id| id.to_string()),
                None => None,
            },
            Some(parent) if self.creates(parent) => Some(parent.clone()),
            Some(parent) => Some(self.store.files.node(parent)?.id.to_string()),
        };
        let parent = parent.unwrap_or_default();
        if let Some(before) = &place.before {
            let under = self.store.files.node(before)?.shown_under.map(|id| id.to_string());
            if under.unwrap_or_default() != parent {
                let parent =
                    if parent.is_empty() { "the root".to_owned() } else { format!("`{parent}`") };
                return Err(StoreError::NotAChild { before: before.clone(), parent });
            }
        }
        let salt = hash(id.as_str().as_bytes());
        let Some(before) = &place.before else {
            let last = match self.ends.get(&parent) {
                Some(last) => Some(last.clone()),
                None if self.creates(&parent) => None,
                None => self.store.files.index.gap(&parent, None, id.as_str())?.0,
            };
            let key = order::between(last.as_deref(), None, salt);
            // Keys that people wrote may be anything.
            let key = match last.filter(|last| *last >= key) {
                Some(_) => self.renumber(&parent, id, None)?,
                None => key,
            };
            self.ends.insert(parent.clone(), key.clone());
            return Ok((parent, key));
        };
        let (previous, next) = self.store.files.index.gap(&parent, Some(before), id.as_str())?;
        // Several nodes that go to one place come one after the other.
        let previous = self.ends.get(&format!("{parent}\n{before}")).cloned().or(previous);
        let key = order::between(previous.as_deref(), next.as_deref(), salt);
        let fits = previous.as_ref().is_none_or(|previous| *previous < key)
            && next.as_ref().is_none_or(|next| key < *next);
        let key = if fits { key } else { self.renumber(&parent, id, Some(before))? };
        self.ends.insert(format!("{parent}\n{before}"), key.clone());
        Ok((parent, key))
    }

    /// Gives new order keys to all children of a parent, with a gap for a node before one of them,
    /// whose key is returned.
    fn renumber(
        &mut self,
        parent: &str,
        id: &NodeId,
        before: Option<&str>,
    ) -> Result<String, StoreError> {
        let mut last: Option<String> = None;
        let mut own = None;
        for sibling in self.store.files.index.child_ids(parent)? {
            if before == Some(sibling.as_str()) {
                own = Some(order::between(last.as_deref(), None, hash(id.as_str().as_bytes())));
                last.clone_from(&own);
            }
            if sibling == id.as_str() {
                continue;
            }
            let key = order::between(last.as_deref(), None, hash(sibling.as_bytes()));
            self.file(&sibling)?.set("order", &key);
            last = Some(key);
        }
        Ok(own
            .unwrap_or_else(|| order::between(last.as_deref(), None, hash(id.as_str().as_bytes()))))
    }

    /// Has a node stay at the root that stands there only because its parents go in a circle, when
    /// a node of this circle is about to move before it. Without the circle it would go below its
    /// parent, and nothing would be where it was asked for.
    fn keep_at_root(&mut self, before: &str, moved: &str) -> Result<(), StoreError> {
        let row = self.store.files.node(before)?;
        let is_shown_elsewhere = row.shown_under.is_none() && !row.parent.is_empty();
        if is_shown_elsewhere && row.id.as_str() != moved && self.is_below(&row.parent, moved) {
            self.file(before)?.set("parent", "");
        }
        Ok(())
    }

    /// Returns true if a node stands below another one, or is the same, as this change has it.
    fn is_below(&mut self, id: &str, other: &str) -> bool {
        self.store.files.index.is_below(id, other).unwrap_or(true)
    }
}
