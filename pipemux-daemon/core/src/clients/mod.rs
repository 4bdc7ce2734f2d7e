//! Clients: their connections, their requests and the one answer to each, and exchanges.
//!
//! | module | decides |
//! |---|---|
//! | [`connection`] | who is connected, has greeted, and how much each has open |
//! | [`identity`] | which process a client is, and that what an app starts doesn't act as the user |
//! | [`requests`] | a client's request from the frame that brings it to its one answer |
//! | [`idempotency`] | answers of acting requests, kept so that one sent again isn't carried out twice |
//! | [`exchange`] | bytes between a client and an app that the daemon doesn't read |
//!
//! **Invariant: exactly one answer.** A request leaves the table only in [`Clients::answer`] and
//! [`Clients::answer_in_parts`], and each of them sends an answer.

pub mod connection;
pub mod exchange;
pub mod idempotency;
pub mod identity;
pub mod requests;

use std::collections::{BTreeMap, HashMap};

use pipemux_proto::Frame;
use pipemux_proto::envelope::Envelope;

use crate::event::{ClientId, Effect};
use crate::keys::RequestId;
use crate::turn::Turn;

use connection::Connection;
use exchange::{Exchanges, PendingAttach};
use idempotency::IdempotencyRecords;
use requests::ClientRequest;

/// Connected clients and what they have asked for.
#[derive(Debug, Default)]
pub struct Clients {
    /// What the greeting calls this software.
    software: String,
    connections: BTreeMap<ClientId, Connection>,
    requests: HashMap<RequestId, ClientRequest>,
    records: IdempotencyRecords,
    /// Exchanges that have no answer yet.
    exchanges: Exchanges,
    /// Clients that wait for a session to become ready, to exchange with it.
    attaching: Vec<PendingAttach>,
}

impl Clients {
    /// No clients yet. `software` is what the greeting calls the daemon.
    pub fn new(software: String) -> Self {
        Self { software, ..Self::default() }
    }

    /// How many clients are connected.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// How many requests of a client have no answer yet.
    pub fn open_requests(&self, client: ClientId) -> usize {
        self.connections.get(&client).map_or(0, |connection| connection.open)
    }

    /// Sends a frame; one that is too large is replaced by a refusal.
    fn send<T: serde::Serialize>(
        &self,
        turn: &mut Turn,
        client: ClientId,
        envelope: &Envelope,
        body: &T,
    ) {
        let bytes = Frame::encode(envelope, body).unwrap_or_else(|error| {
            let fault = pipemux_proto::Fault::refused(error.to_string())
                .hint("a smaller --budget fits one answer");
            Frame::fault(envelope, &fault).unwrap_or_default()
        });
        turn.effects.push(Effect::ToClient { client, bytes });
    }
}
