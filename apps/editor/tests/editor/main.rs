//! The editor through the SDK, on real files.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod asleep;
mod bytes;
mod crash;
mod edits;
mod files;
mod replacing;
mod saved_state;
mod stale;
mod views;

use std::path::{Path, PathBuf};

use docui::testing::Host;
use docui::{Line, Lod, Text};
use pipemux_editor::{Action, Editor};
use pipemux_proto::app::{Done, Needs, Outcome};
use pipemux_proto::projection::{LinkSlot, ObjectSlot, Piece};
use pipemux_proto::{Fault, Value};

/// A session in directories of its own.
struct Desk {
    host: Host<Editor>,
    files: tempfile::TempDir,
    _state: tempfile::TempDir,
}

impl Desk {
    /// With files of that content, opened in order.
    fn with(files: &[(&str, &str)]) -> Self {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        let host = Host::open_as("editor/main", &names, dir.path(), state.path()).unwrap();
        let mut desk = Self { host, files: dir, _state: state };
        desk.look();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    /// Looks, so that numbers from here on mean what stands now. Returns the whole text.
    fn look(&mut self) -> String {
        self.host.text(Lod::Full, 100_000).unwrap()
    }

    fn done(&mut self, action: &Action) -> Done {
        done(self.host.invoke(action))
    }

    /// Goes to a place and looks.
    fn go(&mut self, to: &str) {
        self.done(&Action::Goto { line: place(to) });
        self.look();
    }

    fn failed(&mut self, action: &Action) -> Fault {
        failed(self.host.invoke(action))
    }

    fn asks(&mut self, action: &Action) -> Needs {
        match self.host.invoke(action) {
            Outcome::Needs(needs) => needs,
            other => panic!("expected a question, not {other:?}"),
        }
    }

    fn text(&self) -> String {
        self.host.app().unwrap().current().unwrap().buffer().text()
    }

    fn on_disk(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// What someone else writes; a file of other times, so that it shows at once.
    fn write(&self, name: &str, text: &str) {
        let fresh = self.path(&format!("{name}.new"));
        std::fs::write(&fresh, text).unwrap();
        std::fs::rename(fresh, self.path(name)).unwrap();
    }

    fn objects(&mut self) -> Vec<ObjectSlot> {
        let projection = self.host.project(Lod::Full, 100_000).unwrap();
        let object = |piece| match piece {
            Piece::Object(object) => Some(object),
            _ => None,
        };
        projection.content.into_iter().filter_map(object).collect()
    }

    /// Carries out a link as a click would.
    fn click(&mut self, link: &LinkSlot) -> Outcome {
        let action = <Action as docui::Actions>::decode(&link.action, link.args.clone()).unwrap();
        self.host.invoke(&action)
    }
}

fn done(outcome: Outcome) -> Done {
    match outcome {
        Outcome::Done(done) => done,
        other => panic!("expected it done, not {other:?}"),
    }
}

fn failed(outcome: Outcome) -> Fault {
    match outcome {
        Outcome::Failed(fault) => fault,
        other => panic!("expected a failure, not {other:?}"),
    }
}

fn value(done: &Done) -> String {
    match done.value.as_ref().unwrap().to_value().unwrap() {
        Value::Str(text) => text,
        other => panic!("{other}"),
    }
}

fn at(number: i64) -> Line {
    Line::Number(number)
}

fn place(text: &str) -> Line {
    Line::Text(text.into())
}

fn to(object: &ObjectSlot) -> Line {
    Line::At(docui::Anchor::new(object.key.clone(), object.rev))
}

fn text(text: &str) -> Text {
    text.into()
}

fn replace(old: &str, new: &str) -> Action {
    Action::Replace { old: old.into(), new: text(new), all: false }
}

fn replace_lines(first: i64, last: i64, new: &str) -> Action {
    Action::ReplaceLines { first: at(first), last: at(last), text: text(new) }
}

fn delete_lines(first: i64, last: i64) -> Action {
    Action::DeleteLines { first: at(first), last: at(last) }
}

fn insert(line: i64, new: &str) -> Action {
    Action::Insert { at: at(line), text: text(new) }
}

fn move_lines(first: i64, last: i64, before: i64) -> Action {
    Action::MoveLines { first: at(first), last: at(last), before: at(before) }
}

fn undo() -> Action {
    Action::Undo { steps: 1, change: None }
}

fn redo() -> Action {
    Action::Redo { steps: 1, change: None }
}

fn save() -> Action {
    Action::Save {}
}

/// `line 1` to `line n`.
fn numbered(lines: usize) -> String {
    (1..=lines).map(|line| format!("line {line}\n")).collect()
}

fn opening(args: &[&str], cwd: &Path, state: &Path, again: bool) -> docui::Opening {
    docui::Opening {
        provider: "editor".into(),
        session: "main".into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: cwd.to_owned(),
        state_dir: state.to_owned(),
        again,
        ..docui::Opening::default()
    }
}
