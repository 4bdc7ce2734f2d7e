//! Text moves between apps by reference, byte for byte, without passing through the agent.

use pipemux_tests::{Output, TestEnv};
use pipemux_tokens::estimate;

/// Lines that are awkward to repeat in a call.
fn source() -> Vec<String> {
    let line =
        |number: usize| format!("\tlet v{number} = \"`\\n` 深い {number}\"; // '''<<END```\n");
    (1..=400).map(line).collect()
}

/// An editor that shows `a.rs` of 400 lines and has `b.rs` of three lines open, and a notebook.
fn editor_and_notebook() -> TestEnv {
    let env = TestEnv::new();
    env.write("a.rs", source().concat());
    env.write("b.rs", "first\nsecond\nthird\n");
    env.pipemux(&["open", "editor", "b.rs", "a.rs"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    env
}

/// Asserts that the agent wrote and read little for a call, and nothing of the value. Returns the
/// figures.
fn assert_cheap(call: &str, answer: &Output) -> String {
    let (wrote, read) = (estimate(call), estimate(&answer.text()));
    assert!(wrote <= 150 && read <= 250, "wrote {wrote}, read {read} tokens: {answer}");
    answer.lacks("v150 =").lacks("v299 =");
    let value = estimate(&source()[100..300].concat());
    format!("200 lines, {value} tokens, for {wrote} written and {read} read: {call}")
}

#[test]
fn two_hundred_lines_move_without_passing_through_the_agent() {
    let env = editor_and_notebook();
    let two_hundred = source()[100..300].concat();

    let call = "notebook.add(title='old', text=editor.lines(101, 300))";
    let added = env.run(call);
    added.ok().has("\"old\", 200 lines from a.rs:101-300");
    println!("{}", assert_cheap(call, &added));
    let note = format!("obj:{}", added.obj("old"));
    let read = env.pipemux(&["read", &note]).ok().stdout.clone();
    assert_eq!(String::from_utf8_lossy(&read).trim_end(), two_hundred.trim_end());
    // The entry keeps its origin.
    env.run(&format!("notebook.expand({note})")).ok();
    env.pipemux(&["view", "--lod", "full"]).ok().has("editor/main a.rs:101-300");

    let call = "editor.insert(at='b.rs:1', text=editor.lines(101, 300))";
    let inserted = env.run(call);
    inserted.ok().has("200 lines from a.rs:101-300");
    println!("{}", assert_cheap(call, &inserted));
    env.run("editor.open('b.rs'); editor.save()").ok();
    assert_eq!(env.read("b.rs"), two_hundred.clone() + "first\nsecond\nthird\n");
    assert_eq!(env.read("a.rs"), source().concat());

    // The text goes back from the note to a file.
    let call = format!("editor.replace_lines('b.rs:1', 'b.rs:200', text={note})");
    let back = env.run(&call);
    back.ok();
    env.run("editor.save()").ok();
    assert_eq!(env.read("b.rs"), two_hundred + "first\nsecond\nthird\n");
}

#[test]
fn selection_can_be_named_or_referenced() {
    let env = editor_and_notebook();
    let selected = env.run("editor.select(101, 300)");
    let selection = selected.ok().obj("a.rs:101-300");
    let two_hundred = source()[100..300].concat();

    let named = env.run("notebook.add(title='by name', text=editor.selection)");
    named.ok().has("200 lines from a.rs:101-300");
    let empty = env.run("notebook.add('by number', '')").ok().obj("by number");
    let call = format!("notebook.append(entry=obj:{empty}, text=obj:{selection})");
    let appended = env.run(&call);
    appended.ok();
    println!("{}", assert_cheap(&call, &appended));
    for entry in [named.obj("by name"), empty] {
        let read = env.pipemux(&["read", &format!("obj:{entry}")]).ok().stdout.clone();
        assert_eq!(String::from_utf8_lossy(&read).trim(), two_hundred.trim());
    }
    // The selection moves with its lines. A quoted ref is text where a parameter takes text.
    env.run("editor.delete_lines(1, 10)").ok();
    let moved = env.run("notebook.add(title='moved', text=editor.selection)");
    moved.ok().has("200 lines from a.rs:91-290");
    let quoted = env.run(&format!("notebook.add('quoted', 'obj:{selection}')"));
    let read = env.pipemux(&["read", &format!("obj:{}", quoted.ok().obj("quoted"))]);
    assert_eq!(read.ok().text().trim_end(), format!("obj:{selection}"));
}

#[test]
fn selection_with_changed_lines_is_stale() {
    let env = editor_and_notebook();
    let selection = env.run("editor.select(1, 3)").ok().obj("a.rs:1-3");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", "editor.replace_lines(2, 2, 'by bob')"]).ok();
    let refused = env.run(&format!("notebook.add('x', text=obj:{selection})"));
    refused.exits(4).has("is stale");
    env.pipemux(&["view", "notebook/main"]).ok().has("0 entries");
}

#[test]
fn crash_of_the_source_app_leaves_the_target_unchanged() {
    let env = TestEnv::with_rogue_and_notebook();
    env.run("rogue.misbehave('show deadly')").ok();
    let thing = env.pipemux(&["view", "rogue/main"]).ok().obj("the thing");
    let died = env.run(&format!("notebook.add(title='x', text=obj:{thing})"));
    // A read changes nothing, so the outcome is known although the app that was read has crashed.
    died.exits(6).has("rogue/main").has("status 9");
    // After a step that took effect, the run has failed in part and says what was done.
    env.run("rogue.misbehave('show deadly')").ok();
    let code = format!("notebook.add('kept', 'y'); notebook.add('x', text=obj:{thing})");
    env.run(&code).exits(1).has("1 done · add").has("2 failed · add");
    env.pipemux(&["view", "notebook/main"]).ok().has("1 entry").has("[kept]");
}

#[test]
fn oversized_value_is_refused_with_the_limit() {
    let env = TestEnv::new();
    let line = "0123456789abcdef\n";
    env.write("big.txt", line.repeat(40_000));
    env.pipemux(&["open", "editor", "big.txt"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    env.run("editor.select(1, 40000)").ok();
    // It passes as a file, and is longer than the notebook takes.
    let refused = env.run("notebook.add('big', text=editor.selection)");
    refused.exits(9).has("text: 664 KiB, at most 512 KiB");
    let refused = env.run("notebook.add('big', text=editor.lines(1, 40000))");
    refused.exits(9).has("524288");
    env.pipemux(&["view", "notebook/main"]).ok().has("0 entries");
    env.run("notebook.add('less', text=editor.lines(1, 20000))").ok().has("20000 lines");

    // An app that announces more than passes as a file is not read.
    env.install_rogue("rogue", "tame");
    env.pipemux(&["down"]).ok();
    env.pipemux(&["open", "rogue"]).ok();
    env.run("rogue.misbehave('show endless')").ok();
    let thing = env.pipemux(&["view", "rogue/main"]).ok().obj("the thing");
    let refused = env.run(&format!("notebook.add('endless', text=obj:{thing})"));
    refused.exits(9).has("at most 33554432 pass from app to app");
    env.pipemux(&["view", "notebook/main"]).ok().lacks("[endless]");
}

#[test]
fn name_means_what_the_reader_saw_or_the_run_made() {
    let env = editor_and_notebook();
    let read = |added: &Output, title: &str| {
        let read = env.pipemux(&["read", &format!("obj:{}", added.obj(title))]);
        read.ok().text()
    };
    env.run("editor.select(1, 1)").ok();
    // The name means the selection that the run made.
    let own = env.run("editor.select(2, 2); notebook.add(title='own', text=editor.selection)");
    own.ok().has("from a.rs:2");
    assert_eq!(read(&own, "own").trim_end(), source()[1].trim_end());
    // The selection moves with its lines within the run as well.
    let moved =
        env.run("editor.insert(1, 'new'); notebook.add(title='moved', text=editor.selection)");
    moved.ok().has("from a.rs:3");
    assert_eq!(read(&moved, "moved").trim_end(), source()[1].trim_end());
    // Another reader's selection was never shown to this reader.
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", "editor.select(10, 10)"]).ok();
    let refused = env.run("notebook.add(title='theirs', text=editor.selection)");
    refused.exits(4).has("Anchor editor/main.selection is stale.").has("a.rs:10");
    env.pipemux(&["view", "notebook/main"]).ok().lacks("[theirs]");
    // The refusal showed it.
    env.run("notebook.add(title='theirs', text=editor.selection)").ok().has("from a.rs:10");
    // The file includes the changes of the run's earlier steps.
    let file = env.run("editor.insert(1, 'x'); notebook.add(title='file', text=editor.file)");
    file.ok().has("402 lines from a.rs");
}
