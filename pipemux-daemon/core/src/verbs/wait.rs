//! Waiting for something to happen: `view --wait` and `watch`. Waits are checked when the feed has new entries, and end
//! by a timer. Only apps that don't say by themselves when they have changed are asked, while a client waits
//! (`wait_checks`).

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Body, ViewArgs, WatchArgs};
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::watch::Events;

use crate::Core;
use crate::jobs::Job;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::limits::{EVENTS_A_TURN, JOB_PROGRESS_MS, PROJECT_MS, WATCH_PAUSE_MS};
use crate::pipeline::closed_apps::ClosedApps;
use crate::timers::Timer;
use crate::verbs::logs::finish_log_watch;
use crate::verbs::require;
use crate::verbs::tasks::{AfterOpen, Task, Wait, WaitLimits};
use crate::verbs::trace::finish_trace_wait;
use crate::workspaces::{Reader, Window};

impl Core {
    /// Shows the workspace or one of its windows, at once or when it has changed.
    pub(crate) fn view(&mut self, id: RequestId, view: ViewArgs) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        if let Some(workspace) = self.workspaces.get(&request.workspace)
            && let Some(provider) =
                (ClosedApps { providers: &self.providers, workspace }).viewed(&view)
        {
            return self.open_for(id, provider, AfterOpen::View(Box::new(view)));
        }
        let wait_ms = u64::from(view.wait_ms.min(WAIT_MAX_MS));
        if wait_ms == 0 || self.changed_since_seen(id, &view) {
            return self.view_now(id, view);
        }
        for session in self.waited_windows(id, &view) {
            // An app that sleeps changes nothing, so it is woken. The answer reports an app that can't be started.
            let _ = self.processes.wake(&mut self.turn, &session);
        }
        let progress_from = self.turn.mono_ms() + JOB_PROGRESS_MS;
        self.begin_wait(id, Wait::View { view, seconds: 0.0, progress_from }, wait_ms, 0)
    }

    /// Returns the entries of the feed after a number, at once or when there are any.
    pub(crate) fn watch(&mut self, id: RequestId, mut watch: WatchArgs) -> Result<(), Fault> {
        let after = match watch.after {
            None => self.feed.last(),
            // Numbers of another daemon's life mean nothing here.
            Some(_) if watch.life != 0 && watch.life != self.life() => 0,
            Some(after) => after.min(self.feed.last()),
        };
        watch.after = Some(after);
        let wait_ms = u64::from(watch.wait_ms.min(WAIT_MAX_MS));
        if wait_ms == 0 || self.has_events_after(id, &watch) {
            return self.answer_events(id, &watch);
        }
        self.begin_wait(id, Wait::Watch(watch), wait_ms, WATCH_PAUSE_MS)
    }

    /// Returns true while a request waits for a change of the session, which keeps the session in use.
    pub(crate) fn is_waited_for(&self, key: &SessionKey) -> bool {
        self.tasks.waits.iter().any(|id| match self.tasks.get(*id) {
            Some(Task::Waiting(wait, _)) => match &**wait {
                Wait::View { view, .. } => self.waited_windows(*id, view).contains(key),
                Wait::Watch(_) => false,
            },
            _ => false,
        })
    }

    fn begin_wait(
        &mut self,
        id: RequestId,
        mut wait: Wait,
        wait_ms: u64,
        pause_ms: u64,
    ) -> Result<(), Fault> {
        let now = self.turn.now.mono_ms;
        let request = require::request(&self.clients, id)?;
        // The answer at the end of the wait takes its time, too.
        let latest = request.deadline.saturating_sub(PROJECT_MS).max(now);
        let until = (now + wait_ms).min(latest);
        if let Wait::View { seconds, .. } = &mut wait {
            *seconds = (until - now) as f64 / 1000.0;
        }
        let limits = WaitLimits {
            not_before: now + pause_ms,
            until,
            timer_at: until,
            check_at: None,
            checks_open: 0,
        };
        self.set_task(id, Task::Waiting(Box::new(wait), limits));
        self.tasks.waits.insert(id);
        self.turn.set_timer(until, Timer::Wait(id));
        self.expect_progress(id);
        self.check_waited_windows(id);
        self.check_unknown_windows(id);
        Ok(())
    }

    /// Ends the waits for which something has happened in this turn.
    pub(crate) fn settle_waits(&mut self) {
        if !self.feed.take_fresh() {
            return;
        }
        let waits: Vec<RequestId> = self.tasks.waits.iter().copied().collect();
        for id in waits {
            self.turn_windows_for(id);
            let Some(Task::Waiting(wait, limits)) = self.tasks.get(id) else {
                self.tasks.waits.remove(&id);
                continue;
            };
            let limits = *limits;
            if !self.has_happened(id, wait) {
                self.expect_progress(id);
                self.check_unknown_windows(id);
                continue;
            }
            if limits.not_before > self.turn.now.mono_ms {
                self.postpone_wait(id, limits.not_before.min(limits.until));
            } else {
                self.finish_wait(id, true);
            }
        }
    }

    /// Has a wait end for the progress that jobs have made, once it has lasted long enough for that: whoever waits for
    /// something else isn't disturbed by each step of a job.
    fn expect_progress(&mut self, id: RequestId) {
        if let Some(Task::Waiting(wait, limits)) = self.tasks.get(id)
            && let Wait::View { view, progress_from, .. } = &**wait
            && self.has_progressed(id, view)
        {
            let at = (*progress_from).min(limits.until);
            self.postpone_wait(id, at);
        }
    }

    /// Returns true when a job of the windows that a view shows has made progress that its reader hasn't seen.
    fn has_progressed(&self, id: RequestId, view: &ViewArgs) -> bool {
        let Some(request) = self.clients.request(id) else { return false };
        let workspace = self.workspaces.get(&request.workspace);
        let reader = workspace.and_then(|found| found.reader(&request.call.reader));
        let seen = |number| reader.map_or(0, |reader| reader.seen_job(number));
        let sessions = self.waited_windows(id, view);
        let mut running = sessions.iter().flat_map(|session| self.jobs.running(session));
        running.any(|job| job.rev > seen(job.number))
    }

    /// Has a wait checked at a time that is earlier than its end.
    fn postpone_wait(&mut self, id: RequestId, at: u64) {
        if let Some(Task::Waiting(_, limits)) = self.tasks.get_mut(id)
            && limits.timer_at > at
        {
            let before = std::mem::replace(&mut limits.timer_at, at);
            self.turn.clear_timer(before, Timer::Wait(id));
            self.turn.set_timer(at, Timer::Wait(id));
        }
    }

    /// Ends a wait whose timer fired, whether something has happened or not.
    pub(crate) fn wait_expired(&mut self, id: RequestId) {
        if self.end_followed(id) || self.end_job_wait(id) {
            return;
        }
        self.turn_windows_for(id);
        if let Some(Task::Waiting(wait, _)) = self.tasks.get(id) {
            let happened = self.has_happened(id, wait);
            self.finish_wait(id, happened);
        }
    }

    /// Answers a request that follows a log or frames with what there is. False for any other.
    fn end_followed(&mut self, id: RequestId) -> bool {
        let (turn, tasks) = (&mut self.turn, &self.tasks);
        let next = finish_log_watch(turn, tasks, id)
            .or_else(|| finish_trace_wait(turn, &self.authoring, tasks, id, true));
        let Some(next) = next else { return false };
        self.follow(id, Ok(next));
        true
    }

    /// Ends a wait for which no client waits any more.
    pub(crate) fn cancel_wait(&mut self, id: RequestId) {
        if self.end_followed(id) {
            return;
        }
        if self.take_wait(id).is_some() {
            self.fail_request(id, Fault::unavailable("cancelled"));
        }
    }

    pub(super) fn has_happened(&self, id: RequestId, wait: &Wait) -> bool {
        match wait {
            Wait::View { view, progress_from, .. } => {
                let late = *progress_from <= self.turn.mono_ms();
                self.changed_since_seen(id, view) || (late && self.has_progressed(id, view))
            }
            Wait::Watch(watch) => self.has_events_after(id, watch),
        }
    }

    pub(super) fn finish_wait(&mut self, id: RequestId, happened: bool) {
        let result = match self.take_wait(id) {
            Some(Wait::View { view, seconds, .. }) => {
                if !happened {
                    self.clients.add_remark(id, format!("unchanged for {seconds} s"));
                }
                self.view_now(id, view)
            }
            Some(Wait::Watch(watch)) => self.answer_events(id, &watch),
            None => Err(require::missing_task(&self.clients, id)),
        };
        self.fail_on_error(id, result);
    }

    fn take_wait(&mut self, id: RequestId) -> Option<Wait> {
        self.tasks.waits.remove(&id);
        match self.tasks.take_if(id, |task| matches!(task, Task::Waiting(..)))? {
            Task::Waiting(wait, limits) => {
                self.turn.clear_timer(limits.timer_at, Timer::Wait(id));
                if let Some(at) = limits.check_at {
                    self.turn.clear_timer(at, Timer::WaitCheck(id));
                }
                Some(*wait)
            }
            _ => None,
        }
    }

    fn has_events_after(&self, id: RequestId, watch: &WatchArgs) -> bool {
        let Ok(request) = require::request(&self.clients, id) else { return true };
        let workspace = (!watch.all).then_some(&request.workspace);
        self.feed.after(watch.after.unwrap_or(0), workspace).next().is_some()
    }

    fn answer_events(&mut self, id: RequestId, watch: &WatchArgs) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = (!watch.all).then_some(&request.workspace);
        let after = watch.after.unwrap_or(0);
        let dropped = if self.feed.dropped() > after { self.feed.dropped() } else { 0 };
        let name = |key: &WorkspaceKey| match self.workspaces.get(key) {
            Some(workspace) => workspace.name.clone(),
            None => key.to_string(),
        };
        let mut later = self.feed.after(after, workspace);
        let events: Vec<_> =
            later.by_ref().take(EVENTS_A_TURN).map(|entry| entry.to_occurrence(name)).collect();
        let more = later.next().is_some();
        drop(later);
        let last = match events.last() {
            Some(event) if more => event.number,
            _ => self.feed.last(),
        };
        let body = Body::Events(Events { life: self.life(), last, dropped, events });
        self.answer(id, Answer { exit: 0, body, delivery: 0, error: false });
        Ok(())
    }

    /// Returns the time at which this daemon began, which distinguishes its life from others.
    fn life(&self) -> u64 {
        self.turn.began.unix_ms.max(1)
    }

    /// Returns the sessions whose windows a view shows.
    pub(super) fn waited_windows(&self, id: RequestId, view: &ViewArgs) -> Vec<SessionKey> {
        let request = self.clients.request(id);
        let workspace = request.and_then(|request| self.workspaces.get(&request.workspace));
        let Some(workspace) = workspace else { return Vec::new() };
        let session = |window: &Window| window.session.clone();
        match &view.session {
            Some(addr) => workspace.windows.named(addr).map(session).collect(),
            None => workspace.windows.iter().map(session).collect(),
        }
    }

    /// Returns true when the view would show something that its reader hasn't seen, or when it can only fail.
    fn changed_since_seen(&self, id: RequestId, view: &ViewArgs) -> bool {
        let Ok(request) = require::request(&self.clients, id) else { return true };
        let Ok(workspace) = require::workspace(&self.workspaces, request) else { return true };
        let reader = request.call.reader.as_str();
        if view.since.is_some_and(|epoch| epoch > workspace.epoch) {
            return true;
        }
        let (own, of_apps) = workspace.unread_notices(reader, 0, self.turn.now);
        if !own.is_empty() || !of_apps.is_empty() {
            return true;
        }
        let known = (request.workspace.clone(), reader.into());
        let concerned = |job: &Job| {
            view.session.as_ref().is_none_or(|addr| workspace.names_session(addr, &job.session))
        };
        if self.jobs.untold(&known).any(concerned) {
            return true;
        }
        let known_reader = workspace.reader(reader);
        let has_changed = |window: &Window| self.window_changed(window, known_reader, view.since);
        match &view.session {
            None => {
                workspace.has_other_windows(reader) || workspace.windows.iter().any(has_changed)
            }
            Some(addr) => {
                let mut named = workspace.windows.named(addr).peekable();
                named.peek().is_none() || named.any(has_changed)
            }
        }
    }

    /// Returns true when a window has changed since an epoch or, without one, since the reader saw it.
    fn window_changed(&self, window: &Window, reader: Option<&Reader>, since: Option<u64>) -> bool {
        let seen = match since {
            Some(epoch) => window.at(epoch).map(|past| (past.seen, &past.rendered)),
            None => reader
                .and_then(|reader| reader.seen.get(&window.session))
                .map(|seen| ((seen.app, seen.version), &seen.rendered)),
        };
        let Some(((app, version), rendered)) = seen else { return true };
        let newest = |session: &SessionKey| {
            let session = self.processes.get(session)?;
            Some((session.ready()?, session.version))
        };
        if rendered.embeds.have_changed(newest) {
            return true;
        }
        let Some(session) = self.processes.get(&window.session) else { return false };
        match session.ready() {
            // A later version may show the same: it was shown to another reader.
            Some(ready) if ready == app => {
                let now = (app, session.version);
                let newer = now.1 > version && !window.was_delivered(now, rendered);
                // What another reader did may concern only that one: the app is asked, while this one waits.
                newer
                    && (!session.profile.per_reader
                        || self.shows_something_else(window, rendered, now))
            }
            // Another process may show another state. One that went on from a saved state is not another one here:
            // `app` was replaced when it woke up.
            Some(_) => true,
            // A session that was put to sleep hasn't changed; one that crashed has.
            None => session.crashes.untold.is_some() || session.failed.is_some(),
        }
    }
}
