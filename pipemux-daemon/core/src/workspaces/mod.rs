//! A workspace: open windows, the anchor table, epochs, readers, open questions.

pub mod anchors;
mod dirty_windows;
pub mod history;
pub mod raw_projection;
mod reader;
mod windows;

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use pipemux_proto::app::Project;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;

use crate::event::Now;
use crate::keys::{ProjectionKey, SessionKey};
use crate::limits::{
    BUDGET_MAX, BUDGET_MIN, FULL_BUDGET, NOTICES_MAX, PAST_MAX, READERS_MAX, WINDOW_BUDGET,
};
use crate::persist::records::SavedOptions;
use crate::runs::question::OpenQuestion;
use crate::views::window_renderer::Rendered;
use crate::workspaces::anchors::AnchorTable;
use crate::workspaces::history::History;
use crate::workspaces::raw_projection::RawProjection;

pub use reader::{Delivery, Reader, SeenWindow};
pub use windows::{Rank, Windows};

/// One project's window_set_revision.
#[derive(Debug)]
pub struct Workspace {
    /// What is shown for it.
    pub name: String,
    /// Its windows, in the order they were opened.
    pub windows: Windows,
    /// The highest data version of a window's Context, unless the epoch is higher.
    newest: u64,
    /// Its anchors.
    pub anchors: AnchorTable,
    /// The newest epoch that was delivered.
    pub epoch: u64,
    /// Who reads it.
    pub readers: BTreeMap<String, Reader>,
    /// Questions that wait for an answer, by number.
    pub questions: BTreeMap<u64, OpenQuestion>,
    /// What readers should know, oldest first.
    pub notices: VecDeque<Notice>,
    /// Notices so far.
    pub noticed: u64,
    /// Ids and epochs below these are reserved on disk.
    pub reserved: (u64, u64),
    /// How it treats refs.
    pub options: SavedOptions,
    /// What was done.
    pub history: History,
    /// How often a window was opened or closed.
    pub window_set_revision: u64,
}

/// A view of one session.
#[derive(Debug)]
pub struct Window {
    /// Its number, for the app.
    pub number: u64,
    /// Whose.
    pub session: SessionKey,
    /// Level of detail.
    pub lod: Lod,
    /// Tokens, when fixed.
    pub budget: Option<u32>,
    /// True when its session is to stay awake.
    pub pinned: bool,
    /// What the app last sent, and for which look.
    pub projection: Option<HeldProjection>,
    /// What was last written of it, and from what.
    pub rendered: Option<(Rc<RawProjection>, Rc<Rendered>)>,
    /// Counts of its Context: data, level of detail, rendering.
    pub context: ContextVersionCounter,
    /// Keys that the app gave to two things, as far as that was told.
    pub conflicts: Vec<String>,
    /// What was delivered of it, oldest first.
    pub delivered: VecDeque<DeliveredVersion>,
}

/// A window as it was delivered.
#[derive(Debug, Clone)]
pub struct DeliveredVersion {
    /// The first epoch in which it was so.
    pub epoch: u64,
    /// The process and version that it showed.
    pub seen: (Incarnation, u64),
    /// What it showed.
    pub rendered: Rc<Rendered>,
}

impl Window {
    /// The level of detail and the tokens that it is shown with, where a request may say otherwise.
    pub fn detail(&self, lod: Option<Lod>, budget: Option<u32>) -> (Lod, u32) {
        let lod = lod.unwrap_or(self.lod);
        let usual = if lod == Lod::Full { FULL_BUDGET } else { WINDOW_BUDGET };
        (lod, budget.or(self.budget).unwrap_or(usual).clamp(BUDGET_MIN, BUDGET_MAX))
    }

    /// Asks for all of it at its own detail, whatever is held of it.
    pub fn whole(&self) -> (ProjectionKey, Project) {
        let budget = self.budget.unwrap_or(WINDOW_BUDGET);
        let (window, lod) = (self.number, self.lod);
        // A fifth is kept back for what the app's own estimate leaves out.
        let look = ProjectionKey { window, lod, budget };
        (look, Project { window, lod, budget: budget - budget / 5, known_version: None })
    }

    /// Keeps what its app sent; what was sent for a window that it took the place of is passed over.
    pub fn hold(&mut self, look: ProjectionKey, app: Incarnation, projection: Rc<RawProjection>) {
        if look.window == self.number {
            let ProjectionKey { lod, budget, .. } = look;
            self.projection = Some(HeldProjection { app, lod, budget, projection });
        }
    }

    /// Not shown yet. Its Context's versions go on from the workspace's epoch, which never goes back:
    /// each of them took an epoch of its own.
    pub fn new(number: u64, session: SessionKey, epoch: u64) -> Self {
        Self {
            number,
            session,
            lod: Lod::default(),
            budget: None,
            pinned: false,
            projection: None,
            rendered: None,
            context: ContextVersionCounter { major: epoch, ..ContextVersionCounter::default() },
            conflicts: Vec::new(),
            delivered: VecDeque::new(),
        }
    }

