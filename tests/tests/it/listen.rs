//! `pipemux listen` reads a whole message of a model and runs only its `docui` blocks.

use pipemux_tests::{Output, TestEnv};

fn listen(env: &TestEnv, message: &str) -> Output {
    env.command(&["listen"]).stdin(message.as_bytes()).output()
}

#[test]
fn only_docui_blocks_run() {
    let env = TestEnv::with_editor("one\n");
    let mentions = "I could `editor.insert(1, 'a')`, or\n\n    editor.insert(1, 'b')\n\n```\n\
                    editor.insert(1, 'c')\n```\n```ts\neditor.insert(1, 'd')\n```\n```docuix\n\
                    editor.insert(1, 'e')\n```\n````md\n```docui\neditor.insert(1, 'f')\n```\n````\n\
                    editor.insert(1, 'g')\n<!-- docui editor.insert(1, 'h') -->\n\
                    [click](link:1 \"editor.insert(1, 'i')\")\ndocui\neditor.insert(1, 'j')\n";
    listen(&env, mentions).ok().has("0 docui blocks: nothing ran");
    listen(&env, "").ok().has("nothing ran");
    env.pipemux(&["view"]).ok().has("1 line").lacks("ran").lacks("unsaved");
    let both = format!("{mentions}Now:\n```docui\neditor.insert(2, 'ran')\n```\n{mentions}");
    listen(&env, &both).ok().has("1 done · insert").lacks("2 done");
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.txt"), "one\nran\n");
}

