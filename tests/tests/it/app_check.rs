//! `pipemux app check`: finds each planted fault, and nothing in apps that have none.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use pipemux_tests::programs::program;
use pipemux_tests::{Output, TestEnv};

use crate::kits::kits;

/// PROTOCOL.md's app in Python.
fn page_app() -> String {
    let page = include_str!("../../../pipemux-proto/PROTOCOL.md");
    let start = page.find("```python\n").expect("an app in Python") + "```python\n".len();
    let block = &page[start..];
    block[..block.find("\n```").expect("its end") + 1].to_owned()
}

fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|ended| ended.status.success())
}

/// Writes an app in Python with its manifest, and checks it.
fn check(env: &TestEnv, name: &str, code: &str) -> Output {
    check_with(env, name, code, "")
}

/// As [`check`], with further lines of the manifest.
fn check_with(env: &TestEnv, name: &str, code: &str, lines: &str) -> Output {
    let program = env.path(&format!("{name}.py"));
    env.write(&format!("{name}.py"), code);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program, executable).expect("its mode can be set");
    let manifest = format!("{name}.toml");
    // Its command is relative to the manifest.
    env.write(&manifest, format!("id = \"todo\"\ncommand = \"./{name}.py\"\n{lines}"));
    env.pipemux(&["app", "check", &manifest])
}

/// A fault: what is replaced in the page's app, and the line that must be found.
const FAULTS: [(&str, &str, &str, &str); 19] = [
    (
        "version_forgotten",
        "    state[\"version\"] += 1\n",
        "",
        "version: the window changed and its version stayed",
    ),
    (
        "version_jumps",
        "    state[\"version\"] += 1\n",
        "    state[\"version\"] += 2\n",
        "version: the version rose from",
    ),
    (
        "unchanged_always",
        "if body.get(\"known_version\") == version:",
        "if body.get(\"known_version\"):",
        "project with another known_version · unchanged:",
    ),
    (
        "key_reused",
        "    state[\"next\"] += 1  # a key is never used again\n",
        "    state[\"next\"] = len(items) + 1\n",
        "key-reused: named",
    ),
    ("rev_kept", "[item[0] + 1,", "[item[0],", "rev-unchanged: changed from"),
    (
        "stale_accepted",
        "    if item[0] != ref[\"rev\"]: raise",
        "    if False: raise",
        "stale-accepted:",
    ),
    (
        "located_wrongly",
        "else {\"gone\": None}",
        "else \"shown\"",
        "locate · locate: answered Shown for a key that never was",
    ),
    (
        "bad_name",
        "{\"name\": \"text\", \"type\": \"string\"}",
        "{\"name\": \"the text\", \"type\": \"string\"}",
        "hello · prototypes[0] · name: the name \"the text\" is none",
    ),
    (
        "slow",
        "    content = []\n",
        "    content = []\n    if body[\"lod\"] == \"gist\": import time; time.sleep(1.2)\n",
        "project gist (budget 200) · slow: takes longer than 1000 ms",
    ),
    (
        "unconfirmed",
        "and not body.get(\"confirmed\")",
        "and body.get(\"nobody\")",
        "invoke clear() · unconfirmed:",
    ),
    (
        "crash",
        "    except Exception as error: send",
        "    except Refused as error: send",
        "crash: the process ended with status 1; it printed last:",
    ),
    (
        "field_missing",
        "{**ref, \"label\": text}",
        "ref",
        "unreadable: can't be read, for which the process is ended: content[1].object: missing field `label`",
    ),
    (
        "not_resumed",
        "if body.get(\"woken\") == state[\"version\"] else {}",
        "if body.get(\"nothing\") else {}",
        "wake · not-resumed: `Saved` named version",
    ),
    (
        "job_without_end",
        "    return {\"done\": {\"brief\"",
        "    if action == \"add\": return {\"started\": {\"job\": f\"j{state['version']}\", \"brief\": \"works\", \"version\": state[\"version\"]}}\n    return {\"done\": {\"brief\"",
        "job-end: was cancelled, and no JobReport with a `state` came within 5 s",
    ),
    (
        "wakes_in_the_past",
        "return {\"version\": state[\"version\"]}",
        "import time; return {\"version\": state[\"version\"], \"wake_at\": int(time.time())}",
        "save · wake-at: `wake_at` ",
    ),
    (
        "wakes_never",
        "return {\"version\": state[\"version\"]}",
        "return {\"version\": state[\"version\"], \"wake_at\": 2 ** 63}",
        "is more than a hundred years ahead: name none if nothing is to come",
    ),
    (
        "link_argument",
        "\"args\": {\"item\": {\"ref\": ref}}",
        "\"args\": {\"itme\": {\"ref\": ref}}",
        "content[3].link.args.itme · link-argument: done has no parameter itme",
    ),
    (
        "failure_with_effect",
        "    else: raise Refused(\"usage\",",
        "    else:\n        items.clear()\n        state[\"version\"] += 1\n        raise Refused(\"usage\",",
        "invoke no_such_action() · effect: failed, and the",
    ),
    (
        "no_answer_to_unknown_methods",
        "    if kind != REQUEST: continue\n",
        "    if kind != REQUEST or method > CLOSE and method != 40: continue\n",
        "request with an unknown method · unknown-method:",
    ),
];

