//! The law of line numbers: after any answer, an act on a number that a reader was shown, and not
//! told otherwise, touches that line or is refused. Readers are modelled by what they can read: the
//! text of their answers.

mod history;
mod knowledge;

use pipemux_tests::TestEnv;

use history::History;

/// How many random histories are played; `PIPEMUX_LINE_HISTORIES` plays more.
const HISTORIES: u64 = 6;
const STEPS: usize = 60;

#[test]
fn act_on_a_shown_number_touches_that_line_or_is_refused() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first: u64 = number("PIPEMUX_LINE_SEED").unwrap_or(1);
    let histories = number("PIPEMUX_LINE_HISTORIES").unwrap_or(HISTORIES);
    let (mut acts, mut pinned) = (0, 0);
    for seed in first..first + histories {
        let mut history = History::new(seed);
        for _ in 0..STEPS {
            history.step();
        }
        acts += history.acts;
        pinned += history.pinned_acts;
    }
    assert!(acts as u64 > histories * 3, "only {acts} acts were compared");
    assert!(pinned as u64 * 2 > histories, "only {pinned} pinned acts were compared");
    println!("{acts} acts and {pinned} pinned ones in {histories} histories");
}

fn rows(count: usize) -> String {
    (1..=count).map(|row| format!("row {row}\n")).collect()
}

#[test]
fn moved_numbers_are_told_to_every_reader() {
    let env = TestEnv::new();
    env.write("f.txt", rows(60));
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    let epoch = env.run("editor.goto(50)").ok().has("41\trow 41").epoch();
    env.as_reader("b", &["open", "editor"]).ok();
    env.as_reader("b", &["run", "editor.delete_lines(1, 2)"]).ok();
    let since = env.pipemux(&["view", "--since", &format!("e{epoch}")]);
    since.ok().has("lines 21-60 are now 19-58");
    env.run("editor.replace_lines(30, 30, 'mark')").ok().has("+30\tmark");
    env.run("editor.save()").ok();
    assert!(env.read("f.txt").contains("row 31\nmark\nrow 33\n"));
}

#[test]
fn numbers_outside_of_the_difference_mean_what_was_shown() {
    let env = TestEnv::new();
    env.write("f.txt", rows(60));
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    env.as_reader("b", &["open", "editor"]).ok();
    env.run("editor.goto(50)").ok();
    env.as_reader("b", &["run", "editor.delete_lines(1, 2)"]).ok();
    // It tells of 21-60, and says nothing of 3-20, which were shown before.
    env.run("editor.select(44, 44)").ok().has("lines 21-60 are now 19-58").has("f.txt:42");
    env.run("editor.replace_lines(1, 1, 'mark')").exits(4).has("changed since you saw it");
    env.run("editor.replace_lines(10, 10, 'mark')").ok().has("line 8");
    env.run("editor.save()").ok();
    assert!(env.read("f.txt").contains("row 9\nmark\nrow 11\n"));
}

#[test]
fn moves_past_the_bound_are_retired() {
    let env = TestEnv::new();
    env.write("f.txt", rows(100));
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    env.run("editor.goto(61)").ok();
    env.run("editor.goto(1)").ok();
    let done = env.run("editor.replace('0\\n', '0\\nextra\\n', all=true)");
    done.ok().has("lines 11-20 → 12-21, ").has("numbers from 55 on are retired");
    env.run("editor.replace_lines(80, 80, 'mark')").exits(4).has("these numbers are retired");
    // The refusal showed the lines as they are now.
    env.run("editor.replace_lines(80, 80, 'mark')").ok();
    env.run("editor.save()").ok();
    assert!(env.read("f.txt").contains("row 72\nmark\nrow 74\n"));
}

#[test]
fn numbers_that_nobody_was_shown_mean_the_text_of_the_last_sight() {
    let env = TestEnv::new();
    env.write("f.txt", rows(100));
    env.run("editor.find('row 77')").ok().has("77\trow 77");
    env.write("f.txt", rows(100) + "appended by another program\n");
    let done = env.run("editor.replace('row', 'line', in='f.txt:51-60', all=true)");
    done.ok().has("f.txt: 10 matches");
    // Lines that another program puts before them move the numbers of what was seen.
    env.write("f.txt", format!("new\n{}", env.read("f.txt")));
    env.run("editor.replace_lines('f.txt:62', 'f.txt:62', 'mark')").ok();
    assert!(env.read("f.txt").contains("row 61\nmark\nrow 63\n"));
    // To who never saw anything of the file they are the present ones.
    env.as_reader("b", &["run", "editor.delete_lines('f.txt:1', 'f.txt:1')"]).ok();
    assert!(env.read("f.txt").starts_with("row 1\n"));
}

