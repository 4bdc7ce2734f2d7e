//! Whether a change can be undone now, and which later ones must be undone before it.
//!
//! Undoing a change gives an entry the content that it had before the change, so it must have the content
//! that the change left. Contents are compared, not revs: a change that was undone has left no trace in the
//! content, although it has raised the rev twice.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Transaction};

use crate::change::rows::{content, current};
use crate::change::{ChangeId, EntryRef};
use crate::entry::Content;

/// A recorded change, with what is needed to undo it.
#[derive(Debug)]
pub(crate) struct RecordedChange {
    /// The entry as it is now.
    pub entry: EntryRef,
    /// The entry's content now.
    pub current: Content,
    /// The content before the change; `None` if the change had created the entry.
    pub earlier: Option<Content>,
    /// The recorded changes of the entry after this one, the oldest first, each with the content before it.
    later: Vec<(ChangeId, Content)>,
}

/// Reads a change and what happened to its entry since; `None` if the change isn't recorded.
pub(crate) fn load(
    transaction: &Transaction<'_>,
    change: ChangeId,
) -> rusqlite::Result<Option<RecordedChange>> {
    let entry = transaction
        .query_row("SELECT entry FROM changes WHERE id = ?1", [change.0], |row| row.get(0))
        .optional()?;
    let Some(id) = entry else { return Ok(None) };
    // The records of an entry are deleted with it.
    let Some((rev, now)) = current(transaction, id)? else { return Ok(None) };
    let mut statement = transaction.prepare(
        "SELECT id, entry, title, text, summary, gist, tags, origin, outdated FROM changes
         WHERE entry = ?1 AND id >= ?2 ORDER BY id",
    )?;
    let before = |row: &rusqlite::Row<'_>| {
        let title: Option<String> = row.get(2)?;
        let content = title.map(|title| content(row, title)).transpose()?;
        Ok((ChangeId(row.get(0)?), content))
    };
    let mut changes = statement.query_map([id, change.0], before)?;
    let earlier = changes.next().transpose()?.and_then(|(_, content)| content);
    let later = changes
        .map(|change| change.map(|(id, content)| (id, content.unwrap_or_default())))
        .collect::<rusqlite::Result<_>>()?;
    let entry = EntryRef { id, rev };
    Ok(Some(RecordedChange { entry, current: now, earlier, later }))
}

impl RecordedChange {
    /// Returns the changes that must be undone before this one, in this order: the fewest that lead from
    /// the present content back to what this change left. Empty when the entry is as this change left it.
    pub(crate) fn changes_to_undo_first(&self) -> Vec<ChangeId> {
        let left_by = |index: usize| self.later.get(index).map_or(&self.current, |(_, left)| left);
        let goal = left_by(0);
        // A breadth-first search over contents: undoing a change leads from what it left to what was before it.
        let mut reached: HashMap<&Content, Vec<ChangeId>> = HashMap::new();
        reached.insert(&self.current, Vec::new());
        let mut frontier = vec![&self.current];
        while !reached.contains_key(goal) && !frontier.is_empty() {
            let mut next = Vec::new();
            for at in frontier {
                for (index, (change, before)) in self.later.iter().enumerate().rev() {
                    if left_by(index + 1) == at && !reached.contains_key(before) {
                        let path = [&reached[at][..], &[*change]].concat();
                        reached.insert(before, path);
                        next.push(before);
                    }
                }
            }
            frontier = next;
        }
        // The chain of all later changes always leads back.
        reached.remove(goal).unwrap_or_default()
    }
}
