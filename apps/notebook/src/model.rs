//! The model of a session: its store, and what it shows of the store.

use std::path::PathBuf;

use docui::{Done, Fault, Found, Opening, command, nearest};
use pipemux_notes::text::count;

use crate::entry;
use crate::format::{first_line, quoted};
use crate::hibernation::HibernationRecord;
use crate::schema;
use crate::store::Store;
use crate::view_state::ViewState;

/// Most titles or entries that an error names.
const NEAR_MAX: usize = 5;

pub struct Notebook {
    pub(crate) store: Store,
    pub(crate) view_state: ViewState,
    state_dir: PathBuf,
    provider: String,
    callee: String,
    address: String,
    /// True when the daemon repeated an earlier `open` to start this process.
    again: bool,
    start: Start,
    /// True when the store has changes that views haven't shown and no reader was told of.
    has_unshown_changes: bool,
}

/// The relation of this process to the previous one, which may have been hibernated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The session is new, or the previous process crashed.
    New,
    /// Yes, with the state that the previous process saved.
    Resumed,
    /// The store has been replaced by another one since the hibernation.
    StoreReplaced,
}

impl Notebook {
    /// Opens the session's store and restores what the session showed.
    ///
    /// # Errors
    /// There is more than one argument, or the store can't be opened.
    pub fn new(opening: &Opening) -> Result<Self, Fault> {
        let address = opening.address();
        let store = Store::open(&store_path(opening)?, &address)
            .map_err(|fault| schema::advise(fault, &address))?;
        let (store_id, fingerprint) = (store.database.id().to_owned(), store.fingerprint()?);
        let state_dir = opening.state_dir.clone();
        let (mut view_state, replaced) = ViewState::load(&state_dir, &store_id);
        let was_narrowed = view_state.drop_narrowing();
        // An entry that can't be looked up now keeps its level, and so does one that may be brought
        // back.
        view_state.forget_removed(|id| {
            !matches!((store.rev(id), store.removal(id)), (Ok(None), Ok(None)))
        });
        let record = opening.woken.then(|| HibernationRecord::load(&state_dir)).flatten();
        let start = match &record {
            Some(record) if record.store_id == store_id => Start::Resumed,
            Some(_) => Start::StoreReplaced,
            None if replaced => Start::StoreReplaced,
            None => Start::New,
        };
        if replaced || ViewState::is_missing(&state_dir) {
            // Which store it was is only needed to tell that it is another one later.
            let _ = view_state.save(&state_dir);
        }
        let has_unshown_changes = start == Start::Resumed
            && record.is_some_and(|record| record.fingerprint != fingerprint)
            || was_narrowed;
        Ok(Self {
            store,
            view_state,
            state_dir,
            provider: opening.provider.clone(),
            callee: opening.callee(),
            address: opening.address(),
            again: opening.again,
            start,
            has_unshown_changes,
        })
    }

    /// Returns what readers should know after a restart, or nothing if there was none.
    pub fn restart_notes(&self) -> Vec<String> {
        // If the store can't be read, the view says so.
        let (true, Ok(total)) = (self.again, self.store.total()) else { return Vec::new() };
        let entries = count(total, "entry");
        vec![match self.start {
            Start::New | Start::Resumed => format!("Kept: {entries} and their levels."),
            Start::StoreReplaced => {
                let path = self.store.database.path().display();
                format!("{path} is a different store than before: {entries}.")
            }
        }]
    }

    /// Returns whether this process continues where the previous one was hibernated.
    pub fn is_resumed(&self) -> bool {
        self.start == Start::Resumed
    }

    /// Checks that a further `open` of the session means the same store.
    ///
    /// # Errors
    /// It names another store.
    pub fn check_attach(&self, opening: &Opening) -> Result<(), Fault> {
        if opening.args.is_empty() {
            return Ok(());
        }
        let path = store_path(opening)?;
        if path.canonicalize().is_ok_and(|path| path == self.store.database.path()) {
            return Ok(());
        }
        let message =
            format!("{} already has {} open", self.address, self.store.database.path().display());
        let other = format!("{}/other", self.provider);
        let command = command::command(&["open", &other, &path.to_string_lossy()]);
        Err(Fault::refused(message)
            .hint(format!("open another store in its own session: {command}")))
    }

    /// Returns a call on this session, for hints: `notebook.show()`.
    pub fn call(&self, call: &str) -> String {
        format!("{}.{call}", self.callee)
    }

    /// Returns the session's address: `notebook/main`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Changes what the session shows, and saves that.
    ///
    /// # Errors
    /// It can't be saved. Nothing was changed.
    pub fn change_view_state(&mut self, change: impl FnOnce(&mut ViewState)) -> Result<(), Fault> {
        let mut view_state = self.view_state.clone();
        change(&mut view_state);
        if view_state != self.view_state {
            view_state.save(&self.state_dir)?;
            self.view_state = view_state;
        }
        Ok(())
    }