/// A timer that fires once doesn't make an app one that changes all the time, of which less can be
/// found.
#[test]
fn fault_is_found_in_an_app_that_changed_by_itself_once() {
    if !has_python() {
        return;
    }
    let shown = "    version = state[\"version\"]\n    if body";
    let once = "    state[\"looks\"] = state.get(\"looks\", 0) + 1\n    state[\"version\"] += state[\"looks\"] == 2\n";
    let app = page_app();
    assert_eq!(app.matches(shown).count(), 1);
    let app = app.replace(shown, &format!("{once}{shown}"));
    let env = TestEnv::new();
    check(&env, "changes", &app).has("todo: nothing to mend (");
    let faulty = app.replace("[item[0] + 1,", "[item[0],");
    check(&env, "faulty", &faulty).exits(1).has("rev-unchanged: changed from");
}

/// An app that watches a file may change between a request and the window after it, and says so.
#[test]
fn change_that_the_app_tells_is_no_fault_of_the_request_before_it() {
    if !has_python() {
        return;
    }
    let told = "state[\"told\"] = state.get(\"told\", 0) + 1; state[\"version\"] += 1; send(EVENT, 17, 0, life, {\"version\": state[\"version\"]})\n";
    let mut app = page_app();
    for (right, wrong) in [
        ("to do\", \"content\"", "to do, {state.get('told')}\", \"content\"".to_owned()),
        (
            "    except Refused as refused: ",
            format!(
                "    except Refused as refused:\n        if state.get(\"told\", 0) < 1: {told}        "
            ),
        ),
        (
            "        item = look_up(args",
            format!("        if state.get(\"told\", 0) < 2: {told}        item = look_up(args"),
        ),
    ] {
        assert_eq!(app.matches(right).count(), 1, "{right}");
        app = app.replace(right, &wrong);
    }
    check(&TestEnv::new(), "watches", &app).ok().has("todo: nothing to mend (");
}

/// An action may be right to refuse what the run makes up, so this is no flaw; that nothing of it
/// was checked is said.
#[test]
fn action_that_fails_each_time_is_told_with_its_reason() {
    if !has_python() {
        return;
    }
    let env = TestEnv::new();
    let edit = "        item = look_up(args[\"item\"][\"ref\"])\n        item[:]";
    let fails =
        "        raise Refused(\"failed\", \"name 'nope' is not defined\")\n        item[:]";
    let app = page_app();
    assert_eq!(app.matches(edit).count(), 1);
    let checked = check(&env, "fails", &app.replace(edit, fails));
    checked.has("not checked: edit, which failed each time: name 'nope' is not defined\n");
}

/// Checks of faulty apps at the same time.
const WORKERS: usize = 6;

#[test]
fn each_planted_fault_is_found() {
    if !has_python() {
        return;
    }
    // A check mostly waits, to find out whether an app changes by itself, so several wait at the
    // same time.
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            scope.spawn(move || {
                let env = TestEnv::new();
                for (name, right, wrong, expected) in FAULTS.iter().skip(worker).step_by(WORKERS) {
                    let app = page_app();
                    let found = app.matches(right).count();
                    assert_eq!(found, 1, "{name}: the page's app has it once: {right}");
                    let found = check(&env, name, &app.replace(right, wrong));
                    found.exits(1).has(expected);
                }
            });
        }
    });
}

