//! The state of the fake app, and what its actions do to it.

use std::collections::BTreeMap;

use pipemux_proto::app::{
    Choice, Done, Invoke, KeyLocation, Locate, Needs, OptionItem, Outcome, Question, QuestionKind,
    TokenMeaning, TokenName,
};
use pipemux_proto::projection::{Arg, CodePiece, EmbedSlot, ObjectSlot, Piece};
use pipemux_proto::{Fault, Value};

use super::app::slot;

/// The state of a session.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub notes: Vec<Note>,
    pub version: u64,
    /// When it wants to be woken once it sleeps.
    pub wake_at: Option<u64>,
    next: u64,
    /// The windows that its own shows, before its last line.
    pub embeds: Vec<EmbedSlot>,
    /// True when outcomes offer to take their change back by its name.
    pub names_changes: bool,
    /// True when what was taken back can't be made again.
    pub forgets_undone: bool,
    /// The changes that can be taken back, oldest first.
    pub changes: Vec<u64>,
    /// The files that its outcomes say they changed.
    pub changed_files: Vec<String>,
    /// Why its outcomes offer no undo, where they do not.
    pub no_undo: Option<String>,
    /// The pages that readers have turned to, counted from 1, of an app that shows each a page of
    /// its own.
    pub pages: BTreeMap<String, usize>,
}

/// A note.
#[derive(Debug, Clone)]
pub struct Note {
    pub key: String,
    pub rev: u64,
    pub text: String,
    pub hidden: bool,
}

impl Model {
    /// Tells what tokens name: `Note` and the key of a note.
    pub fn tokens(&self, asked: &Locate) -> Vec<TokenMeaning> {
        let meaning = |token: &TokenName| match self.note(&token.name) {
            Some(note) => TokenMeaning {
                place: match note.hidden {
                    true => KeyLocation::Hidden("notes.unhide()".into()),
                    false => KeyLocation::Shown,
                },
                title: note.text.clone(),
                at: Some("in the list".into()),
                click: Some(format!("say(text='{}')", note.key)),
            },
            None => TokenMeaning {
                place: KeyLocation::Gone(
                    token.name.starts_with('k').then(|| "It was removed".to_owned()),
                ),
                title: String::new(),
                at: None,
                click: None,
            },
        };
        asked.tokens.iter().map(meaning).collect()
    }

    pub fn add(&mut self, text: &str) -> String {
        self.next += 1;
        self.version += 1;
        let key = format!("k{}", self.next);
        self.notes.push(Note { key: key.clone(), rev: 1, text: text.into(), hidden: false });
        key
    }

    /// Changes the text of a note, and so its meaning.
    pub fn change(&mut self, index: usize, text: &str) {
        self.version += 1;
        if let Some(note) = self.notes.get_mut(index) {
            note.rev += 1;
            note.text = text.into();
        }
    }

    pub fn remove(&mut self, index: usize) {
        self.version += 1;
        if index < self.notes.len() {
            self.notes.remove(index);
        }
    }

    pub fn hide(&mut self, index: usize, hidden: bool) {
        self.version += 1;
        if let Some(note) = self.notes.get_mut(index) {
            note.hidden = hidden;
        }
    }

    pub fn note(&self, key: &str) -> Option<&Note> {
        self.notes.iter().find(|note| note.key == key)
    }
}

/// Notes of a page.
const PAGE: usize = 2;

impl Model {
    /// Returns what a reader is shown of it.
    pub fn page_of(&self, reader: &str) -> Self {
        let page = self.pages.get(reader).copied().unwrap_or(1);
        let notes = self.notes.chunks(PAGE).nth(page - 1).unwrap_or_default().to_vec();
        Self { notes, ..self.clone() }
    }

    /// Does what `invoke` does, and has `say("2")` turn the reader to that page.
    pub fn invoke_paged(&mut self, invoke: Invoke) -> Outcome {
        let Some(Arg::Value(page)) = invoke.args.get("text").filter(|_| invoke.action == "say")
        else {
            return self.invoke(invoke);
        };
        let page = page.to_value().ok().and_then(|page| page.as_str()?.parse().ok());
        self.pages.insert(invoke.reader, page.expect("a page"));
        self.version += 1;
        self.done("turned", None)
    }

