//! Items by name: outline, lines, moves, swaps, bodies, renames.

use docui::Choice;

use crate::support::*;

const RUST: &str = "//! Doc.\nuse std::fmt;\n\n/// Adds.\npub fn add(a: u8) -> u8 {\n    a + 1\n}\n\n\
                    struct Point {\n    x: u8,\n}\n\nimpl Point {\n    fn norm(&self) -> u8 {\n        add(self.x)\n    }\n\n    \
                    fn twice(&self) -> u8 {\n        self.norm() * 2\n    }\n}\n";
const OTHER: &str = "use crate::a::{Point, add};\n\nfn caller(p: &Point, q: impl Fn()) -> u8 {\n    \
                     // add here\n    let x = unknown();\n    x.norm();\n    add(p.norm())\n}\n";

fn line(text: &str) -> Line {
    line_of(text)
}

fn session() -> TestSession {
    let session = TestSession::with(&[("a.rs", RUST), ("b.rs", OTHER)]);
    std::fs::write(
        session.path("c.rs"),
        "fn elsewhere() {}\n\nfn other() {\n    elsewhere();\n}\n",
    )
    .unwrap();
    std::fs::write(session.path("d.md"), "# Title\n\nFirst. Second.\n\n## Deep\n").unwrap();
    session
}

fn move_after(range: &str, after: &str) -> Action {
    Action::Move {
        range: line(range),
        before: None,
        after: Some(line(after)),
        at_start_of: None,
        at_end_of: None,
    }
}

fn move_before(range: &str, before: &str) -> Action {
    Action::Move {
        range: line(range),
        before: Some(line(before)),
        after: None,
        at_start_of: None,
        at_end_of: None,
    }
}

fn outline(files: &[&str]) -> Action {
    Action::Outline {
        r#in: files.iter().map(|file| (*file).to_owned()).collect(),
        public: false,
        count: false,
        kinds: Vec::new(),
        depth: 0,
        name: String::new(),
    }
}

/// Returns the brief of an outcome and what it shows.
fn shown(done: &Done) -> String {
    let pieces = done.content.iter().map(|piece| match piece {
        Piece::Code(code) => code.text.clone(),
        other => format!("{other:?}"),
    });
    format!("{}\n{}", done.brief, pieces.collect::<String>())
}

#[test]
fn outline_names_symbols_with_their_lines() {
    let mut session = session();
    let all = shown(&session.done(&outline(&[])));
    assert_eq!(
        all,
        "4 files, 10 symbols\na.rs: pub fn add 4-7 · struct Point 9-11 · Point::norm 14-16 · Point::twice 18-20\n\
         b.rs: fn caller 3-8\nc.rs: fn elsewhere 1 · fn other 3-5\nd.md:\n# Title 1-5 – First. Second.\n  # Deep 5\n"
    );
    let one = shown(&session.done(&outline(&["a.rs"])));
    assert!(one.starts_with("a.rs, 21 lines, 5 symbols\npub fn add 4-7\n"), "{one}");
    let counted = |public, count| Action::Outline {
        r#in: vec!["*.rs".into()],
        public,
        count,
        kinds: vec!["function".into(), "method".into()],
        depth: 0,
        name: String::new(),
    };
    let counts = shown(&session.done(&counted(false, true)));
    assert_eq!(
        counts,
        "3 files, 6 symbols\na.rs: 1 function, 2 methods\nb.rs: 1 function\nc.rs: 2 functions\n"
    );
    let public = shown(&session.done(&counted(true, false)));
    assert_eq!(public, "a.rs, 21 lines, 1 symbol; no match in b.rs, c.rs\npub fn add 4-7\n");
}

