//! The model of a session: its topic, its configuration, and the drivers at work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use docui::{Fault, Handle, JobHandle, Opening, regular_file, state_file};
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::text::flat;
use pipemux_planner_course::{By, Course, Effect, Entry, Event, Refusal};

use crate::config::{Config, FILE};
use crate::store::Store;
use crate::workers::Workers;

/// The file with the state of a hibernated session.
const ASLEEP: &str = "asleep.json";

pub struct Planner {
    pub(crate) root: PathBuf,
    pub(crate) store: Option<Store>,
    pub(crate) course: Course,
    pub(crate) config: Config,
    /// Problems that stay until they are mended.
    config_problem: Option<String>,
    pub(crate) disk_problem: Option<String>,
    /// The drivers chosen by the user in this session, by the speaker's name.
    pub(crate) chosen: BTreeMap<String, String>,
    pub(crate) workers: Workers,
    /// The drivers' own messages on failed turns, by the turn's number.
    pub(crate) failures: BTreeMap<u64, String>,
    pub(crate) readers: Readers,
    /// Hand-overs that this process began.
    pub(crate) handed_over: BTreeSet<u32>,
    /// True while a check of this process runs.
    pub(crate) is_checking: Arc<AtomicBool>,
    /// The file stamps last seen by `refresh`.
    stamps: Vec<Option<(SystemTime, u64)>>,
    pub(crate) expanded: BTreeSet<usize>,
    notes: Vec<String>,
    /// Notices of other programs' texts that the planner's files replaced.
    pub(crate) kept: Vec<String>,
    /// The keys of what a person has allowed, as of the last action.
    pub(crate) allowed: BTreeSet<String>,
    /// True once a reader has acted in this process. Before that no turn is played: opening,
    /// looking and waking start nothing.
    pub(crate) has_acted: bool,
    pub(crate) session: Session,
}

/// What the daemon has said of the session.
pub(crate) struct Session {
    pub(crate) handle: Handle,
    pub(crate) callee: String,
    pub(crate) state_dir: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
}

impl Session {
    fn of(opening: &Opening) -> Self {
        Self {
            handle: opening.handle.clone(),
            callee: opening.callee(),
            state_dir: opening.state_dir.clone(),
            env: opening.env.clone(),
        }
    }

    /// Returns a variable of the opener's environment, else of this process.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned().or_else(|| std::env::var(name).ok())
    }
}

/// What this process knows of its readers, by their names.
#[derive(Default)]
pub(crate) struct Readers {
    /// Readers who wait until something is expected of them, each with its job.
    pub(crate) waiting: Vec<(String, JobHandle)>,
    /// What each was warned of before a hand-over: the topic, the version's number and its text.
    pub(crate) warned: BTreeMap<String, (String, u32, Option<String>)>,
    /// Which version each was shown last: of which topic, and its number.
    pub(crate) shown: Mutex<BTreeMap<String, (String, u32)>>,
}

impl Planner {
    /// Opens the project's newest topic, or the one that this session had.
    ///
    /// # Errors
    /// A topic's journal can't be read.
    pub fn new(opening: &Opening) -> Result<Self, Fault> {
        let mut planner = Self {
            root: root(opening)?,
            store: None,
            course: Course::default(),
            config: Config::default(),
            config_problem: None,
            disk_problem: None,
            chosen: BTreeMap::new(),
            workers: Workers::default(),
            failures: BTreeMap::new(),
            readers: Readers::default(),
            handed_over: BTreeSet::new(),
            is_checking: Arc::default(),
            stamps: Vec::new(),
            expanded: BTreeSet::new(),
            notes: Vec::new(),
            kept: Vec::new(),
            allowed: BTreeSet::new(),
            has_acted: false,
            session: Session::of(opening),
        };
        planner.chosen = regular_file::read(&planner.session.state_dir.join("drivers.json"))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        planner.read_config();
        let topics = Store::topics(&planner.root);
        let last = regular_file::read_to_string(&planner.session.state_dir.join("topic")).ok();
        if let Some(topic) =
            last.filter(|last| topics.contains(last)).or_else(|| topics.first().cloned())
        {
            planner.load(&topic)?;
        }
        if opening.woken {
            let saved = regular_file::read(&planner.session.state_dir.join(ASLEEP)).ok();
            let saved = saved.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            (planner.expanded, planner.failures) = saved.unwrap_or_default();
        }
        Ok(planner)
    }

