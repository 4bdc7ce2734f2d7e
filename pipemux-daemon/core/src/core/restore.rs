//! Restores the state from its records, and writes the records of a snapshot.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::ProviderId;
use pipemux_proto::prototype::Prototype;

use crate::clients::Clients;
use crate::clients::idempotency::ActKey;
use crate::consents::Allowed;
use crate::core::process_events::update_actions;
use crate::keys::SessionKey;
use crate::pauses::Pause;
use crate::persist::records::{Record, SavedQuestion, SavedRound};
use crate::processes::Processes;
use crate::runs::open_runs::OpenRuns;
use crate::turn::Turn;
use crate::verbs::job_events::sync_jobs;
use crate::verbs::run_driver::round_of_running;
use crate::verbs::tasks::Task;
use crate::workspaces::history::UndosNow;
use crate::workspaces::window_options::SavedDetail;
use crate::workspaces::{FirstNumbers, Workspaces};
use crate::{Config, Core};

impl Core {
    /// Creates a core from the records of an earlier daemon. Numbering continues after all numbers
    /// that may have been used, windows are open again, and a process starts when its session is
    /// next used. Sessions of unregistered providers stay down until their providers are
    /// registered.
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
        end_unfinished(&mut core.workspaces, core.config.history_rounds());
        let keys: Vec<SessionKey> = core.processes.sessions().keys().cloned().collect();
        for key in keys {
            update_actions(&mut core.workspaces, &core.processes, &key);
            sync_jobs(&core.jobs, &mut core.processes, &key);
        }
        core
    }

    /// Applies one record. A record of a workspace or session that is unknown is skipped: the
    /// record that made it was lost.
    fn restore(&mut self, record: Record) {
        let (processes, workspaces) = (&mut self.processes, &mut self.workspaces);
        let (clients, runs) = (&mut self.clients, &mut self.runs);
        match record {
            Record::Reserved { numbers_below } => self.turn.numbers.restore(numbers_below),
            Record::Floor { numbers_below } => self.persist.losses.restore(numbers_below),
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
            Record::Session { workspace, session, opens } => {
                let key = SessionKey::from_saved(workspace.as_deref(), &session);
                let Some(key) = key else { return };
                let manifest = self.providers.get(&key.addr.provider).cloned();
                processes.restore_session(key, opens, manifest);
            }
            Record::SessionEnded { workspace, session } => {
                let key = SessionKey::from_saved(workspace.as_deref(), &session);
                let Some(key) = key else { return };
                processes.remove(&key);
                workspaces.forget_session(&key);
            }
            Record::Asleep { workspace, session, version, at_zero, wake_at } => {
                let key = SessionKey::from_saved(workspace.as_deref(), &session);
                let Some(key) = key else { return };
                let version = (version > 0 || at_zero).then_some(version);
                processes.restore_asleep(&key, version, wake_at);
            }
            Record::Prototypes { provider, prototypes } => {
                restore_prototypes(processes, &provider, &prototypes);
            }
            Record::Workspace { key, name, ids_below, epochs_below } => {
                let first = FirstNumbers { id: ids_below, epoch: epochs_below };
                workspaces.restore(key.into(), name, first);
            }
            Record::Window { workspace, session, lod, budget, pinned, placement } => {
                let Some(key) = known_session(processes, &workspace, &session) else { return };
                let Some(found) = workspaces.get_mut(workspace.as_str()) else { return };
                let detail = SavedDetail { lod: &lod, budget, pinned, placement };
                found.restore_window(key, &detail, || self.turn.numbers.take_restored());
            }
            Record::WindowClosed { workspace, session } => {
                let Some(found) = workspaces.get_mut(workspace.as_str()) else { return };
                found.restore_closed_window(&session);
            }
            Record::Options { workspace, options } => {
                let Some(found) = workspaces.get_mut(workspace.as_str()) else { return };
                found.options = options;
            }
            Record::Anchors { workspace, anchors } => {
                let Some(found) = workspaces.get_mut(workspace.as_str()) else { return };
                found.anchors.restore(anchors, found.epoch + 1);
            }
            Record::Round { workspace, round } => {
                let Some(found) = workspaces.get_mut(workspace.as_str()) else { return };
                found.history.restore_unfinished(&round.reader, &round.run_id, None);
                found.history.add(round, self.config.history_rounds());
            }
            Record::Undone { workspace, round, steps, again, unsure } => {
                let Some(found) = workspaces.get_mut(workspace.as_str()) else { return };
                let now = UndosNow { taken_back: steps, made_again: again, unsure };
                found.history.mark_undone(round, &now);
            }
            Record::Begun { run_id, workspace, reader, unix_ms, round } => {
                let round = round.map(|round| SavedRound { run_id: run_id.clone(), ..*round });
                let by = (workspace.as_deref(), reader.as_deref());
                restore_unfinished(workspaces, by, &run_id, round);
                clients.restore_act(&ActKey::saved(workspace, reader, &run_id), unix_ms, None);
            }
            Record::Progressed { run_id, workspace, reader, round } => {
                let found = workspace.and_then(|key| workspaces.get_mut(key.as_str()));
                let Some(found) = found else { return };
                found.history.restore_progress(&reader.unwrap_or_default(), &run_id, *round);
            }
            Record::Answered { run_id, workspace, reader, exit } => {
                let by = (workspace.as_deref(), reader.as_deref());
                restore_unfinished(workspaces, by, &run_id, None);
                clients.restore_act(&ActKey::saved(workspace, reader, &run_id), 0, Some(exit));
            }
            Record::Acts { workspace, reader, forgotten_to, acts } => {
                clients.restore_acts(workspace, reader, forgotten_to, acts);
            }
            Record::PseudonymKey { key } => clients.restore_pseudonym_key(&key),
            Record::Question { workspace, number, question } => {
                restore_question(runs, workspaces, &workspace, number, &question);
            }
            Record::QuestionClosed { workspace, number } => {
                runs.remove_question(&workspace, number);
            }
            Record::Kept { workspace, number, rest } => {
                let Some(found) = workspaces.get(workspace.as_str()) else { return };
                runs.restore_kept(&found.key, number, rest);
            }
            Record::KeptClosed { workspace, number } => {
                runs.remove_rest(&workspace, number);
            }
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
        let now = self.turn.now.unix_ms;
        for id in self.tasks.requests_with(|task| matches!(task, Task::Running(_))) {
            let run = self.tasks.run(id);
            let round = run
                .and_then(|run| round_of_running(&self.clients, &self.workspaces, (id, run), now));
            records.extend(round.and_then(|round| self.clients.begun(id, round)));
        }
        records
    }
}