#[test]
fn outline_says_why_it_has_no_symbol() {
    let mut session = session();
    std::fs::write(session.path("e.txt"), "text\n").unwrap();
    std::fs::write(session.path("f.rs"), "// nothing\n").unwrap();
    std::fs::write(session.path("h.rs"), "fn a() {}\nm! {\n    unsafe fn b() {}\n}\n").unwrap();
    std::fs::write(session.path("g.rs"), "pub unsafe fn raw() {}\nasync fn wait() {}\n").unwrap();
    let filtered = |files: &[&str], kind: &str| match outline(files) {
        Action::Outline { r#in, public, count, depth, name, .. } => {
            Action::Outline { r#in, public, count, depth, name, kinds: vec![kind.into()] }
        }
        other => other,
    };
    for (action, expected) in [
        (outline(&["e.txt"]), "no symbols: no parser for e.txt\n"),
        (outline(&["f.rs"]), "no symbols in f.rs\n"),
        (outline(&["f.rs", "e.txt"]), "no symbols in f.rs; no parser for e.txt\n"),
        (
            filtered(&["c.rs", "f.rs"], "unsafe"),
            "no symbol with kinds=['unsafe']; 2 others in c.rs\n",
        ),
        (
            filtered(&["c.rs", "g.rs"], "unsafe fn"),
            "g.rs, 2 lines, 1 symbol; no match in c.rs\npub unsafe fn raw 1\n",
        ),
        (
            filtered(&["h.rs"], "fn"),
            "h.rs, 4 lines, 1 symbol; not listed: functions in macros (h.rs:2-4)\nfn a 1\n",
        ),
        (
            filtered(&["h.rs"], "unsafe fn"),
            "no symbol with kinds=['unsafe fn']; 1 other in h.rs; not listed: functions in macros (h.rs:2-4)\n",
        ),
        (filtered(&["h.rs"], "struct"), "no symbol with kinds=['struct']; 1 other in h.rs\n"),
        (filtered(&["g.rs"], "async"), "g.rs, 2 lines, 1 symbol\nasync fn wait 2\n"),
    ] {
        assert_eq!(shown(&session.done(&action)), expected);
    }
    let fault = session.failed(&filtered(&["g.rs"], "unsafe thing"));
    assert!(fault.message.starts_with("kinds: \"unsafe thing\" is none of function, "));
}

#[test]
fn outline_of_many_markdown_files_says_what_each_is_about() {
    let mut session = session();
    for name in ["v", "w", "x"] {
        let text = format!(
            "# {name}\n\n![i](i.png)\n\n## Intro\n\nIt is [{name}](https://a.b) for all who read and write.\n"
        );
        std::fs::write(session.path(&format!("{name}.md")), text).unwrap();
    }
    std::fs::write(session.path("y.md"), "```\nno prose\n```\n").unwrap();
    let about = shown(&session.done(&outline(&["*.md"])));
    assert_eq!(
        about,
        "4 files, 8 symbols; of Markdown only what each is about: depth=2 lists headings; none in y.md\n\
         d.md: Title 1-5 – First. Second.\n\
         v.md: v 1-7 – It is v for all who read and write.\n\
         w.md: w 1-7 – It is w for all who read and write.\n\
         x.md: x 1-7 – It is x for all who read and write.\n"
    );
    let few = shown(&session.done(&outline(&["v.md", "w.md"])));
    assert!(few.contains("v.md:\n# v 1-7\n  # Intro 5-7 – It is v for all"), "{few}");
}

#[test]
fn lines_and_bodies_are_shown_by_name() {
    let mut session = session();
    let done = session.done(&Action::LinesOf { range: line("Point::norm") });
    assert_eq!(
        shown(&done),
        "a.rs:14-16\n14\t    fn norm(&self) -> u8 {\n15\t        add(self.x)\n16\t    }\n"
    );
    assert_eq!(value(&done), "    fn norm(&self) -> u8 {\n        add(self.x)\n    }\n");
    let body = session.done(&Action::Body { symbol: line("twice") });
    assert_eq!(shown(&body), "a.rs:19\n19\t        self.norm() * 2\n");
    assert_eq!(value(&body), "body(a.rs#Point::twice)");
    // A file that isn't open.
    let done = session.done(&Action::LinesOf { range: line("elsewhere") });
    assert_eq!(shown(&done), "c.rs:1\n1\tfn elsewhere() {}\n");
    let fault = session.failed(&Action::LinesOf { range: line("Point::nrm") });
    assert_eq!(fault.message, "no symbol is called Point::nrm");
    assert!(fault.hints[0].contains("Point::norm"), "{:?}", fault.hints);
}

#[test]
fn several_symbols_and_ranges_are_one_answer() {
    let mut session = session();
    let names = ["Point::twice", "a.rs:1-2", "elsewhere"];
    let files: Vec<_> = names.iter().map(|name| (*name).into()).collect();
    let several = |files| Action::Heads {
        files,
        first: 1,
        last: 400,
        not: None,
        markup: false,
        around: None,
        docs: true,
    };
    let done = session.done(&several(files));
    assert_eq!(
        shown(&done),
        "6 lines of 3 ranges\na.rs:1-2,18-20 of 21\n1\t//! Doc.\nuse std::fmt;\n18\t    fn twice(&self) -> u8 {\n        \
         self.norm() * 2\n20\t    }\nc.rs:1 of 5: fn elsewhere() {}\n"
    );
    let names = vec!["a.rs:1-2".into()];
    let not = Some("^use".into());
    let without = Action::Heads {
        files: names.clone(),
        first: 1,
        last: 400,
        not,
        markup: false,
        around: None,
        docs: true,
    };
    let done = session.done(&without);
    assert_eq!(
        shown(&done),
        "1 line of 1 range; left: 1 line that matches not\na.rs (21 lines):\n1\t//! Doc.\n"
    );
    // A range has its own lines.
    let both = Action::Heads {
        files: names,
        first: 1,
        last: 3,
        not: None,
        markup: false,
        around: None,
        docs: true,
    };
    let fault = session.failed(&both);
    assert!(fault.hints[0].contains("editor.lines([\"a.rs:1-2\"])"), "{:?}", fault.hints);
    // What isn't there is said beside the rest.
    let done = session.done(&several(vec!["norm".into(), "nowhere".into(), "src/a.rs".into()]));
    let shown = content(&done);
    assert!(shown.starts_with("a.rs:14-16 of 21\n"), "{shown}");
    assert!(shown.contains("no symbol is called nowhere; "), "{shown}");
    assert!(shown.ends_with("no such file: src/a.rs\n"), "{shown}");
    let fault = session.failed(&several(vec!["nowhere".into()]));
    assert_eq!(fault.message, "no symbol is called nowhere");
}

#[test]
fn lines_beyond_the_end_of_a_file_are_those_up_to_its_end() {
    let mut session = session();
    for range in ["a.rs:20-400", "a.rs:20-21"] {
        let done = session.done(&Action::LinesOf { range: line(range) });
        assert_eq!(shown(&done), "a.rs:20-21\n20\t    }\n21\t}\n", "{range}");
    }
    session.goto("a.rs:1");
    let done = session.done(&Action::Lines { first: Line::Number(20), last: Line::Number(99) });
    assert_eq!(shown(&done), "a.rs:20-21\n20\t    }\n21\t}\n");
    let done = session.done(&Action::LinesOf { range: line("c.rs:5-400") });
    assert!(shown(&done).starts_with("c.rs:5\n"), "{}", shown(&done));
    // Beyond it altogether, and where lines are changed, a wrong number is told.
    let fault = session.failed(&Action::LinesOf { range: line("c.rs:30-40") });
    assert_eq!(fault.message, "first: c.rs has 5 lines, not 30");
    let fault = session.failed(&Action::Delete { range: line("a.rs:20-400") });
    assert!(fault.message.contains("has 21 lines, not 400"), "{}", fault.message);
}

#[test]
fn item_moves_within_its_file_and_to_another_one() {
    let mut session = session();
    session.goto("a.rs:1");
    let done = session.done(&move_after("norm", "twice"));
    assert!(done.brief.starts_with("Point::norm, lines 14-16, now 18-20"), "{}", done.brief);
    assert_eq!(
        shown(&done).split_once('\n').unwrap().1,
        "16\t    }\n17\t\n18\t    fn norm(&self) -> u8 {\n19\t        add(self.x)\n20\t    }\n21\t}\n…\n\
         13\timpl Point {\n14\t    fn twice(&self) -> u8 {\n"
    );
    let moved = "impl Point {\n    fn twice(&self) -> u8 {\n        self.norm() * 2\n    }\n\n    \
                 fn norm(&self) -> u8 {\n        add(self.x)\n    }\n}\n";
    assert!(session.on_disk("a.rs").ends_with(moved));
    session.view();
    let done = session.done(&move_after("add", "elsewhere"));
    assert!(done.brief.starts_with("add, lines 4-7, now c.rs:3-6"), "{}", done.brief);
    assert!(session.on_disk("a.rs").starts_with("//! Doc.\nuse std::fmt;\n\nstruct Point {"));
    let c = "fn elsewhere() {}\n\n/// Adds.\npub fn add(a: u8) -> u8 {\n    a + 1\n}\n\nfn other()";
    assert!(session.on_disk("c.rs").starts_with(c), "{}", session.on_disk("c.rs"));
    session.view();
    // One undo takes back what was done in both files.
    session.done(&undo());
    assert!(
        session.on_disk("a.rs").contains("pub fn add") && session.on_disk("a.rs").ends_with(moved)
    );
    assert_eq!(session.on_disk("c.rs"), "fn elsewhere() {}\n\nfn other() {\n    elsewhere();\n}\n");
}

#[test]
fn items_are_swapped_deleted_inserted_and_given_bodies() {
    let mut session = session();
    session.goto("a.rs:1");
    session.done(&Action::Swap { one: line("norm"), other: line("twice") });
    let text = session.text();
    assert!(text.find("fn twice") < text.find("fn norm"), "{text}");
    session.view();
    session.done(&Action::Delete { range: line("add") });
    assert!(session.text().starts_with("//! Doc.\nuse std::fmt;\n\nstruct Point {"));
    session.view();
    let insert = Action::InsertBeside {
        text: text_of("fn new() -> Self {\n    Self { x: 1 }\n}"),
        before: Some(line("Point::twice")),
        after: None,
        at_start_of: None,
        at_end_of: None,
        indent: String::new(),
    };
    let done = session.done(&insert);
    let brief = "3 lines before Point::twice, now 9-11, indentation none → 4 spaces (indent='exact' keeps it)";
    assert!(done.brief.starts_with(brief), "{}", done.brief);
    assert!(session.text().contains(
        "impl Point {\n    fn new() -> Self {\n        Self { x: 1 }\n    }\n\n    fn twice"
    ));
    session.view();
    let body = Action::ReplaceBody { symbol: line("new"), text: text_of("todo!()") };
    session.done(&body);
    assert!(session.text().contains("fn new() -> Self {\n        todo!()\n    }\n"));
}

fn text_of(text: &str) -> Text {
    text.into()
}

#[test]
fn several_symbols_of_a_name_are_asked_about() {
    let text = "impl A {\n    fn go() {}\n\n    fn a() {}\n}\n\nimpl B {\n    fn go() {}\n}\n";
    let mut session = TestSession::with(&[("a.rs", text)]);
    let delete = Action::Delete { range: line("go") };
    let asked = session.asks(&delete);
    assert_eq!(asked.question.text, "2 symbols are called go");
    let labels: Vec<_> = asked.question.options.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["A::go", "B::go"]);
    // A query lists the meanings, and leaves no question open.
    let mut find = find("fn");
    if let Action::Find { r#in, .. } = &mut find {
        *r#in = vec!["a.rs#go".into()];
    }
    for query in [Action::LinesOf { range: line("go") }, find] {
        let fault = session.failed(&query);
        assert!(
            fault.message.contains("go is ambiguous: a.rs#A::go (2), a.rs#B::go (8)"),
            "{fault}"
        );
    }
    done(session.host.answer(Choice::Picked(vec![2])));
    assert_eq!(session.text(), "impl A {\n    fn go() {}\n\n    fn a() {}\n}\n\nimpl B {\n}\n");
}

