//! What the tests share: a session on real files, and short names for actions.

pub use std::path::{Path, PathBuf};

use docui::App;
pub use docui::testing::Host;
pub use docui::{Line, Lod, Text};
pub use pipemux_editor::{Action, Editor};
pub use pipemux_proto::app::{Done, Needs, Outcome};
pub use pipemux_proto::projection::{LinkSlot, ObjectSlot, Piece};
pub use pipemux_proto::{Fault, Value};

/// A session of the editor with directories of its own.
pub struct TestSession {
    pub host: Host<Editor>,
    pub files: tempfile::TempDir,
    _state: tempfile::TempDir,
}

impl TestSession {
    /// Starts a session with files of these contents, opened in this order.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        let host = Host::open_as("editor/main", &names, dir.path(), state.path()).unwrap();
        let mut session = Self { host, files: dir, _state: state };
        session.view();
        session
    }

    /// As [`TestSession::with`], with edits that stay in the session until they are saved.
    pub fn holding(files: &[(&str, &str)]) -> Self {
        let mut session = Self::with(files);
        session.done(&hold());
        session.view();
        session
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    /// Views the session, so that numbers from here on count in what is there now. Returns the
    /// whole window.
    pub fn view(&mut self) -> String {
        self.host.text(Lod::Full, 100_000).unwrap()
    }

    pub fn done(&mut self, action: &Action) -> Done {
        done(self.host.invoke(action))
    }

    /// Goes to a line, `b.rs:20`, and views it.
    pub fn goto(&mut self, to: &str) {
        self.done(&goto(to));
        self.view();
    }

    pub fn failed(&mut self, action: &Action) -> Fault {
        failed(self.host.invoke(action))
    }

    /// The version that a reader sees who views the session now.
    pub fn seen_version(&mut self) -> u64 {
        self.host.project(Lod::Full, 9_000).unwrap().version
    }

    pub fn asks(&mut self, action: &Action) -> Needs {
        match self.host.invoke(action) {
            Outcome::Needs(needs) => needs,
            other => panic!("expected a question, not {other:?}"),
        }
    }

    pub fn text(&self) -> String {
        self.host.app().unwrap().current().unwrap().buffer().text()
    }

    pub fn on_disk(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Replaces a file as another program would. The new file has other times, so that the change
    /// is noticed at once.
    pub fn write_externally(&self, name: &str, text: &str) {
        let fresh = self.path(&format!("{name}.new"));
        std::fs::write(&fresh, text).unwrap();
        std::fs::rename(fresh, self.path(name)).unwrap();
    }

    pub fn objects(&mut self) -> Vec<ObjectSlot> {
        let projection = self.host.project(Lod::Full, 100_000).unwrap();
        let object = |piece| match piece {
            Piece::Object(object) => Some(object),
            _ => None,
        };
        projection.content.into_iter().filter_map(object).collect()
    }

    /// Carries out the action of a link.
    pub fn click(&mut self, link: &LinkSlot) -> Outcome {
        let action = <Action as docui::Actions>::decode(&link.action, link.args.clone()).unwrap();
        self.host.invoke(&action)
    }
}

pub fn done(outcome: Outcome) -> Done {
    match outcome {
        Outcome::Done(done) => done,
        other => panic!("expected an outcome, not {other:?}"),
    }
}

pub fn failed(outcome: Outcome) -> Fault {
    match outcome {
        Outcome::Failed(fault) => fault,
        other => panic!("expected a failure, not {other:?}"),
    }
}

/// Returns the text that an action returned.
pub fn value(done: &Done) -> String {
    match done.value.as_ref().unwrap().to_value().unwrap() {
        Value::Str(text) => text,
        other => panic!("{other}"),
    }
}

/// Returns what a query shows.
pub fn content(done: &Done) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Code(code) => code.text.clone(),
        Piece::Text(text) => text.clone(),
        _ => String::new(),
    };
    done.content.iter().map(text).collect()
}

pub fn at(number: i64) -> Line {
    Line::Number(number)
}

pub fn line_of(text: &str) -> Line {
    Line::Text(text.into())
}

/// Returns a line argument that names an object.
pub fn to(object: &ObjectSlot) -> Line {
    Line::At(docui::Anchor::new(object.key.clone(), object.rev))
}

pub fn text(text: &str) -> Text {
    text.into()
}

pub fn replace(old: &str, new: &str) -> Action {
    replace_with(old, new, false)
}

pub fn replace_all(old: &str, new: &str) -> Action {
    replace_with(old, new, true)
}

fn replace_with(old: &str, new: &str, all: bool) -> Action {
    Action::Replace {
        old: old.into(),
        new: text(new),
        r#in: Vec::new(),
        word: false,
        regex: false,
        case: true,
        only: None,
        not: None,
        all,
    }
}

pub fn replace_lines(first: i64, last: i64, new: &str) -> Action {
    Action::ReplaceLines { first: at(first), last: at(last), text: text(new) }
}

pub fn delete_lines(first: i64, last: i64) -> Action {
    Action::DeleteLines { first: at(first), last: at(last) }
}

pub fn insert(line: i64, new: &str) -> Action {
    Action::Insert { at: at(line), text: text(new) }
}

pub fn move_lines(first: i64, last: i64, before: i64) -> Action {
    Action::MoveLines { first: at(first), last: at(last), before: at(before) }
}

pub fn open(path: &str) -> Action {
    Action::Open { path: vec![path.into()] }
}

pub fn close() -> Action {
    Action::Close { file: None }
}

pub fn goto(line: &str) -> Action {
    Action::Goto { line: line_of(line) }
}

pub fn find(text: &str) -> Action {
    Action::Find {
        text: text.into(),
        r#in: Vec::new(),
        word: false,
        regex: false,
        case: true,
        only: None,
        not: None,
        with: None,
        count: false,
        min: 0,
        all: false,
    }
}

pub fn undo() -> Action {
    Action::Undo { steps: 1, change: None }
}

pub fn redo() -> Action {
    Action::Redo { steps: 1, change: None }
}

pub fn hold() -> Action {
    Action::Hold { on: true }
}

pub fn save() -> Action {
    Action::Save {}
}

/// Returns a text of `line 1` to `line n`.
pub fn numbered(lines: usize) -> String {
    (1..=lines).map(|line| format!("line {line}\n")).collect()
}

/// Returns the `open` of a session; `again` says that the daemon repeats it after a crash.
pub fn opening(args: &[&str], cwd: &Path, state: &Path, again: bool) -> docui::Opening {
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

/// Returns the journals in a session's state directory.
pub fn journals(state: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(state).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "unsaved")).collect()
}

/// Opens a session, performs actions in it with edits held, and ends it without saving anything, as
/// a crash does.
pub fn edit_and_crash(dir: &Path, state: &Path, actions: &[Action]) {
    let arguments = ["--hold", "a.txt", "b.txt"];
    let mut editor = Editor::open(&opening(&arguments, dir, state, false)).unwrap();
    for (version, action) in (1..).zip(actions) {
        let context = docui::Context {
            run_id: "run".into(),
            version,
            seen_version: 1,
            ..docui::Context::default()
        };
        editor.update(action.clone(), &context).unwrap();
    }
}

/// Returns a directory with two files, and one for the state of a session.
pub fn directories() -> (tempfile::TempDir, tempfile::TempDir) {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("a.txt"), numbered(5)).unwrap();
    std::fs::write(dir.path().join("b.txt"), "b\r\nb\r\n").unwrap();
    (dir, state)
}

/// Returns the text of the current file.
pub fn current(editor: &Editor) -> String {
    editor.current().unwrap().buffer().text()
}