    /// The window as it stood in an epoch, if that is remembered.
    pub fn at(&self, epoch: u64) -> Option<&DeliveredVersion> {
        self.delivered.iter().rev().find(|past| past.epoch <= epoch)
    }

    /// Remembers a delivery; the oldest makes room.
    pub fn remember(&mut self, epoch: u64, seen: (Incarnation, u64), rendered: &Rc<Rendered>) {
        let same =
            |past: &DeliveredVersion| Rc::ptr_eq(&past.rendered, rendered) && past.seen == seen;
        if self.delivered.back().is_some_and(same) {
            return;
        }
        self.delivered.push_back(DeliveredVersion { epoch, seen, rendered: rendered.clone() });
        if self.delivered.len() > PAST_MAX {
            self.delivered.pop_front();
        }
    }
}

/// A projection that the daemon holds.
#[derive(Debug, Clone)]
pub struct HeldProjection {
    /// The process that sent it.
    pub app: Incarnation,
    /// The level of detail that it was asked for.
    pub lod: Lod,
    /// The tokens that it was asked for.
    pub budget: u32,
    /// What it sent.
    pub projection: Rc<RawProjection>,
}

/// What a Context's version is counted from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextVersionCounter {
    /// Data versions so far.
    pub major: u64,
    /// Level-of-detail changes since.
    pub minor: u64,
    /// Renderings since.
    pub patch: u64,
    /// When it was rendered last: changes only with the counts.
    pub at: Now,
    /// What the counts belong to.
    pub of: Option<(Incarnation, u64, Lod)>,
}

/// Something that readers should know.
#[derive(Debug, Clone)]
pub struct Notice {
    /// Its number, from 1.
    pub number: u64,
    /// The text; `{ago}` stands for how long ago it was.
    pub text: String,
    /// When.
    pub at: Now,
}

impl Workspace {
    /// Empty, with ids and epochs from these on.
    pub fn new(name: String, first_id: u64, epoch: u64) -> Self {
        Self {
            name,
            windows: Windows::default(),
            newest: epoch,
            anchors: AnchorTable::starting_at(first_id),
            epoch,
            readers: BTreeMap::new(),
            questions: BTreeMap::new(),
            notices: VecDeque::new(),
            noticed: 0,
            reserved: (first_id, epoch),
            options: SavedOptions::default(),
            history: History::default(),
            window_set_revision: 0,
        }
    }

    /// The highest of its epoch and its Contexts' data versions: a later daemon counts on from there, and
    /// a window that an app's restart made new took a version without an epoch.
    pub fn newest_version(&self) -> u64 {
        self.newest.max(self.epoch)
    }

    /// A window's Context has this data version.
    pub fn count_version(&mut self, major: u64) {
        self.newest = self.newest.max(major);
    }

    /// The window of a session.
    pub fn window(&self, session: &SessionKey) -> Option<&Window> {
        self.windows.get(session)
    }

    /// The window of a session, to change.
    pub fn window_mut(&mut self, session: &SessionKey) -> Option<&mut Window> {
        self.windows.get_mut(session)
    }

