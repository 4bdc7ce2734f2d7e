//! The request of a plain command line that `pipemux_quick` sent before this program started, if
//! its answer was unusual.

use std::os::unix::net::UnixStream;

/// A request that was already sent, after the greeting.
#[derive(Debug)]
pub struct Begun {
    pub stream: UnixStream,
    pub run_id: String,
    /// The bytes that the daemon sent so far.
    pub received: &'static [u8],
}

/// Takes it, once: the first request of this process is it.
#[cfg(quick_entry)]
pub fn take() -> Option<Begun> {
    let begun = pipemux_quick::hand_over::take()?;
    let (stream, run_id) = (begun.socket.into(), begun.run_id.to_owned());
    Some(Begun { stream, run_id, received: begun.received })
}

/// Always `None`: where the program starts as usual, nothing was sent.
#[cfg(not(quick_entry))]
pub fn take() -> Option<Begun> {
    None
}
