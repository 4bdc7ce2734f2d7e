//! Coming back: what the records say, and the records that say it again.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::client::Call;
use pipemux_proto::projection::Lod;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::watch::What;
use pipemux_proto::{Fault, ProviderId, SessionAddr};

use crate::clients::Clients;
use crate::event::Effect;
use crate::feed::Audience;
use crate::keys::{SessionKey, WorkspaceKey};
use crate::limits::{RETIRED_MAX, WORKSPACES_MAX};
use crate::persist::records::{Record, SavedOptions};
use crate::processes::Processes;
use crate::processes::session::Crash;
use crate::verbs::lod_name;
use crate::workspaces::{Window, Workspace};
use crate::{Config, Core, runs};

impl Core {
    /// With what the records say: numbers go on where they may have been, windows are open, processes
    /// start at the next touch. Sessions of providers that aren't registered stay down until they are.
    pub fn new(config: Config, records: Vec<Record>) -> Self {
        let providers: BTreeMap<_, _> = config
            .providers
            .iter()
            .map(|manifest| (manifest.id.clone(), Rc::new(manifest.clone())))
            .collect();
        let processes = Processes::new(config.software.clone(), config.state_dir.clone());
        let clients = Clients::new(config.software.clone());
        let mut core = Self { config, providers, clients, processes, ..Self::default() };
        for record in records {
            core.restore(record);
        }
        let keys: Vec<SessionKey> = core.processes.sessions().keys().cloned().collect();
        for key in keys {
            core.actions_changed(&key);
        }
        core
    }

    fn restore(&mut self, record: Record) {
        match record {
            Record::Reserved { numbers_below } => {
                self.turn.numbers.restore(numbers_below);
            }
            Record::Floor { numbers_below } => self.persist.losses.restore(numbers_below),
            Record::Workspace { key, name, ids_below, epochs_below } => {
                let mut fresh = Workspace::new(name, ids_below, epochs_below);
                let key: WorkspaceKey = key.into();
                if let Some(before) = self.workspaces.remove(&key) {
                    fresh.windows = before.windows;
                    fresh.options = before.options;
                    fresh.history = before.history;
                    fresh.questions = before.questions;
                    fresh.anchors = before.anchors;
                    fresh.anchors.go_on_from(ids_below);
                    // They are written down with the meaning that they were minted with: pins of an
                    // earlier daemon are stale until they are shown again.
                    fresh.anchors.all_stand_since(epochs_below + 1);
                    for window in fresh.windows.iter_mut() {
                        window.context.major = epochs_below;
                    }
                }
                self.workspaces.insert(key, fresh);
            }
            Record::Session { workspace, session, opens } => {
                let Some(key) = session_key(workspace.as_deref(), &session) else { return };
                let manifest = self.providers.get(&key.addr.provider).cloned();
                self.processes.restore_session(key, opens, manifest);
            }
            Record::SessionEnded { workspace, session } => {
                if let Some(key) = session_key(workspace.as_deref(), &session) {
                    self.processes.remove(&key);
                    for workspace in self.workspaces.values_mut() {
                        workspace.anchors.forget_session(&key);
                    }
                }
            }
            Record::Asleep { workspace, session, version } => {
                if let Some(key) = session_key(workspace.as_deref(), &session) {
                    self.processes.restore_asleep(&key, version);
                }
            }
            Record::Window { workspace, session, lod, budget, pinned } => {
                let workspace = workspace.into();
                self.restore_window(&workspace, &session, &lod, budget);
                let addr = session.parse::<SessionAddr>().ok();
                let windows = self.workspaces.get_mut(&workspace).map(|of| of.windows.iter_mut());
                let of_it = |w: &&mut Window| Some(&w.session.addr) == addr.as_ref();
                for window in windows.into_iter().flatten().filter(of_it) {
                    window.pinned = pinned;
                }
            }
            Record::Prototypes { provider, prototypes } => {
                let decoded = pipemux_proto::decode::<Vec<Prototype>>(&prototypes);
                if let (Ok(provider), Ok(known)) = (provider.parse::<ProviderId>(), decoded) {
                    self.processes.restore_prototypes(provider, known);
                }
            }
            Record::Options { workspace, options } => {
                if let Some(found) = self.workspaces.get_mut(workspace.as_str()) {
                    found.options = options;
                }
            }
            Record::Begun { run_id } => self.clients.restore_record(&run_id, None),
            Record::Answered { run_id, exit } => self.clients.restore_record(&run_id, Some(exit)),
            Record::Round { workspace, round } => {
                if let Some(found) = self.workspaces.get_mut(workspace.as_str()) {
                    found.history.add(round);
                }
            }
            Record::Anchors { workspace, anchors } => {
                let Some(found) = self.workspaces.get_mut(workspace.as_str()) else { return };
                // What an ordered end wrote last may name fewer ids than were reserved before.
                let (next, epoch) = (found.anchors.next_id(), found.epoch);
                for anchor in anchors {
                    found.anchors.restore(anchor, epoch + 1);
                }
                found.anchors.go_on_from(next);
            }
            Record::Question { workspace, number, question } => {
                let at: WorkspaceKey = workspace.into();
                let Some(found) = self.workspaces.get_mut(&at) else { return };
                match runs::saved_question::restore(&question, &at) {
                    Some(question) => {
                        found.questions.insert(number, question);
                    }
                    None => {
                        let text =
                            format!("question {number} was asked by another version and is lost");
                        found.notify(text, Default::default());
                    }
                }
            }
            Record::QuestionClosed { workspace, number } => {
                if let Some(found) = self.workspaces.get_mut(workspace.as_str()) {
                    found.questions.remove(&number);
                }
            }
            Record::WindowClosed { workspace, session } => {
                let Some(found) = self.workspaces.get_mut(workspace.as_str()) else { return };
                let of_it = |window: &&Window| window.session.to_string() == session;
                let closed = found.windows.iter().filter(of_it).map(|window| &window.session);
                for session in closed.cloned().collect::<Vec<_>>() {
                    found.close_window(&session);
                }
            }
        }
    }

