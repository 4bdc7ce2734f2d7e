//! The `undo` link of an answer reverts the change that it belongs to, or nothing.

use pipemux_tests::{Output, TestEnv};

fn click(env: &TestEnv, link: u64) -> Output {
    env.pipemux(&["click", &link.to_string()])
}

#[test]
fn one_change_of_the_editor_is_taken_back_whatever_came_later() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    env.run("editor.replace('one', 'ONE')").ok();
    let second = env.run("editor.replace('two', 'TWO')").ok().link("undo");
    // A person's change stays.
    env.write("a.txt", "ONE\nTWO\nthree\nby a person\n");
    let back = env.pipemux(&["undo", "1"]);
    back.ok().has("replace in a.txt: line 1 as before");
    assert_eq!(env.read("a.txt"), "one\nTWO\nthree\nby a person\n");
    click(&env, second).ok();
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\nby a person\n");
    // Each change can be undone once, and made again alone.
    click(&env, second).ok().has("no change: it is undone already");
    let first = click(&env, back.link("redo")).ok().link("undo");
    assert_eq!(env.read("a.txt"), "ONE\ntwo\nthree\nby a person\n");
    // Where the text is another one by now, both are shown and nothing is written.
    env.run("editor.replace('ONE', 'uno', in='a.txt')").ok();
    let refused = click(&env, first);
    refused.exits(1).has("a.txt:1 now:\nuno\n").has("instead of it:\none\n");
    assert_eq!(env.read("a.txt"), "uno\ntwo\nthree\nby a person\n");
}

#[test]
fn round_that_is_made_again_can_be_taken_back_again() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.run("editor.replace('one', 'ONE'); editor.replace('two', 'TWO')").ok().has("\nround 1 · ");
    env.run("editor.insert('end', at_end_of='a.txt')").ok();
    env.pipemux(&["undo", "1"]).ok().has("\nround 3 · ");
    assert_eq!(env.read("a.txt"), "one\ntwo\nend\n");
    env.pipemux(&["undo", "1"]).exits(9).has("undone already, in round 3");
    env.pipemux(&["undo", "3"]).ok();
    assert_eq!(env.read("a.txt"), "ONE\nTWO\nend\n");
    // This holds for the next daemon, too.
    env.kill_daemon();
    let history = env.pipemux(&["history"]);
    let undone = |number: &str| {
        let line = history.text().lines().find(|line| line.starts_with(number)).map(str::to_owned);
        line.expect("a line a round").ends_with(" · undone")
    };
    assert!(!undone("1. ") && !undone("2. ") && undone("3. ") && !undone("4. "));
    env.pipemux(&["undo", "1"]).ok();
    assert_eq!(env.read("a.txt"), "one\ntwo\nend\n");
}

#[test]
fn older_undo_of_a_notebook_entry_is_refused() {
    let env = TestEnv::with_notebook();
    let entry = env.run("notebook.add('plan', 'v1')").ok().obj("plan");
    let other = env.run("notebook.add('other', 'o1')").ok().obj("other");
    let first = env.run(&format!("notebook.edit(obj:{entry}, 'v2')")).ok().link("undo");
    let second = env.run(&format!("notebook.edit(obj:{entry}, 'v3')")).ok().link("undo");
    let refused = click(&env, first);
    refused.exits(1).has("nothing was undone").has("next:");
    let read = |entry: u64| {
        let read = env.pipemux(&["read", &format!("obj:{entry}")]);
        read.ok().text().trim_end().to_owned()
    };
    assert_eq!(read(entry), "v3", "nothing was undone");
    // A change of another entry doesn't prevent the undo.
    env.run(&format!("notebook.edit(obj:{other}, 'o2')")).ok();
    click(&env, second).ok();
    assert_eq!((read(entry), read(other)), ("v2".to_owned(), "o2".to_owned()));
    click(&env, second).exits(1).has("nothing was undone");
    assert_eq!(read(entry), "v2");
}

#[test]
fn undo_never_reverts_unseen_changes_of_another_reader() {
    let env = TestEnv::with_editor("one\ntwo\n");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    let mine = env.run("editor.replace('one', 'ONE')").ok().link("undo");
    bob(&["run", "editor.replace('two', 'by bob')"]).ok();
    let unseen = env.run("editor.undo()");
    unseen.exits(4).has("replace by bob").has("by bob");
    // One's own change alone is taken back, and what bob wrote stays.
    click(&env, mine).ok();
    assert_eq!(env.read("a.txt"), "one\nby bob\n");
    env.pipemux(&["view"]).ok().has("1\tone").has("2\tby bob");
    // The change was shown by now, so the reader can undo it knowingly.
    env.run("editor.undo(); editor.save()").ok();
    assert_eq!(env.read("a.txt"), "one\ntwo\n");
}

#[test]
fn undo_link_of_an_earlier_process_reverts_its_change_or_nothing() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.pipemux(&["open", "notebook"]).ok();
    let edit = env.run("editor.replace('one', 'ONE')").ok().link("undo");
    let entry = env.run("notebook.add('plan', 'v1')").ok().obj("plan");
    let note = env.run(&format!("notebook.edit(obj:{entry}, 'v2')")).ok().link("undo");
    env.kill_session("editor/main");
    // The editor keeps its undo history through a crash.
    env.pipemux(&["view"]).ok().has("ONE").has("undo");
    click(&env, edit).ok().has("replace in a.txt: line 1 as before");
    assert_eq!(env.read("a.txt"), "one\ntwo\n");
    env.kill_daemon();
    env.pipemux(&["view"]).ok();
    let undone = click(&env, note);
    // Links are not saved: this one is gone, and nothing was reverted.
    undone.exits(3).has(&format!("Anchor link:{note} not found"));
    env.pipemux(&["read", &format!("obj:{entry}")]).ok().has("v2");
    assert_eq!(env.read("a.txt"), "one\ntwo\n");
}

