//! Waiting for something to happen: `view --wait`, `watch`. Who waits is looked after when something was
//! told, and by a timer; nothing polls.

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Body, ViewArgs, WatchArgs};
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::watch::Events;

use crate::Core;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::limits::{EVENTS_A_TURN, PROJECT_MS, WATCH_PAUSE_MS};
use crate::timers::Timer;
use crate::verbs::tasks::Task;
use crate::workspaces::{Reader, Window};

/// A request that waits for something to happen.
#[derive(Debug)]
pub enum Wait {
    /// For a change of what its reader has seen.
    View {
        /// What is shown then.
        view: ViewArgs,
        /// For how long it waits, as it is told.
        seconds: f64,
    },
    /// For an event.
    Watch(WatchArgs),
}

/// When a wait ends.
#[derive(Debug, Clone, Copy)]
pub struct WaitLimits {
    /// Not before this time, so that a flood of events is told in few answers.
    pub from: u64,
    /// At this time, whatever happened.
    pub until: u64,
    /// What its timer is set to.
    pub timer: u64,
}

impl Core {
    /// `view`, at once or when something changed.
    pub(super) fn view_or_wait(&mut self, job: RequestId, view: ViewArgs) {
        let wanted = u64::from(view.wait_ms.min(WAIT_MAX_MS));
        if wanted == 0 || self.changed_since_seen(job, &view) {
            return self.view(job, view);
        }
        for session in self.waited_windows(job, &view) {
            // An app that sleeps changes nothing. One that can't be started is told when it is shown.
            let _ = self.processes.wake(&mut self.turn, &session);
        }
        let seconds = wanted as f64 / 1000.0;
        self.wait(job, Wait::View { view, seconds }, wanted, 0);
    }

    /// `watch`: what happened, or what happens next.
    pub(super) fn watch(&mut self, job: RequestId, mut watch: WatchArgs) {
        let after = match watch.after {
            None => self.feed.last(),
            // Numbers of another daemon's life mean nothing here.
            Some(_) if watch.life != 0 && watch.life != self.life() => 0,
            Some(after) => after.min(self.feed.last()),
        };
        watch.after = Some(after);
        let wanted = u64::from(watch.wait_ms.min(WAIT_MAX_MS));
        if wanted == 0 || self.something_after(job, &watch) {
            return self.tell_events(job, &watch);
        }
        self.wait(job, Wait::Watch(watch), wanted, WATCH_PAUSE_MS);
    }

    /// True while somebody waits for a change of the session's: it is in use.
    pub(crate) fn is_waited_for(&self, key: &SessionKey) -> bool {
        self.tasks.waits.iter().any(|job| match self.tasks.get(*job) {
            Some(Task::Waiting(waiting, _)) => match &**waiting {
                Wait::View { view, .. } => self.waited_windows(*job, view).contains(key),
                Wait::Watch(_) => false,
            },
            _ => false,
        })
    }

    fn wait(&mut self, id: RequestId, wait: Wait, wanted: u64, pause: u64) {
        let now = self.turn.now.mono_ms;
        let Some(job) = self.clients.request(id) else { return };
        // What is shown at the end takes its time, too.
        let latest = job.deadline.saturating_sub(PROJECT_MS).max(now);
        let until = (now + wanted).min(latest);
        let span = WaitLimits { from: now + pause, until, timer: until };
        self.set_task(id, Task::Waiting(Box::new(wait), span));
        self.tasks.waits.insert(id);
        self.turn.set_timer(until, Timer::Wait(id));
    }

    /// Ends the waits that what was told in this turn concerns.
    pub(crate) fn settle_waits(&mut self) {
        if !self.feed.take_fresh() {
            return;
        }
        let waits: Vec<RequestId> = self.tasks.waits.iter().copied().collect();
        for id in waits {
            let Some(Task::Waiting(wait, span)) = self.tasks.get(id) else {
                self.tasks.waits.remove(&id);
                continue;
            };
            let (span, happened) = (
                *span,
                match &**wait {
                    Wait::View { view, .. } => self.changed_since_seen(id, view),
                    Wait::Watch(watch) => self.something_after(id, watch),
                },
            );
            if !happened {
                continue;
            }
            if span.from > self.turn.now.mono_ms {
                self.put_off(id, span.from.min(span.until));
            } else {
                self.end_wait(id, true);
            }
        }
    }

    fn put_off(&mut self, id: RequestId, at: u64) {
        let Some(Task::Waiting(_, span)) = self.tasks.get_mut(id) else {
            return;
        };
        if span.timer > at {
            self.turn.clear_timer(std::mem::replace(&mut span.timer, at), Timer::Wait(id));
            self.turn.set_timer(at, Timer::Wait(id));
        }
    }

