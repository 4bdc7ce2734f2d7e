//! A process from its greeting to its first requests: what it can do, and the opens it is told.

use std::rc::Rc;

use pipemux_proto::app::{OpenRequest, meant_version};
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::{Fault, Frame, Hello, ProviderId};

use crate::foreign::{ForeignText, Opened};
use crate::intake;
use crate::keys::SessionKey;
use crate::persist::records::{Record, SavedOpen};
use crate::processes::app_profile::AppProfile;
use crate::processes::reply::{AppReply, Purpose};
use crate::processes::session::ProcessState;
use crate::processes::{ProcessEvent, Processes, Prototypes, ReadyProcess};
use crate::timers::Timer;
use crate::turn::Turn;

impl Processes {
    pub(super) fn handle_hello(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Incarnation,
        frame: &Frame,
    ) {
        let hello = match intake::read::<Hello>(&frame.body) {
            Ok(hello) => hello,
            Err(error) => {
                return self.break_app(turn, app, format!("an unreadable Hello: {error}"));
            }
        };
        if let Err(fault) = hello.check() {
            return self.break_app(turn, app, fault.message);
        }
        if let Err(error) = hello.prototypes.iter().try_for_each(Prototype::check) {
            return self.break_app(
                turn,
                app,
                format!("a Hello with a prototype that can't be: {error}"),
            );
        }
        let Some(session) = self.sessions.get_mut(key) else { return };
        match &mut session.process {
            ProcessState::Starting { greeted, .. } if !*greeted => *greeted = true,
            _ => return,
        }
        session.profile = AppProfile::of(&hello);
        self.any_per_reader |= session.profile.per_reader;
        let prototypes = self.learn(turn, &key.addr.provider, hello.prototypes);
        if let Some(session) = self.sessions.get_mut(key) {
            session.prototypes = prototypes;
        }
        self.events.push_back(ProcessEvent::ActionsChanged { session: key.clone() });
        if self.incarnations.is_shared(app) {
            self.send_start_open(turn, key, app, 0);
        }
    }

    /// Remembers what a provider's app can do, so that calls can be checked before it runs again. Its
    /// sessions share it.
    fn learn(
        &mut self,
        turn: &mut Turn,
        provider: &ProviderId,
        prototypes: Vec<Prototype>,
    ) -> Prototypes {
        if let Some(known) = self.prototypes.get(provider).filter(|known| ***known == prototypes) {
            return known.clone();
        }
        if let Ok(encoded) = pipemux_proto::encode(&prototypes) {
            let (provider, prototypes) = (provider.to_string(), encoded.into());
            turn.persist(Record::Prototypes { provider, prototypes });
        }
        let prototypes = Rc::new(prototypes);
        self.prototypes.insert(provider.clone(), prototypes.clone());
        prototypes
    }

    /// Sends the open of that index, or an empty one when there is none.
    pub(super) fn send_start_open(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Incarnation,
        index: usize,
    ) {
        let Some(session) = self.sessions.get(key) else { return };
        let ProcessState::Starting { deadline, .. } = session.process else { return };
        let saved = session.opens.as_slice().get(index).cloned().unwrap_or_default();
        let last = session.opens.len().saturating_sub(1);
        // Only the newest open may be the one that a client just asked for.
        let again = index < last || !session.opens.has_request();
        let woken = session.hibernation.asleep.and_then(|asleep| asleep.version);
        let due = session.hibernation.due;
        // The app goes on with jobs once it has all that it was opened with.
        let jobs = if index == last { session.jobs.keys.clone() } else { Vec::new() };
        let message = self.open_message(key, saved, index > 0, again);
        let open = OpenRequest { woken, due, jobs, ..message };
        let purpose = Purpose::StartOpen(index);
        self.send_now(turn, (key, app), Method::AppOpen, &open, deadline, purpose);
    }

