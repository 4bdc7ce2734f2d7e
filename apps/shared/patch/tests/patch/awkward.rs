use std::fmt::Write as _;
use std::path::Path;

use pipemux_patch::{FileSource, Obstacle, Patch, ProblemKind};

use crate::support::{apply, files, plan, refused, scope};

#[test]
fn every_script_and_odd_name() {
    let patch = "--- \"a/\\346\\226\\207 \\360\\237\\246\\200.txt\"\n+++ \"b/\\346\\226\\207 \\360\\237\\246\\200.txt\"\n@@ -1,2 +1,2 @@\n 你好\n-世界 👩‍👩‍👧\n+世界 🦀\u{3000}\n";
    let before = files(&[("文 🦀.txt", "你好\n世界 👩‍👩‍👧\n")]);
    let plan = plan(patch, &before, &[]).unwrap();
    assert_eq!(plan.files[0].text.as_deref(), Some("你好\n世界 🦀\u{3000}\n"));
}

#[test]
fn an_empty_file_can_be_filled_and_emptied() {
    assert_eq!(apply("--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", "").0, "a\n");
    assert_eq!(apply("--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n", "a\n").0, "");
    assert_eq!(apply("*** Begin Patch\n*** Add File: f\n+a\n*** End Patch", "").0, "a\n");
}

#[test]
fn texts_without_a_patch_are_refused() {
    for text in [
        "",
        "hello",
        "```\n```",
        "--- a/f\n",
        "\0\0",
        "***",
        "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x",
    ] {
        assert!(refused(text, "").starts_with("no patch found"), "{text}");
    }
    assert_eq!(
        refused("diff --git a/f b/f\nGIT binary patch\n", ""),
        "line 2 of the patch: a binary change can't be applied"
    );
    assert_eq!(
        refused("@@ -1 +1 @@\n-a\n+b\n", ""),
        "line 1 of the patch: no file is named; put `--- a/path` and `+++ b/path` before the hunk"
    );
    assert_eq!(refused("--- a/f\n+++ b/f\n@@ -1 +1 @@\n a\n", "a\n"), "the patch changes nothing");
}

#[test]
fn a_million_hunks_are_refused() {
    let hunk = "@@ -1 +1 @@\n-a\n+a\n";
    let text = format!("--- a/f\n+++ b/f\n{}", hunk.repeat(800_000));
    assert!(Patch::parse(&text).unwrap_err().to_string().contains("more than 20,000 hunks"));
    let blocks = "f\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n".repeat(300_000);
    assert!(Patch::parse(&blocks).unwrap_err().to_string().contains("more than 20,000 hunks"));
    let sections = "*** Add File: x\n+y\n".repeat(20_000);
    let error = Patch::parse(&format!("*** Begin Patch\n{sections}*** End Patch")).unwrap_err();
    assert!(error.to_string().contains("more than 10,000 sections"));
    assert!(
        Patch::parse(&"x".repeat(17 << 20)).unwrap_err().to_string().contains("more than 16 MiB")
    );
}

#[test]
fn a_huge_file_takes_a_large_patch() {
    let text: String = (0..200_000).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "line {number}");
        text
    });
    let mut patch = String::from("--- a/f\n+++ b/f\n");
    for number in (0..200_000).step_by(40) {
        let _ = write!(patch, "@@ @@\n line {number}\n-line {}\n+changed {number}\n", number + 1);
    }
    let (new, summary) = apply(&patch, &text);
    assert_eq!(new.lines().filter(|line| line.starts_with("changed")).count(), 5000);
    assert_eq!(
        summary,
        "1 file, 5000 hunks: f 2, 42, 82, 122, 162, 202, 242, 282, 322, 362, 402, 442 and 4988 more"
    );
}

#[test]
fn work_without_end_is_refused() {
    // Every line of the file nearly fits everywhere.
    let text = "a\n".repeat(300_000) + "b\n";
    let mut patch = String::from("--- a/f\n+++ b/f\n");
    for _ in 0..2_000 {
        let _ = write!(patch, "@@ -1 +1 @@\n{} c\n-d\n+e\n", " a\n".repeat(50));
    }
    let before = files(&[("f", &text)]);
    assert!(matches!(plan(&patch, &before, &[]), Err(Obstacle::Refused(_))));
    let alternating = "a\nb\n".repeat(100_000);
    let block =
        format!("f\n<<<<<<< SEARCH\n{}c\n=======\nd\n>>>>>>> REPLACE\n", "a\nb\n".repeat(1_000));
    let mut ambiguous = String::new();
    for _ in 0..200 {
        ambiguous.push_str("f\n<<<<<<< SEARCH\na\nb\na\n=======\na\nc\na\n>>>>>>> REPLACE\n");
    }
    for patch in [block, ambiguous] {
        assert!(plan(&patch, &files(&[("f", &alternating)]), &[]).is_err());
    }
}

#[test]
fn files_that_are_no_text_are_named() {
    let patch = Patch::parse("--- a/f\n+++ b/f\n@@\n-a\n+b\n").unwrap();
    let source = |_: &Path| FileSource::Unreadable("is not UTF-8");
    let Err(Obstacle::Refused(problems)) = patch.plan(&scope(), &source, &[]) else { panic!() };
    assert_eq!(problems[0].kind, ProblemKind::Unreadable("is not UTF-8".into()));
}

#[test]
fn names_that_lead_out_are_refused_before_anything_is_read() {
    for name in ["../f", "/etc/passwd", "b/../../f"] {
        let patch = format!("--- {name}\n+++ {name}\n@@\n-a\n+b\n");
        let patch = Patch::parse(&patch).unwrap();
        assert!(patch.paths(&scope()).is_err(), "{name}");
    }
    let rename = "diff --git a/f b/g\nrename from f\nrename to ../g\n";
    assert!(Patch::parse(rename).unwrap().paths(&scope()).is_err());
}
