//! Levels of detail, folding, budgets.

use crate::common::{Fixture, add, append, at, expand};
use docui::{Lod, tokens};
use pipemux_notebook::Action;
use pipemux_notebook::action::LevelName;
use pipemux_proto::projection::Piece;

fn fold(id: u64) -> Action {
    Action::Fold { entry: at(id, 1) }
}

#[test]
fn each_entry_keeps_its_own_level_across_a_restart() {
    let mut fixture = Fixture::new();
    fixture.add("a", "a1\n\na2\na3\n", &["t"]);
    fixture.add("b", "b1", &[]);
    let both = "## 2 entries\n\n[b](obj:n2) 1 line\n  b1\n\
                [a](obj:n1) 4 lines · t [expand](link:expand)\n  a1\n  a2\n";
    assert_eq!(fixture.text(), both);
    assert_eq!(fixture.brief(expand(1, 1)), "\"a\": full");
    assert_eq!(fixture.brief(expand(1, 1)), "\"a\": full already");
    fixture.done(fold(2));
    assert_eq!(fixture.brief(fold(2)), "\"b\": gist already");
    let mut fixture = fixture.restart();
    let full = "## 2 entries\n\n[b](obj:n2)\n[a](obj:n1) 4 lines · t [collapse](link:collapse)\n\
                a1\n\na2\na3\n";
    assert_eq!(fixture.text(), full);
    fixture.done(fold(1));
    let summary = Action::Expand { entries: vec![at(2, 1)], level: Some(LevelName::Summary) };
    assert_eq!(fixture.brief(summary), "\"b\": summary");
    assert_eq!(fixture.text(), both);
    let several = Action::Collapse { entries: vec![at(1, 1), at(2, 1)] };
    assert_eq!(fixture.brief(several), "\"a\", \"b\": gist");
    assert_eq!(fixture.text(), "## 2 entries\n\n[b](obj:n2) [a](obj:n1)\n");
}

#[test]
fn focus_shows_the_other_entries_as_gists() {
    let mut fixture = Fixture::new();
    for title in ["a", "b", "c"] {
        fixture.add(title, "text", &[]);
    }
    let focus = |ids: &[u64]| Action::Focus { entries: ids.iter().map(|id| at(*id, 1)).collect() };
    assert_eq!(fixture.brief(focus(&[1])), "1 note in full, the others as gists");
    let focused = "## 3 entries\n[all as summaries](link:focus) \n\
                   [a](obj:n1) 1 line [collapse](link:collapse)\ntext[c](obj:n3) [b](obj:n2)\n";
    assert_eq!(fixture.text(), focused);
    // A new entry is shown as a summary all the same.
    fixture.add("d", "fresh", &[]);
    assert!(fixture.text().contains("[d](obj:n4) 1 line\n  fresh\n"));
    fixture.done(focus(&[]));
    assert!(fixture.text().contains("[b](obj:n2) 1 line\n  text\n"));
}

#[test]
fn summary_and_gist_of_the_author_are_marked_as_outdated() {
    let mut fixture = Fixture::new();
    fixture.done(Action::Add {
        title: "t".into(),
        text: "long text".into(),
        tags: vec![],
        summary: Some("in short\nvery".into()),
        gist: "shortest".into(),
    });
    assert!(fixture.text().contains("1 line [expand](link:expand)\n  in short\n  very\n"));
    fixture.done(fold(1));
    assert!(fixture.text().contains("[t](obj:n1) shortest\n"));
    fixture.done(append(1, 1, "more"));
    assert!(fixture.text().contains("[t](obj:n1) shortest\n"), "it still names the note");
    let to_summary = Some(LevelName::Summary);
    fixture.done(Action::Expand { entries: vec![at(1, 2)], level: to_summary });
    assert!(fixture.text().contains("(outdated)"), "{}", fixture.text());
    fixture.done(crate::common::edit(1, 2, "another text"));
    fixture.done(Action::Fold { entry: at(1, 3) });
    assert!(fixture.text().contains("[t](obj:n1) shortest (outdated)\n"));
}

