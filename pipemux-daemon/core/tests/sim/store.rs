//! What an app keeps, and what its actions do to it. Every label names a thing and its state:
//! `c1k3 r2` is note 3 of the first store of session `c`, changed once. So whatever an answer shows
//! can be compared with the store.

use pipemux_proto::app::{
    Choice, Done, Invoke, Needs, OptionItem, Outcome, Question, QuestionKind,
};
use pipemux_proto::projection::{Arg, Args, LinkSlot, Lod, ObjectSlot, Piece, Projection, RefArg};
use pipemux_proto::prototype::{Field, Param, Prototype, Risk, Type};
use pipemux_proto::{Blob, Fault, Value};

use std::collections::BTreeSet;

use crate::action::{Change, Pick};
use crate::undos::text_of;

/// What a line begins with that one reader is shown, which isn't in any sentence of the daemon.
pub const FOR_READER: &str = "page for ";

/// A note, the only kind of thing.
#[derive(Debug, Clone)]
pub struct Note {
    pub key: String,
    pub rev: u64,
    pub words: u8,
    pub hidden: bool,
}

/// The state of a session, which outlives processes and daemons.
#[derive(Debug, Clone)]
pub struct Store {
    /// The session's letter and the number of the store, which rises when a store is discarded.
    pub name: String,
    pub notes: Vec<Note>,
    /// The number of changes so far.
    pub total: u64,
    /// The version that this incarnation reports.
    pub version: u64,
    pub selection: Option<String>,
    next: u64,
    questions: u64,
    asked: Option<Vec<u8>>,
    /// The version that was saved before hibernation.
    saved: Option<u64>,
    /// True for an incarnation that continued from there.
    pub resumed: bool,
    /// True when actions may begin jobs.
    pub works: bool,
    /// The projections that this incarnation sent: window, level of detail, budget, version and,
    /// where that matters, the reader.
    pub shown: BTreeSet<(u64, Lod, u32, u64, String)>,
    /// The versions that this incarnation sent, each with the number of changes at that time.
    pub versions: BTreeSet<(u64, u64)>,
}

/// The result of an action.
#[derive(Debug)]
pub struct Executed {
    pub outcome: Outcome,
    /// True when it took effect.
    pub effect: bool,
}

impl Store {
    pub fn new(tag: char, nth: u32) -> Self {
        Self {
            name: format!("{tag}{nth}"),
            notes: Vec::new(),
            total: 1,
            version: 1,
            selection: None,
            next: 0,
            questions: 0,
            asked: None,
            saved: None,
            resumed: false,
            works: false,
            shown: BTreeSet::new(),
            versions: BTreeSet::new(),
        }
    }

    /// An incarnation begins.
    pub fn wake(&mut self, restarts_versions: bool) {
        self.resumed = self.saved.take() == Some(self.version);
        if !self.resumed {
            self.shown.clear();
            self.versions.clear();
            if restarts_versions {
                self.version = 1;
            }
        }
    }

    /// The state is saved for hibernation.
    pub fn save(&mut self) {
        self.saved = Some(self.version);
    }

    /// Returns the token of the question that the last action asked.
    pub fn asked(&self) -> Option<Vec<u8>> {
        self.asked.clone()
    }

    pub fn change(&mut self, change: Change) {
        let at = |pick: Pick, notes: &[Note]| {
            (!notes.is_empty()).then(|| usize::from(pick) % notes.len())
        };
        match change {
            Change::Add(words) => self.add(words),
            Change::Edit(pick) => {
                if let Some(at) = at(pick, &self.notes) {
                    self.edit(at);
                }
            }
            Change::Remove(pick) => {
                if let Some(at) = at(pick, &self.notes) {
                    self.remove(at);
                }
            }
            Change::Hide(pick, hidden) => {
                if let Some(at) = at(pick, &self.notes) {
                    self.bump();
                    self.notes[at].hidden = hidden;
                }
            }
            Change::Select(pick) => {
                if let Some(at) = at(pick, &self.notes) {
                    self.bump();
                    self.selection = Some(self.notes[at].key.clone());
                }
            }
        }
    }

    fn bump(&mut self) {
        self.total += 1;
        self.version += 1;
    }

    fn add(&mut self, words: u8) {
        self.bump();
        self.next += 1;
        self.notes.push(Note { key: format!("k{}", self.next), rev: 1, words, hidden: false });
    }

    fn edit(&mut self, at: usize) {
        self.bump();
        self.notes[at].rev += 1;
    }

    fn remove(&mut self, at: usize) {
        self.bump();
        let gone = self.notes.remove(at);
        if self.selection.as_ref() == Some(&gone.key) {
            self.selection = None;
        }
    }

    pub fn note(&self, key: &str) -> Option<&Note> {
        self.notes.iter().find(|note| note.key == key)
    }

    /// Returns the name of a thing: `c1k3`.
    pub fn thing(&self, key: &str) -> String {
        format!("{}{key}", self.name)
    }

