//! Opening a store: what is refused and why, and bringing an older one up to date.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docui::Fault;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

/// Marks a SQLite file as a notebook: "PMnb".
const APPLICATION_ID: i64 = 0x504d_6e62;

/// How long to wait for another process's transaction; ours are short, so theirs should be.
const BUSY: Duration = Duration::from_millis(500);

/// What makes each schema version from the one before. Never change one that was released: add one.
///
/// Large columns come last, so that reading the others doesn't walk through them. `words` holds
/// tokens only (see [`crate::words`]); its tokenizer just splits them at the spaces again.
const MIGRATIONS: &[&str] = &["
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
"];

/// Opens the store at a path, making it when there is none.
///
/// # Errors
/// A path that can't hold a store, a file that is none, a newer one, a locked or read-only one. Each
/// says what to do.
pub fn open(path: &Path) -> Result<Connection, Fault> {
    check_path(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags);
    connection.and_then(|mut c| prepare(&mut c, path).map(|ready| ready.map(|()| c))).map_err(
        |error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => not_ours(path, "not a SQLite file"),
            _ => fault(&error, path),
        },
    )?
}

/// What a SQLite error means to the caller. Nothing was written when it is returned.
pub fn fault(error: &rusqlite::Error, path: &Path) -> Fault {
    let path = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Fault::refused(format!("{path} is locked by another program; nothing was written"))
                .hint("send it again when that program is done")
        }
        Some(ErrorCode::DiskFull) => {
            Fault::failed(format!("no space left for {path}; nothing was written"))
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            Fault::refused(format!("{path} can't be written: {error}"))
                .hint(format!("ls -l {path}* shows who may"))
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Fault::failed(format!("{path} is damaged: {error}"))
                .hint("put a copy of an earlier state in its place")
        }
        _ => Fault::failed(format!("{path}: {error}")),
    }
}

/// Whether two looks at a path saw the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file that a path leads to now; none when there is none.
    pub fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// Anything but a plain file, or a place for one, is refused before SQLite touches it: opening a
/// named pipe would wait for ever.
fn check_path(path: &Path) -> Result<(), Fault> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(Fault::refused(format!("{shown} is a directory"))
            .hint(format!("name a file in it: {}", path.join("notes.db").display()))),
        Ok(metadata) if !metadata.is_file() => {
            Err(Fault::refused(format!("{shown} is not a plain file")))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => check_parent(path),
        Err(error) => Err(Fault::refused(format!("{shown}: {error}"))),
    }
}

fn check_parent(path: &Path) -> Result<(), Fault> {
    let parent = path.parent().map(PathBuf::from).unwrap_or_default();
    match std::fs::metadata(&parent).as_ref().map(Metadata::is_dir) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Fault::not_found(format!("{} is not a directory", parent.display()))),
        Err(_) => Err(Fault::not_found(format!("there is no directory {}", parent.display()))
            .hint(format!("mkdir -p {}", parent.display()))),
    }
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<Result<(), Fault>, rusqlite::Error> {
    connection.busy_timeout(BUSY)?;
    let version = match state(connection)? {
        State::Empty => 0,
        State::Ours(version) => version,
        State::Foreign => {
            return Ok(Err(not_ours(path, "a SQLite file of another program")));
        }
    };
    let newest = MIGRATIONS.len();
    if version > newest {
        let message = format!(
            "{} was written by a newer notebook (schema {version}, this one knows {newest})",
            path.display(),
        );
        return Ok(Err(Fault::refused(message).hint("update pipemux, or name another file")));
    }
    if connection.is_readonly("main")? {
        let message = format!("{} is read-only", path.display());
        return Ok(Err(Fault::refused(message).hint(format!("chmod u+w {}", path.display()))));
    }
    // WAL: readers in other processes never wait for a writer. FULL: each commit is synced, so that
    // an answer given outlives not only a killed process (NORMAL would do for that) but a power cut;
    // it costs one fsync an action, and actions come at the pace of a model's turns.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")?;
    migrate(connection, version)?;
    Ok(Ok(()))
}

enum State {
    Empty,
    Ours(usize),
    Foreign,
}

fn state(connection: &Connection) -> Result<State, rusqlite::Error> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    if number("PRAGMA application_id")? == APPLICATION_ID {
        let version = number("PRAGMA user_version")?;
        return Ok(State::Ours(usize::try_from(version).unwrap_or(usize::MAX)));
    }
    Ok(match number("SELECT count(*) FROM sqlite_master")? {
        0 => State::Empty,
        _ => State::Foreign,
    })
}

fn migrate(connection: &mut Connection, version: usize) -> Result<(), rusqlite::Error> {
    if version == MIGRATIONS.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited for the lock.
    let version = match state(&transaction)? {
        State::Ours(version) => version,
        State::Empty | State::Foreign => 0,
    };
    for step in MIGRATIONS.iter().skip(version) {
        transaction.execute_batch(step)?;
    }
    transaction.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {}",
        version.max(MIGRATIONS.len()),
    ))?;
    transaction.commit()
}

fn not_ours(path: &Path, why: &str) -> Fault {
    Fault::refused(format!("{} is {why}; it was left as it is", path.display()))
        .hint("name another file, or none for the session's own store")
}
