//! What apps print, in the driver's turns.

use std::path::Path;

use pipemux_core::Event;
use pipemux_proto::Incarnation;

use super::Driver;
use crate::prints::Watch;

impl Driver {
    /// Takes what a process printed.
    pub(super) fn read_print(&mut self, app: Incarnation) {
        self.prints.read(app, &mut self.shared, self.now.mono_ms);
        self.tell_followers();
    }

    /// Serves the pipes and logs that are due.
    pub(super) fn prints_are_due(&mut self) {
        self.prints.handle_timeout(&mut self.shared, self.now.mono_ms);
        self.tell_followers();
    }

    pub(super) fn read_log(&mut self, request: u64, log: &str, lines: u32, after: Option<u64>) {
        let read = self.prints.piece(Path::new(log), lines, after);
        self.events.push_back(Event::LogRead { request, read });
    }

    pub(super) fn watch_log(&mut self, request: u64, log: &str, lines: u32, after: u64) {
        self.prints.watch(Path::new(log), Watch { request, lines, after });
        self.queue_news();
    }

    /// Hands in what came for those who follow a log.
    pub(super) fn tell_followers(&mut self) {
        self.queue_news();
        self.finish_events();
    }

    fn queue_news(&mut self) {
        if !self.prints.has_news() {
            return;
        }
        for (request, read) in self.prints.next_news() {
            self.events.push_back(Event::LogRead { request, read });
        }
    }
}
