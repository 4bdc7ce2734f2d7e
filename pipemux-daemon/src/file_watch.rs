//! Wakes the driver when files of the daemon are removed, renamed or replaced by others. What has
//! changed is for the driver to find out.

use std::path::Path;
use std::task::Waker;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::FileWatch;
#[cfg(target_os = "linux")]
pub use linux::FileWatch;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::AsFd;
    use std::task::{Context, Poll};

    use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use super::{Path, Waker};

    /// A watch over some directories. Where there can be none the driver looks from time to time.
    #[derive(Debug)]
    pub struct FileWatch(Option<Queue>);

    #[derive(Debug)]
    struct Queue {
        inotify: Inotify,
        /// The same event queue, registered with the runtime.
        events: AsyncFd<File>,
    }

    impl FileWatch {
        /// Watches nothing yet. Must be called within a runtime. Returns also why nothing can be
        /// watched, if that is so: all programs of a user share a number of watches.
        pub fn new() -> (Self, Option<io::Error>) {
            match Queue::new() {
                Ok(queue) => (Self(Some(queue)), None),
                Err(error) => (Self(None), Some(error)),
            }
        }

        /// Watches a directory and what is in it; once more changes nothing. One that isn't there
        /// is not watched.
        pub fn watch(&self, directory: &Path) {
            let events = AddWatchFlags::IN_DELETE
                | AddWatchFlags::IN_MOVE
                | AddWatchFlags::IN_DELETE_SELF
                | AddWatchFlags::IN_MOVE_SELF
                | AddWatchFlags::IN_ONLYDIR;
            let _ = self.0.as_ref().map(|queue| queue.inotify.add_watch(directory, events));
        }

        /// True when something was removed, renamed or replaced since the last call; otherwise
        /// `waker` is woken later.
        pub fn poll(&self, waker: &Waker) -> bool {
            self.0.as_ref().is_some_and(|queue| queue.poll(waker))
        }
    }

    impl Queue {
        fn new() -> io::Result<Self> {
            let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
            let events = File::from(inotify.as_fd().try_clone_to_owned()?);
            #[expect(
                deprecated,
                reason = "unsound for descriptors that nobody owns; this is owned"
            )]
            let events = AsyncFd::with_interest(events, Interest::READABLE)?;
            Ok(Self { inotify, events })
        }

        fn poll(&self, waker: &Waker) -> bool {
            let mut changed = false;
            let mut buffer = [0; 4096];
            while let Poll::Ready(Ok(mut ready)) =
                self.events.poll_read_ready(&mut Context::from_waker(waker))
            {
                match ready.try_io(|events| events.get_ref().read(&mut buffer)) {
                    Ok(Ok(length)) if length > 0 => changed = true,
                    Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(_) => break,
                    // Nothing is there; the waker is registered by the next turn of the loop.
                    Err(_) => {}
                }
            }
            changed
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{Path, Waker};

    /// Watches nothing: the driver looks from time to time.
    #[derive(Debug)]
    pub struct FileWatch;

    impl FileWatch {
        /// Watches nothing.
        pub fn new() -> (Self, Option<std::io::Error>) {
            (Self, None)
        }

        /// Does nothing.
        pub fn watch(&self, _directory: &Path) {}

        /// Always false.
        pub fn poll(&self, _waker: &Waker) -> bool {
            false
        }
    }
}
