//! The buffer. It is static, because what was received may outlast the function that received it.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::limits::BUFFER;

struct Shared(UnsafeCell<[u8; BUFFER]>);

// SAFETY: `take` gives it to one caller.
#[allow(unsafe_code)]
unsafe impl Sync for Shared {}

/// The shared buffer. Only used parts are ever touched, so that its size costs nothing.
static SHARED: Shared = Shared(UnsafeCell::new([0; BUFFER]));
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Returns the buffer for request and answer, once.
pub fn take() -> Option<&'static mut [u8]> {
    if IS_TAKEN.swap(true, Ordering::Relaxed) {
        return None;
    }
    // SAFETY: nobody else gets it.
    #[allow(unsafe_code)]
    Some(unsafe { &mut *SHARED.0.get() })
}