#[test]
fn refused_numbers_mean_the_present_lines_when_the_call_is_sent_again() {
    let env = TestEnv::new();
    env.write("f.txt", rows(100));
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    env.as_reader("b", &["open", "editor"]).ok();
    env.run("editor.replace('row 77', 'ROW 77')").ok();
    env.pipemux(&["restart", "editor"]).ok();
    env.write("f.txt", env.read("f.txt") + "appended by another program\n");
    let call = "editor.replace('row', 'line', in='f.txt:51-70', all=true); editor.save()";
    env.run(call)
        .exits(4)
        .has("lines 51-70 of f.txt can't be located")
        .has("51\trow 51\n52\trow 52\n53\trow 53\n…\n68\trow 68\n");
    env.pipemux(&["answer", "go"]).ok().has("replace: 20 matches").has("done · save");
    let call = "editor.replace_lines('f.txt:90', 'f.txt:95', 'mark')";
    env.as_reader("b", &["run", call]).exits(4);
    env.as_reader("b", &["answer", "go"]).ok();
    assert!(env.read("f.txt").contains("row 89\nmark\nrow 96\n"));
    // Sent again they would mean other lines: the call is to be written again.
    env.run("editor.lines('f.txt:20-24')").ok();
    let text = env.read("f.txt").replace("row 22\n", "twenty-two\n");
    env.write("f.txt", format!("new\n{text}"));
    let refused = env.run("editor.delete_lines('f.txt:20', 'f.txt:24')");
    refused.exits(4).has("now 21-25:\n").has("repeat it with the numbers as they are now, 21-25");
    env.pipemux(&["answer", "go"]).exits(3);
    env.run("editor.delete_lines('f.txt:21', 'f.txt:25')").ok();
}

#[test]
fn every_move_of_several_undone_changes_is_told() {
    let env = TestEnv::new();
    env.write("f.txt", rows(60));
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    for call in ["delete_lines(50, 51)", "delete_lines(20, 21)", "delete_lines(2, 3)"] {
        env.run(&format!("editor.{call}")).ok();
    }
    let undone = env.run("editor.undo(3)");
    undone.ok().has("lines 2-17 → 4-19, 18-45 → 22-49, 46-54 → 52-60");
}

#[test]
fn number_of_another_file_means_what_was_shown_of_that_file() {
    let env = TestEnv::new();
    env.write("a.txt", rows(60));
    env.write("b.txt", rows(60));
    env.pipemux(&["open", "editor", "a.txt", "b.txt"]).ok();
    env.run("editor.goto('a.txt:1')").ok();
    env.as_reader("b", &["open", "editor"]).ok();
    env.as_reader("b", &["run", "editor.delete_lines('b.txt:1', 'b.txt:2')"]).ok();
    env.run("editor.goto(5)").ok();
    env.run("editor.replace_lines('b.txt:30', 'b.txt:30', 'mark')").ok().has("b.txt: line 28");
}

#[test]
fn unissued_epoch_is_not_found_for_numbers_and_refs() {
    let env = TestEnv::with_editor("one\ntwo\n");
    let at = ["run", "--at", "e999999"];
    let run = |code: &str| env.pipemux(&[&at[..], &[code]].concat());
    run("editor.replace_lines(1, 1, 'x')").exits(3).has("e999999 has not been issued");
    run("editor.goto(1)").exits(3).has("e999999 has not been issued");
    run("editor.close(obj:1)").exits(3).has("Anchor obj:1 not found in current context.");
    assert_eq!(env.read("a.txt"), "one\ntwo\n");
}

