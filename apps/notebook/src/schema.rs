//! Opens a store: refuses unsuitable files and migrates older ones.
//!
//! | module | purpose |
//! |---|---|
//! | `tables` | the statements that make each version of the tables |

mod tables;

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docui::{Fault, command, regular_file};
use pipemux_notes::migrations;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};

use tables::MIGRATIONS;

/// Marks a SQLite file as a notebook: `PMnb`.
const APPLICATION_ID: i64 = 0x504d_6e62;

/// The longest wait for another process's transaction. A notebook's own are short.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);

/// Statements that a connection keeps prepared: more than the store has.
const STATEMENTS_CACHED: usize = 64;

/// Opens the store at a path. Creates it if there is none.
///
/// # Errors
/// The path can't hold a store, or the file is not a store, was written by a newer notebook, is
/// locked or read-only. The fault says what to do.
pub fn open(path: &Path) -> Result<Connection, Fault> {
    check_path(path)?;
    open_with(path, OpenFlags::SQLITE_OPEN_CREATE)
}

/// Opens a store again whose file was damaged or replaced. Returns `None` if the path leads to
/// another store than the one with this id.
///
/// The file may be an older copy of the store, which gives out numbers again that readers know for
/// other things. So its counters continue above the highest ones that were seen, and all revs are
/// raised: what readers saw before is then stale.
///
/// # Errors
/// As [`open`]; also when there is no file.
pub fn reopen(path: &Path, id: &str, seen: &Highest) -> Result<Option<Connection>, Fault> {
    check_path(path)?;
    if let Err(error) = std::fs::metadata(path) {
        return Err(Fault::refused(format!("{}: {error}", path.display()))
            .hint("put the store back: the session then goes on"));
    }
    let mut connection = open_with(path, OpenFlags::empty())?;
    let mut raise = || -> rusqlite::Result<bool> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found: String =
            transaction
                .query_row("SELECT value FROM meta WHERE name = 'id'", [], |row| row.get(0))?;
        if found != id {
            return Ok(false);
        }
        for (table, number) in [("entries", seen.entry), ("changes", seen.change)] {
            // The row exists once the table had one.
            let raised = transaction.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
                params![table, number],
            )?;
            if raised == 0 {
                let insert = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
                transaction.execute(insert, params![table, number])?;
            }
        }
        transaction.execute("UPDATE entries SET rev = rev + ?1", [seen.rev])?;
        // An entry whose removal is undone has the rev that its record tells.
        transaction.execute("UPDATE changes SET rev_after = rev_after + ?1", [seen.rev])?;
        transaction.commit()?;
        Ok(true)
    };
    match raise() {
        Ok(true) => Ok(Some(connection)),
        Ok(false) => Ok(None),
        Err(error) => Err(fault(&error, path)),
    }
}

/// The highest numbers used in a store, which are never reused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Highest {
    entry: i64,
    change: i64,
    rev: i64,
}

impl Highest {
    /// Reads the highest numbers.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        connection.query_row(
            "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'entries'), 0),
                coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0),
                max(coalesce((SELECT max(rev) FROM entries), 0),
                    coalesce((SELECT max(rev_after) FROM changes), 0))",
            [],
            |row| Ok(Self { entry: row.get(0)?, change: row.get(1)?, rev: row.get(2)? }),
        )
    }

    /// Takes the higher number of each.
    pub(crate) fn raise(&mut self, other: Self) {
        self.entry = self.entry.max(other.entry);
        self.change = self.change.max(other.change);
        self.rev = self.rev.max(other.rev);
    }
}

fn open_with(path: &Path, more: OpenFlags) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let open = || {
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        // SQLite has opened the file, but not read it. If the path led to something else meanwhile,
        // it must not be read.
        check_path(path)?;
        prepare(&mut connection, path)?;
        Ok(connection)
    };
    open().map_err(|error: StoreError| match &error {
        StoreError::Sqlite(sqlite)
            if sqlite.sqlite_error_code() == Some(ErrorCode::NotADatabase) =>
        {
            foreign_file(path, "not a SQLite file")
        }
        _ => error.into_fault(path),
    })
}

/// Why an operation on a store failed: an error of SQLite, or a fault that the notebook found
/// itself.
#[derive(Debug)]
pub(crate) enum StoreError {
    Sqlite(rusqlite::Error),
    Refused(Fault),
}

impl StoreError {
    /// Converts the error for the caller. `path` is the store's.
    pub(crate) fn into_fault(self, path: &Path) -> Fault {
        match self {
            Self::Sqlite(error) => fault(&error, path),
            Self::Refused(fault) => fault,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault)
    }
}

