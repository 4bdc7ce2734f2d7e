//! Work that a session does without a request: it refreshes the app when due, and notifies the
//! daemon.

use std::time::{Instant, SystemTime};

use bytes::Bytes;
use pipemux_proto::app::{Busy, Changed, Notify};
use pipemux_proto::codec::EncodeError;
use pipemux_proto::deadline;
use pipemux_proto::{Envelope, Frame, Method};
use serde::Serialize;

use crate::handle::{Asked, BusyState};
use crate::limits::WAKE_SPACING;
use crate::path_watch::PathWatch;

use super::{Response, Session};

impl Session {
    /// When something is due next: a request is to be answered whose work isn't done, or the app is
    /// to be refreshed.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        [self.next_parked_deadline(), self.next_wake()].into_iter().flatten().min()
    }

    /// When the app wants to be refreshed: not more often than a loop can stand, whatever it says.
    fn next_wake(&self) -> Option<Instant> {
        let at = self.app.as_ref()?.next_wake()?;
        let earliest = self
            .refreshed
            .map_or(self.received, |refreshed| deadline::behind(refreshed, WAKE_SPACING));
        match at.duration_since(SystemTime::now()) {
            Ok(left) => Instant::now().checked_add(left).map(|at| at.max(earliest)),
            Err(_) => Some(earliest),
        }
    }

    /// Refreshes the app, processes the results of other threads, answers parked requests that are
    /// done or past their deadline, and sends the requested notifications. Returns the frames to
    /// send.
    pub(crate) fn run_due(&mut self, asked: Asked) -> Result<Vec<u8>, EncodeError> {
        let before = self.version;
        let only_watched = Asked { watched: true, ..Asked::default() };
        let changed = match &mut self.app {
            Some(app) if asked == only_watched => app.watched_changed(),
            Some(_) => {
                self.refresh_if_open();
                asked.changed
            }
            None => false,
        };
        self.version += u64::from(changed);
        self.refreshed = Some(Instant::now());
        let (mut frames, told) = self.finish_parked()?;
        if told.is_some() {
            self.refresh_if_open();
        }
        if self.version != told.unwrap_or(before) {
            frames.extend(self.changed()?);
        }
        self.untold = false;
        frames.extend(self.say(asked)?);
        Ok(frames)
    }

    /// Updates the watched paths to those that the app names, if the state has changed since the
    /// last call.
    pub(crate) fn update_watches(&mut self, watch: &mut PathWatch) {
        let before = std::mem::replace(&mut self.watched_version, self.version);
        if let Some(app) = self.app.as_ref().filter(|_| before != self.version) {
            watch.set(self.incarnation, &self.handle, app.watched());
        }
    }

    /// Adds to an answer that the state changed by itself while its request was handled, if it did.
    pub(super) fn with_untold(&mut self, answer: Bytes) -> Result<Response, EncodeError> {
        if !std::mem::take(&mut self.untold) {
            return Ok(Response::Send(answer));
        }
        let mut frames = answer.to_vec();
        frames.extend(self.changed()?);
        Ok(Response::Send(frames.into()))
    }

    /// Makes the frames of what the app said through its handle.
    fn say(&self, asked: Asked) -> Result<Vec<u8>, EncodeError> {
        let mut frames = Vec::new();
        match asked.busy {
            Some(BusyState::Busy(what, until)) => {
                let left = until.saturating_duration_since(Instant::now()).as_millis();
                // 0 would mean that the work is done.
                let for_ms = u64::try_from(left).unwrap_or(u64::MAX).max(1);
                frames.extend(self.event(Method::Busy, &Busy { what, for_ms })?);
            }
            Some(BusyState::Idle) => {
                let idle = Busy { what: String::new(), for_ms: 0 };
                frames.extend(self.event(Method::Busy, &idle)?);
            }
            None => {}
        }
        for text in asked.notices {
            frames.extend(self.event(Method::Notify, &Notify { text })?);
        }
        for (key, pending) in asked.jobs {
            frames.extend(self.event(Method::JobReport, &pending.into_report(key))?);
        }
        if asked.left_out > 0 {
            let text = format!("{} more notices were left out", asked.left_out);
            frames.extend(self.event(Method::Notify, &Notify { text })?);
        }
        Ok(frames)
    }

    fn refresh_if_open(&mut self) {
        // An app that isn't open has nothing to refresh; what it refuses is told to those who ask.
        if self.app.is_some() {
            let _ = self.refresh();
        }
    }

    fn changed(&self) -> Result<Vec<u8>, EncodeError> {
        self.event(Method::Changed, &Changed { version: self.version })
    }

    pub(super) fn event<T: Serialize>(
        &self,
        method: Method,
        body: &T,
    ) -> Result<Vec<u8>, EncodeError> {
        let envelope = Envelope::event(method, self.incarnation);
        Frame::encode(&envelope, body).map(|bytes| bytes.to_vec())
    }
}