    /// Returns the label of a thing in a state: `c1k3 r2`.
    pub fn label(&self, key: &str, rev: u64) -> String {
        format!("{} r{rev}", self.thing(key))
    }

    /// Returns the value of a thing.
    pub fn value(&self, note: &Note) -> String {
        let words = " lorem".repeat(usize::from(note.words));
        format!("{}{words}", self.label(&note.key, note.rev))
    }

    pub fn check(&self, key: &str, rev: u64) -> Result<&Note, Fault> {
        match self.note(key) {
            Some(note) if note.rev == rev => Ok(note),
            Some(_) => Err(Fault::stale("it was changed").about(key)),
            None => Err(Fault::not_found("it is gone").about(key).hint("it was removed")),
        }
    }

    /// True for the sessions of two of the three apps: an app says it for all of them.
    pub fn shows_each_reader_its_own(&self) -> bool {
        self.name.starts_with(['c', 'f', 'i', 'j'])
    }

    /// Returns what a reader is shown: beside what all are shown, whom it is for, if that is said.
    pub fn project_for(&self, reader: &str, lod: Lod) -> Projection {
        let mut projection = self.project(lod);
        if !reader.is_empty() {
            projection.content.insert(0, Piece::Text(format!("{FOR_READER}{reader}\n")));
        }
        projection
    }

    fn project(&self, lod: Lod) -> Projection {
        let mut content = Vec::new();
        for note in self.notes.iter().filter(|note| !note.hidden && lod != Lod::Gist) {
            let label = self.label(&note.key, note.rev);
            content.push(Piece::Object(self.slot(note)));
            if lod == Lod::Full {
                content.push(Piece::Text(" lorem".repeat(usize::from(note.words))));
            }
            for (variant_name, action) in [("edit", "edit"), ("drop", "drop")] {
                let bound =
                    RefArg { key: note.key.clone(), rev: note.rev, ty: Some("note".into()) };
                let args = [("note".to_owned(), Arg::Ref(bound))].into();
                content.push(Piece::Text(" ".into()));
                content.push(Piece::Link(link(format!("{variant_name} {label}"), action, args)));
            }
            content.push(Piece::Text("\n".into()));
        }
        let selected = self.selected();
        Projection {
            version: self.version,
            document: selected.map(|note| note.key.clone()),
            title: format!(
                "{} v{}.{} sel {}",
                self.name,
                self.version,
                self.total,
                selected.map_or("nothing".into(), |note| self.label(&note.key, note.rev)),
            ),
            nav: vec![link(format!("pick {}", self.name), "pick", Args::new())],
            content,
            names: selected
                .map(|note| ("selection".to_owned(), self.slot(note)))
                .into_iter()
                .collect(),
            focus: selected.map(|note| note.key.clone()),
            actions: self
                .notes
                .is_empty()
                .then(|| ["say", "add", "pick", "name", "list"].map(str::to_owned).to_vec()),
            ..Projection::default()
        }
    }

    fn selected(&self) -> Option<&Note> {
        self.note(self.selection.as_ref()?)
    }

    fn slot(&self, note: &Note) -> ObjectSlot {
        let label = self.label(&note.key, note.rev);
        ObjectSlot {
            key: note.key.clone(),
            rev: note.rev,
            ty: Some("note".into()),
            label,
            ..ObjectSlot::default()
        }
    }

    pub fn invoke(&mut self, invoke: &Invoke) -> Executed {
        self.asked = None;
        let refused = |fault| Executed { outcome: Outcome::Failed(fault), effect: false };
        let subject = match invoke.args.get("note") {
            Some(Arg::Ref(found)) => match self.check(&found.key, found.rev) {
                Ok(note) => Some(note.clone()),
                Err(fault) => return refused(fault),
            },
            _ => None,
        };
        let at = subject.as_ref().and_then(|of| self.notes.iter().position(|n| n.key == of.key));
        match (invoke.action.as_str(), at) {
            ("edit", Some(at)) => self.edit(at),
            ("select", Some(at)) => {
                self.bump();
                self.selection = Some(self.notes[at].key.clone());
            }
            ("drop", Some(at)) if invoke.confirmed => self.remove(at),
            ("drop", Some(at)) => {
                let label = self.notes[at].key.clone();
                return self.ask("drop it", QuestionKind::Confirm, vec![label]);
            }
            ("text", Some(at)) => {
                let value = Value::from(self.value(&self.notes[at]));
                return self.done(invoke, Some(value));
            }
            ("list", _) => {
                let objects = self.notes.iter().map(|note| Piece::Object(self.slot(note)));
                let content = objects.collect();
                let (brief, version) = ("found".into(), self.version);
                let done = Done { brief, content, version, ..Done::default() };
                return Executed { outcome: Outcome::Done(done), effect: true };
            }
            ("add", _) => self.add(3),
            ("pick", _) if invoke.resume.is_none() => {
                let labels = self.notes.iter().map(|note| note.key.clone()).collect();
                return self.ask("which", QuestionKind::PickMany, labels);
            }
            // A wrong answer by the app's own judgement.
            ("pick", _) if is_second(invoke) => return refused(Fault::usage("not the second")),
            ("name", _) => match invoke.resume.as_ref().map(|resume| &resume.choice) {
                Some(Choice::Text(_) | Choice::Fields(_)) => self.bump(),
                // Every other time it asks for both names.
                _ if self.questions % 2 == 1 => {
                    return self.ask("what names", QuestionKind::Form, Vec::new());
                }
                _ => return self.ask("what name", QuestionKind::Text, Vec::new()),
            },
            ("fail", _) => return refused(Fault::failed("it can't be done").hint("try another")),
            ("line", _) if invoke.seen_lost => return refused(Fault::stale("lines have moved")),
            ("say", _) if refuses(invoke, self.total) => {
                return refused(Fault::failed("a later change is in the way"));
            }
            ("say" | "line" | "pick", _) => self.bump(),
            _ => return refused(Fault::failed("no such action")),
        }
        self.done(invoke, None)
    }