    pub fn invoke(&mut self, invoke: Invoke) -> Outcome {
        let subject = match invoke.args.get("note") {
            Some(Arg::Ref(found)) => match self.check(&found.key, found.rev) {
                Ok(note) => Some(note.clone()),
                Err(fault) => return Outcome::Failed(fault),
            },
            _ => None,
        };
        let text = match invoke.args.get("text") {
            Some(Arg::Value(blob)) => blob.to_value().ok(),
            Some(Arg::Copied(copied)) => copied.value.to_value().ok(),
            _ => None,
        };
        let text = text.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        let at = |model: &Model| {
            let key = subject.as_ref().map(|note| note.key.clone());
            model.notes.iter().position(|note| Some(&note.key) == key.as_ref())
        };
        match invoke.action.as_str() {
            "edit" => {
                let index = at(self).unwrap_or(usize::MAX);
                self.change(index, &text);
                self.done("edited", None)
            }
            "remove" if !invoke.confirmed => {
                let label = subject.map(|note| note.key).unwrap_or_default();
                let options = vec![OptionItem { label, text: "cannot be undone".into() }];
                needs("1 note", QuestionKind::Confirm, options)
            }
            "remove" | "wipe" => {
                self.remove(at(self).unwrap_or(usize::MAX));
                self.done("removed", None)
            }
            "pick" => match invoke.resume {
                None => {
                    let option = |note: &Note| OptionItem {
                        label: note.key.clone(),
                        text: note.text.clone(),
                    };
                    let options: Vec<_> = self.notes.iter().map(option).collect();
                    needs(&format!("{} notes", options.len()), QuestionKind::PickMany, options)
                }
                Some(resume) => {
                    assert_eq!(resume.token.0, b"token"[..], "the token comes back");
                    let words = match resume.choice {
                        Choice::Picked(picked) => format!("picked {picked:?}"),
                        Choice::AllBut(but) => format!("all but {but:?}"),
                        other => format!("{other:?}"),
                    };
                    self.version += 1;
                    self.done(&words, None)
                }
            },
            "name" => match invoke.resume.map(|resume| resume.choice) {
                Some(Choice::Text(name)) => self.done(&format!("named {name}"), None),
                _ => needs("which name", QuestionKind::Text, Vec::new()),
            },
            "text" => {
                let value = Value::from(subject.map(|note| note.text).unwrap_or_default());
                self.done("text", Some(value))
            }
            "list" => {
                let lines = match invoke.args.get("lines") {
                    Some(Arg::Value(value)) => value.to_value().ok(),
                    _ => None,
                };
                let count = match lines {
                    Some(Value::Int(count)) => count,
                    _ => 3,
                };
                if count < 0 {
                    return Outcome::Failed(Fault::failed("fewer than no lines"));
                }
                if count == 0 {
                    let objects = self.notes.iter().map(|note| Piece::Object(object_of(note)));
                    return self.found("notes", objects.collect(), "");
                }
                let text: String =
                    (1..=count).map(|line| format!("{line}\tline {line}\n")).collect();
                let code = CodePiece { text: text.clone(), ..CodePiece::default() };
                self.found(&format!("{count} lines"), vec![Piece::Code(code)], &text)
            }
            "list_note" => {
                let note = subject.expect("a note");
                let object = object_of(&note);
                self.found("1 note", vec![Piece::Object(object)], &note.text)
            }
            "takeback" => {
                let change = match invoke.args.get("change") {
                    Some(Arg::Value(blob)) => blob.to_value().ok(),
                    _ => None,
                };
                let change = match change {
                    Some(Value::Int(change)) => change,
                    _ => 0,
                };
                // With a negative number, the change is made again.
                let (back, number) = (change > 0, change.unsigned_abs());
                if back && self.changes.last() != Some(&number) {
                    return Outcome::Failed(Fault::failed("a later change is in between"));
                }
                match back {
                    true => drop(self.changes.pop()),
                    false => self.changes.push(number),
                }
                self.version += 1;
                let (brief, label) = match back {
                    true => (format!("took {number} back"), "redo"),
                    false => (format!("made {number} again"), "undo"),
                };
                let mut turn = slot(label, "takeback", [("change", Value::Int(-change).into())]);
                turn.lasting = true;
                let links = if self.forgets_undone { Vec::new() } else { vec![turn] };
                let version = self.version;
                Outcome::Done(Done { brief, reverts: true, version, links, ..Done::default() })
            }
            "fail" => Outcome::Failed(Fault::failed("it can't be done").hint("try another")),
            _ => {
                self.version += 1;
                self.done(&text, None)
            }
        }
    }

    /// A query's result.
    fn found(&self, brief: &str, content: Vec<Piece>, value: &str) -> Outcome {
        Outcome::Done(Done {
            brief: brief.into(),
            content,
            value: Some(Value::from(value).to_blob()),
            version: self.version,
            ..Done::default()
        })
    }

    fn done(&mut self, brief: &str, value: Option<Value>) -> Outcome {
        let mut undo = slot("undo", "say", [("text", Value::from("undone").into())]);
        if self.names_changes {
            self.changes.push(self.version);
            let change = Value::Int(self.version.cast_signed());
            undo = slot("undo", "takeback", [("change", change.into())]);
            undo.lasting = true;
        }
        Outcome::Done(Done {
            brief: brief.into(),
            value: value.map(|value| value.to_blob()),
            version: self.version,
            links: if self.no_undo.is_some() { Vec::new() } else { vec![undo] },
            changed_files: self.changed_files.clone(),
            no_undo: self.no_undo.clone(),
            ..Done::default()
        })
    }

    pub fn check(&self, key: &str, rev: u64) -> Result<&Note, Fault> {
        match self.note(key) {
            Some(note) if note.rev == rev => Ok(note),
            Some(_) => Err(Fault::stale("another rev").about(key)),
            None => Err(Fault::not_found("gone").about(key).hint("it was removed")),
        }
    }
}

fn object_of(note: &Note) -> ObjectSlot {
    ObjectSlot {
        key: note.key.clone(),
        rev: note.rev,
        ty: Some("note".into()),
        label: format!("{} r{}", note.key, note.rev),
        ..ObjectSlot::default()
    }
}

fn needs(text: &str, kind: QuestionKind, options: Vec<OptionItem>) -> Outcome {
    let question =
        Question { text: text.into(), kind, options, unlisted: 0, ..Question::default() };
    Outcome::Needs(Needs {
        question,
        token: pipemux_proto::Blob(b"token"[..].into()),
        numbers: Vec::new(),
    })
}
