//! The socket of one connection.

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll, Waker};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The socket of one connection.
#[derive(Debug)]
pub struct Socket {
    stream: AsyncFd<UnixStream>,
    /// The same socket under a second descriptor, watched for room to write.
    room_watch: Option<AsyncFd<OwnedFd>>,
    /// The size to which [`Socket::set_send_buffer`] resets the buffer.
    default_send_buffer: Option<usize>,
}

impl Socket {
    /// Watches a non-blocking stream. Must be called within a runtime.
    ///
    /// # Errors
    /// The stream can't be watched.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Self {
            stream: register(stream, Interest::READABLE)?,
            room_watch: None,
            default_send_buffer: None,
        })
    }

    /// Returns the stream itself, which is non-blocking.
    pub fn stream(&self) -> &UnixStream {
        self.stream.get_ref()
    }

    /// Reads once, at most as much as the buffer takes. When nothing is there, `waker` is woken
    /// later.
    pub fn read(&self, waker: &Waker, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let asked = buffer.len();
        self.read_with(waker, asked, |mut stream| stream.read(buffer))
    }

    /// Reads once and appends to the buffer, at most up to its capacity.
    pub fn read_append(&self, waker: &Waker, buffer: &mut Vec<u8>) -> Poll<io::Result<usize>> {
        let asked = buffer.capacity() - buffer.len();
        let read = |stream: &UnixStream| Ok(rustix::io::read(stream, spare_capacity(buffer))?);
        self.read_with(waker, asked, read)
    }

    fn read_with(
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
                    // It became readable at this moment.
                    waker.wake_by_ref();
                }
                Poll::Pending
            }
            Ok(length) if length > 0 && length < asked => {
                // A short read emptied the socket, so it needn't be read again before it reports
                // more.
                ready.clear_ready();
                Poll::Ready(Ok(length))
            }
            other => Poll::Ready(other),
        }
    }

    /// True when the peer has closed the socket in both directions: it neither sends nor reads.
    /// Otherwise `waker` is woken when it does.
    pub fn is_hung_up(&self, waker: &Waker) -> bool {
        // It isn't registered for writing, so it becomes ready for that only by its end.
        let told = self.stream.poll_write_ready(&mut Context::from_waker(waker)).is_ready();
        told || {
            let mut polled = [PollFd::new(self.stream.get_ref(), PollFlags::empty())];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            rustix::event::poll(&mut polled, Some(&now)).is_err()
                || polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
        }
    }

    /// Writes once. When there is no room, `waker` is woken later.
    pub fn write(&mut self, waker: &Waker, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if self.is_waiting_for_room(waker) {
            return Poll::Pending;
        }
        let mut stream = self.stream.get_ref();
        let written = match slices {
            // Spares the system the list of slices.
            [one] => stream.write(one),
            many => stream.write_vectored(many),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.watch_for_room(waker);
                Poll::Pending
            }
            other => Poll::Ready(other),
        }
    }

    /// Sets how many bytes the system buffers until the peer reads them, as far as it allows;
    /// `None` restores the original size.
    pub fn set_send_buffer(&mut self, bytes: Option<usize>) {
        if bytes.is_some() == self.default_send_buffer.is_some() {
            return;
        }
        let stream = self.stream.get_ref();
        let reported = socket_send_buffer_size(stream).unwrap_or_default();
        // Linux reports twice the size that was set.
        let original = if cfg!(target_os = "linux") { reported / 2 } else { reported };
        // Where the size can't be changed, large transfers are only slower.
        if let Some(size) = bytes.or(self.default_send_buffer).filter(|_| original > 0) {
            let _ = set_socket_send_buffer_size(stream, size);
        }
        self.default_send_buffer = bytes.map(|_| original);
    }

    /// Stops watching for room: everything is written.
    pub fn stop_watching_for_room(&mut self) {
        self.room_watch = None;
    }

    fn is_waiting_for_room(&self, waker: &Waker) -> bool {
        let room_watch = |room_watch: &AsyncFd<OwnedFd>| {
            room_watch.poll_write_ready(&mut Context::from_waker(waker)).is_pending()
        };
        self.room_watch.as_ref().is_some_and(room_watch)
    }

    fn watch_for_room(&mut self, waker: &Waker) {
        let context = &mut Context::from_waker(waker);
        if let Some(room_watch) = &self.room_watch {
            if let Poll::Ready(Ok(mut ready)) = room_watch.poll_write_ready(context) {
                ready.clear_ready();
            }
        } else {
            let same = self.stream.get_ref().try_clone().map(OwnedFd::from);
            self.room_watch = same.and_then(|fd| register(fd, Interest::WRITABLE)).ok();
        }
        // Without a second descriptor the write is simply tried again.
        if !self.is_waiting_for_room(waker) {
            waker.wake_by_ref();
        }
    }
}

/// Registers a descriptor with the runtime.
pub(crate) fn register<T: AsFd + AsRawFd>(fd: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    #[expect(deprecated, reason = "unsound for descriptors that nobody owns; these own theirs")]
    AsyncFd::with_interest(fd, interest)
}
