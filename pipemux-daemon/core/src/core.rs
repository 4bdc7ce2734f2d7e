//! The core itself: an event goes to a component, and what follows from it is drained from one
//! queue.

#[macro_use]
mod parts;

mod answers;
mod dispatch;
mod enter_workspace;
mod loss;
mod process_events;
mod replies;
mod requests;
mod restore;
mod runs;
mod status;
mod stop;
mod window_answers;

use pipemux_proto::Envelope;

use crate::authoring::Authoring;
use crate::clients::Clients;
use crate::clients::exchange::{End, Forward};
use crate::config::Config;
use crate::consents::Consents;
use crate::event::{Effect, Event, Now};
use crate::feed::Feed;
use crate::jobs::Jobs;
use crate::keys::RequestId;
use crate::limits::{KEPT_MS, QUESTION_MS};
use crate::measurement::Measurement;
use crate::pauses::Pauses;
use crate::persist::Persist;
use crate::processes::Processes;
use crate::processes::draining::{
    drain_expired, forbid, handle_broken, handle_closed, program_changed, start_expired,
};
use crate::processes::exits::handle_exit;
use crate::processes::health_checks::check_health;
use crate::processes::requests::request_expired;
use crate::processes::sleep::idle_check_due;
use crate::processes::starting::{backoff_over, started};
use crate::processes::wake_times::{schedule_wakes, wake_sleepers};
use crate::providers::Providers;
use crate::rules::Rules;
use crate::runs::open_runs::OpenRuns;
use crate::timers::Timer;
use crate::turn::Turn;
use crate::verbs::logs::log_read;
use crate::verbs::providers::providers_loaded;
use crate::verbs::run_driver::value_stored;
use crate::verbs::tasks::{Task, Tasks};
use crate::verbs::trace::finish_trace_wait;
use crate::workspaces::Workspaces;

/// The progress of the daemon's shutdown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Shutdown {
    /// Nobody asked for it.
    #[default]
    Running,
    /// Every process was asked to end.
    Draining,
    /// Every process has ended, and every request was answered.
    Stopped,
}

/// The whole state of the daemon.
#[derive(Debug, Default)]
pub struct Core {
    pub(crate) config: Config,
    pub(crate) providers: Providers,
    pub(crate) clients: Clients,
    pub(crate) processes: Processes,
    pub(crate) authoring: Authoring,
    pub(crate) workspaces: Workspaces,
    pub(crate) jobs: Jobs,
    /// The consents that only a person can give.
    pub(crate) consents: Consents,
    pub(crate) pauses: Pauses,
    pub(crate) rules: Rules,
    /// Runs that wait for their reader.
    pub(crate) runs: OpenRuns,
    /// The events that happened.
    pub(crate) feed: Feed,
    /// The tasks that clients' requests wait for.
    pub(crate) tasks: Tasks,
    pub(crate) persist: Persist,
    pub(crate) turn: Turn,
    pub(crate) shutdown: Shutdown,
}

impl Core {
    /// Takes in what happened and appends what is to be done, in order.
    pub fn handle(&mut self, event: Event, now: Now, out: &mut Vec<Effect>) {
        self.tick(now);
        match event {
            Event::ClientOpened { client } => {
                self.clients.connections.opened(&mut self.turn, client)
            }
            Event::ClientFrame { client, frame } => {
                if let Some(input) = self.clients.receive(&mut self.turn, client, &frame) {
                    self.handle_input(client, input);
                }
            }
            Event::ClientBroken { client, why } => {
                self.clients.connections.broken(&mut self.turn, client, &why)
            }
            Event::ClientEnded { client } => self.clients.connections.ended(&mut self.turn, client),
            Event::ClientClosed { client } => {
                // A step that is with an app goes on to its end; no further step begins.
                for request in self.clients.closed(&mut self.turn, client) {
                    self.cancel_request(request);
                    self.drain_events();
                }
            }
            Event::ClientIdentified { client, peer } => {
                for input in self.clients.connections.identified(client, peer) {
                    self.handle_input(client, input);
                    self.drain_events();
                }
            }
            Event::AppFrame { app, frame } => {
                self.authoring.receive(&mut self.turn, &mut self.processes, app, frame);
            }
            Event::AppBroken { app, why } => {
                handle_broken(&mut self.turn, &mut self.processes, app, why);
            }
            Event::AppClosed { app } => handle_closed(&mut self.turn, &mut self.processes, app),
            Event::Started { app, pid, left_out } => {
                started(&mut self.processes, app, pid, left_out);
            }
            Event::StartFailed { app, why } => {
                handle_exit(&mut self.turn, &mut self.processes, app, Err(&why), Vec::new());
            }
            Event::Exited { app, exit, last_lines } => {
                handle_exit(&mut self.turn, &mut self.processes, app, Ok(exit), last_lines);
            }
            Event::ProgramChanged { app } => {
                program_changed(&mut self.turn, &mut self.processes, app);
            }
            Event::ValueStored { request, stored } => {
                let id = RequestId(request);
                let next = value_stored(&mut self.turn, &self.tasks, id, stored);
                self.follow(id, Ok(next));
            }
            Event::LogRead { request, read } => {
                let id = RequestId(request);
                if let Some(next) = log_read(&mut self.turn, &self.tasks, id, read) {
                    self.follow(id, next);
                }
            }
            Event::UsageRead { request, report } => self.usage_read(RequestId(request), &report),
            Event::Providers { request, read } => {
                let id = RequestId(request);
                let task = self.tasks.take_if(id, |task| matches!(task, Task::Loading(_)));
                let apps = (&mut self.providers, &mut self.processes);
                let feed = (self.turn.now, &mut self.feed);
                let next = providers_loaded(feed, apps, task, self.clients.request(id), read);
                self.follow(id, next);
            }
            Event::Disk { failing } => self.persist.failing = failing,
            Event::Rules(rules) => {
                let now = self.turn.now;
                for text in self.rules.replace(rules) {
                    self.workspaces.values_mut().for_each(|one| one.notify(text.clone(), now));
                }
                forbid(&mut self.turn, &mut self.processes, self.rules.forbidden_files.clone());
            }
            Event::Stop => self.stop(),
        }
        self.finish_turn(out);
    }