    /// The message for one open.
    pub fn open_message(
        &self,
        key: &SessionKey,
        saved: SavedOpen,
        attach: bool,
        again: bool,
    ) -> OpenRequest {
        let env = match self.sessions.get(key) {
            Some(session) => session.environment(&saved),
            None => saved.env,
        };
        OpenRequest {
            session: key.addr.clone(),
            attach,
            again,
            woken: None,
            due: false,
            args: saved.args,
            cwd: saved.cwd,
            env: env.into_iter().collect(),
            state_dir: self.paths(key).0,
            jobs: Vec::new(),
        }
    }

    pub(super) fn start_open_replied(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        index: usize,
        reply: AppReply,
    ) {
        let (mut resumed, mut jobs) = (None, Vec::new());
        let minor = self.sessions.get(key).map_or(0, |session| session.profile.minor);
        let opened = match reply {
            AppReply::Reply(body) => match intake::read_said::<Opened>(&body, self.speaker(key)) {
                Ok(opened) => {
                    resumed = meant_version(opened.resumed, minor);
                    jobs = opened.jobs;
                    Ok(opened.notes)
                }
                Err(error) => Err(Fault::unavailable(format!("an unreadable reply: {error}"))),
            },
            AppReply::Fault(fault) => Err(fault),
            // The process is gone or out of time; its end tells the waiting requests.
            AppReply::Lost { .. } => return,
        };
        let Some(session) = self.sessions.get_mut(key) else { return };
        let ProcessState::Starting { app, deadline, greeted } = session.process else { return };
        if !greeted {
            return self.break_app(turn, app, "it answered before its Hello".into());
        }
        let is_last = index + 1 >= session.opens.len();
        let asked = if is_last { session.opens.take_request() } else { None };
        match (opened, asked) {
            (Ok(notes), Some(request)) => {
                self.events.push_back(ProcessEvent::Opened { request, result: Ok(notes) });
            }
            (Ok(notes), None) => session.notes.extend(notes),
            (Err(fault), Some(request)) => {
                // What was asked for just now is refused: it isn't repeated at the next start.
                session.opens.drop_newest();
                let fresh = session.opens.is_empty();
                self.events.push_back(ProcessEvent::Opened { request, result: Err(fault) });
                if fresh {
                    return self.discard(turn, key);
                }
            }
            (Err(fault), None) => {
                let note = format!("Could not open again: {}", fault.named_message());
                session.notes.push(note.into());
            }
        }
        if is_last {
            turn.clear_timer(deadline, Timer::Start(app));
            self.become_ready(turn, key, app, (resumed, jobs));
        } else {
            self.send_start_open(turn, key, app, index + 1);
        }
    }

    fn become_ready(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Incarnation,
        (resumed, jobs): (Option<u64>, Vec<String>),
    ) {
        let slept =
            self.sessions.get(key).is_some_and(|session| session.hibernation.asleep.is_some());
        let woke_from =
            self.sessions.get_mut(key).and_then(|session| session.wake_up(turn, resumed));
        if slept && woke_from.is_none() {
            // Actions that wait were written for the state that it was put to sleep with.
            let why = format!("{key} did not wake in the state that was seen");
            self.end_waiting_invokes(turn, key, &why);
        }
        let Some(session) = self.sessions.get_mut(key) else { return };
        session.process = ProcessState::Ready { app };
        if woke_from.is_some() {
            // It went on where it was: there is nothing to tell.
            session.notes.clear();
        }
        session.notes.extend(session.missing_variables().map(ForeignText::from));
        let owes = session.owes > 0;
        self.events.push_back(ProcessEvent::Ready(ReadyProcess {
            session: key.clone(),
            app,
            woke_from,
            crash: session.crashes.untold.take(),
            notes: std::mem::take(&mut session.notes),
            jobs,
            waiters: std::mem::take(&mut session.ready_waiters),
        }));
        session.save(turn);
        session.schedule_idle_check(turn, app);
        self.send_waiting(turn, key, app);
        if owes {
            // What was asked of it while it started is watched from now on.
            self.watch_health(turn, app);
        }
    }
}