#[test]
fn undo_says_where_lines_changed_in_a_line_a_file() {
    let env = TestEnv::new();
    env.write("a.txt", "one\ntwo\none\n");
    env.write("b.txt", "one\n");
    env.run("editor.replace('one', '1', in=['a.txt', 'b.txt'], all=true)").ok();
    let undone = env.run("editor.undo()");
    undone.ok().has("undo: replace in 2 files").has("a.txt: lines 1, 3 as before\n");
    undone.has("b.txt: line 1 as before\n");
    // Nothing equals itself.
    env.run("editor.lines('a.txt')").ok();
    let run = env.run("editor.insert('a.txt:1', text='new'); editor.undo()");
    run.ok().has("lines 1-3 are now 2-4").has("1 line gone from the top");
    run.has("lines 1-3 have their old numbers").lacks("again");
}

#[test]
fn text_that_the_reader_has_not_seen_is_not_written_over() {
    let env = TestEnv::new();
    env.write("a.txt", "one\nkeep\n");
    env.run("editor.replace('one', 'ONE', in='a.txt')").ok();
    env.write("a.txt", "ONE\nkeep\nby a person\n");
    env.pipemux(&["ask", "editor.diff()"]).ok();
    let bob = |code: &str| env.as_reader("bob", &["run", code]);
    let over = "editor.create('a.txt', 'new', overwrite=true)";
    bob(over).exits(4).has("a change that you haven't seen").has("next:");
    assert_eq!(env.read("a.txt"), "ONE\nkeep\nby a person\n");
    env.as_reader("bob", &["ask", "editor.lines('a.txt')"]).ok().has("by a person");
    bob(over).ok();
    assert_eq!(env.read("a.txt"), "new\n");
}

#[test]
fn round_with_one_step_that_conflicts_is_left_whole_and_undone_later() {
    let env = TestEnv::new();
    let names = ["a.txt", "b.txt", "c.txt"];
    names.iter().for_each(|name| env.write(name, "l1\nl2\nl3\n"));
    let edits = names.map(|name| format!("editor.replace('l2', 'X2', in='{name}')"));
    env.run(&edits.join("; ")).ok();
    env.write("b.txt", "l1\nX2 and my own words\nl3\n");
    let refused = env.pipemux(&["undo", "1"]);
    refused.exits(1).has("b.txt:2 now:\nX2 and my own words\ninstead of it:\nl2\n");
    refused.has("nothing was undone; once it can be: pipemux undo 1").lacks("c.txt");
    assert_eq!(
        names.map(|name| env.read(name).lines().nth(1).map(str::to_owned)),
        [Some("X2".to_owned()), Some("X2 and my own words".to_owned()), Some("X2".to_owned())]
    );
    env.pipemux(&["history"]).ok().lacks("half undone");
    // As it says: the lower lines, undone, and then one's own words.
    env.write("b.txt", "l1\nl2\nl3\n");
    env.pipemux(&["undo", "1"]).ok();
    assert!(names.iter().all(|name| env.read(name) == "l1\nl2\nl3\n"));
}

#[test]
fn declined_question_of_an_undo_leaves_the_round_whole() {
    let env = TestEnv::new();
    let names = ["a.txt", "b.txt"];
    names.iter().for_each(|name| env.write(name, "l1\nl2\n"));
    let edits = names.map(|name| format!("editor.replace('l2', 'X2', in='{name}')"));
    env.run(&edits.join("; ")).ok();
    std::fs::remove_file(env.path("a.txt")).unwrap();
    let asked = env.pipemux(&["undo", "1"]);
    asked.exits(5).has("a.txt was deleted on disk");
    env.pipemux(&["history"]).ok().has("its undo waits for an answer: pipemux answer ");
    env.pipemux(&["undo", "1"]).exits(9).has("waits for an answer").has("next: pipemux answer ");
    env.pipemux(&["answer", "none"]).has("nothing was undone; once it can be: pipemux undo 1");
    assert_eq!(env.read("b.txt"), "l1\nX2\n");
}

#[test]
fn change_is_undone_the_next_day_around_what_others_wrote() {
    let env = TestEnv::new();
    env.write("a.txt", "1\n2\n3\n4\n5\n");
    env.run("editor.replace('2', 'TWO', in='a.txt')").ok();
    env.kill_session("editor/main");
    env.write("a.txt", "1\nTWO\n3\n4\n5\nout\n");
    env.pipemux(&["undo", "1"]).ok();
    assert_eq!(env.read("a.txt"), "1\n2\n3\n4\n5\nout\n");
}

#[test]
fn numbers_that_an_undo_tells_hold_for_the_next_call() {
    let env = TestEnv::new();
    env.write("f.txt", "a\nb\nc\n");
    env.run("editor.insert('dup\\ndup\\ndup', at_end_of='f.txt')").ok();
    env.pipemux(&["undo", "1"]).ok();
    env.pipemux(&["undo", "2"]).ok().has("lines 4-6 again");
    env.run("editor.replace_lines('f.txt:4', 'NEW')").ok();
    assert_eq!(env.read("f.txt"), "a\nb\nc\nNEW\ndup\ndup\n");
    env.write("e.txt", "a");
    env.run("editor.replace('a', '', in='e.txt')").ok();
    env.pipemux(&["undo"]).ok();
    env.run("editor.replace_lines('e.txt:1', 'b')").ok();
}
