//! Keeps a store usable: notices what others wrote to its file, opens the store again once the file
//! was damaged, replaced or mended, and writes a file that was deleted again.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use docui::{Fault, command};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::{Database, open_handle};
use crate::schema::{self, FileId, Highest};

impl Database {
    /// Returns true when another connection has written to the store since the last call, or the
    /// store was opened again, or can't be used for another reason than before.
    ///
    /// A store that was damaged or replaced is opened again: it works as soon as it is mended.
    pub fn refresh(&mut self) -> bool {
        let file = FileId::of(&self.path);
        if file.is_none() && self.unusable.get_mut().is_none() && self.is_deleted() {
            return self.put_back();
        }
        // A store whose file was moved stays readable, and writing to it is refused.
        let replaced = file.is_some() && file != self.file;
        if replaced || self.unusable.get_mut().is_some() {
            return self.reopen(None);
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

    /// Returns the path of SQLite's write-ahead log, which every change of the store is written to.
    pub fn log_path(&self) -> PathBuf {
        self.beside("-wal")
    }

    /// Returns true while the store's path leads to the file that was opened.
    pub fn has_its_file(&self) -> bool {
        self.file.is_some() && FileId::of(&self.path) == self.file
    }

    /// Returns true when the file has no name any more.
    fn is_deleted(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let metadata = self.handle.as_ref().and_then(|handle| handle.metadata().ok());
        metadata.is_some_and(|metadata| metadata.nlink() == 0)
    }

    /// Writes a file that was deleted again, from what the connection has still open. Returns
    /// whether that changed what views show. If it can't be written, the store stays readable, and
    /// writing to it is refused.
    fn put_back(&mut self) -> bool {
        let copy = self.beside(&format!(".{}", std::process::id()));
        // One that is left of an earlier attempt would be in the way.
        let _ = std::fs::remove_file(&copy);
        let target = copy.to_string_lossy().into_owned();
        let written = self.connection.execute("VACUUM INTO ?1", [target]);
        if written.is_err() || File::open(&copy).and_then(|copy| copy.sync_all()).is_err() {
            // Half of a copy is of no use; if it can't be removed, it does no harm.
            let _ = std::fs::remove_file(&copy);
            return false;
        }
        if !self.reopen(Some(&copy)) || self.unusable.get_mut().is_some() {
            return true;
        }
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).display();
        self.put_back =
            Some(format!("{name} had been deleted: it was written again, with all entries"));
        true
    }

    /// Returns what readers should be told of the file, until an action's answer has told it.
    pub fn put_back_note(&self) -> Option<&str> {
        self.put_back.as_deref()
    }

    /// Returns the same, and forgets it.
    pub fn take_put_back_note(&mut self) -> Option<String> {
        self.put_back.take()
    }

    /// Opens the store again, and returns whether that changed what views show. `copy` takes the
    /// place of a file that was deleted.
    fn reopen(&mut self, copy: Option<&Path>) -> bool {
        let before = self.unusable.get_mut().take();
        if before.is_some() {
            // Closing the connection must not write to a file that is damaged or was mended
            // meanwhile.
            let setting = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            // If this fails, the connection was never usable, and closing it writes nothing.
            let _ = self.connection.set_db_config(setting, true);
        }
        let reopened = Connection::open_in_memory()
            .map_err(|error| schema::fault(&error, &self.path))
            // The old connection is closed before the new one reads the file.
            .map(|placeholder| drop(std::mem::replace(&mut self.connection, placeholder)))
            .and_then(|()| self.set_stale_log_aside())
            .and_then(|()| copy.map_or(Ok(()), |copy| give_name(copy, &self.path)))
            // A copy has the numbers that readers know.
            .map(|()| if copy.is_some() { Highest::default() } else { self.highest })
            .and_then(|seen| schema::reopen(&self.path, &self.id, &seen))
            .and_then(|reopened| reopened.ok_or_else(|| self.other_store()));
        match reopened {
            Ok(connection) => {
                self.connection = connection;
                self.file = FileId::of(&self.path);
                self.handle = open_handle(&self.path, self.file);
                self.raise_highest();
                if let Ok(version) = self.query_one("PRAGMA data_version", []) {
                    self.data_version = version;
                }
                true
            }
            Err(fault) => {
                let fault = schema::advise(fault, &self.address);
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
        let restart = command::command(&["restart", &self.address]);
        Fault::refused(message).hint(format!("put the earlier one back, or: {restart}"))
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

    /// Explains an error of SQLite. After one that means damage, the store is opened again before
    /// it is used.
    pub(crate) fn fault(&self, error: &rusqlite::Error) -> Fault {
        let fault = schema::advise(schema::fault(error, &self.path), &self.address);
        if schema::means_damage(error) {
            *self.unusable.borrow_mut() = Some(fault.clone());
        }
        fault
    }
}

/// Gives a copy of a deleted file its name, unless there is another file by now.
///
/// # Errors
/// The directory can't be written; the copy stays.
fn give_name(copy: &Path, path: &Path) -> Result<(), Fault> {
    match std::fs::hard_link(copy, path) {
        // If the second name can't be removed, it does no harm.
        Ok(()) => drop(std::fs::remove_file(copy)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => drop(std::fs::remove_file(copy)),
        Err(_) => std::fs::rename(copy, path).map_err(|error| {
            let back = command::join(&["mv", &copy.to_string_lossy(), &path.to_string_lossy()]);
            Fault::failed(format!(
                "{} was deleted, and can't be written again: {error}",
                path.display()
            ))
            .hint(format!("its entries are in a copy; put it in its place: {back}"))
        })?,
    }
    Ok(())
}
