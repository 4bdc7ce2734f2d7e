//! What an edit would do, shown without doing it.

use docui::Choice;

use crate::support::*;

const GREET: &str = "fn greet() {}\n\nfn main() {\n    greet();\n}\n";

fn rename(symbol: &str, new: &str) -> Action {
    Action::Rename { symbol: line_of(symbol), new: new.into(), r#in: Vec::new() }
}

#[test]
fn preview_names_files_and_places_and_changes_nothing() {
    let mut session = TestSession::with(&[("深い b.rs", "fn other() {}\n"), ("a.rs", GREET)]);
    session.view();
    let version = session.seen_version();
    let shown = done(session.host.preview(&replace_all("greet", "hail")));
    assert_eq!(shown.brief, "would change 2 places in 1 file: a.rs (2)");
    assert_eq!(
        content(&shown),
        "--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-fn greet() {}\n+fn hail() {}\n\
         @@ -4 +4 @@\n-    greet();\n+    hail();\n"
    );
    assert!(shown.links.is_empty() && shown.diff.is_none(), "there is nothing to undo: {shown:?}");
    assert_eq!(session.seen_version(), version);
    assert_eq!((session.text(), session.on_disk("a.rs")), (GREET.into(), GREET.into()));
    failed(session.host.invoke(&undo()));

    // What was shown is then done.
    let made = session.done(&rename("greet", "hail"));
    assert!(made.brief.contains("hail"), "{made:?}");
    let back = done(session.host.preview(&undo()));
    assert!(back.brief.starts_with("would change 2 places in 1 file"), "{back:?}");
    assert!(content(&back).contains("+fn greet() {}"), "{back:?}");
    assert!(session.on_disk("a.rs").contains("fn hail()"));
    session.done(&undo());
    assert_eq!(session.on_disk("a.rs"), GREET);
}

#[test]
fn preview_of_each_kind_of_edit_leaves_the_disk_as_it_is() {
    let text_of = "fn a() {}\nfn b() {}\n\nfn c() {\n    1 + 1;\n}\n";
    let mut session = TestSession::with(&[("a.rs", text_of)]);
    session.view();
    let create = |path: &str| Action::Create {
        path: path.into(),
        text: docui::Data::from(text("new\n")),
        overwrite: true,
    };
    let patch = "--- a.rs\n+++ a.rs\n@@ -1,2 +1,2 @@\n-fn a() {}\n+fn x() {}\n fn b() {}\n";
    let edits = [
        replace_lines(1, 1, "fn z() {}"),
        move_lines(1, 1, 3),
        delete_lines(1, 2),
        insert(1, "// first"),
        create("new/深い.rs"),
        create("a.rs"),
        rename("a", "z"),
        Action::Delete { range: line_of("b") },
        Action::Swap { one: line_of("a"), other: line_of("b") },
        Action::ReplaceBody { symbol: line_of("c"), text: text("2;") },
        Action::Apply { patch: text(patch) },
    ];
    for edit in edits {
        let shown = done(session.host.preview(&edit));
        assert!(shown.brief.starts_with("would change "), "{edit:?}: {shown:?}");
        assert!(content(&shown).contains("+++ "), "{edit:?}: {shown:?}");
        assert_eq!(session.on_disk("a.rs"), text_of, "{edit:?}");
        assert!(!session.path("new").exists(), "{edit:?}");
    }
    let nothing = done(session.host.preview(&replace_lines(1, 1, "fn a() {}")));
    assert_eq!(nothing.brief, "no change: line 1 already match");
    // What would fail fails.
    let fault = failed(session.host.preview(&rename("nowhere", "z")));
    assert!(fault.message.contains("nowhere"), "{fault:?}");
}

#[test]
fn question_is_shown_without_being_asked() {
    let mut session = TestSession::with(&[("a.txt", "x\nx\n")]);
    session.view();
    let shown = done(session.host.preview(&replace("x", "y")));
    assert_eq!(shown.brief, "asks first: 2 matches");
    assert_eq!(content(&shown), "line 1: x\nline 2: x\n");
    assert_eq!(session.text(), "x\nx\n");
    // The question itself is asked as before.
    session.asks(&replace("x", "y"));
    assert_eq!(done(session.host.answer(Choice::Picked(vec![1]))).brief, "1 of 2 matches");

    // Somebody else's change is asked about before it is overwritten; the preview tells, and writes
    // nothing.
    session.write_externally("a.txt", "theirs\n");
    let shown = session.host.preview(&replace_lines(2, 2, "mine"));
    let shown = format!("{shown:?}");
    assert!(shown.contains("a.txt") || shown.contains("stale"), "{shown}");
    assert_eq!(session.on_disk("a.txt"), "theirs\n");
}

#[test]
fn preview_of_many_files_counts_those_that_it_does_not_name() {
    let names: Vec<String> = (0..40).map(|n| format!("f{n:02}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "word\n")).collect();
    let mut session = TestSession::with(&files);
    session.view();
    let Action::Replace { old, new, word, regex, case, only, not, all, .. } =
        replace_all("word", "words")
    else {
        panic!()
    };
    let r#in = vec!["*.txt".into()];
    let everywhere = Action::Replace { old, new, r#in, word, regex, case, only, not, all };
    let shown = done(session.host.preview(&everywhere));
    assert!(shown.brief.starts_with("would change 40 places in 40 files: f00.txt (1), "));
    assert!(shown.brief.ends_with(", 28 more"), "{}", shown.brief);
    assert!(content(&shown).len() < 6_000);
    assert!(names.iter().all(|name| session.on_disk(name) == "word\n"));
}
