//! Carries out the daemon's effects as a driver would, and checks that each of them is well-formed.

use std::collections::BTreeSet;

use pipemux_core::event::LogText;
use pipemux_core::peer::PeerProcess;
use pipemux_core::saved::Record;
use pipemux_core::{ClientId, Effect, Event, Exit, Signal, Start, Usage, UsageReport};
use pipemux_proto::client::Answer;
use pipemux_proto::{Fault, Hello, Incarnation, Kind, Method, decode};

use crate::action::Behaviour;
use crate::law::{LawResult, law};
use crate::process::{Process, frames};
use crate::sessions::SessionKey;
use crate::sim::{InFlight, Sim};

impl Sim {
    /// Carries effects out in their order. If the daemon is killed in between, the rest is lost.
    pub fn carry_out(&mut self, effects: Vec<Effect>) -> LawResult {
        for effect in effects {
            match self.daemon.crash_in {
                Some(0) => return self.crash(),
                Some(left) => self.daemon.crash_in = Some(left - 1),
                None => {}
            }
            law!(
                !self.daemon.stopped || matches!(effect, Effect::Persist(_)),
                "a stopped daemon has no effects",
                "{effect:?}"
            );
            match effect {
                Effect::ToClient { client, bytes } => self.send_client(client, &bytes)?,
                Effect::ToClientInParts { client, parts } => {
                    self.send_client(client, &parts.concat())?;
                }
                Effect::CloseClient { client } => self.close_client(client)?,
                // As a driver does, before anything else is handed in.
                Effect::IdentifyClient { client } => {
                    let marked = self.clients.get(&client).is_some_and(|conn| conn.below_app);
                    let peer = PeerProcess { pid: Some(2), marked, ..PeerProcess::default() };
                    self.queue.push_front(Event::ClientIdentified { client, peer });
                }
                Effect::Audit(entry) => self.statistics.count(match entry.exit {
                    0 => "audited: done",
                    _ => "audited: not done",
                }),
                Effect::ToApp { app, bytes } => self.send_app(app, &bytes)?,
                Effect::Start(start) => self.start(&start)?,
                Effect::Signal { app, signal } => self.signal(app, signal)?,
                Effect::StoreValue { request, path, .. } => {
                    self.queue.push_back(Event::ValueStored { request, stored: Ok(path) });
                }
                Effect::RemoveValues { .. } => {}
                Effect::ReadLog { request, log, lines, .. } => {
                    law!(
                        log.starts_with("/state/logs/") && lines > 0,
                        "a log effect names a log file",
                        "{log}"
                    );
                    self.queue.push_back(log_read(request));
                }
                Effect::WatchLog { request, log, lines, .. } => {
                    law!(
                        log.starts_with("/state/logs/") && lines > 0,
                        "a log effect names a log file",
                        "{log}"
                    );
                    self.send(300, InFlight::LogRead(request));
                }
                Effect::UnwatchLog { request } => self.in_flight.retain(
                    |_, due| !matches!(due, InFlight::LogRead(watched) if *watched == request),
                ),
                Effect::ReadUsage { request, sessions } => {
                    let sessions = vec![Usage::default(); sessions.len()];
                    let report = UsageReport { own: Usage::default(), sessions };
                    self.queue.push_back(Event::UsageRead { request, report });
                }
                Effect::LoadProviders { request, .. } => {
                    let read = Err(Fault::refused("there are no manifests here"));
                    self.queue.push_back(Event::Providers { request, read });
                }
                Effect::Persist(record) => self.persist(record)?,
                Effect::Prepare { state_dir } => {
                    let session_key = SessionKey::of_dir(&state_dir);
                    law!(session_key.is_some(), "a session has its own directory", "{state_dir}");
                    self.prepared.extend(session_key);
                }
                Effect::Discard { state_dir } => self.discard(&state_dir)?,
                Effect::EndLog { .. } | Effect::NoteLog { .. } => {}
                Effect::Stopped => self.daemon.stopped = true,
                #[allow(unreachable_patterns)]
                other => law!(false, "every effect is known", "{other:?}"),
            }
        }
        if self.daemon.stopped {
            return self.stopped();
        }
        Ok(())
    }

    /// Checks that a stopped daemon left no process and no open request, and starts the next one.
    fn stopped(&mut self) -> LawResult {
        self.statistics.count("daemon ended in order");
        let alive: Vec<_> = self.processes.keys().filter(|app| !self.ended.contains(app)).collect();
        law!(alive.is_empty(), "the daemon stops after its processes", "{alive:?} are there");
        self.check_all_answered()?;
        self.lossy |= self.daemon.disk_full;
        self.restart_daemon()
    }

    fn persist(&mut self, record: Record) -> LawResult {
        let encoded = pipemux_proto::encode(&record).map_err(|error| error.to_string());
        let read =
            encoded.and_then(|bytes| decode::<Record>(&bytes).map_err(|error| error.to_string()));
        law!(read.as_ref() == Ok(&record), "a record can be read again", "{record:?}: {read:?}");
        self.knowledge.record(&record)?;
        self.jobs.record(&record)?;
        self.daemon.persist(record);
        Ok(())
    }

    fn discard(&mut self, state_dir: &str) -> LawResult {
        let session_key = SessionKey::of_dir(state_dir);
        law!(session_key.is_some(), "only a session's directory is removed", "{state_dir}");
        let Some(session_key) = session_key else { return Ok(()) };
        let runs = self.processes.values().any(|process| process.alive && process.has(session_key));
        law!(!runs, "a running session keeps its directory", "{state_dir}");
        self.statistics.count("store discarded");
        let nth = self.discarded.entry(session_key).or_insert(1);
        *nth += 1;
        let mut store = crate::store::Store::new(session_key.tag(), *nth);
        store.works = !session_key.is_calm();
        self.stores.insert(session_key, store);
        Ok(())
    }

