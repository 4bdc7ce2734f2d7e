//! Determines which actions can be undone now, and which later ones must be undone before a given
//! one.
//!
//! Undoing an action gives its entries the contents that they had before it, so they must have the
//! contents that it left. Contents are compared, not revs: a change that was undone has left no
//! trace in the content, although it has raised the rev twice. An entry that doesn't exist has no
//! content, which is a state like any other.

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::{Transaction, params};

use crate::change::ChangeId;
use crate::database::unsigned;
use crate::entry::Content;
use crate::entry_rows::{content, current};

/// A recorded change of an entry, with the data needed to undo it.
#[derive(Debug)]
pub(crate) struct RecordedChange {
    pub entry: i64,
    /// The present revision and content of the entry; `None` if it is removed.
    pub current: Option<(u64, Content)>,
    /// The content before the change; `None` if the entry didn't exist.
    pub earlier: Option<Content>,
    /// The rev that the entry gets if it is restored: the one that it had when it was removed. If
    /// the change isn't the last one of the entry, a rev that it never had.
    pub rev_to_restore: u64,
    /// The actions that changed the entry after this one, the oldest first, each with the content
    /// before it.
    later: Vec<(ChangeId, Option<Content>)>,
}

/// Reads the changes of an action and what happened to their entries since. Empty if it isn't
/// recorded.
pub(crate) fn load(
    transaction: &Transaction<'_>,
    action: ChangeId,
) -> rusqlite::Result<Vec<RecordedChange>> {
    let mut statement =
        transaction.prepare_cached("SELECT id, entry FROM changes WHERE batch = ?1 ORDER BY id")?;
    let rows = statement.query_map([action.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows = rows.collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
    rows.into_iter().map(|(change, entry)| load_one(transaction, change, entry)).collect()
}

fn load_one(
    transaction: &Transaction<'_>,
    change: i64,
    entry: i64,
) -> rusqlite::Result<RecordedChange> {
    let mut statement = transaction.prepare_cached(
        "SELECT batch, rev_after, title, text, summary, gist, tags, origin, outdated, blob FROM changes
         WHERE entry = ?1 AND id >= ?2 ORDER BY id",
    )?;
    let changes = statement.query_map(params![entry, change], |row| {
        let title: Option<String> = row.get(2)?;
        let before = title.map(|title| content(row, title)).transpose()?;
        Ok((ChangeId(row.get(0)?), unsigned(row.get(1)?), before))
    })?;
    let mut changes = changes.collect::<rusqlite::Result<Vec<_>>>()?.into_iter();
    let (_, rev, earlier) = changes.next().unwrap_or((ChangeId(0), 1, None));
    let (mut later, mut rev_max) = (Vec::new(), None);
    for (action, rev_after, before) in changes {
        rev_max = rev_max.max(Some(rev_after));
        later.push((action, before));
    }
    let rev_to_restore = rev_max.map_or(rev, |highest| highest.max(rev) + 1);
    let current = current(transaction, entry)?;
    Ok(RecordedChange { entry, current, earlier, rev_to_restore, later })
}

/// Returns the title of an entry that isn't as the action left it, and the actions that must be
/// undone before this one, in this order. `None` when all entries are as it left them.
pub(crate) fn changes_to_undo_first(
    transaction: &Transaction<'_>,
    recorded: &[RecordedChange],
) -> rusqlite::Result<Option<(String, Vec<ChangeId>)>> {
    let blocked = |change: &&RecordedChange| !change.path_back().is_empty();
    let Some(change) = recorded.iter().find(blocked) else { return Ok(None) };
    let contents = [change.current.as_ref().map(|(_, content)| content), change.earlier.as_ref()];
    let contents =
        contents.into_iter().chain(change.later.iter().map(|(_, before)| before.as_ref()));
    let title = contents.flatten().next().map(|content| content.title.clone()).unwrap_or_default();
    let path = change.path_back();
    let path = match recorded {
        [_] if all_change_one_entry(transaction, &path)? => path,
        // Undoing an action that changed several entries may itself need others undone before it.
        _ => all_later(transaction, recorded)?,
    };
    Ok(Some((title, path)))
}

impl RecordedChange {
    /// Returns true if the entry is as it was before the change.
    pub(crate) fn is_undone(&self) -> bool {
        self.earlier.as_ref() == self.current.as_ref().map(|(_, content)| content)
    }

    /// Returns the fewest actions that lead from the entry's present content back to what this
    /// change left.
    fn path_back(&self) -> Vec<ChangeId> {
        let now = self.current.as_ref().map(|(_, content)| content);
        let left_by = |index: usize| self.later.get(index).map_or(now, |(_, left)| left.as_ref());
        let goal = left_by(0);
        // A breadth-first search over contents: undoing a change leads from what it left to what
        // was before it.
        let mut reached: HashMap<Option<&Content>, Vec<ChangeId>> = HashMap::new();
        reached.insert(now, Vec::new());
        let mut frontier = vec![now];
        while !reached.contains_key(&goal) && !frontier.is_empty() {
            let mut next = Vec::new();
            for at in frontier {
                for (index, (change, before)) in self.later.iter().enumerate().rev() {
                    let before = before.as_ref();
                    if left_by(index + 1) == at && !reached.contains_key(&before) {
                        let path = [&reached[&at][..], &[*change]].concat();
                        reached.insert(before, path);
                        next.push(before);
                    }
                }
            }
            frontier = next;
        }
        // The chain of all later changes always leads back.
        reached.remove(&goal).unwrap_or_default()
    }
}

fn all_change_one_entry(
    transaction: &Transaction<'_>,
    actions: &[ChangeId],
) -> rusqlite::Result<bool> {
    for action in actions {
        let count = "SELECT count(*) FROM changes WHERE batch = ?1";
        if transaction.query_row(count, [action.0], |row| row.get::<_, i64>(0))? > 1 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns all later actions that changed these entries, or entries that those changed, the newest
/// first: undone in this order, each finds its entries as it left them.
fn all_later(
    transaction: &Transaction<'_>,
    recorded: &[RecordedChange],
) -> rusqlite::Result<Vec<ChangeId>> {
    let mut actions: BTreeSet<i64> = BTreeSet::new();
    let mut new: Vec<i64> =
        recorded.iter().flat_map(|change| &change.later).map(|(id, _)| id.0).collect();
    while let Some(action) = new.pop() {
        if !actions.insert(action) {
            continue;
        }
        let mut statement = transaction.prepare_cached(
            "SELECT DISTINCT batch FROM changes WHERE batch > ?1
             AND entry IN (SELECT entry FROM changes WHERE batch = ?1)",
        )?;
        let later = statement.query_map([action], |row| row.get(0))?;
        new.extend(later.collect::<rusqlite::Result<Vec<i64>>>()?);
    }
    Ok(actions.into_iter().rev().map(ChangeId).collect())
}

/// Returns the last actions, no more than `most`, that were not undone, the newest first.
pub(crate) fn not_undone(
    transaction: &Transaction<'_>,
    most: usize,
) -> rusqlite::Result<Vec<ChangeId>> {
    let mut statement = transaction
        .prepare_cached("SELECT DISTINCT batch, undoes FROM changes ORDER BY batch DESC")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut undone: HashSet<i64> = HashSet::new();
    let mut last = Vec::new();
    for row in rows {
        let (action, undoes): (i64, Option<i64>) = row?;
        // What takes an action back is newer than the action.
        match (undone.contains(&action), undoes) {
            (false, Some(earlier)) => drop(undone.insert(earlier)),
            (false, None) if last.len() < most => last.push(ChangeId(action)),
            _ => {}
        }
    }
    Ok(last)
}

/// Returns the action that removed an entry last, if it is recorded.
pub(crate) fn removal(
    connection: &rusqlite::Connection,
    entry: i64,
) -> rusqlite::Result<Option<ChangeId>> {
    use rusqlite::OptionalExtension;
    let last = "SELECT batch FROM changes WHERE entry = ?1 ORDER BY id DESC LIMIT 1";
    let mut statement = connection.prepare_cached(last)?;
    statement.query_row([entry], |row| row.get(0).map(ChangeId)).optional()
}
