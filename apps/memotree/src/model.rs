//! The model of a session: its store, and what it shows of it.

use std::cell::{RefCell, RefMut};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use docui::{Context, Fault, Handle, Opening, command};
use pipemux_context::slots::SlotLine;
use pipemux_memotree_store::config::Config;
use pipemux_memotree_store::{Interrupted, Opened, OutsideChanges, Store, StoreError};
use pipemux_memotree_store::{config, views};
use pipemux_notes::text::count;

use crate::codebase::Scanner;
use crate::faults::{self, fault};
use crate::format;
use crate::freshness::Freshness;
use crate::project::{self, FOLDER};
use crate::timing::Timing;

/// The setting that appends the cost of each source to the document.
pub(crate) const DEBUG: &str = "debug";

/// The setting that shows the time of the view instead of the time of the last change.
pub(crate) const TIME: &str = "time";

/// Nodes whose files are compared with the index at a time, while nobody waits.
const SWEPT: usize = 2_000;

/// The time after this session's own change in which a large tree isn't swept on events.
const OWN_CHANGE: Duration = Duration::from_secs(1);

/// A memory tree session.
pub struct MemoTree {
    /// Reading it takes in what other programs wrote, so that a view changes it.
    store: RefCell<Store>,
    root: PathBuf,
    /// The name of the displayed view.
    pub(crate) view: String,
    pub(crate) config: Config,
    /// The error in the configuration, if any.
    pub(crate) config_problem: Option<String>,
    /// A fingerprint of the views, saved searches and configuration as last checked.
    panels: u64,
    /// The ids of the nodes shown last.
    shown: RefCell<Vec<String>>,
    pub(crate) codebase: Scanner,
    /// The minute shown last; `None` if none was.
    pub(crate) shown_minute: RefCell<Option<String>>,
    pub(crate) freshness: RefCell<Freshness>,
    /// The times that the sources took.
    pub(crate) timing: RefCell<Timing<SlotLine>>,
    /// True while files are to be compared with the index.
    sweeping: bool,
    /// The time of the last change of files by this session.
    own_change: Option<Instant>,
    /// True when views show something else than before the session slept.
    has_unshown_changes: bool,
    opened: Opened,
    handle: Handle,
    provider: String,
    callee: String,
    address: String,
    again: bool,
}

impl MemoTree {
    /// Opens the tree of a project, and restores what the session showed of it.
    ///
    /// # Errors
    /// There is no such folder, it can't be read, or the session's state can't be written.
    pub fn new(opening: &Opening) -> Result<Self, Fault> {
        let root = project::root(opening)?;
        let codebase = Scanner::new(root.clone(), &opening.state_dir);
        let (store, opened) = Store::open(&root.join(FOLDER), &opening.state_dir).map_err(fault)?;
        let mut tree = Self {
            store: RefCell::new(store),
            root,
            view: String::new(),
            config: Config::default(),
            config_problem: None,
            panels: 0,
            shown: RefCell::default(),
            codebase,
            shown_minute: RefCell::default(),
            freshness: RefCell::default(),
            timing: RefCell::default(),
            sweeping: false,
            own_change: None,
            has_unshown_changes: false,
            opened,
            handle: opening.handle.clone(),
            provider: opening.provider.clone(),
            callee: opening.callee(),
            address: opening.address(),
            again: opening.again,
        };
        tree.look_at_panels();
        Ok(tree)
    }

    /// Has readers look again, if views show something else than before the session slept.
    pub(crate) fn note_woken(&mut self) {
        // The times that the debug mode tells are another process's.
        self.has_unshown_changes = !self.opened.changes.is_empty() || self.is_on(DEBUG);
        self.tell(&self.opened.changes);
    }