#[test]
fn rename_changes_what_is_proven_and_asks_about_the_rest() {
    let mut session = session();
    let manifest = "[package]\nname = \"own\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n";
    std::fs::write(session.path("Cargo.toml"), manifest).unwrap();
    std::fs::write(session.path("lib.rs"), "mod a;\nmod b;\n").unwrap();
    session.goto("a.rs:1");
    let rename = |symbol: &str, new: &str, files: &[&str]| Action::Rename {
        symbol: line(symbol),
        new: new.into(),
        r#in: files.iter().map(|file| (*file).to_owned()).collect(),
    };
    let done = session.done(&rename("add", "plus", &[]));
    assert!(
        done.brief.contains("add → plus: 2 in a.rs, 2 in b.rs; left: 1 in comments (b.rs:")
            && done.brief.contains(
                "; these too: pipemux run 'editor.replace(\"add\", \"plus\", in=\"b.rs\", word=true, only=\"comments\", all=true)'"
            ),
        "{}",
        done.brief
    );
    assert!(
        session.on_disk("b.rs").contains("// add here")
            && session.on_disk("b.rs").contains("plus(p.norm())")
    );
    session.view();
    let asked = session.asks(&rename("norm", "length", &[]));
    assert!(
        asked.question.text.starts_with("3 places proven to be norm"),
        "{}",
        asked.question.text
    );
    // The last option takes none of them, which no answer in words does: `none` cancels.
    let options = &asked.question.options;
    assert_eq!((options.len(), options[1].label.as_str()), (2, "proven"));
    crate::support::done(session.host.answer(Choice::Picked(vec![2])));
    let b = session.on_disk("b.rs");
    assert!(b.contains("x.norm()") && b.contains("plus(p.length())"), "{b}");
    session.view();
    session.done(&undo());
    assert!(
        session.on_disk("a.rs").contains("fn norm(")
            && session.on_disk("b.rs").contains("p.norm()")
    );
}

