//! The positions of nodes in the tree. A node whose parent is missing is placed at the root; of
//! each cycle of parents, the node with the smallest id is. So every node can be reached from the
//! root.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Transaction, params};

/// The code for a node whose parent is missing.
pub(super) const ORPHAN: i64 = 1;

/// The code for a node whose parent is below it.
pub(super) const CIRCLE: i64 = 2;

/// Places all nodes.
pub(super) fn settle_all(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(&format!(
        "UPDATE nodes SET up = parent, lost = 0;
         UPDATE nodes SET up = '', lost = {ORPHAN}
         WHERE parent <> '' AND NOT EXISTS (SELECT 1 FROM nodes p WHERE p.id = nodes.parent);"
    ))?;
    loop {
        // What can't be reached from the root is in a circle or below one.
        let unreached = "WITH RECURSIVE reached (id) AS (
                SELECT id FROM nodes WHERE up = ''
                UNION ALL SELECT n.id FROM nodes n JOIN reached r ON n.up = r.id
            )
            SELECT id FROM nodes WHERE id NOT IN (SELECT id FROM reached) LIMIT 1";
        let start: Option<String> =
            transaction.query_row(unreached, [], |row| row.get(0)).optional()?;
        let Some(start) = start else { return Ok(()) };
        // Upwards from there one gets into the circle, and then around it.
        let mut seen = BTreeSet::new();
        let mut at = start;
        while seen.insert(at.clone()) {
            at = up(transaction, &at)?;
        }
        let first = at.clone();
        let mut smallest = at.clone();
        loop {
            at = up(transaction, &at)?;
            if at == first {
                break;
            }
            smallest = smallest.min(at.clone());
        }
        attach(transaction, &smallest, "", CIRCLE)?;
    }
}

/// Places a node that was set or removed, and the nodes whose places depend on it.
pub(super) fn settle(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    let exists = parent(transaction, id)?.is_some();
    let mut affected: BTreeSet<String> = BTreeSet::new();
    if exists {
        affected.insert(id.to_owned());
    }
    let named = if exists {
        // Those that wait for it.
        format!("SELECT id FROM nodes WHERE parent = ?1 AND lost = {ORPHAN}")
    } else {
        "SELECT id FROM nodes WHERE parent = ?1".to_owned()
    };
    affected.extend(ids(transaction, &named, id)?);
    // A circle may be broken by what changed. Those in one are few, and found without looking at
    // all nodes: the index has to be named, since nothing else tells SQLite that it suffices.
    let circles = format!(
        "SELECT id FROM nodes INDEXED BY nodes_by_problem
         WHERE (problem IS NOT NULL OR lost <> 0) AND lost = {CIRCLE} AND ?1 = ?1"
    );
    affected.extend(ids(transaction, &circles, id)?);
    // Detached first, so that the order doesn't matter.
    for id in &affected {
        attach(transaction, id, "", 0)?;
    }
    for id in affected {
        place(transaction, &id)?;
    }
    Ok(())
}

/// Places one node that stands at the root.
fn place(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    let Some(parent_id) = parent(transaction, id)? else { return Ok(()) };
    if parent_id.is_empty() {
        return Ok(());
    }
    if parent(transaction, &parent_id)?.is_none() {
        return attach(transaction, id, "", ORPHAN);
    }
    let mut smallest = id.to_owned();
    let mut at = parent_id.clone();
    while !at.is_empty() {
        if at == id {
            // A circle: the smallest of its nodes stands at the root, all others below each other.
            attach(transaction, id, &parent_id, 0)?;
            return attach(transaction, &smallest, "", CIRCLE);
        }
        smallest = smallest.min(at.clone());
        at = up(transaction, &at)?;
    }
    attach(transaction, id, &parent_id, 0)
}

fn attach(transaction: &Transaction<'_>, id: &str, up: &str, lost: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE nodes SET up = ?2, lost = ?3 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute(params![id, up, lost]).map(drop)
}

fn parent(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<String>> {
    let mut statement = transaction.prepare_cached("SELECT parent FROM nodes WHERE id = ?1")?;
    statement.query_row([id], |row| row.get(0)).optional()
}

fn up(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<String> {
    let mut statement = transaction.prepare_cached("SELECT up FROM nodes WHERE id = ?1")?;
    statement.query_row([id], |row| row.get(0))
}

fn ids(transaction: &Transaction<'_>, sql: &str, id: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = transaction.prepare_cached(sql)?;
    let rows = statement.query_map([id], |row| row.get(0))?;
    rows.collect()
}
