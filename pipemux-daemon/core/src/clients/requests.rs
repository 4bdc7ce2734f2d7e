//! Requests of clients that are being worked on, and their one answer.

use bytes::Bytes;
use pipemux_proto::Frame;
use pipemux_proto::client::{Answer, Verb, VerbRequest};
use pipemux_proto::envelope::{Envelope, Method};

use crate::audit::{AuditEntry, AuditNotes};
use crate::clients::Clients;
use crate::clients::client_request::{ClientRequest, patience};
use crate::clients::fitting;
use crate::clients::idempotency::{ActKey, Known};
use crate::clients::pseudonyms::Pseudonyms;
use crate::event::{ClientId, Effect};
use crate::foreign::Progress;
use crate::keys::{RequestId, WorkspaceKey};
use crate::limits::REQUEST_MS;
use crate::measurement::Measurement;
use crate::persist::records::{Record, SavedAct, SavedRound};
use crate::timers::Timer;
use crate::turn::Turn;

/// Milliseconds between two reports of a request's progress to its client.
const PROGRESS_MS: u64 = 100;

impl Clients {
    /// Begins an admitted verb: from now on it has exactly one answer.
    pub fn begin(
        &mut self,
        turn: &mut Turn,
        client: ClientId,
        envelope: Envelope,
        (call, length): (VerbRequest, usize),
        workspace: WorkspaceKey,
    ) -> RequestId {
        let id = RequestId(turn.next_local());
        let deadline = turn.mono_ms() + patience(envelope.deadline_ms, REQUEST_MS);
        turn.set_timer(deadline, Timer::ClientRequest(id));
        let key = ActKey::in_workspace(workspace.clone(), &call);
        let request = ClientRequest {
            id,
            client,
            envelope,
            call,
            workspace,
            key,
            deadline,
            length,
            recorded: false,
            progress_at: None,
            remark: None,
            audit: AuditNotes::default(),
        };
        self.requests.insert(id, request);
        self.asked += length;
        if let Some(connection) = self.connections.get_mut(client) {
            connection.open += 1;
            connection.asked += length;
        }
        id
    }

    /// Records, unless that was done already, that an acting request begins to act, with the round
    /// that its run becomes if the daemon crashes.
    pub fn record_begun(&mut self, turn: &mut Turn, id: RequestId, round: Option<SavedRound>) {
        let news = |request: &&mut ClientRequest| !request.recorded || round.is_some();
        if let Some(request) = self.requests.get_mut(&id).filter(news) {
            request.recorded = true;
            turn.persist(request.key.begun(turn.now.unix_ms, round));
        }
    }

    /// Writes down what an acting request's run has done since the last such record.
    pub fn record_progress(&mut self, turn: &mut Turn, id: RequestId, round: SavedRound) {
        if let Some(request) = self.requests.get(&id) {
            turn.persist(request.key.progressed(round));
        }
    }

    /// Returns the record of an acting request, with the round that its run becomes if the daemon
    /// crashes.
    pub fn begun(&self, id: RequestId, round: SavedRound) -> Option<Record> {
        let request = self.requests.get(&id)?;
        Some(request.key.begun(round.unix_ms, Some(round)))
    }

    /// Records that history has nothing more to report of a request: its effects now belong to a
    /// question.
    pub fn record_asked(&mut self, turn: &mut Turn, id: RequestId) {
        if let Some(request) = self.requests.get(&id).filter(|request| request.recorded) {
            turn.persist(request.key.begun(turn.now.unix_ms, None));
        }
    }

    /// Tells the client of a request how far that is, if it wants to know, and not too often.
    pub fn send_progress(&mut self, turn: &mut Turn, id: RequestId, progress: &Progress) {
        let now = turn.mono_ms();
        let Some(request) = self.requests.get_mut(&id) else { return };
        let wanted =
            self.connections.get(request.client).is_some_and(|client| client.wants_progress);
        if !wanted || request.progress_at.is_some_and(|last| now < last + PROGRESS_MS) {
            return;
        }
        request.progress_at = Some(now);
        let (client, id) = (request.client, request.envelope.id);
        let event = Envelope { id, ..Envelope::event(Method::Progress, Default::default()) };
        if let Ok(bytes) = Frame::encode(&event, progress) {
            turn.effects.push(Effect::ToClient { client, bytes });
        }
    }

    /// A request, if it has no answer yet.
    pub fn request(&self, id: RequestId) -> Option<&ClientRequest> {
        self.requests.get(&id)
    }

    /// Writes a request down in the audit log, if it is one that may have changed something.
    pub(super) fn audit(
        &self,
        turn: &mut Turn,
        client: ClientId,
        (call, notes): (VerbRequest, AuditNotes),
        exit: u8,
    ) {
        if let Some(entry) = AuditEntry::of_request(call, exit, notes) {
            turn.audit(AuditEntry { peer: self.connections.peer(client), ..entry });
        }
    }

    /// The audit notes of a request; `None` once it is answered.
    pub fn audit_notes(&mut self, id: RequestId) -> Option<&mut AuditNotes> {
        self.requests.get_mut(&id).map(|request| &mut request.audit)
    }

    /// Has a request's answer say that nothing has changed, unless a window in it has.
    pub fn add_remark(&mut self, id: RequestId, remark: String) {
        if let Some(request) = self.requests.get_mut(&id) {
            request.remark = Some(remark);
        }
    }