    /// A reader, made when it is new; the one longest unheard of makes room.
    pub fn reader(&mut self, name: &str, now: Now) -> &mut Reader {
        if !self.readers.contains_key(name) && self.readers.len() >= READERS_MAX {
            let oldest = self.readers.iter().min_by_key(|(_, reader)| reader.heard);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                self.readers.remove(&oldest);
            }
        }
        // What happened before it came is no news to a new reader, unless nobody was there to be told.
        let noticed = if self.readers.is_empty() { 0 } else { self.noticed };
        let reader = self
            .readers
            .entry(name.to_owned())
            .or_insert_with(|| Reader { noticed, ..Reader::default() });
        reader.heard = now;
        reader
    }

    /// The epoch in which a reader was last shown an id; 0: never.
    pub fn known_epoch(&self, reader: &str, id: u64) -> u64 {
        self.readers.get(reader).and_then(|reader| reader.known.get(&id)).map_or(0, |epoch| *epoch)
    }

    /// True when the window that a reader last saw shows an id.
    pub fn in_view(&self, reader: &str, session: &SessionKey, id: u64) -> bool {
        self.seen(reader, session).is_some_and(|seen| seen.rendered.ids.contains(&id))
    }

    /// What a reader has of a window.
    pub fn seen(&self, reader: &str, session: &SessionKey) -> Option<&SeenWindow> {
        self.readers.get(reader).and_then(|reader| reader.seen.get(session))
    }

    /// Adds a notice for everyone.
    pub fn notify(&mut self, text: String, at: Now) {
        self.noticed += 1;
        self.notices.push_back(Notice { number: self.noticed, text, at });
        if self.notices.len() > NOTICES_MAX {
            self.notices.pop_front();
        }
    }

    /// What a reader hasn't been told yet.
    pub fn news(&self, reader: &str, now: Now) -> Vec<String> {
        let told = self.readers.get(reader).map_or(self.noticed, |reader| reader.noticed);
        let fresh = self.notices.iter().filter(|notice| notice.number > told);
        fresh.map(|notice| notice.text.replace("{ago}", &ago(now, notice.at))).collect()
    }

    /// A window was opened or closed. Who did it knows the desk as well as before.
    pub fn window_set_changed(&mut self, by: &str) {
        let before = self.window_set_revision;
        self.window_set_revision += 1;
        if let Some(reader) =
            self.readers.get_mut(by).filter(|reader| reader.window_set_revision == before)
        {
            reader.window_set_revision = self.window_set_revision;
        }
    }

    /// True when windows were opened or closed since the reader saw all of them.
    pub fn has_other_windows(&self, reader: &str) -> bool {
        self.readers
            .get(reader)
            .is_none_or(|reader| reader.window_set_revision < self.window_set_revision)
    }

    /// The question that a reader has open.
    pub fn question_of(&self, reader: &str) -> Option<(u64, &OpenQuestion)> {
        let mut own = self.questions.iter().filter(|(_, question)| question.reader() == reader);
        own.next().map(|(number, question)| (*number, question))
    }

    /// The numbers of all questions that a reader has open: steps that run at once may each ask.
    pub fn questions_of(&self, reader: &str) -> Vec<u64> {
        let own = self.questions.iter().filter(|(_, question)| question.reader() == reader);
        own.map(|(number, _)| *number).collect()
    }

    /// The reader has what a delivery showed.
    pub fn confirm(&mut self, reader: &str, number: u64) {
        let Some(reader) = self.readers.get_mut(reader) else { return };
        let Some(at) = reader.deliveries.iter().position(|d| d.number == number) else { return };
        let Some(delivery) = reader.deliveries.remove(at) else { return };
        reader.noticed = reader.noticed.max(delivery.noticed);
        reader.window_set_revision = delivery
            .window_set_revision
            .map_or(reader.window_set_revision, |window_set_revision| {
                window_set_revision.max(reader.window_set_revision)
            });
        // What the reader has of a window in this epoch already is known already.
        let had = |(session, rendered): &&(SessionKey, Rc<Rendered>)| {
            reader.seen.get(session).is_some_and(|seen| {
                seen.whole && seen.epoch == delivery.epoch && Rc::ptr_eq(&seen.rendered, rendered)
            })
        };
        let fresh = delivery.shown.iter().filter(|shown| !had(shown));
        let shown = fresh.flat_map(|(_, rendered)| rendered.ids.iter().copied());
        let mut ids = delivery.ids.into_iter().chain(shown).peekable();
        if ids.peek().is_some() {
            let known = Rc::make_mut(&mut reader.known);
            for id in ids {
                let newest = known.entry(id).or_default();
                *newest = delivery.epoch.max(*newest);
            }
            if known.len() > self.anchors.len() * 2 {
                known.retain(|id, _| self.anchors.has(*id));
            }
        }
        for (session, seen) in delivery.seen {
            let newer = reader.seen.get(&session).is_none_or(|had| had.epoch <= seen.epoch);
            if newer {
                // It may have changed again while the answer was on its way.
                reader.dirty_windows.extend(self.windows.rank(&session));
                reader.seen.insert(session, seen);
            }
        }
    }

    /// What was seen of one incarnation of a session counts as seen of the next, which has the same state.
    pub(crate) fn hand_over(&mut self, key: &SessionKey, from: Incarnation, to: Incarnation) {
        let change = |app: &mut Incarnation| {
            if *app == from {
                *app = to;
            }
        };
        if let Some(window) = self.windows.get_mut(key) {
            if let Some(held) = &mut window.projection {
                change(&mut held.app);
            }
            if let Some((app, ..)) = &mut window.context.of {
                change(app);
            }
            for delivered in &mut window.delivered {
                change(&mut delivered.seen.0);
            }
        }
        for reader in self.readers.values_mut() {
            if let Some(seen) = reader.seen.get_mut(key) {
                change(&mut seen.app);
            }
            let delivered = reader.deliveries.iter_mut().flat_map(|delivery| &mut delivery.seen);
            for (_, seen) in delivered.filter(|(session, _)| session == key) {
                change(&mut seen.app);
            }
            if let Some((seen, _)) = reader.kept.as_mut().and_then(|kept| kept.seen.get_mut(key)) {
                change(seen);
            }
        }
        for question in self.questions.values_mut() {
            if let Some((seen, _)) = question.run.seen.get_mut(key) {
                change(seen);
            }
        }
    }
}

fn ago(now: Now, then: Now) -> String {
    match now.unix_ms.saturating_sub(then.unix_ms) / 1000 {
        0 => "just now".into(),
        seconds @ 1..=119 => format!("{seconds} s ago"),
        seconds @ 120..=7199 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3600),
    }
}
