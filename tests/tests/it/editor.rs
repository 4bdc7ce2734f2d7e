//! An agent edits files on disk.

use pipemux_tests::TestEnv;

/// A source file of that many lines, with the word `Session` in every 400th line.
fn source(lines: usize) -> String {
    let line = |number: usize| match number % 400 {
        0 => format!("    let owner: Session = table.get({number})?; // whose it is\n"),
        n if n % 7 == 0 => "\n".to_owned(),
        _ => format!("    let value_{number} = compute({number}, \"é 深い\\n\");\n"),
    };
    (1..=lines).map(line).collect()
}

#[test]
fn replace_with_many_matches_asks_first() {
    let env = TestEnv::new();
    let before = source(5_600);
    env.write("big.rs", &before);
    env.pipemux(&["open", "editor", "big.rs"]).ok().has("5600 lines");
    let asked = env.run("editor.replace(\"Session\", \"SessionId\"); editor.save()");
    asked.exits(5).has("14 matches; then editor.save").has("14. [line 5600]");
    assert_eq!(env.read("big.rs"), before, "asking changes nothing");

    let done = env.pipemux(&["answer", "all"]);
    done.ok().has("1 done · replace: 14 matches").has("2 done · save");
    assert_eq!(env.read("big.rs"), before.replace("Session", "SessionId"));
    assert!(done.lines() < 40, "only what changed: {done}");
}

#[test]
fn matches_are_picked_by_number_exclusion_or_click() {
    let env = TestEnv::new();
    let text = "one Session\ntwo\nthree Session\nfour Session\n";
    env.write("a.rs", text);
    env.pipemux(&["open", "editor", "a.rs"]).ok();
    let ask = || env.run("editor.replace('Session', 'Id'); editor.save()");

    ask().exits(5);
    env.pipemux(&["answer", "1,3"]).ok().has("2 of 3 matches");
    assert_eq!(env.read("a.rs"), "one Id\ntwo\nthree Session\nfour Id\n");

    env.run("editor.undo(); editor.save()").ok();
    assert_eq!(env.read("a.rs"), text);
    ask().exits(5);
    env.pipemux(&["answer", "all", "but", "2"]).ok();
    assert_eq!(env.read("a.rs"), "one Id\ntwo\nthree Session\nfour Id\n");

    env.run("editor.undo(); editor.save()").ok();
    let link = ask().exits(5).link("line 3");
    env.pipemux(&["click", &format!("link:{link}")]).ok().has("1 of 3 matches").has("save");
    assert_eq!(env.read("a.rs"), "one Session\ntwo\nthree Id\nfour Session\n");

    env.run("editor.undo(); editor.save()").ok();
    let link = ask().exits(5).link("all");
    env.pipemux(&["answer", &format!("link:{link}")]).ok().has("3 matches");
    assert_eq!(env.read("a.rs"), text.replace("Session", "Id"));
}

#[test]
fn declined_question_changes_nothing_and_skips_later_steps() {
    let env = TestEnv::with_editor("x\nx\n");
    env.run("editor.insert(1, 'new'); editor.replace('x', 'y'); editor.save()").exits(5);
    // While the question is open, a view is answered and a run waits.
    env.pipemux(&["view"]).ok().has("new");
    env.run("editor.save()").exits(5).has("kept: your step runs behind the answer");
    env.pipemux(&["answer", "7"]).exits(2).has("no answer");
    env.pipemux(&["answer", "none"]).has("cancelled").has("not run: editor.save, editor.save");
    assert_eq!(env.read("a.txt"), "new\nx\nx\n", "what was done before the question is on disk");
    env.pipemux(&["answer", "none"]).exits(3).has("no question is open");
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "new\nx\nx\n");
}

#[test]
fn awkward_text_arrives_byte_for_byte() {
    let env = TestEnv::new();
    let awkward = "`tick` \"double\" 'single' \\ back \\n\n```\nfence\n```\n$HOME $(ls) <<END\n\
                   深い森 🦀\u{200d} é\n\ttab\n[a](link:1)\n'''\n\"\"\"\nobj:1";
    env.write("a.md", "first\nlast\n");
    env.pipemux(&["open", "editor", "a.md"]).ok();
    let call = ["run", "editor.insert(2, text=stdin); editor.save()"];
    env.command(&call).stdin(format!("{awkward}\n").as_bytes()).output().ok();
    assert_eq!(env.read("a.md"), format!("first\n{awkward}\nlast\n"));

    env.write("b.md", "first\nlast\n");
    env.pipemux(&["open", "editor", "b.md"]).ok();
    let code = format!("editor.insert(2, text=<<'RAW')\n{awkward}\nRAW\neditor.save()\n");
    env.command(&["run", "-"]).stdin(code.as_bytes()).output().ok();
    assert_eq!(env.read("b.md"), format!("first\n{awkward}\nlast\n"));

    let script = format!("editor.insert(2, text=<<RAW)\n{awkward}\nRAW\neditor.save()");
    env.run("editor.undo()").ok();
    env.run(&script).ok();
    assert_eq!(env.read("b.md"), format!("first\n{awkward}\nlast\n"));
}

#[test]
fn note_keeps_every_byte_except_the_last_newline() {
    let env = TestEnv::with_notebook();
    let text = "dos\r\nold mac\runix\n\u{2028}\u{feff}\u{1b}[31mred\ttab  \n\n深い`~\\";
    let add = ["run", "notebook.add('odd', text=stdin)"];
    let added = env.command(&add).stdin(format!("{text}\n").as_bytes()).output();
    added.ok().lacks("\u{1b}").lacks("\r");
    let read = env.pipemux(&["read", &format!("obj:{}", added.obj("odd"))]);
    assert_eq!(String::from_utf8_lossy(&read.ok().stdout), text);
}