#[test]
fn gist_view_has_one_line_of_titles() {
    let mut fixture = Fixture::new();
    let gist = |fixture: &mut Fixture, budget| fixture.host.text(Lod::Gist, budget).unwrap();
    assert!(gist(&mut fixture, 100).starts_with("## 0 entries\n\nNo entries yet."));
    for n in 0..14 {
        fixture.add(&format!("entry {n}"), "x\ny\nz", &[]);
    }
    let text = gist(&mut fixture, 1000);
    // How many titles fit depends on the estimate of tokens.
    let shown = text.matches("](obj:n").count();
    assert!((2..14).contains(&shown) && tokens::estimate(&text) < 100, "{text}");
    let start = format!("## {shown} of 14 entries\n\nnewest: [entry 13](obj:n14) [");
    assert!(text.starts_with(&start), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!(gist(&mut fixture, 1), "## 1 of 14 entries\n\nnewest: [entry 13](obj:n14)\n");
}

#[test]
fn view_of_five_hundred_entries_keeps_to_its_budget() {
    let mut fixture = Fixture::new();
    for n in 0..500 {
        fixture.add(&format!("Note {n}"), &"some words in a line\n".repeat(20), &["t"]);
    }
    for (lod, budget) in [(Lod::Summary, 400), (Lod::Summary, 3000), (Lod::Full, 2000)] {
        let text = fixture.host.text(lod, budget).unwrap();
        let spent = tokens::estimate(&text);
        assert!(spent > u64::from(budget) / 2 && spent < u64::from(budget) * 3 / 2, "{spent}");
        assert!(text.contains("[Note 499](obj:n500)"), "{text}");
        assert!(text.contains(" more: pipemux ask 'notebook.show()'\n"), "{text}");
    }
    // With an unlimited budget all entries are shown, and they fit into a frame.
    let shown = fixture.host.project(Lod::Full, u32::MAX).unwrap().content;
    assert_eq!(shown.iter().filter(|piece| matches!(piece, Piece::Object(_))).count(), 500);
}

#[test]
fn long_text_is_cut_with_a_hint_to_the_rest() {
    let mut fixture = Fixture::new();
    fixture.add("short", "x", &[]);
    fixture.add("long", &"数据库 line\n".repeat(5000), &[]);
    fixture.done(expand(2, 1));
    let text = fixture.host.text(Lod::Summary, 400).unwrap();
    assert!(text.contains(" of 5000 lines more: pipemux read obj:notebook/main:n2\n"), "{text}");
    assert!(text.contains("[short](obj:n1)"), "{text}");
    assert!(tokens::estimate(&text) < 500, "{text}");
    // Texts of one very long line, together longer than a frame.
    for n in 0..4 {
        fixture.done(add(&format!("{n}"), &"x".repeat(500 * 1024), &[]));
    }
    let all = fixture.host.project(Lod::Full, u32::MAX).unwrap();
    let bytes: usize = all
        .content
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Code(code) => code.text.len(),
            Piece::Object(_) | Piece::Link(_) | Piece::Embed(_) => 0,
        })
        .sum();
    assert!(bytes > 500 * 1024 && bytes < 800 * 1024, "{bytes}");
}

#[test]
fn same_state_gives_the_same_view() {
    let mut fixture = Fixture::new();
    fixture.add("a", "x", &["t"]);
    fixture.add("b", "y", &[]);
    let before = fixture.host.project(Lod::Summary, 1000).unwrap();
    assert_eq!(fixture.host.project(Lod::Summary, 1000).unwrap(), before);
    let mut fixture = fixture.restart();
    let after = fixture.host.project(Lod::Summary, 1000).unwrap();
    assert_eq!((after.content, after.title), (before.content, before.title));
}

/// A sole entry that is expanded shows as much of its text as fits, whatever the estimates of
/// single lines.
#[test]
fn sole_note_of_many_short_lines_expands_to_what_fits() {
    for line in
        ["x", "- a", "", "}", "1", "数", "- [ ] todo", "\tif", "=====", "a b", "\"x\",", "🦀"]
    {
        let mut fixture = Fixture::new();
        let text = format!("{line}\n").repeat(1000);
        fixture.add("long", &text, &[]);
        fixture.done(expand(1, 1));
        for budget in (60..2000).step_by(97) {
            let projection = fixture.host.project(Lod::Summary, budget).unwrap();
            let code = projection.content.iter().find_map(|piece| match piece {
                Piece::Code(code) => Some(code.text.as_str()),
                _ => None,
            });
            let code = code.unwrap_or_else(|| panic!("{line:?} at {budget}: {projection:?}"));
            let cost = tokens::estimate(code);
            assert!(!code.is_empty() && cost < u64::from(budget), "{line:?} at {budget}: {cost}");
            // Half of the room at least is used, unless the whole text is shown.
            assert!(
                code == text || 2 * cost + 100 > u64::from(budget),
                "{line:?} at {budget}: {cost}"
            );
        }
    }
}
