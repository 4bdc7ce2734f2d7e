//! Restores the state from its records, and writes the records of a snapshot.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::ProviderId;
use pipemux_proto::prototype::Prototype;

use crate::clients::Clients;
use crate::clients::idempotency::ActKey;
use crate::consents::Allowed;
use crate::keys::SessionKey;
use crate::pauses::Pause;
use crate::persist::records::{Record, SavedRound};
use crate::processes::Processes;
use crate::verbs::tasks::Task;
use crate::workspaces::FirstNumbers;
use crate::workspaces::history::UndosNow;
use crate::workspaces::window_options::SavedDetail;
use crate::{Config, Core};

impl Core {
    /// Makes a core with the state of earlier records: numbers continue after those that may have been used, windows
    /// are open, and a process starts when its session is next used. Sessions of providers that aren't registered stay
    /// down until the providers are.
    pub fn new(config: Config, records: Vec<Record>) -> Self {
        let providers: BTreeMap<_, _> = config
            .providers
            .iter()
            .map(|manifest| (manifest.id.clone(), Rc::new(manifest.clone())))
            .collect();
        let processes = Processes::new(config.software.clone(), config.state_dir.clone());
        let clients =
            Clients::new(config.software.clone(), config.identity.clone(), config.pseudonym_key);
        let mut core = Self { config, providers, clients, processes, ..Self::default() };
        for record in records {
            core.restore(record);
        }
        core.end_unfinished();
        let keys: Vec<SessionKey> = core.processes.sessions().keys().cloned().collect();
        for key in keys {
            core.actions_changed(&key);
            core.sync_jobs(&key);
        }
        core
    }

    /// Applies one record. A record of a workspace or session that is unknown is skipped: the record that made it was
    /// lost.
    fn restore(&mut self, record: Record) {
        match record {
            Record::Reserved { numbers_below } => {
                self.turn.numbers.restore(numbers_below);
            }
            Record::Floor { numbers_below } => self.persist.losses.restore(numbers_below),
            Record::Workspace { key, name, ids_below, epochs_below } => {
                let first = FirstNumbers { id: ids_below, epoch: epochs_below };
                self.workspaces.restore(key.into(), name, first);
            }
            Record::Session { workspace, session, opens } => {
                let Some(key) = SessionKey::from_saved(workspace.as_deref(), &session) else {
                    return;
                };
                let manifest = self.providers.get(&key.addr.provider).cloned();
                self.processes.restore_session(key, opens, manifest);
            }
            Record::SessionEnded { workspace, session } => {
                if let Some(key) = SessionKey::from_saved(workspace.as_deref(), &session) {
                    self.processes.remove(&key);
                    self.workspaces.forget_session(&key);
                }
            }
            Record::Asleep { workspace, session, version, at_zero, wake_at } => {
                if let Some(key) = SessionKey::from_saved(workspace.as_deref(), &session) {
                    let version = (version > 0 || at_zero).then_some(version);
                    self.processes.restore_asleep(&key, version, wake_at);
                }
            }
            Record::Window { workspace, session, lod, budget, pinned, placement } => {
                let Some(key) = self.known_session(&workspace, &session) else { return };
                let Some(found) = self.workspaces.get_mut(workspace.as_str()) else { return };
                let detail = SavedDetail { lod: &lod, budget, pinned, placement };
                found.restore_window(key, &detail, || self.turn.numbers.take_restored());
            }
            Record::Prototypes { provider, prototypes } => {
                self.restore_prototypes(&provider, &prototypes);
            }
            Record::Options { workspace, options } => {
                if let Some(found) = self.workspaces.get_mut(workspace.as_str()) {
                    found.options = options;
                }
            }
            Record::Begun { run_id, workspace, reader, unix_ms, round } => {
                let round = round.map(|round| SavedRound { run_id: run_id.clone(), ..*round });
                self.restore_unfinished(workspace.as_deref(), reader.as_deref(), &run_id, round);
                let key = ActKey::saved(workspace, reader, &run_id);
                self.clients.restore_act(&key, unix_ms, None);
            }
            Record::Progressed { run_id, workspace, reader, round } => {
                let found = workspace.and_then(|key| self.workspaces.get_mut(key.as_str()));
                if let Some(found) = found {
                    let reader = reader.unwrap_or_default();
                    found.history.restore_progress(&reader, &run_id, *round);
                }
            }
            Record::Answered { run_id, workspace, reader, exit } => {
                self.restore_unfinished(workspace.as_deref(), reader.as_deref(), &run_id, None);
                let key = ActKey::saved(workspace, reader, &run_id);
                self.clients.restore_act(&key, 0, Some(exit));
            }
            Record::Acts { workspace, reader, forgotten_to, acts } => {
                self.clients.restore_acts(workspace, reader, forgotten_to, acts);
            }
            Record::PseudonymKey { key } => self.clients.restore_pseudonym_key(&key),
            Record::Round { workspace, round } => {
                if let Some(found) = self.workspaces.get_mut(workspace.as_str()) {
                    found.history.restore_unfinished(&round.reader, &round.run_id, None);
                    found.history.add(round, self.config.history_rounds());
                }
            }
            Record::Undone { workspace, round, steps, again, unsure } => {
                if let Some(found) = self.workspaces.get_mut(workspace.as_str()) {
                    let now = UndosNow { taken_back: steps, made_again: again, unsure };
                    found.history.mark_undone(round, &now);
                }
            }
            Record::Anchors { workspace, anchors } => {
                if let Some(found) = self.workspaces.get_mut(workspace.as_str()) {
                    found.anchors.restore(anchors, found.epoch + 1);
                }
            }
            Record::Question { workspace, number, question } => {
                let Some(found) = self.workspaces.get_mut(workspace.as_str()) else { return };
                if !self.runs.restore_question(&found.key, number, &question) {
                    let text =
                        format!("question {number} was asked by another version and is lost");
                    found.notify(text, Default::default());
                }
            }
            Record::QuestionClosed { workspace, number } => {
                self.runs.remove_question(&workspace, number);
            }
            Record::Kept { workspace, number, rest } => {
                if let Some(found) = self.workspaces.get(workspace.as_str()) {
                    self.runs.restore_kept(&found.key, number, rest);
                }
            }
            Record::KeptClosed { workspace, number } => {
                self.runs.remove_rest(&workspace, number);
            }
            Record::Job(job) => self.jobs.restore(*job),
            Record::JobTold { job, workspace, reader } => {
                self.jobs.restore_told(job, workspace, reader);
            }
            Record::Consent { workspace, provider, number, key, what, unix_ms, until, given } => {
                let workspace = workspace.into();
                let saved = Allowed { number, workspace, provider, key, what, unix_ms, until };
                self.consents.restore(saved, given);
            }
            Record::Pause { workspace, reader, unix_ms, ahead_s, on } => {
                self.pauses.restore(Pause::from_saved(workspace, reader, unix_ms, ahead_s), on);
            }
            Record::WindowClosed { workspace, session } => {
                if let Some(found) = self.workspaces.get_mut(workspace.as_str()) {
                    found.restore_closed_window(&session);
                }
            }
        }
    }

