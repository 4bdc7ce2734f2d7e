//! Text goes from place to place by reference: byte for byte, and never through the agent.

use pipemux_proto::tokens::estimate;
use pipemux_tests::{Output, World};

/// Lines that are awkward to restate.
fn source() -> Vec<String> {
    let line =
        |number: usize| format!("\tlet v{number} = \"`\\n` 深い {number}\"; // '''<<END```\n");
    (1..=400).map(line).collect()
}

/// An editor with `a.rs` of 400 lines in front and `b.rs` of three behind it, and a notebook.
fn desk() -> World {
    let world = World::new();
    world.write("a.rs", source().concat());
    world.write("b.rs", "first\nsecond\nthird\n");
    world.pipemux(&["open", "editor", "b.rs", "a.rs"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    world
}

/// What an agent wrote and read for a call is little, and none of it is the value. Returns the figures.
fn assert_cheap(call: &str, answer: &Output) -> String {
    let (wrote, read) = (estimate(call), estimate(&answer.text()));
    assert!(wrote <= 150 && read <= 250, "wrote {wrote}, read {read} tokens: {answer}");
    answer.lacks("v150 =").lacks("v299 =");
    let value = estimate(&source()[100..300].concat());
    format!("200 lines, {value} tokens, for {wrote} written and {read} read: {call}")
}

#[test]
fn two_hundred_lines_go_to_a_note_and_to_another_file() {
    let world = desk();
    let two_hundred = source()[100..300].concat();

    let call = "notebook.add(title='old', text=editor.lines(101, 300))";
    let added = world.run(call);
    added.ok().has("\"old\", 200 lines from a.rs:101-300");
    println!("{}", assert_cheap(call, &added));
    let note = format!("obj:{}", added.obj("old"));
    let read = world.pipemux(&["read", &note]).ok().stdout.clone();
    assert_eq!(String::from_utf8_lossy(&read).trim_end(), two_hundred.trim_end());
    // Where it came from stays with it.
    world.run(&format!("notebook.expand({note})")).ok();
    world.pipemux(&["view", "--lod", "full"]).ok().has("editor/main a.rs:101-300");

    let call = "editor.insert(at='b.rs:1', text=editor.lines(101, 300))";
    let inserted = world.run(call);
    inserted.ok().has("200 lines from a.rs:101-300");
    println!("{}", assert_cheap(call, &inserted));
    world.run("editor.open('b.rs'); editor.save()").ok();
    assert_eq!(world.read("b.rs"), two_hundred.clone() + "first\nsecond\nthird\n");
    assert_eq!(world.read("a.rs"), source().concat());

    // And back, from the note to a file.
    let call = format!("editor.replace_lines('b.rs:1', 'b.rs:200', text={note})");
    let back = world.run(&call);
    back.ok();
    world.run("editor.save()").ok();
    assert_eq!(world.read("b.rs"), two_hundred + "first\nsecond\nthird\n");
}

#[test]
fn a_selection_is_a_thing_and_a_name() {
    let world = desk();
    let selected = world.run("editor.select(101, 300)");
    let selection = selected.ok().obj("a.rs:101-300");
    let two_hundred = source()[100..300].concat();

    let named = world.run("notebook.add(title='by name', text=editor.selection)");
    named.ok().has("200 lines from a.rs:101-300");
    let empty = world.run("notebook.add('by number', '')").ok().obj("by number");
    let call = format!("notebook.append(entry=obj:{empty}, text=obj:{selection})");
    let appended = world.run(&call);
    appended.ok();
    println!("{}", assert_cheap(&call, &appended));
    for entry in [named.obj("by name"), empty] {
        let read = world.pipemux(&["read", &format!("obj:{entry}")]).ok().stdout.clone();
        assert_eq!(String::from_utf8_lossy(&read).trim(), two_hundred.trim());
    }
    // It moves with its lines, and a quoted ref is text where text is asked for.
    world.run("editor.delete_lines(1, 10)").ok();
    let moved = world.run("notebook.add(title='moved', text=editor.selection)");
    moved.ok().has("200 lines from a.rs:91-290");
    let quoted = world.run(&format!("notebook.add('quoted', 'obj:{selection}')"));
    let read = world.pipemux(&["read", &format!("obj:{}", quoted.ok().obj("quoted"))]);
    assert_eq!(read.ok().text().trim_end(), format!("obj:{selection}"));
}

#[test]
fn a_selection_whose_lines_changed_is_not_what_was_meant() {
    let world = desk();
    let selection = world.run("editor.select(1, 3)").ok().obj("a.rs:1-3");
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["view"]).ok();
    bob(&["run", "editor.replace_lines(2, 2, 'by bob')"]).ok();
    let refused = world.run(&format!("notebook.add('x', text=obj:{selection})"));
    refused.exits(4).has("is stale");
    world.pipemux(&["view", "notebook/main"]).ok().has("0 entries");
}

#[test]
fn an_owner_that_dies_in_between_leaves_the_target_as_it_was() {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("rogue.misbehave('show deadly')").ok();
    let thing = world.pipemux(&["view", "rogue/main"]).ok().obj("the thing");
    let died = world.run(&format!("notebook.add(title='x', text=obj:{thing})"));
    // Nothing was changed by a read, whatever became of its owner.
    died.exits(6).has("rogue/main").has("status 9");
    // Once a step took effect it is another exit status, and what was done is said.
    world.run("rogue.misbehave('show deadly')").ok();
    let code = format!("notebook.add('kept', 'y'); notebook.add('x', text=obj:{thing})");
    world.run(&code).exits(1).has("1 done · add").has("2 failed · add");
    world.pipemux(&["view", "notebook/main"]).ok().has("1 entry").has("[kept]");
}

#[test]
fn a_value_that_is_too_large_is_refused_with_the_limit() {
    let world = World::new();
    let line = "0123456789abcdef\n";
    world.write("big.txt", line.repeat(40_000));
    world.pipemux(&["open", "editor", "big.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("editor.select(1, 40000)").ok();
    let refused = world.run("notebook.add('big', text=editor.selection)");
    assert_ne!(refused.exit, 0, "{refused}");
    refused.has("524288");
    let refused = world.run("notebook.add('big', text=editor.lines(1, 40000))");
    assert_ne!(refused.exit, 0, "{refused}");
    world.pipemux(&["view", "notebook/main"]).ok().has("0 entries");
    world.run("notebook.add('less', text=editor.lines(1, 20000))").ok().has("20000 lines");

    // One who says that it has more than anybody may take is not believed to the end.
    world.install_rogue("rogue", "tame");
    world.pipemux(&["down"]).ok();
    world.pipemux(&["open", "rogue"]).ok();
    world.run("rogue.misbehave('show endless')").ok();
    let thing = world.pipemux(&["view", "rogue/main"]).ok().obj("the thing");
    let refused = world.run(&format!("notebook.add('endless', text=obj:{thing})"));
    assert_ne!(refused.exit, 0, "{refused}");
    world.pipemux(&["view", "notebook/main"]).ok().lacks("[endless]");
}

#[test]
fn a_name_means_what_it_stood_for_when_it_was_seen_or_what_the_run_made_of_it() {
    let world = desk();
    let read = |added: &Output, title: &str| {
        let read = world.pipemux(&["read", &format!("obj:{}", added.obj(title))]);
        read.ok().text()
    };
    world.run("editor.select(1, 1)").ok();
    // The run's own selection, not the one before it.
    let own = world.run("editor.select(2, 2); notebook.add(title='own', text=editor.selection)");
    own.ok().has("from a.rs:2");
    assert_eq!(read(&own, "own").trim_end(), source()[1].trim_end());
    // It moves with its lines within the run as well.
    let moved =
        world.run("editor.insert(1, 'new'); notebook.add(title='moved', text=editor.selection)");
    moved.ok().has("from a.rs:3");
    assert_eq!(read(&moved, "moved").trim_end(), source()[1].trim_end());
    // Another one's selection is not what this reader meant.
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["view"]).ok();
    bob(&["run", "editor.select(10, 10)"]).ok();
    let refused = world.run("notebook.add(title='theirs', text=editor.selection)");
    refused.exits(4).has("Anchor editor/main.selection is stale.").has("a.rs:10");
    world.pipemux(&["view", "notebook/main"]).ok().lacks("[theirs]");
    // Now it was shown.
    world.run("notebook.add(title='theirs', text=editor.selection)").ok().has("from a.rs:10");
    // What the run did before is in it.
    let file = world.run("editor.insert(1, 'x'); notebook.add(title='file', text=editor.file)");
    file.ok().has("402 lines from a.rs");
}
