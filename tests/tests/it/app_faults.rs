//! Apps that misbehave: each fault has a clear answer and affects no other session.

use pipemux_tests::{Output, TestEnv, is_alive, wait_for, wait_until};

/// An environment with an open notebook and a registered `rogue` that is not open yet.
fn with_unopened_rogue(mode: &str) -> TestEnv {
    let env = TestEnv::new();
    env.install_rogue("rogue", mode);
    env.pipemux(&["open", "notebook"]).ok();
    env
}

fn misbehave(env: &TestEnv, how: &str) -> Output {
    env.run(&format!("rogue.misbehave('{how}')"))
}

fn sibling_is_well(env: &TestEnv) {
    env.run("notebook.add('sibling', 'well')").ok().has("sibling");
    env.pipemux(&["view", "notebook/main"]).ok().lacks("restarted").lacks("busy");
}

#[test]
fn app_that_exits_before_greeting_is_reported_with_its_last_lines() {
    let env = with_unopened_rogue("exits");
    let opened = env.pipemux(&["open", "rogue"]);
    opened.exits(6).has("could not start").has("status 3").has("settings.toml:3: unknown colour");
    env.pipemux(&["logs", "rogue/main"]).exits(3);
    sibling_is_well(&env);
    assert!(env.sessions().iter().all(|row| !row.session.starts_with("rogue")));
}

#[test]
fn apps_with_invalid_greetings_are_ended() {
    for (mode, said) in [
        ("garbage", "could not start"),
        ("four-gigabytes", "4294967295"),
        ("other-major", "99.1"),
        ("bad-window", "sent no window"),
    ] {
        let env = with_unopened_rogue(mode);
        env.pipemux(&["open", "rogue"]).exits(6).has(said);
        sibling_is_well(&env);
    }
}

#[test]
fn apps_silent_at_start_fail_at_the_requests_deadline() {
    let env = TestEnv::new();
    env.install_rogue("mute", "silent");
    env.install_rogue("half", "half-a-hello");
    env.install_rogue("blank", "no-window");
    env.pipemux(&["open", "notebook"]).ok();
    let asks =
        ["mute", "half", "blank"].map(|id| env.command(&["open", id, "--timeout", "2"]).start());
    sibling_is_well(&env);
    assert!(asks.iter().all(|ask| ask.is_running()), "they still wait for their apps");
    for ask in asks {
        ask.finish().exits(6);
    }
    sibling_is_well(&env);
}

#[test]
fn app_without_greeting_is_killed_after_ten_seconds() {
    let env = with_unopened_rogue("silent");
    let opened = env.command(&["open", "rogue"]).start();
    let rogue = wait_until("the app's process runs", || {
        let rows = env.sessions();
        rows.iter().find(|row| row.session == "rogue/main").and_then(|row| row.pid)
    });
    opened.finish().exits(6).has("sent no Hello within 10 s");
    assert!(!is_alive(rogue));
    sibling_is_well(&env);
}

#[test]
fn crash_during_a_step_makes_its_outcome_unknown() {
    let env = TestEnv::with_rogue_and_notebook();
    let died = misbehave(&env, "exit");
    died.exits(7).has("unknown").has("status 7").has("pipemux view rogue/main");
    env.pipemux(&["logs", "rogue/main"]).ok().has("fell");
    sibling_is_well(&env);
    env.pipemux(&["view", "rogue/main"]).ok().has("was restarted").has("the thing");
    misbehave(&env, "kill").exits(7).has("signal 9");
    env.pipemux(&["view", "rogue/main"]).ok().has("2nd of 5");
    misbehave(&env, "nothing").ok().has("behaved");
}

#[test]
fn crash_loop_ends_until_restart_is_requested() {
    let env = TestEnv::with_rogue_and_notebook();
    for number in 0..6 {
        // The calls differ, because a call that crashes its app repeatedly is refused.
        misbehave(&env, &format!("exit {number}")).exits(7);
        // The app is restarted five times, and then stays down.
        env.pipemux(&["view", "rogue/main"]).exits(if number < 5 { 0 } else { 6 });
    }
    misbehave(&env, "nothing").exits(6).has("pipemux restart rogue/main");
    sibling_is_well(&env);
    env.pipemux(&["restart", "rogue/main"]).ok();
    misbehave(&env, "nothing").ok();
}

