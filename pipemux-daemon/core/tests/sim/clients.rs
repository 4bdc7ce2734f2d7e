//! Clients: connections, and the ends of requests.
//!
//! | law | why it must hold |
//! |---|---|
//! | a request has exactly one answer | a client would otherwise wait for ever, or take a second answer for another request's |
//! | an answered request watches no log | its task is over, and nobody would read the log |
//! | a request is answered by its deadline | the client stops waiting then |
//! | events of a closed session are dropped | a shared process may still send them |

use pipemux_core::{ClientId, Event};
use pipemux_proto::client::{self, Answer, Verb};
use pipemux_proto::{Envelope, Fault, Hello, Incarnation, Method, Role, decode};

use crate::action::ReaderIndex;
use crate::answer_content;
use crate::kept_answers;
use crate::law::{LawResult, law};
use crate::process::frame;
use crate::requests::Request;
use crate::sessions::CALM_READER;
use crate::sim::{InFlight, Sim};

/// The connection of a client.
#[derive(Debug, Default)]
pub struct Connection {
    pub next: u64,
    /// True once the daemon knows that it ended.
    pub gone: bool,
    /// True when nobody reads its answers, though the daemon doesn't know yet.
    pub deaf: bool,
    pub closed_by_daemon: bool,
    /// True when it is closed once its request is answered.
    pub once: bool,
    /// True when its process was started by an app.
    pub below_app: bool,
}

impl Sim {
    pub fn connect(&mut self) -> LawResult<ClientId> {
        self.next_client += 1;
        let client = ClientId(self.next_client);
        self.greet(client, Connection::default())
    }

    /// Opens a connection and greets.
    pub fn greet(&mut self, client: ClientId, connection: Connection) -> LawResult<ClientId> {
        self.clients.insert(client, connection);
        self.handle_event(Event::ClientOpened { client })?;
        let hello = Envelope::event(Method::Hello, Incarnation(0));
        let hello = frame(&hello, &Hello::new(Role::Client, "test"));
        self.handle_event(Event::ClientFrame { client, frame: hello })?;
        Ok(client)
    }

    pub fn kept(&mut self, who: ReaderIndex) -> LawResult<ClientId> {
        let open = |client: &ClientId| {
            self.clients.get(client).is_some_and(|c| !c.gone && !c.deaf && !c.closed_by_daemon)
        };
        if let Some(client) = self.kept[who].filter(open) {
            return Ok(client);
        }
        let daemon = self.daemon.nth;
        let client = self.connect()?;
        // If the daemon was lost meanwhile, the next one gives the number to another client.
        self.kept[who] = Some(client).filter(|_| self.daemon.nth == daemon);
        Ok(client)
    }

    /// Updates the models with an event that is about to be handed to the daemon.
    pub fn note_event(&mut self, event: &Event) {
        self.rounds.note_event(event);
        match event {
            Event::ClientClosed { client } => {
                if let Some(conn) = self.clients.get_mut(client) {
                    conn.gone = true;
                }
                let its = |request: &Request| request.client == *client && request.is_open();
                for index in 0..self.requests.len() {
                    if its(&self.requests[index]) {
                        self.note_unheard(index);
                        self.requests[index].abandoned = true;
                        self.requests[index].lost = true;
                    }
                }
            }
            Event::ClientFrame { client, frame } if frame.envelope.method == Method::Seen => {
                if let Ok(seen) = decode::<client::DeliveryAck>(&frame.body) {
                    if self.knowledge.is_remembered(seen.delivery) {
                        self.jobs.note_confirmation(*client, frame.envelope.id, seen.delivery);
                    }
                    self.knowledge.confirmed(seen.delivery, self.daemon.nth);
                }
            }
            Event::Exited { app, .. } | Event::StartFailed { app, .. } => {
                self.ended.insert(*app);
            }
            _ => {}
        }
    }

