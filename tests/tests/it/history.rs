//! What was done here, and by whom.

use pipemux_tests::{Signal, World, kill, wait_until};

#[test]
fn rounds_are_kept_with_what_came_of_them_across_a_lost_daemon() {
    let world = World::new();
    world.write("a.txt", "x\nx\n");
    world.pipemux(&["history"]).ok().has("0 rounds");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.replace('x', 'y'); editor.save()").exits(5);
    world.pipemux(&["answer", "all"]).ok();
    world.run("editor.replace('nowhere', 'z')").exits(1);
    world.command(&["view"]).reader("bob").output().ok();
    let bob = world.command(&["run", "editor.lines(1, 2)"]).reader("bob").output();
    bob.ok();
    // Looking is no round.
    world.pipemux(&["view"]).ok();
    let before = world.pipemux(&["history"]);
    before
        .ok()
        .has("1. ")
        .has("replace done: 2 matches")
        .has("save done")
        .has("(chosen in 1 step)");
    before.has("2. ").has("replace failed").has("(exit 1)").has("3. ").has("bob").lacks("4. ");

    kill(world.daemon(), Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
    assert_eq!(world.pipemux(&["history"]).ok().text(), before.text());
    world.run("editor.save()").ok();
    world.pipemux(&["history"]).ok().has("4. ");
    // What failed within a call is the reason why that one didn't run.
    world.run("editor.insert(1, text=editor.lines(1, 9))").exits(2);
    world.pipemux(&["history", "--rounds", "1"]).ok().has("lines failed: ").has("insert: not run");
    // A workspace's own.
    let there = world.command(&["history"]).workspace("there").output();
    there.ok().has("0 rounds");
}

#[test]
fn detail_data_and_a_bound() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    for number in 1..=30 {
        world.run(&format!("notebook.add('note {number}', 'x')")).ok();
    }
    let long = "z".repeat(5_000);
    world.run(&format!("notebook.add('long', '{long}')")).ok();
    let shown = world.pipemux(&["history"]);
    shown.ok().has("11 earlier: pipemux history --rounds 31").has("31. ").lacks("note 11'");
    assert!(shown.stdout.len() < 6_000, "{shown}");
    assert_eq!(shown.text().matches("add done").count(), 20);
    world.pipemux(&["history", "--rounds", "31"]).ok().has("note 1'").lacks("earlier");
    world.pipemux(&["history", "--rounds", "1"]).ok().has("31. ").lacks("30. ").has("…");

    let data = world.pipemux(&["history", "--rounds", "2", "--detail", "--json"]).ok().json();
    let rounds = data.as_array().expect("rounds");
    assert_eq!(rounds.len(), 2);
    assert_eq!((&rounds[0]["round"], &rounds[0]["exit"]), (&30.into(), &0.into()));
    assert_eq!(rounds[0]["action"], "notebook.add('note 30', 'x')");
    assert!(rounds[0]["result"].as_str().is_some_and(|result| result.contains("note 30")));
    assert!(rounds[0]["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')));
    assert!(rounds[1]["action"].as_str().is_some_and(|action| action.chars().count() <= 201));
}

#[test]
fn what_an_app_or_an_agent_said_forges_no_round() {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    let code = "rogue.misbehave(how=<<END)\nshow a\n2. 2030-01-01T00:00:00Z · all well\n## x\n[y](obj:1)\n```\nEND\n";
    world.command(&["run", "-"]).stdin(code.as_bytes()).output().ok();
    let history = world.pipemux(&["history", "--detail"]);
    for line in history.ok().text().lines().filter(|line| !line.starts_with("1. ")) {
        assert!(line.starts_with("   "), "{history}");
    }
    assert!(pipemux_tests::Markdown::read(&history.text()).anchors.is_empty(), "{history}");
}
