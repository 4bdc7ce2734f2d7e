//! A workspace: open windows, the anchor table, epochs, readers, open questions.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::{Lod, Projection};

use crate::act::question::OpenQuestion;
use crate::anchors::AnchorTable;
use crate::event::Now;
use crate::keys::SessionKey;
use crate::limits::{DELIVERIES_MAX, NOTICES_MAX, READERS_MAX};
use crate::render::window::Rendered;

/// One project's desk.
#[derive(Debug)]
pub struct Workspace {
    /// What is shown for it.
    pub name: String,
    /// Its windows, in the order they were opened.
    pub windows: Vec<Window>,
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
    /// What the app last sent, and for which look.
    pub projection: Option<Held>,
    /// What was last written of it, and from what.
    pub rendered: Option<(Rc<Projection>, Rc<Rendered>)>,
    /// Counts of its Context: data, level of detail, rendering.
    pub context: ContextCount,
}

/// A projection that the daemon holds.
#[derive(Debug, Clone)]
pub struct Held {
    /// The process that sent it.
    pub app: Incarnation,
    /// The level of detail that it was asked for.
    pub lod: Lod,
    /// The tokens that it was asked for.
    pub budget: u32,
    /// What it sent.
    pub projection: Rc<Projection>,
}

/// What a Context's version is counted from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextCount {
    /// Data versions so far.
    pub major: u64,
    /// Level-of-detail changes since.
    pub minor: u64,
    /// Renderings since.
    pub patch: u64,
    /// What the counts belong to.
    pub of: Option<(Incarnation, u64, Lod)>,
}

/// What one reader has seen.
#[derive(Debug, Default)]
pub struct Reader {
    /// By session.
    pub seen: BTreeMap<SessionKey, Seen>,
    /// Answers that were sent but not confirmed yet.
    pub deliveries: VecDeque<Delivery>,
    /// Notices up to this one were shown.
    pub noticed: u64,
    /// When it last asked for something.
    pub heard: Now,
}

/// What a reader has of one window.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The epoch of the answer that brought it.
    pub epoch: u64,
    /// The process and version that it showed.
    pub app: Incarnation,
    /// The app's version that it showed.
    pub version: u64,
    /// What it showed.
    pub rendered: Rc<Rendered>,
    /// The prototypes that were shown with it or before, as text.
    pub prototypes: Rc<str>,
}

/// An answer on its way.
#[derive(Debug)]
pub struct Delivery {
    /// Its number.
    pub number: u64,
    /// What it shows.
    pub seen: Vec<(SessionKey, Seen)>,
    /// The newest notice that it shows.
    pub noticed: u64,
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
            windows: Vec::new(),
            anchors: AnchorTable::starting_at(first_id),
            epoch,
            readers: BTreeMap::new(),
            questions: BTreeMap::new(),
            notices: VecDeque::new(),
            noticed: 0,
            reserved: (first_id, epoch),
        }
    }

    /// The window of a session.
    pub fn window(&self, session: &SessionKey) -> Option<&Window> {
        self.windows.iter().find(|window| window.session == *session)
    }

    /// The window of a session, to change.
    pub fn window_mut(&mut self, session: &SessionKey) -> Option<&mut Window> {
        self.windows.iter_mut().find(|window| window.session == *session)
    }

    /// A reader, made when it is new; the one longest unheard of makes room.
    pub fn reader(&mut self, name: &str, now: Now) -> &mut Reader {
        if !self.readers.contains_key(name) && self.readers.len() >= READERS_MAX {
            let oldest = self.readers.iter().min_by_key(|(_, reader)| reader.heard);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                self.readers.remove(&oldest);
            }
        }
        // What happened before it came is no news to a new reader.
        let noticed = self.noticed;
        let reader = self
            .readers
            .entry(name.to_owned())
            .or_insert_with(|| Reader { noticed, ..Reader::default() });
        reader.heard = now;
        reader
    }

    /// The epoch in which a reader last saw a window; 0: never.
    pub fn seen_epoch(&self, reader: &str, session: &SessionKey) -> u64 {
        self.seen(reader, session).map_or(0, |seen| seen.epoch)
    }

    /// What a reader has of a window.
    pub fn seen(&self, reader: &str, session: &SessionKey) -> Option<&Seen> {
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

    /// The question that a reader has open.
    pub fn question_of(&self, reader: &str) -> Option<(u64, &OpenQuestion)> {
        let mut own = self.questions.iter().filter(|(_, question)| question.reader() == reader);
        own.next().map(|(number, question)| (*number, question))
    }

    /// The reader has what a delivery showed.
    pub fn confirm(&mut self, reader: &str, number: u64) {
        let Some(reader) = self.readers.get_mut(reader) else { return };
        let Some(at) = reader.deliveries.iter().position(|d| d.number == number) else { return };
        let Some(delivery) = reader.deliveries.remove(at) else { return };
        reader.noticed = reader.noticed.max(delivery.noticed);
        for (session, seen) in delivery.seen {
            let newer = reader.seen.get(&session).is_none_or(|had| had.epoch <= seen.epoch);
            if newer {
                reader.seen.insert(session, seen);
            }
        }
    }
}

impl Reader {
    /// Keeps a delivery until it is confirmed; the oldest makes room.
    pub fn deliver(&mut self, delivery: Delivery) {
        self.deliveries.push_back(delivery);
        if self.deliveries.len() > DELIVERIES_MAX {
            self.deliveries.pop_front();
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