#[test]
fn steps_after_an_unknown_outcome_do_not_run() {
    let env = TestEnv::with_rogue_and_notebook();
    let code = "notebook.add('before', 'x'); rogue.misbehave('exit'); notebook.add('behind', 'x')";
    let died = env.run(code);
    died.exits(7)
        .has("1 done")
        .has("2 unknown")
        .has(": notebook.add('behind', 'x') · pipemux answer");
    env.pipemux(&["view", "notebook/main"]).has("[before]").lacks("[behind]");
}

#[test]
fn invalid_answer_ends_the_app_with_unknown_outcome() {
    for how in ["random body", "random bytes", "long length", "hang up"] {
        let env = TestEnv::with_rogue_and_notebook();
        misbehave(&env, how).exits(7).has("unknown");
        sibling_is_well(&env);
        env.pipemux(&["view", "rogue/main"]).ok().has("was restarted");
        misbehave(&env, "nothing").ok();
    }
}

#[test]
fn missing_answer_fails_at_the_deadline() {
    let env = TestEnv::with_rogue_and_notebook();
    for how in ["half a frame", "hang"] {
        let call = format!("rogue.misbehave('{how}')");
        let hanging = env.command(&["run", &call, "--timeout", "1.5"]).start();
        sibling_is_well(&env);
        hanging.finish().exits(7).has("did not answer in time");
        env.pipemux(&["restart", "rogue/main"]).ok();
        misbehave(&env, "nothing").ok();
    }
}

#[test]
fn unrequested_replies_are_ignored() {
    let env = TestEnv::with_rogue_and_notebook();
    misbehave(&env, "stranger\\'s reply").ok().has("asked").lacks("never asked");
    misbehave(&env, "other life").ok().has("of this life").lacks("another");
    misbehave(&env, "twice").ok().has("once").lacks("twice");
    misbehave(&env, "nothing").ok().has("behaved");
    sibling_is_well(&env);
}

#[test]
fn output_and_notice_floods_are_bounded() {
    let env = TestEnv::with_rogue_and_notebook();
    misbehave(&env, "print 4").ok().has("printed 4 MB");
    let logs = env.pipemux(&["logs", "rogue/main", "--lines", "2000"]);
    assert!(logs.ok().stdout.len() < 400_000);
    let told = misbehave(&env, "notify 5000");
    assert!(told.ok().lines() < 60, "{told}");
    sibling_is_well(&env);
}

#[test]
fn end_kills_grandchildren_that_ignore_sigterm() {
    let env = TestEnv::with_rogue_and_notebook();
    misbehave(&env, "breed").ok().has("bred");
    let grandchild = || {
        let all = env.processes();
        all.iter().find(|process| process.command.ends_with("grandchild")).map(|p| p.pid)
    };
    let pid = grandchild().expect("the grandchild runs");
    env.pipemux(&["end", "rogue/main"]).ok();
    wait_for("the grandchild has ended", || !is_alive(pid));
    sibling_is_well(&env);
}

#[test]
fn crash_is_noticed_while_a_grandchild_holds_the_connection() {
    let env = TestEnv::with_rogue_and_notebook();
    misbehave(&env, "breed").ok();
    misbehave(&env, "exit").exits(7).has("status 7");
    env.pipemux(&["view", "rogue/main"]).ok().has("was restarted");
    sibling_is_well(&env);
}

#[test]
fn app_that_ignores_close_and_sigterm_is_killed() {
    let env = with_unopened_rogue("stubborn");
    env.pipemux(&["open", "rogue"]).ok();
    let pid = env.pid("rogue/main");
    env.pipemux(&["end", "rogue/main"]).ok();
    assert!(!is_alive(pid));
    env.pipemux(&["open", "rogue"]).ok();
    env.pipemux(&["down"]).ok();
    env.assert_clean();
}

