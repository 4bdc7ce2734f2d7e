//! What the launcher reports.

use std::path::Path;
use std::task::Poll;

use pipemux_core::{Event, Exit, limits};
use pipemux_launcher::{Ended, Report};
use pipemux_proto::Incarnation;

use super::Driver;
use crate::children::Heard;
use crate::limits::{LAST_WORDS, LOG_READ};
use crate::logs;
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
                Heard::Report(Report::Exited { incarnation, how }) => {
                    let exit = match how {
                        Ended::Code(code) => Exit::Code(code),
                        Ended::Signal(signal) => Exit::Signal(signal),
                    };
                    self.exited(Incarnation(incarnation), exit);
                }
                Heard::Lost { running, starting } => {
                    for app in running {
                        self.exited(app, Exit::Lost);
                    }
                    for app in starting {
                        self.start_failed(app, "the launcher was lost meanwhile".to_owned());
                    }
                }
            }
        }
    }

    fn started(&mut self, app: Incarnation, pid: u32) {
        self.handle(Event::Started { app, pid });
        let peer = Peer::App(app);
        if let Some(connection) = self.connections.get_mut(&peer) {
            connection.reading = connection.writing;
            self.serve(peer);
        }
    }

    fn start_failed(&mut self, app: Incarnation, why: String) {
        self.connections.remove(&Peer::App(app));
        if self.children.forget(app).is_some() {
            self.handle(Event::StartFailed { app, why });
        }
    }

    fn exited(&mut self, app: Incarnation, exit: Exit) {
        let peer = Peer::App(app);
        // What it sent before it ended comes before its end.
        self.read(peer, LAST_WORDS);
        self.connections.remove(&peer);
        if let Some(log) = self.children.forget(app) {
            self.handle(Event::Exited { app, exit, last_lines: last_lines(&log) });
        }
    }
}

fn last_lines(log: &Path) -> Vec<String> {
    let text = logs::tail(log, limits::LAST_LINES, LOG_READ).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
