//! A process of an app: how it answers a frame, depending on its behaviour.

use std::collections::{BTreeMap, BTreeSet};

use pipemux_core::Exit;
use pipemux_proto::app::{
    Empty, Invoke, KeyLocation, Locate, Located, OpenRequest, Opened, Outcome, Project,
    ReadRequest, Saved,
};
use pipemux_proto::hello::{PER_READER, ProtocolVersion, UNREPORTED_CHANGES};
use pipemux_proto::job::{CancelJob, JobEnd, JobReport, Started};
use pipemux_proto::projection::Projection;
use pipemux_proto::{Envelope, Fault, Frame, Hello, Incarnation, Kind, Method, Role, decode};

#[path = "../world/wire.rs"]
mod wire;

pub use wire::{frame, frames, garbage};

use crate::action::Behaviour;
use crate::jobs::{ended, job_report};
use crate::sessions::SessionKey;
use crate::store::{Store, prototypes};

/// Bytes of a value in one reply: few, so that values come in several replies.
const CHUNK: usize = 24;

/// A process of an app.
#[derive(Debug)]
pub struct Process {
    /// The session for which it was started.
    pub session_key: SessionKey,
    /// The sessions in it, by incarnation.
    pub sessions: BTreeMap<Incarnation, SessionKey>,
    /// True when sessions share it.
    pub shared: bool,
    /// The incarnations that were opened in it.
    pub opened: BTreeSet<Incarnation>,
    /// False once its end is in flight.
    pub alive: bool,
    /// True once it runs; it sends nothing before.
    pub started: bool,
    /// True once its connection is closed.
    pub closed: bool,
    /// When the last of its frames in flight arrives.
    pub last_sent_at: u64,
    /// Frames that it read while it hung.
    pub held: Vec<Frame>,
    /// Open requests, by id.
    pub unanswered: BTreeMap<u64, Envelope>,
    /// The newest request that it answered, for a duplicate answer.
    pub answered: Option<Envelope>,
    /// The state of sessions before their last step, for processes that handle requests
    /// concurrently.
    pub before: BTreeMap<Incarnation, Store>,
    /// The incarnations that were closed in it.
    pub closed_sessions: Vec<Incarnation>,
    /// True once it misbehaved.
    pub misbehaved: bool,
    /// True once it was asked or forced to end.
    pub ending: bool,
    /// The running jobs of each incarnation.
    pub jobs: BTreeMap<Incarnation, BTreeSet<String>>,
    /// The incarnations that were asked to save their state, and those whose open was refused.
    pub saved: BTreeSet<Incarnation>,
    pub refused: BTreeSet<Incarnation>,
}

/// What a process does when a frame arrives.
#[derive(Debug, Default)]
pub struct Reaction {
    pub frames: Vec<Frame>,
    pub exit: Option<Exit>,
    /// An action, and whether it took effect.
    pub invoked: Option<(Invoke, bool)>,
    /// True when it continued from its saved state.
    pub woken: bool,
    /// Whether an open was accepted.
    pub opened: Option<bool>,
    /// The daemon claimed to know a version that this window was never sent.
    pub wrong_known: Option<String>,
}

