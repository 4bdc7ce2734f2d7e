//! What the launcher reports.

use std::path::Path;
use std::task::Poll;

use pipemux_core::{Event, Exit, Limit, Transport, limits};
use pipemux_launcher::{Ended, Over, Report};
use pipemux_proto::Incarnation;

use super::Driver;
use crate::children::Heard;
use crate::note::note;
use crate::wake::Peer;

impl Driver {
    /// Takes what the launcher says.
    pub(super) fn hear_launcher(&mut self) {
        while let Poll::Ready(heard) = self.children.poll() {
            match heard {
                Heard::Report(Report::Spawned { incarnation, pid }) => {
                    self.started(Incarnation(incarnation), pid);
                }
                Heard::Report(Report::SpawnFailed { incarnation, why }) => {
                    self.start_failed(Incarnation(incarnation), why);
                }
                Heard::Report(Report::Exited { incarnation, how, over, left }) => {
                    if !left.is_empty() {
                        note(format_args!(
                            "life {incarnation} ended, but what it started hangs in the system: \
                             processes {left:?}"
                        ));
                    }
                    self.exited(Incarnation(incarnation), exit(how, over));
                }
                // For a process that was about to start, too: its program isn't to blame, and the next
                // launcher can start it.
                Heard::Lost { apps } => {
                    for app in apps {
                        self.exited(app, Exit::Lost);
                    }
                }
            }
        }
    }

    fn started(&mut self, app: Incarnation, pid: u32) {
        if let Err(why) = self.furnish(app) {
            self.give_up(app, why);
            return self.tell_followers();
        }
        self.handle(Event::Started { app, pid });
        let peer = Peer::App(app);
        if let Some(connection) = self.connections.get_mut(&peer) {
            connection.listed = false;
            connection.reading = connection.writing;
            self.serve(peer);
        }
    }

    fn start_failed(&mut self, app: Incarnation, why: String) {
        // Nothing was printed; but there is a log, as of every session that was to start.
        let _ = self.furnish(app);
        self.connections.remove(&Peer::App(app));
        self.prints.finish(app, &mut self.shared, self.now.mono_ms);
        if self.children.forget(app) {
            self.handle(Event::StartFailed { app, why });
        }
    }

    fn exited(&mut self, app: Incarnation, exit: Exit) {
        let peer = Peer::App(app);
        self.starting.remove(&app);
        // What it sent before it ended comes before its end.
        self.read_last(peer);
        self.connections.remove(&peer);
        let log = self.prints.finish(app, &mut self.shared, self.now.mono_ms);
        if self.children.forget(app) {
            let last_lines = log.map(|(log, since)| self.last_lines(&log, since));
            let last_lines = last_lines.unwrap_or_default();
            self.handle(Event::Exited { app, exit, last_lines });
        }
        self.tell_followers();
    }

    /// Why a connection makes no sense, with what its app's author most likely has to do.
    pub(super) fn explained(&self, peer: Peer, why: String) -> String {
        match peer {
            Peer::App(app) if self.children.transport(app) == Some(Transport::Stdio) => format!(
                "{why}; with transport = \"stdio\" standard output carries frames and nothing else: \
                 print to standard error"
            ),
            _ => why,
        }
    }

    /// What a process printed last: a log holds earlier processes' words, too, and these say nothing
    /// about this one's end.
    fn last_lines(&self, log: &Path, since: u64) -> Vec<String> {
        let piece = self.prints.last(log, limits::LAST_LINES as u32, since).unwrap_or_default();
        piece.text.lines().map(str::to_owned).collect()
    }
}

fn exit(how: Ended, over: Option<Over>) -> Exit {
    let status = match how {
        Ended::Code(code) => code,
        Ended::Signal(signal) => -signal,
    };
    match (how, over) {
        (_, Some(Over::Cpu(seconds))) => Exit::OverLimit(Limit::Cpu(seconds)),
        (_, Some(Over::Processes(most))) => Exit::OverLimit(Limit::Processes(most)),
        (_, Some(Over::Memory(used, limit))) => Exit::NearMemoryLimit { status, used, limit },
        (Ended::Code(code), None) => Exit::Code(code),
        (Ended::Signal(signal), None) => Exit::Signal(signal),
    }
}