#[test]
fn body_of_a_symbol_becomes_a_function() {
    let mut session = session();
    session.goto("a.rs:1");
    let extract = Action::ExtractMethod {
        range: line("body(a.rs#add)"),
        name: "inner".into(),
        types: String::new(),
    };
    session.done(&extract);
    assert!(session.text().contains("inner(a)"), "{}", session.text());
}

#[test]
fn file_takes_lines_at_both_of_its_ends() {
    let put = |text_of: &str, file: &str, at_start: bool| Action::InsertBeside {
        text: text(text_of),
        before: None,
        after: None,
        at_start_of: at_start.then(|| line_of(file)),
        at_end_of: (!at_start).then(|| line_of(file)),
        indent: String::new(),
    };
    let mut session = TestSession::with(&[
        ("a.md", "# Note\n\ntext\n"),
        ("b.txt", "open end"),
        ("c.rs", "fn a() {\n    1;\n}\n"),
        ("empty.txt", ""),
    ]);
    let done = session.done(&put("seen: yes", "a.md", false));
    assert!(done.brief.contains("1 line at the end of the file, now 4"), "{}", done.brief);
    assert_eq!(session.on_disk("a.md"), "# Note\n\ntext\nseen: yes\n");
    session.done(&put("---", "a.md", true));
    assert_eq!(session.on_disk("a.md"), "---\n# Note\n\ntext\nseen: yes\n");
    session.done(&put("## Section\n\nmore", "a.md", false));
    let text = session.on_disk("a.md");
    assert!(text.ends_with("seen: yes\n\n## Section\n\nmore\n"), "{text:?}");
    session.done(&put("last", "b.txt", false));
    assert_eq!(session.on_disk("b.txt").trim_end(), "open end\nlast");
    session.done(&put("first", "b.txt", true));
    assert_eq!(session.on_disk("b.txt").trim_end(), "first\nopen end\nlast");
    session.done(&put("fn b() {\n    2;\n}", "c.rs", false));
    assert_eq!(session.on_disk("c.rs"), "fn a() {\n    1;\n}\n\nfn b() {\n    2;\n}\n");
    session.done(&put("only", "empty.txt", false));
    assert_eq!(session.on_disk("empty.txt").trim_end(), "only");
}