    fn done(&self, invoke: &Invoke, value: Option<Value>) -> Executed {
        let undo = format!("undo {} at {}", self.name, self.total);
        let args = [("text".to_owned(), Value::from(undo.as_str()).into())].into();
        let undo = link(undo, "say", args);
        let outcome = Outcome::Done(Done {
            brief: invoke.action.clone(),
            value: value.map(|value| value.to_blob()),
            label: Some(self.name.clone()),
            version: self.version,
            links: if offers_undo(self.total) { vec![undo] } else { Vec::new() },
            ..Done::default()
        });
        Executed { outcome, effect: true }
    }

    /// Asks a question. Its options and its token carry a number that no other question of the
    /// store has.
    fn ask(&mut self, text: &str, kind: QuestionKind, keys: Vec<String>) -> Executed {
        self.questions += 1;
        let number = format!("{}q{}", self.name, self.questions);
        let option =
            |key: String| OptionItem { label: format!("{key} {number}"), text: "it".into() };
        let options = keys.into_iter().map(option).collect();
        let question = Question {
            text: format!("{text} {number}"),
            kind,
            options,
            unlisted: 0,
            fields: match kind {
                QuestionKind::Form => ["first", "last"].map(name_field).to_vec(),
                _ => Vec::new(),
            },
            secret: false,
        };
        self.asked = Some(number.clone().into_bytes());
        let token = Blob(number.into_bytes().into());
        Executed {
            outcome: Outcome::Needs(Needs { question, token, numbers: Vec::new() }),
            effect: false,
        }
    }
}

/// True for the changes that an app offers to take back.
pub fn offers_undo(total: u64) -> bool {
    total % 3 != 1
}

/// True for an undo that can't be done now.
fn refuses(invoke: &Invoke, total: u64) -> bool {
    let undoes = text_of(invoke).is_some_and(|text| text.starts_with("undo "));
    undoes && total.is_multiple_of(5)
}

/// Returns true for an answer that picks the second option alone.
pub fn is_second(invoke: &Invoke) -> bool {
    invoke.resume.as_ref().is_some_and(|resume| resume.choice == Choice::Picked(vec![2]))
}

fn link(label: String, action: &str, args: Args) -> LinkSlot {
    LinkSlot { label, action: action.into(), args, lasting: true, ..LinkSlot::default() }
}

/// Returns the actions of every app. Each call may carry a mark, by which it is recognized.
pub fn prototypes() -> Vec<Prototype> {
    let note = || param("note", Type::Anchor(Some("note".into())), None);
    let text = || param("text", Type::String, None);
    let action = |name: &str, mut params: Vec<Param>, returns, risk| {
        params.push(param("mark", Type::String, Some(Value::from(""))));
        Prototype {
            name: name.into(),
            doc: String::new(),
            params,
            returns,
            risk,
            idempotent: name == "select",
            previews: risk == Risk::Destructive,
            prominence: Default::default(),
            ..Prototype::default()
        }
    };
    vec![
        action("say", vec![text()], None, Risk::Changes),
        action("add", vec![], None, Risk::Changes),
        action("edit", vec![note()], None, Risk::Changes),
        action("select", vec![note()], None, Risk::Changes),
        action("drop", vec![note()], None, Risk::Destructive),
        action("text", vec![note()], Some(Type::String), Risk::Safe),
        action("list", vec![], None, Risk::Query),
        action("line", vec![param("at", Type::Line, None)], None, Risk::Changes),
        action("pick", vec![], None, Risk::Changes),
        action("name", vec![], None, Risk::Changes),
        action("fail", vec![], None, Risk::Changes),
    ]
}

fn param(name: &str, ty: Type, default: Option<Value>) -> Param {
    Param { name: name.into(), ty, default, ..Param::default() }
}

fn name_field(name: &str) -> Field {
    Field { name: name.into(), ty: Type::String, ..Field::default() }
}