    /// The time at which [`Core::handle_timeout`] is next due, on the monotonic clock in
    /// milliseconds. It is due immediately until the first event is handled: jobs of an earlier
    /// daemon resume and sessions are woken even if no client connects.
    pub fn next_timeout(&self) -> Option<u64> {
        if !self.turn.has_begun() {
            return Some(0);
        }
        [self.turn.timers.next(), self.clients.exchanges.next_timeout()].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.tick(now);
        while let Some(timer) = self.turn.timers.pop(now.mono_ms) {
            let (processes, turn) = (&mut self.processes, &mut self.turn);
            match timer {
                Timer::AppRequest(id) => request_expired(turn, processes, id),
                Timer::Backoff(app) => backoff_over(turn, processes, app),
                Timer::Start(app) => start_expired(turn, processes, app),
                Timer::Drain(app) => drain_expired(turn, processes, app),
                Timer::HealthCheck(app) => check_health(turn, processes, app),
                Timer::IdleCheck(app) => idle_check_due(processes, app),
                Timer::WakeSleepers => wake_sleepers(turn, processes),
                Timer::ClientRequest(id) => self.request_expired(id),
                Timer::Greet(client) => {
                    self.clients.connections.greet_expired(&mut self.turn, client)
                }
                Timer::Question(number) => questions!(self).expire_question(number),
                Timer::Kept(number) => questions!(self).expire_rest(number),
                Timer::Wait(request) => self.wait_expired(request),
                Timer::WaitCheck(request) => waits!(self).check_unreported(request),
                Timer::JobReport(job) => job_events!(self).report_due(job),
            }
            self.drain_events();
        }
        let Clients { connections, exchanges, .. } = &mut self.clients;
        exchanges.expire(connections, &mut self.turn, &mut self.processes);
        self.finish_turn(out);
    }

    /// Routes the envelope of an exchange that a client or an app sent, whose body has `length`
    /// bytes. Returns the destination of the body, or `None` if it has none; an effect that tells
    /// the sender why is then appended to `out`.
    pub fn exchange(
        &mut self,
        from: End,
        envelope: &Envelope,
        length: usize,
        now: Now,
        out: &mut Vec<Effect>,
    ) -> Option<Forward> {
        self.tick(now);
        let Clients { connections, exchanges, .. } = &mut self.clients;
        let forward = exchanges.forward(connections, &mut self.turn, from, envelope, length);
        if !self.turn.effects.is_empty() {
            out.append(&mut self.turn.effects);
        }
        forward
    }

    /// An answer could not be queued: its client leaves too much unread. It gets a word instead.
    pub fn exchange_unread(&mut self, forward: &Forward, out: &mut Vec<Effect>) {
        let Clients { connections, exchanges, .. } = &self.clients;
        exchanges.unread(connections, &mut self.turn, forward);
        out.append(&mut self.turn.effects);
    }

    /// Completes a turn, in this order: handles queued process events, ends waits that are over,
    /// closes questions that exceed their bounds, and ends the daemon if requested. Then appends
    /// the effects to `out`.
    fn finish_turn(&mut self, out: &mut Vec<Effect>) {
        self.drain_events();
        if self.feed.take_fresh() {
            for id in self.tasks.waits.clone() {
                if waits!(self).is_over(id) {
                    let next = waits!(self).finish(id, true);
                    self.follow(id, next);
                }
            }
        }
        self.drain_events();
        questions!(self).bound();
        self.stop_if_done();
        self.drain_events();
        self.authoring.observe_sent(&self.turn, &self.processes);
        if self.authoring.take_trace_grew() {
            for id in self.tasks.requests_with(|task| matches!(task, Task::Tracing(_))) {
                let (turn, authoring) = (&mut self.turn, &self.authoring);
                if let Some(next) = finish_trace_wait(turn, authoring, &self.tasks, id, false) {
                    self.follow(id, Ok(next));
                }
            }
        }
        self.processes.incarnations().address_effects(&mut self.turn.effects);
        out.append(&mut self.turn.effects);
    }

    /// Begins a turn; the first one takes up what an earlier daemon left.
    fn tick(&mut self, now: Now) {
        if !self.turn.has_begun() {
            self.turn.began = now;
            self.clients.date_undated_acts(now.unix_ms);
            // What was asked before this daemon's time waits as long as what is asked now.
            for number in self.runs.question_numbers() {
                self.turn.set_timer(now.mono_ms + QUESTION_MS, Timer::Question(number));
            }
            let lapse = now.mono_ms + KEPT_MS;
            self.runs.renew_rests(lapse);
            for number in self.runs.rest_numbers() {
                self.turn.set_timer(lapse, Timer::Kept(number));
            }
            // Those whose time came while no daemon ran are woken at once.
            self.turn.begin(now);
            schedule_wakes(&mut self.turn, &mut self.processes);
            let lost = job_events!(self).resume();
            self.end_jobs(lost);
        }
        self.turn.begin(now);
    }

    /// Counts what is measured from now on: see [`Core::take_measurements`].
    pub fn measure(&mut self) {
        self.turn.measurements.get_or_insert_default();
    }

    /// Returns what was counted since the last call. To be called after each turn once it is
    /// counted.
    pub fn take_measurements(&mut self) -> Vec<Measurement> {
        self.turn.measurements.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
