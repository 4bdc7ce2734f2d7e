//! Clients: their connections, their requests and the one answer to each, and exchanges.
//!
//! | module | decides |
//! |---|---|
//! | [`connection`] | who is connected, has greeted, and how much each has open |
//! | [`identity`] | which process a client is, and that what an app starts doesn't act as the user |
//! | `frames` | what each frame of a client asks for |
//! | `admission` | which requests are taken, and which were answered before |
//! | [`requests`] | a client's request from its begin to its one answer |
//! | [`fitting`] | answers that fit one message, with their status in any case |
//! | [`idempotency`] | acting requests and their answers, remembered so that one sent again isn't carried out twice |
//! | [`pseudonyms`] | the ids of runs that apps are given instead of the clients' own |
//! | [`exchange`] | bytes between a client and an app that the daemon doesn't read |
//!
//! **Invariant: exactly one answer.** A request leaves the table only in [`Clients::answer`] and
//! [`Clients::answer_in_parts`], and each of them sends an answer.

mod admission;
pub mod client_request;
pub mod connection;
pub mod exchange;
mod fitting;
mod frames;
pub mod idempotency;
pub mod identity;
pub mod pseudonyms;
pub mod requests;

use pipemux_proto::hello::DaemonIdentity;
use rustc_hash::FxHashMap;

use crate::keys::RequestId;

use client_request::ClientRequest;
use connection::Connections;
use exchange::Exchanges;
use idempotency::IdempotencyRecords;
use pseudonyms::Pseudonyms;

/// Connected clients and what they have asked for.
#[derive(Debug, Default)]
pub struct Clients {
    pub(crate) connections: Connections,
    /// The requests that have no answer yet.
    requests: FxHashMap<RequestId, ClientRequest>,
    /// The bytes of the bodies of all requests, including those of clients that are gone.
    asked: usize,
    records: IdempotencyRecords,
    pseudonyms: Pseudonyms,
    pub(crate) exchanges: Exchanges,
}

impl Clients {
    /// No clients yet. `software` is what the greeting calls the daemon; the pseudonyms of runs are
    /// made with the key.
    pub fn new(
        software: String,
        identity: Option<DaemonIdentity>,
        pseudonym_key: [u8; 16],
    ) -> Self {
        let connections = Connections::new(software, identity);
        Self { connections, pseudonyms: Pseudonyms::new(pseudonym_key), ..Self::default() }
    }
}
