//! What the daemon wants: each is well-formed, and then it is done.

use std::collections::BTreeSet;

use pipemux_core::event::LogText;
use pipemux_core::saved::Record;
use pipemux_core::{ClientId, Effect, Event, Exit, Signal, Start};
use pipemux_proto::app::{Invoke, Locate, OpenRequest, Project, ReadRequest};
use pipemux_proto::client::Answer;
use pipemux_proto::{Fault, Frame, Hello, Incarnation, Kind, Method, decode};

use crate::action::Manner;
use crate::law::{Lawful, law};
use crate::places::Place;
use crate::process::{Process, frames};
use crate::sim::{Due, Sim};

impl Sim {
    /// Carries effects out in their order; a daemon that is killed in between leaves the rest undone.
    pub fn carry_out(&mut self, effects: Vec<Effect>) -> Lawful {
        for effect in effects {
            match self.daemon.crash_in {
                Some(0) => return self.crash(),
                Some(left) => self.daemon.crash_in = Some(left - 1),
                None => {}
            }
            law!(
                !self.daemon.stopped || matches!(effect, Effect::Persist(_)),
                "nothing comes after the end",
                "{effect:?}"
            );
            match effect {
                Effect::ToClient { client, bytes } => self.send_client(client, &bytes)?,
                Effect::ToClientInParts { client, parts } => {
                    self.send_client(client, &parts.concat())?;
                }
                Effect::CloseClient { client } => self.close_client(client)?,
                Effect::ToApp { app, bytes } => self.send_app(app, &bytes)?,
                Effect::Start(start) => self.start(&start)?,
                Effect::Signal { app, signal } => self.signal(app, signal)?,
                Effect::ReadLog { request, log, lines, .. } => {
                    law!(log.starts_with("/state/logs/") && lines > 0, "a log is a log", "{log}");
                    self.queue.push_back(log_read(request));
                }
                Effect::WatchLog { request, log, lines, .. } => {
                    law!(log.starts_with("/state/logs/") && lines > 0, "a log is a log", "{log}");
                    self.send(300, Due::LogRead(request));
                }
                Effect::UnwatchLog { request } => self
                    .on_its_way
                    .retain(|_, due| !matches!(due, Due::LogRead(watched) if *watched == request)),
                Effect::LoadProviders { request, .. } => {
                    let read = Err(Fault::refused("there are no manifests here"));
                    self.queue.push_back(Event::Providers { request, read });
                }
                Effect::Persist(record) => self.persist(record)?,
                Effect::Prepare { state_dir } => {
                    let place = Place::of_dir(&state_dir);
                    law!(place.is_some(), "a session has its own directory", "{state_dir}");
                    self.prepared.extend(place);
                }
                Effect::Discard { state_dir } => self.discard(&state_dir)?,
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

    /// An ordered end: every process has ended, every request is answered.
    fn stopped(&mut self) -> Lawful {
        self.figures.count("daemon ended in order");
        let alive: Vec<_> = self.processes.keys().filter(|app| !self.ended.contains(app)).collect();
        law!(alive.is_empty(), "the daemon outlives its apps", "{alive:?} are there");
        self.check_all_answered()?;
        self.lossy |= self.daemon.disk_full;
        self.begin_anew()
    }

    fn persist(&mut self, record: Record) -> Lawful {
        let encoded = pipemux_proto::encode(&record).map_err(|error| error.to_string());
        let read =
            encoded.and_then(|bytes| decode::<Record>(&bytes).map_err(|error| error.to_string()));
        law!(read.as_ref() == Ok(&record), "a record can be read again", "{record:?}: {read:?}");
        self.seen.record(&record)?;
        self.daemon.persist(record);
        Ok(())
    }

    fn discard(&mut self, state_dir: &str) -> Lawful {
        let place = Place::of_dir(state_dir);
        law!(place.is_some(), "only a session's directory is removed", "{state_dir}");
        let Some(place) = place else { return Ok(()) };
        let runs = self.processes.values().any(|process| process.alive && process.has(place));
        law!(!runs, "a running session keeps its directory", "{state_dir}");
        self.figures.count("store discarded");
        let nth = self.discarded.entry(place).or_insert(1);
        *nth += 1;
        self.stores.insert(place, crate::store::Store::new(place.tag(), *nth));
        Ok(())
    }

    fn start(&mut self, start: &Start) -> Lawful {
        let app = start.app;
        law!(
            !self.begun.contains(&app) && app > self.last_before,
            "a life's number is never used again",
            "{app} after {} and {:?}",
            self.last_before,
            self.begun.last()
        );
        self.begun.insert(app);
        let place = Place::of_dir(&start.state_dir);
        let Some(place) = place else {
            law!(false, "a session has its own directory", "{start:?}");
            return Ok(());
        };
        let provider = place.addr().split('/').next().unwrap_or_default();
        let well = start.command == format!("/apps/{provider}")
            && start.log.starts_with("/state/logs/")
            && start.cwd.starts_with('/')
            && start.env.iter().all(|(name, _)| name != "SECRET");
        law!(well, "a start is well-formed", "{start:?}");
        let shared = self.kind.hosts;
        let same = |other: &Process| match shared {
            true => other.place.provider() == place.provider(),
            false => other.place == place,
        };
        let mut others = self.processes.iter();
        let twin = others.find(|(other, process)| same(process) && !self.ended.contains(other));
        law!(twin.is_none(), "there is one process", "{start:?} beside {twin:?}");
        self.prepared.insert(place);
        self.figures.count("process started");
        let slow = self.pace(place);
        if self.manner(place) == Manner::Unstartable {
            self.send(slow, Due::StartFailed(app));
            self.note_manner(place, Manner::Unstartable);
        } else {
            let process = Process::new(app, place, shared);
            let wild = self.is_wild(place);
            self.processes.insert(app, Process { wild, ..process });
            self.send(slow, Due::Started(app));
        }
        Ok(())
    }

    fn signal(&mut self, app: Incarnation, signal: Signal) -> Lawful {
        law!(self.begun.contains(&app), "only processes are signalled", "{app}");
        self.check_signal(app, signal)?;
        let Some(process) = self.processes.get(&app) else { return Ok(()) };
        let stubborn = |place: &Place| self.manner(*place) == Manner::Stopped;
        let stubborn = stubborn(&process.place) || process.desk.values().any(stubborn);
        match signal {
            Signal::Terminate if stubborn => {}
            Signal::Terminate => self.dies(app, Exit::Signal(15), 1),
            Signal::Kill => self.dies(app, Exit::Signal(9), 1),
        }
        Ok(())
    }

    fn send_app(&mut self, app: Incarnation, bytes: &[u8]) -> Lawful {
        let frames = frames(bytes);
        law!(frames.is_ok(), "whole frames go out", "{frames:?}");
        law!(self.begun.contains(&app), "apps are started before they are spoken to", "{app}");
        law!(!self.ended.contains(&app), "the dead are not spoken to", "{app}");
        for frame in frames.unwrap_or_default() {
            let envelope = frame.envelope;
            self.check_life(app, &frame)?;
            if let Err(why) = app_frame(&frame) {
                law!(false, "what goes to an app can be read", "{envelope:?}: {why}");
            }
            if envelope.kind == Kind::Request {
                self.figures.count(format!("asked {:?}", envelope.method));
                crate::play::tell(|| told(&frame));
            }
            if envelope.kind == Kind::Request {
                self.check_lives(app, &frame)?;
            }
            if (envelope.kind, envelope.method) == (Kind::Request, Method::Invoke) {
                let invoke: Invoke = decode(&frame.body).expect("it was read already");
                self.rounds.sent(envelope, &invoke);
                self.check_invoke(app, envelope.incarnation, &invoke)?;
            }
            if (envelope.kind, envelope.method) == (Kind::Request, Method::Save) {
                let process = self.processes.get(&app);
                let place = process.and_then(|process| process.desk.get(&envelope.incarnation));
                place.copied().map_or(Ok(()), |place| self.check_sleep(place))?;
            }
            // It waits in the socket while the process is being started.
            self.send(0, Due::Arrives(app, frame));
        }
        let open = self.open_at(app);
        let lives = self.processes.get(&app).map_or(1, |process| process.desk.len().max(1));
        law!(
            open <= (pipemux_core::limits::APP_REQUESTS_MAX + 8) * lives,
            "an app's requests have a bound",
            "{open} at {app}"
        );
        Ok(())
    }

    /// A frame goes to the life that it names, which is in that process.
    fn check_life(&mut self, app: Incarnation, frame: &Frame) -> Lawful {
        let (envelope, life) = (frame.envelope, frame.envelope.incarnation);
        // One that could not be started: that isn't told yet, and nothing arrives.
        let Some(process) = self.processes.get_mut(&app) else { return Ok(()) };
        if !process.shared {
            law!(life == app, "a frame goes to the life that it names", "{envelope:?} to {app}");
            return Ok(());
        }
        if life == app {
            let own = matches!(envelope.method, Method::Hello | Method::AppClose);
            law!(own, "a process has no requests of its own", "{envelope:?}");
            return Ok(());
        }
        if envelope.method == Method::AppOpen && !process.desk.contains_key(&life) {
            let open: OpenRequest = decode(&frame.body).expect("an OpenRequest");
            let place = Place::of_dir(&open.state_dir);
            let Some(place) = place.filter(|place| self.prepared.contains(place)) else {
                law!(false, "a session has its own directory", "{open:?}");
                return Ok(());
            };
            let fits = place.provider() == process.place.provider() && !process.has(place);
            law!(fits, "a session has one life", "{place:?} in {process:?}");
            process.desk.insert(life, place);
            if process.desk.len() > 1 {
                self.figures.count("process shared");
            }
            let fresh = self.begun.insert(life) && life > self.last_before;
            law!(fresh, "a life's number is never used again", "{life}");
        }
        let process = self.processes.get(&app);
        // One that is ended before it was opened is only closed.
        let there = envelope.method == Method::AppClose
            || envelope.kind == Kind::Cancel
            || process.is_some_and(|process| process.desk.contains_key(&life));
        law!(there, "a frame goes to the life that it names", "{envelope:?} to {app}");
        Ok(())
    }

    /// Requests that a process has or is about to get.
    fn open_at(&self, app: Incarnation) -> usize {
        let owed = self.processes.get(&app).map_or(0, |process| process.owed.len());
        if owed < pipemux_core::limits::APP_REQUESTS_MAX / 2 {
            return owed;
        }
        let coming = self.on_its_way.values().filter(|due| match due {
            Due::Arrives(life, frame) => *life == app && frame.envelope.kind == Kind::Request,
            _ => false,
        });
        owed + coming.count()
    }

    fn send_client(&mut self, client: ClientId, bytes: &[u8]) -> Lawful {
        let frames = frames(bytes);
        law!(frames.is_ok(), "whole frames go out", "{frames:?}");
        let known = self.clients.get(&client).is_some_and(|conn| !conn.gone);
        law!(known, "only clients are answered", "{client:?}");
        for frame in frames.unwrap_or_default() {
            let envelope = frame.envelope;
            match (envelope.kind, envelope.method) {
                (Kind::Event, Method::Hello) => {
                    let hello = decode::<Hello>(&frame.body);
                    law!(hello.is_ok(), "the daemon greets", "{hello:?}");
                }
                (Kind::Reply, Method::Verb) => {
                    let answer = decode::<Answer>(&frame.body);
                    law!(answer.is_ok(), "an answer can be read", "{answer:?}");
                    if let Ok(answer) = answer {
                        self.answered(client, envelope.id, Ok(answer))?;
                    }
                }
                (Kind::Fault, _) => {
                    let fault = decode::<Fault>(&frame.body);
                    law!(fault.is_ok(), "a fault can be read", "{fault:?}");
                    if let Ok(fault) = fault {
                        law!(!fault.message.is_empty(), "a fault says why", "{fault:?}");
                        self.answered(client, envelope.id, Err(fault))?;
                    }
                }
                (Kind::Reply, Method::Seen | Method::Ping) => {}
                _ => law!(false, "what goes to a client is for clients", "{envelope:?}"),
            }
        }
        Ok(())
    }

    fn close_client(&mut self, client: ClientId) -> Lawful {
        let conn = self.clients.get_mut(&client);
        law!(conn.is_some(), "only clients are closed", "{client:?}");
        if let Some(conn) = conn {
            conn.closed_by_daemon = true;
            if !conn.gone {
                self.send(0, Due::ClientGone(client));
            }
        }
        Ok(())
    }

    pub fn manner(&self, place: Place) -> Manner {
        self.manners.get(&place).copied().unwrap_or_default()
    }

    /// The life of a place's process.
    pub fn life(&self, place: Place) -> Option<Incarnation> {
        let mut alive = self.processes.iter().filter(|(_, process)| process.alive);
        alive.find(|(_, process)| process.has(place)).map(|(life, _)| *life)
    }

    /// Lives that are there.
    pub fn lives(&self) -> BTreeSet<Incarnation> {
        let alive = self.processes.iter().filter(|(_, process)| process.alive);
        alive.map(|(life, _)| *life).collect()
    }
}

/// A log that was read.
pub fn log_read(request: u64) -> Event {
    let read = Ok(LogText { text: "a line\n".into(), next: 7, missed: 0 });
    Event::LogRead { request, read }
}

/// What an app is asked, in one line.
fn told(frame: &Frame) -> String {
    let envelope = frame.envelope;
    let body = match envelope.method {
        Method::AppOpen => format!("{:?}", decode::<OpenRequest>(&frame.body)),
        Method::Project => format!("{:?}", decode::<Project>(&frame.body)),
        _ => String::new(),
    };
    format!("→ life {}: {:?} {body}", envelope.incarnation, envelope.method)
}

/// Reads what goes to an app as a stranger would.
fn app_frame(frame: &Frame) -> Result<(), String> {
    let envelope = frame.envelope;
    fn read<T: serde::de::DeserializeOwned>(frame: &Frame) -> Result<(), String> {
        decode::<T>(&frame.body).map(|_| ()).map_err(|error| error.to_string())
    }
    match (envelope.kind, envelope.method) {
        (Kind::Event, Method::Hello) => read::<Hello>(frame),
        (Kind::Request, method) if envelope.id == 0 && method != Method::AppClose => {
            Err("a request without an id".into())
        }
        (Kind::Request, Method::AppOpen) => read::<OpenRequest>(frame),
        (Kind::Request, Method::Project) => read::<Project>(frame),
        (Kind::Request, Method::Invoke) => read::<Invoke>(frame),
        (Kind::Request, Method::AppRead) => read::<ReadRequest>(frame),
        (Kind::Request, Method::Locate) => read::<Locate>(frame),
        (Kind::Request, Method::Ping | Method::Save | Method::AppClose) => Ok(()),
        (Kind::Cancel, _) => Ok(()),
        (Kind::Reply, Method::Ping) => Ok(()),
        (Kind::Fault, _) => read::<Fault>(frame),
        _ => Err("not for an app".into()),
    }
}