/// Opens a saved question again, or tells its workspace that it can't be read.
fn restore_question(
    runs: &mut OpenRuns,
    workspaces: &mut Workspaces,
    workspace: &str,
    number: u64,
    question: &SavedQuestion,
) {
    let Some(found) = workspaces.get_mut(workspace) else { return };
    if !runs.restore_question(&found.key, number, question) {
        let text = format!("question {number} was asked by another version and is lost");
        found.notify(text, Default::default());
    }
}

/// Returns the restored session that a window's record means: the workspace's own one, or else a
/// shared one.
fn known_session(processes: &Processes, workspace: &str, session: &str) -> Option<SessionKey> {
    let keys = [Some(workspace), None].map(|owner| SessionKey::from_saved(owner, session));
    keys.into_iter().flatten().find(|key| processes.contains(key))
}

fn restore_prototypes(processes: &mut Processes, provider: &str, encoded: &[u8]) {
    let decoded = pipemux_proto::decode::<Vec<Prototype>>(encoded);
    // An earlier daemon took in any names; the app is refused when it starts again.
    let valid = |known: &Vec<Prototype>| known.iter().all(|one| one.check().is_ok());
    let decoded = decoded.ok().filter(valid);
    if let (Ok(provider), Some(known)) = (provider.parse::<ProviderId>(), decoded) {
        processes.restore_prototypes(provider, known);
    }
}

fn restore_unfinished(
    workspaces: &mut Workspaces,
    (workspace, reader): (Option<&str>, Option<&str>),
    run_id: &str,
    round: Option<SavedRound>,
) {
    if let Some(found) = workspace.and_then(|key| workspaces.get_mut(key)) {
        found.history.restore_unfinished(reader.unwrap_or_default(), run_id, round);
    }
}

/// Tells what was under way when an earlier daemon was lost.
fn end_unfinished(workspaces: &mut Workspaces, rounds: usize) {
    for workspace in workspaces.values_mut() {
        for number in workspace.history.end_unfinished(rounds) {
            let text =
                format!("round {number} was under way when the daemon was lost: pipemux history");
            workspace.notify(text, Default::default());
        }
    }
}

/// Records the numbers that were really used, so that an orderly shutdown leaves no gap.
pub(super) fn save_numbers(turn: &mut Turn, workspaces: &Workspaces) {
    let used = turn.numbers.used();
    turn.persist(used);
    for workspace in workspaces.values() {
        turn.persist(workspace.used_numbers());
    }
}
