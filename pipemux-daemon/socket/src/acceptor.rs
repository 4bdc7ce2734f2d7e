//! Accepts connections, and identifies the user of each peer.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::task::{Context, Poll, Waker};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::socket::register;

/// Accepts connections.
#[derive(Debug)]
pub struct Acceptor {
    listener: AsyncFd<UnixListener>,
}

impl Acceptor {
    /// Watches a non-blocking listener. Must be called within a runtime.
    ///
    /// # Errors
    /// The listener can't be watched.
    pub fn new(listener: UnixListener) -> io::Result<Self> {
        Ok(Self { listener: register(listener, Interest::READABLE)? })
    }

    /// Returns the next connection, which is non-blocking. When nobody waits, `waker` is woken
    /// later.
    ///
    /// # Errors
    /// As `accept`, for example when descriptors run out.
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

/// Returns the user at the other end. Must be called within a runtime.
///
/// # Errors
/// The system doesn't tell.
#[cfg(target_os = "linux")]
pub fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// Returns the user at the other end. Must be called within a runtime.
///
/// # Errors
/// The system doesn't tell.
#[cfg(not(target_os = "linux"))]
pub fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    Ok(tokio::net::UnixStream::from_std(stream.try_clone()?)?.peer_cred()?.uid())
}