#[test]
fn empty_line_goes_with_a_section_that_moves_to_a_line_number() {
    let guide = "# Guide\n\n## One\n\na\n\n## Two\n\nb\n\n## Three\n\nc\n";
    let manual = "# Manual\n\n## Part 1\n\nd\n\n## Part 2\n\ne\n";
    let there = "# Manual\n\n## Part 1\n\nd\n\n## Two\n\nb\n\n## Part 2\n\ne\n";
    let here = "# Guide\n\n## One\n\na\n\n## Three\n\nc\n";
    let calls = [
        ("guide.md:7-9", "manual.md:7"),
        ("guide.md#Two", "manual.md:7"),
        ("guide.md:7-9", "manual.md#Part 2"),
    ];
    for (range, before) in calls {
        let mut session = TestSession::with(&[("guide.md", guide), ("manual.md", manual)]);
        session.done(&move_before(range, before));
        assert_eq!(session.on_disk("manual.md"), there, "{range} {before}");
        assert_eq!(session.on_disk("guide.md"), here, "{range} {before}");
    }
    // Beside a line that is no item, the section is put as it is and taken out as it is: no line is
    // lost.
    let mut session = TestSession::with(&[("guide.md", guide), ("manual.md", manual)]);
    session.done(&move_before("guide.md:7-9", "manual.md:9"));
    let lines = |name: &str| session.on_disk(name).lines().count();
    assert_eq!((lines("guide.md"), lines("manual.md")), (10, 12));
    // Within one file, too.
    let mut session = TestSession::with(&[("guide.md", guide)]);
    session.done(&move_before("guide.md:11-13", "guide.md:7"));
    let swapped = "# Guide\n\n## One\n\na\n\n## Three\n\nc\n\n## Two\n\nb\n";
    assert_eq!(session.on_disk("guide.md"), swapped);
}