#[test]
fn number_that_a_step_gave_and_the_next_took_back_is_refused() {
    let env = TestEnv::new();
    env.write("a.txt", rows(20));
    env.write("g.txt", rows(5));
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.pipemux(&["open", "editor", "g.txt"]).ok();
    env.as_reader("b", &["open", "editor"]).ok();
    let theirs = "editor.replace_lines('a.txt:10', 'a.txt:10', 'theirs')";
    env.as_reader("b", &["run", "editor.goto('a.txt:1'); editor.goto('g.txt:1')"]).ok();
    env.as_reader("b", &["run", theirs]).ok();
    // The first step makes row 11 line 10, the second one makes it line 11 again.
    let steps = "editor.delete_lines('a.txt:2', 'a.txt:2'); editor.insert('a.txt:5', 'x')";
    env.run(steps).ok().has("11-20 → 10-19").has("11-20 have their old numbers");
    env.run("editor.replace_lines('a.txt:10', 'a.txt:10', 'mine')").exits(4);
    env.run("editor.replace_lines('a.txt:12', 'a.txt:12', 'mine')").ok();
    env.run("editor.save()").ok();
    env.run("editor.goto('a.txt:1'); editor.save()").ok();
    assert!(env.read("a.txt").contains("theirs\nrow 11\nmine\nrow 13\n"), "{}", env.read("a.txt"));
}

#[test]
fn numbers_pinned_to_an_epoch_mean_what_their_reader_was_shown_by_then() {
    let env = TestEnv::new();
    env.write("f.txt", rows(60));
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    env.run("editor.goto(50)").ok();
    let kept: String = (3..=60).map(|row| format!("row {row}\n")).collect();
    env.write("f.txt", kept);
    let found = env.run("editor.select(44, 44)").ok().has("lines 21-60 are now 19-58").epoch();
    // Lines 1-20 were shown before somebody else removed two of them, and the selection told
    // nothing of them.
    let pinned = |code: &str| env.pipemux(&["run", "--at", &format!("e{found}"), code]);
    pinned("editor.replace_lines(10, 10, 'mark')").ok().has("line 8");
    pinned("editor.replace_lines(1, 1, 'mark')").exits(4);
    env.run("editor.save()").ok();
    assert!(env.read("f.txt").contains("row 9\nmark\nrow 11\n"), "{}", env.read("f.txt"));
}

#[test]
fn outcome_of_a_pinned_call_leaves_numbers_alone_that_were_shown_since() {
    let env = TestEnv::new();
    env.write("f.txt", rows(60));
    env.write("g.txt", rows(5));
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    let pinned = env.run("editor.goto(60)").ok().epoch();
    env.run("editor.insert(10, 'new')").ok().has("lines 10-60 are now 11-61");
    env.pipemux(&["open", "editor", "g.txt"]).ok();
    // The pinned lines 31-60 have their numbers again, so that nothing is said of them. The reader
    // knows them by others.
    let at = format!("e{pinned}");
    env.pipemux(&["run", "--at", &at, "editor.delete_lines('f.txt:30', 'f.txt:30')"]).ok();
    env.run("editor.replace_lines('f.txt:52', 'f.txt:52', 'mark')").ok().has("line 51");
    env.run("editor.goto('f.txt:1'); editor.save()").ok();
    assert!(env.read("f.txt").contains("row 50\nmark\nrow 52\n"), "{}", env.read("f.txt"));
}

#[test]
fn pinned_number_that_an_earlier_daemon_showed_is_refused() {
    let env = TestEnv::new();
    env.write("f.txt", rows(90));
    env.pipemux(&["open", "editor", "f.txt"]).ok();
    env.run("editor.goto(50)").ok().has("74\trow 74");
    env.as_reader("b", &["open", "editor"]).ok();
    env.as_reader("b", &["run", "editor.delete_lines(1, 1)"]).ok();
    env.kill_daemon();
    let shown = env.pipemux(&["view"]).ok().has("3\trow 4").lacks("row 74").epoch();
    let at = format!("e{shown}");
    env.pipemux(&["run", "--at", &at, "editor.replace_lines(74, 74, 'mark')"]).exits(4);
    env.pipemux(&["run", "--at", &at, "editor.replace_lines(3, 3, 'mark')"]).ok();
    env.run("editor.save()").ok();
    assert!(env.read("f.txt").contains("row 3\nmark\nrow 5\n"), "{}", env.read("f.txt"));
}