#[test]
fn nothing_is_found_in_the_page_s_app() {
    if !has_python() {
        return;
    }
    let env = TestEnv::new();
    let checked = check(&env, "todo", &page_app());
    checked.ok().has("todo: nothing to mend (").lacks("not checked");
    let as_data = env.pipemux(&["app", "check", "todo.toml", "--json"]).ok().json();
    assert_eq!(as_data["findings"], serde_json::json!([]));
    assert_eq!(as_data["app"], "todo");
}

#[test]
fn nothing_is_found_in_the_built_in_apps() {
    let env = TestEnv::new();
    let apps = env.pipemux(&["apps"]).ok().text();
    let ids: Vec<&str> = apps.lines().filter_map(|line| Some(line.split_once(" · ")?.0)).collect();
    assert!(ids.contains(&"editor") && ids.contains(&"monitor"), "{apps}");
    env.pipemux(&["down"]).ok();
    for id in ids {
        env.pipemux(&["app", "check", id]).ok().has(&format!("{id}: nothing to mend ("));
    }
    env.pipemux(&["app", "check", "editor", "notes.md"]).ok().has("editor: nothing to mend (");
    // A check starts no daemon.
    assert!(env.pipemux(&["status"]).text().contains("not running"));
}

/// Those of docui, the examples and those of the stories, have forms, records and secrets
/// (`tasks`), jobs (`follow`) and times to wake (`timer`) among them.
#[test]
fn nothing_is_found_in_the_apps_of_docui() {
    let env = TestEnv::new();
    let folders = ["../apps/docui/examples", "examples"].map(|folder| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        std::fs::read_dir(folder).expect("the apps of docui")
    });
    let paths = folders.into_iter().flatten().map(|file| file.expect("a file").path());
    let names: Vec<String> =
        paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    assert!(["tasks", "follow", "timer"].iter().all(|name| names.iter().any(|of| of == name)));
    for name in names {
        env.install(&name, &format!("examples/{name}"), "");
        env.pipemux(&["app", "check", &name]).ok().has(&format!("{name}: nothing to mend ("));
    }
}

#[test]
fn nothing_is_found_in_the_apps_of_the_kits() {
    for kit in kits() {
        for (id, program) in [("arena", &kit.arena), ("todo", &kit.sample)] {
            let env = TestEnv::new();
            kit.install(&env, id, program, "");
            let checked = env.pipemux(&["app", "check", id]);
            checked.ok().has(&format!("{id}: nothing to mend ("));
        }
    }
}

#[test]
fn real_data_is_left_alone() {
    if !has_python() {
        return;
    }
    let env = TestEnv::new();
    // An app that shows what it finds in the caller's home, and destroys it.
    let code = page_app()
        .replace("\"todo.json\")", "\"todo.json\"); print(os.environ[\"HOME\"], os.getcwd())")
        .replace("body[\"state_dir\"], ", "os.environ[\"HOME\"], ");
    let kept = "{\"version\": 7, \"next\": 2, \"items\": {\"i1\": [0, \"mine\"]}}";
    std::fs::write(env.root().join("home/todo.json"), kept).expect("a file in the home");
    // Whether or not a sandbox would refuse it.
    check_with(&env, "home", &code, "sandbox = \"off\"\n").ok();
    let after = std::fs::read_to_string(env.root().join("home/todo.json")).expect("it is there");
    assert_eq!(after, kept);
}

#[test]
fn unusable_manifest_is_refused_with_its_place() {
    let env = TestEnv::new();
    env.write("broken.toml", "id = \"todo\"\ncommand = 3\n");
    env.pipemux(&["app", "check", "broken.toml"]).exits(2).has("broken.toml:2 (command)");
    env.pipemux(&["app", "check", "nothing"]).exits(2).has("neither a manifest nor");
    env.write("gone.toml", "id = \"todo\"\ncommand = \"./gone\"\n");
    env.pipemux(&["app", "check", "gone.toml"]).exits(1).has("start · start: command not found");
    assert!(program("pipemuxd").exists());
}
