//! Adding, changing and removing entries, and undo.

use crate::common::{
    Fixture, add, append, at, copied, done, edit, expand, filter, open, search, show,
};
use docui::{Choice, Lod};
use pipemux_notebook::Action;
use pipemux_notebook::Notebook;
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::fault::Code;

/// Returns the action of an answer's first link, which undoes the change.
fn undo_of(done: &Done) -> Action {
    let link = &done.links[0];
    <Action as docui::Actions>::decode(&link.action, link.args.clone()).unwrap()
}

fn read(fixture: &Fixture, key: &str) -> String {
    let bytes = docui::App::read(fixture.host.app().unwrap(), key).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn entry_survives_a_restart_byte_for_byte() {
    let mut fixture = Fixture::new();
    let text = "Zeile 1\r\n\t数据库 🦀 \"\\ ```\n# [x](obj:1)\n\nno newline at the end";
    assert_eq!(fixture.add("Plan: 発売", text, &["q2", "plan"]).brief, "\"Plan: 発売\", 5 lines");
    let mut fixture = fixture.restart();
    assert_eq!(read(&fixture, "n1"), text);
    let shown = fixture.text();
    assert!(shown.starts_with("## 1 entry\n"), "{shown}");
    assert!(shown.contains("[Plan: 発売](obj:n1) 5 lines · plan, q2 [expand](link:expand)"));
}

#[test]
fn origin_of_copied_text_is_reported_and_kept() {
    let mut fixture = Fixture::new();
    let text = copied("fn a() {}\nfn b() {}\n", "editor/main", "src/parse.rs:101-300");
    let action = Action::Add {
        title: "old parser".into(),
        text: text.into(),
        tags: vec![],
        summary: None,
        gist: String::new(),
    };
    assert_eq!(fixture.brief(action), "\"old parser\", 2 lines from src/parse.rs:101-300");
    let more = Action::Append { entry: at(1, 1), text: copied("x", "editor/b", "b.rs:1-1") };
    assert_eq!(fixture.brief(more), "\"old parser\": +1 line from b.rs:1-1: x");
    let full = fixture.restart().host.text(Lod::Full, 1000).unwrap();
    assert!(full.contains("from editor/main src/parse.rs:101-300, editor/b b.rs:1-1\n"), "{full}");
}

#[test]
fn each_change_raises_the_rev_and_makes_older_refs_stale() {
    let mut fixture = Fixture::new();
    fixture.add("a", "one\n", &[]);
    assert_eq!(fixture.brief(append(1, 1, "two")), "\"a\": +1 line: two");
    assert_eq!(read(&fixture, "n1"), "one\ntwo");
    assert_eq!(fixture.brief(append(1, 2, "three")), "\"a\": +1 line: three");
    assert_eq!(fixture.brief(edit(1, 3, "all new")), "\"a\", 1 line, was 3");
    let rename = |rev, title: &str| Action::Rename { entry: at(1, rev), new: title.into() };
    assert_eq!(fixture.brief(rename(4, "b")), "\"a\" is \"b\" now");
    let tag = Action::Tag { entry: at(1, 5), tags: vec!["x".into(), " w".into()] };
    assert_eq!(fixture.brief(tag), "\"b\": #w #x");
    let stale = fixture.fault(edit(1, 5, "lost update"));
    assert_eq!((stale.code, stale.key.as_deref()), (Code::Stale, Some("n1")));
    assert_eq!(read(&fixture, "n1"), "all new");
    // A change that makes no difference does not raise the rev.
    assert!(fixture.brief(rename(6, "b")).starts_with("nothing changed"));
    fixture.done(edit(1, 6, "again"));
    // Folding is not a change of meaning.
    fixture.done(expand(1, 7));
    fixture.done(Action::Fold { entry: at(1, 7) });
}

#[test]
fn content_out_of_bounds_is_refused_with_the_bound() {
    let mut fixture = Fixture::new();
    for (action, word) in [
        (add("", "x", &[]), "title"),
        (add("  ", "x", &[]), "title"),
        (add("two\nlines", "x", &[]), "line break"),
        (add("sep\u{2028}arated", "x", &[]), "line break"),
        (add(&"x".repeat(201), "x", &[]), "at most 200"),
        (add("a", "x", &["b,c"]), "comma"),
        (add("a", "x", &[""]), "empty tag"),
        (add("a", &"x".repeat(512 * 1024 + 1), &[]), "512 KiB"),
    ] {
        let fault = fixture.fault(action);
        assert!(fault.message.contains(word), "{fault}");
    }
    fixture.add("full", &"x".repeat(512 * 1024), &[]);
    assert_eq!(fixture.fault(append(1, 1, "y")).code, Code::Refused);
    assert_eq!(fixture.fault(edit(9, 1, "y")).code, Code::NotFound);
    assert_eq!(fixture.shown(), ["n1"]);
}

fn remove(entries: &[(u64, u64)]) -> Action {
    Action::Remove { entries: entries.iter().map(|(id, rev)| at(*id, *rev)).collect() }
}

#[test]
fn removal_is_undone_with_the_same_id_and_content() {
    let mut fixture = Fixture::new();
    fixture.add("keep", "x", &[]);
    let text = "1\n2\r\n3\n";
    fixture.done(Action::Add {
        title: "Release plan".into(),
        text: text.into(),
        tags: vec!["q2".into()],
        gist: "ship".into(),
        summary: Some("all\nof it".into()),
    });
    let before = fixture.text();
    let removed = fixture.done(remove(&[(2, 1)]));
    assert_eq!(removed.brief, "\"Release plan\", 3 lines");
    assert_eq!(fixture.shown(), ["n1"]);
    let gone = fixture.fault(edit(2, 1, "x"));
    assert_eq!(gone.code, Code::NotFound);
    let how = "It was removed; to bring it back: pipemux run 'notebook.undo(\"c3\")'";
    assert_eq!(gone.hints, [how]);
    assert_eq!(fixture.fault(edit(99, 1, "x")).hints, Vec::<String>::new());
    assert_eq!(fixture.ask(search("Release")), "0 of 1 note\n");
    // In another process, and with another entry since.
    let mut fixture = fixture.restart();
    fixture.add("next", "x", &[]);
    assert_eq!(fixture.shown(), ["n3", "n1"], "an id is never given to another entry");
    let undone = fixture.done(undo_of(&removed));
    assert_eq!(undone.brief, "\"Release plan\" is back, 3 lines");
    assert_eq!(read(&fixture, "n2"), text);
    assert_eq!(fixture.ask(search("release")), "1 of 3 notes\n[Release plan] #q2 ship\n");
    fixture.done(remove(&[(3, 1)]));
    assert_eq!(fixture.text(), before, "with its anchor, tags, gist and summary");
    // The redo removes it again, and undoing that brings it back once more.
    fixture.done(Action::Undo { steps: 1 });
    let redone = fixture.done(undo_of(&undone));
    assert_eq!(redone.brief, "\"Release plan\" is removed again");
    fixture.done(undo_of(&redone));
    fixture.done(edit(2, 1, "what a reader saw before the removal is what is there"));
}

#[test]
fn several_entries_are_removed_together_or_not_at_all() {
    let mut fixture = Fixture::new();
    for (title, text) in
        [("Release plan", "1\n2\n"), ("old 解析器", "x"), ("keep", "y"), ("Meeting", "")]
    {
        fixture.add(title, text, &[]);
    }
    assert_eq!(fixture.fault(remove(&[])).code, Code::Usage);
    // Somebody changed one of them since it was seen, so none is removed.
    let mut other = open(&fixture.dir, "b", &[crate::common::STORE]).unwrap();
    done(&mut other, edit(4, 1, "precious"));
    let stale = fixture.fault(remove(&[(1, 1), (2, 1), (4, 1)]));
    assert_eq!((stale.code, stale.key.as_deref()), (Code::Stale, Some("n4")));
    assert_eq!(fixture.shown(), ["n4", "n3", "n2", "n1"]);
    // An entry that is named twice counts once.
    let removed = fixture.done(remove(&[(1, 1), (2, 1), (4, 2), (1, 1)]));
    let told = "3 notes, 4 lines: \"Release plan\", \"old 解析器\", \"Meeting\"";
    assert_eq!(removed.brief, told);
    assert_eq!(fixture.shown(), ["n3"]);
    let back = "3 notes are back: \"Release plan\", \"old 解析器\", \"Meeting\"";
    assert_eq!(fixture.brief(Action::Undo { steps: 1 }), back);
    assert_eq!(fixture.shown(), ["n4", "n3", "n2", "n1"]);
    assert_eq!(read(&fixture, "n4"), "precious");
}

#[test]
fn purging_is_confirmed_and_leaves_nothing_behind() {
    let mut fixture = Fixture::new();
    fixture.add("keep", "x", &[]);
    for n in 0..25 {
        fixture.add(&format!("secret {n}"), "the password", &[]);
    }
    let removed = fixture.done(remove(&[(2, 1), (3, 1)]));
    fixture.done(undo_of(&removed));
    let purge = |ids: std::ops::RangeInclusive<u64>| Action::Purge {
        entries: ids.map(|id| at(id, 1)).collect(),
    };
    let Outcome::Needs(asked) = fixture.host.invoke(&purge(2..=26)) else { panic!("should ask") };
    assert_eq!(asked.question.text, "25 notes, 25 lines, cannot be undone");
    assert_eq!((asked.question.options.len(), asked.question.unlisted), (20, 5));
    assert_eq!(fixture.shown().len(), 26, "nothing is gone yet");
    let Outcome::Done(_) = fixture.host.answer(Choice::Yes) else { panic!("should be done") };
    assert_eq!(fixture.shown(), ["n1"]);
    assert_eq!(fixture.fault(undo_of(&removed)).code, Code::NotFound);
    assert_eq!(fixture.fault(edit(2, 1, "x")).hints, ["It was removed"]);
    let connection = rusqlite::Connection::open(fixture.store()).unwrap();
    let left: i64 = connection
        .query_row("SELECT count(*) FROM changes WHERE entry > 1", [], |r| r.get(0))
        .unwrap();
    assert_eq!(left, 0);
    // Somebody changes it after the question, so it stays.
    fixture.add("last", "v1", &[]);
    let Outcome::Needs(_) = fixture.host.invoke(&purge(27..=27)) else { panic!("should ask") };
    let mut other = open(&fixture.dir, "b", &[crate::common::STORE]).unwrap();
    done(&mut other, edit(27, 1, "precious"));
    let Outcome::Failed(stale) = fixture.host.answer(Choice::Yes) else {
        panic!("should be stale")
    };
    assert_eq!(stale.code, Code::Stale);
}

#[test]
fn title_names_an_entry_wherever_a_ref_does() {
    let mut fixture = Fixture::new();
    for title in ["tokio", "serde_json", "数据库"] {
        fixture.add(title, "one\n", &["t"]);
    }
    let brief = |outcome: Outcome| match outcome {
        Outcome::Done(done) => done.brief,
        Outcome::Failed(fault) => format!("{} {:?}", fault.message, fault.hints),
        other => panic!("{other:?}"),
    };
    let mut call = |action: &str, args: &[(&'static str, &str)]| brief(fixture.call(action, args));
    let renamed = call("rename", &[("entry", "tokio"), ("new", "tokio (async runtime)")]);
    assert_eq!(renamed, "\"tokio\" is \"tokio (async runtime)\" now");
    let appended = call("append", &[("entry", "serde_json"), ("text", "checked twice")]);
    assert_eq!(appended, "\"serde_json\": +1 line: checked twice");
    assert_eq!(call("gist", &[("entry", "数据库"), ("text", "a store")]), "\"数据库\": a store");
    assert_eq!(call("summary", &[("entry", "数据库"), ("text", "a\nb")]), "\"数据库\": 2 lines");
    assert_eq!(call("remove", &[("entries", "Serde_JSON")]), "\"serde_json\", 2 lines");
    assert_eq!(call("undo", &[]), "\"serde_json\" is back, 2 lines");
    assert_eq!(
        call("append", &[("entry", "tokio"), ("text", "x")]),
        "no note has the title \"tokio\"; near: \"tokio (async runtime)\" []"
    );
    assert_eq!(
        call("append", &[("entry", "zzz"), ("text", "x")]),
        "no note has the title \"zzz\" [\"pipemux ask 'notebook.show()'\"]"
    );
    // The aliases of earlier releases take names as well.
    assert_eq!(
        call("retitle", &[("entry", "数据库"), ("title", "db")]),
        "\"数据库\" is \"db\" now"
    );
    assert_eq!(call("fold", &[("entry", "db")]), "\"db\": gist");
    let twice = fixture.add("db", "another\none", &[]).brief;
    assert_eq!(twice, "\"db\", 2 lines; 2 notes have this title");
    let ambiguous = fixture.call("append", &[("entry", "db"), ("text", "x")]);
    assert_eq!(
        brief(ambiguous),
        "2 notes have the title \"db\" [\"obj:notebook/main:n3 for \\\"one\\\"\", \
         \"obj:notebook/main:n4 for \\\"another\\\"\"]"
    );
}

#[test]
fn rows_are_added_together_and_undone_together() {
    let mut fixture = Fixture::new();
    let rows = |rows: &str| Action::AddMany { rows: rows.into() };
    let wrong = "{\"title\": \"a\"}\n{\"title\": \"\"}";
    let fault = fixture.fault(rows(wrong));
    assert!(fault.message.starts_with("row 2, title: "), "{fault}");
    assert!(fault.message.ends_with("; nothing was added"), "{fault}");
    assert_eq!(fixture.shown(), Vec::<String>::new());
    let tsv = "title\ttags\tgist\ttext\nahash\tdata\tfast hash\tlicense: MIT\\nrust-version: 1.60\nmio\tio,net\t\tx\n";
    let added = fixture.done(rows(tsv));
    assert_eq!(added.brief, "added 2 notes");
    assert!(added.complete);
    assert_eq!(fixture.ask(show("all")), "2 notes\n[ahash] #data fast hash\n[mio] #io #net x\n");
    let json: String = (0..300).map(|n| format!("{{\"title\": \"n{n}\"}}\n")).collect();
    assert_eq!(fixture.brief(rows(&json)), "added 300 notes");
    let undone = fixture.brief(Action::Undo { steps: 1 });
    assert!(undone.starts_with("300 notes are removed again: \"n0\", \"n1\","), "{undone}");
    assert_eq!(
        fixture.brief(Action::Undo { steps: 1 }),
        "2 notes are removed again: \"ahash\", \"mio\""
    );
    let nothing = fixture.fault(Action::Undo { steps: 1 });
    assert_eq!((nothing.code, nothing.message.as_str()), (Code::Refused, "nothing to undo"));
}

#[test]
fn change_is_undone_once_and_only_if_it_is_the_latest() {
    let mut fixture = Fixture::new();
    let added = fixture.add("a", "one", &["t"]);
    let edited = fixture.done(edit(1, 1, "two"));
    let stale = fixture.fault(undo_of(&added));
    assert_eq!(stale.code, Code::Failed);
    let undone = fixture.done(undo_of(&edited));
    assert_eq!(
        (undone.brief.as_str(), read(&fixture, "n1").as_str()),
        ("\"a\" has its earlier text again, 1 line", "one")
    );
    assert_eq!(fixture.fault(undo_of(&edited)).code, Code::Failed);
    fixture.done(undo_of(&undone));
    assert_eq!(read(&fixture, "n1"), "two");
    // The search index is undone too.
    assert_eq!(fixture.ask(search("one")), "0 of 1 note\n");
    assert_eq!(fixture.ask(search("two")), "1 of 1 note\n[a] #t 1: two\n");
    let other = fixture.add("b", "x", &["only"]);
    assert_eq!(fixture.brief(undo_of(&other)), "\"b\" is removed again");
    assert_eq!(fixture.shown(), ["n1"]);
    assert_eq!(fixture.ask(filter("only")), "0 of 1 note\ntags: t 1\n");
    assert_eq!(fixture.fault(Action::UndoChange { change: "7".into() }).code, Code::Usage);
    assert_eq!(fixture.fault(Action::UndoChange { change: "c999".into() }).code, Code::NotFound);
}

#[test]
fn sessions_on_one_store_share_entries_but_not_levels() {
    let mut one = Fixture::new();
    let mut two = open(&one.dir, "b", &[crate::common::STORE]).unwrap();
    one.add("from one", "x", &[]);
    let before = two.project(Lod::Summary, 500).unwrap();
    assert_eq!(before.title, "1 entry");
    done(&mut two, edit(1, 1, "changed by two"));
    let after = one.host.project(Lod::Summary, 500).unwrap();
    let text = format!("{:?}", after.content);
    assert!(text.contains("changed by two"), "{text}");
    assert_eq!(one.fault(append(1, 1, "x")).code, Code::Stale);
    // Folding an entry in one session does not affect the other.
    done(&mut two, Action::Fold { entry: at(1, 2) });
    assert_eq!(one.host.project(Lod::Summary, 500).unwrap(), after);
}

#[test]
fn attach_with_another_store_is_refused() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.host.attach(&[]).unwrap(), Vec::<String>::new());
    fixture.host.attach(&["./notes.db"]).unwrap();
    let other = fixture.host.attach(&["other.db"]).unwrap_err();
    assert!(other.hints[0].contains("pipemux open notebook/other "), "{other:?}");
    let none: Result<docui::testing::Host<Notebook>, _> = open(&fixture.dir, "x", &["a", "b"]);
    assert_eq!(none.err().map(|fault| fault.code), Some(Code::Usage));
}

#[test]
fn later_steps_of_a_run_accept_its_own_changes() {
    let mut fixture = Fixture::new();
    fixture.add("a", "one\n", &[]);
    // Both steps name what the reader saw: rev 1.
    let first = fixture.host.invoke(&append(1, 1, "two"));
    let second = fixture.host.step_as("default", 1, &append(1, 1, "three"));
    assert!(matches!((&first, &second), (Outcome::Done(_), Outcome::Done(_))), "{second:?}");
    assert_eq!(read(&fixture, "n1"), "one\ntwo\nthree");
    // Another run that saw rev 1 is refused, at its first step and at a later one.
    for outcome in [
        fixture.host.invoke(&append(1, 1, "four")),
        fixture.host.step_as("default", 1, &append(1, 1, "four")),
    ] {
        let Outcome::Failed(fault) = outcome else { panic!("{outcome:?}") };
        assert_eq!(fault.code, Code::Stale);
    }
    assert_eq!(read(&fixture, "n1"), "one\ntwo\nthree");
}
