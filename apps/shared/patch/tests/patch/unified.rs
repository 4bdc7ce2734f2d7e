use std::path::Path;

use crate::support::{after, apply, files, name, plan, refused};

#[test]
fn git_diffs_of_every_kind_apply() {
    let patch = "\
From 1234 Mon Sep 17 00:00:00 2001
Subject: [PATCH] Several things

diff --git a/src/a.rs b/src/a.rs
index 83db48f..bf269f4 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,4 @@ mod x
 one
-two
+zwei
+zwei b
 three
diff --git a/old.rs b/new.rs
similarity index 90%
rename from old.rs
rename to new.rs
index 1..2 100644
--- a/old.rs
+++ b/new.rs
@@ -1,2 +1,2 @@
-fn old() {}
+fn new() {}
 // rest
diff --git a/pure.rs b/moved/pure.rs
similarity index 100%
rename from pure.rs
rename to moved/pure.rs
diff --git a/fresh.rs b/fresh.rs
new file mode 100644
index 0000000..3b18e51
--- /dev/null
+++ b/fresh.rs
@@ -0,0 +1,2 @@
+hello
+world
\\ No newline at end of file
diff --git a/empty.rs b/empty.rs
new file mode 100644
index 0000000..e69de29
diff --git a/gone.rs b/gone.rs
deleted file mode 100644
index 3b18e51..0000000
--- a/gone.rs
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
-- 
2.39.0
";
    let before = files(&[
        ("src/a.rs", "one\ntwo\nthree\n"),
        ("old.rs", "fn old() {}\n// rest\n"),
        ("pure.rs", "same\n"),
        ("gone.rs", "bye\n"),
        ("run.sh", "echo\n"),
    ]);
    let plan = plan(patch, &before, &[]).unwrap();
    assert_eq!(
        after(&plan, &before),
        files(&[
            ("src/a.rs", "one\nzwei\nzwei b\nthree\n"),
            ("new.rs", "fn new() {}\n// rest\n"),
            ("moved/pure.rs", "same\n"),
            ("fresh.rs", "hello\nworld"),
            ("empty.rs", ""),
            ("run.sh", "echo\n"),
        ])
    );
    insta::assert_snapshot!(plan.summary(&name), @"7 files, 2 hunks: src/a.rs 2-3 · old.rs renamed to new.rs 1 · pure.rs renamed to moved/pure.rs · new fresh.rs, 2 lines · new empty.rs, 0 lines · deleted gone.rs · run.sh, executable");
}

#[test]
fn models_miscount_forget_prefixes_and_invent_numbers() {
    let text = "def f():\n    a = 1\n\n    b = 2\n    return a\n";
    let patch = "```diff\n--- f\n+++ f\n@@ -10,3 +10,9 @@ def f():\n     a = 1\n\n-    b = 2\n+    b = 3\n+    c = 4\n     return a\n```\n\nThis changes b:\n- it is 3 now\n";
    let (new, summary) = apply(patch, text);
    assert_eq!(new, "def f():\n    a = 1\n\n    b = 3\n    c = 4\n    return a\n");
    assert_eq!(summary, "f 4-5");
    let unprefixed = "--- a/f\n+++ b/f\n@@ @@\ndef f():\n-    a = 1\n+    a = 7\n";
    assert_eq!(apply(unprefixed, text).0, text.replace("a = 1", "a = 7"));
}

#[test]
fn whitespace_may_differ_and_is_said() {
    let file = "impl A {\n    fn a() {\n        x();   \n        y();\n    }\n}\n";
    let patch = "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n     fn a() {\n         x();\n-        y();\n+        z();\n";
    let (new, summary) = apply(patch, file);
    assert_eq!(new, file.replace("y()", "z()"));
    assert_eq!(summary, "f 4 (trailing whitespace differed)");
    let shifted = "--- a/f\n+++ b/f\n@@ ... @@\n fn a() {\n     x();\n-    y();\n+    if z {\n+        y();\n+    }\n }\n";
    let (new, summary) = apply(shifted, file);
    assert_eq!(new, file.replace("        y();", "        if z {\n            y();\n        }"));
    assert_eq!(summary, "f 4-6 (indentation differed, new lines shifted)");
}

