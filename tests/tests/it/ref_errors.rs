//! The three exact sentences for stale, hidden and unknown refs.

use pipemux_tests::TestEnv;

#[test]
fn stale_out_of_view_and_not_found_have_exact_sentences() {
    let env = TestEnv::with_notebook();
    let plan = env.run("notebook.add('Release plan', 'Ship on Friday')").obj("Release plan");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.edit(obj:{plan}, 'Ship on Monday')")]).ok();

    let sentence = format!("Anchor obj:{plan} is stale. Please refresh to get current IDs.");
    let call = format!("notebook.edit(entry=obj:{plan}, text='Ship today')");
    env.run(&call).exits(4).has(&sentence);
    env.pipemux(&["view"]).ok().has("Ship on Monday");
    env.run(&call).ok();

    env.pipemux(&["close", "notebook/main"]).ok();
    let sentence = format!("Anchor obj:{plan} is out of view. Navigate or expand to access.");
    env.pipemux(&["read", &format!("obj:{plan}")]).exits(4).has(&sentence);

    env.pipemux(&["open", "notebook"]).ok();
    env.run(&format!("notebook.purge(obj:{plan})")).exits(5);
    env.pipemux(&["answer", "yes"]).ok();
    let sentence = format!("Anchor obj:{plan} not found in current context.");
    env.run(&call).exits(3).has(&sentence);
    env.pipemux(&["read", &format!("obj:{plan}")]).exits(3).has(&sentence);
    for never in ["obj:4711", "link:4711"] {
        let sentence = format!("Anchor {never} not found in current context.");
        let verb = if never.starts_with("obj") { "read" } else { "click" };
        env.pipemux(&[verb, never]).exits(3).has(&sentence);
    }
}

#[test]
fn pinned_ref_holds_until_its_object_changes() {
    let env = TestEnv::with_notebook();
    let first = env.run("notebook.add('first', 'a')");
    let (entry, text) = (first.obj("first"), first.text());
    let at = text.rfind('e').map(|at| &text[at..]).unwrap_or_default();
    let epoch: String = at[1..].chars().take_while(char::is_ascii_digit).collect();
    let epoch = if epoch.is_empty() { "3".to_owned() } else { epoch };
    env.run("notebook.add('second', 'b')").ok();
    env.run("notebook.add('third', 'c')").ok();
    env.run(&format!("notebook.append(obj:{entry}@e{epoch}, 'more')")).ok();
    env.run(&format!("notebook.append(obj:{entry}@e{epoch}, 'more')")).exits(4).has("is stale");
    env.run(&format!("notebook.append(obj:{entry}@e9999, 'more')")).exits(3).has("not found");
}

#[test]
fn collapsed_object_is_out_of_view() {
    let env = TestEnv::new();
    env.pipemux(&["open", "monitor"]).ok();
    let hidden = process(&env);
    env.run("monitor.collapse('processes')").ok();
    let sentence = format!("Anchor {hidden} is out of view. Navigate or expand to access.");
    let refused = env.run(&format!("monitor.kill({hidden})"));
    refused.exits(4).has(&sentence).has("pipemux run 'monitor.expand(\"processes\")'");
    env.run("monitor.expand('processes')").ok();
    env.run(&format!("monitor.kill({hidden})")).lacks("out of view");
}

/// Returns the ref of a process that the monitor lists, the first of the system.
fn process(env: &TestEnv) -> String {
    let shown = env.run("monitor.expand('processes')").ok().text();
    let start = shown.find("](obj:process:").map_or(0, |at| at + 2);
    shown[start..].split(')').next().unwrap_or_default().to_owned()
}

#[test]
fn ref_error_around_a_read_promises_that_nothing_took_effect() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.pipemux(&["open", "notebook"]).ok();
    let plan = env.run("notebook.add('plan', 'x')").ok().obj("plan");
    env.as_reader("bob", &["view"]).ok();
    env.as_reader("bob", &["run", &format!("notebook.edit(obj:{plan}, 'y')")]).ok();

    let read = "text=editor.lines(1, 2)";
    env.run(&format!("notebook.edit(obj:{plan}, {read})")).exits(4).has("is stale");
    env.run(&format!("notebook.edit(obj:4711, {read})")).exits(3).has("not found");
    // The read itself fails: it is named with the step that it was for.
    let unread = "notebook.add('copy', text=editor.lines(range=obj:4711))";
    let sentence = "lines in notebook.add: Anchor obj:4711 not found in current context.";
    env.run(unread).exits(3).has(&format!("failed · {sentence}")).lacks("0 failed");
    env.run(&format!("{unread}; editor.save()")).exits(3).has(&format!("1 failed · {sentence}"));
    // Once a step took effect it is a failure, of the second step.
    let second = format!("editor.insert(1, 'zero'); {unread}");
    env.run(&second).exits(1).has(&format!("2 failed · {sentence}")).has("not run: notebook.add");
}

#[test]
fn stale_ref_after_daemon_loss_shows_what_it_can_be_sent_to() {
    let env = TestEnv::with_notebook();
    let plan = env.run("notebook.add('plan', 'v1')").ok().obj("plan");
    env.pipemux(&["view"]).ok();
    env.kill_daemon();
    // Nobody knows any more what this reader had seen, and the session is down.
    let refused = env.run(&format!("notebook.append(obj:{plan}, 'more')"));
    refused.exits(4).has("is stale.").has("pipemux answer go").has("[plan]").has("v1");
    env.pipemux(&["answer", "go"]).ok().has("append: \"plan\"").has("more");
}
