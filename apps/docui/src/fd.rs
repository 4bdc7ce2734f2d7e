//! The socket that this process inherited from the launcher.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Takes ownership of the socket whose number is in `PIPEMUX_FD`. Call it at most once.
pub(crate) fn inherited() -> Result<UnixStream, String> {
    let text = std::env::var("PIPEMUX_FD").map_err(
        |_| "PIPEMUX_FD is not set: this program is a PipeMux app, start it with `pipemux open`",
    )?;
    let number: RawFd = text.parse().map_err(|_| format!("PIPEMUX_FD={text} is not a number"))?;
    if number < 3 {
        return Err(format!("PIPEMUX_FD={text} is a standard stream"));
    }
    // SAFETY: the launcher opened this descriptor for this process alone, and nothing else in the
    // process knows its number: `run` is the only caller, and calls this once. If the number is
    // wrong, reading from it fails.
    #[allow(unsafe_code)]
    let owned = unsafe { OwnedFd::from_raw_fd(number) };
    Ok(UnixStream::from(owned))
}
