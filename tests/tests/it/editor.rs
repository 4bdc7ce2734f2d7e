//! An agent edits real files.

use pipemux_tests::World;

/// A source file of that many lines; every 400th one has the word `Session`, spelled so.
fn source(lines: usize) -> String {
    let line = |number: usize| match number % 400 {
        0 => format!("    let owner: Session = table.get({number})?; // whose it is\n"),
        n if n % 7 == 0 => "\n".to_owned(),
        _ => format!("    let value_{number} = compute({number}, \"é 深い\\n\");\n"),
    };
    (1..=lines).map(line).collect()
}

#[test]
fn a_replace_with_many_matches_asks_and_its_result_is_what_sed_makes() {
    let world = World::new();
    let before = source(5_600);
    world.write("big.rs", &before);
    world.pipemux(&["open", "editor", "big.rs"]).ok().has("5600 lines");
    let asked = world.run("editor.replace(\"Session\", \"SessionId\"); editor.save()");
    asked.exits(5).has("14 matches; then editor.save").has("14. [line 5600]");
    assert_eq!(world.read("big.rs"), before, "asking changes nothing");

    let done = world.pipemux(&["answer", "all"]);
    done.ok().has("1 done · replace: 14 matches").has("2 done · save");
    assert_eq!(world.read("big.rs"), before.replace("Session", "SessionId"));
    assert!(done.lines() < 40, "only what changed: {done}");
}

#[test]
fn matches_are_picked_by_number_left_out_or_clicked() {
    let world = World::new();
    let text = "one Session\ntwo\nthree Session\nfour Session\n";
    world.write("a.rs", text);
    world.pipemux(&["open", "editor", "a.rs"]).ok();
    let ask = || world.run("editor.replace('Session', 'Id'); editor.save()");

    ask().exits(5);
    world.pipemux(&["answer", "1,3"]).ok().has("2 of 3 matches");
    assert_eq!(world.read("a.rs"), "one Id\ntwo\nthree Session\nfour Id\n");

    world.run("editor.undo(); editor.save()").ok();
    assert_eq!(world.read("a.rs"), text);
    ask().exits(5);
    world.pipemux(&["answer", "all", "but", "2"]).ok();
    assert_eq!(world.read("a.rs"), "one Id\ntwo\nthree Session\nfour Id\n");

    world.run("editor.undo(); editor.save()").ok();
    let link = ask().exits(5).link("line 3");
    world.pipemux(&["click", &format!("link:{link}")]).ok().has("1 of 3 matches").has("save");
    assert_eq!(world.read("a.rs"), "one Session\ntwo\nthree Id\nfour Session\n");

    world.run("editor.undo(); editor.save()").ok();
    let link = ask().exits(5).link("all");
    world.pipemux(&["answer", &format!("link:{link}")]).ok().has("3 matches");
    assert_eq!(world.read("a.rs"), text.replace("Session", "Id"));
}

#[test]
fn a_question_that_is_declined_changes_nothing_and_the_later_steps_do_not_run() {
    let world = World::new();
    world.write("a.txt", "x\nx\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.insert(1, 'new'); editor.replace('x', 'y'); editor.save()").exits(5);
    // While it is open, looking is free and acting is refused.
    world.pipemux(&["view"]).ok().has("new");
    world.run("editor.save()").exits(9).has("pipemux answer");
    world.pipemux(&["answer", "7"]).exits(2).has("no answer");
    world.pipemux(&["answer", "none"]).has("cancelled").has("not run: editor.save");
    assert_eq!(world.read("a.txt"), "x\nx\n");
    world.pipemux(&["answer", "none"]).exits(3).has("no question is open");
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "new\nx\nx\n");
}

#[test]
fn long_text_arrives_byte_for_byte() {
    let world = World::new();
    let awkward = "`tick` \"double\" 'single' \\ back \\n\n```\nfence\n```\n$HOME $(ls) <<END\n\
                   深い森 🦀\u{200d} é\n\ttab\n[a](link:1)\n'''\n\"\"\"\nobj:1";
    world.write("a.md", "first\nlast\n");
    world.pipemux(&["open", "editor", "a.md"]).ok();
    let call = ["run", "editor.insert(2, text=stdin); editor.save()"];
    world.command(&call).stdin(format!("{awkward}\n").as_bytes()).output().ok();
    assert_eq!(world.read("a.md"), format!("first\n{awkward}\nlast\n"));

    world.write("b.md", "first\nlast\n");
    world.pipemux(&["open", "editor", "b.md"]).ok();
    let code = format!("editor.insert(2, text=<<'RAW')\n{awkward}\nRAW\neditor.save()\n");
    world.command(&["run", "-"]).stdin(code.as_bytes()).output().ok();
    assert_eq!(world.read("b.md"), format!("first\n{awkward}\nlast\n"));

    let script = format!("editor.insert(2, text=<<RAW)\n{awkward}\nRAW\neditor.save()");
    world.run("editor.undo()").ok();
    world.run(&script).ok();
    assert_eq!(world.read("b.md"), format!("first\n{awkward}\nlast\n"));
}

