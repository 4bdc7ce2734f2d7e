//! `pipemux mcp`: a harness uses PipeMux over the Model Context Protocol.

use pipemux_tests::{McpClient, Signal, TestEnv, ToolResult, kill};
use serde_json::{Value, json};

const CODE: &str = "fn greet(who: &str) -> String {\n    format!(\"Hello, {who}\")\n}\n\nfn main() {\n    println!(\"{}\", greet(\"you\"));\n}\n";

fn with_code() -> TestEnv {
    let env = TestEnv::new();
    env.write("a.rs", CODE);
    env
}

#[test]
fn newcomer_edits_in_one_call_and_sees_the_difference_where_it_is_wanted() {
    let env = with_code();
    let mut plain = McpClient::connect(&env);
    plain.run("editor.rename('greet', 'hail')").ok().has("· [undo]").lacks("```diff");
    assert_eq!(plain.close(), 0);
    let args = ["mcp", "--diff", "400"];
    let mut agent = McpClient::connect_as(&env, &args, "2025-11-25", json!({}));
    agent.run("undo 1").ok().has("undo of editor.rename");
    let renamed = agent.run("editor.rename('greet', 'welcome')").ok();
    renamed.has("1 done · rename").has("```diff").has("+fn welcome(who: &str)").has("[undo]");
    assert!(env.read("a.rs").contains("welcome(\"you\")"));
    // What a result shows anyway isn't shown twice.
    agent.run("editor.insert('// x', before='main')").ok().has("// x").lacks("```diff");
    agent.run("undo").ok();
    agent.tool("open", json!({ "app": "editor", "args": ["a.rs"] })).ok().has("1\tfn welcome");
    let shown = agent.run("editor.replace_lines(1, 1, 'fn welcome(w: &str) -> String {')").ok();
    shown.has("## editor/main").lacks("```diff");
    agent.tool("close", json!({ "window": "editor/main" })).ok().has("closed editor/main");
    assert_eq!(agent.close(), 0);
}

#[test]
fn every_connection_lists_the_same_tools_with_honest_hints() {
    let env = with_code();
    let list =
        |client: &mut McpClient| client.request("tools/list", json!({}))["result"]["tools"].clone();
    let mut newest = McpClient::connect(&env);
    let mut older = McpClient::connect_as(&env, &["mcp"], "2025-06-18", json!({}));
    let mut inline = McpClient::connect_inline(&env, "2026-07-28");
    let tools = list(&mut newest);
    assert_eq!(tools, list(&mut older));
    assert_eq!(tools, list(&mut inline));
    let hint = |name: &str, hint: &str| {
        let tools = tools.as_array().expect("a list");
        tools.iter().find(|tool| tool["name"] == name).map(|tool| tool["annotations"][hint].clone())
    };
    assert_eq!(hint("ask", "readOnlyHint"), Some(json!(true)));
    assert_eq!(hint("run_code_snippet", "readOnlyHint"), Some(json!(false)));
    assert_eq!(hint("run_code_snippet", "destructiveHint"), Some(json!(true)));
    // What says that it only looks does only that.
    older.ask("editor.replace('greet', 'x', all=true)").fails().has("nothing ran");
    older.ask("undo").fails().has("run_code_snippet");
    inline.ask("pipemux run 'editor.undo()'").fails();
    assert_eq!(env.read("a.rs"), CODE);
    inline.ask("editor.find('greet', count=true)").ok().has("2 matches");
}

#[test]
fn newest_revision_needs_no_greeting() {
    let env = with_code();
    let mut agent = McpClient::connect_inline(&env, "2026-07-28");
    let found = agent.request("server/discover", json!({}));
    let versions = found["result"]["supportedVersions"].to_string();
    for version in ["2026-07-28", "2025-11-25", "2025-06-18"] {
        assert!(versions.contains(version), "{found}");
    }
    agent.run("editor.rename('greet', 'hail')").ok().has("rename");
}

