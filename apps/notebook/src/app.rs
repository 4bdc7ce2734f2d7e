//! The model: a store and what the session shows of it.

use std::path::PathBuf;

use docui::{App, Ask, Context, Fault, Found, Look, Opening, Reply, View};

use crate::action::Action;
use crate::asleep::Asleep;
use crate::change::Seen;
use crate::entry;
use crate::shown::{Shown, quoted};
use crate::store::Store;
use crate::{update, view};

/// A notebook session.
pub struct Notebook {
    pub(crate) store: Store,
    pub(crate) shown: Shown,
    pub(crate) state_dir: PathBuf,
    provider: String,
    callee: String,
    address: String,
    again: bool,
    /// True when this process goes on where the one before it was put to sleep.
    resumed: bool,
    /// True when another store is where there was one before the sleep.
    replaced: bool,
    /// True when the store has what views haven't shown and no reader was told of.
    behind: bool,
}

impl Notebook {
    /// How a call on this session is written: `notebook.show_all()`.
    pub(crate) fn call(&self, call: &str) -> String {
        format!("{}.{call}", self.callee)
    }

    /// The session's address: `notebook/main`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Shows something else, and keeps that.
    pub(crate) fn show(&mut self, change: impl FnOnce(&mut Shown)) -> Result<(), Fault> {
        let mut shown = self.shown.clone();
        change(&mut shown);
        if shown != self.shown {
            shown.save(&self.state_dir)?;
            self.shown = shown;
        }
        Ok(())
    }

    fn locate(&self, key: &str) -> Result<Found, Fault> {
        let Some(id) = entry::id(key) else { return Ok(Found::Gone(None)) };
        let Some(rev) = self.store.rev(id)? else {
            let was = self.store.was(id)?;
            return Ok(Found::Gone(was.then(|| "It was removed".to_owned())));
        };
        if self.store.has(&self.shown.selection(), id)? {
            return Ok(Found::Here(rev));
        }
        let how = format!("click [show all] or: pipemux run '{}'", self.call("show_all()"));
        Ok(Found::Hidden { rev, how })
    }
}

impl App for Notebook {
    type Action = Action;
    const RESUMES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let store = Store::open(&store_path(opening)?)?;
        let mut shown = Shown::load(&opening.state_dir, &store.id()?);
        // An entry that can't be looked up keeps its level.
        shown.retain(|id| !matches!(store.rev(id), Ok(None)));
        let state_dir = opening.state_dir.clone();
        // A note of another store, or none: it is a restart, as after a crash.
        let asleep = opening.woken.then(|| Asleep::read(&state_dir)).flatten();
        let (id, mark) = (store.id()?, store.mark()?);
        let replaced = asleep.as_ref().is_some_and(|asleep| asleep.store != id);
        let asleep = asleep.filter(|_| !replaced);
        let behind = asleep.as_ref().is_some_and(|asleep| asleep.mark != mark);
        let (again, resumed) = (opening.again, asleep.is_some());
        Ok(Self {
            store,
            shown,
            state_dir,
            provider: opening.provider.clone(),
            callee: opening.callee(),
            address: opening.address(),
            again,
            resumed,
            replaced,
            behind,
        })
    }

    fn notes(&mut self) -> Vec<String> {
        match (self.again, self.store.total()) {
            (true, Ok(total)) => {
                let entries = entry::count(total, "entry");
                if self.replaced {
                    let path = self.store.path().display();
                    return vec![format!("{path} is another store than before: {entries}.")];
                }
                vec![format!("Kept: {entries}, search and folding.")]
            }
            _ => Vec::new(),
        }
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        if opening.args.is_empty() {
            return Ok(Vec::new());
        }
        let path = store_path(opening)?;
        if path.canonicalize().is_ok_and(|path| path == self.store.path()) {
            return Ok(Vec::new());
        }
        let message =
            format!("{} has {} open already", self.address(), self.store.path().display());
        Err(Fault::refused(message).hint(format!(
            "another store is another session: pipemux open {}/other {}",
            self.provider,
            path.display()
        )))
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        update::update(self, action).map(Into::into)
    }

    fn view(&self, look: &Look) -> View {
        view::view(self, look)
    }

    fn find(&self, key: &str) -> Found {
        self.locate(key).unwrap_or_else(|fault| Found::Gone(Some(fault.message)))
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        let text = entry::id(key).map_or(Ok(None), |id| self.store.text(id))?;
        text.map(String::into_bytes).ok_or_else(|| Fault::not_found("removed").about(key))
    }

    fn refresh(&mut self) -> bool {
        let behind = std::mem::take(&mut self.behind);
        self.store.refresh() || behind
    }

    fn save(&mut self) -> Result<(), Fault> {
        let (store, mark) = (self.store.id()?, self.store.mark()?);
        // Written by somebody else since it was last shown: the mark would hide that.
        self.behind |= self.store.refresh();
        let mark = if self.behind { String::new() } else { mark };
        Asleep { store, mark }.write(&self.state_dir)
    }

    fn resumed(&self) -> bool {
        self.resumed
    }

    fn confirm(&self, action: &Action) -> Result<Ask, Fault> {
        let Action::Remove { entry } = action else {
            return Ok(Ask::confirm("cannot be undone"));
        };
        let mut rows = Vec::new();
        for seen in all_seen(entry)? {
            let row = self.store.get(seen.id)?;
            let gone = || Fault::not_found("removed").about(entry::key(seen.id));
            rows.push(row.ok_or_else(gone)?);
        }
        let titles: Vec<_> = rows.iter().map(|row| row.title.as_str()).collect();
        let lines = rows.iter().map(|row| row.lines).sum();
        let ask = Ask::confirm(format!("{}, cannot be undone", tally(&titles, lines)));
        Ok(match titles.as_slice() {
            // Named in the question.
            [_] => ask,
            several => several.iter().fold(ask, |ask, title| ask.option(*title, "")),
        })
    }
}

/// The entry that an anchor names, as it was seen.
pub(crate) fn seen(anchor: &docui::Anchor<crate::action::Entry>) -> Result<Seen, Fault> {
    let id = entry::id(&anchor.key)
        .ok_or_else(|| Fault::not_found("no entry has that key").about(&anchor.key))?;
    Ok(Seen { id, rev: anchor.rev })
}

/// The entries that anchors name, each once.
pub(crate) fn all_seen(
    anchors: &[docui::Anchor<crate::action::Entry>],
) -> Result<Vec<Seen>, Fault> {
    let mut all: Vec<Seen> = Vec::new();
    for anchor in anchors {
        let seen = seen(anchor)?;
        if all.iter().all(|other| other.id != seen.id) {
            all.push(seen);
        }
    }
    if all.is_empty() {
        return Err(Fault::usage("entry: expected at least one entry, got none")
            .hint("one is entry=obj:7, several are entry=[obj:7, obj:31]"));
    }
    Ok(all)
}

/// What entries come to: `"Release plan", 3 lines`, `3 entries, 214 lines`.
pub(crate) fn tally(titles: &[&str], lines: u64) -> String {
    let lines = entry::count(lines, "line");
    match titles {
        [title] => format!("{}, {lines}", quoted(title)),
        several => format!("{}, {lines}", entry::count(several.len() as u64, "entry")),
    }
}

fn store_path(opening: &Opening) -> Result<PathBuf, Fault> {
    match opening.args.as_slice() {
        [] => Ok(opening.state_dir.join("notebook.db")),
        [path] => Ok(opening.path(path)),
        more => Err(Fault::usage(format!("expected at most one store path, got {}", more.len()))
            .hint("pipemux open notebook [path]")),
    }
}