#[test]
fn app_text_forges_no_anchors_headings_or_fences() {
    let env = TestEnv::with_rogue_and_notebook();
    misbehave(&env, "show forgery").ok();
    let view = env.pipemux(&["view", "rogue/main"]).ok().text();
    for line in view.lines() {
        assert!(!line.starts_with("## editor") && !line.starts_with("## forged"), "{view}");
    }
    assert!(!view.contains('\u{1b}') && !view.contains('\u{7}'), "{view}");
    assert!(!view.contains("[click me](link:1)"), "{view}");
    let unescaped = view.replace("\\<", "").replace("\\(", "").replace("\\[", "");
    assert!(!unescaped.contains("](obj:1)") && !unescaped.contains("<obj:1>"), "{view}");
    assert!(!unescaped.contains("[[MT:"), "{view}");
    // Code is exact, inside a fence that is longer than any fence in it.
    assert!(view.contains("a\n```\n````\n[z](link:1)\n`````"), "{view}");
    let json = env.pipemux(&["view", "rogue/main", "--json"]).ok().json();
    let anchors = json["windows"][0]["anchors"].as_object().unwrap().clone();
    let refs = anchors.values().filter(|anchor| anchor["type"] != "Form");
    assert_eq!(refs.count(), 2, "the thing and the one link: {anchors:?}");
    misbehave(&env, "show stranger").ok().lacks("[odd](link:");
}

#[test]
fn destructive_action_needs_confirmation_even_by_click() {
    let env = TestEnv::with_rogue_and_notebook();
    env.run("rogue.wipe()").exits(5).has("all of it");
    env.pipemux(&["answer", "no"]).ok().has("cancelled");
    let link = env.pipemux(&["view", "rogue/main"]).ok().has("wiped 0").link("wipe all");
    let asked = env.pipemux(&["click", &link.to_string()]);
    let yes = asked.exits(5).link("yes");
    env.pipemux(&["click", &yes.to_string()]).ok().has("wiped 1");
    // A confirmation counts once.
    env.pipemux(&["click", &yes.to_string()]).exits(3);
    env.pipemux(&["view", "rogue/main"]).ok().has("wiped 1");
}

#[test]
fn pick_one_question_rejects_several_answers() {
    let env = TestEnv::with_rogue_and_notebook();
    env.run("rogue.ask()").exits(5).has("1. [red]").has("2. [green]");
    env.pipemux(&["answer", "1,2"]).exits(2);
    env.pipemux(&["answer", "all"]).exits(2);
    env.pipemux(&["answer", "2"]).ok().has("picked [2]");
}

#[test]
fn ref_error_follows_what_the_app_reports() {
    let env = TestEnv::with_rogue_and_notebook();
    let thing = env.pipemux(&["view", "rogue/main"]).obj("the thing");
    let look = format!("rogue.look(obj:{thing})");
    env.run(&look).ok();
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["run", "rogue.set()"]).ok();
    env.run(&look).exits(4).has(&format!("Anchor obj:{thing} is stale."));
    env.pipemux(&["view"]).ok();
    misbehave(&env, "show folded").ok();
    env.run(&look).exits(4).has("is out of view").has("unfold");
    misbehave(&env, "show gone").ok();
    env.run(&look).exits(3).has("not found in current context").has("went up in smoke");
}

#[test]
fn window_of_an_app_that_fails_to_start_shows_the_reason() {
    let env = TestEnv::with_rogue_and_notebook();
    env.pipemux(&["down"]).ok();
    env.install_rogue("rogue", "exits");
    let view = env.pipemux(&["view"]);
    view.ok().has("## notebook/main").has("could not start").has("unknown colour");
    env.pipemux(&["view", "rogue/main"]).exits(6).has("status 3");
    misbehave(&env, "nothing").exits(6);
    sibling_is_well(&env);
    env.pipemux(&["down"]).ok();
    env.install_rogue("rogue", "tame");
    env.pipemux(&["view", "rogue/main"]).ok().has("the thing");
}

#[test]
fn megabyte_of_brackets_or_of_title_costs_only_its_own_window() {
    let env = with_unopened_rogue("tame");
    env.pipemux(&["open", "rogue"]).ok();
    misbehave(&env, "show brackets").ok();
    let cut = misbehave(&env, "brackets 900000");
    cut.ok().has("more characters)");
    assert!(cut.text().len() < 20_000, "{} bytes", cut.text().len());
    sibling_is_well(&env);
    misbehave(&env, "show long title").ok();
    let all = env.pipemux(&["view"]);
    all.ok().has("## rogue/main").has("## notebook/main").has("more characters)");
    assert!(all.text().len() < 40_000, "{} bytes", all.text().len());
    sibling_is_well(&env);
}