#[test]
fn failures_are_results_that_say_how_to_go_on() {
    let env = with_code();
    let mut agent = McpClient::connect(&env);
    agent.run("editor.rename('gret', 'x')").fails().has("greet");
    agent.run("editor.frobnicate()").fails().has("nothing ran").has("frobnicate");
    agent.run("editor.insert('a.rs:1', text=stdin)").fails().has("<<END");
    agent.run("view --lod most").fails().has("gist, summary or full");
    agent.tool("ask", json!({})).fails().has("code is missing");
    agent.tool("open", json!({ "app": "nothing" })).fails().has("apps");
    let unknown = agent.request("tools/call", json!({ "name": "view", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn questions_are_answered_with_the_words_of_the_hint() {
    let env = with_code();
    let mut agent = McpClient::connect(&env);
    let asked = agent.run("editor.replace('greet', 'hail')").ok();
    asked.has("needs an answer").has("\nanswer 1").lacks("pipemux answer");
    agent.run("answer 1").ok().has("1 of 2 matches");
    agent.run("editor.replace('who', 'whom', in='a.rs')").ok().has("needs an answer");
    // With the program's name, as people write it, it is the same.
    agent.run("pipemux answer none").ok();
    agent
        .run("editor.replace('nowhere', 'x', in='a.rs'); editor.replace('hail', 'greet', in='a.rs', all=true)")
        .fails();
    agent.run("answer editor.replace('Hello', 'Hi', in='a.rs')").ok();
    assert_eq!(env.read("a.rs"), CODE.replace("Hello", "Hi"));
}

#[test]
fn person_confirms_where_the_client_can_ask() {
    let env = TestEnv::new();
    env.install_rogue("rogue", "plain");
    let wipe = json!({ "name": "run_code_snippet", "arguments": { "code": "rogue.wipe()" } });
    let forms = json!({ "elicitation": {} });
    let mut agent = McpClient::connect_as(&env, &["mcp"], "2025-11-25", forms);
    agent.tool("open", json!({ "app": "rogue" })).ok();
    let id = agent.begin("tools/call", wipe.clone());
    let declined = agent.finish(id, |asked| {
        assert_eq!(asked["method"], "elicitation/create");
        let message = asked["params"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("rogue.wipe") && !message.contains("answer yes"), "{asked}");
        json!({ "action": "decline" })
    });
    ToolResult::of(&declined).lacks("done · wipe");
    let id = agent.begin("tools/call", wipe.clone());
    let accepted = agent.finish(id, |_| json!({ "action": "accept" }));
    ToolResult::of(&accepted).ok().has("done · wipe");
    // Whoever decides nothing leaves the question to the model.
    let id = agent.begin("tools/call", wipe.clone());
    let left = agent.finish(id, |_| json!({ "action": "cancel" }));
    ToolResult::of(&left).ok().has("answer [yes]");
    agent.run("answer no").ok();
    // Without sessions the question is a result, and the answer comes with the call again.
    let mut agent = McpClient::connect_inline(&env, "2026-07-28");
    let mut again = wipe;
    let asked = agent.request("tools/call", again.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = json!({ "confirm": { "action": "accept" } });
    ToolResult::of(&agent.request("tools/call", again)).ok().has("done · wipe");
}

/// Returns how a person answers who accepts only what has this part.
fn accepts_only(part: &'static str) -> impl Fn(&Value) -> Value {
    move |asked| {
        let message = asked["params"]["message"].as_str().unwrap_or_default();
        let accepted = message.contains(part);
        json!({ "action": if accepted { "accept" } else { "decline" }, "content": {} })
    }
}

#[test]
fn accepting_one_of_two_parallel_questions_never_carries_out_the_other() {
    let env = TestEnv::new();
    let purge = |title: &str| {
        let code = format!("notebook.purge([\"{title}\"])");
        json!({ "name": "run_code_snippet", "arguments": { "code": code } })
    };
    let forms = json!({ "elicitation": {} });
    let mut agent = McpClient::connect_as(&env, &["mcp"], "2025-11-25", forms);
    let mut accepted = 0;
    for round in 0..4 {
        let (keep, drop) = (format!("keep{round}"), format!("drop{round}"));
        agent.run(&format!("notebook.add('{keep}', 'x'); notebook.add('{drop}', 'x')")).ok();
        // Whichever begins first may be the only one that asks.
        let titles = if round % 2 == 0 { [&keep, &drop] } else { [&drop, &keep] };
        let mut left = titles.map(|title| agent.begin("tools/call", purge(title))).to_vec();
        while !left.is_empty() {
            let message = agent.next_message();
            if message["method"] == "elicitation/create" {
                let result = accepts_only("drop")(&message);
                accepted += u32::from(result["action"] == "accept");
                let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                agent.send(&reply);
            } else {
                left.retain(|id| message["id"] != *id);
            }
        }
        let shown = agent.ask("notebook.show('all')").ok().text;
        assert!(shown.contains(&keep), "round {round}: {shown}");
        // A call that got no form left its question, or its steps, to the model.
        agent.run("answer no");
    }
    assert!(accepted > 0, "no person was asked");
    // Without sessions each state belongs to the call that got it.
    let mut agent = McpClient::connect_inline(&env, "2026-07-28");
    agent.run("notebook.add('keep', 'x'); notebook.add('drop', 'x')").ok();
    let (one, other) =
        (agent.begin("tools/call", purge("keep")), agent.begin("tools/call", purge("drop")));
    let mut answers = [agent.next_message(), agent.next_message()];
    answers.sort_by_key(|answer| answer["id"].as_u64() != Some(one));
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(one), &json!(other)));
    for (answer, title) in answers.iter().zip(["keep", "drop"]) {
        let Some(state) = answer["result"]["requestState"].as_str() else { continue };
        let asked = answer["result"]["inputRequests"].to_string();
        assert!(asked.contains(title), "{answer}");
        let mut again = purge(if title == "keep" { "drop" } else { "keep" });
        again["requestState"] = json!(state);
        again["inputResponses"] = json!({ "confirm": { "action": "accept", "content": {} } });
        ToolResult::of(&agent.request("tools/call", again)).fails().has("nothing ran");
    }
    agent.ask("notebook.show('all')").ok().has("keep").has("drop");
}

#[test]
fn tool_that_only_looks_acts_with_no_state() {
    let env = TestEnv::new();
    let mut agent = McpClient::connect_inline(&env, "2026-07-28");
    agent.run("notebook.add('kept', 'x')").ok();
    let purge =
        json!({ "name": "run_code_snippet", "arguments": { "code": "notebook.purge(['kept'])" } });
    let asked = agent.request("tools/call", purge.clone());
    let state = asked["result"]["requestState"].as_str().expect("a question").to_owned();
    assert!(state.len() >= 32, "{state}");
    let bring = |state: &str, mut call: Value| {
        call["requestState"] = json!(state);
        call["inputResponses"] = json!({ "confirm": { "action": "accept", "content": {} } });
        call
    };
    let look = |code: &str| json!({ "name": "ask", "arguments": { "code": code } });
    for state in [state.as_str(), "1", "", "abc"] {
        for code in ["view", "answer", "notebook.purge(['kept'])"] {
            let answer = agent.request("tools/call", bring(state, look(code)));
            ToolResult::of(&answer).fails().has("requestState");
        }
    }
    agent.ask("answer yes").fails().has("nothing ran");
    agent.ask("notebook.show('all')").ok().has("kept");
    for guessed in ["1", "2", "3", "4"] {
        ToolResult::of(&agent.request("tools/call", bring(guessed, purge.clone()))).fails();
    }
    let done = agent.request("tools/call", bring(&state, purge.clone()));
    ToolResult::of(&done).ok().has("1 done · purge");
    ToolResult::of(&agent.request("tools/call", bring(&state, purge))).fails();
}

#[test]
fn edit_is_shown_before_somebody_approves_it() {
    let env = with_code();
    let mut agent = McpClient::connect(&env);
    // Asking needs no approval, and names all that the call would touch.
    let shown = agent.ask("editor.rename('greet', 'welcome', preview=true)").ok();
    shown.has("would change 2 places in 1 file: a.rs (2)").has("```diff").has("+fn welcome(");
    agent.ask("editor.replace('greet', 'x', preview=true)").ok().has("asks first: 2 matches");
    agent.ask("editor.rename('greet', 'welcome', preview=false)").fails().has("left out");
    agent.ask("editor.rename('greet', 'welcome')").fails().has("nothing ran");
    // What has no preview is refused, not carried out.
    agent.run("notebook.add('a', 'b', preview=true)").fails().has("preview");
    agent.run("editor.save(preview=true)").fails().has("nothing ran");
    assert_eq!(env.read("a.rs"), CODE);
    agent.run("undo").fails();
    agent.run("editor.rename('greet', 'welcome')").ok();
    agent.ask("editor.undo(preview=true)").ok().has("+fn greet(");
    assert!(env.read("a.rs").contains("fn welcome("));
}

#[test]
fn client_with_roots_works_in_the_first_one() {
    let env = TestEnv::new();
    env.write("a.rs", "fn outside() {}\n");
    let root = env.root().join("a folder 深い");
    std::fs::create_dir_all(root.join(".git")).expect("a project");
    std::fs::write(root.join("a.rs"), CODE).expect("a file");
    let uri = |path: &std::path::Path| {
        format!("file://{}", path.display().to_string().replace(' ', "%20"))
    };
    let roots = json!({ "roots": { "listChanged": true } });
    let mut agent = McpClient::connect_as(&env, &["mcp"], "2025-11-25", roots.clone());
    let answer = |roots: Vec<String>| {
        let roots: Vec<Value> = roots.iter().map(|uri| json!({ "uri": uri })).collect();
        move |asked: &Value| {
            assert_eq!(asked["method"], "roots/list");
            json!({ "roots": roots })
        }
    };
    let code = |code: &str| json!({ "name": "run_code_snippet", "arguments": { "code": code } });
    let rename = code("editor.rename('greet', 'hail')");
    let id = agent.begin("tools/call", rename);
    let first = vec!["https://example.org".to_owned(), uri(&root), uri(&env.project())];
    ToolResult::of(&agent.finish(id, answer(first))).ok().has("1 done · rename");
    assert!(std::fs::read_to_string(root.join("a.rs")).expect("it").contains("fn hail("));
    // Asked once, and again when they changed.
    agent.ask("editor.lines('a.rs')").ok().has("fn hail(").lacks("outside");
    agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    let id = agent.begin("tools/call", code("editor.lines('a.rs')"));
    let other = vec![uri(&env.project())];
    ToolResult::of(&agent.finish(id, answer(other))).ok().has("fn outside").lacks("hail");
    agent.close();

    // A client whose roots are nothing here stays where it was started.
    let mut agent = McpClient::connect_as(&env, &["mcp"], "2025-06-18", roots);
    let id = agent.begin("tools/call", code("editor.lines('a.rs')"));
    let nowhere = vec!["file:///no/such/place".to_owned()];
    ToolResult::of(&agent.finish(id, answer(nowhere))).ok().has("fn outside");
}

#[test]
#[cfg(target_os = "linux")]
fn server_of_a_plugin_works_where_its_client_does() {
    let env = with_code();
    let plugin = env.root().join("plugin");
    std::fs::create_dir(&plugin).expect("a directory");
    let mut agent = McpClient::connect_in_plugin(&env, &plugin);
    agent.ask("editor.lines('a.rs:1')").ok().has("fn greet(");
    agent.close();
}

#[test]
fn results_keep_to_what_clients_pass_on() {
    let env = TestEnv::new();
    let lines: String = (1..=4000).map(|n| format!("{n} is a line of this file\n")).collect();
    env.write("big.txt", &lines);
    env.write("wide.txt", "深い文字列の行です、とても長い。".repeat(60).as_str().to_owned() + "\n");
    let greeting = || ("2025-11-25", json!({}));
    let mut agent = McpClient::connect_named(&env, "codex-mcp-client", &["mcp"], greeting());
    for code in
        ["editor.lines('big.txt')", "editor.find('line', in='big.txt')", "help", "help editor"]
    {
        let shown = agent.ask(code).ok();
        assert!(shown.text.len() <= 10 * 1024, "{code}: {} bytes", shown.text.len());
        assert!(shown.text.lines().count() <= 256, "{code}: {} lines", shown.text.lines().count());
    }
    // Others take as much as is printed on the command line, and more by a budget of the call.
    let mut other = McpClient::connect_named(&env, "claude-code", &["mcp"], greeting());
    let shown = other.ask("editor.lines('big.txt', 1, 1000)").ok();
    assert!(shown.text.len() > 12 * 1024, "{}", shown.text.len());
    let code = json!({ "code": ["editor.lines('big.txt', 1, 1000)", "2"], "budget": 30_000 });
    other.tool("ask", code).fails();
    let code = json!({ "code": ["editor.lines('big.txt', 1, 1000)"], "budget": 30_000 });
    assert!(other.tool("ask", code).ok().text.contains("\n1000\t"));
    let shown = agent.ask("editor.lines('big.txt')").ok();
    let (_, rest) = shown.text.split_once("the rest: ").expect("it leads to the rest");
    let next = rest.lines().next().expect("a command");
    agent.ask(next).ok().lacks("\n1\t1 is").has(" is a line");
    // All of it, for who says so.
    let whole = agent.ask("--budget 30000 editor.lines('big.txt', 1, 1000)").ok();
    assert!(whole.text.contains("\n1000\t"), "{}", whole.text.len());
}

#[test]
fn readers_are_apart_and_a_killed_bridge_leaves_nothing() {
    let env = with_code();
    let mut one = McpClient::connect(&env);
    one.tool("open", json!({ "app": "editor", "args": ["a.rs"] })).ok().has("1\tfn greet");
    let mut two = McpClient::connect(&env);
    two.run("editor.rename('greet', 'hail')").ok();
    // The news comes with the next answer of the one who looks, and only of that one.
    one.run("notebook.add('one', 'x')").ok().has("changed too: editor/main");
    two.run("notebook.add('two', 'x')").ok().lacks("changed too: editor/main");
    let before = env.processes().len();
    kill(one.pid(), Signal::SIGKILL);
    pipemux_tests::wait_for("the bridge has ended", || env.processes().len() == before - 1);
    drop(one);
    // The next one of the same harness goes on as the same reader.
    let mut again = McpClient::connect(&env);
    two.run("editor.replace('Hello', 'Hi')").ok();
    again.run("notebook.add('three', 'x')").ok().has("changed too: editor/main");
    assert_eq!(two.close(), 0);
}

#[test]
fn windows_are_resources_that_report_changes() {
    let env = with_code();
    let mut person = McpClient::connect(&env);
    person.tool("open", json!({ "app": "editor", "args": ["a.rs"] })).ok();
    let listed = person.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"][0]["uri"], "pipemux://editor/main", "{listed}");
    let uri = json!({ "uri": "pipemux://editor/main" });
    let read = person.request("resources/read", uri.clone());
    let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("fn greet"), "{read}");
    person.request("resources/subscribe", uri.clone());
    let is_update = |message: &Value| {
        message["method"] == "notifications/resources/updated"
            && message["params"]["uri"] == "pipemux://editor/main"
    };
    let mut changes = 0;
    // The watch begins at some time after the subscription: changes are made until one is told.
    while !person.notifications.iter().any(is_update) {
        changes += 1;
        assert!(changes < 1000, "no update");
        env.run(&format!("editor.insert('// {changes}', before='a.rs:1')")).ok();
        person.request("ping", json!({}));
    }
    let missing = person.request("resources/read", json!({ "uri": "pipemux://editor/none" }));
    assert!(missing["error"]["code"].is_number(), "{missing}");
    let mut newest = McpClient::connect_inline(&env, "2026-07-28");
    let filter = json!({ "notifications": { "resourceSubscriptions": ["pipemux://editor/main"] } });
    newest.begin("subscriptions/listen", filter);
    assert_eq!(newest.next_message()["method"], "notifications/subscriptions/acknowledged");
}

#[test]
fn progress_and_cancellation_pass_through() {
    let env = TestEnv::new();
    env.install_rogue("rogue", "plain");
    let gate = env.path("gate").display().to_string();
    let mut agent = McpClient::connect(&env);
    agent.tool("open", json!({ "app": "rogue" })).ok();
    let code = format!("rogue.misbehave('report and wait for {gate}'); notebook.add('late', 'x')");
    let call = json!({
        "name": "run_code_snippet", "arguments": { "code": code },
        "_meta": { "progressToken": "t" },
    });
    let id = agent.begin("tools/call", call);
    let told = agent.next_message();
    assert_eq!(told["method"], "notifications/progress", "{told}");
    assert_eq!(told["params"]["progressToken"], "t");
    assert_eq!((&told["params"]["progress"], &told["params"]["total"]), (&json!(1.0), &json!(3.0)));
    assert_eq!(told["params"]["message"], "reading");
    let cancel = json!({ "requestId": id });
    agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    agent.request("ping", json!({}));
    env.write("gate", "");
    // The step that had not begun isn't started.
    pipemux_tests::wait_for("the run has ended", || {
        env.pipemux(&["history"]).ok().text().contains("misbehave")
    });
    env.pipemux(&["ask", "notebook.show('all')"]).ok().lacks("late");
}
