//! Several readers, several workspaces, one session.

use pipemux_tests::{Output, World};

#[test]
fn two_workspaces_share_the_monitor_under_ids_of_their_own() {
    let world = World::new();
    let there = |args: &[&str]| world.command(args).workspace("there").output();
    // So that the numbers differ.
    there(&["open", "notebook"]).ok();
    for number in 0..3 {
        there(&["run", &format!("notebook.add('n{number}', 'x')")]).ok();
    }
    let here_memory = world.pipemux(&["open", "monitor"]).ok().obj("memory");
    let there_memory = there(&["open", "monitor"]).ok().obj("memory");
    assert_ne!(here_memory, there_memory);
    let pids: Vec<i32> = world
        .sessions()
        .iter()
        .filter(|r| r.session == "monitor/main")
        .filter_map(|r| r.pid)
        .collect();
    assert_eq!(pids.len(), 1, "one process: {pids:?}");
    // Each means its own: a number of there is nothing, or another thing, here.
    world.run(&format!("monitor.expand(obj:{here_memory})")).ok();
    there(&["run", &format!("monitor.expand(obj:{there_memory})")]).ok();
    world.pipemux(&["read", &format!("obj:{}", there_memory + 100)]).exits(3);
    // Ended here, it is gone there, and both are told.
    world.pipemux(&["end", "monitor/main"]).ok();
    let gone = there(&["run", &format!("monitor.expand(obj:{there_memory})")]);
    assert_ne!(gone.exit, 0, "{gone}");
}

#[test]
fn two_workspaces_of_one_arena_race_for_the_same_enemy() {
    let world = World::new();
    world.install("arena", "examples/arena", "scope = \"user\"\n");
    let there = |args: &[&str]| world.command(args).workspace("there").output();
    there(&["open", "notebook"]).ok();
    there(&["run", "notebook.add('first', 'so that numbers differ')"]).ok();
    let here_slime = world.pipemux(&["open", "arena"]).ok().obj("史莱姆1");
    let opened = there(&["open", "arena"]);
    let (there_slime, robber) = (opened.ok().obj("史莱姆1"), opened.obj("强盗"));
    assert_ne!(here_slime, there_slime);
    let link = opened.link("攻击史莱姆1");
    world.run(&format!("arena.attack(obj:{here_slime})")).ok().has("dies");
    let late = there(&["run", &format!("arena.attack(obj:{there_slime})")]);
    late.exits(3).has(&format!("Anchor obj:{there_slime} not found in current context."));
    let late = there(&["click", &link.to_string()]);
    assert!(matches!(late.exit, 3 | 4), "{late}");
    // The others stand as they were seen.
    there(&["run", &format!("arena.attack(obj:{robber})")]).ok().has("强盗 takes 11, 14 left");
}

#[test]
fn one_readers_change_stales_only_what_it_changed_for_the_other() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let one = world.run("notebook.add('one', 'a')").ok().obj("one");
    let two = world.run("notebook.add('two', 'b')").ok().obj("two");
    let bob = |args: &[&str]| -> Output { world.command(args).reader("bob").output() };
    let seen = bob(&["view"]);
    assert_eq!((seen.ok().obj("one"), seen.obj("two")), (one, two), "one table of ids");
    world.run(&format!("notebook.edit(obj:{one}, 'A')")).ok();
    // What bob is told with another answer he has seen: a step of the same run shows nothing yet.
    let both = format!("notebook.edit(obj:{two}, 'B'); notebook.edit(obj:{one}, 'bob')");
    let stale = bob(&["run", &both]);
    stale.exits(1).has("1 done · edit").has(&format!("Anchor obj:{one} is stale."));
    stale.has("-   a").has("+   A");
    bob(&["run", &format!("notebook.append(obj:{one}, 'bob')")]).ok();
    // And the other way round: both were changed by bob since.
    world.run(&format!("notebook.append(obj:{two}, 'more')")).exits(4).has("+   B");
    world.run(&format!("notebook.append(obj:{one}, 'more'); notebook.fold(obj:{two})")).ok();
}

#[test]
fn a_third_reader_who_never_looked_has_seen_nothing() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let one = world.run("notebook.add('one', 'a')").ok().obj("one");
    let carol = |args: &[&str]| world.command(args).reader("carol").output();
    let blind = carol(&["run", &format!("notebook.edit(obj:{one}, 'x')")]);
    blind.exits(4).has(&format!("Anchor obj:{one} is stale."));
    // The refusal showed it.
    carol(&["run", &format!("notebook.edit(obj:{one}, 'x')")]).ok();
}
