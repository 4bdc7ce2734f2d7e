//! Items that move to another file, and the imports that follow them.

use crate::support::*;

const TEXT: &str = "// Texts.\n\nexport function slug(text) {\n  return text;\n}\n\n/** A day. */\nexport function isoDay(date) {\n  return date;\n}\n";
const ITEM: &str = "/** A day. */\nexport function isoDay(date) {\n  return date;\n}\n";
const USER: &str = "import { isoDay, slug } from './text.js';\n\nconsole.log(isoDay(slug('x')));\n";

fn to_end(range: &str, file: &str) -> Action {
    Action::Move {
        range: line_of(range),
        before: None,
        after: None,
        at_start_of: None,
        at_end_of: Some(line_of(file)),
    }
}

/// Starts a session with the first file open and the others on disk.
fn session(files: &[(&str, &str)]) -> TestSession {
    let session = TestSession::with(&files[..1]);
    for (name, text) in &files[1..] {
        let path = session.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    session
}

#[test]
fn moved_item_stands_apart_and_is_imported_from_its_new_file() {
    for header in ["// Dates.\n", "import fs from 'node:fs';\n", "// Dates.\n\n"] {
        let mut session = session(&[("text.js", TEXT), ("user.js", USER), ("dates.js", header)]);
        let moved = session.done(&to_end("isoDay", "dates.js"));
        let brief = "isoDay, lines 7-10, now dates.js:3-6; imports mended in user.js";
        assert!(moved.brief.starts_with(brief), "{}", moved.brief);
        assert_eq!(session.on_disk("dates.js"), format!("{}\n\n{ITEM}", header.trim_end()));
        let user = "import { slug } from './text.js';\nimport { isoDay } from './dates.js';\n\nconsole.log(isoDay(slug('x')));\n";
        assert_eq!(session.on_disk("user.js"), user);
        // One undo takes the whole of it back, byte for byte.
        session.view();
        session.done(&undo());
        assert_eq!(session.on_disk("text.js"), TEXT);
        assert_eq!(session.on_disk("user.js"), USER);
        assert_eq!(session.on_disk("dates.js"), header);
    }
}

#[test]
fn imports_that_come_above_a_moved_item_count_in_its_lines() {
    let text = "import { pad } from './pad.js';\n\nexport const zone = 1;\n\nexport const day = (x) => pad(x, zone);\n\nday(1);";
    let mut session =
        session(&[("a.js", text), ("lib/b.js", ""), ("pad.js", "export const pad = 1;\n")]);
    session.goto("a.js:1");
    let moved = session.done(&to_end("day", "lib/b.js"));
    let brief = "day, line 5, now lib/b.js:4; imports mended in a.js, lib/b.js";
    assert!(moved.brief.starts_with(brief), "{}", moved.brief);
    let there = "import { zone } from '../a.js';\nimport { pad } from '../pad.js';\n\nexport const day = (x) => pad(x, zone);\n";
    assert_eq!(session.on_disk("lib/b.js"), there);
    let here = "import { day } from './lib/b.js';\n\nexport const zone = 1;\n\nday(1);";
    assert_eq!(session.on_disk("a.js"), here);
    let shown: String = content(&moved);
    assert!(shown.contains("4\texport const day"), "{shown}");
    session.view();
    session.done(&undo());
    assert_eq!(session.on_disk("a.js"), text);
    assert_eq!(session.on_disk("lib/b.js"), "");
}

#[test]
fn remains_are_named_and_rivals_are_refused() {
    let all = "import './style.css';\nimport * as t from './text.js';\nt.isoDay();\n";
    let mut session = session(&[
        ("text.js", TEXT),
        ("all.js", all),
        ("dates.js", ""),
        ("rival.js", "export const isoDay = 1;\n"),
    ]);
    let fault = session.failed(&to_end("isoDay", "rival.js"));
    assert!(fault.message.contains("rival.js already has isoDay"), "{fault}");
    let moved = session.done(&to_end("isoDay", "dates.js"));
    let brief = "isoDay, lines 7-10, now dates.js:1-4; left: all.js:2 (namespace import)";
    assert!(moved.brief.starts_with(brief), "{}", moved.brief);
    assert_eq!(session.on_disk("all.js"), all);
}

#[test]
fn other_languages_name_the_files_that_use_the_item() {
    let mut session = session(&[
        ("a.rs", "pub fn f() {}\n\npub fn g() {}\n"),
        ("b.rs", "pub fn h() {}\n"),
        ("c.rs", "use crate::a::f;\n\nfn i() {\n    f();\n}\n"),
        ("src/lib.rs", "#[path = \"../a.rs\"]\nmod a;\n#[path = \"../c.rs\"]\nmod c;\n"),
        ("Cargo.toml", "[package]\nname = \"own\"\nedition = \"2021\"\n"),
        ("d.rs", "use crate::a::f;\n"),
    ]);
    let moved = session.done(&to_end("f", "b.rs"));
    assert!(
        moved.brief.contains(
            "; used in c.rs: their imports stay as they are; perhaps used in d.rs: their imports"
        ),
        "{}",
        moved.brief
    );
}

#[test]
fn new_file_is_made_for_a_moved_item_and_undone_with_it() {
    let text = TEXT.replace('\n', "\r\n");
    let mut session = session(&[("text.js", &text), ("user.js", USER)]);
    let moved = session.done(&to_end("isoDay", "src/deep/dates.js"));
    let brief =
        "isoDay, lines 7-10, now src/deep/dates.js:1-4 (new file); imports mended in user.js";
    assert!(moved.brief.starts_with(brief), "{}", moved.brief);
    assert_eq!(session.on_disk("src/deep/dates.js"), ITEM.replace('\n', "\r\n"));
    assert!(session.on_disk("user.js").contains("import { isoDay } from './src/deep/dates.js';"));
    session.view();
    session.done(&undo());
    assert!(!session.path("src/deep/dates.js").exists());
    assert_eq!((session.on_disk("text.js"), session.on_disk("user.js")), (text, USER.to_owned()));
    session.view();
    // What is no name of a file of code is none.
    let fault = session.failed(&to_end("isoDay", "dates"));
    assert!(fault.message.contains("no symbol is called dates"), "{fault}");
    let fault = session.failed(&to_end("isoDay", "../outside.js"));
    assert!(fault.message.contains("no symbol is called"), "{fault}");
}

#[test]
fn several_moves_follow_each_other_and_a_preview_changes_nothing() {
    let mut session = session(&[("text.js", TEXT), ("user.js", USER), ("dates.js", "")]);
    let preview = session.host.preview(&to_end("isoDay", "dates.js"));
    let shown = content(&done(preview));
    assert!(shown.contains("+import { isoDay } from './dates.js';"), "{shown}");
    assert_eq!(session.on_disk("user.js"), USER);
    session.done(&to_end("isoDay", "dates.js"));
    session.done(&to_end("slug", "dates.js"));
    let user = "import { isoDay, slug } from './dates.js';\n\nconsole.log(isoDay(slug('x')));\n";
    assert_eq!(session.on_disk("user.js"), user);
    assert_eq!(session.on_disk("text.js").trim_end(), "// Texts.");
    session.view();
    session.done(&undo());
    session.view();
    session.done(&undo());
    assert_eq!(
        (session.on_disk("text.js"), session.on_disk("user.js")),
        (TEXT.into(), USER.into())
    );
}

#[test]
fn user_that_changed_meanwhile_is_not_overwritten() {
    let mut session = session(&[("text.js", TEXT), ("user.js", USER), ("dates.js", "")]);
    session.done(&Action::Open { path: vec!["user.js".into()] });
    session.goto("text.js:1");
    let theirs = USER.replace("'x'", "'theirs'");
    session.write_externally("user.js", &theirs);
    let _ = session.host.invoke(&to_end("isoDay", "dates.js"));
    assert!(session.on_disk("user.js").contains("'theirs'"), "{}", session.on_disk("user.js"));
}

#[test]
fn function_of_python_moves_and_undo_brings_back_the_same_bytes() {
    let a = "import os\n\n\ndef f():\n    return os.sep\n\n\ndef g():\n    return f()";
    let user = "from a import (\n    f,\n    g,  # both\n)\n\nf()\n";
    let mut session = session(&[("a.py", a), ("b.py", "import sys\n"), ("use.py", user)]);
    let moved = session.done(&to_end("g", "b.py"));
    let brief = "g, lines 8-9, now b.py:5-6; imports mended in b.py, use.py";
    assert!(moved.brief.starts_with(brief), "{}", moved.brief);
    let b = "import sys\nfrom a import f\n\n\ndef g():\n    return f()\n";
    assert_eq!(session.on_disk("b.py"), b);
    assert_eq!(session.on_disk("use.py"), "from a import (\n    f,\n)\nfrom b import g\n\nf()\n");
    session.view();
    session.done(&undo());
    assert_eq!((session.on_disk("a.py"), session.on_disk("use.py")), (a.into(), user.into()));
    assert_eq!(session.on_disk("b.py"), "import sys\n");
}
