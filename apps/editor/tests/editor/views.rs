//! What a window shows, and what it costs.

use docui::tokens::estimate;

use crate::support::*;

#[test]
fn window_shows_a_page_with_links_for_the_next_moves() {
    let mut session = TestSession::with(&[("parse.rs", &numbered(412))]);
    let view = session.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(view.title, "parse.rs · 412 lines");
    assert_eq!(view.position.as_deref(), Some("lines 1-40"));
    let Piece::Code(code) = &view.content[0] else { panic!("{:?}", view.content) };
    assert_eq!(
        (code.lang.as_str(), code.first, code.text.as_str()),
        ("rust", Some(1), &*numbered(40))
    );
    assert!(view.hidden_tokens > 1_000);
    let labels = |session: &mut TestSession| {
        let nav = session.host.project(Lod::Summary, 2_000).unwrap().nav;
        nav.into_iter().map(|link| link.label).collect::<Vec<_>>()
    };
    assert_eq!(labels(&mut session), ["next page"]);
    done(session.click(&view.nav[0]));
    let next = session.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(next.position.as_deref(), Some("lines 41-80"));
    session.done(&replace_lines(50, 50, "x"));
    assert_eq!(labels(&mut session), ["previous page", "next page", "undo"]);
    session.done(&undo());
    assert_eq!(labels(&mut session), ["previous page", "next page", "redo"]);
    session.done(&Action::Goto { line: at(412) });
    let last = session.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(last.position.as_deref(), Some("lines 373-412"));
    let gist = session.host.project(Lod::Gist, 2_000).unwrap();
    assert!(gist.content.is_empty() && gist.nav.is_empty());
    let full = session.host.project(Lod::Full, 100_000).unwrap();
    assert_eq!(full.position.as_deref(), Some("lines 1-412"));
    assert_eq!(full.hidden_tokens, 0);
}

#[test]
fn huge_file_costs_no_more_than_a_page() {
    let mut session = TestSession::with(&[("big.txt", &numbered(200_000))]);
    session.done(&Action::Goto { line: at(150_000) });
    for (lod, budget) in
        [(Lod::Summary, 800), (Lod::Full, 3_000), (Lod::Summary, 60), (Lod::Full, 0)]
    {
        let shown = session.host.text(lod, budget).unwrap();
        assert!(estimate(&shown) <= u64::from(budget).max(60), "{} of {budget}", estimate(&shown));
    }
    session.done(&find("9"));
    for budget in [100, 150, 400] {
        let view = session.host.project(Lod::Summary, budget).unwrap();
        let text = |piece: &Piece| match piece {
            Piece::Code(code) => estimate(&code.text) + 3 * code.text.lines().count() as u64,
            Piece::Object(object) => estimate(&object.label) + 6,
            Piece::Text(text) => estimate(text),
            Piece::Link(_) | Piece::Embed(_) => 0,
        };
        let cost: u64 = view.content.iter().map(text).sum();
        assert!(cost <= u64::from(budget), "{cost} of {budget}");
    }
    // The next page starts where the first one ended, however short it was.
    let first = session.host.project(Lod::Full, 300).unwrap();
    let next = first.nav.iter().find(|link| link.label == "next page").unwrap();
    done(session.click(next));
    let second = session.host.project(Lod::Full, 300).unwrap();
    assert_ne!(first.position, second.position);
}

#[test]
fn lines_changed_outside_of_the_page_are_shown_below_it() {
    let mut session = TestSession::with(&[("a.txt", &numbered(100))]);
    session.done(&replace_lines(58, 58, "changed"));
    let shown = session.host.text(Lod::Summary, 2_000).unwrap();
    assert!(shown.contains("40\tline 40\n") && shown.ends_with("58\tchanged\n"), "{shown}");
    session.done(&replace_lines(2, 2, "here"));
    let shown = session.host.text(Lod::Summary, 2_000).unwrap();
    assert!(shown.ends_with("40\tline 40\n"), "{shown}");
}

#[test]
fn changed_lines_that_are_not_shown_are_named_with_the_way_to_them() {
    let mut session = TestSession::with(&[("a.txt", &numbered(400))]);
    let all = replace_all("line 2", "LINE 2");
    session.done(&all);
    let note = |shown: &str| {
        let last = shown.lines().last().unwrap().to_owned();
        assert!(last.starts_with('…'), "{shown}");
        last
    };
    let shown = session.host.text(Lod::Summary, 2_000).unwrap();
    assert!(shown.contains("207\tLINE 207\n") && !shown.contains("208\t"), "{shown}");
    let expected = "… 92 more changed lines: 208-299 · pipemux run 'editor.goto(208)'";
    assert_eq!(note(&shown), expected);
    // The same view again says the same. Whoever follows the note sees each of them.
    assert_eq!(session.host.text(Lod::Summary, 2_000).unwrap(), shown);
    let mut seen = shown;
    for _ in 0..4 {
        let note = note(&seen);
        let (_, line) = note.split_once("goto(").unwrap();
        session.goto(line.trim_end_matches(")'"));
        let next = session.host.text(Lod::Summary, 2_000).unwrap();
        seen += &next;
        if (200..300).all(|n| seen.contains(&format!("{n}\tLINE {n}\n"))) {
            return;
        }
    }
    panic!("lines stay hidden: {seen}");
}

#[test]
fn lines_that_a_run_changed_before_it_scrolled_are_shown_or_named() {
    let mut session = TestSession::with(&[("a.txt", &numbered(400))]);
    session.done(&replace_all("line 2", "LINE 2"));
    assert!(matches!(session.host.step_as("default", 1, &goto("350")), Outcome::Done(_)));
    let shown = session.host.text(Lod::Summary, 2_000).unwrap();
    assert!(shown.contains("\n2\tLINE 2\n"), "{shown}");
    assert!(
        shown.ends_with(
            "… 103 more changed lines: 27-29, 200-299 · pipemux run 'editor.goto(27)'\n"
        ),
        "{shown}"
    );
}

