//! Handles what the launcher reports: processes that started, failed to start, or exited.

use std::task::Poll;

use pipemux_core::{Event, Exit, Limit};
use pipemux_launcher::{ExceededLimit, Report, Termination};
use pipemux_proto::Incarnation;

use super::Driver;
use crate::app_processes::LauncherEvent;
use crate::daemon_log::log;
use crate::ready_queue::Peer;

impl Driver {
    /// Handles all that the launcher has reported.
    pub(super) fn poll_launcher(&mut self) {
        while let Poll::Ready(event) = self.apps.processes.poll() {
            match event {
                LauncherEvent::Report(report) => self.handle_report(report),
                // This includes processes that were about to start: their programs aren't to
                // blame, and the next launcher can start them.
                LauncherEvent::Lost { apps } => {
                    for app in apps {
                        self.process_exited(app, Exit::Lost);
                    }
                }
            }
        }
    }

    fn handle_report(&mut self, report: Report) {
        match report {
            Report::Spawned { incarnation, pid, left_out } => {
                self.process_started(Incarnation(incarnation), pid, left_out);
            }
            Report::SpawnFailed { incarnation, why } => {
                let app = Incarnation(incarnation);
                // Every session that was to start has a log, also one that printed nothing.
                let _ = self.apps.open_log(app, self.turn.now);
                self.connections.remove_app(app);
                if self.apps.remove(app, &mut self.scratch, self.turn.now).is_some() {
                    self.handle(Event::StartFailed { app, why });
                }
            }
            Report::Exited { incarnation, termination, exceeded, survivors } => {
                if !survivors.is_empty() {
                    log(format_args!(
                        "process of incarnation {incarnation} ended, but processes that it started can't be \
                         killed: {survivors:?}"
                    ));
                }
                self.process_exited(Incarnation(incarnation), to_exit(termination, exceeded));
            }
        }
    }

    fn process_started(&mut self, app: Incarnation, pid: u32, left_out: Vec<String>) {
        if let Err(why) = self.apps.open_log(app, self.turn.now) {
            let Self { apps, connections, turn, .. } = self;
            apps.abort_start(app, why, connections, turn);
            return self.handle_log_updates();
        }
        for line in &left_out {
            log(format_args!("incarnation {}: {line}", app.0));
        }
        self.handle(Event::Started { app, pid, left_out });
        self.connections.open_app(app);
        self.serve(Peer::App(app));
    }

    fn process_exited(&mut self, app: Incarnation, exit: Exit) {
        // What the app sent before it exited comes before the exit.
        self.read_remaining(Peer::App(app));
        self.connections.remove_app(app);
        if let Some(last_lines) = self.apps.remove(app, &mut self.scratch, self.turn.now) {
            self.handle(Event::Exited { app, exit, last_lines });
        }
        self.handle_log_updates();
    }

    /// Reads what a process printed.
    pub(super) fn read_app_output(&mut self, app: Incarnation) {
        self.apps.output.read(app, &mut self.scratch, self.turn.now_ms());
        self.handle_log_updates();
    }

    /// Hands the core what arrived for those who follow a log.
    pub(super) fn handle_log_updates(&mut self) {
        self.apps.queue_log_updates(&mut self.turn);
        self.handle_queued();
    }
}

fn to_exit(termination: Termination, exceeded: Option<ExceededLimit>) -> Exit {
    let status = match termination {
        Termination::Code(code) => code,
        Termination::Signal(signal) => -signal,
    };
    match (termination, exceeded) {
        (_, Some(ExceededLimit::Cpu(seconds))) => Exit::OverLimit(Limit::Cpu(seconds)),
        (_, Some(ExceededLimit::Processes(max))) => Exit::OverLimit(Limit::Processes(max)),
        (_, Some(ExceededLimit::TreeMemory(max))) => Exit::OverLimit(Limit::Memory(max)),
        (_, Some(ExceededLimit::Threads(max))) => Exit::OverLimit(Limit::Threads(max)),
        (_, Some(ExceededLimit::Disk(max))) => Exit::OverLimit(Limit::Disk(max)),
        (_, Some(ExceededLimit::Memory(used, limit))) => {
            Exit::NearMemoryLimit { status, used, limit }
        }
        (Termination::Code(code), None) => Exit::Code(code),
        (Termination::Signal(signal), None) => Exit::Signal(signal),
    }
}