impl Process {
    pub fn new(app: Incarnation, session_key: SessionKey, shared: bool) -> Self {
        let sessions = if shared { BTreeMap::new() } else { [(app, session_key)].into() };
        Self {
            session_key,
            sessions,
            shared,
            opened: BTreeSet::new(),
            alive: true,
            started: false,
            closed: false,
            last_sent_at: 0,
            held: Vec::new(),
            unanswered: BTreeMap::new(),
            answered: None,
            before: BTreeMap::new(),
            closed_sessions: Vec::new(),
            misbehaved: false,
            ending: false,
            jobs: BTreeMap::new(),
            saved: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }

    /// True while a session is in it.
    pub fn has(&self, session_key: SessionKey) -> bool {
        self.session_key == session_key && !self.shared
            || self.sessions.values().any(|of| *of == session_key)
    }

    pub fn react(
        &mut self,
        incarnation: Incarnation,
        frame: &Frame,
        behaviour: Behaviour,
        store: &mut Store,
    ) -> Reaction {
        let envelope = frame.envelope;
        let mut reaction = Reaction::default();
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => {
                if matches!(behaviour, Behaviour::Hangs | Behaviour::Stopped) {
                    self.held.push(frame.clone());
                }
                return greet(incarnation, behaviour, store.shows_each_reader_its_own());
            }
            (Kind::Request, _) => {}
            (Kind::Cancel, _) => {
                self.unanswered.remove(&envelope.id);
                return reaction;
            }
            _ => return reaction,
        }
        self.unanswered.insert(envelope.id, envelope);
        match (behaviour, envelope.method) {
            (Behaviour::DiesOnInvoke(false), Method::Invoke)
            | (Behaviour::DiesOnProject, Method::Project)
            | (Behaviour::DiesOnOpen, Method::AppOpen) => {
                reaction.exit = Some(Exit::Signal(11));
                return reaction;
            }
            (Behaviour::Hangs | Behaviour::Stopped, _) => {
                self.held.push(frame.clone());
                return reaction;
            }
            _ => {}
        }
        let reply = self.answer(frame, behaviour, store, &mut reaction);
        match behaviour {
            Behaviour::DiesOnInvoke(true) if envelope.method == Method::Invoke => {
                reaction.exit = Some(Exit::Code(101));
                return reaction;
            }
            Behaviour::Garbage => reaction.frames.push(garbage(reply.envelope)),
            Behaviour::Twice => reaction.frames.extend([reply.clone(), reply]),
            _ => reaction.frames.push(reply),
        }
        if envelope.method == Method::Project {
            self.report_jobs(envelope, behaviour, &mut reaction);
        }
        if envelope.method == Method::AppClose {
            self.jobs.remove(&envelope.incarnation);
            self.sessions.remove(&envelope.incarnation);
            // A shared process runs on for its other sessions until it is asked to end itself.
            reaction.exit = (!self.shared).then_some(Exit::Code(0));
        }
        reaction
    }

    /// Reports on jobs, after a window was sent: progress, an end, and ends that were told before.
    fn report_jobs(&mut self, request: Envelope, behaviour: Behaviour, reaction: &mut Reaction) {
        let incarnation = request.incarnation;
        let own = self.jobs.entry(incarnation).or_default();
        if matches!(behaviour, Behaviour::Garbage) || own.is_empty() {
            return;
        }
        match request.id % 3 {
            0 => {
                for key in own.iter().cloned() {
                    let (done, total) = (Some(request.id), Some(1_000));
                    let report = JobReport { job: key, done, total, ..JobReport::default() };
                    reaction.frames.push(job_report(incarnation, report));
                }
            }
            1 => {
                let end = if request.id.is_multiple_of(2) { JobEnd::Done } else { JobEnd::Failed };
                let key = own.pop_first().unwrap_or_default();
                reaction.frames.push(job_report(incarnation, ended(key.clone(), end)));
                // Later words about it mean nothing.
                reaction.frames.push(job_report(incarnation, ended(key, JobEnd::Cancelled)));
            }
            _ => {}
        }
    }

