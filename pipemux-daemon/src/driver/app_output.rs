//! Handles what apps print, and those who follow it.

use std::path::Path;

use pipemux_core::Event;
use pipemux_proto::Incarnation;

use super::Driver;
use crate::app_output::LogWatch;

impl Driver {
    /// Reads what a process printed.
    pub(super) fn read_app_output(&mut self, app: Incarnation) {
        self.app_output.read(app, &mut self.scratch, self.now.mono_ms);
        self.notify_log_watchers();
    }

    /// Serves the pipes and logs whose timeouts have passed.
    pub(super) fn handle_output_timeouts(&mut self) {
        self.app_output.handle_timeout(&mut self.scratch, self.now.mono_ms);
        self.notify_log_watchers();
    }

    /// Queues the answer to a request for a part of a log.
    pub(super) fn read_log(&mut self, request: u64, path: &str, lines: u32, after: Option<u64>) {
        let read = self.app_output.read_log(Path::new(path), lines, after);
        self.events.push_back(Event::LogRead { request, read });
    }

    /// Answers a request once the log has more than what lies before `after`.
    pub(super) fn watch_log(&mut self, request: u64, path: &str, lines: u32, after: u64) {
        self.app_output.watch(Path::new(path), LogWatch { request, lines, after });
        self.queue_log_updates();
    }

    /// Hands the core what arrived for those who follow a log.
    pub(super) fn notify_log_watchers(&mut self) {
        self.queue_log_updates();
        self.drain_events();
    }

    pub(super) fn queue_log_updates(&mut self) {
        if !self.app_output.has_log_updates() {
            return;
        }
        for (request, read) in self.app_output.take_log_updates() {
            self.events.push_back(Event::LogRead { request, read });
        }
    }
}
