//! Edits of several files: all of them or none, one undo, the same after a crash at any point.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use docui::{App, Context, Done, Opening, Reply};

use super::*;
use crate::model::buffer::Buffer;

/// A test session with its own directories.
struct Session {
    editor: Editor,
    files: tempfile::TempDir,
    state: tempfile::TempDir,
    version: u64,
}

fn opening(session: &Path, state: &Path, args: &[&str], again: bool) -> Opening {
    Opening {
        provider: "editor".into(),
        session: "main".into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: session.to_owned(),
        state_dir: state.to_owned(),
        again,
        ..Opening::default()
    }
}

impl Session {
    fn new(args: &[&str]) -> Self {
        let (files, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for name in ["a", "b", "c"] {
            fs::write(files.path().join(name), format!("{name} one\nold\n{name} three\n")).unwrap();
        }
        let opening = opening(files.path(), state.path(), args, false);
        let editor = Editor::open(&opening).unwrap();
        Self { editor, files, state, version: 1 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().canonicalize().unwrap().join(name)
    }

    fn on_disk(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|_| "missing".into())
    }

    fn context(&mut self) -> Context {
        self.version += 1;
        Context {
            run_id: format!("run {}", self.version),
            version: self.version,
            seen_version: self.version,
            cwd: self.files.path().to_owned(),
            ..Context::default()
        }
    }

    /// Replaces `old` by a text in these files, as one edit.
    fn replace(&mut self, names: &[&str], new: &str) -> Result<String, Fault> {
        let (context, new) = (self.context(), new.to_owned());
        let paths: Vec<_> = names.iter().map(|name| self.path(name)).collect();
        let plan = move |documents: &mut Documents| {
            let mut edit = WorkspaceEdit::new(EditKind::Replace);
            for path in paths {
                let text = documents.text(&path)?.text();
                let at = text.find("old").ok_or_else(|| Fault::failed("no match"))?;
                let splice = Splice { at, old: "old".into(), new: new.clone() };
                edit = edit.splices(path, vec![splice]);
            }
            Ok(Plan::Edit(edit, ()))
        };
        let report = |_: &mut Editor, made: &Committed, (), _: &Context| {
            Done::new(format!("{} files", made.files.len()))
        };
        self.run(&context, plan, report)
    }

    fn run(
        &mut self,
        context: &Context,
        plan: impl FnOnce(&mut Documents) -> Result<Plan<()>, Fault> + Send + 'static,
        report: impl FnOnce(&mut Editor, &Committed, (), &Context) -> Done + Send + 'static,
    ) -> Result<String, Fault> {
        let begun =
            edit(&self.editor.files, &mut self.editor.edits, "the disk", context, plan, report)?;
        brief(begun.run(&mut self.editor, context.version)?)
    }

    fn act(&mut self, action: Action) -> Result<String, Fault> {
        let context = self.context();
        brief(self.editor.update(action, &context)?)
    }

    fn undo(&mut self, steps: i64) -> Result<String, Fault> {
        self.act(Action::Undo { steps, change: None })
    }

    /// Starts the session again as after a crash. Returns what it noted.
    fn crash(&mut self) -> Vec<String> {
        let opening = opening(self.files.path(), self.state.path(), &[], true);
        self.editor = Editor::open(&opening).unwrap();
        self.version = 1;
        self.editor.notes()
    }

    fn journal(&self) -> PathBuf {
        self.state.path().join("changes.jsonl")
    }

    fn texts(&self) -> [String; 3] {
        ["a", "b", "c"].map(|name| self.on_disk(name))
    }
}

fn brief(reply: Reply) -> Result<String, Fault> {
    match reply {
        Reply::Done(done) => Ok(done.brief().to_owned()),
        Reply::Ask(ask) => Err(Fault::usage(format!("asked: {ask:?}"))),
        Reply::Started(started) => Err(Fault::usage(format!("a job: {started:?}"))),
    }
}

fn replace(old: &str, new: &str) -> Action {
    Action::Replace {
        old: old.into(),
        new: new.into(),
        r#in: Vec::new(),
        word: false,
        regex: false,
        case: true,
        only: None,
        not: None,
        all: false,
    }
}

#[test]
fn edit_of_files_that_are_not_open_is_one_change_on_disk() {
    let mut session = Session::new(&["a"]);
    let before = session.texts();
    assert_eq!(session.replace(&["a", "b", "c"], "new").unwrap(), "3 files");
    assert_eq!(session.texts(), before.clone().map(|text| text.replace("old", "new")));
    assert_eq!(session.editor.current().unwrap().path(), session.path("a"), "it stays current");
    assert_eq!(session.editor.files.len(), 3);
    assert!(session.editor.files.iter().all(|file| !file.is_unsaved()));
    let undone = "replace in 3 files";
    assert_eq!(session.undo(1).unwrap(), undone);
    assert_eq!(session.texts(), before);
    let redone = "replace in 3 files";
    assert_eq!(session.act(Action::Redo { steps: 1, change: None }).unwrap(), redone);
    assert_eq!(session.crash(), Vec::<String>::new());
    assert_eq!(session.undo(1).unwrap(), undone, "undo survives a crash");
    assert_eq!(session.texts(), before);
}

#[test]
fn edit_that_the_disk_refuses_in_one_file_is_made_in_none() {
    let mut session = Session::new(&["a", "b"]);
    let before = session.texts();
    let read_only = |session: &Session, mode| {
        fs::set_permissions(session.path("c"), fs::Permissions::from_mode(mode)).unwrap();
    };
    read_only(&session, 0o444);
    let fault = session.replace(&["a", "b", "c"], "new").unwrap_err();
    assert!(fault.message.ends_with("c is read-only"), "{fault}");
    assert_eq!(session.texts(), before);
    assert!(session.editor.files.iter().all(|file| file.buffer().text().contains("old")));
    assert_eq!(fs::read_dir(session.files.path()).unwrap().count(), 3, "nothing is left behind");
    assert_eq!(session.undo(1).unwrap_err().message, "nothing to undo");
    read_only(&session, 0o640);
    session.replace(&["a", "b", "c"], "new").unwrap();
    let mode = fs::metadata(session.path("c")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn file_that_another_program_wrote_is_asked_about() {
    let mut session = Session::new(&["a", "b"]);
    let context = session.context();
    let theirs = session.path("b");
    let (a, b) = (session.path("a"), session.path("b"));
    let plan = move |documents: &mut Documents| {
        let mut edit = WorkspaceEdit::new(EditKind::Replace);
        for path in [a, b] {
            let at = documents.text(&path)?.text().find("old").unwrap();
            edit = edit.splices(path, vec![Splice { at, old: "old".into(), new: "new".into() }]);
        }
        // Nobody has noticed it yet.
        fs::write(theirs, "theirs, another length\n").unwrap();
        Ok(Plan::Edit(edit, ()))
    };
    let asked = session.run(&context, plan, |_, _, (), _| Done::new("done")).unwrap_err();
    assert!(asked.message.contains("b was changed on disk by someone else (its line 1"), "{asked}");
    assert!(session.on_disk("a").contains("old"), "nothing is done before the answer");
    assert_eq!(session.on_disk("b"), "theirs, another length\n");
}

#[test]
fn held_edits_of_several_files_are_written_together() {
    let mut session = Session::new(&["--hold", "a"]);
    let before = session.texts();
    session.replace(&["a", "b"], "new").unwrap();
    assert_eq!(session.texts(), before);
    assert_eq!(session.crash().len(), 2, "both are restored");
    assert!(session.editor.files.hold && session.editor.files.iter().all(|file| file.is_unsaved()));
    assert_eq!(session.undo(1).unwrap(), "replace in 2 files");
    assert!(session.editor.files.iter().all(|file| !file.is_unsaved()));
    session.act(Action::Redo { steps: 1, change: None }).unwrap();
    assert_eq!(session.act(Action::Hold { on: false }).unwrap(), "off · saved a, b");
    assert!(session.on_disk("a").contains("new") && session.on_disk("b").contains("new"));
}

#[test]
fn files_are_created_and_deleted_with_the_edit_and_its_undo() {
    let mut session = Session::new(&["a"]);
    let context = session.context();
    let (made, gone) = (session.path("deep/er/new"), session.path("b"));
    let before = session.on_disk("b");
    let plan = move |_: &mut Documents| {
        let edit = WorkspaceEdit::new(EditKind::Apply)
            .file(made, TextEdit::Create("made\n".into()))
            .file(gone, TextEdit::Delete);
        Ok(Plan::Edit(edit, ()))
    };
    session.run(&context, plan, |_, _, (), _| Done::new("done")).unwrap();
    assert_eq!(
        (session.on_disk("deep/er/new").as_str(), session.on_disk("b").as_str()),
        ("made\n", "missing")
    );
    session.crash();
    assert_eq!(session.undo(1).unwrap(), "apply in 2 files");
    assert_eq!(
        (session.on_disk("deep/er/new").as_str(), session.on_disk("b")),
        ("missing", before)
    );
    session.act(Action::Redo { steps: 1, change: None }).unwrap();
    assert_eq!(
        (session.on_disk("deep/er/new").as_str(), session.on_disk("b").as_str()),
        ("made\n", "missing")
    );
}

/// Returns the calls in a note: the one that completes an interrupted change, and its undo.
fn calls(note: &str) -> (Option<Action>, Action) {
    let id = |verb: &str| {
        let (_, rest) = note.split_once(&format!("{verb}(change=\""))?;
        Some(rest.split('"').next()?.into())
    };
    let redo = id("redo").map(|change| Action::Redo { steps: 1, change: Some(change) });
    (redo, Action::Undo { steps: 1, change: id("undo") })
}

/// The process ends at any point of an edit of three files: afterwards they are as they were left.
/// One that is there in some of them is told, and a reader goes on with it or back.
#[test]
fn edit_that_a_crash_interrupts_is_told_and_never_mended_unasked() {
    for written in 0..=3 {
        for ended in [false, true] {
            let mut session = Session::new(&["a", "b", "c"]);
            let before = session.texts();
            session.replace(&["a", "b", "c"], "new").unwrap();
            let after = session.texts();
            let journal = fs::read_to_string(session.journal()).unwrap();
            let lines: Vec<_> = journal.split_inclusive('\n').collect();
            assert!(lines.last().unwrap().starts_with("{\"end\""), "{journal}");
            if !ended {
                fs::write(session.journal(), lines[..lines.len() - 1].concat()).unwrap();
                for name in &["a", "b", "c"][written..] {
                    let at = ["a", "b", "c"].iter().position(|other| other == name).unwrap();
                    fs::write(session.path(name), &before[at]).unwrap();
                }
            }
            let left = session.texts();
            let notes = session.crash();
            assert_eq!(session.texts(), left, "nothing is written");
            let made = ended || written == 3;
            if !made && written > 0 {
                let [note] = notes.as_slice() else { panic!("{notes:?}") };
                let (on, back) = calls(note);
                session.act(on.unwrap()).unwrap();
                assert_eq!(session.texts(), after);
                session.undo(1).unwrap();
                assert_eq!(session.texts(), left);
                session.act(back).unwrap();
                assert_eq!(session.texts(), before);
                continue;
            }
            assert_eq!(notes, Vec::<String>::new());
            assert_eq!(session.texts(), if made { after } else { before.clone() }, "{written}");
            assert_eq!(session.undo(1).is_ok(), made, "{written}");
            assert_eq!(session.texts(), before);
            assert_eq!(session.undo(1).unwrap_err().message, "nothing to undo");
            // What comes later is recorded as usual.
            session.replace(&["a", "b"], "newer").unwrap();
            assert_eq!(session.crash(), Vec::<String>::new());
            session.undo(1).unwrap();
            assert_eq!(session.texts(), before);
        }
    }
}

/// The next edit removes leftovers that the change made or found, but no other texts.
#[test]
fn what_an_interrupted_edit_left_beside_its_files_goes_with_the_next_one() {
    let mut session = Session::new(&["a", "b", "c"]);
    let before = session.texts();
    session.replace(&["a", "b"], "new").unwrap();
    let journal = fs::read_to_string(session.journal()).unwrap();
    let lines: Vec<_> = journal.split_inclusive('\n').collect();
    fs::write(session.journal(), lines[..lines.len() - 1].concat()).unwrap();
    let leave = |name: &str, text: &str| {
        let folder = session.path(&format!(".pipemux-{name}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(".gitignore"), "*\n").unwrap();
        fs::write(folder.join("text"), text).unwrap();
        folder
    };
    let (own, theirs) = (leave("own", &before[0]), leave("theirs", "somebody's\n"));
    let notes = session.crash();
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.starts_with(".pipemux-theirs/text was left by an edit"), "{note}");
    assert!(own.exists() && theirs.exists(), "nothing is written");
    session.replace(&["c"], "newer").unwrap();
    assert!(!own.exists() && theirs.join("text").exists());
}

/// A person finishes by hand what was interrupted, and changes it further: that stays, whatever is
/// asked or called.
#[test]
fn interrupted_edit_that_a_person_finished_is_left_alone() {
    let mut session = Session::new(&["a", "b", "c"]);
    let before = session.texts();
    session.replace(&["a", "b", "c"], "new").unwrap();
    let after = session.texts();
    let journal = fs::read_to_string(session.journal()).unwrap();
    let lines: Vec<_> = journal.split_inclusive('\n').collect();
    fs::write(session.journal(), lines[..lines.len() - 1].concat()).unwrap();
    fs::write(session.path("c"), &before[2]).unwrap();
    let notes = session.crash();
    fs::write(session.path("a"), format!("{}more\n", after[0])).unwrap();
    fs::write(session.path("c"), &after[2]).unwrap();
    let mended = session.texts();
    let (on, back) = calls(&notes[0]);
    // The file has what was to be written to it: this is no conflict, and changes nothing.
    assert!(session.act(on.unwrap()).is_ok());
    assert!(session.act(back).is_err());
    assert_eq!(session.texts(), mended);
}

#[test]
fn undo_that_a_crash_interrupts_is_told_and_never_mended_unasked() {
    for written in 0..=2 {
        let mut session = Session::new(&["a", "b"]);
        let before = session.texts();
        session.replace(&["a", "b"], "new").unwrap();
        let after = session.texts();
        session.undo(1).unwrap();
        let journal = fs::read_to_string(session.journal()).unwrap();
        let lines: Vec<_> = journal.split_inclusive('\n').collect();
        fs::write(session.journal(), lines[..lines.len() - 1].concat()).unwrap();
        for (at, name) in ["a", "b"].iter().enumerate().skip(written) {
            fs::write(session.path(name), &after[at]).unwrap();
        }
        let left = session.texts();
        let notes = session.crash();
        assert_eq!(session.texts(), left, "nothing is written");
        if written == 1 {
            let (on, _) = calls(&notes[0]);
            session.act(on.unwrap()).unwrap();
            assert_eq!(session.texts(), before);
            continue;
        }
        assert_eq!(notes, Vec::<String>::new());
        let undone = written == 2;
        assert_eq!(session.texts(), if undone { before.clone() } else { after }, "{written}");
        assert_eq!(session.undo(1).is_ok(), !undone);
        assert_eq!(session.texts(), before);
        session.act(Action::Redo { steps: 1, change: None }).unwrap();
    }
}

#[test]
fn journal_that_cannot_be_read_is_kept_aside_and_said() {
    let mut session = Session::new(&["a"]);
    session.replace(&["a"], "new").unwrap();
    session.act(replace("new", "newer")).unwrap();
    let journal = fs::read_to_string(session.journal()).unwrap();
    // A line that was cut off was never confirmed.
    fs::write(session.journal(), &journal[..journal.len() - 4]).unwrap();
    assert_eq!(session.crash(), Vec::<String>::new());
    assert!(session.undo(1).is_ok(), "what the disk has was done");
    let damaged = journal.replacen("\"begin\"", "\"be\"", 2);
    fs::write(session.journal(), damaged).unwrap();
    let notes = session.crash();
    assert!(
        notes.len() == 1 && notes[0].starts_with("The record of changes is damaged"),
        "{notes:?}"
    );
    let text = Buffer::new(&session.on_disk("a"), false).text();
    assert!(session.undo(1).is_err());
    assert_eq!(session.on_disk("a"), text);
}

#[test]
fn change_journal_stays_readable() {
    let line = concat!(
        r#"{"begin":{"edit":{"id":"c1","kind":"replace","author":{"reader":"ada","run":"r","version":2},"#,
        r#""files":[{"path":"/a","splices":[{"at":0,"old":"a","new":"b"}],"#,
        r#""lines":{"Splices":[{"start":0,"removed":1,"inserted":1}]},"before":1,"after":2}]}}}"#
    );
    let journal = format!(
        "{{\"format\":1}}\n{line}\n{}\n{}\n{}\n",
        r#"{"end":{"id":"c1","by":{"reader":"ada","run":"r","version":3}}}"#,
        r#"{"begin":{"undo":{"ids":["c1"],"files":[]}}}"#,
        r#"{"end":{"id":"c1","by":{"reader":"bo","run":"s","version":4}}}"#,
    );
    let state = tempfile::tempdir().unwrap();
    fs::write(state.path().join("changes.jsonl"), journal).unwrap();
    let (log, begun, note) = crate::model::change_log::ChangeLog::read(state.path());
    assert!(begun.is_empty() && note.is_none());
    assert_eq!(log.undoable().count(), 0);
    let undone = log.redoable().next().unwrap();
    assert_eq!((undone.id.as_str(), undone.author.reader.as_str()), ("c1", "bo"));
}

/// An undo restores the previous text byte for byte, whatever happened in between.
#[test]
fn long_journal_is_rewritten_and_keeps_what_can_be_undone_and_redone() {
    let mut session = Session::new(&["a"]);
    let long = "x".repeat(200_000);
    for _ in 0..30 {
        session.act(replace("old", &long)).unwrap();
        session.undo(1).unwrap();
    }
    session.act(replace("old", "kept")).unwrap();
    session.act(replace("kept", "undone")).unwrap();
    session.undo(1).unwrap();
    assert!(fs::metadata(session.journal()).unwrap().len() < 3_000_000);
    session.crash();
    session.act(Action::Redo { steps: 1, change: None }).unwrap();
    assert!(session.on_disk("a").contains("undone"));
    session.undo(2).unwrap();
    assert_eq!(session.on_disk("a"), "a one\nold\na three\n");
}