    /// Looks up the entry that a key names.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn locate(&self, key: &str) -> Result<Found, Fault> {
        let Some(id) = entry::id(key) else { return Ok(Found::Gone(None)) };
        match self.store.rev(id)? {
            Some(rev) => Ok(Found::Here(rev)),
            None if self.store.existed(id)? => Ok(Found::Gone(Some(self.removed(id)?))),
            None => Ok(Found::Gone(None)),
        }
    }

    /// Says what became of a removed entry, and how to bring it back.
    fn removed(&self, id: i64) -> Result<String, Fault> {
        let Some(change) = self.store.removal(id)? else { return Ok("It was removed".to_owned()) };
        let call = self.call(&format!("undo(\"{change}\")"));
        Ok(format!("It was removed; to bring it back: {}", command::run(&call)))
    }

    /// Returns the key of the entry that a title names: exactly, or but for upper and lower case.
    ///
    /// # Errors
    /// No entry has the title, several have it, or the store can't be read.
    pub fn entry_titled(&self, title: &str) -> Result<String, Fault> {
        let mut ids = self.store.titled(title)?;
        if ids.is_empty() {
            let titles = self.store.titles()?;
            let wanted = title.trim().to_lowercase();
            let same = titles.iter().filter(|(_, title)| title.to_lowercase() == wanted);
            ids = same.map(|(id, _)| *id).collect();
            if ids.is_empty() {
                return Err(self.no_entry_titled(title, &titles));
            }
        }
        match ids[..] {
            [id] => Ok(entry::key(id)),
            _ => self.ambiguous(title, &ids),
        }
    }

    fn no_entry_titled(&self, title: &str, titles: &[(i64, String)]) -> Fault {
        let wanted = title.trim().to_lowercase();
        let mut near: Vec<&str> = Vec::new();
        near.extend(nearest(title, titles.iter().map(|(_, title)| title.as_str())));
        let like = |other: &&str| {
            let other = other.to_lowercase();
            !wanted.is_empty() && (other.contains(&wanted) || wanted.contains(&other))
        };
        for (_, other) in titles {
            if near.len() < NEAR_MAX && !near.contains(&other.as_str()) && like(&other.as_str()) {
                near.push(other);
            }
        }
        let named = format!("no note has the title {}", quoted(title));
        match near.is_empty() {
            true => Fault::not_found(named).hint(format!("pipemux ask '{}'", self.call("show()"))),
            false => {
                let near: Vec<_> = near.into_iter().map(quoted).collect();
                Fault::not_found(format!("{named}; near: {}", near.join(", ")))
            }
        }
    }

    fn ambiguous(&self, title: &str, ids: &[i64]) -> Result<String, Fault> {
        let message = format!("{} notes have the title {}", ids.len(), quoted(title));
        let mut fault = Fault::usage(message);
        for id in ids.iter().take(NEAR_MAX) {
            let Some(row) = self.store.get(*id)? else { continue };
            let of = format!("obj:{}:{}", self.address, entry::key(*id));
            fault = fault.hint(format!("{of} for {}", quoted(&first_line(&row.head))));
        }
        Err(fault)
    }

    /// Returns whether the store has changes by other sessions that views haven't shown yet. Each
    /// change is reported once.
    pub fn take_unshown_changes(&mut self) -> bool {
        let has_unshown_changes = std::mem::take(&mut self.has_unshown_changes);
        self.store.database.refresh() || has_unshown_changes
    }

    /// Adds to an answer that the store's file was deleted and written again.
    pub fn tell_put_back(&mut self, done: Done) -> Done {
        match self.store.database.take_put_back_note() {
            Some(note) => done.also(&note),
            None => done,
        }
    }

    /// Records which state of the store views showed, for a process that continues from here.
    ///
    /// # Errors
    /// The store can't be read, or the state directory can't be written.
    pub fn save_hibernation_record(&mut self) -> Result<(), Fault> {
        let (store_id, fingerprint) =
            (self.store.database.id().to_owned(), self.store.fingerprint()?);
        // If another session has just written, the fingerprint includes changes that views haven't
        // shown. An empty one never matches, so that they are reported later.
        self.has_unshown_changes |= self.store.database.refresh();
        let fingerprint = if self.has_unshown_changes { String::new() } else { fingerprint };
        HibernationRecord { store_id, fingerprint }.save(&self.state_dir)
    }
}

/// Returns the path of the store that an `open` means. Without an argument it is in the state
/// directory.
fn store_path(opening: &Opening) -> Result<PathBuf, Fault> {
    match opening.args.as_slice() {
        [] => Ok(opening.state_dir.join("notebook.db")),
        // Without `.` in it, as hints show it.
        [path] => Ok(opening.path(path).components().collect()),
        more => Err(Fault::usage(format!("expected at most one store path, got {}", more.len()))
            .hint("pipemux open notebook")),
    }
}
