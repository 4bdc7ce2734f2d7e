//! Restores the state from its records, and writes the records of a snapshot.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::client::VerbRequest;
use pipemux_proto::projection::Lod;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, ProviderId, SessionAddr};

use crate::clients::Clients;
use crate::clients::idempotency::ActKey;
use crate::consents::Allowed;
use crate::feed::Audience;
use crate::foreign::{ForeignText, quote};
use crate::keys::{SessionKey, WorkspaceKey};
use crate::limits::{CRASH_WINDOW_MS, CRASHES_MAX};
use crate::pauses::{Held, Pause};
use crate::persist::records::{Record, SavedOptions, SavedRound};
use crate::processes::Processes;
use crate::processes::session::Crash;
use crate::runs::kept_rest::KeptRest;
use crate::verbs::lod_name;
use crate::verbs::tasks::Task;
use crate::workspaces::history::UndosNow;
use crate::workspaces::{Entered, FirstNumbers, NoticeText, Placement, Window};
use crate::{Config, Core, runs};

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
                let Some(key) = session_key(workspace.as_deref(), &session) else { return };
                let manifest = self.providers.get(&key.addr.provider).cloned();
                self.processes.restore_session(key, opens, manifest);
            }
            Record::SessionEnded { workspace, session } => {
                if let Some(key) = session_key(workspace.as_deref(), &session) {
                    self.processes.remove(&key);
                    self.workspaces.forget_session(&key);
                }
            }
            Record::Asleep { workspace, session, version, at_zero, wake_at } => {
                if let Some(key) = session_key(workspace.as_deref(), &session) {
                    let version = (version > 0 || at_zero).then_some(version);
                    self.processes.restore_asleep(&key, version, wake_at);
                }
            }
            Record::Window { workspace, session, lod, budget, pinned, placement } => {
                let workspace = workspace.into();
                self.restore_window(&workspace, &session, &lod, budget);
                let addr = session.parse::<SessionAddr>().ok();
                let windows =
                    self.workspaces.get_mut(&workspace).map(|found| found.windows.iter_mut());
                let is_it = |w: &&mut Window| Some(&w.session.addr) == addr.as_ref();
                for window in windows.into_iter().flatten().filter(is_it) {
                    window.pinned = pinned;
                    window.placement = Placement::from_saved(placement);
                }
            }
            Record::Prototypes { provider, prototypes } => {
                let decoded = pipemux_proto::decode::<Vec<Prototype>>(&prototypes);
                // An earlier daemon took in any names; the app is refused when it starts again.
                let valid = |known: &Vec<Prototype>| known.iter().all(|one| one.check().is_ok());
                let decoded = decoded.ok().filter(valid);
                if let (Ok(provider), Some(known)) = (provider.parse::<ProviderId>(), decoded) {
                    self.processes.restore_prototypes(provider, known);
                }
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
                let Some(found) = self.workspaces.get_mut(workspace.as_str()) else { return };
                // An orderly shutdown records the ids that were used, which may be fewer than were reserved before.
                let (next, epoch) = (found.anchors.next_id(), found.epoch);
                for anchor in anchors {
                    found.anchors.restore(anchor, epoch + 1);
                }
                found.anchors.continue_from(next);
            }
            Record::Question { workspace, number, question } => {
                let at: WorkspaceKey = workspace.into();
                let Some(found) = self.workspaces.get_mut(&at) else { return };
                match runs::saved_question::restore(&question, &at) {
                    Some(question) => {
                        self.runs.add_question(number, question);
                    }
                    None => {
                        let text =
                            format!("question {number} was asked by another version and is lost");
                        found.notify(text, Default::default());
                    }
                }
            }
            Record::QuestionClosed { workspace, number } => {
                self.runs.remove_question(&workspace, number);
            }
            Record::Kept { workspace, number, rest } => {
                let at: WorkspaceKey = workspace.into();
                if self.workspaces.get(&at).is_some() {
                    self.runs.outdate_rests(&at, &rest.reader);
                    self.runs.keep_rest(number, KeptRest::from_saved(rest, at));
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
                let held = match (workspace, reader) {
                    (Some(key), _) => Held::Workspace(key.into()),
                    (None, Some(name)) => Held::Reader(name),
                    (None, None) => Held::All,
                };
                self.pauses.restore(Pause { held, unix_ms, ahead_s }, on);
            }
            Record::WindowClosed { workspace, session } => {
                let Some(found) = self.workspaces.get_mut(workspace.as_str()) else { return };
                let is_it = |window: &&Window| window.session.to_string() == session;
                let closed = found.windows.iter().filter(is_it).map(|window| &window.session);
                for session in closed.cloned().collect::<Vec<_>>() {
                    found.close_window(&session);
                }
            }
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
        let window = Window::new(number, key, workspace.epoch).with_detail(lod, budget);
        workspace.open_window(window, None);
    }

    /// Records the numbers that were really used, so that an orderly shutdown leaves no gap.
    pub(crate) fn save_numbers(&mut self) {
        let used = self.turn.numbers.used();
        self.turn.persist(used);
        for (key, workspace) in self.workspaces.iter() {
            self.turn.persist(Record::Workspace {
                key: key.to_string(),
                name: workspace.name.clone(),
                ids_below: workspace.anchors.next_id(),
                epochs_below: workspace.newest_version(),
            });
        }
    }

    /// Returns the records that restore the present state. A compacted journal begins with them.
    pub fn snapshot(&self) -> Vec<Record> {
        let mut records = vec![self.turn.numbers.reserved()];
        records.extend(self.persist.losses.to_saved());
        records.extend(self.processes.saved_prototypes());
        records.extend(self.clients.saved_records());
        records.extend(self.processes.saved_sessions());
        records.extend(self.jobs.to_saved());
        records.extend(self.consents.to_saved());
        records.extend(self.pauses.to_saved());
        for (key, numbers) in self.workspaces.retired() {
            records.push(Record::Workspace {
                key: key.to_string(),
                name: key.rsplit('/').next().unwrap_or_default().to_owned(),
                ids_below: numbers.id,
                epochs_below: numbers.epoch,
            });
        }
        for (key, workspace) in self.workspaces.iter() {
            let numbers = workspace.first_unreserved_numbers();
            records.push(Record::Workspace {
                key: key.to_string(),
                name: workspace.name.clone(),
                ids_below: numbers.id,
                epochs_below: numbers.epoch,
            });
            if workspace.options != SavedOptions::default() {
                let (workspace, options) = (key.to_string(), workspace.options);
                records.push(Record::Options { workspace, options });
            }
            for anchors in workspace.anchors.to_saved().chunks(ANCHORS_A_RECORD) {
                let (workspace, anchors) = (key.to_string(), anchors.to_vec());
                records.push(Record::Anchors { workspace, anchors });
            }
            for (number, question) in self.runs.questions(key) {
                if let Some(question) = runs::saved_question::save(question) {
                    let workspace = key.to_string();
                    records.push(Record::Question { workspace, number, question });
                }
            }
            for (number, rest) in self.runs.rests(key) {
                let (workspace, rest) = (key.to_string(), rest.to_saved());
                records.push(Record::Kept { workspace, number, rest });
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
                    placement: window.placement.to_saved(),
                });
            }
        }
        for id in self.tasks.requests_with(|task| matches!(task, Task::Running(_))) {
            let round = self.unfinished_round(id, None);
            records.extend(round.and_then(|round| self.clients.begun(id, round)));
        }
        records
    }

    /// Enters the workspace of a request, and makes it if it is new.
    ///
    /// # Errors
    /// There are too many workspaces.
    pub(crate) fn enter_workspace(&mut self, call: &VerbRequest) -> Result<WorkspaceKey, Fault> {
        let (now, losses) = (self.turn.now, &self.persist.losses);
        let names = (call.workspace.key.as_str(), call.workspace.name.as_str());
        let Entered { key, created, retired, evicted_reader } =
            self.workspaces.enter(names, &call.reader, now, || {
                let (id, epoch) = losses.first_numbers();
                FirstNumbers { id, epoch }
            })?;
        if let Some(retired) = retired {
            self.runs.forget_workspace(&retired);
        }
        if let Some(evicted) = evicted_reader {
            self.runs.forget_kept(&key, &evicted);
        }
        if created {
            let news = self.persist.losses.take_news();
            if let (Some(text), Some(new)) = (news, self.workspaces.get_mut(&key)) {
                new.notify(text, now);
            }
            // The workspace must be on disk before any window of it is.
            self.reserve(&key);
        }
        Ok(key)
    }

    /// Notifies every workspace that has a window of the session, and publishes the notice in the feed.
    pub(crate) fn notify_windows(
        &mut self,
        kind: EventKind,
        key: &SessionKey,
        text: impl Into<NoticeText>,
    ) {
        let text = text.into();
        self.workspaces.notify_windows(key, None, &text, self.turn.now);
        self.publish(kind, Audience::Session(key.clone()), None, &text.at_age(0));
    }

    /// Passes a notice of a session's app on to every workspace that has a window of it, and to the feed.
    pub(crate) fn pass_notice(&mut self, session: &SessionKey, text: &ForeignText) {
        let text = format!("{session}: {}", quote::in_sentence(text));
        self.publish(EventKind::Notice, Audience::Session(session.clone()), None, &text);
        let (text, by) = (NoticeText::Plain(text), Some(session));
        self.workspaces.notify_windows(session, by, &text, self.turn.now);
    }

    /// Notifies readers that a session was restarted after a crash, or of the notes of an app that started.
    pub(crate) fn notify_start(
        &mut self,
        key: &SessionKey,
        crash: Option<&Crash>,
        notes: &[ForeignText],
    ) {
        let notes = quote::joined(notes);
        let Some(crash) = crash else {
            if !notes.is_empty() {
                self.pass_notice(key, &notes.into());
            }
            return;
        };
        let space = if notes.is_empty() { "" } else { " " };
        let nth = ordinal(crash.nth);
        // Beyond what is allowed it runs only because somebody asked for it.
        let of_allowed = match crash.nth <= CRASHES_MAX {
            true => format!(" of {CRASHES_MAX} allowed"),
            false => String::new(),
        };
        let seconds = CRASH_WINDOW_MS / 1000;
        let after = format!(
            ": {} ({nth}{of_allowed} in {seconds} s; why: pipemux logs {key}).{space}{notes}",
            crash.how,
        );
        let before = format!("{key} was restarted ");
        self.notify_windows(EventKind::Restarted, key, NoticeText::WithAge { before, after });
    }
}

/// The number of anchors in one record of a snapshot, which keeps records small.
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
