//! A stream socket that tells when there is something to read and, only while a write has to wait, when
//! there is room again.
//!
//! The runtime's own streams always watch both. Then every reading of the other side wakes this one, since
//! it makes room: a turn for nothing with each message.

use std::io::{self, IoSlice, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll, Waker};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The socket of one connection.
#[derive(Debug)]
pub struct Socket {
    stream: AsyncFd<UnixStream>,
    /// The same socket under another number, watched for room.
    full: Option<AsyncFd<OwnedFd>>,
}

impl Socket {
    /// To be called in a runtime, with a stream that doesn't block.
    ///
    /// # Errors
    /// It can't be watched.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Self { stream: watch(stream, Interest::READABLE)?, full: None })
    }

    /// The stream itself, which doesn't block.
    pub fn stream(&self) -> &UnixStream {
        self.stream.get_ref()
    }

    /// Reads once by `read`, which asks for `asked` bytes. Nothing there: the waker tells when.
    pub fn read(
        &self,
        waker: &Waker,
        asked: usize,
        read: impl FnOnce(&UnixStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let context = &mut Context::from_waker(waker);
        let mut ready = match self.stream.poll_read_ready(context) {
            Poll::Ready(Ok(ready)) => ready,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        };
        match read(ready.get_inner()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                ready.clear_ready();
                drop(ready);
                if self.stream.poll_read_ready(context).is_ready() {
                    // It came this moment.
                    waker.wake_by_ref();
                }
                Poll::Pending
            }
            Ok(length) if length > 0 && length < asked => {
                // It is empty now: no need to ask it again before it says that there is more.
                ready.clear_ready();
                Poll::Ready(Ok(length))
            }
            other => Poll::Ready(other),
        }
    }

    /// Writes once. No room: the waker tells when there is.
    pub fn write(&mut self, waker: &Waker, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if self.is_full(waker) {
            return Poll::Pending;
        }
        match self.stream.get_ref().write_vectored(slices) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.watch_for_room(waker);
                Poll::Pending
            }
            other => Poll::Ready(other),
        }
    }

    /// Everything is written: room no longer matters.
    pub fn is_flushed(&mut self) {
        self.full = None;
    }

    fn is_full(&self, waker: &Waker) -> bool {
        let full = |full: &AsyncFd<OwnedFd>| {
            full.poll_write_ready(&mut Context::from_waker(waker)).is_pending()
        };
        self.full.as_ref().is_some_and(full)
    }

    fn watch_for_room(&mut self, waker: &Waker) {
        let context = &mut Context::from_waker(waker);
        if let Some(full) = &self.full {
            if let Poll::Ready(Ok(mut ready)) = full.poll_write_ready(context) {
                ready.clear_ready();
            }
        } else {
            let same = self.stream.get_ref().try_clone().map(OwnedFd::from);
            self.full = same.and_then(|fd| watch(fd, Interest::WRITABLE)).ok();
        }
        // Without a number for it, it is tried again and again.
        if !self.is_full(waker) {
            waker.wake_by_ref();
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.get_ref().as_raw_fd()
    }
}

fn watch<T: AsFd + AsRawFd>(fd: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    #[expect(deprecated, reason = "unsound for descriptors that nobody owns; these own theirs")]
    AsyncFd::with_interest(fd, interest)
}
