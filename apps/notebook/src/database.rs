//! The SQLite file of a store: queries and transactions, which explain why they fail.
//!
//! | module | purpose |
//! |---|---|
//! | `recovery` | keeps the file usable when it is written, damaged, replaced or deleted by others |
//!
//! **Invariant: nothing is written to a file that has lost its name**, and nothing at all while the
//! file can't be used: all that is asked then gets the reason.

mod recovery;

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};

use crate::schema::{self, FileId, Highest, StoreError};

/// The open SQLite file of a store.
pub struct Database {
    connection: Connection,
    path: PathBuf,
    file: Option<FileId>,
    /// The same file, which is still there when it has lost its name. It is closed after the
    /// connection: closing it before would release the connection's locks.
    handle: Option<File>,
    /// A notice for readers that the file was deleted and written again.
    put_back: Option<String>,
    /// The id of the file of SQLite's write-ahead log, which belongs to `file`.
    log: Option<FileId>,
    data_version: i64,
    id: String,
    /// The highest numbers that this process has seen in the store.
    highest: Highest,
    /// The reason why the store is unusable. Each refresh tries to open it again.
    unusable: RefCell<Option<Fault>>,
    /// The address of the session, for hints.
    address: String,
}

impl Database {
    /// Opens the store at a path.
    ///
    /// # Errors
    /// As [`schema::open`].
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let connection = schema::open(path)?;
        // From here on the real path is used: symbolic links may change.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file = FileId::of(&path);
        let handle = open_handle(&path, file);
        let (unusable, address) = (RefCell::default(), "notebook/main".to_owned());
        let (id, highest) = (String::new(), Highest::default());
        let mut store = Self {
            connection,
            path,
            file,
            handle,
            put_back: None,
            log: None,
            data_version: 0,
            id,
            highest,
            unusable,
            address,
        };
        store.id = store.query_one("SELECT value FROM meta WHERE name = 'id'", [])?;
        store.refresh();
        Ok(store)
    }

    /// Sets the session's address, for hints: `notebook/main`.
    #[must_use]
    pub fn of_session(mut self, address: &str) -> Self {
        self.address = address.to_owned();
        self
    }

    /// Returns the real path of the store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the store's own id, a random one that it was created with.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Runs a query on the connection as it is.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        self.check_usable()?;
        query(&self.connection).map_err(|error| self.fault(&error))
    }

    pub(crate) fn query_one<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<T, Fault> {
        self.read(|connection| connection.prepare_cached(sql)?.query_row(params, |row| row.get(0)))
    }

    pub(crate) fn query_optional<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<Option<T>, Fault> {
        self.read(|connection| {
            connection.prepare_cached(sql)?.query_row(params, |row| row.get(0)).optional()
        })
    }

    pub(crate) fn query_all<T>(
        &self,
        sql: &str,
        params: Vec<Value>,
        take: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_map(rusqlite::params_from_iter(params), take)?.collect()
        })
    }

    /// Runs `work` in a transaction, which is rolled back if it fails.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Fault> {
        self.check_usable()?;
        if FileId::of(&self.path) != self.file {
            // SQLite would go on writing to the file that has lost its name, and all would be lost.
            // One that was deleted has been written again, unless its directory can't be written.
            let message = format!(
                "{} was moved, deleted or replaced since it was opened; nothing was written",
                self.path.display(),
            );
            return Err(Fault::refused(message).hint("put it back, or open the session again"));
        }
        let run = || {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        let written = run().map_err(|error: StoreError| match error {
            StoreError::Sqlite(error) => self.fault(&error),
            StoreError::Refused(fault) => fault,
        })?;
        self.raise_highest();
        Ok(written)
    }
}

/// Converts a count or revision, which SQLite stores as a signed number.
pub(crate) fn unsigned(number: i64) -> u64 {
    number.try_into().unwrap_or(0)
}

/// Opens the file of a store, to know later whether it was deleted.
fn open_handle(path: &Path, file: Option<FileId>) -> Option<File> {
    let (handle, metadata) = regular_file::open(path).ok()?;
    (file == Some(FileId::from(&metadata))).then_some(handle)
}
