//! Options of a workspace, and calls that say which epoch they mean.

use pipemux_tests::{Output, Signal, World, kill, wait_until};

/// A notebook with two entries; their ids.
fn notebook() -> (World, u64, u64) {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let plan = world.run("notebook.add('plan', 'a')").ok().obj("plan");
    let other = world.run("notebook.add('other', 'b')").ok().obj("other");
    (world, plan, other)
}

fn as_bob(world: &World, args: &[&str]) -> Output {
    world.command(args).reader("bob").output()
}

fn lose_daemon(world: &World) {
    kill(world.daemon(), Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
}

#[test]
fn strict_epochs_make_every_older_one_stale() {
    let (world, plan, other) = notebook();
    let epoch = world.pipemux(&["view"]).epoch();
    world.pipemux(&["set"]).ok().has("epoch meaning").has("rebase off");
    world.run(&format!("notebook.append(obj:{other}, 'more')")).ok();
    let call = format!("notebook.append(obj:{plan}@e{epoch}, 'x')");
    // By meaning, the plan is what it was.
    world.run(&call).ok();
    let epoch = world.pipemux(&["view"]).epoch();
    world.run(&format!("notebook.append(obj:{other}, 'more')")).ok();
    let call = format!("notebook.append(obj:{plan}@e{epoch}, 'x')");

    world.pipemux(&["set", "epoch", "strict"]).ok().has("epoch strict");
    let sentence = format!("Anchor obj:{plan} is stale. Please refresh to get current IDs.");
    world.run(&call).exits(4).has(&sentence);
    lose_daemon(&world);
    world.pipemux(&["set"]).ok().has("epoch strict");
    world.run(&call).exits(4).has(&sentence);
    // What was just shown is of this epoch.
    world.pipemux(&["view"]).ok();
    world.run(&format!("notebook.append(obj:{plan}, 'y')")).ok();
    // It is this workspace's option.
    let there = world.command(&["set"]).workspace("there").output();
    there.ok().has("epoch meaning");
    world.pipemux(&["set", "epoch", "meaning"]).ok();
    world.pipemux(&["set", "--json"]).ok().has("\"meaning\"");
    world.pipemux(&["set", "epoch", "sometimes"]).exits(2).has("strict|meaning");
    world.pipemux(&["set", "colour"]).exits(2).has("rebase on|off");
}

#[test]
fn rebase_takes_safe_actions_along_and_says_so() {
    let (world, plan, _) = notebook();
    let expand = format!("notebook.expand(obj:{plan})");
    let edit = format!("notebook.edit(obj:{plan}, 'mine')");
    as_bob(&world, &["view"]).ok();
    as_bob(&world, &["run", &format!("notebook.edit(obj:{plan}, 'by bob')")]).ok();
    world.run(&expand).exits(4).has("is stale");

    world.pipemux(&["set", "rebase", "on"]).ok().has("rebase on");
    lose_daemon(&world);
    world.pipemux(&["set"]).ok().has("rebase on");
    world.pipemux(&["view"]).ok();
    as_bob(&world, &["view"]).ok();
    as_bob(&world, &["run", &format!("notebook.edit(obj:{plan}, 'by bob again')")]).ok();
    // One that changes something is refused as ever; one that doesn't goes through and says why.
    world.run(&edit).exits(4).has("is stale");
    as_bob(&world, &["run", &format!("notebook.edit(obj:{plan}, 'and again')")]).ok();
    let rebased = world.run(&expand);
    rebased.ok().has("1 done · expand").has("changed").has("and again");
    world.pipemux(&["read", &format!("obj:{plan}")]).ok().has("and again");
}

#[test]
fn a_whole_call_is_pinned_to_an_epoch() {
    let (world, plan, other) = notebook();
    let before = world.pipemux(&["view"]).epoch();
    world.run(&format!("notebook.edit(obj:{plan}, 'changed')")).ok();
    let after = world.pipemux(&["view"]).epoch();
    assert!(after > before);
    let at = |epoch: u64, code: &str| world.pipemux(&["run", "--at", &format!("e{epoch}"), code]);
    let edit = format!("notebook.edit(obj:{plan}, 'x')");
    at(before, &edit).exits(4).has(&format!("Anchor obj:{plan} is stale."));
    at(before, &format!("notebook.append(obj:{other}, 'x')")).ok();
    // A ref that says its own epoch means that one.
    at(before, &format!("notebook.edit(obj:{plan}@e{after}, 'y')")).ok();
    let newest = world.pipemux(&["view"]).epoch();
    let sentence = format!("Anchor obj:{plan} not found in current context.");
    at(newest + 1, &edit).exits(3).has(&sentence);
    at(newest, &edit).ok();
    world.pipemux(&["run", "--at", "yesterday", &edit]).exits(2).has("e17");
}

#[test]
fn line_numbers_are_pinned_too() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\nthree\n");
    let seen = world.pipemux(&["open", "editor", "a.txt"]).ok().epoch();
    world.run("editor.insert(1, 'zero')").ok();
    let pinned = format!("e{seen}");
    // Line 3 of then is line 4 of now.
    let call = ["run", "--at", &pinned, "editor.replace_lines(3, 3, 'THREE'); editor.save()"];
    world.pipemux(&call).ok();
    assert_eq!(world.read("a.txt"), "zero\none\ntwo\nTHREE\n");
}

#[test]
fn since_an_epoch_only_changes_are_shown() {
    let (world, plan, other) = notebook();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let epoch = world.pipemux(&["view"]).epoch();
    let since = format!("e{epoch}");
    let nothing = world.pipemux(&["view", "--since", &since]);
    nothing.ok().lacks("## editor/main").lacks("[plan]");
    assert!(nothing.lines() <= 3, "{nothing}");
    world.run(&format!("notebook.append(obj:{plan}, 'appended')")).ok();
    let changed = world.pipemux(&["view", "--since", &since]);
    changed.ok().has("appended").lacks("## editor/main").lacks(&format!("[other](obj:{other})"));
    // Also to one who has been told meanwhile, and by another one's hand.
    as_bob(&world, &["view"]).ok();
    as_bob(&world, &["run", "editor.insert(1, 'zero')"]).ok();
    let changed = world.pipemux(&["view", "--since", &since]);
    changed.ok().has("appended").has("zero").lacks(&format!("[other](obj:{other})"));
    world.pipemux(&["view", "editor/main", "--since", &since]).ok().has("zero").lacks("appended");
    let newest = world.pipemux(&["view"]).epoch();
    let future = format!("e{}", newest + 1);
    world.pipemux(&["view", "--since", &future]).exits(3).has(&format!("the newest is e{newest}"));
}
