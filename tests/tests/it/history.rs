//! The history of a workspace: what was done, by whom and with which outcome.

use pipemux_tests::{McpClient, TestEnv};
use serde_json::json;

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
    // A failure of a nested call is the reason why the outer call didn't run. With the daemon it
    // was lost which numbers this reader had seen.
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

#[test]
fn times_are_those_of_the_clock_of_whoever_asks() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('one', 'x')").ok();
    let at = env.pipemux(&["history", "--json"]).ok().json()[0]["timestamp"].clone();
    let at = at.as_str().expect("a time");
    for zone in ["AAA-5:30", "BBB+11", "CET-1CEST,M3.5.0,M10.5.0/3", "UTC0"] {
        let date = env.shell(&format!("date -d {at} '+%H:%M:%S'")).env("TZ", zone).output();
        let told = env.command(&["history"]).env("TZ", zone).output();
        told.ok().has(&format!("1. {} · ", date.ok().text().trim()));
    }
    let since = |when: &str| env.command(&["history", "--since", when]).output();
    since("today").ok().has("1. ");
    since("3h").ok().has("1. ");
    since("yesterday").ok().has("1. ");
    since("2100-01-01").ok().has("0 rounds since then");
    since("tomorrow").exits(2).has("is no time").has("yesterday");
}

#[test]
fn all_workspaces_are_told_with_reader_and_client() {
    let env = TestEnv::with_notebook();
    env.as_reader("bob", &["run", "notebook.add('cli', 'x')"]).ok();
    env.in_workspace("there", &["run", "notebook.add('there', 'x')"]).ok();
    env.command(&["run", "notebook.add('harness', 'x')"])
        .env("CODEX_THREAD_ID", "t-1")
        .output()
        .ok();
    let mut agent = McpClient::connect(&env);
    let code = json!({ "code": "notebook.add('mcp', 'x')" });
    agent.tool("run_code_snippet", code).ok();
    let line = b"{\"args\": [\"run\", \"notebook.add('pipe', 'x')\"]}\n";
    env.command(&["pipe"]).stdin(line).output().ok();
    let all = env.pipemux(&["history", "--all"]);
    all.ok().has(" · bob via cli · notebook.add('cli'");
    all.has("there · 1. ").has("session-t-1 via cli codex · notebook.add('harness'");
    all.has("via mcp story · notebook.add('mcp'").has("via pipe · notebook.add('pipe'");
    env.pipemux(&["history"]).ok().lacks("via ").lacks("there");
    let data = env.pipemux(&["history", "--all", "--json"]).ok().json();
    let rows = data.as_array().expect("rounds");
    assert_eq!((rows.len(), &rows[1]["workspace"]), (5, &json!("there")));
    // The quick way and the ordinary one name the harness alike.
    env.command(&["run", "--json", "notebook.add('slow', 'x')"])
        .env("CODEX_THREAD_ID", "t-1")
        .output()
        .ok();
    env.pipemux(&["history", "--all"]).ok().has("via cli codex · notebook.add('slow'");
}

#[test]
fn who_changed_a_file_is_known_whatever_changed_it() {
    let env = crate::terminal::confining();
    env.shell("git init -q && mkdir src").output().ok();
    env.write("src/a b.txt", "one\ntwo\n");
    env.write("src/c.txt", "three\n");
    env.as_reader("ann", &["run", "editor.replace('one', '1', in='src/a b.txt')"]).ok();
    env.as_reader(
        "bob",
        &["run", "terminal.run('echo more >> src/c.txt; sed -i s/two/2/ src/a*')"],
    )
    .ok()
    .has("changed src/a b.txt, src/c.txt");
    let who = env.pipemux(&["who", "src/a b.txt"]);
    who.ok().has("bob via cli · terminal.run(").has("ann via cli · editor.replace(");
    let text = who.text();
    assert!(text.find("bob") < text.find("ann"), "{who}");
    who.lacks("changed on disk since");
    // Of what a command changed no difference is kept, so nothing is known of what was there
    // before.
    let lines = env.pipemux(&["who", "--lines", "src/a b.txt"]);
    lines.ok().has("1-2 \tby no round that is kept\n").has("of 1 of 2 rounds that changed it no");
    env.pipemux(&["history", "src/c.txt"]).ok().has("bob via cli").lacks("ann");
    env.pipemux(&["who", "src"]).ok().has("bob").has("ann");
    env.pipemux(&["who", "src/c.txt", "--json"]).ok().has("\"client\": \"cli\"");
    // By a link, by another workspace, after a kill, and once it is gone.
    env.shell("ln -s src link").output().ok();
    env.pipemux(&["who", "link/../link/c.txt"]).ok().has("bob via cli");
    env.kill_daemon();
    env.in_workspace("there", &["who", "src/c.txt"]).ok().has("bob via cli");
    env.shell("touch -d '+1 hour' src/c.txt").output().ok();
    env.pipemux(&["who", "src/c.txt"]).ok().has("changed on disk since, at ");
    env.shell("rm src/c.txt").output().ok();
    env.pipemux(&["who", "src/c.txt"]).ok().has("bob via cli").has("it isn't there now");
    env.as_reader("ann", &["run", "editor.replace('1', 'eins', in='src/a b.txt')"]).ok();
    let newest = env.pipemux(&["who", "src/a b.txt", "--rounds", "1"]);
    newest.ok().has("'eins'").has("2 earlier: pipemux history").lacks("bob");
    let lines = env.pipemux(&["who", "--lines", "src/a b.txt"]);
    lines.ok().has("1 \tround 3 · ").has(" · by ann · via cli\n2 \tby no round that is kept\n");
    env.pipemux(&["who", "nothing"]).ok().has("no round that is kept changed it");
    env.pipemux(&["who", "no/such/folder/x"]).exits(2);
}