    fn answer(
        &mut self,
        request: &Frame,
        behaviour: Behaviour,
        store: &mut Store,
        reaction: &mut Reaction,
    ) -> Frame {
        let envelope = request.envelope;
        let reply = envelope.answer(Kind::Reply);
        let refuse = |fault: &Fault| frame(&envelope.answer(Kind::Fault), fault);
        match envelope.method {
            Method::AppOpen if behaviour == Behaviour::RefusesOpen => {
                // A refused open that is repeated at a start leaves the session running.
                let open: OpenRequest = decode(&request.body).expect("an OpenRequest");
                reaction.opened = Some(open.again);
                refuse(&Fault::failed("no"))
            }
            Method::AppOpen => {
                reaction.opened = Some(true);
                let open: OpenRequest = decode(&request.body).expect("an OpenRequest");
                let resumed = open.woken.filter(|woken| store.resumed && *woken == store.version);
                reaction.woken = resumed.is_some();
                // Half of the jobs go on.
                let mut jobs = open.jobs;
                jobs.retain(|key| store.works && key.len() % 2 == 0);
                let own = self.jobs.entry(envelope.incarnation).or_default();
                own.extend(jobs.iter().cloned());
                frame(&reply, &Opened { resumed, jobs, ..Opened::default() })
            }
            Method::Save => {
                store.save();
                frame(&reply, &Saved { version: Some(store.version), wake_at: None })
            }
            Method::Project => {
                let ask: Project = decode(&request.body).expect("a Project");
                let own = store.shows_each_reader_its_own();
                let reader = if own { ask.reader.as_str() } else { "" };
                let projection_key =
                    |version| (ask.window, ask.lod, ask.budget, version, reader.to_owned());
                let before = self.before.remove(&envelope.incarnation);
                if let Some(before) = before.filter(|_| behaviour == Behaviour::AtOnce) {
                    if before.total % 2 == 0 {
                        return refuse(&Fault::refused("a step is under way"));
                    }
                    store.shown.insert(projection_key(before.version));
                    store.versions.insert((before.version, before.total));
                    return frame(&reply, &before.project_for(reader, ask.lod));
                }
                if let Some(known) =
                    ask.known_version.filter(|v| !store.shown.contains(&projection_key(*v)))
                {
                    reaction.wrong_known =
                        Some(format!("{ask:?} of incarnation {}: v{known}", envelope.incarnation));
                }
                if ask.known_version == Some(store.version) {
                    let version = store.version;
                    return frame(
                        &reply,
                        &Projection { version, unchanged: true, ..Projection::default() },
                    );
                }
                store.shown.insert(projection_key(store.version));
                store.versions.insert((store.version, store.total));
                frame(&reply, &store.project_for(reader, ask.lod))
            }
            Method::Invoke => {
                let invoke: Invoke = decode(&request.body).expect("an Invoke");
                if behaviour == Behaviour::AtOnce {
                    self.before.insert(envelope.incarnation, store.clone());
                }
                let mut executed = store.invoke(&invoke);
                if let Some(started) = job_of(&executed.outcome, &invoke, store) {
                    let own = self.jobs.entry(envelope.incarnation).or_default();
                    own.insert(started.job.clone());
                    executed.outcome = Outcome::Started(started);
                }
                reaction.invoked = Some((invoke, executed.effect));
                frame(&reply, &executed.outcome)
            }
            Method::AppRead => {
                let read: ReadRequest = decode(&request.body).expect("a ReadRequest");
                match store.check(&read.key, read.rev) {
                    Ok(note) => frame(&reply, &wire::chunk(&store.value(note), &read, CHUNK)),
                    Err(fault) => refuse(&fault),
                }
            }
            Method::Locate => {
                let locate: Locate = decode(&request.body).expect("a Locate");
                let places = locate.keys.iter().map(|key| match store.note(key) {
                    Some(note) if note.hidden => KeyLocation::Hidden("it is hidden".into()),
                    Some(_) => KeyLocation::Shown,
                    None => KeyLocation::Gone(Some("it was removed".into())),
                });
                frame(&reply, &Located { places: places.collect(), ..Located::default() })
            }
            Method::CancelJob => {
                let cancel: CancelJob = decode(&request.body).expect("a CancelJob");
                let own = self.jobs.entry(envelope.incarnation).or_default();
                if own.remove(&cancel.job) {
                    let report = ended(cancel.job, JobEnd::Cancelled);
                    reaction.frames.push(job_report(envelope.incarnation, report));
                }
                frame(&reply, &Empty {})
            }
            _ => frame(&reply, &Empty {}),
        }
    }
}

/// Returns the job that an action begins, for some actions that took effect.
fn job_of(outcome: &Outcome, invoke: &Invoke, store: &Store) -> Option<Started> {
    let Outcome::Done(done) = outcome else { return None };
    let begins = store.works && store.total.is_multiple_of(5) && !invoke.nested;
    if !begins || !matches!(invoke.action.as_str(), "say" | "add" | "edit") {
        return None;
    }
    Some(Started {
        job: format!("{}j{}", store.name, store.total),
        brief: done.brief.clone(),
        total: 0,
        version: done.version,
        links: done.links.clone(),
        sleeps: store.total.is_multiple_of(10),
        named: store.total.is_multiple_of(15),
        complete: false,
        fails_alone: false,
        ran_ms: 0,
        ended_jobs: Vec::new(),
        no_undo: None,
    })
}

fn greet(incarnation: Incarnation, behaviour: Behaviour, per_reader: bool) -> Reaction {
    // Half of the apps say that their state may change without an event.
    let mut features = match incarnation.0 % 2 {
        0 => vec![UNREPORTED_CHANGES.to_owned()],
        _ => Vec::new(),
    };
    features.extend(per_reader.then(|| PER_READER.to_owned()));
    let hello = Hello { features, prototypes: prototypes(), ..Hello::new(Role::App, "model 1") };
    let greeting = |hello: &Hello| frame(&Envelope::event(Method::Hello, incarnation), hello);
    match behaviour {
        Behaviour::NoHello | Behaviour::Hangs | Behaviour::Stopped => Reaction::default(),
        Behaviour::DiesAtStart => Reaction { exit: Some(Exit::Code(1)), ..Reaction::default() },
        Behaviour::WrongVersion => {
            let protocol = ProtocolVersion { major: 99, minor: 0 };
            let frames = vec![greeting(&Hello { protocol, ..hello })];
            Reaction { frames, ..Reaction::default() }
        }
        _ => Reaction { frames: vec![greeting(&hello)], ..Reaction::default() },
    }
}