    /// Saves what only this process knows: all else is in files.
    ///
    /// # Errors
    /// It can't be written.
    pub(crate) fn save(&mut self) -> Result<(), Fault> {
        self.take_answers();
        let json = serde_json::to_vec(&(&self.expanded, &self.failures)).unwrap_or_default();
        state_file::replace(&self.session.state_dir.join(ASLEEP), &json)?;
        Ok(())
    }

    /// Returns what readers should know.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes).iter().map(|note| flat(note)).collect()
    }

    /// Shows a topic.
    ///
    /// # Errors
    /// Its journal can't be read.
    pub(crate) fn load(&mut self, topic: &str) -> Result<(), Fault> {
        let (store, loaded) = Store::open(&self.root, topic)?;
        self.workers.stop(&[]);
        self.notes.extend(loaded.notes);
        (self.store, self.course) = (Some(store), loaded.course);
        self.workers.claim = None;
        self.expanded.clear();
        self.failures.clear();
        self.handed_over.clear();
        self.kept.clear();
        // If it can't be kept, the newest topic is shown after a restart.
        let _ = state_file::replace(&self.session.state_dir.join("topic"), topic.as_bytes());
        self.write_out();
        self.play();
        Ok(())
    }

    /// Begins a topic.
    ///
    /// # Errors
    /// The brief is refused, or its files can't be written: then the present topic stays.
    pub(crate) fn begin(
        &mut self,
        topic: &str,
        by: By,
        event: Event,
    ) -> Result<Vec<Effect>, Fault> {
        let (store, loaded) = Store::open(&self.root, topic)?;
        self.workers.stop(&[]);
        self.workers.claim = None;
        let before =
            (self.store.replace(store), std::mem::replace(&mut self.course, loaded.course));
        match self.commit(by, event) {
            Ok(effects) => {
                self.expanded.clear();
                let _ =
                    state_file::replace(&self.session.state_dir.join("topic"), topic.as_bytes());
                Ok(effects)
            }
            Err(fault) => {
                (self.store, self.course) = before;
                self.play();
                Err(fault)
            }
        }
    }

    /// Takes an event in: checked, written to the journal, then done.
    ///
    /// # Errors
    /// It is refused, or the journal can't be written. Nothing changed.
    pub(crate) fn commit(&mut self, by: By, event: Event) -> Result<Vec<Effect>, Fault> {
        let entry = Entry { ts: jiff::Timestamp::now().to_string(), by, event };
        loop {
            self.take_outside_changes();
            let mut next = self.course.clone();
            let effects = next.apply(&entry).map_err(|refusal| self.fault(refusal))?;
            let Some(store) = &mut self.store else {
                let call = "plan('what you want, and why')";
                return Err(self.fault(Refusal::new("there is no brief yet", call)));
            };
            if !store.append(&entry)? {
                // Another session was faster: its entries are taken in first.
                continue;
            }
            self.course = next;
            self.write_out();
            self.play();
            return Ok(effects);
        }
    }

    /// Makes a refusal into a fault with a whole command.
    pub(crate) fn fault(&self, refusal: Refusal) -> Fault {
        let fault = Fault::refused(refusal.message);
        match refusal.hint.is_empty() {
            true => fault.hint(format!("pipemux view {}: what is expected now", self.address())),
            false => fault.hint(self.run(&refusal.hint)),
        }
    }

    /// Returns the session's address.
    pub(crate) fn address(&self) -> String {
        match self.session.callee.contains('/') {
            true => self.session.callee.clone(),
            false => format!("{}/main", self.session.callee),
        }
    }

    /// Returns the command that makes a call.
    pub(crate) fn run(&self, call: &str) -> String {
        let queries = ["versions(", "payload(", "artifact(", "nodes("];
        let verb = if queries.iter().any(|query| call.starts_with(query)) { "ask" } else { "run" };
        format!("pipemux {verb} '{}.{}'", self.session.callee, call.replace('\'', "\""))
    }

    /// Writes the files that are made of the journal.
    fn write_out(&mut self) {
        let Some(store) = &self.store else { return };
        match store.write_out(&self.course) {
            Ok(written) => {
                self.tell_kept(written.kept);
                match written.edited {
                    None => self.disk_problem = None,
                    Some(text) => self.take_edited(text),
                }
            }
            Err(fault) => self.disk_problem = Some(fault.message),
        }
    }

    /// Gives every reader a line. Names and words in it may be anybody's.
    pub(crate) fn notify(&self, line: &str) {
        self.session.handle.notify(flat(line));
    }

    /// Says what others wrote that gave way.
    fn tell_kept(&mut self, kept: Vec<String>) {
        if !kept.is_empty() {
            kept.iter().for_each(|line| self.notify(line));
            self.kept = kept;
        }
    }

    /// Takes what somebody made of the artifact by hand.
    fn take_edited(&mut self, text: String) {
        // Refused here and not by the course, so that earlier journals give the same course again.
        let is_plan = matches!(
            self.course.versions.newest().map(|one| &one.artifact),
            Some(Artifact::Plan(_))
        );
        if let Some(error) = crate::strict::parse(&text).err().filter(|_| is_plan) {
            self.disk_problem = Some(format!("the plan is no JSON now: {error}"));
            return;
        }
        let by = By { reader: "a text editor".into(), person: true, ..By::default() };
        let entry =
            Entry { ts: jiff::Timestamp::now().to_string(), by, event: Event::Edited { text } };
        let mut next = self.course.clone();
        let taken = next.apply(&entry).map_err(|refusal| refusal.message);
        let written = taken.and_then(|_| match &mut self.store {
            Some(store) => store.append(&entry).map_err(|fault| fault.message),
            None => Err("there is no topic".into()),
        });
        match written {
            // The next look takes in what another session wrote, and looks at the artifact again.
            Ok(false) => self.stamps.clear(),
            Ok(true) => {
                (self.course, self.disk_problem) = (next, None);
                if let Some(what) = self.course.record.statements.last() {
                    self.notify(&what.gist);
                }
                // The version that it makes has files of its own.
                match self.store.as_ref().map(|one| one.write_out(&self.course)) {
                    Some(Ok(written)) => self.tell_kept(written.kept),
                    Some(Err(fault)) => self.disk_problem = Some(fault.message),
                    None => {}
                }
            }
            Err(problem) => self.disk_problem = Some(problem),
        }
    }

    /// Takes in what happened outside: other sessions' entries, edited files, answers of drivers.
    /// Returns whether anything did.
    pub(crate) fn take_outside_changes(&mut self) -> bool {
        let mut changed = self.read_config_if_changed();
        if let Some(store) = &mut self.store
            && store.was_changed_outside()
            && let Ok(loaded) = store.load()
        {
            self.course = loaded.course;
            self.write_out();
            self.play();
            changed = true;
        }
        let before = self.course.entries();
        let stamps: Vec<_> = self.watched().iter().map(|path| stamp(path)).collect();
        if stamps != self.stamps {
            self.stamps = stamps;
            let problem = self.disk_problem.clone();
            self.write_out();
            changed |= problem != self.disk_problem;
        }
        changed | (self.course.entries() != before)
    }

    fn read_config(&mut self) {
        let home = self.session.variable("HOME");
        match Config::read(&self.root).and_then(|config| config.with_own(home.as_deref())) {
            Ok(config) => (self.config, self.config_problem) = (config, None),
            // What was read before holds until it is mended.
            Err(fault) => self.config_problem = Some(fault.message),
        }
    }

    fn read_config_if_changed(&mut self) -> bool {
        let (before, problem) = (self.config.clone(), self.config_problem.clone());
        self.read_config();
        (before, problem) != (self.config.clone(), self.config_problem.clone())
    }

    /// Returns what is wrong until somebody mends it.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &String> {
        self.config_problem.iter().chain(&self.disk_problem)
    }

    /// Returns the files that others may change.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.root.join(FILE)];
        if let Some(store) = &self.store {
            let names = ["journal.jsonl", "planning.draft.md", "planning.ai.json"];
            paths.extend(names.map(|name| store.folder().join(name)));
        }
        paths
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let found = path.metadata().ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// Returns the project's folder: the nearest one with `.git` above the caller's directory, or that
/// directory.
fn root(opening: &Opening) -> Result<PathBuf, Fault> {
    let directory = match opening.args.as_slice() {
        [] => opening.cwd.clone(),
        [path] => opening.path(path),
        more => {
            return Err(Fault::usage(format!("expected one project folder, got {}", more.len()))
                .hint("pipemux open planner"));
        }
    };
    if !directory.is_dir() {
        let shown = directory.display();
        return Err(Fault::not_found(format!("{shown}: there is no such folder"))
            .hint("pipemux open planner"));
    }
    let directory = directory.canonicalize().unwrap_or(directory);
    let project = directory.ancestors().find(|above| above.join(".git").exists());
    Ok(project.unwrap_or(&directory).to_owned())
}
