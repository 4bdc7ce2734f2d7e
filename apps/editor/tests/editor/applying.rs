//! Patches over several files: written through as one change, or refused as a whole.

use docui::Choice;

use crate::support::*;

fn apply(patch: &str) -> Action {
    Action::Apply { patch: text(patch) }
}

const LIB: &str = "fn a() {\n    log();\n    one();\n}\n\nfn b() {\n    log();\n    two();\n}\n";

#[test]
fn a_patch_changes_files_makes_renames_and_deletes_them_with_one_undo() {
    let mut session = TestSession::with(&[("lib.rs", LIB), ("old.sh", "echo\n")]);
    std::fs::write(session.path("closed.rs"), "x\r\ny\r\n").unwrap();
    std::fs::write(session.path("gone.rs"), "bye\n").unwrap();
    let mode = |name: &str, session: &TestSession| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(session.path(name)).unwrap().permissions().mode() & 0o777
    };
    {
        use std::os::unix::fs::PermissionsExt;
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(session.path("old.sh"), executable).unwrap();
    }
    let patch = "*** Begin Patch\n*** Update File: lib.rs\n@@ fn b() {\n     log();\n-    two();\n+    three();\n+    four();\n*** Update File: closed.rs\n@@\n x\n-y \n+z\n*** Add File: src/deep/new.rs\n+fn n() {}\n*** Update File: old.sh\n*** Move to: bin/new.sh\n*** Delete File: gone.rs\n*** End Patch\n";
    let outcome = session.done(&apply(patch));
    assert_eq!(
        outcome.brief,
        "5 files, 2 hunks: lib.rs 8-9 · closed.rs 2 (trailing whitespace differed) · new src/deep/new.rs, 1 line · old.sh renamed to bin/new.sh · deleted gone.rs; lib.rs: line 9 is now 10"
    );
    assert_eq!(session.on_disk("lib.rs"), LIB.replace("two();", "three();\n    four();"));
    assert_eq!(session.on_disk("closed.rs"), "x\r\nz\r\n");
    assert_eq!(session.on_disk("src/deep/new.rs"), "fn n() {}\n");
    assert_eq!(
        (session.on_disk("bin/new.sh").as_str(), mode("bin/new.sh", &session)),
        ("echo\n", 0o755)
    );
    assert!(!session.path("old.sh").exists() && !session.path("gone.rs").exists());
    session.view();
    session.done(&undo());
    assert_eq!(session.on_disk("lib.rs"), LIB);
    assert_eq!(session.on_disk("closed.rs"), "x\r\ny\r\n");
    assert_eq!((session.on_disk("old.sh").as_str(), mode("old.sh", &session)), ("echo\n", 0o755));
    assert_eq!(session.on_disk("gone.rs"), "bye\n");
    assert!(!session.path("src/deep/new.rs").exists() && !session.path("bin/new.sh").exists());
}

#[test]
fn nothing_is_changed_when_one_hunk_fits_nowhere() {
    let mut session = TestSession::with(&[("lib.rs", LIB), ("b.rs", "b\n")]);
    let patch = "--- a/b.rs\n+++ b/b.rs\n@@ -1 +1 @@\n-b\n+c\n--- a/lib.rs\n+++ b/lib.rs\n@@ -6,3 +6,3 @@\n fn b() {\n     log();\n-    too();\n+    three();\n";
    let fault = session.failed(&apply(patch));
    assert_eq!(
        fault.message,
        "lib.rs: the hunk at patch line 8 fits nowhere; nearest are lines 6-8:\n8\t    two();\npatch\t    too();\nnothing was changed"
    );
    assert_eq!(
        (session.on_disk("b.rs").as_str(), session.on_disk("lib.rs").as_str()),
        ("b\n", LIB)
    );
}

#[test]
fn a_hunk_that_fits_twice_is_asked_about() {
    let mut session = TestSession::with(&[("lib.rs", LIB), ("b.rs", "x\n-\nx\n")]);
    let patch = "lib.rs\n<<<<<<< SEARCH\n    log();\n=======\n    trace();\n>>>>>>> REPLACE\n";
    let needs = session.asks(&apply(patch));
    assert_eq!(needs.question.text, "the hunk at patch line 2 fits in 2 places");
    let options: Vec<_> =
        needs.question.options.iter().map(|o| (o.label.as_str(), o.text.as_str())).collect();
    assert_eq!(
        options,
        [("lib.rs:2", "log(); · in 1 fn a() {"), ("lib.rs:7", "log(); · in 6 fn b() {")]
    );
    assert_eq!(done(session.host.answer(Choice::Picked(vec![2]))).brief, "lib.rs 7");
    assert_eq!(
        session.on_disk("lib.rs"),
        LIB.replacen("log", "trace", 2).replacen("trace", "log", 1)
    );

    let both = format!("{patch}b.rs\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n");
    session.done(&undo());
    let needs = session.asks(&apply(&both));
    assert_eq!(
        needs.question.text,
        "2 hunks fit in several places (patch line 2: 1-2, patch line 8: 3-4)"
    );
    let fault = failed(session.host.answer(Choice::Picked(vec![1])));
    assert_eq!(
        fault.message,
        "the hunk at patch line 8 has no place: add one of 3-4, or answer none"
    );
    session.asks(&apply(&both));
    let outcome = done(session.host.answer(Choice::AllBut(vec![2])));
    assert_eq!(outcome.brief, "2 files, 3 hunks: lib.rs 2 · b.rs 1, 3");
    assert_eq!(session.on_disk("b.rs"), "y\n-\ny\n");
}

