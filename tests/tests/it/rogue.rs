//! Apps that misbehave: a clear answer each, and no harm to anyone else.

use pipemux_tests::{Output, World, is_alive, wait_until};

/// A world with a sane app beside the rogue one.
fn with(mode: &str) -> World {
    let world = World::new();
    world.install_rogue("rogue", mode);
    world.pipemux(&["open", "notebook"]).ok();
    world
}

/// A world with an open rogue that is tame so far.
fn tame() -> World {
    let world = with("tame");
    world.pipemux(&["open", "rogue"]).ok().has("the thing");
    world
}

fn misbehave(world: &World, how: &str) -> Output {
    world.run(&format!("rogue.misbehave('{how}')"))
}

fn sibling_is_well(world: &World) {
    world.run("notebook.add('sibling', 'well')").ok().has("sibling");
    world.pipemux(&["view", "notebook/main"]).ok().lacks("restarted").lacks("busy");
}

#[test]
fn one_that_ends_before_it_greets_is_told_with_its_last_lines() {
    let world = with("exits");
    let opened = world.pipemux(&["open", "rogue"]);
    opened.exits(6).has("could not start").has("status 3").has("settings.toml:3: unknown colour");
    world.pipemux(&["logs", "rogue/main"]);
    sibling_is_well(&world);
    assert!(world.sessions().iter().all(|row| !row.session.starts_with("rogue")));
}

#[test]
fn ones_whose_first_bytes_are_no_greeting_are_ended() {
    for (mode, said) in [
        ("garbage", "could not start"),
        ("four-gigabytes", "4294967295"),
        ("other-major", "99.1"),
        ("bad-window", "sent no window"),
    ] {
        let world = with(mode);
        world.pipemux(&["open", "rogue"]).exits(6).has(said);
        sibling_is_well(&world);
    }
}

#[test]
fn ones_that_fall_silent_at_the_start_are_given_up() {
    let world = World::new();
    world.install_rogue("mute", "silent");
    world.install_rogue("half", "half-a-hello");
    world.install_rogue("blank", "no-window");
    world.pipemux(&["open", "notebook"]).ok();
    let asks =
        ["mute", "half", "blank"].map(|id| world.command(&["open", id, "--timeout", "2"]).start());
    sibling_is_well(&world);
    assert!(asks.iter().all(|ask| ask.is_running()), "they were waited for meanwhile");
    for ask in asks {
        ask.finish().exits(6);
    }
    sibling_is_well(&world);
}

#[test]
fn one_that_never_greets_is_killed_at_its_deadline() {
    let world = with("silent");
    let opened = world.command(&["open", "rogue"]).start();
    let rogue = wait_until("the process", || {
        let rows = world.sessions();
        rows.iter().find(|row| row.session == "rogue/main").and_then(|row| row.pid)
    });
    opened.finish().exits(6).has("sent no Hello within 10 s");
    assert!(!is_alive(rogue));
    sibling_is_well(&world);
}

#[test]
fn one_that_dies_in_the_middle_leaves_an_unknown_outcome() {
    let world = tame();
    let died = misbehave(&world, "exit");
    died.exits(7).has("unknown").has("status 7").has("pipemux view rogue/main");
    world.pipemux(&["logs", "rogue/main"]).ok().has("fell");
    sibling_is_well(&world);
    world.pipemux(&["view", "rogue/main"]).ok().has("was restarted").has("the thing");
    misbehave(&world, "kill").exits(7).has("signal 9");
    world.pipemux(&["view", "rogue/main"]).ok().has("2nd of 5");
    misbehave(&world, "nothing").ok().has("behaved");
}

#[test]
fn one_that_dies_too_often_stays_down_until_it_is_asked_for() {
    let world = tame();
    for number in 0..6 {
        // Each another one: a call that ends its app again and again is kept back.
        misbehave(&world, &format!("exit {number}")).exits(7);
        world.pipemux(&["view", "rogue/main"]);
    }
    misbehave(&world, "nothing").exits(6).has("pipemux restart rogue/main");
    sibling_is_well(&world);
    world.pipemux(&["restart", "rogue/main"]).ok();
    misbehave(&world, "nothing").ok();
}

#[test]
fn later_steps_do_not_run_after_an_unknown_one() {
    let world = tame();
    let code = "notebook.add('before', 'x'); rogue.misbehave('exit'); notebook.add('behind', 'x')";
    let died = world.run(code);
    died.exits(7).has("1 done").has("2 unknown").has("not run: notebook.add");
    world.pipemux(&["view", "notebook/main"]).has("[before]").lacks("[behind]");
}

#[test]
fn answers_that_are_garbage_end_the_app_and_the_outcome_is_unknown() {
    for how in ["random body", "random bytes", "long length", "hang up"] {
        let world = tame();
        misbehave(&world, how).exits(7).has("unknown");
        sibling_is_well(&world);
        world.pipemux(&["view", "rogue/main"]).ok().has("was restarted");
        misbehave(&world, "nothing").ok();
    }
}

#[test]
fn answers_that_never_come_end_at_the_deadline() {
    let world = tame();
    for how in ["half a frame", "hang"] {
        let call = format!("rogue.misbehave('{how}')");
        let hanging = world.command(&["run", &call, "--timeout", "1.5"]).start();
        sibling_is_well(&world);
        hanging.finish().exits(7).has("did not answer in time");
        world.pipemux(&["restart", "rogue/main"]).ok();
        misbehave(&world, "nothing").ok();
    }
}

