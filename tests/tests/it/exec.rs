//! `pipemux exec`: tools that models know, called as the interfaces of models give them.

mod servers;

use pipemux_tests::{Output, TestEnv};
use serde_json::{Value, json};

/// Carries out calls in one process, and returns the results.
fn exec(env: &TestEnv, calls: &[Value]) -> Vec<Value> {
    let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let output = env.command(&["exec"]).stdin(lines.as_bytes()).output();
    let results = results(&output);
    assert_eq!(results.len(), calls.len(), "{output}");
    output.ok();
    results
}

fn results(output: &Output) -> Vec<Value> {
    let printed = std::str::from_utf8(&output.stdout).expect("text");
    printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Calls one tool without an interface; returns what it says, and whether that is an error.
fn call(env: &TestEnv, name: &str, input: Value) -> (String, bool) {
    let result = exec(env, &[json!({ "name": name, "input": input })]).remove(0);
    let content = result["content"].as_str().expect("a text").to_owned();
    (content, result["is_error"].as_bool().expect("a flag"))
}

fn done(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

fn failed(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

fn tool_use(name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": input })
}

#[test]
fn conversation_edits_a_file_runs_a_test_and_one_edit_is_taken_back() {
    let env = TestEnv::new();
    let path = env.path("calc.sh").display().to_string();
    let edit = |command: &str, mut more: Value| {
        more["command"] = command.into();
        more["path"] = path.clone().into();
        tool_use("str_replace_based_edit_tool", more)
    };
    let results = exec(
        &env,
        &[
            tool_use("bash", json!({ "command": "mkdir -p t && cd t && export WANTED=3" })),
            edit("create", json!({ "file_text": "add() {\n  echo $(($1 - $2))\n}\n" })),
            edit("view", json!({})),
            json!({ "type": "function_call", "call_id": "c4", "name": "bash",
                "arguments": r#"{"command": ". ../calc.sh; [ $(add 1 2) = $WANTED ]"}"# }),
            edit("str_replace", json!({ "old_str": "$1 - $2", "new_str": "$1 + $2" })),
            json!({ "id": "c6", "type": "function", "function": { "name": "bash",
                "arguments": r#"{"command": ". ../calc.sh; [ $(add 1 2) = $WANTED ] && echo passed"}"# } }),
            json!({ "type": "custom_tool_call", "call_id": "c7", "name": "apply_patch",
                "input": "*** Begin Patch\n*** Update File: calc.sh\n@@\n-add() {\n+sum() {\n*** End Patch" }),
            json!({ "type": "shell_call", "call_id": "c8",
                "action": { "commands": ["grep -c sum calc.sh", "exit 3"] } }),
            json!({ "type": "local_shell_call", "call_id": "c9",
                "action": { "type": "exec", "command": ["head", "-1", "calc.sh"] } }),
            json!({ "name": "ask", "input": { "code": "editor.lines('calc.sh', 1, 1)" } }),
        ],
    );
    assert_eq!(
        results[0],
        json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": "", "is_error": false })
    );
    assert_eq!(results[1]["content"], format!("File created successfully at: {path}"));
    let listed = "     1\tadd() {\n     2\t  echo $(($1 - $2))\n     3\t}\n     4\t\n";
    let shown = format!("Here's the result of running `cat -n` on {path}:\n{listed}");
    assert_eq!(results[2]["content"], shown);
    assert_eq!(
        results[3],
        json!({ "type": "function_call_output", "call_id": "c4", "output": "exit 1" })
    );
    assert!(results[4]["content"].as_str().unwrap().contains("     2\t  echo $(($1 + $2))\n"));
    assert_eq!(results[5], json!({ "role": "tool", "tool_call_id": "c6", "content": "passed" }));
    let patched = results[6]["output"].as_str().unwrap();
    assert!(patched.starts_with("Exit code: 0\nWall time: "), "{patched}");
    assert!(patched.ends_with("Output:\nSuccess. Updated the following files:\nM calc.sh\n"));
    let exit = |code| json!({ "type": "exit", "exit_code": code });
    assert_eq!(
        results[7]["output"],
        json!([
            { "stdout": "1", "stderr": "", "outcome": exit(0) },
            { "stdout": "", "stderr": "", "outcome": exit(3) },
        ])
    );
    assert_eq!(results[8]["type"], "local_shell_call_output");
    assert!(results[8]["output"].as_str().unwrap().ends_with("Output:\nsum() {"));
    assert!(results[9]["content"].as_str().unwrap().contains("sum() {"));

    // All of it is one history, and one edit of it is taken back alone.
    let history = env.pipemux(&["history", "--json"]);
    let rounds: Value = serde_json::from_slice(&history.ok().stdout).unwrap();
    let replaced = rounds.as_array().unwrap().iter();
    let replaced = replaced
        .clone()
        .find(|round| round["action"].as_str().unwrap().starts_with("editor.str_replace("));
    let round = replaced.unwrap()["round"].to_string();
    env.pipemux(&["undo", &round]).ok();
    assert_eq!(env.read("calc.sh"), "sum() {\n  echo $(($1 - $2))\n}\n");
}

#[test]
fn texts_arrive_byte_for_byte() {
    let env = TestEnv::new();
    let long = "深い森 'q' \"d\" \\ \\n\n".repeat(200);
    let texts = [
        "",
        "\n",
        "x",
        "x\n",
        "a\r\nb\r\n",
        "a\r\nb",
        "EOF\nEND\nstdin\n",
        "a\rb",
        "\ttab \u{1b}[0m\n\n\n",
        "*** End Patch",
        "\\ No newline at end of file",
        "no newline at the end of 深い",
        long.as_str(),
        long.trim_end(),
    ];
    for (number, text) in texts.iter().enumerate() {
        let name = format!("f{number}.txt");
        let path = env.path(&name).display().to_string();
        let input = json!({ "command": "create", "path": path, "file_text": text });
        let (said, is_error) = call(&env, "str_replace_based_edit_tool", input);
        assert!(!is_error, "{text:?}: {said}");
        assert_eq!(env.read(&name), *text);
        assert_eq!(call(&env, "read_text_file", json!({ "path": path })), done(text));
        let other = texts[(number + 1) % texts.len()];
        let input = json!({ "path": path, "content": other });
        assert_eq!(call(&env, "write_file", input), done(&format!("Successfully wrote to {path}")));
        assert_eq!(env.read(&name), other, "{text:?}");
    }
    // The line endings of a file stay, and what the model writes gets them.
    env.write("dos.txt", "a\r\nb\r\nno end");
    let path = env.path("dos.txt").display().to_string();
    let input = json!({ "command": "str_replace", "path": path, "old_str": "a\nb", "new_str": "c\nEND\nd" });
    assert!(!call(&env, "str_replace_editor", input).1);
    assert_eq!(env.read("dos.txt"), "c\r\nEND\r\nd\r\nno end");
}

#[test]
fn text_editor_words_its_errors_as_the_reference_does() {
    let env = TestEnv::new();
    env.write("a.txt", "one\ntwo\ntwo\n");
    let path = env.path("a.txt").display().to_string();
    let folder = env.project().display().to_string();
    let edit = |command: &str, path: &str, mut more: Value| {
        more["command"] = command.into();
        more["path"] = path.into();
        call(&env, "str_replace_based_edit_tool", more)
    };
    for (answer, expected) in [
        (edit("create", &path, json!({ "file_text": "" })),
            format!("File already exists at: {path}. Cannot overwrite files using command `create`.")),
        (edit("view", "/no/such", json!({})),
            "The path /no/such does not exist. Please provide a valid path.".to_owned()),
        (edit("insert", &folder, json!({ "insert_line": 0, "insert_text": "x" })),
            format!("The path {folder} is a directory and only the `view` command can be used on directories")),
        (edit("view", &folder, json!({ "view_range": [1, 2] })),
            "The `view_range` parameter is not allowed when `path` points to a directory.".to_owned()),
        (edit("view", &path, json!({ "view_range": [9, 10] })),
            "Invalid `view_range`: [9, 10]. Its first element `9` should be within the range of lines of the file: [1, 4]".to_owned()),
        (edit("view", &path, json!({ "view_range": [3, 2] })),
            "Invalid `view_range`: [3, 2]. Its second element `2` should be larger or equal than its first `3`".to_owned()),
        (edit("str_replace", &path, json!({ "old_str": "three", "new_str": "x" })),
            format!("No replacement was performed, old_str `three` did not appear verbatim in {path}.")),
        (edit("str_replace", &path, json!({ "old_str": "two", "new_str": "x" })),
            "No replacement was performed. Multiple occurrences of old_str `two` in lines [2, 3]. Please ensure it is unique".to_owned()),
        (edit("insert", &path, json!({ "insert_line": 5, "insert_text": "x" })),
            "Invalid `insert_line` parameter: 5. It should be within the range of lines of the file: [0, 4]".to_owned()),
        (edit("str_replace", &path, json!({ "new_str": "x" })),
            "Parameter `old_str` is required for command: str_replace".to_owned()),
        (edit("undo_edit", &path, json!({})), format!("No edit history found for {path}.")),
    ] {
        assert_eq!(answer, failed(&expected));
    }
    assert_eq!(env.read("a.txt"), "one\ntwo\ntwo\n");
    assert_eq!(
        edit("insert", &path, json!({ "insert_line": 1, "insert_text": "new\n" })),
        done(&format!(
            "The file {path} has been edited. Here's the result of running `cat -n` on a snippet of the edited file:\n     1\tone\n     2\tnew\n     3\ttwo\n     4\ttwo\n     5\t\nReview the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary."
        ))
    );
    let (said, is_error) = edit("undo_edit", &path, json!({}));
    assert!(!is_error && said.starts_with(&format!("Last edit to {path} undone successfully.")));
    assert_eq!(env.read("a.txt"), "one\ntwo\ntwo\n");
    let listed = edit("view", &folder, json!({})).0;
    assert_eq!(
        listed,
        format!(
            "Here's the files and directories up to 2 levels deep in {folder}, excluding hidden items:\n{folder}\n{folder}/a.txt\n\n"
        )
    );
}

#[test]
fn bash_keeps_its_shell_until_it_is_restarted_and_obeys_the_rules() {
    let env = TestEnv::new();
    let bash = |command: &str| call(&env, "bash", json!({ "command": command }));
    let home = env.project().canonicalize().unwrap().display().to_string();
    assert_eq!(
        bash("mkdir sub; cd sub; A='x  y'; export B=$'l1\\nl2'; f() { echo \"f $A\"; }"),
        done("")
    );
    assert_eq!(bash("pwd; f; env | grep -A1 ^B="), done(&format!("{home}/sub\nf x  y\nB=l1\nl2")));
    assert_eq!(
        bash("no-such-program-here"),
        failed("bash: line 1: no-such-program-here: command not found\nexit 127")
    );
    assert_eq!(bash("exit 4"), failed("exit 4"));
    // What runs in the background goes on, and doesn't hold the answer up.
    assert_eq!(bash("sleep 1000 & echo $! > pid; echo started"), done("started"));
    assert_eq!(bash("kill -0 $(cat pid) && pwd"), done(&format!("{home}/sub")));
    assert_eq!(call(&env, "bash", json!({ "restart": true })), done("tool has been restarted."));
    assert_eq!(
        bash("pwd; echo \"<$A>\"; kill -0 $(cat sub/pid) 2>/dev/null || echo gone"),
        done(&format!("{home}\n<>\ngone"))
    );
    // Two readers have a shell each.
    env.command(&["exec"])
        .reader("other")
        .stdin(b"{\"name\":\"bash\",\"input\":{\"command\":\"C=1; cd /\"}}")
        .output()
        .ok();
    assert_eq!(bash("pwd; echo \"<$C>\""), done(&format!("{home}\n<>")));

    let config = env.root().join("home/.config/pipemux");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(
        config.join("config.toml"),
        "[terminal]\nask = [\"git push\"]\ndeny = [\"rm -rf\"]\n",
    )
    .unwrap();
    let (said, is_error) = bash("rm -rf sub");
    assert!(is_error && said.contains("it never runs: deny = [\"rm -rf\"]"), "{said}");
    let (said, is_error) = bash("git push");
    assert!(
        is_error && said.contains("only a person can allow that, in a terminal: `pipemux consent"),
        "{said}"
    );
    assert_eq!(bash("cd sub; pwd"), done(&format!("{home}/sub")));
}

#[test]
fn memory_is_that_of_the_documentation_and_stays_within_its_root() {
    let env = TestEnv::new();
    let memory = |input: Value| call(&env, "memory", input);
    let view = |path: &str| memory(json!({ "command": "view", "path": path }));
    let head = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n";
    assert_eq!(view("/memories"), done(&format!("{head}0B\t/memories")));
    let create = json!({ "command": "create", "path": "/memories/a/notes.txt", "file_text": "Hello\nblue\n" });
    assert_eq!(memory(create.clone()), done("File created successfully at: /memories/a/notes.txt"));
    assert_eq!(memory(create), failed("Error: File /memories/a/notes.txt already exists"));
    assert_eq!(
        view("/memories/a/notes.txt"),
        done(
            "Here's the content of /memories/a/notes.txt with line numbers:\n     1\tHello\n     2\tblue"
        )
    );
    let edit = json!({ "command": "str_replace", "path": "/memories/a/notes.txt", "old_str": "blue", "new_str": "green" });
    assert!(
        memory(edit.clone())
            .0
            .starts_with("The memory file has been edited.\n     1\tHello\n     2\tgreen")
    );
    assert_eq!(
        memory(edit),
        failed(
            "No replacement was performed, old_str `blue` did not appear verbatim in /memories/a/notes.txt."
        )
    );
    let insert = |line: u64| json!({ "command": "insert", "path": "/memories/a/notes.txt", "insert_line": line, "insert_text": "top\n" });
    assert_eq!(memory(insert(0)), done("The file /memories/a/notes.txt has been edited."));
    assert_eq!(
        memory(insert(9)),
        failed(
            "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 3]"
        )
    );
    let rename =
        json!({ "command": "rename", "old_path": "/memories/a", "new_path": "/memories/b" });
    assert_eq!(memory(rename.clone()), done("Successfully renamed /memories/a to /memories/b"));
    assert_eq!(memory(rename), failed("Error: The path /memories/a does not exist"));
    assert_eq!(
        view("/memories"),
        done(&format!("{head}16B\t/memories\n16B\t/memories/b\n16B\t/memories/b/notes.txt"))
    );
    for path in ["/memories/../x", "/etc/passwd", "/memories/%2e%2e/x", "/memories/a/../../../x"] {
        let (said, is_error) = view(path);
        assert!(is_error && said.contains("Paths must be within /memories"), "{said}");
    }
    let delete = |path: &str| memory(json!({ "command": "delete", "path": path }));
    assert!(delete("/memories").1);
    assert_eq!(delete("/memories/b"), done("Successfully deleted /memories/b"));
    assert_eq!(delete("/memories/b"), failed("Error: The path /memories/b does not exist"));
    // Nothing of it lies in the project.
    assert_eq!(view("/memories"), done(&format!("{head}0B\t/memories")));
}

#[test]
fn what_is_no_call_ends_it_and_what_is_gone_can_be_made_again() {
    let env = TestEnv::new();
    let refused =
        |input: &str| -> Output { env.command(&["exec"]).stdin(input.as_bytes()).output() };
    for input in
        ["[1]", "{}", "x", "{\"name\": \"bash\"}", "{\"name\": \"bash\", \"input\": 3}", ""]
    {
        refused(input).exits(2).has("no call of a tool");
    }
    // One that is written over several lines, two in a list, and then something else.
    let output = refused(
        "{\"name\":\n \"bash\", \"input\":\n {\"command\": \"echo 1\"}}\n[{\"name\": \"memory\", \"input\": {}}]\nnull\n",
    );
    assert_eq!(results(output.exits(2)).len(), 2);
    let (said, is_error) = call(&env, "frobnicate", json!({}));
    assert!(
        is_error && said.starts_with("there is no tool frobnicate; there are str_replace_based"),
        "{said}"
    );

    let create = |text: &str| {
        let path = env.path("a.txt");
        let input = json!({ "command": "create", "path": path, "file_text": text });
        call(&env, "str_replace_based_edit_tool", input)
    };
    assert!(!create("one\n").1);
    assert_eq!(call(&env, "bash", json!({ "command": "rm a.txt" })), done(""));
    let (said, is_error) = create("two");
    assert!(!is_error, "{said}");
    assert_eq!(env.read("a.txt"), "two");
    std::fs::remove_file(env.path("a.txt")).unwrap();
    let patch = json!({ "input": "*** Begin Patch\n*** Add File: a.txt\n+three\n*** End Patch" });
    let (said, is_error) = call(&env, "apply_patch", patch);
    assert!(!is_error, "{said}");
    assert_eq!(env.read("a.txt"), "three\n");
}

/// The snippets of the page for harnesses, as they are written there.
#[test]
fn snippets_of_the_page_for_harnesses_run() {
    const PAGE: &str = include_str!("../../../docs/harness.md");
    let env = TestEnv::new();
    let mut ran = 0;
    for block in PAGE.split("\n```python ").skip(1) {
        let (code, _) = block.split_once("\n```").unwrap();
        let (name, code) = code.split_once('\n').unwrap();
        assert!(code.lines().count() <= 20, "{name}");
        env.write("snippet.py", code);
        let output =
            env.shell("PATH=\"$(dirname \"$PIPEMUX\"):$PATH\" python3 snippet.py").output();
        let expected = match name {
            "exec" => "hello\n",
            "mcp" => "['ask', 'run_code_snippet', 'open', 'close']\n",
            "command line" => "1\tone\n",
            _ => "0 ",
        };
        assert!(output.ok().text().contains(expected), "{name}: {output}");
        ran += 1;
    }
    assert_eq!(ran, 4);
}
