//! What a window shows and costs.

use docui::tokens::estimate;
use docui::{App, Found};

use super::*;

#[test]
fn a_window_shows_a_screenful_with_its_next_moves() {
    let mut desk = Desk::with(&[("parse.rs", &numbered(412))]);
    let view = desk.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(view.title, "parse.rs · 412 lines · saved");
    assert_eq!(view.position.as_deref(), Some("lines 1-40"));
    let Piece::Code(code) = &view.content[0] else { panic!("{:?}", view.content) };
    assert_eq!(
        (code.lang.as_str(), code.first, code.text.as_str()),
        ("rust", Some(1), &*numbered(40))
    );
    assert!(view.hidden_tokens > 1_000);
    let labels = |desk: &mut Desk| {
        let nav = desk.host.project(Lod::Summary, 2_000).unwrap().nav;
        nav.into_iter().map(|link| link.label).collect::<Vec<_>>()
    };
    assert_eq!(labels(&mut desk), ["next page"]);
    done(desk.click(&view.nav[0]));
    let next = desk.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(next.position.as_deref(), Some("lines 41-80"));
    desk.done(&replace_lines(50, 50, "x"));
    assert_eq!(labels(&mut desk), ["previous page", "next page", "undo", "save"]);
    desk.done(&undo());
    assert_eq!(labels(&mut desk), ["previous page", "next page", "redo"]);
    desk.done(&Action::Goto { line: at(412) });
    let last = desk.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(last.position.as_deref(), Some("lines 373-412"));
    let gist = desk.host.project(Lod::Gist, 2_000).unwrap();
    assert!(gist.content.is_empty() && gist.nav.is_empty());
    let full = desk.host.project(Lod::Full, 100_000).unwrap();
    assert_eq!(full.position.as_deref(), Some("lines 1-412"));
    assert_eq!(full.hidden_tokens, 0);
}

#[test]
fn a_huge_file_costs_a_screenful() {
    let mut desk = Desk::with(&[("big.txt", &numbered(200_000))]);
    desk.done(&Action::Goto { line: at(150_000) });
    for (lod, budget) in
        [(Lod::Summary, 800), (Lod::Full, 3_000), (Lod::Summary, 60), (Lod::Full, 0)]
    {
        let shown = desk.host.text(lod, budget).unwrap();
        assert!(estimate(&shown) <= u64::from(budget).max(60), "{} of {budget}", estimate(&shown));
    }
    desk.done(&Action::Find { text: "9".into() });
    for budget in [100, 150, 400] {
        let view = desk.host.project(Lod::Summary, budget).unwrap();
        let text = |piece: &Piece| match piece {
            Piece::Code(code) => estimate(&code.text) + 3 * code.text.lines().count() as u64,
            Piece::Object(object) => estimate(&object.label) + 6,
            Piece::Text(text) => estimate(text),
            Piece::Link(_) => 0,
        };
        let cost: u64 = view.content.iter().map(text).sum();
        assert!(cost <= u64::from(budget), "{cost} of {budget}");
    }
    // Pages go on, whatever fits one.
    let first = desk.host.project(Lod::Full, 300).unwrap();
    let next = first.nav.iter().find(|link| link.label == "next page").unwrap();
    done(desk.click(next));
    let second = desk.host.project(Lod::Full, 300).unwrap();
    assert_ne!(first.position, second.position);
}

#[test]
fn what_changed_out_of_view_is_shown_below() {
    let mut desk = Desk::with(&[("a.txt", &numbered(100))]);
    desk.done(&replace_lines(58, 58, "changed"));
    let shown = desk.host.text(Lod::Summary, 2_000).unwrap();
    assert!(shown.contains("40\tline 40\n") && shown.ends_with("58\tchanged\n"), "{shown}");
    desk.done(&replace_lines(2, 2, "here"));
    let shown = desk.host.text(Lod::Summary, 2_000).unwrap();
    assert!(shown.ends_with("40\tline 40\n"), "{shown}");
}

