//! A stream socket that avoids spurious wake-ups: it watches for something to read and, only while a write
//! has to wait, for room to write.
//!
//! The runtime's own streams always watch for both. Then each read by the peer wakes this side, because it
//! makes room, and every message costs a wake-up for nothing. Both the daemon and the client use this socket.
//!
//! **Invariant: it never waits.** When an operation is pending, the waker is woken once it can go on.
//!
//! | module | contents |
//! |---|---|
//! | `socket` | the socket of one connection |
//! | `acceptor` | accepts connections |
#![forbid(unsafe_code)]

mod acceptor;
mod socket;

pub use acceptor::{Acceptor, peer_uid};
pub use socket::Socket;

#[cfg(test)]
mod tests;
