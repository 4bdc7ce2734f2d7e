//! Collects in tests what an app says without a request.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use pipemux_proto::app::{Busy, Notify};
use pipemux_proto::deadline;
use pipemux_proto::job::JobReport;
use pipemux_proto::{Method, decode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::app::App;
use crate::path_watch::PathWatch;

use super::{Host, INCARNATION, frames};

/// Something that an app said without being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unasked {
    /// The state changed by itself: [`App::refresh`] returned true, or [`crate::Handle::changed`].
    Changed,
    /// A line for every reader: [`crate::Handle::notify`].
    Notice(String),
    /// The app works outside of requests: [`crate::Handle::busy`].
    Busy(String),
    /// It doesn't any more: [`crate::Handle::idle`].
    Idle,
    /// It reports on a job: [`crate::JobHandle`].
    Job(JobReport),
}

impl<A: App> Host<A> {
    /// Serves the app until it says something without being asked, but not longer than this.
    /// Returns what it said: nothing when the time is over.
    ///
    /// Timers ([`App::next_wake`]), watched paths ([`App::watched`]) and handles work as under the
    /// daemon.
    pub fn wait_unasked(&mut self, patience: Duration) -> Vec<Unasked> {
        let end = deadline::after(patience);
        loop {
            let now = Instant::now();
            let watched = match &mut self.watch {
                Some(watch) => {
                    self.session.update_watches(watch);
                    watch.run(now).contains(&INCARNATION)
                }
                None => false,
            };
            let mut asked = self.unasked.take().remove(&INCARNATION);
            if watched {
                asked.get_or_insert_default().watched = true;
            }
            let is_due = self.session.next_deadline().is_some_and(|at| at <= now);
            if asked.is_some() || is_due {
                let frames = self.session.run_due(asked.unwrap_or_default()).unwrap_or_default();
                let unasked = unasked(&frames);
                if !unasked.is_empty() {
                    return unasked;
                }
                continue;
            }
            if now >= end {
                return Vec::new();
            }
            let watch_due = self.watch.as_ref().and_then(PathWatch::next_due);
            let due = self.session.next_deadline().into_iter().chain(watch_due).min();
            let until = due.map_or(end, |at| at.min(end));
            let left =
                until.saturating_duration_since(now).saturating_add(Duration::from_millis(1));
            let timeout = Timespec {
                tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            // Interrupted or not, the loop looks at what is due.
            let handles = self.unasked.as_fd();
            let watched = self.watch.as_ref().and_then(PathWatch::events).unwrap_or(handles);
            let mut events =
                [handles, watched].map(|event| PollFd::from_borrowed_fd(event, PollFlags::IN));
            let _ = poll(&mut events, Some(&timeout));
        }
    }
}

fn unasked(bytes: &[u8]) -> Vec<Unasked> {
    let said = |frame: pipemux_proto::Frame| match frame.envelope.method {
        Method::Changed => Some(Unasked::Changed),
        Method::Notify => {
            decode::<Notify>(&frame.body).ok().map(|notify| Unasked::Notice(notify.text))
        }
        Method::JobReport => decode(&frame.body).ok().map(Unasked::Job),
        Method::Busy => decode::<Busy>(&frame.body).ok().map(|busy| match busy.for_ms {
            0 => Unasked::Idle,
            _ => Unasked::Busy(busy.what),
        }),
        _ => None,
    };
    frames(bytes).into_iter().filter_map(said).collect()
}
