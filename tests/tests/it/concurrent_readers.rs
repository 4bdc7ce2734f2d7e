//! Several readers and several workspaces share one session.

use pipemux_tests::TestEnv;

#[test]
fn workspaces_share_the_monitor_with_separate_ids() {
    let env = TestEnv::new();
    let there = |args: &[&str]| env.in_workspace("there", args);
    // These entries make the ids of the workspaces differ.
    there(&["open", "notebook"]).ok();
    for number in 0..3 {
        there(&["run", &format!("notebook.add('n{number}', 'x')")]).ok();
    }
    let here_refresh = env.pipemux(&["open", "monitor"]).ok().link("refresh");
    let there_refresh = there(&["open", "monitor"]).ok().link("refresh");
    assert_ne!(here_refresh, there_refresh);
    let pids: Vec<i32> = env
        .sessions()
        .iter()
        .filter(|r| r.session == "monitor/main")
        .filter_map(|r| r.pid)
        .collect();
    assert_eq!(pids.len(), 1, "one process: {pids:?}");
    // An id means an object of its own workspace only.
    env.pipemux(&["click", &here_refresh.to_string()]).ok();
    there(&["click", &there_refresh.to_string()]).ok();
    there(&["run", "monitor.expand(obj:state:memory)"]).ok();
    env.pipemux(&["read", &format!("obj:{}", there_refresh + 100)]).exits(3);
    // Ending the session here ends it in the other workspace too.
    env.pipemux(&["end", "monitor/main"]).ok();
    let gone = there(&["run", "monitor.expand(obj:state:memory)"]);
    gone.exits(3);
}

#[test]
fn workspaces_compete_for_an_object_of_a_shared_app() {
    let env = TestEnv::new();
    env.install("arena", "examples/arena", "scope = \"user\"\n");
    let there = |args: &[&str]| env.in_workspace("there", args);
    there(&["open", "notebook"]).ok();
    there(&["run", "notebook.add('first', 'so that numbers differ')"]).ok();
    let here_slime = env.pipemux(&["open", "arena"]).ok().obj("史莱姆1");
    let opened = there(&["open", "arena"]);
    let (there_slime, robber) = (opened.ok().obj("史莱姆1"), opened.obj("强盗"));
    assert_ne!(here_slime, there_slime);
    let link = opened.link("攻击史莱姆1");
    env.run(&format!("arena.attack(obj:{here_slime})")).ok().has("dies");
    let late = there(&["run", &format!("arena.attack(obj:{there_slime})")]);
    late.exits(3).has(&format!("Anchor obj:{there_slime} not found in current context."));
    let late = there(&["click", &link.to_string()]);
    late.exits(3).has(&format!("Anchor link:{link} not found in current context. 史莱姆1 died."));
    // The other objects are unchanged.
    there(&["run", &format!("arena.attack(obj:{robber})")]).ok().has("强盗 takes 11, 14 left");
}

#[test]
fn change_by_one_reader_makes_only_that_object_stale() {
    let env = TestEnv::with_notebook();
    let one = env.run("notebook.add('one', 'a')").ok().obj("one");
    let two = env.run("notebook.add('two', 'b')").ok().obj("two");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    let seen = bob(&["view"]);
    assert_eq!((seen.ok().obj("one"), seen.obj("two")), (one, two), "one table of ids");
    env.run(&format!("notebook.edit(obj:{one}, 'A')")).ok();
    // A run shows nothing before its end, so its second step has not seen the change.
    let both = format!("notebook.edit(obj:{two}, 'B'); notebook.edit(obj:{one}, 'bob')");
    let stale = bob(&["run", &both]);
    stale.exits(1).has("1 done · edit").has(&format!("Anchor obj:{one} is stale."));
    stale.has("-   a").has("+   A");
    bob(&["run", &format!("notebook.append(obj:{one}, 'bob')")]).ok();
    // Now both entries are changed by bob.
    env.run(&format!("notebook.append(obj:{two}, 'more')")).exits(4).has("+   B");
    env.run(&format!("notebook.append(obj:{one}, 'more'); notebook.fold(obj:{two})")).ok();
}

#[test]
fn reader_who_never_viewed_has_seen_nothing() {
    let env = TestEnv::with_notebook();
    let one = env.run("notebook.add('one', 'a')").ok().obj("one");
    let carol = |args: &[&str]| env.as_reader("carol", args);
    let blind = carol(&["run", &format!("notebook.edit(obj:{one}, 'x')")]);
    blind.exits(4).has(&format!("Anchor obj:{one} is stale."));
    // The refusal showed it.
    carol(&["run", &format!("notebook.edit(obj:{one}, 'x')")]).ok();
}