#[test]
fn long_lines_are_cut_and_controls_are_seen_in_the_view_alone() {
    let long = "字".repeat(12_545);
    let text = format!("{long}\r\na\u{1b}[31mb\u{202e}c\r\n\ttab\r\n");
    let mut desk = Desk::with(&[("a.js", &text)]);
    let shown = desk.look();
    assert!(shown.contains("… (+12,345 chars)\n"), "{shown}");
    assert!(shown.contains("2\ta␛[31mb⟨U+202E⟩c\n"), "{shown}");
    assert!(shown.contains("3\t\ttab\n") && !shown.contains('\r'));
    assert_eq!(value(&desk.done(&Action::Lines { first: at(1), last: at(3) })), text);
    assert_eq!(desk.text(), text);
    desk.done(&replace_lines(3, 3, "end"));
    desk.done(&save());
    assert_eq!(desk.on_disk("a.js"), text.replace("\ttab", "end"));
}

#[test]
fn only_a_newline_ends_a_line() {
    let desk = Desk::with(&[("a.txt", "a\rb\u{2028}c\u{85}d\u{b}e\u{c}f\n")]);
    assert_eq!(desk.host.app().unwrap().current().unwrap().buffer().line_count(), 1);
}

#[test]
fn several_files_are_listed_with_the_current_one_marked() {
    let mut desk = Desk::with(&[("a.rs", "a\n"), ("b.rs", "b\n")]);
    let shown = desk.look();
    let a = desk.path("a.rs").canonicalize().unwrap();
    let expected = format!("[a.rs](obj:{}) · [b.rs]", a.display());
    assert!(shown.contains(&expected) && shown.contains(") current\n"), "{shown}");
    desk.done(&insert(1, "x"));
    desk.go("a.rs:1");
    assert!(desk.look().contains(") unsaved\n"));
    assert_eq!(desk.text(), "a\n");
}