#[test]
fn changed_lines_beyond_the_budget_are_named() {
    let mut session = TestSession::with(&[("a.txt", &numbered(100))]);
    session.done(&replace_all("line 9", "LINE 9"));
    for budget in [60, 120, 400, 2_000] {
        let shown = session.host.text(Lod::Summary, budget).unwrap();
        let listed = (1..=100).filter(|n| shown.contains(&format!("\n{n}\tLINE 9"))).count();
        let named = shown.lines().last().and_then(|line| line.strip_prefix("… "));
        let named: usize =
            named.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or_default();
        assert_eq!(listed + named, 11, "at {budget}: {shown}");
    }
}

#[test]
fn long_lines_and_control_characters_are_altered_in_the_view_only() {
    let long = "字".repeat(12_545);
    let text = format!("{long}\r\na\u{1b}[31mb\u{202e}c\r\n\ttab\r\n");
    let mut session = TestSession::with(&[("a.js", &text)]);
    let shown = session.view();
    assert!(shown.contains("… (+12,345 chars)\n"), "{shown}");
    assert!(shown.contains("2\ta\\u{001b}[31mb\\u{202e}c\n"), "{shown}");
    assert!(shown.contains("3\t\ttab\n") && !shown.contains('\r'));
    assert_eq!(value(&session.done(&Action::Lines { first: at(1), last: at(3) })), text);
    assert_eq!(session.text(), text);
    session.done(&replace_lines(3, 3, "end"));
    session.done(&save());
    assert_eq!(session.on_disk("a.js"), text.replace("\ttab", "end"));
}

#[test]
fn only_a_newline_ends_a_line() {
    let session = TestSession::with(&[("a.txt", "a\rb\u{2028}c\u{85}d\u{b}e\u{c}f\n")]);
    assert_eq!(session.host.app().unwrap().current().unwrap().buffer().line_count(), 1);
}

#[test]
fn open_files_are_listed_with_the_current_one_marked() {
    let mut session = TestSession::holding(&[("a.rs", "a\n"), ("b.rs", "b\n")]);
    let shown = session.view();
    let a = session.path("a.rs").canonicalize().unwrap();
    let expected = format!("[a.rs](obj:{}) · [b.rs]", a.display());
    assert!(shown.contains(&expected) && shown.contains(") current\n"), "{shown}");
    session.done(&insert(1, "x"));
    session.goto("a.rs:1");
    assert!(session.view().contains(") unsaved\n"));
    assert_eq!(session.text(), "a\n");
}

#[test]
fn window_features_four_actions_and_lists_one() {
    use pipemux_proto::prototype::Prominence;
    let prototypes = <Action as docui::Actions>::prototypes();
    let with = |wanted| {
        let found = prototypes.iter().filter(|p| p.prominence == wanted);
        found.map(|p| p.compact()).collect::<Vec<_>>()
    };
    assert_eq!(
        with(Prominence::Featured),
        [
            "find(text, in = [], word = false, regex = false, case = true, only?: 'code'|'comments'|'strings', not?, with?, count = false, min = 0, all = false)",
            "replace(old, new, in = [], word = false, regex = false, case = true, only?: 'code'|'comments'|'strings', not?, all = false)",
            "replace_lines(first: line, last: line, text)",
            "move_lines(first: line, last: line, before: line)",
        ]
    );
    assert_eq!(with(Prominence::Listed), ["undo(steps = 1, change?)"]);
    assert_eq!(with(Prominence::Help).len(), 28);
}

#[test]
fn very_long_line_is_shown_around_its_latest_change() {
    let text = format!("{}let deep=1;{}\nlast\n", "a=字;".repeat(5_000), "b();".repeat(5_000));
    let mut session = TestSession::with(&[("min.js", &text)]);
    assert!(!session.view().contains("deep"));
    session.done(&replace("let deep=1;", "let deep=2;"));
    let shown = session.host.text(Lod::Summary, 2_000).unwrap();
    assert!(shown.contains("1\t(+19,909 chars) …") && shown.contains("let deep=2;b();"), "{shown}");
    assert!(shown.contains("… (+19,902 chars)\n2\tlast"), "{shown}");
    // Finding something leaves the page as it is.
    session.done(&find("deep=2"));
    assert!(session.view().contains("1\t(+19,909 chars) …"));
    // Replacing the whole line by a similar one counts as a change of the part that differs.
    let whole = session.text().lines().next().unwrap().replace("deep=2", "deep=3");
    session.done(&replace_lines(1, 1, &whole));
    assert!(session.view().contains("let deep=3;"));
    session.done(&undo());
    assert!(session.view().contains("let deep=2;"));
    session.done(&Action::Goto { line: at(1) });
    assert!(!session.view().contains("deep"));
}

#[test]
fn commands_in_hints_use_the_registered_name_of_the_app() {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("a.txt"), "a\n").unwrap();
    let open = |address: &str| {
        let mut host =
            Host::<Editor>::open_as(address, &["a.txt"], dir.path(), state.path()).unwrap();
        let hint = failed(host.invoke(&goto("b.txt:1"))).hints.remove(0);
        done(host.invoke(&close()));
        (hint, host.text(Lod::Full, 1_000).unwrap())
    };
    let (hint, nothing) = open("ed/two");
    assert_eq!(hint, "pipemux run 'ed/two.open(\"b.txt\")'");
    assert!(nothing.contains("pipemux open ed/two <path>"), "{nothing}");
    assert_eq!(open("ed/main").0, "pipemux run 'ed.open(\"b.txt\")'");
}
