//! The statements that make and change the tables of a store.

/// The statements that make each schema version from the one before. Never change a released one:
/// add another.
///
/// Large columns come last, so that reading the others doesn't walk through them. `words` holds
/// only tokens (see `pipemux_notes::tokenizer`); its tokenizer splits them at the spaces again.
pub(super) const MIGRATIONS: &[&str] = &["
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    INSERT INTO meta VALUES ('id', lower(hex(randomblob(16))));
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        rev INTEGER NOT NULL,
        lines INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        outdated INTEGER NOT NULL,
        title TEXT NOT NULL,
        gist TEXT NOT NULL,
        summary TEXT NOT NULL,
        origin TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE TABLE tags (
        entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (entry, tag)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tags_by_name ON tags (tag, entry);
    CREATE TABLE changes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
        what TEXT NOT NULL,
        rev_after INTEGER NOT NULL,
        size INTEGER NOT NULL,
        tags TEXT NOT NULL,
        outdated INTEGER NOT NULL,
        title TEXT,
        gist TEXT NOT NULL,
        summary TEXT NOT NULL,
        origin TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX changes_by_entry ON changes (entry);
    CREATE VIRTUAL TABLE words USING fts5(
        title, text, summary, tags,
        content='', contentless_delete=1, tokenize=\"ascii tokenchars '+#'\"
    );
", "
    -- Changes are kept after the entry is gone, so that a removal can be undone. `batch` is the first change of
    -- the same action, `undoes` the batch that this one took back. `title` is NULL if there was no entry.
    CREATE TABLE recorded (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        batch INTEGER NOT NULL,
        undoes INTEGER,
        entry INTEGER NOT NULL,
        what TEXT NOT NULL,
        rev_after INTEGER NOT NULL,
        size INTEGER NOT NULL,
        tags TEXT NOT NULL,
        outdated INTEGER NOT NULL,
        title TEXT,
        gist TEXT NOT NULL,
        summary TEXT NOT NULL,
        origin TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    INSERT INTO recorded
        SELECT id, id, NULL, entry, what, rev_after, size, tags, outdated * 3, title, gist, summary, origin, text
        FROM changes;
    -- The ids of changes go on from the highest one, also if its record is dropped.
    DELETE FROM sqlite_sequence WHERE name = 'recorded';
    INSERT INTO sqlite_sequence (name, seq)
        SELECT 'recorded', seq FROM sqlite_sequence WHERE name = 'changes';
    DROP TABLE changes;
    ALTER TABLE recorded RENAME TO changes;
    CREATE INDEX changes_by_entry ON changes (entry);
    CREATE INDEX changes_by_batch ON changes (batch);
    CREATE INDEX entries_by_title ON entries (title);
    -- Since then `outdated` is a set: 1 for the gist, 2 for the summary.
    UPDATE entries SET outdated = outdated * 3;
", "
    -- The bytes that an entry holds besides its text. They never change; they go when neither an entry nor a record of
    -- a change has them.
    CREATE TABLE blobs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        media TEXT NOT NULL,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE TABLE attachments (
        entry INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE,
        blob INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX attachments_by_blob ON attachments (blob);
    ALTER TABLE changes ADD COLUMN blob INTEGER;
    CREATE INDEX changes_by_blob ON changes (blob) WHERE blob IS NOT NULL;
"];
