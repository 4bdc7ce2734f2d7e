//! A person holds what agents do: acts are refused, reading and running jobs go on, and no agent
//! ends that.

use std::time::Duration;

use pipemux_proto::client::Verb;
use pipemux_proto::consent::PersonChannel;
use pipemux_proto::pause::{PauseArgs, PauseScope};
use pipemux_tests::{McpClient, TestClient, TestEnv, wait_until};
use serde_json::json;

/// What a person's terminal sends.
fn decide(env: &TestEnv, scope: PauseScope, on: bool) -> String {
    let by = Some(PersonChannel::Terminal);
    let args = PauseArgs { scope, on, by, clock: Vec::new() };
    let mut person = TestClient::new(env, None, "person");
    let reply = person.request(Verb::Pause(args), Duration::from_secs(30));
    assert_eq!(reply.exit, 0, "{}", reply.text);
    reply.text
}

#[test]
fn paused_agents_read_and_do_nothing_at_any_door_until_a_person_resumes() {
    let env = TestEnv::with_notebook();
    env.write("a.txt", "x\n");
    env.run("notebook.add('one', 'x')").ok();
    let said = decide(&env, PauseScope::Workspace, true);
    assert!(said.contains("acts are refused, reading goes on, and so do jobs that run"), "{said}");
    for door in 0..2 {
        let refused = env.run("notebook.add('two', 'x')");
        refused.exits(9).has("paused by a person at ").has("`pipemux resume`");
        env.pipemux(&["run", "--json", "notebook.add('two', 'x')"]).exits(9);
        env.pipemux(&["undo"]).exits(9).has("paused by a person");
        env.run("editor.find('x'); notebook.add('two', 'x')").exits(9);
        let line = b"{\"args\": [\"run\", \"notebook.add('two', 'x')\"]}\n";
        env.command(&["pipe"]).stdin(line).output().has("paused by a person");
        let call = json!({ "name": "bash", "input": { "command": "touch made" } }).to_string();
        env.command(&["exec"]).stdin(call.as_bytes()).output().has("paused by a person");
        let mut agent = McpClient::connect(&env);
        let code = json!({ "code": "notebook.add('two', 'x')" });
        agent.tool("run_code_snippet", code).fails().has("paused by a person");
        drop(agent);
        env.write("own.toml", "id = \"own\"\ncommand = \"/bin/true\"\ndescription = \"d\"\n");
        env.pipemux(&["app", "add", "own.toml"]).exits(9).has("paused by a person");
        // Looking goes on, and says what is held.
        env.pipemux(&["view"]).ok().has("[one](obj:").lacks("two");
        env.pipemux(&["status"]).ok().has("paused workspace ");
        env.pipemux(&["history"]).ok().has("a person · pause workspace ");
        // Elsewhere one acts.
        env.in_workspace("there", &["run", "notebook.add('there', 'x')"]).ok();
        if door == 0 {
            env.kill_daemon();
        }
    }
    assert!(!env.path("made").exists());
    decide(&env, PauseScope::Workspace, false);
    env.pipemux(&["status"]).ok().lacks("paused");
    env.run("notebook.add('two', 'x')").ok();
    env.pipemux(&["history"]).ok().has("a person · resume workspace ");
}

#[test]
fn pause_holds_a_reader_or_everybody() {
    let env = TestEnv::with_notebook();
    decide(&env, PauseScope::Reader("bob".into()), true);
    let bob = |code: &str| env.as_reader("bob", &["run", code]);
    bob("notebook.add('b', 'x')").exits(9).has("`pipemux resume --reader bob`");
    env.as_reader("ann", &["run", "notebook.add('a', 'x')"]).ok();
    decide(&env, PauseScope::All, true);
    env.in_workspace("there", &["run", "notebook.add('a', 'x')"]).exits(9).has("resume --all");
    assert!(decide(&env, PauseScope::Reader("bob".into()), false).contains("still paused: all"));
    bob("notebook.add('b', 'x')").exits(9);
    decide(&env, PauseScope::All, false);
    bob("notebook.add('b', 'x')").ok();
}

#[test]
fn agent_ends_no_pause() {
    let env = crate::terminal::confining();
    let job = "until [ -e go ]; do sleep 0.05; done; pipemux resume > said 2>&1 < /dev/null; \
               echo yes | script -qec \"pipemux resume\" /dev/null > also 2>&1; touch tried";
    env.run(&format!("terminal.run('{job}', wait=0)")).ok();
    decide(&env, PauseScope::Workspace, true);
    // From its shell, over the wire without a person, and from a command that it began before.
    env.pipemux(&["resume"]).exits(9).has("only a person at a terminal");
    env.pipemux(&["pause", "--all"]).exits(9).has("only a person at a terminal");
    env.command(&["resume"]).stdin(b"yes\n").output().exits(9);
    let args = PauseArgs { scope: PauseScope::All, on: false, by: None, clock: Vec::new() };
    let mut agent = TestClient::new(&env, None, "agent");
    assert_eq!(agent.request(Verb::Pause(args), Duration::from_secs(30)).exit, 9);
    env.write("go", "");
    wait_until("the job tried", || env.path("tried").exists().then_some(()));
    env.run("editor.replace('a', 'b', in='said')").exits(9).has("paused by a person");
    env.pipemux(&["status"]).ok().has("paused workspace ");
}

#[test]
fn run_under_way_stops_before_its_next_step() {
    let env = crate::terminal::confining();
    let code = "terminal.run('touch began; until [ -e go ]; do sleep 0.05; done', wait=60); \
                terminal.run('touch second')";
    let running = env.command(&["run", code]).start();
    wait_until("it began", || env.path("began").exists().then_some(()));
    decide(&env, PauseScope::All, true);
    env.write("go", "");
    let ended = running.finish();
    ended.has("1 done").has("2 failed").has("paused by a person");
    assert!(!env.path("second").exists(), "{ended}");
}