#[test]
fn line_endings_and_the_final_newline_stay() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n";
    assert_eq!(apply(patch, "a\r\nb\r\n").0, "a\r\nc\r\nd\r\n");
    assert_eq!(apply(patch, "a\nb").0, "a\nc\nd");
    assert_eq!(apply(patch, "\u{feff}a\nb\n").0, "\u{feff}a\nc\nd\n");
    let newline = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
    assert_eq!(apply(newline, "a").0, "a\n");
    assert_eq!(apply(newline, "a\n").1, "f 2 (applied before)");
}

#[test]
fn a_hunk_that_fits_twice_is_asked_about() {
    let text = "fn a() {\n    log();\n    x();\n}\nfn b() {\n    log();\n    x();\n}\n";
    let patch = "--- a/f\n+++ b/f\n@@\n     log();\n-    x();\n+    y();\n";
    insta::assert_snapshot!(refused(patch, text), @r"
    f 3
    3:     x(); (in 1: fn a() {)
    7:     x(); (in 5: fn b() {)
    ");
    for head in ["@@ -6,2 +6,2 @@", "@@ fn b() {", "@@ -7 +7 @@"] {
        let (new, _) = apply(&patch.replace("@@", head), text);
        assert_eq!(
            new, "fn a() {\n    log();\n    x();\n}\nfn b() {\n    log();\n    y();\n}\n",
            "{head}"
        );
    }
}

#[test]
fn the_order_of_the_hunks_decides() {
    let text = "x\na\nx\nb\nx\n";
    let patch = "--- a/f\n+++ b/f\n@@\n-a\n+A\n@@\n-x\n+X\n@@\n-b\n+B\n";
    assert_eq!(apply(patch, text).0, "x\nA\nX\nB\nx\n");
}

#[test]
fn a_hunk_may_build_on_the_one_before() {
    let patch = "--- a/f\n+++ b/f\n@@\n-a\n+b\n@@\n-b\n+c\n c\n";
    assert_eq!(apply(patch, "a\nc\n").0, "c\nc\n");
}

#[test]
fn a_hunk_without_a_match_is_refused_with_the_nearest_lines() {
    let text = "fn main() {\n    let total = 1;\n    println!(\"{total}\");\n}\n";
    let patch = "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n fn main() {\n-    let total = 2;\n+    let total = 3;\n     println!(\"{total}\");\n }\n";
    insta::assert_snapshot!(refused(patch, text), @r"
    f: the hunk at patch line 3 fits nowhere; nearest are lines 1-4:
    2	    let total = 1;
    patch	    let total = 2;
    ");
    let far = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-    let totals = 2;\n+x\n";
    insta::assert_snapshot!(refused(far, text), @r"
    f: the hunk at patch line 3 fits nowhere; nearest is line 2:
    2	    let total = 1;
    patch	    let totals = 2;
    ");
    assert_eq!(
        refused("--- a/f\n+++ b/f\n@@\n-zzzzz\n+y\n", text),
        "f: the hunk at patch line 3 fits nowhere"
    );
    assert_eq!(refused("--- a/g\n+++ b/g\n@@\n-z\n+y\n", text), "g: no such file");
}

#[test]
fn hunks_that_were_applied_before_are_left_as_they_are() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-first old\n+first new\n b\n@@ -10,2 +10,2 @@\n c\n-second old\n+second new\n";
    let (new, summary) = apply(patch, "a\nfirst new\nb\n1\n2\nc\nsecond old\n");
    assert_eq!(new, "a\nfirst new\nb\n1\n2\nc\nsecond new\n");
    assert_eq!(summary, "1 file, 2 hunks: f 1 (applied before), 7");
}

#[test]
fn names_are_found_from_the_directory_and_from_the_project() {
    use pipemux_patch::{FileSource, Patch, PathScope};
    let patch = Patch::parse("diff --git a/lib/x b/lib/x\n--- a/lib/x\n+++ b/lib/x\n@@\n-1\n+2\ndiff --git a/lib/new b/lib/new\nnew file mode 100644\n--- /dev/null\n+++ b/lib/new\n@@ -0,0 +1 @@\n+n\n").unwrap();
    let scope = PathScope::new(Path::new("/p"), Path::new("/p/lib"));
    let source = |path: &Path| match path.to_str() {
        Some("/p/lib/x") => FileSource::Text("1\n"),
        _ => FileSource::Missing,
    };
    let plan = patch.plan(&scope, &source, &[]).unwrap();
    let paths: Vec<_> = plan.files.iter().map(|file| file.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/p/lib/x", "/p/lib/new"]);
}
