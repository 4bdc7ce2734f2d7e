//! What answers say of the state that they show: which document, what has changed, what is left
//! out, what a link is.

use pipemux_tests::TestEnv;

fn rows(count: usize) -> String {
    (1..=count).map(|row| format!("row {row}\n")).collect()
}

#[test]
fn other_file_is_shown_whole_and_never_as_a_difference() {
    let env = TestEnv::new();
    env.write("dev.cfg", rows(12));
    env.write("prod.cfg", rows(12).replace("row 3\n", "row PROD\n"));
    env.pipemux(&["open", "editor", "dev.cfg"]).ok();
    let whole = "1\trow 1\n2\trow 2\n3\trow ";
    env.run("editor.open('prod.cfg')").ok().has("· prod.cfg ·").has(whole).lacks("+3");
    env.run("editor.goto('dev.cfg:3')").ok().has("· dev.cfg ·").has(whole).lacks("+3");
    env.run("editor.goto('prod.cfg:3')").ok().has("3\trow PROD").has(whole).lacks("+3");
    env.run("editor.close()").ok().has("· dev.cfg ·").has(whole).lacks("+3");
    env.pipemux(&["view", "--since", "e2"]).ok().has(whole).lacks("-3");
    // A change of the file that is shown is a difference.
    env.run("editor.replace_lines(3, 3, 'row three')").ok().has("+3\trow three").lacks(whole);
}

#[test]
fn wait_ends_with_a_file_that_somebody_wrote() {
    let env = TestEnv::new();
    env.write("a.txt", rows(9));
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    for (session, text) in [(None, "one"), (Some("editor/main"), "two")] {
        env.write("a.txt", rows(9).replace("row 5", text));
        let args: Vec<&str> = ["view"].into_iter().chain(session).chain(["--wait", "60"]).collect();
        env.pipemux(&args).ok().has(&format!("5\t{text}")).lacks("unchanged");
    }
    env.pipemux(&["view", "--wait", "1"]).ok().has("unchanged for 1 s").has("5\ttwo");
}

#[test]
fn wait_goes_on_when_another_reader_opened_the_same() {
    let env = TestEnv::new();
    env.write("a.txt", rows(9));
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.as_reader("b", &["open", "editor", "a.txt"]).ok();
    env.pipemux(&["view", "--wait", "1"]).ok().has("unchanged for 1 s");
}

#[test]
fn changed_lines_that_an_answer_leaves_out_are_reached_by_its_hint() {
    let env = TestEnv::new();
    env.write("a.txt", rows(400));
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    let done = env.run("editor.replace('row 2', 'ROW 2', all=true)");
    let note = "… 92 more changed lines: 208-299 · pipemux run 'editor.goto(208)'";
    done.ok().has("207\tROW 207").has(note);
    env.pipemux(&["view"]).ok().has(note);
    env.run("editor.goto(208)").ok().has("208\tROW 208").has("pipemux run 'editor.goto(2");
}

#[test]
fn number_in_a_file_is_told_from_the_link_of_that_number() {
    let env = TestEnv::new();
    env.write("a.md", "one\ntwo\n");
    env.pipemux(&["open", "editor", "a.md"]).ok();
    let undo = env.run("editor.replace('one', '1')").ok().link("undo");
    env.write("b.md", format!("[read more](link:{undo}) and [more](link:999)\n"));
    let note = format!("\nonly text inside fences: link:{undo} (really \"undo\" of editor/main)\n");
    let quoted = format!("[read more](link:{undo})");
    env.run("editor.open('b.md')").ok().has(&quoted).has(&note);
    env.run("editor.goto('a.md:1')").ok().lacks("only text");
    let report = env.pipemux(&["click", &format!("link:{undo}"), "--json"]).ok().json();
    assert_eq!(report["steps"][0]["clicked"], "\"undo\" of editor/main");
}

#[test]
fn undo_of_a_closed_file_takes_its_change_back() {
    let env = TestEnv::new();
    env.write("a.txt", rows(3));
    env.write("b.txt", rows(3));
    env.pipemux(&["open", "editor", "a.txt", "b.txt"]).ok();
    let undo = env.run("editor.replace('row 1', 'x')").ok().link("undo");
    env.run("editor.save(); editor.close()").ok();
    let said = env.pipemux(&["click", &format!("link:{undo}")]);
    said.ok().has("replace in b.txt: line 1 as before").lacks("out of view");
    assert_eq!(env.read("b.txt"), rows(3));
}
