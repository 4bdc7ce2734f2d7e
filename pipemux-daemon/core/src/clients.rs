//! Clients: their connections, their requests and the one answer to each, and exchanges.
//!
//! | module | decides |
//! |---|---|
//! | [`connection`] | who is connected, has greeted, and how much each has open |
//! | [`identity`] | which process a client is, and that what an app starts doesn't act as the user |
//! | [`requests`] | a client's request from the frame that brings it to its one answer |
//! | [`fitting`] | answers that fit one message, with their status in any case |
//! | [`idempotency`] | acting requests and their answers, remembered so that one sent again isn't carried out twice |
//! | [`pseudonyms`] | the ids of runs that apps are given instead of the clients' own |
//! | [`exchange`] | bytes between a client and an app that the daemon doesn't read |
//!
//! **Invariant: exactly one answer.** A request leaves the table only in [`Clients::answer`] and
//! [`Clients::answer_in_parts`], and each of them sends an answer.

pub mod connection;
pub mod exchange;
mod fitting;
pub mod idempotency;
pub mod identity;
pub mod pseudonyms;
pub mod requests;

use std::collections::BTreeMap;

use pipemux_proto::app::Empty;
use pipemux_proto::client::Attached;
use pipemux_proto::envelope::Envelope;
use pipemux_proto::hello::DaemonIdentity;
use pipemux_proto::{Fault, Frame, Hello};
use rustc_hash::FxHashMap;

use crate::event::{ClientId, Effect};
use crate::keys::RequestId;
use crate::turn::Turn;

use connection::Connection;
use exchange::{Exchanges, PendingAttach};
use idempotency::IdempotencyRecords;
use pseudonyms::Pseudonyms;
use requests::ClientRequest;

/// Connected clients and what they have asked for.
#[derive(Debug, Default)]
pub struct Clients {
    /// What the greeting calls this software.
    software: String,
    /// Which daemon the greeting says that it is.
    identity: Option<DaemonIdentity>,
    connections: BTreeMap<ClientId, Connection>,
    requests: FxHashMap<RequestId, ClientRequest>,
    /// The bytes of their bodies, also of those whose clients are gone.
    asked: usize,
    records: IdempotencyRecords,
    pseudonyms: Pseudonyms,
    /// Exchanges that have no answer yet.
    exchanges: Exchanges,
    /// Clients that wait for a session to become ready, to exchange with it.
    attaching: Vec<PendingAttach>,
}

impl Clients {
    /// No clients yet. `software` is what the greeting calls the daemon; the pseudonyms of runs are made with the key.
    pub fn new(
        software: String,
        identity: Option<DaemonIdentity>,
        pseudonym_key: [u8; 16],
    ) -> Self {
        Self { software, identity, pseudonyms: Pseudonyms::new(pseudonym_key), ..Self::default() }
    }

    /// How many clients are connected.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// How many requests of a client have no answer yet.
    pub fn open_requests(&self, client: ClientId) -> usize {
        self.connections.get(&client).map_or(0, |connection| connection.open)
    }

    /// Sends a message of the daemon's own, which is never long.
    fn send<T: ShortMessage>(
        &self,
        turn: &mut Turn,
        client: ClientId,
        envelope: &Envelope,
        body: &T,
    ) {
        let bytes = Frame::encode(envelope, body).unwrap_or_default();
        turn.effects.push(Effect::ToClient { client, bytes });
    }

    /// Sends a fault.
    fn send_fault(&self, turn: &mut Turn, client: ClientId, envelope: &Envelope, fault: &Fault) {
        let bytes = fitting::encode_fault(envelope, fault);
        turn.effects.push(Effect::ToClient { client, bytes });
    }
}

/// Messages that always fit a frame. Answers are none: see [`fitting`].
trait ShortMessage: serde::Serialize {}

impl ShortMessage for Hello {}
impl ShortMessage for Empty {}
impl ShortMessage for Attached {}
