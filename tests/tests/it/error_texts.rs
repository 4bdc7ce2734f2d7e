//! One example of every class of error, and of every empty result, as an agent reads them.
//!
//! The texts are kept in `snapshots/` and reviewed as text:
//! `INSTA_UPDATE=always cargo test -p pipemux-tests --test it error_texts` accepts new ones. Paths
//! are replaced by `$ROOT` and `$BIN`.

use std::fs;

use pipemux_tests::programs::program;
use pipemux_tests::{Output, TestEnv};

/// Commands with what they printed, as one document.
struct Transcript<'e> {
    env: &'e TestEnv,
    text: String,
}

impl<'e> Transcript<'e> {
    fn new(env: &'e TestEnv) -> Self {
        Self { env, text: String::new() }
    }

    /// Asserts the exit status and adds the command with its output under a heading.
    #[track_caller]
    fn add(&mut self, heading: &str, output: &Output, exit: i32) {
        let root = self.env.root().display().to_string();
        let bin = program("pipemux").parent().expect("a directory").display().to_string();
        let text = output.exits(exit).to_string().replace(&root, "$ROOT").replace(&bin, "$BIN");
        self.text += &format!("# {heading}\n{text}\n\n");
    }

    #[track_caller]
    fn run(&mut self, heading: &str, args: &[&str], exit: i32) {
        self.add(heading, &self.env.pipemux(args), exit);
    }
}

#[test]
fn usage_errors_have_these_texts() {
    let env = TestEnv::with_editor("one\ntwo\n");
    let mut all = Transcript::new(&env);
    all.run("unknown verb", &["veiw"], 2);
    all.run("unknown option", &["view", "--lodd", "full"], 2);
    all.run("invalid value of an option", &["view", "--budget", "much"], 2);
    all.run("unknown action", &["run", "editor.replaec('one', 'x')"], 2);
    all.run("unknown parameter", &["run", "editor.replace('one', nw='x')"], 2);
    all.run("type mismatch", &["run", "editor.undo(steps='many')"], 2);
    all.run("invalid argument", &["run", "editor.goto(line='many')"], 2);
    all.run("syntax error", &["run", "editor.save(); editor.replace('one, 'x')"], 2);
    all.run("invalid ref", &["read", "what?!"], 2);
    insta::assert_snapshot!(all.text);
}

#[test]
fn not_found_errors_have_these_texts() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.install("arena", "examples/arena", "");
    let mut all = Transcript::new(&env);
    all.run("unknown app", &["open", "editr"], 3);
    all.run("app without a window", &["run", "arena.flee()"], 3);
    all.run("unknown session", &["view", "editor/other"], 3);
    all.run("unknown object", &["read", "obj:4711"], 3);
    all.run("unknown link", &["click", "link:4711"], 3);
    all.run("no question to answer", &["answer", "yes"], 3);
    all.run("glob without files", &["open", "editor", "*.none"], 3);
    insta::assert_snapshot!(all.text);
}

#[test]
fn ref_errors_have_these_texts() {
    let env = TestEnv::with_notebook();
    let plan = env.run("notebook.add('plan', 'Ship on Friday', tags=['a'])").ok().obj("plan");
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.edit(obj:{plan}, 'Ship on Monday')")]).ok();
    let mut all = Transcript::new(&env);
    all.run("stale", &["run", &format!("notebook.edit(obj:{plan}, 'Ship today')")], 4);
    let (before, at) = all.text.split_once("by bob at ").expect("who changed it");
    assert_eq!(at.as_bytes().get(8), Some(&b'Z'), "a time: {at}");
    all.text = format!("{before}by bob at HH:MM:SS{}", &at[8..]);
    env.install("arena", "examples/arena", "");
    let robber = env.pipemux(&["open", "arena"]).ok().obj("强盗");
    env.pipemux(&["close", "arena"]).ok();
    all.run("out of view", &["run", &format!("arena.attack(obj:{robber})")], 4);
    insta::assert_snapshot!(all.text);
}

