//! Quarantine: a request that ended its app three times is no longer delivered.
//!
//! A request is known by its fingerprint: the action with its arguments, whoever sends it. Only
//! what the app had and had not answered when it died is suspected; an answer clears it.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use pipemux_proto::Fault;
use pipemux_proto::app::Invoke;

use crate::keys::SessionKey;
use crate::limits::{QUARANTINE_AFTER, SUSPECTS_MAX};
use crate::processes::reply::AppReply;

/// Identifies a request by what it does, whoever sends it and whenever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Covers the action, its arguments and, if the request answers a question, the answer.
    pub fn of(invoke: &Invoke) -> Self {
        // Its keys are fixed, so the same request has the same fingerprint in every run.
        let mut hasher = DefaultHasher::new();
        invoke.action.hash(&mut hasher);
        pipemux_proto::encode(&invoke.args).unwrap_or_default().hash(&mut hasher);
        invoke.confirmed.hash(&mut hasher);
        invoke.resume.as_ref().map(|resume| &resume.choice).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The requests that a session's app had when it died.
#[derive(Debug, Default)]
pub struct Quarantine {
    /// Crashes by each request and how the last one ended, least recent first.
    counts: VecDeque<(Fingerprint, u32, String)>,
}

impl Quarantine {
    /// Remembers what the app died with; what it answered is no longer suspected.
    pub fn note_reply(&mut self, invoke: &Invoke, reply: &AppReply) {
        match reply {
            AppReply::Lost { died: true, why, .. } => self.blame(Fingerprint::of(invoke), why),
            AppReply::Lost { .. } => {}
            AppReply::Reply(_) | AppReply::Fault(_) if self.counts.is_empty() => {}
            AppReply::Reply(_) | AppReply::Fault(_) => self.clear(Fingerprint::of(invoke)),
        }
    }

    /// Blames a request for the app's death; its refusal will report `how` the app ended.
    pub fn blame(&mut self, request: Fingerprint, how: &str) {
        let before = self.position(request).and_then(|at| self.counts.remove(at));
        let count = before.map_or(0, |(_, count, _)| count) + 1;
        self.counts.push_back((request, count, how.to_owned()));
        if self.counts.len() > SUSPECTS_MAX {
            self.counts.pop_front();
        }
    }

    /// The app answered the request: it is no longer suspected.
    fn clear(&mut self, request: Fingerprint) {
        if !self.counts.is_empty()
            && let Some(at) = self.position(request)
        {
            self.counts.remove(at);
        }
    }

    /// Lifts the quarantine: every request is delivered again.
    pub fn lift(&mut self) {
        self.counts.clear();
    }

    /// The number of requests that are refused now.
    pub fn quarantined(&self) -> usize {
        self.counts.iter().filter(|(_, count, _)| *count >= QUARANTINE_AFTER).count()
    }

    /// The reason why a request isn't delivered; `None` if it is.
    pub fn refusal(&self, request: Fingerprint, key: &SessionKey, action: &str) -> Option<Fault> {
        let (_, count, how) = self.counts.get(self.position(request)?)?;
        (*count >= QUARANTINE_AFTER).then(|| {
            let said = format!(
                "{action} with these arguments ended {key} {count} times (last: {how}); \
                 it is in quarantine and was not sent"
            );
            Fault::refused(said)
                .hint(format!("pipemux logs {key} · lift it: pipemux restart {key}"))
        })
    }

    fn position(&self, request: Fingerprint) -> Option<usize> {
        self.counts.iter().position(|(known, _, _)| *known == request)
    }
}
