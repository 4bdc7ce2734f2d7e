//! A stream socket that tells when there is something to read and, only while a write has to wait, when
//! there is room again.
//!
//! The runtime's own streams always watch both. Then every reading of the other side wakes this one, since
//! it makes room: a turn for nothing with each message. Daemon and client both stand on this.
//!
//! **Invariant: it never waits.** Who is told to wait is woken by the waker given.
#![forbid(unsafe_code)]

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::task::{Context, Poll, Waker};

use rustix::buffer::spare_capacity;
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The socket of one connection.
#[derive(Debug)]
pub struct Socket {
    stream: AsyncFd<UnixStream>,
    /// The same socket under another number, watched for room.
    full: Option<AsyncFd<OwnedFd>>,
    /// What [`Socket::hold`] goes back to.
    held: Option<usize>,
}

impl Socket {
    /// To be called in a runtime, with a stream that doesn't block.
    ///
    /// # Errors
    /// It can't be watched.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Self { stream: watch(stream, Interest::READABLE)?, full: None, held: None })
    }

    /// The stream itself, which doesn't block.
    pub fn stream(&self) -> &UnixStream {
        self.stream.get_ref()
    }

    /// Reads once, at most what the buffer takes. Nothing there: the waker tells when.
    pub fn read(&self, waker: &Waker, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let asked = buffer.len();
        self.read_by(waker, asked, |mut stream| stream.read(buffer))
    }

    /// Reads once behind what the buffer holds, at most as much as it has room for.
    pub fn read_behind(&self, waker: &Waker, buffer: &mut Vec<u8>) -> Poll<io::Result<usize>> {
        let asked = buffer.capacity() - buffer.len();
        let read = |stream: &UnixStream| Ok(rustix::io::read(stream, spare_capacity(buffer))?);
        self.read_by(waker, asked, read)
    }

    fn read_by(
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
        let mut stream = self.stream.get_ref();
        let written = match slices {
            // Spares the system the list.
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

    /// How much the system holds of what was written and isn't read yet: so many bytes, if it allows that,
    /// or with none as much as at first.
    pub fn hold(&mut self, bytes: Option<usize>) {
        if bytes.is_some() == self.held.is_some() {
            return;
        }
        let stream = self.stream.get_ref();
        let before = socket_send_buffer_size(stream).unwrap_or_default();
        // It reports twice what it is told.
        let told = if cfg!(target_os = "linux") { before / 2 } else { before };
        // Where it can't be changed it is only slower.
        if let Some(size) = bytes.or(self.held).filter(|_| told > 0) {
            let _ = set_socket_send_buffer_size(stream, size);
        }
        self.held = bytes.map(|_| told);
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

/// Where connections come in.
#[derive(Debug)]
pub struct Door {
    listener: AsyncFd<UnixListener>,
}

impl Door {
    /// To be called in a runtime, with a listener that doesn't block.
    ///
    /// # Errors
    /// It can't be watched.
    pub fn new(listener: UnixListener) -> io::Result<Self> {
        Ok(Self { listener: watch(listener, Interest::READABLE)? })
    }

    /// The next connection, which doesn't block. Nobody there: the waker tells when.
    ///
    /// # Errors
    /// As `accept`: among them that descriptors ran out.
    pub fn accept(&self, waker: &Waker) -> Poll<io::Result<UnixStream>> {
        let context = &mut Context::from_waker(waker);
        loop {
            let mut ready = match self.listener.poll_read_ready(context) {
                Poll::Ready(Ok(ready)) => ready,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            };
            match accept(ready.get_inner()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                accepted => return Poll::Ready(accepted),
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn accept(listener: &UnixListener) -> io::Result<UnixStream> {
    use rustix::net::{SocketFlags, accept_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(accept_with(listener, flags)?.into())
}

#[cfg(not(target_os = "linux"))]
fn accept(listener: &UnixListener) -> io::Result<UnixStream> {
    let (stream, _) = listener.accept()?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// The user at the other end. To be called in a runtime.
///
/// # Errors
/// The system doesn't say.
#[cfg(target_os = "linux")]
pub fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// The user at the other end. To be called in a runtime.
///
/// # Errors
/// The system doesn't say.
#[cfg(not(target_os = "linux"))]
pub fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    Ok(tokio::net::UnixStream::from_std(stream.try_clone()?)?.peer_cred()?.uid())
}

fn watch<T: AsFd + AsRawFd>(fd: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    #[expect(deprecated, reason = "unsound for descriptors that nobody owns; these own theirs")]
    AsyncFd::with_interest(fd, interest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicU32);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn with_socket(test: impl AsyncFnOnce(Socket, UnixStream, Arc<Count>, Waker)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (ours, theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            let count = Arc::new(Count::default());
            let waker = Waker::from(Arc::clone(&count));
            test(Socket::new(ours).unwrap(), theirs, count, waker).await;
        });
    }

    async fn until(what: impl Fn() -> bool) {
        tokio::time::timeout(std::time::Duration::from_secs(20), async {
            while !what() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }

    #[test]
    fn it_is_woken_by_what_comes_and_not_by_what_the_other_side_reads() {
        with_socket(async |mut socket, mut theirs, count, waker| {
            let mut buffer = [0; 16];
            assert!(socket.read(&waker, &mut buffer).is_pending());
            let written = socket.write(&waker, &[IoSlice::new(b"ask")]);
            assert!(matches!(written, Poll::Ready(Ok(3))));
            theirs.read_exact(&mut [0; 3]).unwrap();
            theirs.write_all(b"answer").unwrap();
            until(|| count.0.load(Ordering::SeqCst) > 0).await;
            assert!(matches!(socket.read(&waker, &mut buffer), Poll::Ready(Ok(6))));
            assert!(socket.read(&waker, &mut buffer).is_pending());
            assert_eq!(count.0.load(Ordering::SeqCst), 1);
        });
    }

    #[test]
    fn who_comes_in_is_known_does_not_block_and_wakes_once() {
        let name = format!("pipemux-door-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let door = Door::new(listener).unwrap();
            let count = Arc::new(Count::default());
            let waker = Waker::from(Arc::clone(&count));
            assert!(door.accept(&waker).is_pending());
            let theirs = [UnixStream::connect(&path).unwrap(), UnixStream::connect(&path).unwrap()];
            until(|| count.0.load(Ordering::SeqCst) > 0).await;
            let Poll::Ready(Ok(mut first)) = door.accept(&waker) else { panic!() };
            let Poll::Ready(Ok(_second)) = door.accept(&waker) else { panic!() };
            assert!(door.accept(&waker).is_pending());
            let waits = first.read(&mut [0]).unwrap_err();
            assert_eq!(waits.kind(), io::ErrorKind::WouldBlock);
            assert_eq!(peer_uid(&first).unwrap(), rustix::process::getuid().as_raw());
            assert_eq!(count.0.load(Ordering::SeqCst), 1);
            drop(theirs);
        });
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn the_system_holds_more_while_told_and_then_as_much_as_at_first() {
        with_socket(async |mut socket, _theirs, _, waker| {
            let fill = |socket: &mut Socket| {
                let chunk = [7; 4096];
                let mut written = 0;
                while let Poll::Ready(length) = socket.write(&waker, &[IoSlice::new(&chunk)]) {
                    written += length.unwrap();
                }
                written
            };
            let size = |socket: &Socket| socket_send_buffer_size(socket.stream()).unwrap();
            let first = size(&socket);
            let at_first = fill(&mut socket);
            socket.hold(None);
            assert_eq!(size(&socket), first);
            for _ in 0..2 {
                socket.hold(Some(1024 * 1024));
            }
            assert!(size(&socket) > first && at_first > 0);
            // Who waits for room is told.
            let more = async {
                while fill(&mut socket) == 0 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(std::time::Duration::from_secs(20), more).await.unwrap();
            socket.hold(None);
            assert_eq!(size(&socket), first);
        });
    }

    #[test]
    fn a_full_socket_tells_when_there_is_room_again() {
        with_socket(async |mut socket, mut theirs, count, waker| {
            let chunk = [7; 4096];
            let mut written = 0;
            while let Poll::Ready(length) = socket.write(&waker, &[IoSlice::new(&chunk)]) {
                written += length.unwrap();
            }
            let before = count.0.load(Ordering::SeqCst);
            theirs.read_exact(&mut vec![0; written]).unwrap();
            until(|| count.0.load(Ordering::SeqCst) > before).await;
            assert!(matches!(socket.write(&waker, &[IoSlice::new(b"more")]), Poll::Ready(Ok(4))));
            socket.is_flushed();
            let mut rest = Vec::with_capacity(64);
            drop(theirs);
            while !matches!(socket.read_behind(&waker, &mut rest), Poll::Ready(Ok(0) | Err(_))) {
                tokio::task::yield_now().await;
            }
        });
    }
}
