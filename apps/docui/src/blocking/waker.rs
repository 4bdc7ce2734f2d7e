//! Wakes the serving loop from other threads.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use pipemux_proto::ids::Incarnation;

/// Has the serving loop look at a session again: it calls [`crate::App::refresh`], and readers are told if
/// that changed what views show. Any thread may use it.
///
/// The default one wakes nobody.
#[derive(Debug, Clone, Default)]
pub struct Waker(Option<(Arc<Shared>, Incarnation)>);

#[derive(Debug)]
struct Shared {
    stream: UnixStream,
    /// The sessions to look at.
    woken: Mutex<BTreeSet<Incarnation>>,
}

impl Waker {
    /// Wakes the serving loop. It may be called again before that has happened.
    pub fn wake(&self) {
        let Some((shared, session)) = &self.0 else { return };
        let mut woken = shared.woken.lock().unwrap_or_else(PoisonError::into_inner);
        if woken.insert(*session) {
            // The socket is full only while the loop has been woken already.
            let _ = (&shared.stream).write(&[0]);
        }
    }
}

/// The end of the serving loop.
#[derive(Debug)]
pub(crate) struct WakeReceiver {
    stream: UnixStream,
    shared: Arc<Shared>,
}

impl WakeReceiver {
    /// Makes a receiver.
    ///
    /// # Errors
    /// The system gives no more descriptors.
    pub(crate) fn new() -> io::Result<Self> {
        let (stream, sender) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        sender.set_nonblocking(true)?;
        let shared = Arc::new(Shared { stream: sender, woken: Mutex::default() });
        Ok(Self { stream, shared })
    }

    /// Returns what wakes the loop for a session.
    pub(crate) fn waker(&self, session: Incarnation) -> Waker {
        Waker(Some((self.shared.clone(), session)))
    }

    /// Returns the sessions that were to be looked at, and forgets them.
    pub(crate) fn take(&self) -> BTreeSet<Incarnation> {
        let mut bytes = [0; 64];
        // First the bytes: what is woken after this leaves a byte again.
        while matches!((&self.stream).read(&mut bytes), Ok(length) if length == bytes.len()) {}
        std::mem::take(&mut *self.shared.woken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AsFd for WakeReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_is_woken_once_for_many_wakes() {
        let receiver = WakeReceiver::new().unwrap();
        let (one, two) = (receiver.waker(Incarnation(1)), receiver.waker(Incarnation(2)));
        for _ in 0..100_000 {
            one.wake();
        }
        two.wake();
        assert_eq!(receiver.take(), [Incarnation(1), Incarnation(2)].into());
        assert_eq!(receiver.take(), BTreeSet::new());
        one.wake();
        assert_eq!(receiver.take(), [Incarnation(1)].into());
        Waker::default().wake();
    }
}
