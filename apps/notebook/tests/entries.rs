//! Adding, changing and removing entries, and undo.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Fixture, add, append, at, copied, done, edit, filter, open, search};
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
        text,
        tags: vec![],
        summary: String::new(),
        gist: String::new(),
    };
    assert_eq!(fixture.brief(action), "\"old parser\", 2 lines from src/parse.rs:101-300");
    let more = Action::Append { entry: at(1, 1), text: copied("x", "editor/b", "b.rs:1-1") };
    assert_eq!(fixture.brief(more), "\"old parser\", 1 line more from b.rs:1-1, now 3 lines");
    let full = fixture.restart().host.text(Lod::Full, 1000).unwrap();
    assert!(full.contains("from editor/main src/parse.rs:101-300, editor/b b.rs:1-1\n"), "{full}");
}

#[test]
fn each_change_raises_the_rev_and_makes_older_refs_stale() {
    let mut fixture = Fixture::new();
    fixture.add("a", "one\n", &[]);
    assert_eq!(fixture.brief(append(1, 1, "two")), "\"a\", 1 line more, now 2 lines");
    assert_eq!(read(&fixture, "n1"), "one\ntwo");
    assert_eq!(fixture.brief(append(1, 2, "three")), "\"a\", 1 line more, now 3 lines");
    assert_eq!(fixture.brief(edit(1, 3, "all new")), "\"a\", 1 line");
    let rename = |rev, title: &str| Action::Rename { entry: at(1, rev), title: title.into() };
    assert_eq!(fixture.brief(rename(4, "b")), "\"a\" is now \"b\"");
    let tag = Action::Tag { entry: at(1, 5), tags: vec!["x".into(), " w".into()] };
    assert_eq!(fixture.brief(tag), "\"b\": w, x");
    let stale = fixture.fault(edit(1, 5, "lost update"));
    assert_eq!((stale.code, stale.key.as_deref()), (Code::Stale, Some("n1")));
    assert_eq!(read(&fixture, "n1"), "all new");
    // A change that makes no difference does not raise the rev.
    assert!(fixture.brief(rename(6, "b")).starts_with("nothing changed"));
    fixture.done(edit(1, 6, "again"));
    // Folding is not a change of meaning.
    fixture.done(Action::Expand { entry: at(1, 7) });
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

#[test]
fn removal_is_confirmed_and_its_id_is_never_reused() {
    let mut fixture = Fixture::new();
    fixture.add("keep", "x", &[]);
    fixture.add("Release plan", "1\n2\n3\n", &[]);
    let remove = Action::Remove { entry: vec![at(2, 1)] };
    let Outcome::Needs(asked) = fixture.host.invoke(&remove) else { panic!("should ask") };
    assert_eq!(asked.question.text, "\"Release plan\", 3 lines, cannot be undone");
    assert_eq!(fixture.shown(), ["n2", "n1"]);
    let Outcome::Done(removed) = fixture.host.answer(Choice::Yes) else { panic!("should remove") };
    assert_eq!(removed.brief, "\"Release plan\", 3 lines");
    assert_eq!(fixture.shown(), ["n1"]);
    let mut fixture = fixture.restart();
    fixture.add("next", "x", &[]);
    assert_eq!(fixture.shown(), ["n3", "n1"]);
    let gone = fixture.fault(edit(2, 1, "x"));
    assert_eq!((gone.code, gone.hints), (Code::NotFound, vec!["It was removed".to_owned()]));
    assert_eq!(fixture.fault(edit(99, 1, "x")).hints, Vec::<String>::new());
    fixture.done(search("Release"));
    assert!(fixture.text().contains("0 results for \"Release\""));
}

#[test]
fn several_entries_are_removed_together_or_not_at_all() {
    let mut fixture = Fixture::new();
    for (title, text) in
        [("Release plan", "1\n2\n"), ("old 解析器", "x"), ("keep", "y"), ("Meeting", "")]
    {
        fixture.add(title, text, &[]);
    }
    let remove = |entries: &[(u64, u64)]| Action::Remove {
        entry: entries.iter().map(|(id, rev)| at(*id, *rev)).collect(),
    };
    assert_eq!(fixture.fault(remove(&[])).code, Code::Usage);
    // An entry that is named twice counts once.
    let Outcome::Needs(asked) = fixture.host.invoke(&remove(&[(1, 1), (2, 1), (4, 1), (1, 1)]))
    else {
        panic!("should ask")
    };
    assert_eq!(asked.question.text, "3 entries, 3 lines, cannot be undone");
    let titles: Vec<_> = asked.question.options.iter().map(|option| &option.label).collect();
    assert_eq!(titles, ["Release plan", "old 解析器", "Meeting"]);
    // Somebody changes one of them after the question, so none is removed.
    let mut other = open(&fixture.dir, "b", &[common::STORE]).unwrap();
    done(&mut other, edit(4, 1, "precious"));
    let Outcome::Failed(stale) = fixture.host.answer(Choice::Yes) else {
        panic!("should be stale")
    };
    assert_eq!((stale.code, stale.key.as_deref()), (Code::Stale, Some("n4")));
    assert_eq!(fixture.shown(), ["n4", "n3", "n2", "n1"]);
    fixture.host.invoke(&remove(&[(1, 1), (2, 1), (4, 2)]));
    let Outcome::Done(removed) = fixture.host.answer(Choice::Yes) else { panic!("should remove") };
    assert_eq!(removed.brief, "3 entries, 4 lines");
    assert_eq!(fixture.shown(), ["n3"]);
    assert_eq!(read(&fixture, "n3"), "y");
}

#[test]
fn confirmation_lists_twenty_entries_and_counts_the_others() {
    let mut fixture = Fixture::new();
    for n in 0..25 {
        fixture.add(&format!("entry {n}"), "x", &[]);
    }
    let all = Action::Remove { entry: (1..=25).map(|id| at(id, 1)).collect() };
    let Outcome::Needs(asked) = fixture.host.invoke(&all) else { panic!("should ask") };
    assert_eq!(asked.question.text, "25 entries, 25 lines, cannot be undone");
    assert_eq!((asked.question.options.len(), asked.question.unlisted), (20, 5));
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
        ("\"a\" is restored", "one")
    );
    assert_eq!(fixture.fault(undo_of(&edited)).code, Code::Failed);
    fixture.done(undo_of(&undone));
    assert_eq!(read(&fixture, "n1"), "two");
    // The search index is undone too.
    assert_eq!(fixture.brief(search("one")), "0 results for \"one\"");
    assert_eq!(fixture.brief(search("two")), "1 result for \"two\"");
    fixture.done(Action::ShowAll {});
    let other = fixture.add("b", "x", &["only"]);
    assert_eq!(fixture.brief(undo_of(&other)), "\"b\" is removed again");
    assert_eq!(fixture.shown(), ["n1"]);
    assert_eq!(fixture.fault(filter("only")).hints, ["tags: t"]);
    assert_eq!(fixture.fault(Action::Undo { change: "7".into() }).code, Code::Usage);
    assert_eq!(fixture.fault(Action::Undo { change: "c999".into() }).code, Code::NotFound);
}

#[test]
fn sessions_on_one_store_share_entries_but_not_levels() {
    let mut one = Fixture::new();
    let mut two = open(&one.dir, "b", &[common::STORE]).unwrap();
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
