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
use crate::persist::numbers::Numbers;
use crate::persist::records::{Record, SavedRound};
use crate::processes::Processes;
use crate::providers::Providers;
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
    /// Makes a core with the state of earlier records: numbers continue after those that may have
    /// been used, windows are open, and a process starts when its session is next used. Sessions of
    /// providers that aren't registered stay down until the providers are.
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
        match record {
            Record::Reserved { numbers_below } => {
                self.turn.numbers.restore(numbers_below);
            }
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
            Record::Session { .. }
            | Record::SessionEnded { .. }
            | Record::Asleep { .. }
            | Record::Prototypes { .. } => {
                restore_session(processes, workspaces, &self.providers, record);
            }
            Record::Workspace { .. }
            | Record::Window { .. }
            | Record::WindowClosed { .. }
            | Record::Options { .. }
            | Record::Anchors { .. }
            | Record::Round { .. }
            | Record::Undone { .. } => {
                let (numbers, rounds) = (&mut self.turn.numbers, self.config.history_rounds());
                restore_workspace(workspaces, processes, numbers, rounds, record);
            }
            Record::Begun { .. }
            | Record::Progressed { .. }
            | Record::Answered { .. }
            | Record::Acts { .. }
            | Record::PseudonymKey { .. } => {
                restore_request(&mut self.clients, workspaces, record);
            }
            Record::Question { .. }
            | Record::QuestionClosed { .. }
            | Record::Kept { .. }
            | Record::KeptClosed { .. } => {
                restore_open_run(&mut self.runs, workspaces, record);
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

/// Applies the record of a session.
fn restore_session(
    processes: &mut Processes,
    workspaces: &mut Workspaces,
    providers: &Providers,
    record: Record,
) {
    match record {
        Record::Session { workspace, session, opens } => {
            let Some(key) = SessionKey::from_saved(workspace.as_deref(), &session) else {
                return;
            };
            let manifest = providers.get(&key.addr.provider).cloned();
            processes.restore_session(key, opens, manifest);
        }
        Record::SessionEnded { workspace, session } => {
            if let Some(key) = SessionKey::from_saved(workspace.as_deref(), &session) {
                processes.remove(&key);
                workspaces.forget_session(&key);
            }
        }
        Record::Asleep { workspace, session, version, at_zero, wake_at } => {
            if let Some(key) = SessionKey::from_saved(workspace.as_deref(), &session) {
                let version = (version > 0 || at_zero).then_some(version);
                processes.restore_asleep(&key, version, wake_at);
            }
        }
        Record::Prototypes { provider, prototypes } => {
            restore_prototypes(processes, &provider, &prototypes);
        }
        _ => {}
    }
}

/// Applies the record of a workspace or of what is in it.
fn restore_workspace(
    workspaces: &mut Workspaces,
    processes: &Processes,
    numbers: &mut Numbers,
    rounds: usize,
    record: Record,
) {
    match record {
        Record::Workspace { key, name, ids_below, epochs_below } => {
            let first = FirstNumbers { id: ids_below, epoch: epochs_below };
            workspaces.restore(key.into(), name, first);
        }
        Record::Window { workspace, session, lod, budget, pinned, placement } => {
            let Some(key) = known_session(processes, &workspace, &session) else { return };
            let Some(found) = workspaces.get_mut(workspace.as_str()) else { return };
            let detail = SavedDetail { lod: &lod, budget, pinned, placement };
            found.restore_window(key, &detail, || numbers.take_restored());
        }
        Record::WindowClosed { workspace, session } => {
            if let Some(found) = workspaces.get_mut(workspace.as_str()) {
                found.restore_closed_window(&session);
            }
        }
        Record::Options { workspace, options } => {
            if let Some(found) = workspaces.get_mut(workspace.as_str()) {
                found.options = options;
            }
        }
        Record::Anchors { workspace, anchors } => {
            if let Some(found) = workspaces.get_mut(workspace.as_str()) {
                found.anchors.restore(anchors, found.epoch + 1);
            }
        }
        Record::Round { workspace, round } => {
            if let Some(found) = workspaces.get_mut(workspace.as_str()) {
                found.history.restore_unfinished(&round.reader, &round.run_id, None);
                found.history.add(round, rounds);
            }
        }
        Record::Undone { workspace, round, steps, again, unsure } => {
            if let Some(found) = workspaces.get_mut(workspace.as_str()) {
                let now = UndosNow { taken_back: steps, made_again: again, unsure };
                found.history.mark_undone(round, &now);
            }
        }
        _ => {}
    }
}

/// Applies the record of a client's request.
fn restore_request(clients: &mut Clients, workspaces: &mut Workspaces, record: Record) {
    match record {
        Record::Begun { run_id, workspace, reader, unix_ms, round } => {
            let round = round.map(|round| SavedRound { run_id: run_id.clone(), ..*round });
            restore_unfinished(workspaces, workspace.as_deref(), reader.as_deref(), &run_id, round);
            let key = ActKey::saved(workspace, reader, &run_id);
            clients.restore_act(&key, unix_ms, None);
        }
        Record::Progressed { run_id, workspace, reader, round } => {
            let found = workspace.and_then(|key| workspaces.get_mut(key.as_str()));
            if let Some(found) = found {
                let reader = reader.unwrap_or_default();
                found.history.restore_progress(&reader, &run_id, *round);
            }
        }
        Record::Answered { run_id, workspace, reader, exit } => {
            restore_unfinished(workspaces, workspace.as_deref(), reader.as_deref(), &run_id, None);
            let key = ActKey::saved(workspace, reader, &run_id);
            clients.restore_act(&key, 0, Some(exit));
        }
        Record::Acts { workspace, reader, forgotten_to, acts } => {
            clients.restore_acts(workspace, reader, forgotten_to, acts);
        }
        Record::PseudonymKey { key } => clients.restore_pseudonym_key(&key),
        _ => {}
    }
}

/// Applies the record of a question, or of what a failed run left.
fn restore_open_run(runs: &mut OpenRuns, workspaces: &mut Workspaces, record: Record) {
    match record {
        Record::Question { workspace, number, question } => {
            let Some(found) = workspaces.get_mut(workspace.as_str()) else { return };
            if !runs.restore_question(&found.key, number, &question) {
                let text = format!("question {number} was asked by another version and is lost");
                found.notify(text, Default::default());
            }
        }
        Record::QuestionClosed { workspace, number } => {
            runs.remove_question(&workspace, number);
        }
        Record::Kept { workspace, number, rest } => {
            if let Some(found) = workspaces.get(workspace.as_str()) {
                runs.restore_kept(&found.key, number, rest);
            }
        }
        Record::KeptClosed { workspace, number } => {
            runs.remove_rest(&workspace, number);
        }
        _ => {}
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
    workspace: Option<&str>,
    reader: Option<&str>,
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
