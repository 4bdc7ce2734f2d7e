//! Options of a workspace, and runs that name the epoch they mean.

use pipemux_tests::TestEnv;

/// A notebook with two entries; returns their ids.
fn notebook() -> (TestEnv, u64, u64) {
    let env = TestEnv::with_notebook();
    let plan = env.run("notebook.add('plan', 'a')").ok().obj("plan");
    let other = env.run("notebook.add('other', 'b')").ok().obj("other");
    (env, plan, other)
}

#[test]
fn strict_epoch_option_makes_every_older_epoch_stale() {
    let (env, plan, other) = notebook();
    let epoch = env.pipemux(&["view"]).epoch();
    env.pipemux(&["set"]).ok().has("epoch meaning").has("rebase off");
    env.run(&format!("notebook.append(obj:{other}, 'more')")).ok();
    let call = format!("notebook.append(obj:{plan}@e{epoch}, 'x')");
    // The plan has the same meaning as in that epoch.
    env.run(&call).ok();
    let epoch = env.pipemux(&["view"]).epoch();
    env.run(&format!("notebook.append(obj:{other}, 'more')")).ok();
    let call = format!("notebook.append(obj:{plan}@e{epoch}, 'x')");

    env.pipemux(&["set", "epoch", "strict"]).ok().has("epoch strict");
    let sentence = format!("Anchor obj:{plan} is stale. Please refresh to get current IDs.");
    env.run(&call).exits(4).has(&sentence);
    env.kill_daemon();
    env.pipemux(&["set"]).ok().has("epoch strict");
    env.run(&call).exits(4).has(&sentence);
    // The view shows the current epoch, so the ref is accepted.
    env.pipemux(&["view"]).ok();
    env.run(&format!("notebook.append(obj:{plan}, 'y')")).ok();
    // The option belongs to this workspace only.
    let there = env.in_workspace("there", &["set"]);
    there.ok().has("epoch meaning");
    env.pipemux(&["set", "epoch", "meaning"]).ok();
    env.pipemux(&["set", "--json"]).ok().has("\"meaning\"");
    env.pipemux(&["set", "epoch", "sometimes"]).exits(2).has("strict|meaning");
    env.pipemux(&["set", "colour"]).exits(2).has("rebase on|off");
}

#[test]
fn rebase_option_carries_over_safe_actions_only() {
    let (env, plan, _) = notebook();
    let expand = format!("notebook.expand(obj:{plan})");
    let edit = format!("notebook.edit(obj:{plan}, 'mine')");
    env.as_reader("bob", &["view"]).ok();
    env.as_reader("bob", &["run", &format!("notebook.edit(obj:{plan}, 'by bob')")]).ok();
    env.run(&expand).exits(4).has("is stale");

    env.pipemux(&["set", "rebase", "on"]).ok().has("rebase on");
    env.kill_daemon();
    env.pipemux(&["set"]).ok().has("rebase on");
    env.pipemux(&["view"]).ok();
    env.as_reader("bob", &["view"]).ok();
    env.as_reader("bob", &["run", &format!("notebook.edit(obj:{plan}, 'by bob again')")]).ok();
    // An action with effects is still refused; a safe one runs and shows what changed.
    env.run(&edit).exits(4).has("is stale");
    env.as_reader("bob", &["run", &format!("notebook.edit(obj:{plan}, 'and again')")]).ok();
    let rebased = env.run(&expand);
    rebased.ok().has("1 done · expand").has("changed").has("and again");
    env.pipemux(&["read", &format!("obj:{plan}")]).ok().has("and again");
}

#[test]
fn run_at_an_epoch_pins_every_ref() {
    let (env, plan, other) = notebook();
    let before = env.pipemux(&["view"]).epoch();
    env.run(&format!("notebook.edit(obj:{plan}, 'changed')")).ok();
    let after = env.pipemux(&["view"]).epoch();
    assert!(after > before);
    let at = |epoch: u64, code: &str| env.pipemux(&["run", "--at", &format!("e{epoch}"), code]);
    let edit = format!("notebook.edit(obj:{plan}, 'x')");
    at(before, &edit).exits(4).has(&format!("Anchor obj:{plan} is stale."));
    at(before, &format!("notebook.append(obj:{other}, 'x')")).ok();
    // A ref with an epoch of its own means that epoch.
    at(before, &format!("notebook.edit(obj:{plan}@e{after}, 'y')")).ok();
    let newest = env.pipemux(&["view"]).epoch();
    let sentence = format!("Anchor obj:{plan} not found in current context.");
    at(newest + 1, &edit).exits(3).has(&sentence);
    at(newest, &edit).ok();
    env.pipemux(&["run", "--at", "yesterday", &edit]).exits(2).has("e17");
}

#[test]
fn run_at_an_epoch_pins_line_numbers() {
    let env = TestEnv::new();
    env.write("a.txt", "one\ntwo\nthree\n");
    let seen = env.pipemux(&["open", "editor", "a.txt"]).ok().epoch();
    env.run("editor.insert(1, 'zero')").ok();
    let pinned = format!("e{seen}");
    // Line 3 of that epoch is line 4 now.
    let call = ["run", "--at", &pinned, "editor.replace_lines(3, 3, 'THREE'); editor.save()"];
    env.pipemux(&call).ok();
    assert_eq!(env.read("a.txt"), "zero\none\ntwo\nTHREE\n");
}

#[test]
fn view_since_an_epoch_shows_only_changes() {
    let (env, plan, other) = notebook();
    env.write("a.txt", "one\n");
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    let epoch = env.pipemux(&["view"]).epoch();
    let since = format!("e{epoch}");
    let nothing = env.pipemux(&["view", "--since", &since]);
    nothing.ok().lacks("## editor/main").lacks("[plan]");
    assert!(nothing.lines() <= 3, "{nothing}");
    env.run(&format!("notebook.append(obj:{plan}, 'appended')")).ok();
    let changed = env.pipemux(&["view", "--since", &since]);
    changed.ok().has("appended").lacks("## editor/main").lacks(&format!("[other](obj:{other})"));
    // This includes changes of another reader and changes that were shown meanwhile.
    env.as_reader("bob", &["view"]).ok();
    env.as_reader("bob", &["run", "editor.insert(1, 'zero')"]).ok();
    let changed = env.pipemux(&["view", "--since", &since]);
    changed.ok().has("appended").has("zero").lacks(&format!("[other](obj:{other})"));
    env.pipemux(&["view", "editor/main", "--since", &since]).ok().has("zero").lacks("appended");
    let newest = env.pipemux(&["view"]).epoch();
    let future = format!("e{}", newest + 1);
    env.pipemux(&["view", "--since", &future]).exits(3).has(&format!("the newest is e{newest}"));
}