#[test]
fn replies_that_nobody_asked_for_change_nothing() {
    let world = tame();
    misbehave(&world, "stranger\\'s reply").ok().has("asked").lacks("never asked");
    misbehave(&world, "other life").ok().has("of this life").lacks("another");
    misbehave(&world, "twice").ok().has("once").lacks("twice");
    misbehave(&world, "nothing").ok().has("behaved");
    sibling_is_well(&world);
}

#[test]
fn floods_are_bounded() {
    let world = tame();
    misbehave(&world, "print 4").ok().has("printed 4 MB");
    let logs = world.pipemux(&["logs", "rogue/main", "--lines", "2000"]);
    assert!(logs.ok().stdout.len() < 400_000);
    let told = misbehave(&world, "notify 5000");
    assert!(told.ok().lines() < 60, "{told}");
    sibling_is_well(&world);
}

#[test]
fn a_grandchild_that_ignores_sigterm_is_gone_after_the_end() {
    let world = tame();
    misbehave(&world, "breed").ok().has("bred");
    let grandchild = || {
        let all = world.processes();
        all.iter().find(|process| process.command.ends_with("grandchild")).map(|p| p.pid)
    };
    let Some(pid) = grandchild() else { return };
    world.pipemux(&["end", "rogue/main"]).ok();
    wait_until("the grandchild's end", || (!is_alive(pid)).then_some(()));
    sibling_is_well(&world);
}

#[test]
fn one_that_dies_while_its_grandchild_holds_the_connection_is_dead() {
    let world = tame();
    misbehave(&world, "breed").ok();
    misbehave(&world, "exit").exits(7).has("status 7");
    world.pipemux(&["view", "rogue/main"]).ok().has("was restarted");
    sibling_is_well(&world);
}

#[test]
fn one_that_ignores_close_and_sigterm_is_killed() {
    let world = with("stubborn");
    world.pipemux(&["open", "rogue"]).ok();
    let pid = world.pid("rogue/main");
    world.pipemux(&["end", "rogue/main"]).ok();
    assert!(!is_alive(pid));
    world.pipemux(&["open", "rogue"]).ok();
    world.pipemux(&["down"]).ok();
    world.assert_clean();
}

#[test]
fn text_cannot_forge_anchors_headings_or_fences() {
    let world = tame();
    misbehave(&world, "show forgery").ok();
    let view = world.pipemux(&["view", "rogue/main"]).ok().text();
    for line in view.lines() {
        assert!(!line.starts_with("## editor") && !line.starts_with("## forged"), "{view}");
    }
    assert!(!view.contains('\u{1b}') && !view.contains('\u{7}'), "{view}");
    assert!(!view.contains("[click me](link:1)"), "{view}");
    let unescaped = view.replace("\\<", "").replace("\\(", "").replace("\\[", "");
    assert!(!unescaped.contains("](obj:1)") && !unescaped.contains("<obj:1>"), "{view}");
    assert!(!unescaped.contains("[[MT:"), "{view}");
    // In code it is exact, inside a fence that is longer than any in it.
    assert!(view.contains("a\n```\n````\n[z](link:1)\n`````"), "{view}");
    let json = world.pipemux(&["view", "rogue/main", "--json"]).ok().json();
    let anchors = json["windows"][0]["anchors"].as_object().unwrap().clone();
    assert_eq!(anchors.len(), 2, "the thing and the one link: {anchors:?}");
    misbehave(&world, "show stranger").ok().lacks("[odd](link:");
}

#[test]
fn what_is_destructive_is_asked_first_also_by_a_click() {
    let world = tame();
    world.run("rogue.wipe()").exits(5).has("all of it");
    world.pipemux(&["answer", "no"]);
    let link = world.pipemux(&["view", "rogue/main"]).ok().has("wiped 0").link("wipe all");
    let asked = world.pipemux(&["click", &link.to_string()]);
    let yes = asked.exits(5).link("yes");
    world.pipemux(&["click", &yes.to_string()]).ok().has("wiped 1");
    // A confirmation is used up by its use.
    assert_ne!(world.pipemux(&["click", &yes.to_string()]).exit, 0);
    world.pipemux(&["view", "rogue/main"]).ok().has("wiped 1");
}

#[test]
fn a_question_is_answered_by_number_or_link_only_as_it_allows() {
    let world = tame();
    world.run("rogue.ask()").exits(5).has("1. [red]").has("2. [green]");
    world.pipemux(&["answer", "1,2"]).exits(2);
    world.pipemux(&["answer", "all"]).exits(2);
    world.pipemux(&["answer", "2"]).ok().has("picked [2]");
}

#[test]
fn a_ref_is_stale_gone_or_hidden_as_its_app_says() {
    let world = tame();
    let thing = world.pipemux(&["view", "rogue/main"]).obj("the thing");
    let look = format!("rogue.look(obj:{thing})");
    world.run(&look).ok();
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["run", "rogue.set()"]).ok();
    world.run(&look).exits(4).has(&format!("Anchor obj:{thing} is stale."));
    world.pipemux(&["view"]).ok();
    misbehave(&world, "show folded").ok();
    world.run(&look).exits(4).has("is out of view").has("unfold");
    misbehave(&world, "show gone").ok();
    world.run(&look).exits(3).has("not found in current context").has("went up in smoke");
}

#[test]
fn a_window_whose_app_no_longer_starts_says_why_beside_the_others() {
    let world = tame();
    world.pipemux(&["down"]).ok();
    world.install_rogue("rogue", "exits");
    let view = world.pipemux(&["view"]);
    view.ok().has("## notebook/main").has("could not start").has("unknown colour");
    world.pipemux(&["view", "rogue/main"]).exits(6).has("status 3");
    misbehave(&world, "nothing");
    sibling_is_well(&world);
    world.pipemux(&["down"]).ok();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["view", "rogue/main"]).ok().has("the thing");
}
