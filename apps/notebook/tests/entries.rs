//! Adding, changing, removing entries, and taking that back.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, add, append, at, copied, done, edit, filter, open, search};
use docui::{Choice, Lod};
use pipemux_notebook::Action;
use pipemux_notebook::app::Notebook;
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::fault::Code;

/// The change that an answer's first link takes back.
fn undo_of(done: &Done) -> Action {
    let link = &done.links[0];
    <Action as docui::Actions>::decode(&link.action, link.args.clone()).unwrap()
}

fn read(desk: &Desk, key: &str) -> String {
    let bytes = docui::App::read(desk.host.app().unwrap(), key).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn an_entry_outlives_the_process_exactly() {
    let mut desk = Desk::new();
    let text = "Zeile 1\r\n\t数据库 🦀 \"\\ ```\n# [x](obj:1)\n\nno newline at the end";
    assert_eq!(desk.add("Plan: 発売", text, &["q2", "plan"]).brief, "\"Plan: 発売\", 5 lines");
    let mut desk = desk.restart();
    assert_eq!(read(&desk, "n1"), text);
    let shown = desk.text();
    assert!(shown.starts_with("## 1 entry\n"), "{shown}");
    assert!(shown.contains("[Plan: 発売](obj:n1) 5 lines · plan, q2 [expand](link:expand)"));
}

#[test]
fn provenance_is_told_and_kept() {
    let mut desk = Desk::new();
    let text = copied("fn a() {}\nfn b() {}\n", "editor/main", "src/parse.rs:101-300");
    let action = Action::Add {
        title: "old parser".into(),
        text,
        tags: vec![],
        summary: String::new(),
        gist: String::new(),
    };
    assert_eq!(desk.brief(action), "\"old parser\", 2 lines from src/parse.rs:101-300");
    let more = Action::Append { entry: at(1, 1), text: copied("x", "editor/b", "b.rs:1-1") };
    assert_eq!(desk.brief(more), "\"old parser\", 1 line more from b.rs:1-1, now 3 lines");
    let full = desk.restart().host.text(Lod::Full, 1000).unwrap();
    assert!(full.contains("from editor/main src/parse.rs:101-300, editor/b b.rs:1-1\n"), "{full}");
}

#[test]
fn each_change_raises_the_rev_and_old_refs_are_stale() {
    let mut desk = Desk::new();
    desk.add("a", "one\n", &[]);
    assert_eq!(desk.brief(append(1, 1, "two")), "\"a\", 1 line more, now 2 lines");
    assert_eq!(read(&desk, "n1"), "one\ntwo");
    assert_eq!(desk.brief(append(1, 2, "three")), "\"a\", 1 line more, now 3 lines");
    assert_eq!(desk.brief(edit(1, 3, "all new")), "\"a\", 1 line");
    let rename = |rev, title: &str| Action::Rename { entry: at(1, rev), title: title.into() };
    assert_eq!(desk.brief(rename(4, "b")), "\"a\" is now \"b\"");
    let tag = Action::Tag { entry: at(1, 5), tags: vec!["x".into(), " w".into()] };
    assert_eq!(desk.brief(tag), "\"b\": w, x");
    let stale = desk.fault(edit(1, 5, "lost update"));
    assert_eq!((stale.code, stale.key.as_deref()), (Code::Stale, Some("n1")));
    assert_eq!(read(&desk, "n1"), "all new");
    // What makes no difference raises nothing.
    assert!(desk.brief(rename(6, "b")).starts_with("nothing changed"));
    desk.done(edit(1, 6, "again"));
    // Folding is not a change of meaning.
    desk.done(Action::Expand { entry: at(1, 7) });
    desk.done(Action::Fold { entry: at(1, 7) });
}

#[test]
fn bad_parts_are_refused_with_what_was_expected() {
    let mut desk = Desk::new();
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
        let fault = desk.fault(action);
        assert!(fault.message.contains(word), "{fault}");
    }
    desk.add("full", &"x".repeat(512 * 1024), &[]);
    assert_eq!(desk.fault(append(1, 1, "y")).code, Code::Refused);
    assert_eq!(desk.fault(edit(9, 1, "y")).code, Code::NotFound);
    assert_eq!(desk.shown(), ["n1"]);
}

