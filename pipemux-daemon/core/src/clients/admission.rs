//! Admits requests for verbs, if they can be decoded and don't exceed a limit. A retry of an acting
//! request is answered here.

use pipemux_proto::client::{Answer, Body, VerbRequest};
use pipemux_proto::envelope::{Envelope, Kind};
use pipemux_proto::limits::{CLIENT_NAME_MAX, HINT_OPTIONS_MAX, READER_TOKEN_MAX};
use pipemux_proto::{Code, Fault, Frame, decode};

use crate::audit::AuditNotes;
use crate::clients::Clients;
use crate::clients::connection::ClientInput;
use crate::clients::fitting;
use crate::clients::idempotency::{ActKey, Known};
use crate::clients::requests::answered;
use crate::event::{ClientId, Effect};
use crate::limits::{CLIENT_REQUEST_BYTES, CLIENT_REQUESTS_MAX, REQUESTS_BYTES, RUN_ID_MAX};
use crate::turn::Turn;

impl Clients {
    /// Admits a client's request for a verb. A request that can't be decoded or exceeds a limit is
    /// refused; a request that was answered before is answered again from its record.
    pub(super) fn admit(
        &mut self,
        turn: &mut Turn,
        client: ClientId,
        frame: &Frame,
    ) -> Option<ClientInput> {
        let (envelope, length) = (frame.envelope, frame.body.len());
        let read = read_call(&self.connections.software, frame);
        let checked = read.and_then(|call| self.check_room(client, length).map(|()| call));
        let known = checked.and_then(|call| {
            let answer = self.answered_before(&call, turn.now.unix_ms)?;
            Ok((call, answer))
        });
        match known {
            Ok((call, None)) => return Some(ClientInput::Verb(envelope, Box::new(call), length)),
            Ok((call, Some(answer))) => {
                let (bytes, _) = fitting::encode(&envelope, &call.verb, &answer);
                turn.measure(|| answered(client, &envelope, &call.verb, answer.exit));
                turn.effects.push(Effect::ToClient { client, bytes });
            }
            Err(fault) => self.connections.refuse(turn, client, &envelope, &fault),
        }
        None
    }

    /// Checks that there is room for a request whose body has this many bytes.
    fn check_room(&self, client: ClientId, length: usize) -> Result<(), Fault> {
        if self.connections.open_requests(client) >= CLIENT_REQUESTS_MAX {
            let why = format!("too many open requests (limit {CLIENT_REQUESTS_MAX})");
            return Err(Fault::refused(why));
        }
        let own = self.connections.get(client).map_or(0, |connection| connection.asked);
        let bounds = [
            (own, "one client", CLIENT_REQUEST_BYTES),
            (self.asked, "all clients", REQUESTS_BYTES),
        ];
        for (asked, of, most) in bounds {
            // A request is taken when there is no other, however long it is.
            if asked > 0 && asked + length > most {
                let why = format!("{asked} bytes of open requests of {of} (limit {most})");
                return Err(Fault::refused(why).hint("wait until one of them is answered"));
            }
        }
        Ok(())
    }

    /// Returns the recorded answer of a retried request, or an answer or fault that describes its
    /// state. Records a new request as running.
    fn answered_before(&mut self, call: &VerbRequest, now: u64) -> Result<Option<Answer>, Fault> {
        if !call.verb.acts() {
            return Ok(None);
        }
        let key = ActKey::of(call);
        match self.records.get(&key, now) {
            Known::New => {
                self.records.begin(&key, now);
                Ok(None)
            }
            Known::Answered(answer) => Ok(Some(answer)),
            Known::Running => Ok(Some(Answer {
                exit: Code::Unknown.exit_status(),
                body: Body::Text("unknown · this request is still being carried out\n".into()),
                delivery: 0,
                error: false,
            })),
            Known::Forgotten(age_ms) => Err(forgotten(age_ms)),
            Known::Ahead(ms) => Err(ahead(ms)),
        }
    }

    /// Refuses an admitted verb before anything came of it: it may be sent again under the same id.
    pub fn refuse_admitted(
        &mut self,
        turn: &mut Turn,
        client: ClientId,
        (envelope, call): (&Envelope, &VerbRequest),
        fault: &Fault,
    ) {
        if call.verb.acts() {
            self.records.forget(&ActKey::of(call));
        }
        let mut notes = AuditNotes::default();
        notes.set_result(&fault.message);
        let exit = fault.code.exit_status();
        self.audit(turn, client, (call.clone(), notes), exit);
        turn.measure(|| answered(client, envelope, &call.verb, exit));
        self.connections.send_fault(turn, client, &envelope.answer(Kind::Fault), fault);
    }
}

/// Reads a request for a verb, the texts of which aren't too long.
fn read_call(software: &str, frame: &Frame) -> Result<VerbRequest, Fault> {
    let call = decode::<VerbRequest>(&frame.body).map_err(|error| {
        Fault::refused(format!("an unreadable request: {error}"))
            .hint(format!("if the client is newer than {software}, end the daemon: pipemux down"))
    })?;
    let length = call.run_id.len();
    if call.verb.acts() && (length == 0 || length > RUN_ID_MAX) {
        let why = format!("run_id has {length} bytes, expected 1 to {RUN_ID_MAX}");
        return Err(Fault::refused(why).hint("make one that is unique for each acting request"));
    }
    let texts = [
        ("reader_token", call.reader_token.len(), READER_TOKEN_MAX),
        ("hint_options", call.hint_options.len(), HINT_OPTIONS_MAX),
        ("client", call.client.len(), CLIENT_NAME_MAX),
    ];
    match texts.into_iter().find(|(_, length, most)| length > most) {
        Some((name, length, most)) => {
            Err(Fault::refused(format!("{name} has {length} bytes, expected at most {most}")))
        }
        None => Ok(call),
    }
}

/// The fault for a request whose id is as old as some that were forgotten.
fn forgotten(age_ms: u64) -> Fault {
    let seconds = age_ms / 1000;
    let text = format!(
        "nothing was run now: the request is {seconds} s old, and the daemon doesn't remember any more \
         whether it carried out one that old"
    );
    Fault::new(Code::Unknown, text)
        .hint("look what was done: pipemux history; what was not, send under a new run_id")
}

/// The fault for a request whose id is ahead of the daemon's clock.
fn ahead(ms: u64) -> Fault {
    let seconds = ms / 1000;
    Fault::refused(format!("the time in run_id is {seconds} s ahead of the daemon's clock"))
        .hint("set the clock right, then make a new run_id")
}