    fn restore_window(&mut self, at: &WorkspaceKey, session: &str, lod: &str, budget: Option<u32>) {
        let own = session_key(Some(at), session);
        let shared = session_key(None, session);
        let key = [own, shared].into_iter().flatten().find(|key| self.processes.contains(key));
        let (Some(key), Some(workspace)) = (key, self.workspaces.get_mut(at)) else { return };
        let lod = [Lod::Gist, Lod::Summary, Lod::Full].into_iter().find(|l| lod_name(*l) == lod);
        let lod = lod.unwrap_or_default();
        if let Some(window) = workspace.window_mut(&key) {
            (window.lod, window.budget) = (lod, budget);
            return;
        }
        let number = self.turn.numbers.take_restored();
        let window = Window { lod, budget, ..Window::new(number, key, workspace.epoch) };
        workspace.open_window(window, None);
    }

    /// Writes down how far numbers really came, so that a daemon that was ended in order leaves no
    /// gap.
    pub(crate) fn save_numbers(&mut self) {
        let used = self.turn.numbers.used();
        self.turn.persist(used);
        for (key, workspace) in &self.workspaces {
            self.turn.effects.push(Effect::Persist(Record::Workspace {
                key: key.to_string(),
                name: workspace.name.clone(),
                ids_below: workspace.anchors.next_id(),
                epochs_below: workspace.newest_version(),
            }));
        }
    }

    /// The records that a fresh log begins with: all that older ones amounted to.
    pub fn snapshot(&self) -> Vec<Record> {
        let mut records = vec![self.turn.numbers.reserved()];
        records.extend(self.persist.losses.to_saved());
        records.extend(self.processes.saved_prototypes());
        records.extend(self.clients.saved_records());
        records.extend(self.processes.saved_sessions());
        for (key, (ids_below, epochs_below)) in &self.retired {
            records.push(Record::Workspace {
                key: key.to_string(),
                name: key.rsplit('/').next().unwrap_or_default().to_owned(),
                ids_below: *ids_below,
                epochs_below: *epochs_below,
            });
        }
        for (key, workspace) in &self.workspaces {
            records.push(Record::Workspace {
                key: key.to_string(),
                name: workspace.name.clone(),
                ids_below: workspace.reserved.0.max(workspace.anchors.next_id()),
                epochs_below: workspace.reserved.1.max(workspace.epoch),
            });
            if workspace.options != SavedOptions::default() {
                let (workspace, options) = (key.to_string(), workspace.options);
                records.push(Record::Options { workspace, options });
            }
            for anchors in workspace.anchors.to_saved().chunks(ANCHORS_A_RECORD) {
                let (workspace, anchors) = (key.to_string(), anchors.to_vec());
                records.push(Record::Anchors { workspace, anchors });
            }
            for (number, question) in &workspace.questions {
                if let Some(question) = runs::saved_question::save(question) {
                    let (workspace, number) = (key.to_string(), *number);
                    records.push(Record::Question { workspace, number, question });
                }
            }
            for round in &workspace.history.rounds {
                let (workspace, round) = (key.to_string(), round.clone());
                records.push(Record::Round { workspace, round });
            }
            for window in workspace.windows.iter() {
                records.push(Record::Window {
                    workspace: key.to_string(),
                    session: window.session.to_string(),
                    lod: lod_name(window.lod).into(),
                    budget: window.budget,
                    pinned: window.pinned,
                });
            }
        }
        records
    }