#[test]
fn removing_asks_and_an_id_is_never_given_again() {
    let mut desk = Desk::new();
    desk.add("keep", "x", &[]);
    desk.add("Release plan", "1\n2\n3\n", &[]);
    let remove = Action::Remove { entry: vec![at(2, 1)] };
    let Outcome::Needs(asked) = desk.host.invoke(&remove) else { panic!("should ask") };
    assert_eq!(asked.question.text, "\"Release plan\", 3 lines, cannot be undone");
    assert_eq!(desk.shown(), ["n2", "n1"]);
    let Outcome::Done(removed) = desk.host.answer(Choice::Yes) else { panic!("should remove") };
    assert_eq!(removed.brief, "\"Release plan\", 3 lines");
    assert_eq!(desk.shown(), ["n1"]);
    let mut desk = desk.restart();
    desk.add("next", "x", &[]);
    assert_eq!(desk.shown(), ["n3", "n1"]);
    let gone = desk.fault(edit(2, 1, "x"));
    assert_eq!((gone.code, gone.hints), (Code::NotFound, vec!["It was removed".to_owned()]));
    assert_eq!(desk.fault(edit(99, 1, "x")).hints, Vec::<String>::new());
    desk.done(search("Release"));
    assert!(desk.text().contains("0 results for \"Release\""));
}

#[test]
fn several_are_removed_together_or_not_at_all() {
    let mut desk = Desk::new();
    for (title, text) in
        [("Release plan", "1\n2\n"), ("old 解析器", "x"), ("keep", "y"), ("Meeting", "")]
    {
        desk.add(title, text, &[]);
    }
    let remove = |entries: &[(u64, u64)]| Action::Remove {
        entry: entries.iter().map(|(id, rev)| at(*id, *rev)).collect(),
    };
    assert_eq!(desk.fault(remove(&[])).code, Code::Usage);
    // One that is named twice counts once.
    let Outcome::Needs(asked) = desk.host.invoke(&remove(&[(1, 1), (2, 1), (4, 1), (1, 1)])) else {
        panic!("should ask")
    };
    assert_eq!(asked.question.text, "3 entries, 3 lines, cannot be undone");
    let titles: Vec<_> = asked.question.options.iter().map(|option| &option.label).collect();
    assert_eq!(titles, ["Release plan", "old 解析器", "Meeting"]);
    // Changed by somebody after the question: nothing of what was confirmed is removed.
    let mut other = open(&desk.dir, "b", &[common::STORE]).unwrap();
    done(&mut other, edit(4, 1, "precious"));
    let Outcome::Failed(stale) = desk.host.answer(Choice::Yes) else { panic!("should be stale") };
    assert_eq!((stale.code, stale.key.as_deref()), (Code::Stale, Some("n4")));
    assert_eq!(desk.shown(), ["n4", "n3", "n2", "n1"]);
    desk.host.invoke(&remove(&[(1, 1), (2, 1), (4, 2)]));
    let Outcome::Done(removed) = desk.host.answer(Choice::Yes) else { panic!("should remove") };
    assert_eq!(removed.brief, "3 entries, 4 lines");
    assert_eq!(desk.shown(), ["n3"]);
    assert_eq!(read(&desk, "n3"), "y");
}

#[test]
fn a_long_list_to_remove_is_counted_past_a_bound() {
    let mut desk = Desk::new();
    for n in 0..25 {
        desk.add(&format!("entry {n}"), "x", &[]);
    }
    let all = Action::Remove { entry: (1..=25).map(|id| at(id, 1)).collect() };
    let Outcome::Needs(asked) = desk.host.invoke(&all) else { panic!("should ask") };
    assert_eq!(asked.question.text, "25 entries, 25 lines, cannot be undone");
    assert_eq!((asked.question.options.len(), asked.question.unlisted), (20, 5));
}