/// Explains a SQLite error to the caller. When one occurs, nothing was written.
pub fn fault(error: &rusqlite::Error, file: &Path) -> Fault {
    let ls = command::join(&["ls", "-l", &file.to_string_lossy()]);
    let path = file.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Fault::refused(format!("{path} is locked by another program; nothing was written"))
                .hint("repeat the call when that program has finished")
        }
        Some(ErrorCode::DiskFull) => {
            Fault::failed(format!("no space left for {path}; nothing was written"))
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            Fault::refused(format!("{path} can't be written: {error}"))
                .hint(format!("check its permissions: {ls}"))
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Fault::invalid_source_data(format!("{} is damaged: {error}", name(file)))
                .hint(mend(file))
        }
        _ => Fault::failed(format!("{path}: {error}")),
    }
}

/// Returns whether an error says that the file is no sound store.
pub(crate) fn means_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure)
    )
}

/// Says how to mend a damaged store. Its log would be applied to the copy.
fn mend(path: &Path) -> String {
    let path = path.to_string_lossy();
    let remove = command::join(&["rm", "-f", &format!("{path}-wal"), &format!("{path}-shm")]);
    format!(
        "put a backup copy in its place, which the next call opens, and remove its log: {remove}"
    )
}

/// Adds to an error of a store that can't be read how to go on without it: in another session of
/// the provider, since this one stays with its store once it is open.
pub(crate) fn advise(fault: Fault, address: &str) -> Fault {
    if fault.code.context_error().is_none() {
        return fault;
    }
    let (provider, session) = address.split_once('/').unwrap_or((address, ""));
    let name = if session == "other" { "another" } else { "other" };
    let open = command::command(&["open", &format!("{provider}/{name}")]);
    fault.hint(format!("or go on in a new store, of another session: {open}"))
}

/// Identifies a file independently of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns the file that a path leads to now, or `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().as_ref().map(Self::from)
    }
}

impl From<&Metadata> for FileId {
    fn from(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// Refuses anything but a plain file, or a path where one can be created, for the store and for the
/// files that SQLite keeps beside it. SQLite must not see the others: reading from a named pipe
/// would block for ever.
fn check_path(path: &Path) -> Result<(), Fault> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(Fault::refused(format!("{shown} is a directory"))
            .hint(format!("name a file in it: {}", path.join("notes.db").display()))),
        Ok(metadata) => check_kind(path, &metadata),
        Err(error) if error.kind() == ErrorKind::NotFound => check_parent(path),
        Err(error) => Err(Fault::refused(format!("{shown}: {error}"))),
    }?;
    for suffix in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        if let Ok(metadata) = std::fs::metadata(&beside) {
            check_kind(Path::new(&beside), &metadata)?;
        }
    }
    Ok(())
}

fn check_kind(path: &Path, metadata: &Metadata) -> Result<(), Fault> {
    let Err(kind) = regular_file::check(metadata) else { return Ok(()) };
    Err(Fault::refused(format!("{} is {kind}, expected a file", path.display())))
}

fn check_parent(path: &Path) -> Result<(), Fault> {
    let parent = path.parent().map(PathBuf::from).unwrap_or_default();
    match std::fs::metadata(&parent).as_ref().map(Metadata::is_dir) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Fault::not_found(format!("{} is not a directory", parent.display()))),
        Err(_) => {
            Err(Fault::not_found(format!("there is no directory {}", parent.display())).hint(
                format!("make it: {}", command::join(&["mkdir", "-p", &parent.to_string_lossy()])),
            ))
        }
    }
}

/// Checks that the file is a store of a known version, sets the connection up and migrates the
/// store.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    if is_foreign(connection)? {
        return Err(foreign_file(path, "a SQLite file of another program").into());
    }
    let version = migrations::version(connection, APPLICATION_ID)?;
    let newest = MIGRATIONS.len();
    if version > newest {
        let message = format!(
            "{} was written by a newer notebook (schema {version}, this one supports {newest})",
            path.display(),
        );
        return Err(Fault::refused(message).hint("update pipemux, or name another file").into());
    }
    if connection.is_readonly("main")? {
        let fault = Fault::refused(format!("{} is read-only", path.display()));
        let chmod = command::join(&["chmod", "u+w", &path.to_string_lossy()]);
        return Err(fault.hint(format!("make it writable: {chmod}")).into());
    }
    // WAL: readers in other processes never wait for a writer. FULL: each commit is synced, so that
    // a change survives a power cut once it was answered. NORMAL would survive only a killed
    // process. The cost is one fsync per action, and actions come at the pace of a model's turns.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")?;
    Ok(migrations::migrate(connection, APPLICATION_ID, MIGRATIONS)?)
}

/// Returns true for a file that has tables of another program.
fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    Ok(number("PRAGMA application_id")? != APPLICATION_ID
        && number("SELECT count(*) FROM sqlite_master")? > 0)
}

fn foreign_file(path: &Path, kind: &str) -> Fault {
    Fault::invalid_source_data(format!("{} is {kind}; it was left as it is", name(path)))
        .hint(format!("if it was a notebook's store, {}", mend(path)))
}

/// Returns the name of a store's file, for a message whose hint has the whole path.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).display().to_string()
}
