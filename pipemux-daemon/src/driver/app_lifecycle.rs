//! Handles what the launcher reports: processes that started, failed to start, or exited.

use std::path::Path;
use std::task::Poll;

use pipemux_core::{Event, Exit, Limit, Transport, limits};
use pipemux_launcher::{ExceededLimit, Report, Termination};
use pipemux_proto::Incarnation;

use super::Driver;
use crate::app_processes::LauncherEvent;
use crate::daemon_log::log;
use crate::ready_queue::Peer;

impl Driver {
    /// Handles all that the launcher has reported.
    pub(super) fn poll_launcher(&mut self) {
        while let Poll::Ready(event) = self.processes.poll() {
            match event {
                LauncherEvent::Report(report) => self.handle_report(report),
                // This includes processes that were about to start: their programs aren't to blame, and the next
                // launcher can start them.
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
                self.process_start_failed(Incarnation(incarnation), why);
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
        if let Err(why) = self.open_log(app) {
            self.abort_start(app, why);
            return self.notify_log_watchers();
        }
        for line in &left_out {
            log(format_args!("incarnation {}: {line}", app.0));
        }
        self.handle(Event::Started { app, pid, left_out });
        let peer = Peer::App(app);
        if let Some(connection) = self.connections.get_mut(&peer) {
            connection.write_scheduled = false;
            connection.can_read = connection.can_write;
            self.serve(peer);
        }
    }

    fn process_start_failed(&mut self, app: Incarnation, why: String) {
        // Every session that was to start has a log, also one that printed nothing.
        let _ = self.open_log(app);
        self.connections.remove(&Peer::App(app));
        self.app_output.finish(app, &mut self.scratch, self.now.mono_ms);
        if self.processes.forget(app) {
            self.handle(Event::StartFailed { app, why });
        }
    }

    fn process_exited(&mut self, app: Incarnation, exit: Exit) {
        let peer = Peer::App(app);
        self.starting_apps.remove(&app);
        self.dev_programs.forget(app);
        // What the app sent before it exited comes before the exit.
        self.read_remaining(peer);
        self.connections.remove(&peer);
        let log = self.app_output.finish(app, &mut self.scratch, self.now.mono_ms);
        if self.processes.forget(app) {
            let last_lines = log.map(|(path, since)| self.last_lines(&path, since));
            let last_lines = last_lines.unwrap_or_default();
            self.handle(Event::Exited { app, exit, last_lines });
        }
        self.notify_log_watchers();
    }

    /// Adds the most likely remedy to the reason why an app's frames are invalid.
    pub(super) fn explain_invalid(&self, peer: Peer, why: String) -> String {
        match peer {
            Peer::App(app) if self.processes.transport(app) == Some(Transport::Stdio) => format!(
                "{why}; with transport = \"stdio\" standard output carries frames and nothing else: \
                 print to standard error"
            ),
            _ => why,
        }
    }

    /// Returns what a process printed last. What earlier processes left in the log says nothing about this exit.
    fn last_lines(&self, path: &Path, since: u64) -> Vec<String> {
        let last = self.app_output.last_lines(path, limits::LAST_LINES as u32, since);
        last.unwrap_or_default().text.lines().map(str::to_owned).collect()
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