    /// The workspace of a request, made when it is new.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn enter(&mut self, call: &Call) -> Result<WorkspaceKey, Fault> {
        let now = self.turn.now;
        if let Some((key, _)) = self.workspaces.get_key_value(call.workspace.key.as_str()) {
            let key = key.clone();
            if let Some(workspace) = self.workspaces.get_mut(&key) {
                workspace.reader(&call.reader, now);
            }
            return Ok(key);
        }
        if self.workspaces.len() >= WORKSPACES_MAX && !self.retire_one() {
            let message =
                format!("{WORKSPACES_MAX} workspaces have open windows, no more are taken");
            return Err(Fault::refused(message)
                .hint("pipemux close <provider>/<session> --end in one that is done with"));
        }
        let key: WorkspaceKey = call.workspace.key.as_str().into();
        let (first_id, epoch) =
            self.retired.remove(&key).unwrap_or_else(|| self.persist.losses.first_numbers());
        let mut workspace = Workspace::new(call.workspace.name.clone(), first_id, epoch);
        workspace.reader(&call.reader, now);
        if let Some(text) = self.persist.losses.take_news() {
            workspace.notify(text, now);
        }
        self.workspaces.insert(key.clone(), workspace);
        // Written down before any window of it is.
        self.reserve(&key);
        Ok(key)
    }

    /// Drops the workspace without windows that was longest not heard of; its numbers are kept, so that
    /// none is used again when it comes back. False when there is none.
    fn retire_one(&mut self) -> bool {
        let heard = |workspace: &Workspace| workspace.readers.values().map(|r| r.heard).max();
        let idle = self.workspaces.iter().filter(|(_, w)| w.windows.is_empty());
        let oldest = idle.min_by_key(|(_, workspace)| heard(workspace));
        let Some(key) = oldest.map(|(key, _)| key.clone()) else { return false };
        if self.retired.len() >= RETIRED_MAX {
            return false;
        }
        if let Some(workspace) = self.workspaces.remove(&key) {
            let epoch = workspace.epoch.max(workspace.reserved.1);
            self.retired.insert(key, (workspace.anchors.next_id(), epoch));
        }
        true
    }

    /// Tells every workspace that has a window of the session.
    pub(crate) fn notify_windows(&mut self, what: What, key: &SessionKey, text: String) {
        let now = self.turn.now;
        let shown = text.replace("{ago}", "just now");
        for workspace in self.workspaces.values_mut().filter(|w| w.window(key).is_some()) {
            workspace.notify(text.clone(), now);
        }
        self.tell(what, Audience::Session(key.clone()), None, &shown);
    }

    /// Tells that a session was restarted, truthfully, and what the app says of it.
    pub(crate) fn notify_start(
        &mut self,
        key: &SessionKey,
        crash: Option<&Crash>,
        notes: &[String],
    ) {
        let said = notes.join("\n");
        let Some(crash) = crash else {
            if !said.is_empty() {
                self.notify_windows(What::Notice, key, format!("{key}: {said}"));
            }
            return;
        };
        let space = if said.is_empty() { "" } else { " " };
        let text = format!(
            "{key} was restarted {{ago}}: {} ({} of {} allowed in {} s; why: pipemux logs {key}).{space}{said}",
            crash.how,
            ordinal(crash.nth),
            crate::limits::CRASHES_MAX,
            crate::limits::CRASH_WINDOW_MS / 1000,
        );
        self.notify_windows(What::Restarted, key, text);
    }
}

/// Anchors in one record of a snapshot: a record stays small.
const ANCHORS_A_RECORD: usize = 256;

fn session_key(workspace: Option<&str>, session: &str) -> Option<SessionKey> {
    let addr: SessionAddr = session.parse().ok()?;
    Some(SessionKey { workspace: workspace.map(Into::into), addr })
}

fn ordinal(n: usize) -> String {
    let suffix = match (n % 10, n % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}