    /// Returns what readers should know about the opening.
    pub fn opening_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(Interrupted { label, done, rest, others }) = &self.opened.interrupted {
            let mut note = format!(
                "\"{label}\" was half made when the process ended, and nothing was mended since"
            );
            let mut tell = |what: &str, files: &[String], call: Option<&str>| {
                let Some(first) = files.first() else { return };
                let more = match files.len() - 1 {
                    0 => String::new(),
                    more => format!(" and {}", count(more as u64, "more file")),
                };
                note += &format!("; {what} {first}{more}");
                if let Some(call) = call {
                    note += &format!(": {}", command::run(&self.call(call)));
                }
            };
            tell("made in", done, Some("undo()"));
            tell("not in", rest, Some("redo()"));
            tell("something else is in", others, None);
            notes.push(note + ".");
        }
        if self.again
            && let Ok(total) = self.store().index().total()
        {
            let nodes = count(total, "node");
            notes.push(format!("Kept: {nodes}, and what views have expanded."));
        }
        notes.extend(notices(&self.opened.changes));
        notes
    }

    /// Checks that a further `open` of the session means the same project.
    ///
    /// # Errors
    /// It names another one.
    pub fn check_attach(&self, opening: &Opening) -> Result<(), Fault> {
        if opening.args.is_empty() || project::root(opening)? == self.root {
            return Ok(());
        }
        let other = format!("{}/other", self.provider);
        let path = opening.args.first().map(String::as_str).unwrap_or_default();
        let message = format!("{} is open for {} already", self.address, project::name(&self.root));
        Err(Fault::refused(message).hint(command::command(&["open", &other, path])))
    }

    /// Returns the store. It is held only within one method, so that it is never held twice.
    pub(crate) fn store(&self) -> RefMut<'_, Store> {
        self.store.borrow_mut()
    }

    /// Returns true if something is switched on for this session.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.store().state.is_on(name).unwrap_or(false)
    }

    /// Returns the fault for an error of the store, with the call that helps.
    pub(crate) fn fault(&self, error: impl Into<StoreError>) -> Fault {
        faults::with_hint(error.into(), &self.callee)
    }

    /// Returns a call on this session, for hints: `memotree.show()`.
    pub(crate) fn call(&self, call: &str) -> String {
        format!("{}.{call}", self.callee)
    }

    /// Returns the session's address: `memotree/main`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the project's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns true if the folder of the tree is a link.
    pub(crate) fn is_linked(&self) -> bool {
        self.root.join(FOLDER).is_symlink()
    }

    /// Returns true for a node that the window shows, and as long as the window wasn't shown for
    /// all.
    pub(crate) fn is_shown(&self, id: &str) -> bool {
        let shown = self.shown.borrow();
        shown.is_empty() || shown.iter().any(|shown| shown == id)
    }

    /// Notes which nodes a view shows.
    pub(crate) fn note_shown(&self, shown: Vec<String>) {
        *self.shown.borrow_mut() = shown;
    }

    /// Takes in what other programs changed. Returns whether views show something else.
    pub(crate) fn take_outside_changes(&mut self) -> bool {
        let shown = self.shown.borrow().clone();
        let store = self.store.get_mut();
        // What isn't readable is told by whatever reads it next.
        let _ = store.files.refresh();
        let _ = store.files.verify(shown.iter().map(String::as_str));
        let mut changed = self.take_noticed();
        changed |= self.look_at_panels();
        changed | std::mem::take(&mut self.has_unshown_changes)
    }

    /// Takes in what other programs just did to nodes that an action is about. A caller who looked
    /// before counts as not having seen it.
    pub(crate) fn look_at(&mut self, ids: &[String], context: &Context) {
        let _ = self.store.get_mut().files.verify(ids.iter().map(String::as_str));
        if self.take_noticed() {
            self.freshness.get_mut().settle(context.version + 1);
            self.has_unshown_changes = true;
        }
    }

    /// Compares files with the index, since something happened below `.memotree`. Returns whether
    /// any was changed.
    ///
    /// Of a large tree this takes a while, so it isn't done for what this session itself wrote just
    /// now. What another program writes in place in that moment is noticed when it is shown or
    /// acted on, or with the next change.
    pub(crate) fn sweep_after_event(&mut self) -> bool {
        let is_own = self.own_change.is_some_and(|at| at.elapsed() < OWN_CHANGE);
        let total = self.store.get_mut().index().total().unwrap_or_default();
        match is_own && total > SWEPT as u64 {
            true => false,
            false => self.sweep(),
        }
    }

    /// Notes that this session changes files now.
    pub(crate) fn note_own_change(&mut self) {
        self.own_change = Some(Instant::now());
    }

    /// Compares more files with the index. Returns whether any was changed.
    pub(crate) fn sweep(&mut self) -> bool {
        self.sweeping =
            self.store.get_mut().files.sweep(SWEPT).is_ok_and(|(_, complete)| !complete);
        self.take_noticed()
    }

    /// Returns true while files are to be compared with the index.
    pub(crate) fn is_sweeping(&self) -> bool {
        self.sweeping
    }

    /// Takes in what was found of the code. Returns whether views show something else.
    pub(crate) fn refresh_codebase(&mut self) -> bool {
        match self.config.codebase.unwrap_or(true) {
            true => self.codebase.refresh(&self.handle),
            false => false,
        }
    }

    /// Returns true if the document shows a time that is over.
    pub(crate) fn shows_old_time(&self) -> bool {
        let shown = self.shown_minute.borrow();
        shown.as_ref().is_some_and(|shown| *shown != pipemux_memotree_store::store::minute())
    }

    /// Has readers told of what was noticed. Returns whether there was anything.
    fn take_noticed(&mut self) -> bool {
        let mut changes = self.store.get_mut().files.take_noticed();
        let OutsideChanges { added, changed, removed, .. } = &mut changes;
        for ids in [added, changed, removed] {
            ids.sort();
            ids.dedup();
        }
        if changes.is_empty() {
            return false;
        }
        let ids = changes.changed.iter().chain(&changes.removed).map(ToString::to_string);
        self.freshness.get_mut().outside(ids);
        self.tell(&changes);
        // A file that is no node changes nothing that is shown.
        !(changes.added.is_empty() && changes.changed.is_empty() && changes.removed.is_empty())
    }

    fn tell(&self, changes: &OutsideChanges) {
        notices(changes).into_iter().for_each(|line| self.handle.notify(line));
    }

    /// Looks at views, saved searches and the configuration. Returns whether they changed.
    pub(crate) fn look_at_panels(&mut self) -> bool {
        let store = self.store.get_mut();
        (self.config, self.config_problem) = config::read(store);
        let views = views::all(store).unwrap_or_default();
        let shown = format!("{views:?}{:?}{:?}", views::queries(store).ok(), self.config);
        let panels = pipemux_stable_hash::hash_with_length(shown.as_bytes());
        if !views.iter().any(|view| view.name == self.view)
            && let Some(view) = views.into_iter().next()
        {
            if view.usage.used == 0 {
                // It stays listed once there are others. Without that it is just not remembered.
                let _ = store.state.use_view(&view.name, None, 1);
            }
            self.view = view.name;
        }
        std::mem::replace(&mut self.panels, panels) != panels
    }
}

/// Returns the lines that tell readers what other programs changed.
fn notices(changes: &OutsideChanges) -> Vec<String> {
    let OutsideChanges { added, changed, removed, misnamed } = changes;
    let mut lines = Vec::new();
    let parts = [("added", added), ("changed", changed), ("removed", removed)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, ids)| !ids.is_empty())
        .map(|(what, ids)| format!("{what} {}", format::list(ids)))
        .collect();
    if !parts.is_empty() {
        lines.push(format!("The tree's files were changed outside: {}.", parts.join("; ")));
    }
    if let Some((first, more)) = misnamed.split_first() {
        let more = match more.len() {
            0 => String::new(),
            more => format!(" ({} more like it)", count(more as u64, "file")),
        };
        lines.push(format!("No node, until the file is renamed: {first}{more}."));
    }
    lines
}
