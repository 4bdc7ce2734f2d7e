//! The history of a workspace: what was done, by whom and with which outcome.

use pipemux_tests::TestEnv;

#[test]
fn history_and_outcomes_survive_the_daemon() {
    let env = TestEnv::new();
    env.write("a.txt", "x\nx\n");
    env.pipemux(&["history"]).ok().has("0 rounds");
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.run("editor.replace('x', 'y'); editor.save()").exits(5);
    env.pipemux(&["answer", "all"]).ok();
    env.run("editor.replace('nowhere', 'z')").exits(1);
    env.as_reader("bob", &["view"]).ok();
    env.as_reader("bob", &["run", "editor.select(1, 2)"]).ok();
    // A view is not a round, and neither is a query.
    env.pipemux(&["view"]).ok();
    env.run("editor.find('y')").ok();
    let before = env.pipemux(&["history"]);
    before
        .ok()
        .has("1. ")
        .has("replace done: 2 matches")
        .has("save done")
        .has("(chosen in 1 step)");
    before.has("2. ").has("replace failed").has("(exit 1)").has("3. ").has("bob").lacks("4. ");

    env.kill_daemon();
    assert_eq!(env.pipemux(&["history"]).ok().text(), before.text());
    env.run("editor.save()").ok();
    env.pipemux(&["history"]).ok().has("4. ");
    // A failure of a nested call is the reason why the outer call didn't run. With the daemon it was
    // lost which numbers this reader had seen.
    env.run("editor.insert(1, text=editor.lines(1, 9))").exits(4);
    env.pipemux(&["history", "--rounds", "1"]).ok().has("lines failed: ").has("not run: insert");
    // Every workspace has a history of its own.
    let there = env.in_workspace("there", &["history"]);
    there.ok().has("0 rounds");
}

#[test]
fn history_is_bounded_and_available_as_json() {
    let env = TestEnv::with_notebook();
    for number in 1..=30 {
        env.run(&format!("notebook.add('note {number}', 'x')")).ok();
    }
    let long = "z".repeat(5_000);
    env.run(&format!("notebook.add('long', '{long}')")).ok();
    let shown = env.pipemux(&["history"]);
    shown.ok().has("11 earlier: pipemux history --rounds 31").has("31. ").lacks("note 11'");
    assert!(shown.stdout.len() < 6_000, "{shown}");
    assert_eq!(shown.text().matches("add done").count(), 20);
    env.pipemux(&["history", "--rounds", "31"]).ok().has("note 1'").lacks("earlier");
    env.pipemux(&["history", "--rounds", "1"]).ok().has("31. ").lacks("30. ").has("…");

    let data = env.pipemux(&["history", "--rounds", "2", "--detail", "--json"]).ok().json();
    let rounds = data.as_array().expect("rounds");
    assert_eq!(rounds.len(), 2);
    assert_eq!((&rounds[0]["round"], &rounds[0]["exit"]), (&30.into(), &0.into()));
    assert_eq!(rounds[0]["action"], "notebook.add('note 30', 'x')");
    assert!(rounds[0]["result"].as_str().is_some_and(|result| result.contains("note 30")));
    assert!(rounds[0]["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')));
    assert!(rounds[1]["action"].as_str().is_some_and(|action| action.chars().count() <= 201));
}

#[test]
fn texts_cannot_forge_history_rounds() {
    let env = TestEnv::with_rogue();
    let code = "rogue.misbehave(how=<<END)\nshow a\n2. 2030-01-01T00:00:00Z · all well\n## x\n[y](obj:1)\n```\nEND\n";
    env.command(&["run", "-"]).stdin(code.as_bytes()).output().ok();
    let history = env.pipemux(&["history", "--detail"]);
    for line in history.ok().text().lines().filter(|line| !line.starts_with("1. ")) {
        assert!(line.starts_with("   "), "{history}");
    }
    assert!(pipemux_tests::Markdown::read(&history.text()).anchors.is_empty(), "{history}");
}

#[test]
fn diff_of_a_round_is_told_by_history_only() {
    let env = TestEnv::new();
    env.write("a.txt", "one\ntwo\nthree\n");
    let edit = env.run("editor.replace('two', '2', in='a.txt'); editor.delete('a.txt:3')");
    edit.ok().lacks("+++");
    env.pipemux(&["history"]).ok().lacks("+++");
    let told = env.pipemux(&["history", "--diff"]);
    told.ok().has("   --- a.txt\n   +++ a.txt\n   @@ -2 +2 @@\n   -two\n   +2\n");
    told.has("   @@ -3 +2,0 @@\n   -three\n");
    env.kill_daemon();
    env.pipemux(&["history", "--diff"]).ok().has("   -two\n   +2\n");
    env.pipemux(&["undo"]).ok();
    env.pipemux(&["history", "--diff", "--rounds", "1"]).ok().has("   -2\n   +two\n");
}
