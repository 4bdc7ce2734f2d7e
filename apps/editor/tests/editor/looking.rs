//! Looking at less: around what matches, without documentation, several places at once.

use crate::support::*;

fn lines(names: &[&str], around: Option<&str>, docs: bool) -> Action {
    let files = names.iter().map(|name| (*name).into()).collect();
    let around = around.map(Into::into);
    Action::Heads { files, first: 1, last: 400, not: None, markup: false, around, docs }
}

/// A function of 30 lines between two others.
fn long() -> String {
    let body: String = (0..30).map(|n| format!("    step({n});\n")).collect();
    format!("fn first() {{}}\n\nfn long(\n    a: u8,\n) -> u8 {{\n{body}}}\n\nfn last() {{}}\n")
}

#[test]
fn lines_around_matches_have_the_signature_and_counts_of_the_rest() {
    let mut session = TestSession::with(&[("a.rs", &long())]);
    let done = session.done(&lines(&["long"], Some(r"step\((1|4|20)\)"), true));
    assert_eq!(done.brief, "18 lines of 1 range, 3 matches");
    assert_eq!(
        content(&done),
        "a.rs (38 lines):\n3\tfn long(\n4\t    a: u8,\n5\t) -> u8 {\n6\t    step(0);\n7\t    step(1);\n8\t    step(2);\n\
         9\t    step(3);\n10\t    step(4);\n11\t    step(5);\n12\t    step(6);\n13\t    step(7);\n… 9 lines\n23\t    step(17);\n\
         24\t    step(18);\n25\t    step(19);\n26\t    step(20);\n27\t    step(21);\n28\t    step(22);\n29\t    step(23);\n\
         … 7 lines\n"
    );
    // The numbers count as seen.
    let range = line_of("a.rs:26-26");
    session.done(&Action::ReplaceRange { range, text: text("    other();") });
    assert!(session.on_disk("a.rs").contains("step(19);\n    other();\n    step(21);"));
    let done = session.done(&lines(&["long"], Some("nothing"), true));
    assert_eq!(
        content(&done),
        "a.rs (38 lines):\n3\tfn long(\n4\t    a: u8,\n5\t) -> u8 {\nno match of 'nothing' in 34 lines\n"
    );
    let both = session.done(&lines(&["long", "a.rs:1-2", "last"], Some("fn first"), true));
    assert_eq!(
        content(&both),
        "a.rs:1-5,38 of 38\n1\tfn first() {}\n\nfn long(\n    a: u8,\n) -> u8 {\n… 31 lines\n38\tfn last() {}\n\
         no match of 'fn first' in 1 line\n"
    );
    let fault = session.failed(&lines(&["long"], Some("("), true));
    assert!(fault.message.contains("around: "), "{}", fault.message);
}

#[test]
fn files_of_a_folder_without_a_match_are_counted() {
    let mut session = TestSession::with(&[("a.rs", &long()), ("b.rs", "fn b() {}\n")]);
    std::fs::write(session.path("c.bin"), [0u8, 159, 146, 150]).unwrap();
    let done = session.done(&lines(&["*"], Some(r"step\(29\)"), true));
    assert_eq!(done.brief, "7 lines of 2 ranges, 1 match; no match in 1 file");
    let shown = content(&done);
    assert!(shown.starts_with("a.rs:32-38 of 38\n… 31 lines\n32\t    step(26);\n"), "{shown}");
}

#[test]
fn long_documentation_is_left_out_on_request() {
    let docs = "/// One.\n///\n/// Two.\n/// 三.\n#[inline]\nfn f() {}\n\n/// Short.\nfn g() {}\n";
    let python = "\"\"\"A\n\n\nmodule.\"\"\"\n\n\ndef f():\n    \"\"\"One.\n\n    Two.\n    \"\"\"\n    return '''\n\n\n\n'''\n";
    for ending in ["\n", "\r\n"] {
        let text = docs.replace('\n', ending);
        let mut session =
            TestSession::with(&[("a.rs", &text), ("b.py", &python.replace('\n', ending))]);
        let done = session.done(&lines(&["a.rs#f"], None, false));
        assert_eq!(
            content(&done),
            "a.rs (9 lines):\n… 4 lines of documentation\n5\t#[inline]\n6\tfn f() {}\n"
        );
        let done = session.done(&lines(&["a.rs", "b.py"], None, false));
        assert_eq!(
            content(&done),
            "a.rs:5-9 of 9\n… 4 lines of documentation\n5\t#[inline]\nfn f() {}\n\n/// Short.\nfn g() {}\n\
             b.py:5-7,12-16 of 16\n… 4 lines of documentation\n5\t\n\ndef f():\n… 4 lines of documentation\n\
             12\t    return '''\n\n\n\n'''\n"
        );
    }
}

#[test]
fn ranges_of_a_file_are_one_block_and_the_rest_is_named() {
    let mut session = TestSession::with(&[("a.rs", &long()), ("b.rs", "fn b() {}\n")]);
    let done = session.done(&lines(&["a.rs:10-12", "b", "a.rs:13-14", "a.rs:11-13"], None, true));
    assert_eq!(
        content(&done),
        "a.rs:10-14 of 38\n10\t    step(4);\n    step(5);\n    step(6);\n    step(7);\n    step(8);\nb.rs: fn b() {}\n"
    );
    session.host.set_budget(120);
    let done = session.done(&lines(&["long", "b"], Some("step"), true));
    let shown = content(&done);
    let rest = shown.lines().last().unwrap();
    let cut: usize = shown.lines().filter(|line| line.contains("step(")).count() + 6;
    let expected = format!(
        "… 2 more ranges: pipemux run 'editor.lines([\"a.rs:{}-36\", \"b.rs:1\"], around=\"step\")'",
        cut
    );
    assert_eq!(rest, expected, "{shown}");
}