#[test]
fn a_note_keeps_every_byte_of_a_text_but_its_last_newline() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let text = "dos\r\nold mac\runix\n\u{2028}\u{feff}\u{1b}[31mred\ttab  \n\n深い`~\\";
    let add = ["run", "notebook.add('odd', text=stdin)"];
    let added = world.command(&add).stdin(format!("{text}\n").as_bytes()).output();
    added.ok().lacks("\u{1b}").lacks("\r");
    let read = world.pipemux(&["read", &format!("obj:{}", added.obj("odd"))]);
    assert_eq!(String::from_utf8_lossy(&read.ok().stdout), text);
}

#[test]
fn line_endings_marks_and_a_missing_last_newline_stay_as_they_are() {
    let world = World::new();
    world.write("dos.txt", "\u{feff}eins\r\nzwei\r\ndrei");
    world.pipemux(&["open", "editor", "dos.txt"]).ok();
    world
        .command(&["run", "editor.replace_lines(2, 2, text=stdin); editor.save()"])
        .stdin("zwo\nund zwanzig\n".as_bytes())
        .output()
        .ok();
    assert_eq!(world.read("dos.txt"), "\u{feff}eins\r\nzwo\r\nund zwanzig\r\ndrei");
}

#[test]
fn line_numbers_are_those_that_were_last_seen_also_after_earlier_steps() {
    let world = World::new();
    let text: String = (1..=12).map(|number| format!("line {number}\n")).collect();
    world.write("a.txt", &text);
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world
        .run("editor.delete_lines(1, 3); editor.replace_lines(10, 11, 'ten'); editor.move_lines(12, 12, 4); editor.save()")
        .ok();
    assert_eq!(
        world.read("a.txt"),
        "line 12\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\nten\n"
    );
}

#[test]
fn numbers_that_another_reader_made_stale_are_refused_and_others_go_on() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\nthree\nfour\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["view"]).ok();
    bob(&["run", "editor.replace_lines(2, 2, \"TWO\\nand a half\")"]).ok();

    world
        .run("editor.replace_lines(2, 2, 'mine')")
        .exits(4)
        .has("changed since you saw it")
        .has("and a half");
    // That answer showed the present lines; line 4 is now 5, and means what was last seen.
    world.run("editor.replace_lines(5, 5, 'FOUR'); editor.save()").ok();
    assert_eq!(world.read("a.txt"), "one\nTWO\nand a half\nthree\nFOUR\n");
}

#[test]
fn a_file_that_changed_on_disk_is_never_overwritten_unasked() {
    let world = World::new();
    world.write("a.txt", "mine\nrest\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.replace_lines(1, 1, 'edited')").ok();
    world.write("a.txt", "theirs\nrest\n");
    let refused = world.run("editor.save()");
    assert!(matches!(refused.exit, 4 | 5 | 9), "{refused}");
    assert_eq!(world.read("a.txt"), "theirs\nrest\n");
}

#[test]
fn text_goes_from_app_to_app_by_reference() {
    let world = World::new();
    let text: String = (1..=30).map(|number| format!("line {number} 深い\n")).collect();
    world.write("a.txt", &text);
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    let added = world.run("notebook.add(title=\"x\", text=editor.lines(1, 20))");
    added.ok().has("20 lines").has("a.txt:1-20");
    let read = world.pipemux(&["read", &format!("obj:{}", added.obj("x"))]);
    let twenty: String = text.split_inclusive('\n').take(20).collect();
    assert_eq!(read.ok().text().trim_end(), twenty.trim_end());

    world.run("editor.select(3, 4)").ok();
    let added = world.run("notebook.add(title=\"sel\", text=editor.selection)");
    let read = world.pipemux(&["read", &format!("obj:{}", added.ok().obj("sel"))]);
    assert_eq!(read.ok().text().trim_end(), "line 3 深い\nline 4 深い");
}

#[test]
fn several_files_live_in_one_session() {
    let world = World::new();
    world.write("a.txt", "a1\na2\n");
    world.write("b.txt", "b1\nb2\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "editor", "--", "b.txt"]).ok().has("b1");
    world.run("editor.replace_lines('a.txt:2', 'a.txt:2', 'A2')").ok();
    world.run("editor.open('a.txt'); editor.save()").ok();
    assert_eq!(
        (world.read("a.txt").as_str(), world.read("b.txt").as_str()),
        ("a1\nA2\n", "b1\nb2\n")
    );
    let other = world.pipemux(&["open", "editor/second", "b.txt"]);
    other.ok().has("editor/second");
    // A bare name that two windows have is a choice, not a guess.
    world.run("replace('b1', 'B1')").exits(5).has("2. [editor/second]");
    world.pipemux(&["answer", "2"]).ok();
    world.run("editor/second.save()").ok();
    assert_eq!(world.read("b.txt"), "B1\nb2\n");
}

#[test]
fn undo_in_an_answer_takes_back_the_change_it_belongs_to() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let undo = world.run("editor.replace('one', 'ONE')").ok().link("undo");
    world.pipemux(&["click", &undo.to_string()]).ok();
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "one\ntwo\n");
}
