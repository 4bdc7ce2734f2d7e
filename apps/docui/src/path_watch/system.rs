//! The operating system's directory watches: inotify on Linux.

use std::ffi::OsStr;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{System, WatchId};
#[cfg(target_os = "linux")]
pub use linux::{System, WatchId};

/// Something that happened in a watched directory.
#[derive(Debug)]
pub enum Event<'a> {
    /// Something with this name was made, written, renamed or removed.
    Name(WatchId, &'a OsStr),
    /// The directory is not watched any more: it was removed or moved.
    Gone(WatchId),
    /// There were too many events; some are missing.
    Overflow,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::ffi::OsStr;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

    use super::Event;
    use crate::limits::{WATCH_BUFFER, WATCH_EVENTS_MAX};

    /// A watched directory. No other one ever has the same number.
    pub type WatchId = i32;

    /// The watches of this process.
    #[derive(Debug)]
    pub struct System {
        inotify: OwnedFd,
        watches: Mutex<HashSet<WatchId>>,
    }

    impl System {
        /// Watches nothing yet. Returns `None` when this user has too many watches.
        pub fn new() -> Option<Self> {
            let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            Some(Self { inotify, watches: Mutex::default() })
        }

        /// Watches a directory; once more is the same watch. It waits for the disk.
        ///
        /// # Errors
        /// It is no directory, can't be read, or there are too many watches.
        pub fn watch(&self, directory: &Path) -> io::Result<WatchId> {
            let flags = WatchFlags::MODIFY
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::ATTRIB
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::EXCL_UNLINK
                | WatchFlags::ONLYDIR;
            let watch = inotify::add_watch(&self.inotify, directory, flags)?;
            self.watches.lock().unwrap_or_else(PoisonError::into_inner).insert(watch);
            Ok(watch)
        }

        /// Ends all watches but these.
        pub fn keep_only(&self, used: &HashSet<WatchId>) {
            let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
            watches.retain(|watch| {
                let keeps = used.contains(watch);
                if !keeps {
                    // It may have ended by itself.
                    let _ = inotify::remove_watch(&self.inotify, *watch);
                }
                keeps
            });
        }

        /// Readable once something happened.
        pub fn events(&self) -> BorrowedFd<'_> {
            self.inotify.as_fd()
        }

        /// Reads what happened. Returns whether anything did.
        pub fn read_events(&self, mut take: impl FnMut(Event<'_>)) -> bool {
            let mut buffer = [MaybeUninit::uninit(); WATCH_BUFFER];
            let mut reader = Reader::new(&self.inotify, &mut buffer);
            let mut any = false;
            for _ in 0..WATCH_EVENTS_MAX {
                let Ok(event) = reader.next() else { return any };
                any = true;
                let flags = event.events();
                if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                    take(Event::Overflow);
                    continue;
                }
                let gone = ReadFlags::IGNORED
                    | ReadFlags::DELETE_SELF
                    | ReadFlags::MOVE_SELF
                    | ReadFlags::UNMOUNT;
                match event.file_name() {
                    Some(name) => {
                        take(Event::Name(event.wd(), OsStr::from_bytes(name.to_bytes())));
                    }
                    None if flags.intersects(gone) => take(Event::Gone(event.wd())),
                    None => {}
                }
            }
            any
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::collections::HashSet;
    use std::io;
    use std::os::fd::BorrowedFd;
    use std::path::Path;

    use super::Event;

    /// Never made.
    pub type WatchId = i32;

    /// There is none: the daemon asks apps for their windows while a client waits.
    #[derive(Debug)]
    pub enum System {}

    impl System {
        /// Always `None`.
        pub fn new() -> Option<Self> {
            None
        }

        /// Never called.
        pub fn watch(&self, _directory: &Path) -> io::Result<WatchId> {
            match *self {}
        }

        /// Never called.
        pub fn keep_only(&self, _used: &HashSet<WatchId>) {
            match *self {}
        }

        /// Never called.
        pub fn events(&self) -> BorrowedFd<'_> {
            match *self {}
        }

        /// Never called.
        pub fn read_events(&self, _take: impl FnMut(Event<'_>)) -> bool {
            match *self {}
        }
    }
}
