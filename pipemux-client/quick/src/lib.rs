//! Carries out a plain command line before the C library starts.
//!
//! A static program's C library asks the processor for its features before `main`. In a virtual
//! machine each of these questions is answered by the host, which together takes longer than all
//! that a `pipemux click` does. So the program begins at [`entry!`] instead. A plain command line
//! is carried out here, with system calls alone: find the daemon, send one request, write its
//! answer. For any other line, and whenever something is not as usual, the program goes on where it
//! would have begun, as if nothing had been before. What was sent by then is handed over
//! ([`hand_over`]), so that nothing is sent twice.
//!
//! | module | holds |
//! |---|---|
//! | `entry` | where the program begins |
//! | `start` | arguments and environment, as the system puts them on the stack |
//! | `line` | plain command lines |
//! | `environment` | what the environment says of workspace, reader and daemon |
//! | `place` | the project around the current directory |
//! | `request` | greeting and request in bytes |
//! | `answer` | the daemon's greeting and answer |
//! | `exchange` | the order of all this |
//! | `pack` | MessagePack, written and read |
//! | `hand_over` | what the ordinary program goes on with |
//! | `memory` | the buffers |
//! | `sys` | system calls |
//! | `limits` | the bounds |
//!
//! **Invariant: nothing here uses the C library, the standard library, the heap or thread-local
//! storage.** None of them works yet. The crate is `no_std` and allocates nothing; the functions
//! that the compiler calls to move memory are replaced while it runs (`entry`).
//!
//! **Invariant: it decides nothing that the ordinary program decides differently.** It sends byte
//! for byte what that would send (`pipemux-client/cli/tests/client/quick.rs`), or leaves the line
//! to it.
#![no_std]
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[cfg(test)]
extern crate std;

mod answer;
mod entry;
mod environment;
mod exchange;
pub mod hand_over;
mod limits;
mod line;
mod memory;
mod pack;
mod place;
mod request;
mod start;
mod sys;

pub use exchange::before_main;
