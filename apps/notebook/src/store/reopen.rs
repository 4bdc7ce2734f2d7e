//! Keeps a store usable: notices what others wrote to its file, and opens the store again once the file was damaged,
//! replaced or mended.

use std::io::ErrorKind;
use std::path::PathBuf;

use docui::Fault;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::Store;
use crate::schema::{self, FileId, Highest};

impl Store {
    /// Returns true when another connection has written to the store since the last call, or the store was
    /// opened again, or can't be used for another reason than before.
    ///
    /// A store that was damaged or replaced is opened again: it works as soon as it is mended.
    pub fn refresh(&mut self) -> bool {
        let file = FileId::of(&self.path);
        // A store whose file is missing stays readable, and writing to it is refused.
        let replaced = file.is_some() && file != self.file;
        if replaced || self.unusable.get_mut().is_some() {
            return self.reopen();
        }
        match self.query_one("PRAGMA data_version", []) {
            Ok(version) => {
                let changed = std::mem::replace(&mut self.data_version, version) != version;
                if changed {
                    self.raise_highest();
                }
                changed
            }
            // If the store can't be read, the view or action that follows reports it.
            Err(_) => false,
        }
    }

    /// Opens the store again, and returns whether that changed what views show.
    fn reopen(&mut self) -> bool {
        let before = self.unusable.get_mut().take();
        if before.is_some() {
            // Closing the connection must not write to a file that is damaged or was mended meanwhile.
            let setting = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            // If this fails, the connection was never usable, and closing it writes nothing.
            let _ = self.connection.set_db_config(setting, true);
        }
        let reopened = Connection::open_in_memory()
            .map_err(|error| schema::fault(&error, &self.path))
            // The old connection is closed before the new one reads the file.
            .map(|placeholder| drop(std::mem::replace(&mut self.connection, placeholder)))
            .and_then(|()| self.set_stale_log_aside())
            .and_then(|()| schema::reopen(&self.path, &self.id, &self.highest))
            .and_then(|reopened| reopened.ok_or_else(|| self.other_store()));
        match reopened {
            Ok(connection) => {
                self.connection = connection;
                self.file = FileId::of(&self.path);
                self.raise_highest();
                if let Ok(version) = self.query_one("PRAGMA data_version", []) {
                    self.data_version = version;
                }
                true
            }
            Err(fault) => {
                let changed = before.as_ref() != Some(&fault);
                self.unusable = Some(fault).into();
                changed
            }
        }
    }

    /// Sets the log of a replaced file aside: SQLite would apply it to the file that is there now.
    ///
    /// # Errors
    /// The directory can't be written.
    fn set_stale_log_aside(&self) -> Result<(), Fault> {
        let (log, index) = (self.beside("-wal"), self.beside("-shm"));
        let is_stale = FileId::of(&self.path) != self.file && FileId::of(&log) == self.log;
        if self.log.is_none() || !is_stale {
            return Ok(());
        }
        // The index is rebuilt from the log.
        let moved = std::fs::rename(&log, self.beside("-wal.replaced"));
        let moved = moved.and_then(|()| std::fs::remove_file(index));
        moved.or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(Fault::failed(format!("{} can't be set aside: {error}", log.display()))
                .hint(format!("remove it: rm {}", log.display()))),
        })
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    fn other_store(&self) -> Fault {
        let message =
            format!("{} is a different store than the one that was open", self.path.display());
        Fault::refused(message).hint(format!("put the earlier one back, or: {}", self.restart))
    }

    /// Notes the highest numbers in the store, after it was opened or written.
    pub(crate) fn raise_highest(&mut self) {
        self.log = FileId::of(&self.beside("-wal"));
        // If they can't be read, the numbers that are known remain.
        if let Ok(highest) = Highest::read(&self.connection) {
            self.highest.raise(highest);
        }
    }

    /// Returns why the store can't be used.
    ///
    /// # Errors
    /// It can't.
    pub(crate) fn check_usable(&self) -> Result<(), Fault> {
        self.unusable.borrow().clone().map_or(Ok(()), Err)
    }

    /// Explains an error of SQLite. After one that means damage, the store is opened again before it is used.
    pub(crate) fn fault(&self, error: &rusqlite::Error) -> Fault {
        let fault = schema::fault(error, &self.path);
        if schema::means_damage(error) {
            *self.unusable.borrow_mut() = Some(fault.clone());
        }
        fault
    }
}