#[test]
fn answers_about_files_that_changed_since_are_stale() {
    let mut session = TestSession::with(&[("lib.rs", LIB)]);
    let patch = "lib.rs\n<<<<<<< SEARCH\n    log();\n=======\n    trace();\n>>>>>>> REPLACE\n";
    session.asks(&apply(patch));
    session.write_externally("lib.rs", &format!("// new\n{LIB}"));
    let fault = failed(session.host.answer(Choice::Picked(vec![2])));
    assert_eq!(fault.message, "lib.rs changed since you were asked");
    session.asks(&apply(patch));
    let fault = failed(session.host.answer(Choice::Picked(vec![])));
    assert_eq!(fault.message, "no place was chosen, nothing was changed");
}

#[test]
fn files_outside_of_the_project_are_never_touched() {
    let mut session = TestSession::with(&[("a.rs", "a\n")]);
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x"), "a\n").unwrap();
    std::os::unix::fs::symlink(outside.path(), session.path("link")).unwrap();
    let absolute = outside.path().join("x").display().to_string();
    for (name, message) in [
        ("../x", "../x: outside of the project\nnothing was changed".to_owned()),
        (absolute.as_str(), format!("{absolute}: outside of the project\nnothing was changed")),
        (
            "link/x",
            format!("link/x: leads out of the project, to {}\nnothing was changed", absolute),
        ),
    ] {
        let patch = format!("*** Begin Patch\n*** Update File: {name}\n@@\n-a\n+b\n*** End Patch");
        assert_eq!(session.failed(&apply(&patch)).message, message);
        let patch = format!("*** Begin Patch\n*** Add File: {name}.new\n+b\n*** End Patch");
        assert!(session.failed(&apply(&patch)).message.contains("out"), "{name}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn a_patch_that_was_applied_before_changes_nothing() {
    let mut session = TestSession::with(&[("a.rs", "first\nsecond line\nthird\n")]);
    let patch = "--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,3 @@\n first\n-second\n+second line\n third\n";
    assert_eq!(session.done(&apply(patch)).brief, "no change: a.rs 1 (applied before)");
    assert_eq!(session.failed(&apply("hello")).code, pipemux_proto::Code::Usage);
}

#[test]
fn held_edits_take_patches_too() {
    let mut session = TestSession::with(&[("a.rs", "a\n")]);
    session.done(&Action::Hold { on: true });
    session.done(&apply("--- a/a.rs\n+++ b/a.rs\n@@\n-a\n+b\n"));
    session.done(&apply("--- a/a.rs\n+++ b/a.rs\n@@\n-b\n+c\n"));
    assert_eq!((session.text().as_str(), session.on_disk("a.rs").as_str()), ("c\n", "a\n"));
}

/// The tree below the session's directory: each link with where it leads, each file with its text.
fn tree(session: &TestSession) -> Vec<String> {
    let entries = std::fs::read_dir(session.files.path()).unwrap().flatten();
    let show = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        match std::fs::read_link(entry.path()) {
            Ok(target) => format!("{name} -> {}", target.display()),
            Err(_) => format!("{name}: {}", std::fs::read_to_string(entry.path()).unwrap()),
        }
    };
    let mut tree: Vec<_> = entries.map(show).collect();
    tree.sort();
    tree
}

/// A patch that gives a moved file's old path a new file, or moves files in a ring.
#[test]
fn what_becomes_of_each_path_is_decided_over_the_whole_patch() {
    let mut session = TestSession::with(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: c.py\n@@\n-x = 1\n+x = 2\n*** Add File: a.py\n+from c import *\n*** End Patch\n";
    session.done(&apply(patch));
    assert_eq!(tree(&session), ["a.py: from c import *\n", "b.py: y = 1\n", "c.py: x = 2\n"]);
    session.view();
    session.done(&undo());
    assert_eq!(tree(&session), ["a.py: x = 1\n", "b.py: y = 1\n"]);
    session.view();
    // The file is made before the section that moves the old one away.
    let reordered = "*** Begin Patch\n*** Add File: a.py\n+from c import *\n*** Update File: a.py\n*** Move to: c.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n";
    session.done(&apply(reordered));
    assert_eq!(tree(&session), ["a.py: from c import *\n", "b.py: y = 1\n", "c.py: x = 2\n"]);
    session.view();
    let ring = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** Update File: b.py\n*** Move to: c.py\n*** Update File: c.py\n*** Move to: a.py\n*** End Patch\n";
    let done = session.done(&apply(ring));
    assert!(
        done.brief.starts_with(
            "3 files: a.py renamed to b.py · b.py renamed to c.py · c.py renamed to a.py"
        ) || done.brief.contains("renamed"),
        "{}",
        done.brief
    );
    assert_eq!(tree(&session), ["a.py: x = 2\n", "b.py: from c import *\n", "c.py: y = 1\n"]);
    session.view();
    session.done(&undo());
    assert_eq!(tree(&session), ["a.py: from c import *\n", "b.py: y = 1\n", "c.py: x = 2\n"]);
    // What a path becomes is given twice.
    session.view();
    let twice = "*** Begin Patch\n*** Update File: a.py\n*** Move to: d.py\n*** Update File: b.py\n*** Move to: d.py\n*** End Patch\n";
    let before = tree(&session);
    let fault = session.failed(&apply(twice));
    assert!(fault.message.contains("d.py: exists already"), "{}", fault.message);
    assert_eq!(tree(&session), before);
}

/// What deletes and moves is about the name, and what edits is about the text behind it.
#[test]
fn links_are_deleted_and_moved_by_their_names_and_edited_behind_them() {
    let mut session = TestSession::with(&[("AGENTS.md", "rules\n")]);
    std::os::unix::fs::symlink("AGENTS.md", session.path("CLAUDE.md")).unwrap();
    let linked = ["AGENTS.md: rules\n", "CLAUDE.md -> AGENTS.md"];
    for patch in [
        "*** Begin Patch\n*** Delete File: CLAUDE.md\n*** End Patch\n",
        "--- a/CLAUDE.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-rules\n",
        "diff --git a/CLAUDE.md b/CLAUDE.md\ndeleted file mode 120000\n--- a/CLAUDE.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-AGENTS.md\n\\ No newline at end of file\n",
    ] {
        assert_eq!(session.done(&apply(patch)).brief, "deleted link CLAUDE.md", "{patch}");
        assert_eq!(tree(&session), linked[..1]);
        session.view();
        session.done(&undo());
        assert_eq!(tree(&session), linked);
        session.view();
    }
    let renamed = "diff --git a/CLAUDE.md b/GEMINI.md\nsimilarity index 100%\nrename from CLAUDE.md\nrename to GEMINI.md\n";
    session.done(&apply(renamed));
    assert_eq!(tree(&session), ["AGENTS.md: rules\n", "GEMINI.md -> AGENTS.md"]);
    session.view();
    session.done(&undo());
    session.view();
    let edited = "--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -1 +1 @@\n-rules\n+laws\n";
    session.done(&apply(edited));
    assert_eq!(tree(&session), ["AGENTS.md: laws\n", "CLAUDE.md -> AGENTS.md"]);
    session.view();
    // A file in the place of the link.
    let replaced = "*** Begin Patch\n*** Delete File: CLAUDE.md\n*** Add File: CLAUDE.md\n+own\n*** End Patch\n";
    session.done(&apply(replaced));
    assert_eq!(tree(&session), ["AGENTS.md: laws\n", "CLAUDE.md: own\n"]);
    session.view();
    session.done(&undo());
    assert_eq!(tree(&session), ["AGENTS.md: laws\n", "CLAUDE.md -> AGENTS.md"]);
    session.view();
    let made =
        session.failed(&apply("*** Begin Patch\n*** Add File: CLAUDE.md\n+own\n*** End Patch\n"));
    assert!(made.message.contains("is a link to AGENTS.md"), "{}", made.message);
    // A link that leads out of the project can be deleted, but not edited.
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(outside.path(), "theirs\n").unwrap();
    std::os::unix::fs::symlink(outside.path(), session.path("OUT.md")).unwrap();
    let fault = session.failed(&apply("--- a/OUT.md\n+++ b/OUT.md\n@@ -1 +1 @@\n-theirs\n+ours\n"));
    assert!(fault.message.contains("leads out of the project"), "{}", fault.message);
    session.done(&apply("*** Begin Patch\n*** Delete File: OUT.md\n*** End Patch\n"));
    assert!(!session.path("OUT.md").exists() && outside.path().exists());
    // One that leads nowhere can be deleted, too.
    std::os::unix::fs::symlink("nowhere", session.path("DEAD.md")).unwrap();
    session.done(&apply("*** Begin Patch\n*** Delete File: DEAD.md\n*** End Patch\n"));
    assert_eq!(tree(&session), ["AGENTS.md: laws\n", "CLAUDE.md -> AGENTS.md"]);
}
