//! The state that the ordinary program continues with if something unusual happened after the
//! request was sent.

// This is the only module that may use it: `take` is called when the C library runs.
extern crate std;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use std::os::fd::{FromRawFd, OwnedFd};

use crate::sys::Fd;

/// A request that was sent after the greeting, and whose answer hasn't been written.
#[derive(Debug)]
pub struct Begun {
    /// The connection, which is in non-blocking mode.
    pub socket: OwnedFd,
    /// The request's id. The ordinary program recreates everything else.
    pub run_id: &'static str,
    /// The bytes that the daemon sent so far.
    pub received: &'static [u8],
}

/// A [`Begun`] as it is kept before the C library runs.
struct Kept {
    socket: Fd,
    run_id: [u8; 36],
    received: &'static [u8],
}

struct Place(UnsafeCell<Option<Kept>>);

// SAFETY: it is written before there are threads, and read by the one caller that `IS_KEPT` lets
// through.
#[allow(unsafe_code)]
unsafe impl Sync for Place {}

static KEPT: Place = Place(UnsafeCell::new(None));
static IS_KEPT: AtomicBool = AtomicBool::new(false);

/// Keeps it. This is called once, before there are threads.
pub(crate) fn keep(socket: Fd, run_id: [u8; 36], received: &'static [u8]) {
    // SAFETY: there is one thread, and nobody has a reference to it.
    #[allow(unsafe_code)]
    unsafe {
        *KEPT.0.get() = Some(Kept { socket, run_id, received });
    }
    IS_KEPT.store(true, Ordering::Release);
}

/// Takes what was begun, once.
pub fn take() -> Option<Begun> {
    if !IS_KEPT.swap(false, Ordering::Acquire) {
        return None;
    }
    // SAFETY: `keep` has written it, and nobody else gets here. It stays where it is.
    #[allow(unsafe_code)]
    let kept: &'static _ = unsafe { &*KEPT.0.get() };
    let Kept { socket, run_id, received } = kept.as_ref()?;
    // SAFETY: it was opened for this process, and only here does anybody get to own it.
    #[allow(unsafe_code)]
    let socket = unsafe { OwnedFd::from_raw_fd(socket.0) };
    Some(Begun { socket, run_id: core::str::from_utf8(run_id).ok()?, received })
}
