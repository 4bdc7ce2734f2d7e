//! Opens the index. It holds nothing that the files don't, so one that isn't usable is removed.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Transaction};

/// The version of the tables. An index of another version is made again.
const VERSION: i64 = 1;

/// The longest wait for another session of the same tree.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Kibibytes of pages that are kept in memory.
const CACHE_KIB: i64 = 4_096;

const TABLES: &str = "
    CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
    CREATE TABLE nodes (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        file TEXT NOT NULL,
        parent TEXT NOT NULL,
        up TEXT NOT NULL,
        ord TEXT NOT NULL,
        title TEXT NOT NULL,
        gist TEXT NOT NULL,
        tags TEXT NOT NULL,
        lines INTEGER NOT NULL,
        has_summary INTEGER NOT NULL,
        modified TEXT NOT NULL,
        problem TEXT,
        lost INTEGER NOT NULL,
        hash INTEGER NOT NULL,
        stamp BLOB
    ) STRICT;
    CREATE INDEX nodes_by_lower_id ON nodes (lower(id));
    CREATE INDEX nodes_by_place ON nodes (up, ord, id);
    CREATE INDEX nodes_by_parent ON nodes (parent);
    CREATE INDEX nodes_by_problem ON nodes (id) WHERE problem IS NOT NULL OR lost <> 0;
    CREATE TABLE counts (up TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE relations (
        id TEXT PRIMARY KEY,
        source TEXT NOT NULL,
        kind TEXT NOT NULL,
        target TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX relations_by_source ON relations (source);
    CREATE INDEX relations_by_target ON relations (target);
    CREATE VIRTUAL TABLE words USING fts5(
        title, text, short, tags,
        content='', contentless_delete=1, tokenize=\"ascii tokenchars '+#'\"
    );
";

/// Keep the number of children of each node.
const TRIGGERS: &str = "
    CREATE TRIGGER count_inserted AFTER INSERT ON nodes BEGIN
        INSERT INTO counts VALUES (new.up, 1) ON CONFLICT (up) DO UPDATE SET n = n + 1;
    END;
    CREATE TRIGGER count_deleted AFTER DELETE ON nodes BEGIN
        UPDATE counts SET n = n - 1 WHERE up = old.up;
    END;
    CREATE TRIGGER count_moved AFTER UPDATE OF up ON nodes WHEN old.up <> new.up BEGIN
        UPDATE counts SET n = n - 1 WHERE up = old.up;
        INSERT INTO counts VALUES (new.up, 1) ON CONFLICT (up) DO UPDATE SET n = n + 1;
    END;
";

/// Opens the index at a path.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    match try_open(path) {
        Ok(connection) => Ok(connection),
        Err(_) => {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let mut file = path.as_os_str().to_owned();
                file.push(suffix);
                let _ = std::fs::remove_file(&file);
            }
            try_open(path)
        }
    }
}

fn try_open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // After a power cut the index may be gone: it is made again.
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -{CACHE_KIB};"
    ))?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    match version {
        VERSION => {
            // A damaged file shows here, or later as an error that has the index made again.
            connection.query_row("SELECT count(*) FROM meta", [], |row| row.get::<_, i64>(0))?;
        }
        0 => connection.execute_batch(&format!(
            "BEGIN; {TABLES} {TRIGGERS} PRAGMA user_version = {VERSION}; COMMIT;"
        ))?,
        // Any error has the file removed.
        _ => return Err(rusqlite::Error::InvalidQuery),
    }
    Ok(connection)
}

/// Empties the index, and stops keeping counts until [`keep_counts`].
pub(super) fn clear(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DROP TRIGGER IF EXISTS count_inserted;
         DROP TRIGGER IF EXISTS count_deleted;
         DROP TRIGGER IF EXISTS count_moved;
         DELETE FROM meta; DELETE FROM nodes; DELETE FROM counts; DELETE FROM relations;
         DELETE FROM words;",
    )
}

/// Counts all children, and keeps the counts from here on.
pub(super) fn keep_counts(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(&format!(
        "INSERT INTO counts SELECT up, count(*) FROM nodes GROUP BY up; {TRIGGERS}"
    ))
}