#[test]
fn failures_and_refusals_have_these_texts() {
    let env = TestEnv::with_editor("x\nx\n");
    env.write("latin1.txt", b"caf\xe9\n");
    let mut all = Transcript::new(&env);
    all.run("failed step", &["run", "editor.replace('nowhere', 'y')"], 1);
    let failing = "editor.insert(1, 'a'); editor.replace('nowhere', 'y'); editor.save()";
    all.run("failed step between others", &["run", failing], 1);
    all.run("refused file", &["open", "editor", "latin1.txt"], 9);
    env.run("editor.replace('x', 'y')").exits(5);
    all.run("run while a question is open", &["run", "editor.save()"], 5);
    insta::assert_snapshot!(all.text);
}

#[test]
fn questions_have_these_texts() {
    let env = TestEnv::with_editor("x\nx\n");
    env.pipemux(&["open", "notebook"]).ok();
    let plan = env.run("notebook.add('plan', 'x')").ok().obj("plan");
    let mut all = Transcript::new(&env);
    let cancel = || drop(env.pipemux(&["answer", "none"]).ok().text());
    all.run("which of several", &["run", "editor.replace('x', 'y'); editor.save()"], 5);
    all.run("an answer that is not offered", &["answer", "7"], 2);
    cancel();
    all.run("missing object", &["run", "notebook.append(text='more')"], 5);
    cancel();
    all.run("confirmation", &["run", &format!("notebook.purge(obj:{plan})")], 5);
    cancel();
    all.run("missing text", &["run", "editor.replace('x')"], 5);
    insta::assert_snapshot!(all.text);
}

#[test]
fn app_errors_have_these_texts() {
    let env = TestEnv::with_rogue_and_notebook();
    env.install_rogue("broken", "exits");
    let apps = env.root().join("home/.config/pipemux/apps");
    fs::write(apps.join("gone.toml"), "id = \"gone\"\ncommand = \"/nowhere/app\"\n").unwrap();
    fs::write(apps.join("bad.toml"), "id = \"bad\"\ncommand = \"sh\"\ncolour = 3\n").unwrap();
    let mut all = Transcript::new(&env);
    all.run("app that ends at its start", &["open", "broken"], 6);
    all.run("app whose program is missing", &["open", "gone"], 6);
    all.run("app whose manifest is invalid", &["open", "bad"], 3);
    let crash = "notebook.add('a', 'b'); rogue.misbehave('exit'); notebook.add('c', 'd')";
    all.run("outcome unknown after a crash", &["run", crash], 7);
    all.run("notice after a crash", &["view", "rogue/main"], 0);
    let hang = ["run", "rogue.misbehave('hang')", "--timeout", "1"];
    all.run("outcome unknown after the deadline", &hang, 7);
    insta::assert_snapshot!(all.text);
}

#[test]
fn daemon_errors_have_these_texts() {
    let env = TestEnv::new();
    let mut all = Transcript::new(&env);
    let missing = env.command(&["view"]).env("PIPEMUX_DAEMON", "/nowhere/pipemuxd").output();
    all.add("missing daemon program", &missing, 8);
    let failing = env.command(&["view"]).env("PIPEMUX_DAEMON", "/bin/false").output();
    all.add("daemon that ends at its start", &failing, 8);
    let answering = env.serve_other_version();
    all.run("daemon of another version", &["view"], 8);
    answering.join().expect("the other daemon has answered");
    fs::remove_file(env.paths().socket).unwrap();
    insta::assert_snapshot!(all.text);
}

#[test]
fn empty_results_have_these_texts() {
    let env = TestEnv::new();
    let mut all = Transcript::new(&env);
    all.run("status without a daemon", &["status"], 0);
    all.run("down without a daemon", &["down"], 0);
    all.run("view without a window", &["view"], 0);
    all.run("sessions", &["sessions"], 0);
    all.run("history", &["history"], 0);
    all.run("message without a block", &["listen"], 0);
    env.pipemux(&["open", "notebook"]).ok();
    all.run("logs", &["logs", "notebook"], 0);
    all.run("search", &["ask", "notebook.search('nothing')"], 0);
    all.run("view without a change", &["view", "--wait", "0.1"], 0);
    insta::assert_snapshot!(all.text);
}
