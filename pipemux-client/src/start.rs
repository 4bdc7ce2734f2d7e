//! The process's first function.
//!
//! On Linux with glibc it takes the place of std's own start. That one reads the process's memory map, sets a
//! guard and a second stack up for a message on stack overflow, and looks at all three standard streams:
//! a tenth of what a whole `click` takes. What of it matters here is done here.

#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
use nix::sys::signal::{SigHandler, Signal};

/// Carries out the command line; returns the exit status.
pub fn exit_status() -> u8 {
    crate::cli::main(std::env::args_os().collect())
}

/// The first function where libc calls it. std has the arguments by then; a panic ends as std would end it.
// The attribute is what is unsafe: no other symbol of the program may have this name, and none has.
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn main(_: std::ffi::c_int, _: *const *const std::ffi::c_char) -> std::ffi::c_int {
    // A reader that went away is an error of writing, not the end of the process. As where std starts: what is
    // started from here has the default again, for `Command` sees to that.
    // SAFETY: no handler is installed, and nothing else of the program sets this signal's.
    let _ = unsafe { nix::sys::signal::signal(Signal::SIGPIPE, SigHandler::SigIgn) };
    std::panic::catch_unwind(exit_status).unwrap_or(101).into()
}
