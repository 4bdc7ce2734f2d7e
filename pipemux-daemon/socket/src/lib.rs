//! How the daemon and the client library write to and read from a connection. They share this crate
//! so that both ends of a socket behave alike.
//!
//! The socket avoids spurious wake-ups: it watches for something to read and, only while a write
//! has to wait, for room to write. The runtime's own streams always watch for both. Then each read
//! by the peer wakes this side, because it makes room, and every message costs a wake-up for
//! nothing.
//!
//! **Invariant: it never waits.** When an operation is pending, the waker is woken once it can go
//! on.
//!
//! | module | contents |
//! |---|---|
//! | `socket` | the socket of one connection |
//! | `acceptor` | accepts connections |
//! | `write_queue` | bytes that wait for the socket, gathered into few writes |
#![forbid(unsafe_code)]

mod acceptor;
mod socket;
mod write_queue;

pub use acceptor::{Acceptor, peer_uid};
pub use socket::Socket;
pub use write_queue::{COPIED_FRAME_MAX, SLICES_PER_WRITE, SpareBuffers, WriteQueue};

#[cfg(test)]
mod tests;