#[test]
fn several_blocks_are_one_run() {
    let env = TestEnv::with_editor("one\n");
    let message = "First\n```docui\neditor.insert(2, 'two')\neditor.insert(2, 'three')\n```\nthen\n\
                   ~~~docui\neditor.replace('nowhere', 'x')\n~~~\nand\n```docui\neditor.save()\n```\n";
    let ran = listen(&env, message);
    ran.exits(1).has("1 done").has("2 done").has("3 failed · replace").has("editor.save()");
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\n");
    // With a mistake in the last block, the first block doesn't run either.
    let message = "```docui\neditor.save()\n```\n```docui\neditor.sav()\n```\n";
    listen(&env, message).exits(2).has("nothing ran").has("did you mean save");
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn raw_blocks_and_longer_fences_contain_fences() {
    let env = TestEnv::with_editor("one\n");
    let message = "Here:\n```docui\neditor.insert(2, text=<<END)\n```rust\nfn f() {}\n```\n~~~\n```docui\n\
                   editor.insert(1, 'never')\nEND\neditor.save()\n```\nbye\n";
    listen(&env, message).ok().has("2 done · save");
    assert_eq!(
        env.read("a.txt"),
        "one\n```rust\nfn f() {}\n```\n~~~\n```docui\neditor.insert(1, 'never')\n"
    );
    let message = "`````docui\neditor.insert(1, text=<<END)\n````\nEND\neditor.save()\n`````\n";
    listen(&env, message).ok();
    assert!(env.read("a.txt").starts_with("````\none\n"), "{}", env.read("a.txt"));
}

#[test]
fn unclosed_blocks_and_stdin_in_blocks_are_refused() {
    let env = TestEnv::with_editor("one\n");
    for (message, said) in [
        ("a\n```docui\neditor.insert(1, 'x')\n", "docui"),
        ("```docui\neditor.insert(1, text=<<END)\nx\n```\n", "END"),
        ("```docui\neditor.insert(1, 'y')\n```\n```docui\neditor.insert(1, text=<<E)\n", "E"),
        ("```docui\neditor.insert(1, text=stdin)\n```\n", "<<END"),
    ] {
        listen(&env, message).exits(2).has(said);
    }
    let latin = env.command(&["listen"]).stdin(b"caf\xe9 ```docui").output();
    latin.exits(2).has("UTF-8");
    env.pipemux(&["view"]).ok().has("1 line").lacks("ran").lacks("unsaved");
}

#[test]
fn crlf_and_megabytes_of_prose_are_accepted() {
    let env = TestEnv::with_editor("one\n");
    let message = "Dos\r\n```docui\r\neditor.insert(2, text=<<END)\r\nzwei\r\ndrei\r\nEND\r\neditor.save()\r\n```\r\n";
    listen(&env, message).ok().has("2 done · save");
    let written = env.read("a.txt");
    assert_eq!(written.replace('\r', ""), "one\nzwei\ndrei\n");
    let prose =
        "Thinking of `editor.save()` and ```inline``` things, 深い森 and so on.\n".repeat(140_000);
    let message = format!("{prose}```docui\neditor.insert(1, 'zero'); editor.save()\n```\n{prose}");
    assert!(message.len() > 10_000_000 && message.len() < 24_000_000);
    let message = &message[prose.len() - 66 * 60_000..];
    listen(&env, message).ok().has("2 done · save");
    assert!(env.read("a.txt").starts_with("zero\n"));
}

#[test]
fn block_can_click_and_answer() {
    let env = TestEnv::with_editor("one\n");
    env.run("editor.insert(1, 'zero')").ok();
    let undo = env.pipemux(&["view"]).link("undo");
    listen(&env, &format!("Undo:\n```docui\nlink:{undo}\n```\n")).ok().has("undo");
    env.run("editor.insert(1, 'one')").ok();
    let asked = listen(&env, "```docui\neditor.replace('one', 'eins')\neditor.save()\n```\n");
    asked.exits(5).has("2 matches").has("then editor.save");
    env.pipemux(&["answer", "all"]).ok();
    assert_eq!(env.read("a.txt"), "eins\neins\n");
}

#[test]
fn tool_call_as_json_is_carried_out() {
    let env = TestEnv::with_editor("one\n");
    let own = r#"{"name": "run_code_snippet", "parameters": {"code": "editor.insert('two', before='a.txt:1')"}}"#;
    listen(&env, own).ok().has("1 done · insert");
    let anthropic = r#"{"type": "tool_use", "id": "t1", "name": "ask", "input": {"code": "editor.find('two')"}}"#;
    listen(&env, anthropic).ok().has("1 match");
    let openai = r#"{"type": "function", "function": {"name": "run_code_snippet", "arguments": "{\"code\": \"undo\"}"}}"#;
    listen(&env, openai).ok().has("undo");
    assert_eq!(env.read("a.txt"), "one\n");
    let acts = r#"{"name": "ask", "parameters": {"code": "undo"}}"#;
    listen(&env, acts).exits(2).has("run_code_snippet");
    // A whole message is carried out if it has one call, and refused if nobody could tell which
    // result is whose.
    let part = |code: &str| {
        format!(r#"{{"type":"tool_use","id":"t","name":"ask","input":{{"code":"{code}"}}}}"#)
    };
    let whole = |parts: &str| {
        format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"So:"}},{parts}]}}"#)
    };
    listen(&env, &whole(&part("editor.find('one')"))).ok().has("1 match");
    let two = format!("{},{}", part("view"), part("view"));
    listen(&env, &whole(&two)).exits(2).has("2 calls of tools: expected one").has("nothing ran");
    listen(&env, r#"{"name": "ask"}"#).exits(2).has("the argument code is missing");
    let block = r#"{"role":"assistant","content":"Now:\n```docui\neditor.find('one')\n```\n"}"#;
    listen(&env, block).ok().has("1 match");
    // Other JSON is a message without a block.
    listen(&env, r#"{"name": "x"}"#).ok().has("nothing ran");
    let schema = env.pipemux(&["tool-schema", "--format", "anthropic"]).ok().json();
    assert_eq!(schema[1]["name"], "run_code_snippet");
    assert_eq!(schema[1]["input_schema"]["required"][0], "code");
}
