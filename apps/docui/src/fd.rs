//! The connection that the launcher gave this process.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Takes the socket that `PIPEMUX_FD` names. Call it once.
pub(crate) fn inherited() -> Result<UnixStream, String> {
    let text = std::env::var("PIPEMUX_FD").map_err(
        |_| "PIPEMUX_FD is not set: this program is a PipeMux app, start it with `pipemux open`",
    )?;
    let number: RawFd = text.parse().map_err(|_| format!("PIPEMUX_FD={text} is not a number"))?;
    if number < 3 {
        return Err(format!("PIPEMUX_FD={text} is a standard stream"));
    }
    // SAFETY: the launcher opened this descriptor for this process alone and nothing else in it
    // knows the number; `run` is its only caller, once. A wrong number gives a failing read.
    #[allow(unsafe_code)]
    let owned = unsafe { OwnedFd::from_raw_fd(number) };
    Ok(UnixStream::from(owned))
}