#[test]
fn awkward_files_are_shown() {
    let huge = "x\n".repeat(200_000) + "needle 針";
    let mut session = TestSession::with(&[("empty.txt", ""), ("huge.txt", &huge)]);
    let done = session.done(&lines(&["empty.txt", "huge.txt"], Some("針"), true));
    assert_eq!(
        content(&done),
        "empty.txt (empty)\nno match of '針' in 0 lines\n\
         huge.txt:199998-200001 of 200001\n… 199997 lines\n199998\tx\nx\n200000\tx\nneedle 針\n"
    );
    std::fs::write(session.path("c.bin"), [0u8, 159, 146, 150]).unwrap();
    let fault = session.failed(&lines(&["c.bin"], Some("x"), true));
    assert!(fault.message.contains("c.bin"), "{}", fault.message);
}

fn uses(name: &str, files: &[&str]) -> Action {
    let r#in = files.iter().map(|file| (*file).into()).collect();
    Action::Uses { name: name.into(), r#in, all: false }
}

#[test]
fn uses_tell_the_symbol_around_them_and_definitions() {
    let rust = "use crate::go;\n\nstruct A;\n\nimpl A {\n    /// Calls go().\n    fn run(&self) -> u8 {\n        go(\"go\") + go(\"中\")\n    }\n}\n\
                // go\nfn go(text: &str) -> u8 {\n    0\n}\nfn gone() {}\n";
    let python = "class B:\n    def go(self):\n        return self.go()\n\n\nB().go()";
    let mut session = TestSession::with(&[("a.rs", &rust.replace('\n', "\r\n")), ("b.py", python)]);
    std::fs::write(session.path("c.md"), "It calls go.\n").unwrap();
    std::fs::write(session.path("d.rs"), "").unwrap();
    std::fs::write(session.path("e.rs"), [b'g', b'o', 0, 159]).unwrap();
    let done = session.done(&uses("go", &[]));
    assert_eq!(done.brief, "6 lines in 2 files, 2 definitions");
    assert_eq!(
        content(&done),
        "a.rs:\n1\tuse crate::go;\n8\tA::run: go(\"go\") + go(\"中\")\n12\tdef: fn go(text: &str) -> u8 {\n\
         b.py:\n2\tdef: def go(self):\n3\tB.go: return self.go()\n6\tB().go()\n"
    );
    // Of a qualified name the last part counts; `in` is what find takes.
    let done = session.done(&uses("B.go", &["a.rs#run", "b.py:3-6"]));
    assert_eq!(
        content(&done),
        "a.rs:\n8\tA::run: go(\"go\") + go(\"中\")\nb.py:\n3\tB.go: return self.go()\n6\tB().go()\n"
    );
    let done = session.done(&uses("calls", &[]));
    assert!(done.brief.starts_with("0 uses of calls in "), "{}", done.brief);
    let fault = session.failed(&uses(" ", &[]));
    assert_eq!(fault.message, "expected a name: uses('foo')");
}

#[test]
fn uses_that_do_not_fit_lead_to_the_rest() {
    let many = "fn f() {\n".to_owned() + &"    go();\n".repeat(200) + "}\n";
    let mut session = TestSession::with(&[("a.rs", &many), ("b.rs", "fn b() { go() }\n")]);
    let done = session.done(&uses("go", &[]));
    assert_eq!(done.brief, "201 lines in 2 files");
    let shown = content(&done);
    let rest =
        "… 121 more lines: pipemux run 'editor.uses(\"go\", in=[\"a.rs:82-202\", \"b.rs\"])'";
    assert_eq!(shown.lines().last(), Some(rest));
    let done = session.done(&uses("go", &["a.rs:82-202", "b.rs"]));
    assert_eq!(done.brief, "121 lines in 2 files");
}

#[test]
fn what_is_not_there_is_said_beside_the_rest() {
    let mut session =
        TestSession::with(&[("ab.rs", "fn go() {}\n"), ("b.rs", "fn b() { go() }\n")]);
    let files = ["b.rs", "abc.rs", "src/"];
    let missing = "no such file: abc.rs; near: ab.rs\nno such file: src\n";
    let r#in: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    let outline = Action::Outline {
        r#in,
        public: false,
        count: false,
        kinds: Vec::new(),
        depth: 0,
        name: String::new(),
    };
    for (action, shown) in [
        (lines(&files, None, true), "b.rs (1 line):\n1\tfn b() { go() }\n"),
        (uses("go", &files), "b.rs:\n1\tb: fn b() { go() }\n"),
        (outline, "fn b 1\n"),
    ] {
        assert_eq!(content(&session.done(&action)), format!("{shown}{missing}"));
    }
    let fault = session.failed(&lines(&["abc.rs", "src/"], None, true));
    assert_eq!(fault.message, "abc.rs: no such file");
    let files = [("a.rs", "fn go() {}\n"), ("c.rs", "fn go() {}\n"), ("b.rs", "fn b() {}\n")];
    let shown = content(&TestSession::with(&files).done(&lines(&["b", "go"], None, true)));
    assert!(shown.contains("fn b() {}") && shown.contains("\ngo is ambiguous: "), "{shown}");
}