#[test]
fn found_places_are_listed_and_can_be_gone_to() {
    let mut desk = Desk::with(&[("a.txt", &numbered(300))]);
    let outcome = desk.done(&Action::Find { text: "line 29".into() });
    assert_eq!(outcome.brief, "11 matches on 11 lines, the first is 29");
    let objects = desk.objects();
    assert_eq!((objects.len(), objects[0].label.as_str()), (11, "line 29"));
    // The screenful stays where it is: a match stands in it.
    let view = desk.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(view.position.as_deref(), Some("lines 1-40"));
    let shown = desk.look();
    assert!(shown.contains(") line 29\n[line 290](obj:match-"), "{shown}");
    // They are no longer listed after the next edit.
    desk.done(&insert(1, "above"));
    assert!(desk.objects().is_empty());
    let hidden = desk.host.app().unwrap().find(&objects[1].key);
    assert!(
        matches!(hidden, Found::Hidden { rev: 0, how } if how == r#"pipemux run 'editor.goto("a.txt:291")'"#)
    );
    // Found again where it is, a match keeps its key.
    desk.done(&Action::Find { text: "line 29".into() });
    let moved = desk.objects();
    assert_eq!((moved[1].label.as_str(), &moved[1].key), ("line 291", &objects[1].key));
    desk.done(&Action::Goto { line: to(&moved[1]) });
    let view = desk.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(view.position.as_deref(), Some("lines 262-301"));
    assert!(desk.objects().is_empty());
    desk.done(&Action::Find { text: "line 7\n".into() });
    let view = desk.host.project(Lod::Summary, 2_000).unwrap();
    assert_eq!(view.position.as_deref(), Some("lines 5-44"));
    desk.done(&Action::Find { text: "line".into() });
    assert!(desk.look().contains("\n280 more matches\n"));
    assert_eq!(desk.failed(&Action::Find { text: "nowhere".into() }).message, "no match in a.txt");
    assert_eq!(desk.failed(&Action::Find { text: "LINE 7".into() }).hints.len(), 1);
    assert!(
        desk.failed(&Action::Find { text: String::new() }).message.starts_with("text is empty")
    );
}

#[test]
fn the_window_shows_three_actions_and_counts_the_rest() {
    use pipemux_proto::prototype::Prominence;
    let prototypes = <Action as docui::Actions>::prototypes();
    let with = |wanted| {
        let found = prototypes.iter().filter(|p| p.prominence == wanted);
        found.map(|p| p.compact()).collect::<Vec<_>>()
    };
    assert_eq!(
        with(Prominence::Featured),
        [
            "replace(old, new, all = false)",
            "replace_lines(first: line, last: line, text)",
            "move_lines(first: line, last: line, before: line)",
        ]
    );
    assert_eq!(with(Prominence::Listed), ["save()", "undo(steps = 1)"]);
    assert_eq!(with(Prominence::Help).len(), 11);
}

#[test]
fn a_match_is_marked_only_where_its_line_has_several_and_a_row_is_short() {
    let long = format!("{}needle{}", "字".repeat(500), "x".repeat(500));
    let mut desk = Desk::with(&[("a.txt", &format!("  one needle\nneedle, needle\r\n{long}\n"))]);
    desk.done(&Action::Find { text: "needle".into() });
    let shown = desk.look();
    let rows: Vec<_> = shown.lines().filter(|line| line.starts_with("[line ")).collect();
    let texts: Vec<_> = rows.iter().map(|row| row.split_once(") ").unwrap().1).collect();
    assert_eq!(texts[..3], ["one needle", "«needle», needle", "needle, «needle»"]);
    assert!(texts[3].chars().count() <= 80 && texts[3].contains("字needlexxx"), "{}", texts[3]);
    assert!(texts[3].starts_with('…') && texts[3].ends_with('…'), "{}", texts[3]);
}

#[test]
fn a_very_long_line_is_shown_around_what_changed_in_it() {
    let text = format!("{}let deep=1;{}\nlast\n", "a=字;".repeat(5_000), "b();".repeat(5_000));
    let mut desk = Desk::with(&[("min.js", &text)]);
    assert!(!desk.look().contains("deep"));
    desk.done(&replace("let deep=1;", "let deep=2;"));
    let shown = desk.host.text(Lod::Summary, 2_000).unwrap();
    assert!(shown.contains("1\t(+19,909 chars) …") && shown.contains("let deep=2;b();"), "{shown}");
    assert!(shown.contains("… (+19,902 chars)\n2\tlast"), "{shown}");
    // Finding something in view leaves what is shown as it is.
    desk.done(&Action::Find { text: "deep=2".into() });
    assert!(desk.look().contains("1\t(+19,909 chars) …"));
    // The same when the whole line was written anew.
    let whole = desk.text().lines().next().unwrap().replace("deep=2", "deep=3");
    desk.done(&replace_lines(1, 1, &whole));
    assert!(desk.look().contains("let deep=3;"));
    desk.done(&undo());
    assert!(desk.look().contains("let deep=2;"));
    desk.done(&Action::Goto { line: at(1) });
    assert!(!desk.look().contains("deep"));
}

#[test]
fn commands_name_the_app_as_it_is_registered() {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("a.txt"), "a\n").unwrap();
    let open = |address: &str| {
        let mut host =
            Host::<Editor>::open_as(address, &["a.txt"], dir.path(), state.path()).unwrap();
        let hint = failed(host.invoke(&Action::Goto { line: place("b.txt:1") })).hints.remove(0);
        done(host.invoke(&Action::Close { file: None }));
        (hint, host.text(Lod::Full, 1_000).unwrap())
    };
    let (hint, nothing) = open("ed/two");
    assert_eq!(hint, "pipemux run 'ed/two.open(\"b.txt\")'");
    assert!(nothing.contains("pipemux open ed/two <path>"), "{nothing}");
    assert_eq!(open("ed/main").0, "pipemux run 'ed.open(\"b.txt\")'");
}