#[test]
fn item_that_moves_to_another_file_stands_apart_from_what_begins_it() {
    let text = "// Texts.\n\nexport function slug(text) {\n  return text;\n}\n\n/** A day. */\nexport function isoDay(date) {\n  return date;\n}\n";
    let user = "import { isoDay, slug } from './text.js';\n\nconsole.log(isoDay(slug('x')));\n";
    for header in ["// Dates.\n", "import fs from 'node:fs';\n", "// Dates.\n\n"] {
        let mut session = TestSession::with(&[("text.js", text)]);
        std::fs::write(session.path("user.js"), user).unwrap();
        std::fs::write(session.path("dates.js"), header).unwrap();
        let moved = session.done(&Action::Move {
            range: line("isoDay"),
            before: None,
            after: None,
            at_start_of: None,
            at_end_of: Some(line("dates.js")),
        });
        let brief = "isoDay, lines 7-10, now dates.js:3-6; imports mended in user.js";
        assert!(moved.brief.starts_with(brief), "{}", moved.brief);
        let item = "/** A day. */\nexport function isoDay(date) {\n  return date;\n}\n";
        assert_eq!(session.on_disk("dates.js"), format!("{}\n\n{item}", header.trim_end()));
    }
}

#[test]
fn rename_is_not_barred_by_files_that_it_cannot_read_and_names_those_that_it_does_not_parse() {
    let mut session =
        TestSession::with(&[("a.c", "int calc(int a) { return a; }\n#define CALL(x) calc(x)\n")]);
    let big = format!("// calc\n{}", "x".repeat(5 * 1024 * 1024));
    std::fs::write(session.path("big.js"), big).unwrap();
    std::fs::write(session.path("i.html"), "<p onclick=\"calc()\">recalc</p>\n").unwrap();
    std::fs::write(session.path("latin.txt"), b"calc caf\xe9\n").unwrap();
    std::fs::write(session.path("b.bin"), b"calc\0\0").unwrap();
    let done = session.done(&Action::Rename {
        symbol: line("calc"),
        new: "compute".into(),
        r#in: Vec::new(),
    });
    let left = [
        "calc → compute: 1 in a.c; left: 1 in code that isn't parsed (a.c:2)",
        "2 in files of other kinds (big.js:1, i.html:1",
        "not read: latin.txt",
        "only=\"code\"",
    ];
    for part in left {
        assert!(done.brief.contains(part), "{part}: {}", done.brief);
    }
    assert!(!done.brief.contains("b.bin"), "{}", done.brief);
}

