//! Processes that many sessions share: `isolation = "provider"` in the manifest.
//!
//! Each session keeps an incarnation of its own with its own number, and its frames carry that
//! number. Here an incarnation is mapped to the process that it is in: what is sent to an
//! incarnation goes to its process, and what comes from a process goes to the incarnation that its
//! envelope names. Sessions come and go without the process; what ends the process ends them all,
//! and each is told why.

use std::collections::BTreeMap;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Frame, Kind, Method, ProviderId};
use rustc_hash::FxHashMap;

use crate::limits::DRAIN_MS;
use crate::timers::Timer;
use crate::turn::Turn;

#[derive(Debug, Default)]
pub(super) struct SharedProcesses {
    by_process: BTreeMap<Incarnation, SharedProcess>,
    /// The shared process of each session's incarnation.
    of: FxHashMap<Incarnation, Incarnation>,
}

#[derive(Debug)]
struct SharedProcess {
    provider: ProviderId,
    incarnations: Vec<Incarnation>,
    /// The greeting of the process, for sessions that join later.
    greeting: Option<Frame>,
    /// The deadline for the process's end, once it has no more sessions.
    closing: Option<u64>,
}

impl SharedProcesses {
    pub fn is_empty(&self) -> bool {
        self.by_process.is_empty()
    }

    /// The process that an incarnation is in: itself, when it isn't shared.
    pub fn process_of(&self, app: Incarnation) -> Incarnation {
        self.of.get(&app).copied().unwrap_or(app)
    }

    /// True for an incarnation in a shared process.
    pub fn is_shared(&self, app: Incarnation) -> bool {
        self.of.contains_key(&app)
    }

    /// True for a shared process.
    pub fn is_process(&self, process: Incarnation) -> bool {
        self.by_process.contains_key(&process)
    }

    /// The incarnations in a shared process, in the order in which they joined it.
    pub fn incarnations(&self, process: Incarnation) -> &[Incarnation] {
        self.by_process.get(&process).map_or(&[], |shared| &shared.incarnations)
    }

    /// True while a provider's process ends: no session can join it, and there is no other yet.
    pub fn is_closing(&self, provider: &ProviderId) -> bool {
        let mut own = self.by_process.values().filter(|shared| shared.provider == *provider);
        own.any(|shared| shared.closing.is_some())
    }

    /// Puts an incarnation into its provider's process, if there is one. Returns the greeting of
    /// that process, once it has come.
    ///
    /// # Errors
    /// There is no process yet.
    pub fn join(
        &mut self,
        provider: &ProviderId,
        app: Incarnation,
    ) -> Result<Option<Frame>, NoProcess> {
        let mut own = self.by_process.iter_mut();
        let found = own.find(|(_, shared)| shared.provider == *provider);
        let (process, shared) = found.ok_or(NoProcess)?;
        shared.incarnations.push(app);
        self.of.insert(app, *process);
        Ok(shared.greeting.clone())
    }

    /// A process is started for an incarnation, and for those of its provider that join it later.
    pub fn insert(&mut self, process: Incarnation, provider: ProviderId, app: Incarnation) {
        let incarnations = vec![app];
        let shared = SharedProcess { provider, incarnations, greeting: None, closing: None };
        self.by_process.insert(process, shared);
        self.of.insert(app, process);
    }

    /// Takes an incarnation out of its process. Returns the process, and true if that has no other;
    /// none if it isn't in one.
    pub fn leave(&mut self, app: Incarnation) -> Option<(Incarnation, bool)> {
        let process = self.of.remove(&app)?;
        let is_empty = self.by_process.get_mut(&process).is_some_and(|shared| {
            shared.incarnations.retain(|other| *other != app);
            shared.incarnations.is_empty()
        });
        Some((process, is_empty))
    }

    /// From now on nobody joins a process, which has to end in time.
    pub fn close(&mut self, turn: &mut Turn, process: Incarnation) {
        let at = turn.mono_ms() + DRAIN_MS;
        if let Some(shared) = self.by_process.get_mut(&process)
            && shared.closing.is_none()
        {
            shared.closing = Some(at);
            turn.set_timer(at, Timer::Drain(process));
        }
    }

    /// A process ended. Returns the incarnations that were in it.
    pub fn remove(&mut self, turn: &mut Turn, process: Incarnation) -> Vec<Incarnation> {
        let Some(removed) = self.by_process.remove(&process) else { return Vec::new() };
        if let Some(at) = removed.closing {
            turn.clear_timer(at, Timer::Drain(process));
        }
        for incarnation in &removed.incarnations {
            self.of.remove(incarnation);
        }
        removed.incarnations
    }

    /// Returns the incarnations that a frame of a process is for. The greeting of a shared process
    /// is for all that are in it, and is kept for those that come later.
    pub fn receivers(
        &mut self,
        process: Incarnation,
        frame: &Frame,
    ) -> impl Iterator<Item = Incarnation> + use<> {
        let (mut one, mut all) = (Some(process), Vec::new());
        if let Some(shared) = self.by_process.get_mut(&process) {
            let incarnation = frame.envelope.incarnation;
            one = None;
            if (frame.envelope.kind, frame.envelope.method) == (Kind::Event, Method::Hello) {
                shared.greeting.get_or_insert_with(|| frame.clone());
                all.clone_from(&shared.incarnations);
            } else if self.of.get(&incarnation) == Some(&process) {
                one = Some(incarnation);
            }
        }
        one.into_iter().chain(all)
    }
}

/// A provider has no process that its sessions could share.
#[derive(Debug)]
pub(super) struct NoProcess;