    /// The requests that have no answer yet, oldest first.
    pub fn open(&self) -> Vec<RequestId> {
        let mut open: Vec<RequestId> = self.requests.keys().copied().collect();
        open.sort_unstable();
        open
    }

    /// The number of requests that have no answer yet.
    pub fn open_count(&self) -> usize {
        self.requests.len()
    }

    /// Sends a request its only answer. The answer of an acting request is remembered, and also
    /// written to disk unless the request ran only queries: repeating those is safe and takes less
    /// time than writing.
    pub fn answer(&mut self, turn: &mut Turn, id: RequestId, answer: Answer) {
        let Some(request) = self.requests.remove(&id) else { return };
        self.asked = self.asked.saturating_sub(request.length);
        let exit = answer.exit;
        turn.measure(|| answered(request.client, &request.envelope, &request.call.verb, exit));
        turn.clear_timer(request.deadline, Timer::ClientRequest(id));
        let (bytes, shortened) = fitting::encode(&request.envelope, &request.call.verb, &answer);
        let (key, now, acts) = (request.key, turn.now.unix_ms, request.call.verb.acts());
        let only_queries = request.audit.only_queries
            || matches!(request.call.verb, Verb::Run { only_queries: true, .. });
        self.audit(turn, request.client, (request.call, request.audit), exit);
        if acts && self.records.get(&key, now) == Known::Running {
            if !request.recorded && !only_queries {
                turn.persist(key.begun(now, None));
            }
            if request.recorded || !only_queries {
                turn.persist(key.answered(exit));
            }
            let kept = Answer { delivery: 0, ..shortened.unwrap_or(answer) };
            self.records.end(&key, kept, now);
        }
        if let Some(connection) = self.connections.get_mut(request.client) {
            connection.open = connection.open.saturating_sub(1);
            connection.asked = connection.asked.saturating_sub(request.length);
            turn.effects.push(Effect::ToClient { client: request.client, bytes });
            self.connections.close_if_served(turn, request.client);
        }
    }

    /// Answers a request that runs no action with a frame in parts, which aren't copied. The exit
    /// status is 0.
    pub fn answer_in_parts(&mut self, turn: &mut Turn, id: RequestId, parts: Vec<Bytes>) {
        let Some(request) = self.requests.remove(&id) else { return };
        self.asked = self.asked.saturating_sub(request.length);
        turn.clear_timer(request.deadline, Timer::ClientRequest(id));
        let client = request.client;
        turn.measure(|| answered(client, &request.envelope, &request.call.verb, 0));
        self.audit(turn, client, (request.call, request.audit), 0);
        if let Some(connection) = self.connections.get_mut(client) {
            connection.open = connection.open.saturating_sub(1);
            connection.asked = connection.asked.saturating_sub(request.length);
            turn.effects.push(Effect::ToClientInParts { client, parts });
            self.connections.close_if_served(turn, client);
        }
    }

    /// Forgets an acting request of which nothing came: it may be sent again under the same id.
    pub fn forget_act(&mut self, key: &ActKey) {
        self.records.forget(key);
    }

    /// Takes in the record of an acting request; `exit` is none when it has no answer.
    pub fn restore_act(&mut self, key: &ActKey, unix_ms: u64, exit: Option<u8>) {
        self.records.restore(key, unix_ms, exit);
    }

    /// Takes in the records of one reader's acting requests, and how far others were forgotten.
    pub fn restore_acts(
        &mut self,
        workspace: Option<String>,
        reader: Option<String>,
        forgotten_to: u64,
        acts: Vec<SavedAct>,
    ) {
        for act in acts {
            let key = ActKey::saved(workspace.clone(), reader.clone(), &act.run_id);
            self.records.restore(&key, act.unix_ms, act.exit);
        }
        let owner = workspace.map(|workspace| (workspace, reader.unwrap_or_default()));
        self.records.restore_forgotten(owner, forgotten_to);
    }

    /// Refuses unknown acting requests made at or before this time, in milliseconds since 1970:
    /// their records may be lost.
    pub fn lost_acts(&mut self, unix_ms: u64) {
        self.records.lost_to(unix_ms);
    }

    /// Assigns the current time, in milliseconds since 1970, to requests that an earlier release
    /// recorded without a time.
    pub fn date_undated_acts(&mut self, unix_ms: u64) {
        self.records.date_undated(unix_ms);
    }

    /// Returns the records that restore what is known of acting requests.
    pub fn snapshot(&self) -> Vec<Record> {
        let mut saved = self.records.to_saved();
        saved.push(Record::PseudonymKey { key: self.pseudonyms.key() });
        saved
    }

    /// Returns the run id that apps are given. The client's own id can't be derived from it, and no
    /// other reader's run has it.
    pub fn pseudonym(&self, call: &VerbRequest) -> String {
        self.pseudonyms.of(&call.workspace.key, &call.reader, &call.run_id)
    }

    /// Restores the key of an earlier daemon's pseudonyms. A key of another length comes from a
    /// later release and is ignored.
    pub fn restore_pseudonym_key(&mut self, key: &[u8]) {
        if let Ok(key) = key.try_into() {
            self.pseudonyms = Pseudonyms::new(key);
        }
    }
}

/// What is counted of a request that has its answer.
pub(super) fn answered(
    client: ClientId,
    envelope: &Envelope,
    verb: &Verb,
    exit: u8,
) -> Measurement {
    Measurement::Answered { client, request: envelope.id, verb: verb.kind().name(), exit }
}