    /// Takes in the end of a request, and checks every law about it.
    pub fn answered(
        &mut self,
        client: ClientId,
        id: u64,
        answer: Result<Answer, Fault>,
    ) -> LawResult {
        let daemon = self.daemon.nth;
        let its = |request: &Request| {
            request.daemon == daemon
                && request.client == client
                && request.id == id
                && !request.lost
        };
        let Some(index) = self.requests.iter().rposition(its) else {
            // Clients that break the protocol keep no list of requests.
            return Ok(());
        };
        let deaf = self.clients.get(&client).is_some_and(|conn| conn.deaf);
        let request = &mut self.requests[index];
        law!(
            request.exit.is_none(),
            "a request has exactly one answer",
            "{:?} ended {:?}, then {answer:?}",
            request.call,
            request.exit
        );
        request.refused = answer.is_err();
        crate::play::trace(|| format!("→ {:?} of {}: {answer:?}", request.call.verb, request.who));
        let exit = answer.as_ref().map_or_else(|fault| fault.code.exit_status(), |a| a.exit);
        request.exit = Some(exit);
        request.waits_behind = answer.as_ref().is_ok_and(kept_answers::waits_behind);
        if request.waits_behind {
            self.statistics.count("run waits behind a question");
        }
        self.statistics.count(format!("exit {exit}"));
        if request.who == CALM_READER {
            let said = match &answer {
                Ok(Answer { body: client::Body::Report(report), .. }) => {
                    // The numbers of questions depend on other workspaces.
                    let mut report = report.clone();
                    report.question.iter_mut().for_each(|question| question.id = 0);
                    format!("{exit} {report:?}")
                }
                Ok(answer) => format!("{exit} {:?}", answer.body),
                Err(fault) => format!("{exit} {fault:?}"),
            };
            self.calm.push(format!(
                "{:?}: {}",
                request.call.verb,
                answer_content::unnumbered(&said)
            ));
        }
        law!(
            !format!("{answer:?}").contains("after its close"),
            "events of a closed session are dropped",
            "{answer:?}"
        );
        self.note_kept(index, &answer);
        self.check_wrong_answer(index, &answer)?;
        self.check_end(index, &answer)?;
        self.check_bounds(index, &answer)?;
        self.check_rounds(index, &answer)?;
        self.check_go(index)?;
        self.check_undone(index)?;
        self.check_opened(index, &answer)?;
        if let (Ok(answer), false) = (&answer, deaf) {
            self.read_answer(index, answer)?;
        }
        self.note_pin(index);
        self.note_gone(index);
        self.windows.fixed += u32::from(self.requests[index].fixes());
        if self.clients.get(&client).is_some_and(|conn| conn.once && !conn.deaf) {
            if let Some(conn) = self.clients.get_mut(&client) {
                conn.deaf = true;
            }
            self.queue.push_back(Event::ClientClosed { client });
        }
        Ok(())
    }

    /// Checks that no open request is past its deadline.
    pub fn check_deadlines(&mut self) -> LawResult {
        let recent = self.requests.iter().rev().take(600);
        for request in recent.filter(|request| request.is_open()) {
            law!(
                self.time <= request.until,
                "a request is answered by its deadline",
                "{:?}, due at {} ms, open at {} ms",
                request.call,
                request.until,
                self.time
            );
        }
        Ok(())
    }

    /// Checks that only open requests watch a log: a request that is answered or abandoned leaves
    /// nothing running.
    pub fn check_log_watches(&self) -> LawResult {
        let watches = self.in_flight.values().filter(|due| matches!(due, InFlight::LogRead(_)));
        let waits = |request: &&Request| matches!(request.call.verb, Verb::Logs { wait_ms, .. } if wait_ms > 0);
        let waiting = self.requests.iter().rev().take(600).filter(|request| request.is_open());
        let (watches, waiting) = (watches.count(), waiting.filter(waits).count());
        law!(
            watches <= waiting,
            "an answered request watches no log",
            "{watches} watches of {waiting} requests"
        );
        Ok(())
    }

    /// Checks, when all timers have run out, that no request is open.
    pub fn check_all_answered(&mut self) -> LawResult {
        let open = self.requests.iter().find(|request| request.is_open());
        law!(open.is_none(), "every request is answered", "{open:?}");
        Ok(())
    }
}