    /// A wait's time has come: with what happened meanwhile, or with nothing.
    pub(crate) fn wait_over(&mut self, id: RequestId) {
        if self.log_quiet(id) {
            return;
        }
        let happened = match self.tasks.get(id) {
            Some(Task::Waiting(wait, _)) => match &**wait {
                Wait::View { view, .. } => self.changed_since_seen(id, view),
                Wait::Watch(watch) => self.something_after(id, watch),
            },
            _ => return,
        };
        self.end_wait(id, happened);
    }

    /// Takes a wait back that nobody needs any more.
    pub(crate) fn abandon_wait(&mut self, id: RequestId) {
        if self.log_quiet(id) {
            return;
        }
        if self.leave_wait(id).is_some() {
            self.fail_request(id, Fault::unavailable("cancelled"));
        }
    }

    fn end_wait(&mut self, id: RequestId, happened: bool) {
        match self.leave_wait(id) {
            Some(Wait::View { view, seconds }) => {
                if !happened {
                    self.clients.add_remark(id, format!("unchanged for {seconds} s"));
                }
                self.view(id, view);
            }
            Some(Wait::Watch(watch)) => self.tell_events(id, &watch),
            None => {}
        }
    }

    fn leave_wait(&mut self, id: RequestId) -> Option<Wait> {
        self.tasks.waits.remove(&id);
        match self.tasks.take_if(id, |task| matches!(task, Task::Waiting(..)))? {
            Task::Waiting(wait, span) => {
                self.turn.clear_timer(span.timer, Timer::Wait(id));
                Some(*wait)
            }
            _ => None,
        }
    }

    fn something_after(&self, job: RequestId, watch: &WatchArgs) -> bool {
        let Some(at) = self.clients.request(job).map(|job| &job.workspace) else { return true };
        let at = (!watch.all).then_some(at);
        self.feed.after(watch.after.unwrap_or(0), at).next().is_some()
    }

    fn tell_events(&mut self, job: RequestId, watch: &WatchArgs) {
        let Some(at) = self.clients.request(job).map(|job| job.workspace.clone()) else { return };
        let after = watch.after.unwrap_or(0);
        let dropped = if self.feed.dropped() > after { self.feed.dropped() } else { 0 };
        let at = (!watch.all).then_some(&at);
        let name = |key: &WorkspaceKey| match self.workspaces.get(key) {
            Some(workspace) => workspace.name.clone(),
            None => key.to_string(),
        };
        let mut later = self.feed.after(after, at);
        let events: Vec<_> =
            later.by_ref().take(EVENTS_A_TURN).map(|entry| entry.to_occurrence(name)).collect();
        let more = later.next().is_some();
        drop(later);
        let last = match events.last() {
            Some(event) if more => event.number,
            _ => self.feed.last(),
        };
        let body = Body::Events(Events { life: self.life(), last, dropped, events });
        self.answer(job, Answer { exit: 0, body, delivery: 0 });
    }

    /// Tells this daemon's life from others: when it began.
    fn life(&self) -> u64 {
        self.turn.began.unix_ms.max(1)
    }

    fn waited_windows(&self, job: RequestId, view: &ViewArgs) -> Vec<SessionKey> {
        let at = self.clients.request(job).and_then(|job| self.workspaces.get(&job.workspace));
        let Some(workspace) = at else { return Vec::new() };
        let of = |window: &Window| window.session.clone();
        match &view.session {
            Some(addr) => workspace.windows.named(addr).map(of).collect(),
            None => workspace.windows.iter().map(of).collect(),
        }
    }

    /// True when the view would show something that its reader hasn't seen, or can't be shown at all.
    fn changed_since_seen(&self, id: RequestId, view: &ViewArgs) -> bool {
        let Some(job) = self.clients.request(id) else { return true };
        let Some(workspace) = self.workspaces.get(&job.workspace) else { return true };
        let reader = job.call.reader.as_str();
        if view.since.is_some_and(|epoch| epoch > workspace.epoch) {
            return true;
        }
        if !workspace.unread_notices(reader, self.turn.now).is_empty() {
            return true;
        }
        let of = workspace.reader(reader);
        let changed = |window: &Window| self.window_changed(window, of, view.since);
        match &view.session {
            None => workspace.has_other_windows(reader) || workspace.windows.iter().any(changed),
            Some(addr) => {
                let mut named = workspace.windows.named(addr).peekable();
                named.peek().is_none() || named.any(changed)
            }
        }
    }

    fn window_changed(&self, window: &Window, of: Option<&Reader>, since: Option<u64>) -> bool {
        let seen = match since {
            Some(epoch) => window.at(epoch).map(|past| past.seen),
            None => of
                .and_then(|reader| reader.seen.get(&window.session))
                .map(|seen| (seen.app, seen.version)),
        };
        let Some((app, version)) = seen else { return true };
        let Some(live) = self.processes.get(&window.session) else { return false };
        match live.ready() {
            Some(ready) if ready == app => live.version > version,
            // Another process shows another state: that of one which slept counts as the one before.
            Some(_) => true,
            // One that was put to sleep is as it was; one that was lost is not.
            None => live.crashed.is_some() || live.failed.is_some(),
        }
    }
}
