//! The buffers. They are static, because what was received may outlast the function that received it.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::limits::{ANSWER_MAX, REQUEST_MAX};

/// The memory for one exchange. Only what is used of it is ever touched.
pub struct Buffers {
    pub request: [u8; REQUEST_MAX],
    pub received: [u8; ANSWER_MAX],
}

struct Shared(UnsafeCell<Buffers>);

// SAFETY: `take` gives it to one caller.
#[allow(unsafe_code)]
unsafe impl Sync for Shared {}

static BUFFERS: Shared =
    Shared(UnsafeCell::new(Buffers { request: [0; REQUEST_MAX], received: [0; ANSWER_MAX] }));
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Returns the buffers, once.
pub fn take() -> Option<&'static mut Buffers> {
    if IS_TAKEN.swap(true, Ordering::Relaxed) {
        return None;
    }
    // SAFETY: nobody else gets it.
    #[allow(unsafe_code)]
    Some(unsafe { &mut *BUFFERS.0.get() })
}