    fn start(&mut self, start: &Start) -> LawResult {
        let app = start.app;
        law!(
            !self.begun.contains(&app) && app > self.last_before,
            "an incarnation is never used again",
            "{app} after {} and {:?}",
            self.last_before,
            self.begun.last()
        );
        self.begun.insert(app);
        let session_key = SessionKey::of_dir(&start.state_dir);
        let Some(session_key) = session_key else {
            law!(false, "a session has its own directory", "{start:?}");
            return Ok(());
        };
        let provider = session_key.addr().split('/').next().unwrap_or_default();
        let well = start.command == format!("/apps/{provider}")
            && start.log.starts_with("/state/logs/")
            && start.cwd.starts_with('/')
            && start.env.iter().all(|(name, _)| name != "SECRET");
        law!(well, "a start is well-formed", "{start:?}");
        let shared = self.kind.hosts;
        let same = |other: &Process| match shared {
            true => other.session_key.provider() == session_key.provider(),
            false => other.session_key == session_key,
        };
        let mut others = self.processes.iter();
        let twin = others.find(|(other, process)| same(process) && !self.ended.contains(other));
        law!(twin.is_none(), "a session has one process", "{start:?} beside {twin:?}");
        self.prepared.insert(session_key);
        self.statistics.count("process started");
        let slow = self.pace(session_key);
        if self.behaviour(session_key) == Behaviour::Unstartable {
            self.send(slow, InFlight::StartFailed(app));
            self.note_behaviour(session_key, Behaviour::Unstartable);
        } else {
            let process = Process::new(app, session_key, shared);
            let misbehaved = self.is_misbehaving(session_key);
            self.processes.insert(app, Process { misbehaved, ..process });
            self.send(slow, InFlight::Started(app));
        }
        Ok(())
    }

    fn signal(&mut self, app: Incarnation, signal: Signal) -> LawResult {
        law!(self.begun.contains(&app), "a signal goes to a process that was started", "{app}");
        self.check_signal(app, signal)?;
        let Some(process) = self.processes.get(&app) else { return Ok(()) };
        let stubborn =
            |session_key: &SessionKey| self.behaviour(*session_key) == Behaviour::Stopped;
        let stubborn = stubborn(&process.session_key) || process.sessions.values().any(stubborn);
        match signal {
            Signal::Terminate if stubborn => {}
            Signal::Terminate => self.end_process(app, Exit::Signal(15), 1),
            Signal::Kill => self.end_process(app, Exit::Signal(9), 1),
        }
        Ok(())
    }

    fn send_client(&mut self, client: ClientId, bytes: &[u8]) -> LawResult {
        let frames = frames(bytes);
        law!(frames.is_ok(), "an effect holds whole frames", "{frames:?}");
        let known = self.clients.get(&client).is_some_and(|conn| !conn.gone);
        law!(known, "an answer goes to a connected client", "{client:?}");
        for frame in frames.unwrap_or_default() {
            let envelope = frame.envelope;
            match (envelope.kind, envelope.method) {
                (Kind::Event, Method::Hello) => {
                    let hello = decode::<Hello>(&frame.body);
                    law!(hello.is_ok(), "the daemon's greeting can be decoded", "{hello:?}");
                }
                (Kind::Reply, Method::Verb) => {
                    let answer = decode::<Answer>(&frame.body);
                    law!(answer.is_ok(), "an answer can be decoded", "{answer:?}");
                    if let Ok(answer) = answer {
                        self.answered(client, envelope.id, Ok(answer))?;
                    }
                }
                (Kind::Fault, _) => {
                    let fault = decode::<Fault>(&frame.body);
                    law!(fault.is_ok(), "a fault can be decoded", "{fault:?}");
                    if let Ok(fault) = fault {
                        law!(!fault.message.is_empty(), "a fault has a message", "{fault:?}");
                        self.answered(client, envelope.id, Err(fault))?;
                    }
                }
                (Kind::Reply, Method::Seen) => self.note_confirmed(client, envelope.id),
                (Kind::Reply, Method::Ping) => {}
                _ => law!(false, "a frame to a client has a client method", "{envelope:?}"),
            }
        }
        Ok(())
    }

    fn close_client(&mut self, client: ClientId) -> LawResult {
        let conn = self.clients.get_mut(&client);
        law!(conn.is_some(), "only a connected client is closed", "{client:?}");
        if let Some(conn) = conn {
            conn.closed_by_daemon = true;
            if !conn.gone {
                self.send(0, InFlight::ClientGone(client));
            }
        }
        Ok(())
    }

    pub fn behaviour(&self, session_key: SessionKey) -> Behaviour {
        self.behaviours.get(&session_key).copied().unwrap_or_default()
    }

    /// Returns the running process of a session.
    pub fn process_of(&self, session_key: SessionKey) -> Option<Incarnation> {
        let mut alive = self.processes.iter().filter(|(_, process)| process.alive);
        alive.find(|(_, process)| process.has(session_key)).map(|(incarnation, _)| *incarnation)
    }

    /// Returns the processes that run.
    pub fn live_processes(&self) -> BTreeSet<Incarnation> {
        let alive = self.processes.iter().filter(|(_, process)| process.alive);
        alive.map(|(incarnation, _)| *incarnation).collect()
    }
}

/// The event that answers a request to read a log.
pub fn log_read(request: u64) -> Event {
    let read = Ok(LogText { text: "a line\n".into(), next: 7, missed: 0 });
    Event::LogRead { request, read }
}
