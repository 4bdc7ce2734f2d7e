use crate::support::{after, apply, files, name, plan, refused};

#[test]
fn blocks_of_several_files_between_prose() {
    let message = "\
I change two files.

src/a.py
```python
<<<<<<< SEARCH
def a():
    return 1
=======
def a():
    return 2
>>>>>>> REPLACE
```

And a second block for the same file:

```python
<<<<<<< SEARCH
def b():
=======
def c():
>>>>>>> REPLACE
```

New:

`src/new.py`
````python
<<<<<<< SEARCH
=======
print('new')
>>>>>>> REPLACE
````
";
    let before = files(&[("src/a.py", "def a():\n    return 1\n\ndef b():\n    pass\n")]);
    let plan = plan(message, &before, &[]).unwrap();
    assert_eq!(
        after(&plan, &before),
        files(&[
            ("src/a.py", "def a():\n    return 2\n\ndef c():\n    pass\n"),
            ("src/new.py", "print('new')\n"),
        ])
    );
    insta::assert_snapshot!(plan.summary(&name), @"2 files, 2 hunks: src/a.py 2, 4 · new src/new.py, 1 line");
}

#[test]
fn variants_of_other_tools() {
    for (head, end) in [
        ("<<<<<<< SEARCH", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH>", ">>>>>>> REPLACE"),
        ("------- SEARCH", "+++++++ REPLACE"),
        ("<<<<<<< ORIGINAL", ">>>>>>> UPDATED"),
        ("<<<<< SEARCH", ">>>>> REPLACE"),
        ("<<<<<<< SEARCH\n:start_line:3\n-------", ">>>>>>> REPLACE"),
    ] {
        let patch = format!("f\n{head}\nx\n=======\ny\n{end}\n");
        assert_eq!(apply(&patch, "a\nb\nx\n").0, "a\nb\ny\n", "{head}");
    }
    let numbered = "f\n<<<<<<< SEARCH\n:start_line:3\n-------\nx\n=======\ny\n>>>>>>> REPLACE\n";
    assert_eq!(apply(numbered, "x\nb\nx\n").0, "x\nb\ny\n");
}

#[test]
fn a_block_builds_on_those_before() {
    let patch = "f\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nb\n=======\nc\nd\n>>>>>>> REPLACE\n";
    assert_eq!(apply(patch, "x\na\n"), ("x\nc\nd\n".into(), "1 file, 2 hunks: f 2, 2-3".into()));
}

#[test]
fn whitespace_of_untouched_lines_stays() {
    let text = "fn a() {  \n\tif x {\n\t\ty();\n\t}\n}\n";
    let patch = "f\n<<<<<<< SEARCH\nfn a() {\n    if x {\n        y();\n=======\nfn a() {\n    if x {\n        y();\n        z();\n>>>>>>> REPLACE\n";
    let (new, summary) = apply(patch, text);
    assert_eq!(new, "fn a() {  \n\tif x {\n\t\ty();\n\t\tz();\n\t}\n}\n");
    assert_eq!(summary, "f 4 (indentation differed, new lines shifted)");
}

#[test]
fn blocks_that_are_not_complete_are_refused() {
    let text = "a\n";
    assert_eq!(
        refused("f\n<<<<<<< SEARCH\na\n=======\nb\n", text),
        "line 2 of the patch: the >>>>>>> REPLACE of this block is missing, the patch seems to be cut off"
    );
    assert_eq!(
        refused("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", text),
        "line 1 of the patch: no file is named; put its path on the line before <<<<<<< SEARCH"
    );
    assert_eq!(
        refused("f\n<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE\n", text),
        "f: the hunk at patch line 2 has no line that says where it goes; add context lines"
    );
    let heading = "f\n<<<<<<< SEARCH\nInstall\n=======\n=======\nSetup\n>>>>>>> REPLACE\n";
    assert!(refused(heading, text).contains("expected one ======= line a block"));
}
