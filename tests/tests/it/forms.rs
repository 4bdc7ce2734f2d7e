//! Forms, records and secrets, with the real programs.

use std::fs;
use std::path::Path;

use pipemux_tests::TestEnv;

const SECRET: &str = "correct-horse-9";

fn env() -> TestEnv {
    let env = TestEnv::new();
    env.install("tasks", "examples/tasks", "");
    env.pipemux(&["open", "tasks"]).ok();
    env
}

#[test]
fn three_missing_fields_take_one_round_trip() {
    let env = env();
    let asked = env.run("tasks.add()");
    asked.exits(5).has(
        "needs an answer · tasks.add: needs title, column, owner\n\
         title: string // What is to be done.\n\
         column: 'todo'|'doing'|'done'\n\
         owner: string // The person who does it.\n",
    );
    asked.has("pipemux answer title=\"…\" column=todo owner=\"…\" · cancel");
    // As a shell gives it: the quotes are gone.
    let done = env.pipemux(&["answer", "title=write = the report", "column=doing", "owner=Ada L."]);
    done.ok()
        .has("1 done · add: write = the report, 0 min")
        .has("write = the report · Doing · Ada L.");
    env.pipemux(&["history"])
        .ok()
        .has("tasks.add(title='write = the report', column='doing', owner='Ada L.')");
    // The command that the question ends with works as it is printed.
    let asked = env.run("tasks.add(title='second')");
    let text = asked.exits(5).text().to_owned();
    let command = text.lines().find(|line| line.starts_with("pipemux answer")).expect("a command");
    let command = command.split(" · ").next().expect("the first way").to_owned();
    let command = command.replacen("pipemux", "\"$PIPEMUX\"", 1);
    env.shell(&command).output().ok().has("add: second");
}

#[test]
fn rest_of_a_form_survives_a_wrong_field_and_the_daemon() {
    let env = env();
    env.run("tasks.add()").exits(5);
    env.pipemux(&["answer", "title='x' column=doin owner=Ada"])
        .exits(2)
        .has("did you mean doing?")
        .has("title = 'x'");
    env.kill_daemon();
    env.pipemux(&["answer"])
        .exits(5)
        .has("title = 'x'\n")
        .has("owner = 'Ada'\n")
        .has("pipemux answer column=todo");
    env.pipemux(&["answer", "doing"]).ok().has("add: x");
    // The app refuses a field by its name.
    env.run("tasks.add()").exits(5);
    let refused = env.pipemux(&["answer", "x, todo, Bob"]);
    refused
        .exits(2)
        .has("there is such a task")
        .has("owner = 'Bob'")
        .has("pipemux answer title=\"…\" · cancel");
    env.pipemux(&["answer", "title=y"]).ok().has("add: y");
}

#[test]
fn records_are_checked_before_the_app_is_asked() {
    let env = env();
    let add = |steps: &str| env.run(&format!("tasks.add('a', 'todo', 'me', steps={steps})"));
    add("[{name: 'draft', minutes: 45}, {\"name\": \"print\"}]").ok().has("a, 75 min");
    add("[{name: 'x', minutes: 500}]").exits(2).has("steps[0].minutes has to be 1 to 480");
    add("[{nam: 'x'}]").exits(2).has("steps[0] has name, minutes: did you mean name?");
    env.pipemux(&["help", "tasks", "--full"])
        .ok()
        .has("@param title What is to be done.")
        .has("steps: {name: string, minutes: int = 30}[] = []");
}

/// Fails if a file below a directory holds the secret.
fn assert_absent(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let kind = entry.file_type().expect("its kind");
        if kind.is_dir() {
            assert_absent(&path);
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            let found = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
            assert!(!found, "{} holds the secret", path.display());
        }
    }
}

/// Fails if an argument list of any process holds the secret.
fn assert_in_no_argument_list() {
    for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let found = line.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!found, "{}", String::from_utf8_lossy(&line));
    }
}

#[test]
fn secret_is_nowhere_but_with_the_app() {
    let env = env();
    // Given in answer to a question, in a form, in a call; refused in between.
    let asked = env.run("tasks.unlock()");
    asked.exits(5).has("pipemux answer - · cancel").has("no argument list");
    env.command(&["answer", "-"]).stdin(SECRET.as_bytes()).output().ok().has("15 characters");
    env.run("tasks.connect()").exits(5).has("password: secret").has("password=stdin < FILE");
    let given = env
        .command(&["answer", "host=localhost", "password=stdin"])
        .stdin(SECRET.as_bytes())
        .output();
    given.exits(2).has("not this machine").has("password = '***'").lacks(SECRET);
    assert_in_no_argument_list();
    env.kill_daemon();
    // The question is there still, and what was secret is asked for again.
    env.pipemux(&["answer"]).exits(5).has("password: secret");
    env.command(&["answer", "host=example.org password=stdin"])
        .stdin(SECRET.as_bytes())
        .output()
        .ok();
    env.command(&["run", "tasks.unlock(password=stdin)"]).stdin(SECRET.as_bytes()).output().ok();
    let broken = env
        .command(&["run", "-"])
        .stdin(format!("tasks.unlock('{SECRET}', 1)").as_bytes())
        .output();
    broken.exits(2).lacks(SECRET);
    let script = format!("tasks.unlock('{SECRET}'); tasks.add('a'); tasks.unlock('{SECRET}')");
    env.command(&["run", "-"]).stdin(script.as_bytes()).output().exits(5).lacks(SECRET);
    env.pipemux(&["answer", "cancel"]).has("cancelled");
    for shows in [
        &["history", "--detail"][..],
        &["watch", "--since", "0", "--count", "5", "--all"],
        &["audit"],
        &["view"],
        &["logs", "tasks/main"],
        &["status"],
    ] {
        env.pipemux(shows).lacks(SECRET);
    }
    env.pipemux(&["history"]).ok().has("tasks.unlock(password='***')");
    // Everything of the test is below its root: state, runtime directory, configuration, logs.
    assert_absent(env.root());
    env.pipemux(&["down"]).ok();
    assert_absent(env.root());
}

#[test]
fn secret_is_left_out_of_traces() {
    let env = TestEnv::new();
    // One that is always traced and told of its flaws, and one that is traced from the first
    // question on.
    env.install("tasks", "examples/tasks", "dev = true\n");
    env.install("others", "examples/tasks", "");
    for app in ["tasks", "others"] {
        let session = format!("{app}/main");
        env.pipemux(&["open", app]).ok();
        env.pipemux(&["trace", &session]).ok();
        let with_secret =
            |args: &[&str]| env.command(args).stdin(SECRET.as_bytes()).output().ok().text();
        env.run(&format!("{app}.unlock()")).exits(5);
        with_secret(&["answer", "-"]);
        env.run(&format!("{app}.connect()")).exits(5);
        with_secret(&["answer", "host=example.org port=1 password=stdin"]);
        with_secret(&["run", &format!("{app}.unlock(password=stdin)")]);
        let traced = env.pipemux(&["trace", &session, "--lines", "200"]);
        traced.ok().has("action: \"unlock\"").has("action: \"connect\"").has("(not shown)");
        traced.lacks(SECRET);
        env.pipemux(&["logs", &session]).lacks(SECRET);
    }
    assert_absent(env.root());
}
