//! A process from its greeting to its first requests: what it can do, and the opens it is told.

use std::rc::Rc;

use pipemux_proto::app::{Open, Opened};
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::watch::What;
use pipemux_proto::{Fault, Frame, Hello, ProviderId, decode};

use crate::Core;
use crate::event::Effect;
use crate::keys::{SessionKey, directory_name};
use crate::persist::records::{Record, SavedOpen};
use crate::processes::requests::{AppReply, Purpose};
use crate::processes::session::ProcessState;
use crate::runs::Prototypes;
use crate::timers::Timer;

impl Core {
    pub(crate) fn handle_app_hello(&mut self, key: &SessionKey, app: Incarnation, frame: &Frame) {
        let hello = match decode::<Hello>(&frame.body) {
            Ok(hello) => hello,
            Err(error) => return self.break_app(app, format!("an unreadable Hello: {error}")),
        };
        if let Err(fault) = hello.check() {
            return self.break_app(app, fault.message);
        }
        let Some(session) = self.sessions.get_mut(key) else { return };
        match &mut session.process {
            ProcessState::Starting { greeted, .. } if !*greeted => *greeted = true,
            _ => return,
        }
        session.token_prefix = hello.token_prefix;
        let prototypes = self.learn(&key.addr.provider, hello.prototypes);
        if let Some(session) = self.sessions.get_mut(key) {
            session.prototypes = prototypes;
        }
        self.actions_changed(key);
        if self.shared.is_shared(app) {
            self.send_start_open(key, app, 0);
        }
    }

    /// A session's own directory and its log.
    pub(crate) fn places(&self, key: &SessionKey) -> (String, String) {
        let owner = key.workspace.as_deref().map_or("user".into(), directory_name);
        let (base, addr) = (&self.config.state_dir, &key.addr);
        (
            format!("{base}/sessions/{owner}/{}/{}", addr.provider, addr.session),
            match self.shares(key) {
                true => format!("{base}/logs/user/{}.log", addr.provider),
                false => format!("{base}/logs/{owner}/{}.{}.log", addr.provider, addr.session),
            },
        )
    }

    /// Remembers what a provider's app can do, so that calls can be checked before it runs again. Its
    /// sessions share it.
    fn learn(&mut self, provider: &ProviderId, prototypes: Vec<Prototype>) -> Prototypes {
        if let Some(known) = self.prototypes.get(provider).filter(|known| ***known == prototypes) {
            return known.clone();
        }
        if let Ok(encoded) = pipemux_proto::encode(&prototypes) {
            let (provider, prototypes) = (provider.to_string(), encoded.into());
            self.out.push(Effect::Persist(Record::Prototypes { provider, prototypes }));
        }
        let prototypes = Rc::new(prototypes);
        self.prototypes.insert(provider.clone(), prototypes.clone());
        prototypes
    }

    /// Sends the open of that index, or the next one that there is.
    pub(crate) fn send_start_open(&mut self, key: &SessionKey, app: Incarnation, index: usize) {
        let (state_dir, _) = self.places(key);
        let Some(session) = self.sessions.get(key) else { return };
        let ProcessState::Starting { deadline, .. } = session.process else { return };
        let saved = session.opens.get(index).cloned().unwrap_or_default();
        let last = session.opens.len().saturating_sub(1);
        // Only the newest open may be the one that a client just asked for.
        let again = index < last || !self.opening.contains_key(key);
        let woken = session.hibernation.asleep.map_or(0, |asleep| asleep.version);
        let open = Open { woken, ..open_message(key, saved, index > 0, again, state_dir) };
        self.send_now(key, app, Method::AppOpen, &open, deadline, Purpose::StartOpen(index));
    }

    pub(crate) fn start_open_answered(
        &mut self,
        key: &SessionKey,
        index: usize,
        answered: AppReply,
    ) {
        let mut resumed = 0;
        let opened = match answered {
            AppReply::Reply(body) => match decode::<Opened>(&body) {
                Ok(opened) => {
                    resumed = opened.resumed;
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
            return self.break_app(app, "it answered before its Hello".into());
        }
        let is_last = index + 1 >= session.opens.len();
        let asked = self.opening.get(key).copied();
        match (opened, asked.filter(|_| is_last)) {
            (Ok(notes), Some(job)) => self.opened(job, notes),
            (Ok(notes), None) => session.notes.extend(notes),
            (Err(fault), Some(job)) => {
                // What was asked for just now is refused: it isn't repeated at the next start.
                session.opens.pop();
                let fresh = session.opens.is_empty();
                self.opening.remove(key);
                self.fail_job(job, fault);
                if fresh {
                    return self.discard(key);
                }
            }
            (Err(fault), None) => {
                session.notes.push(format!("Could not open again: {}", fault.message));
            }
        }
        if is_last {
            self.timers.clear(deadline, Timer::Start(app));
            self.become_ready(key, app, resumed);
        } else {
            self.send_start_open(key, app, index + 1);
        }
    }

    fn become_ready(&mut self, key: &SessionKey, app: Incarnation, resumed: u64) {
        let slept =
            self.sessions.get(key).is_some_and(|session| session.hibernation.asleep.is_some());
        let woken = self.woken(key, app, resumed);
        if slept && !woken {
            // Actions that wait were made out for the state that it was put to sleep with.
            let why = format!("{key} did not wake in the state that was seen");
            self.end_waiting_invokes(key, &why);
        }
        let Some(session) = self.sessions.get_mut(key) else { return };
        session.process = ProcessState::Ready { app };
        if woken {
            // It went on where it was: nothing to tell.
            session.notes.clear();
        }
        let watchers = std::mem::take(&mut session.watchers);
        let (crash, notes) = (session.crashed.take(), std::mem::take(&mut session.notes));
        let (what, how) = match (&crash, woken) {
            (Some(_), _) => (What::Restarted, "was restarted"),
            (None, true) => (What::Started, "woke up"),
            (None, false) => (What::Started, "started"),
        };
        self.tell_session(what, key, how);
        self.notify_start(key, crash.as_ref(), &notes);
        self.save_session(key);
        self.rest_later(key, app);
        self.send_waiting(key, app);
        if self.sessions.get(key).is_some_and(|session| session.owes > 0) {
            // What was asked of it while it started is watched from now on.
            self.watch_health(app);
        }
        self.exchange_ready(key, app);
        for job in watchers {
            self.session_settled(job, Ok(()));
        }
    }
}

/// The message for one open.
pub(crate) fn open_message(
    key: &SessionKey,
    saved: SavedOpen,
    attach: bool,
    again: bool,
    state_dir: String,
) -> Open {
    Open {
        session: key.addr.clone(),
        attach,
        again,
        woken: 0,
        args: saved.args,
        cwd: saved.cwd,
        env: saved.env.into_iter().collect(),
        state_dir,
    }
}
