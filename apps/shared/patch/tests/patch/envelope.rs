use crate::support::{after, apply, files, name, plan, refused};

#[test]
fn an_envelope_adds_deletes_moves_and_updates() {
    let patch = "\
apply_patch <<'EOF'
*** Begin Patch
*** Add File: hello.txt
+Hello world
+
*** Update File: src/app.py
*** Move to: src/main.py
@@ def greet():
-print(\"Hi\")
+print(\"Hello, world!\")
*** Delete File: obsolete.txt
*** End Patch
EOF
";
    let before = files(&[("src/app.py", "def greet():\nprint(\"Hi\")\n"), ("obsolete.txt", "x")]);
    let plan = plan(patch, &before, &[]).unwrap();
    assert_eq!(
        after(&plan, &before),
        files(&[
            ("src/main.py", "def greet():\nprint(\"Hello, world!\")\n"),
            ("hello.txt", "Hello world\n\n")
        ])
    );
    insta::assert_snapshot!(plan.summary(&name), @"3 files, 1 hunk: new hello.txt, 2 lines · src/app.py renamed to src/main.py 2 · deleted obsolete.txt");
}

#[test]
fn headings_tell_which_of_several_places_is_meant() {
    let text = "class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n\nclass B:\n    def f(self):\n        pass\n";
    let patch = |heads: &str| {
        format!(
            "*** Begin Patch\n*** Update File: f\n{heads}-        pass\n+        return 1\n*** End Patch"
        )
    };
    let line = |heads: &str| apply(&patch(heads), text).1;
    assert_eq!(line("@@ class B:\n"), "f 10");
    assert_eq!(line("@@ class A:\n@@     def g(self):\n"), "f 6");
    assert_eq!(line("@@ def g(self):\n"), "f 6");
    assert_eq!(line("@@ class B\n@@ def f\n"), "f 10");
    assert!(refused(&patch("@@\n"), text).starts_with("f 3\n3:"));
}

#[test]
fn the_end_of_the_file_and_additions_without_context() {
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End of File\n*** End Patch\n";
    assert_eq!(apply(patch, "x\na\nx\n").0, "x\na\ny\n");
    let add = "*** Begin Patch\n*** Update File: f\n@@\n+last\n*** End Patch\n";
    assert_eq!(apply(add, "a\n").0, "a\nlast\n");
    let below = "*** Begin Patch\n*** Update File: f\n@@ fn a() {\n+    first();\n*** End Patch\n";
    assert_eq!(apply(below, "fn a() {\n}\n").0, "fn a() {\n    first();\n}\n");
}

#[test]
fn without_prefixes_or_marks_it_is_read_as_meant() {
    let verbatim = "*** Begin Patch\n*** Add File: new.md\n# Title\n\n- item\n*** End Patch";
    let before = files(&[]);
    let plan1 = plan(verbatim, &before, &[]).unwrap();
    assert_eq!(after(&plan1, &before), files(&[("new.md", "# Title\n\n- item\n")]));
    let bare = "*** Update File: f\n@@\n-a\n+b\n";
    assert_eq!(apply(bare, "a\n").0, "b\n");
    let padded = "  *** Begin Patch  \n*** Update File: f  \n@@\n-a\n+b\n *** End Patch  ";
    assert!(refused(padded, "a\n").contains("*** End Patch is missing"));
}

#[test]
fn existing_files_cut_off_patches_and_outside_paths_are_refused() {
    let exists = "*** Begin Patch\n*** Add File: f\n+other\n*** End Patch";
    assert_eq!(refused(exists, "a\nb\n"), "f: exists already (2 lines)");
    assert_eq!(apply(exists, "other\n").1, "f 1 (applied before)");
    let again = "*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+other\n*** End Patch";
    assert_eq!(apply(again, "a\n"), ("other\n".into(), "f rewritten".into()));
    assert_eq!(
        refused("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", "a\n"),
        "line 5 of the patch: *** End Patch is missing, the patch seems to be cut off"
    );
    for outside in ["../x", "/etc/passwd", "a/../../x"] {
        let patch = format!("*** Begin Patch\n*** Add File: {outside}\n+x\n*** End Patch");
        assert_eq!(refused(&patch, ""), format!("{outside}: outside of the project"));
    }
}