    /// Returns the restored session that a window's record means: the workspace's own one, or else a shared one.
    fn known_session(&self, workspace: &str, session: &str) -> Option<SessionKey> {
        let keys = [Some(workspace), None].map(|owner| SessionKey::from_saved(owner, session));
        keys.into_iter().flatten().find(|key| self.processes.contains(key))
    }

    fn restore_prototypes(&mut self, provider: &str, encoded: &[u8]) {
        let decoded = pipemux_proto::decode::<Vec<Prototype>>(encoded);
        // An earlier daemon took in any names; the app is refused when it starts again.
        let valid = |known: &Vec<Prototype>| known.iter().all(|one| one.check().is_ok());
        let decoded = decoded.ok().filter(valid);
        if let (Ok(provider), Some(known)) = (provider.parse::<ProviderId>(), decoded) {
            self.processes.restore_prototypes(provider, known);
        }
    }

    fn restore_unfinished(
        &mut self,
        workspace: Option<&str>,
        reader: Option<&str>,
        run_id: &str,
        round: Option<SavedRound>,
    ) {
        if let Some(found) = workspace.and_then(|key| self.workspaces.get_mut(key)) {
            found.history.restore_unfinished(reader.unwrap_or_default(), run_id, round);
        }
    }

    /// Tells what was under way when an earlier daemon was lost.
    fn end_unfinished(&mut self) {
        for workspace in self.workspaces.values_mut() {
            for number in workspace.history.end_unfinished(self.config.history_rounds()) {
                let text = format!(
                    "round {number} was under way when the daemon was lost: pipemux history"
                );
                workspace.notify(text, Default::default());
            }
        }
    }

    /// Records the numbers that were really used, so that an orderly shutdown leaves no gap.
    pub(crate) fn save_numbers(&mut self) {
        let used = self.turn.numbers.used();
        self.turn.persist(used);
        for workspace in self.workspaces.values() {
            self.turn.persist(workspace.used_numbers());
        }
    }

    /// Returns the records that restore the present state. A compacted journal begins with them.
    pub fn snapshot(&self) -> Vec<Record> {
        let mut records = vec![self.turn.numbers.reserved()];
        records.extend(self.persist.losses.snapshot());
        records.extend(self.processes.learned().records());
        records.extend(self.clients.snapshot());
        records.extend(self.processes.saved_sessions());
        records.extend(self.jobs.snapshot());
        records.extend(self.consents.snapshot());
        records.extend(self.pauses.snapshot());
        records.extend(self.workspaces.snapshot_retired());
        for (key, workspace) in self.workspaces.iter() {
            records.extend(workspace.snapshot());
            records.extend(workspace.anchors.snapshot(key));
            records.extend(self.runs.snapshot(key));
            records.extend(workspace.history.snapshot(key));
            records.extend(workspace.windows.snapshot(key));
        }
        for id in self.tasks.requests_with(|task| matches!(task, Task::Running(_))) {
            let round = self.unfinished_round(id, None);
            records.extend(round.and_then(|round| self.clients.begun(id, round)));
        }
        records
    }
}
