//! The thread that syncs what was written, and writes the mark.

use std::fs::File;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::mark::MarkFile;
use crate::daemon_log::log;
use crate::limits::SYNC_BATCH_MS;

/// Syncs files, at most once in [`SYNC_BATCH_MS`].
#[derive(Debug)]
pub struct Syncer {
    files: Arc<Mutex<Vec<Arc<File>>>>,
    wanted: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    /// Starts the thread. It syncs nothing until [`Syncer::set_files`] names the files.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn start(mark: MarkFile) -> io::Result<Self> {
        let files: Arc<Mutex<Vec<Arc<File>>>> = Arc::default();
        let (wanted, wants) = sync_channel::<()>(1);
        let shared = Arc::clone(&files);
        let thread = thread::Builder::new().name("sync".into()).spawn(move || {
            while wants.recv().is_ok() {
                thread::sleep(Duration::from_millis(SYNC_BATCH_MS));
                while wants.try_recv().is_ok() {}
                if let Err(error) = mark.write() {
                    log(format_args!("can't write how long the saved state is: {error}"));
                }
                let files = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
                for error in files.iter().filter_map(|file| file.sync_data().err()) {
                    log(format_args!("the saved state is written but can't be synced: {error}"));
                }
            }
        })?;
        Ok(Self { files, wanted: Some(wanted), thread: Some(thread) })
    }

    /// Has these files synced from now on, for the first time soon.
    pub fn set_files(&self, files: Vec<Arc<File>>) {
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files;
        self.request_sync();
    }

    /// Has the files synced soon.
    pub fn request_sync(&self) {
        // A full channel means that the thread has a request that it hasn't begun to handle.
        let _ = self.wanted.as_ref().map(|wanted| wanted.try_send(()));
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        drop(self.wanted.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
