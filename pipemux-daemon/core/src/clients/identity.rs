//! Who acts: a client's process is asked for when it first acts, and a process that an app started
//! never acts as the user.
//!
//! A client that only reads is never looked up, since that takes a few system calls for each of its
//! ancestors. The driver answers [`Effect::IdentifyClient`] before it hands in anything else; what
//! the client asked for waits that long.

use std::rc::Rc;

use pipemux_proto::Fault;

use crate::audit::AuditEntry;
use crate::clients::connection::{ClientInput, Connection, Connections, ExchangeTotals};
use crate::event::{ClientId, Effect};
use crate::peer::{Evidence, PeerProcess};
use crate::processes::Processes;
use crate::turn::Turn;

impl ClientInput {
    /// True for what only the user's own programs may ask for.
    fn acts(&self) -> bool {
        match self {
            Self::Verb(_, call, _) => call.verb.changes(),
            Self::Attach(..) => true,
            Self::Seen(..) | Self::Cancel(_) => false,
        }
    }
}

impl Connections {
    /// Holds a client's request until the client's process is known, if the request needs that.
    /// Otherwise returns the request.
    pub(super) fn hold_until_identified(
        &mut self,
        turn: &mut Turn,
        client: ClientId,
        input: ClientInput,
    ) -> Option<ClientInput> {
        let connection = self.get_mut(client)?;
        if connection.peer.is_some() || !input.acts() {
            return Some(input);
        }
        connection.held.push(input);
        if connection.held.len() == 1 {
            turn.effects.push(Effect::IdentifyClient { client });
        }
        None
    }

    /// Takes in which process a client is. Returns what it has asked for meanwhile.
    pub fn identified(&mut self, client: ClientId, peer: PeerProcess) -> Vec<ClientInput> {
        let Some(connection) = self.get_mut(client) else { return Vec::new() };
        connection.peer = Some(Rc::new(peer));
        std::mem::take(&mut connection.held)
    }

    /// The process of a client that has acted.
    pub fn peer(&self, client: ClientId) -> Option<Rc<PeerProcess>> {
        self.get(client)?.peer.clone()
    }

    /// Returns the reason to refuse a client's request, if there is one: a process that is, or may
    /// be, an app's doesn't act as the user. `daemon` is the daemon's own process id.
    pub fn refusal(
        &self,
        client: ClientId,
        input: &ClientInput,
        processes: &Processes,
        daemon: u32,
    ) -> Option<Fault> {
        let peer = self.get(client)?.peer.as_ref().filter(|_| input.acts())?;
        let pid = || peer.pid.map_or(String::new(), |pid| format!("process {pid} "));
        let family = peer.family();
        if peer.marked || family.contains(&daemon) {
            let app = processes.incarnations().session_of_pids(&family);
            let app = app.map_or("an app".into(), |key| key.to_string());
            let said = format!(
                "{}was started by {app}: what an app starts can read, but not act as the user",
                pid()
            );
            return Some(Fault::refused(said).hint("run it in a shell that no app has started"));
        }
        let why = match peer.evidence {
            Evidence::Complete | Evidence::Unavailable => return None,
            Evidence::Ended => "has ended, so nobody knows who uses its connection",
            Evidence::Partial => "has ancestors that can't be found, so an app may have started it",
        };
        let said = format!("{}{why}: it can read, but not act as the user", pid());
        Some(Fault::refused(said).hint("connect again"))
    }
}

impl Connection {
    /// Writes down what a client that is gone has exchanged.
    pub(super) fn audit_exchanges(self, turn: &mut Turn) {
        let ExchangeTotals { workspace, count, sent, received } = self.totals;
        if count > 0 {
            let entry = AuditEntry::of_exchanges(&workspace, count, sent, received);
            turn.audit(AuditEntry { peer: self.peer, ..entry });
        }
    }
}