#[test]
fn lines_are_named_by_number_in_files_of_any_size() {
    let mut session = session();
    let rows: String = (0..200_000).map(|row| format!("{row},{}\n", "a".repeat(24))).collect();
    std::fs::write(session.path("d.csv"), &rows).unwrap();
    let done = session.done(&Action::LinesOf { range: line("d.csv:100000-100001") });
    assert!(shown(&done).contains("99999,aaa") && shown(&done).contains("100000,aaa"));
    session.done(&Action::Delete { range: line("d.csv:100000") });
    assert_eq!(session.on_disk("d.csv").lines().count(), 199_999);
}

#[test]
fn rename_names_what_is_left_in_markdown_and_the_call_that_replaces_it() {
    let mut session = TestSession::with(&[("a.py", "def load(x):\n    return x\n")]);
    std::fs::write(session.path("README.md"), "# `load`\n\nIt can load: see `load(x)`, reload.\n")
        .unwrap();
    let done = session.done(&Action::Rename {
        symbol: line("load"),
        new: "fetch".into(),
        r#in: Vec::new(),
    });
    assert_eq!(
        done.brief,
        "load → fetch: 1 in a.py; left: 3 in files of other kinds (README.md:1, README.md:3); these too: \
         pipemux run 'editor.replace(\"load\", \"fetch\", in=\"README.md\", word=true, all=true)'"
    );
    // Where it would be cut, there is no command.
    let long = format!("{}.md", "long-name-of-a-chapter-".repeat(8));
    std::fs::write(session.path(&long), "See fetch.\n").unwrap();
    let done = session.done(&Action::Rename {
        symbol: line("fetch"),
        new: "get".into(),
        r#in: Vec::new(),
    });
    assert!(done.brief.contains("1 in files of other kinds") && !done.brief.contains("these too"));
}

#[test]
fn file_that_can_not_be_read_keeps_nobody_from_moving_an_item() {
    let text = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";
    let mut session = TestSession::with(&[("x.py", text)]);
    std::fs::write(session.path("old.py"), b"# caf\xe9\nfrom x import g\n").unwrap();
    std::fs::write(session.path("y.py"), "import os\n").unwrap();
    let moved = session.done(&Action::Move {
        range: line("g"),
        before: None,
        after: None,
        at_start_of: None,
        at_end_of: Some(line("y.py")),
    });
    assert!(
        moved.brief.contains("not looked into, since it can't be read: old.py"),
        "{}",
        moved.brief
    );
    assert_eq!(session.on_disk("y.py"), "import os\n\n\ndef g():\n    return 2\n");
}