#[test]
fn a_change_is_taken_back_once_and_only_when_nothing_followed() {
    let mut desk = Desk::new();
    let added = desk.add("a", "one", &["t"]);
    let edited = desk.done(edit(1, 1, "two"));
    let stale = desk.fault(undo_of(&added));
    assert_eq!(stale.code, Code::Stale);
    let undone = desk.done(undo_of(&edited));
    assert_eq!((undone.brief.as_str(), read(&desk, "n1").as_str()), ("\"a\" is as before", "one"));
    assert_eq!(desk.fault(undo_of(&edited)).code, Code::Stale);
    desk.done(undo_of(&undone));
    assert_eq!(read(&desk, "n1"), "two");
    // The index follows.
    assert_eq!(desk.brief(search("one")), "0 results for \"one\"");
    assert_eq!(desk.brief(search("two")), "1 result for \"two\"");
    desk.done(Action::ShowAll {});
    let other = desk.add("b", "x", &["only"]);
    assert_eq!(desk.brief(undo_of(&other)), "\"b\" is out again");
    assert_eq!(desk.shown(), ["n1"]);
    assert_eq!(desk.fault(filter("only")).hints, ["tags: t"]);
    assert_eq!(desk.fault(Action::Undo { change: "7".into() }).code, Code::Usage);
    assert_eq!(desk.fault(Action::Undo { change: "c999".into() }).code, Code::NotFound);
}

#[test]
fn two_sessions_share_a_store() {
    let mut one = Desk::new();
    let mut two = open(&one.dir, "b", &[common::STORE]).unwrap();
    one.add("from one", "x", &[]);
    let before = two.project(Lod::Summary, 500).unwrap();
    assert_eq!(before.title, "1 entry");
    done(&mut two, edit(1, 1, "changed by two"));
    let after = one.host.project(Lod::Summary, 500).unwrap();
    let text = format!("{:?}", after.content);
    assert!(text.contains("changed by two"), "{text}");
    assert_eq!(one.fault(append(1, 1, "x")).code, Code::Stale);
    // Folding in one session is not seen in the other.
    done(&mut two, Action::Fold { entry: at(1, 2) });
    assert_eq!(one.host.project(Lod::Summary, 500).unwrap(), after);
}

#[test]
fn an_attached_session_keeps_its_store() {
    let mut desk = Desk::new();
    assert_eq!(desk.host.attach(&[]).unwrap(), Vec::<String>::new());
    desk.host.attach(&["./notes.db"]).unwrap();
    let other = desk.host.attach(&["other.db"]).unwrap_err();
    assert!(other.hints[0].contains("pipemux open notebook/other "), "{other:?}");
    let none: Result<docui::testing::Host<Notebook>, _> = open(&desk.dir, "x", &["a", "b"]);
    assert_eq!(none.err().map(|fault| fault.code), Some(Code::Usage));
}

#[test]
fn a_run_goes_on_with_what_it_changed_itself() {
    let mut desk = Desk::new();
    desk.add("a", "one\n", &[]);
    // Both steps name what the reader saw: rev 1.
    let first = desk.host.invoke(&append(1, 1, "two"));
    let second = desk.host.step_as("default", 1, &append(1, 1, "three"));
    assert!(matches!((&first, &second), (Outcome::Done(_), Outcome::Done(_))), "{second:?}");
    assert_eq!(read(&desk, "n1"), "one\ntwo\nthree");
    // Another run that saw rev 1 is refused, and so is a later step of it.
    for outcome in [
        desk.host.invoke(&append(1, 1, "four")),
        desk.host.step_as("default", 1, &append(1, 1, "four")),
    ] {
        let Outcome::Failed(fault) = outcome else { panic!("{outcome:?}") };
        assert_eq!(fault.code, Code::Stale);
    }
    assert_eq!(read(&desk, "n1"), "one\ntwo\nthree");
}
