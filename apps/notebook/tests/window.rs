//! Levels of detail, folding, budgets.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, add, append, at, search};
use docui::{Lod, tokens};
use pipemux_notebook::Action;
use pipemux_proto::projection::Piece;

fn expand(id: u64) -> Action {
    Action::Expand { entry: at(id, 1) }
}

fn fold(id: u64) -> Action {
    Action::Fold { entry: at(id, 1) }
}

#[test]
fn each_entry_folds_on_its_own_and_stays_so() {
    let mut desk = Desk::new();
    desk.add("a", "a1\n\na2\na3\n", &["t"]);
    desk.add("b", "b1", &[]);
    let both = "## 2 entries\n\n[b](obj:n2) 1 line\n  b1\n\
                [a](obj:n1) 4 lines · t [expand](link:expand)\n  a1\n  a2\n";
    assert_eq!(desk.text(), both);
    assert_eq!(desk.brief(expand(1)), "\"a\": full");
    assert_eq!(desk.brief(expand(1)), "\"a\": full already");
    desk.done(fold(2));
    assert_eq!(desk.brief(fold(2)), "\"b\": gist already");
    let mut desk = desk.restart();
    let full = "## 2 entries\n\n[b](obj:n2)\n[a](obj:n1) 4 lines · t [fold](link:fold)\n\
                a1\n\na2\na3\n";
    assert_eq!(desk.text(), full);
    desk.done(fold(1));
    desk.done(expand(2));
    assert_eq!(desk.text(), both);
}

#[test]
fn focus_leaves_the_others_as_gists() {
    let mut desk = Desk::new();
    for title in ["a", "b", "c"] {
        desk.add(title, "text", &[]);
    }
    let focus = |ids: &[u64]| Action::Focus { entries: ids.iter().map(|id| at(*id, 1)).collect() };
    assert_eq!(desk.brief(focus(&[1])), "1 entry in full, the others as gists");
    let focused = "## 3 entries\n[all as summaries](link:focus) \n[c](obj:n3) [b](obj:n2)\n\
                   [a](obj:n1) 1 line [fold](link:fold)\ntext";
    assert_eq!(desk.text(), focused);
    // A new entry is to be read all the same.
    desk.add("d", "fresh", &[]);
    assert!(desk.text().contains("[d](obj:n4) 1 line\n  fresh\n"));
    desk.done(focus(&[]));
    assert!(desk.text().contains("[b](obj:n2) 1 line\n  text\n"));
}

#[test]
fn the_authors_summary_and_gist_are_shown_and_grow_old() {
    let mut desk = Desk::new();
    desk.done(Action::Add {
        title: "t".into(),
        text: "long text".into(),
        tags: vec![],
        summary: "in short\nvery".into(),
        gist: "shortest".into(),
    });
    assert!(desk.text().contains("1 line [expand](link:expand)\n  in short\n  very\n"));
    desk.done(fold(1));
    assert!(desk.text().contains("[t](obj:n1) shortest\n"));
    desk.done(append(1, 1, "more"));
    assert!(desk.text().contains("[t](obj:n1) shortest (of an earlier text)\n"));
}

#[test]
fn a_gist_is_one_line() {
    let mut desk = Desk::new();
    let gist = |desk: &mut Desk, budget| desk.host.text(Lod::Gist, budget).unwrap();
    assert!(gist(&mut desk, 100).starts_with("## 0 entries\n\nNo entries yet."));
    for n in 0..14 {
        desk.add(&format!("entry {n}"), "x\ny\nz", &[]);
    }
    let text = gist(&mut desk, 1000);
    // How many that is depends on what a token is taken for.
    let shown = text.matches("](obj:n").count();
    assert!((2..14).contains(&shown) && tokens::estimate(&text) < 100, "{text}");
    let start = format!("## {shown} of 14 entries\n\nnewest: [entry 13](obj:n14) [");
    assert!(text.starts_with(&start), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!(gist(&mut desk, 1), "## 1 of 14 entries\n\nnewest: [entry 13](obj:n14)\n");
}

#[test]
fn five_hundred_entries_show_what_fits() {
    let mut desk = Desk::new();
    for n in 0..500 {
        desk.add(&format!("Note {n}"), &"some words in a line\n".repeat(20), &["t"]);
    }
    for (lod, budget) in [(Lod::Summary, 400), (Lod::Summary, 3000), (Lod::Full, 2000)] {
        let text = desk.host.text(lod, budget).unwrap();
        let spent = tokens::estimate(&text);
        assert!(spent > u64::from(budget) / 2 && spent < u64::from(budget) * 3 / 2, "{spent}");
        assert!(text.contains("[Note 499](obj:n500)"), "{text}");
        assert!(text.contains(" more: pipemux run 'notebook.search(\"…\")'\n"), "{text}");
    }
    assert_eq!(desk.brief(search("note 250")), "1 result for \"note 250\"");
    assert_eq!(desk.brief(search("words")), "500 results for \"words\"");
    let text = desk.host.text(Lod::Summary, 300).unwrap();
    assert!(text.contains("more: pipemux view notebook/main --budget 1200\n"), "{text}");
    // All of them and no more than a frame, when nobody minds the cost.
    desk.done(Action::ShowAll {});
    let shown = desk.host.project(Lod::Full, u32::MAX).unwrap().content;
    assert_eq!(shown.iter().filter(|piece| matches!(piece, Piece::Object(_))).count(), 500);
}

#[test]
fn a_long_text_is_cut_and_says_where_the_rest_is() {
    let mut desk = Desk::new();
    desk.add("short", "x", &[]);
    desk.add("long", &"数据库 line\n".repeat(5000), &[]);
    desk.done(expand(2));
    let text = desk.host.text(Lod::Summary, 400).unwrap();
    assert!(text.contains(" of 5000 lines more: pipemux read obj:notebook/main:n2\n"), "{text}");
    assert!(text.contains("[short](obj:n1)"), "{text}");
    assert!(tokens::estimate(&text) < 500, "{text}");
    // A text of one endless line, and a frame's bound.
    for n in 0..4 {
        desk.done(add(&format!("{n}"), &"x".repeat(500 * 1024), &[]));
    }
    let all = desk.host.project(Lod::Full, u32::MAX).unwrap();
    let bytes: usize = all
        .content
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Code(code) => code.text.len(),
            Piece::Object(_) | Piece::Link(_) => 0,
        })
        .sum();
    assert!(bytes > 500 * 1024 && bytes < 800 * 1024, "{bytes}");
}

#[test]
fn the_same_state_gives_the_same_bytes() {
    let mut desk = Desk::new();
    desk.add("a", "x", &["t"]);
    desk.add("b", "y", &[]);
    let before = desk.host.project(Lod::Summary, 1000).unwrap();
    assert_eq!(desk.host.project(Lod::Summary, 1000).unwrap(), before);
    let mut desk = desk.restart();
    let after = desk.host.project(Lod::Summary, 1000).unwrap();
    assert_eq!((after.content, after.title), (before.content, before.title));
}