#[test]
fn line_endings_and_byte_order_mark_are_preserved() {
    let env = TestEnv::new();
    env.write("dos.txt", "\u{feff}eins\r\nzwei\r\ndrei");
    env.pipemux(&["open", "editor", "dos.txt"]).ok();
    env.command(&["run", "editor.replace_lines(2, 2, text=stdin); editor.save()"])
        .stdin("zwo\nund zwanzig\n".as_bytes())
        .output()
        .ok();
    assert_eq!(env.read("dos.txt"), "\u{feff}eins\r\nzwo\r\nund zwanzig\r\ndrei");
}

#[test]
fn line_numbers_mean_the_lines_last_seen() {
    let env = TestEnv::new();
    let text: String = (1..=12).map(|number| format!("line {number}\n")).collect();
    env.write("a.txt", &text);
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env
        .run("editor.delete_lines(1, 3); editor.replace_lines(10, 11, 'ten'); editor.move_lines(12, 12, 4); editor.save()")
        .ok();
    assert_eq!(env.read("a.txt"), "line 12\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\nten\n");
}

#[test]
fn line_numbers_changed_by_another_reader_are_stale() {
    let env = TestEnv::with_editor("one\ntwo\nthree\nfour\n");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", "editor.replace_lines(2, 2, \"TWO\\nand a half\")"]).ok();

    env.run("editor.replace_lines(2, 2, 'mine')")
        .exits(4)
        .has("changed since you saw it")
        .has("and a half");
    // The refusal showed the current lines, so line 5 now means the former line 4.
    env.run("editor.replace_lines(5, 5, 'FOUR'); editor.save()").ok();
    assert_eq!(env.read("a.txt"), "one\nTWO\nand a half\nthree\nFOUR\n");
}

#[test]
fn file_changed_on_disk_is_not_overwritten() {
    let env = TestEnv::with_editor("mine\nrest\n");
    env.run("editor.hold(); editor.replace_lines(1, 1, 'edited')").ok();
    env.write("a.txt", "theirs\nrest\n");
    let refused = env.run("editor.save()");
    refused.exits(5).has("changed on disk");
    assert_eq!(env.read("a.txt"), "theirs\nrest\n");
}

#[test]
fn text_moves_between_apps_by_reference() {
    let env = TestEnv::new();
    let text: String = (1..=30).map(|number| format!("line {number} 深い\n")).collect();
    env.write("a.txt", &text);
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    let added = env.run("notebook.add(title=\"x\", text=editor.lines(1, 20))");
    added.ok().has("20 lines").has("a.txt:1-20");
    let read = env.pipemux(&["read", &format!("obj:{}", added.obj("x"))]);
    let twenty: String = text.split_inclusive('\n').take(20).collect();
    assert_eq!(read.ok().text().trim_end(), twenty.trim_end());

    env.run("editor.select(3, 4)").ok();
    let added = env.run("notebook.add(title=\"sel\", text=editor.selection)");
    let read = env.pipemux(&["read", &format!("obj:{}", added.ok().obj("sel"))]);
    assert_eq!(read.ok().text().trim_end(), "line 3 深い\nline 4 深い");
}

#[test]
fn one_session_edits_several_files() {
    let env = TestEnv::new();
    env.write("a.txt", "a1\na2\n");
    env.write("b.txt", "b1\nb2\n");
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.pipemux(&["open", "editor", "--", "b.txt"]).ok().has("b1");
    env.run("editor.replace_lines('a.txt:2', 'a.txt:2', 'A2')").ok();
    env.run("editor.open('a.txt'); editor.save()").ok();
    assert_eq!((env.read("a.txt").as_str(), env.read("b.txt").as_str()), ("a1\nA2\n", "b1\nb2\n"));
    let other = env.pipemux(&["open", "editor/second", "b.txt"]);
    other.ok().has("editor/second");
    // An action that two windows have is a question, not a guess.
    env.run("replace('b1', 'B1')").exits(5).has("2. [editor/second]");
    env.pipemux(&["answer", "2"]).ok();
    env.run("editor/second.save()").ok();
    assert_eq!(env.read("b.txt"), "B1\nb2\n");
}

#[test]
fn undo_link_reverts_its_own_change() {
    let env = TestEnv::with_editor("one\ntwo\n");
    let undo = env.run("editor.replace('one', 'ONE')").ok().link("undo");
    env.pipemux(&["click", &undo.to_string()]).ok();
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "one\ntwo\n");
}

#[test]
fn lines_that_were_never_shown_are_shown_when_they_are_replaced() {
    let env = TestEnv::new();
    env.write("a.rs", "fn a() {}\nfn b() {}\nfn c() {}\n");
    let blind = env.run("editor.replace_lines('a.rs:2', 'fn d() {}')");
    blind.ok().has("-2\tfn b() {}\n").has("2\tfn d() {}\n");
    // What the answer showed is known.
    env.run("editor.replace_lines('a.rs:2', 'fn e() {}')").ok().lacks("fn d()");
    env.run("editor.replace_lines('c', 'fn f() {}')").ok().lacks("-3").has("3\tfn f() {}\n");
    env.run("editor.lines('a.rs:1')").ok();
    env.run("editor.replace_lines(range='a.rs:1', text='')").ok().lacks("-1\t");
    assert_eq!(env.read("a.rs"), "fn e() {}\nfn f() {}\n");
}
