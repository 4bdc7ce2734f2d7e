//! What an agent does with commands: several in order, one question for all, a server that is
//! asked, tests that are mended, and what git tells.

use std::path::{Path, PathBuf};
use std::process::Command;

use pipemux_tests::{Output, TestEnv, wait_for};

use crate::terminal::{ask, confining, job};

/// A server that prints the port which the system gave it, and answers each request with its path.
const SERVER: &str = "import http.server
class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.path.encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Echo)
for n in range(50):
    print('starting', n)
print('listening on', server.server_port, flush=True)
server.serve_forever()
";

/// Asks a server for a path.
const GET: &str = "import sys, urllib.request
print('got', urllib.request.urlopen(sys.argv[1]).read().decode())
";

#[test]
fn several_commands_run_in_order_until_one_fails() {
    let env = confining();
    let all = env.run("terminal.run(['echo one', 'echo two > made', 'cat made'])");
    all.ok().has("1 done · run: all 3 succeeded\n");
    all.has("c1 echo one · exit 0\n```\none\n```\n")
        .has("c2 echo two > made · exit 0 · no output\n");
    all.has("c3 cat made · exit 0\n```\ntwo\n```\n").lacks("not run");
    let failed = env.run("terminal.run(['echo one', 'cat nowhere', 'echo three', 'echo four'])");
    failed.ok().has("run: 2 of 4: exit 1\n").has("c5 cat nowhere · exit 1");
    failed.has("nowhere: No such file").has("not run: echo three and 1 more\n").lacks("c6");
    // A list of one is a command, and each line is checked before the first one runs.
    env.run("terminal.run(['echo one'])").ok().has("run: exit 0\n```\none\n```\n");
    env.run("terminal.run([])").exits(2).has("['cargo build', 'cargo test']");
    env.run("terminal.run(['touch early', ''])").exits(2);
    assert!(!env.path("early").exists());
    let missing = env.run("terminal.run('no-such-program')");
    missing.ok().has("exit 127").has("no-such-program: command not found");
}

#[test]
fn sequence_goes_on_as_a_job_and_stops_as_a_whole() {
    let env = confining();
    let started = env.run("terminal.run(['echo one', 'sleep 0.5', 'echo three'], wait=0)");
    started.ok().has(" of 3 in order · job c");
    let end = env.pipemux(&["read", &job(&started), "--wait", "20"]);
    end.ok().has(" done after ").has("all 3 succeeded").has("echo three · exit 0");
    let started = env.run("terminal.run(['sleep 300', 'touch later'], wait=0)");
    started.ok().has("run: sleep 300 · 1 of 2 in order · job c4 · ");
    env.run("terminal.stop()").ok().has("stop: c4 · stopped");
    let end = env.pipemux(&["read", "job:c4", "--wait", "20"]);
    end.ok().has("cancelled").has("not run: touch later");
    let started = env.run("terminal.run(['sleep 301', 'touch later'], wait=0)");
    env.pipemux(&["click", &format!("link:{}", started.link("cancel"))]).ok();
    wait_for("the end of its processes", || env.count_processes("sleep") == 0);
    env.pipemux(&["read", "job:c5", "--wait", "20"]).ok().has("cancelled");
    assert!(!env.path("later").exists());
}

#[test]
fn port_that_opens_without_a_word_is_told() {
    let env = confining();
    let silent = "import os, socket, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\ns = socket.create_server(('127.0.0.1', 0))\ntime.sleep(300)\n";
    env.write("silent.py", silent);
    env.run("terminal.run('python3 silent.py', wait=0)").ok();
    env.pipemux(&["view"]).ok().has("python3 silent.py").lacks("listens on");
    // Nobody asks where it listens: the session is told of it, and so is who waits.
    let waiting = env.command(&["view", "--wait", "60"]).start();
    env.write("go", "");
    waiting.finish().ok().has("listens on ").lacks("unchanged");
    env.run("terminal.stop()").ok();
}

#[test]
fn server_is_started_asked_and_stopped_in_one_run() {
    let env = confining();
    env.write("server.py", SERVER);
    env.write("get.py", GET);
    let all = env.run(
        "terminal.run('python3 server.py', wait=0); terminal.wait_for('listening on', 20); \
         terminal.run('python3 get.py \"http://127.0.0.1:$PORT/total?of=3,4\"'); terminal.stop()",
    );
    all.ok().has("(later commands: $PORT = ").has("got /total?of=3,4");
    // Of what the server printed the last lines are shown, and the command that ran last isn't
    // meant.
    all.has("stop: c1 · stopped").has("listening on ").lacks("starting 40");
    assert_eq!(env.count_processes("python3"), 0);
    // Without a server it is what a shell makes of it.
    env.run("terminal.run('echo \"port $PORT.\"')").ok().has("port .");
    env.run("terminal.run('echo $PORT', env={'PORT': '1234'})").ok().has("1234");
}

#[test]
fn command_has_one_name() {
    let env = confining();
    env.run("terminal.run('sleep 300', wait=0)").ok().has("job c1 · ");
    env.pipemux(&["view"]).ok().has("[c1 sleep 300](obj:").has("job c1 · sleep 300 · [cancel]");
    env.pipemux(&["read", "job:c1"]).ok().has("job c1 still runs");
    for name in ["'c1'", "'job c1'", "'job:c1'", "'1'", "'sleep'"] {
        ask(&env, &format!("terminal.output(job={name})")).ok();
    }
    env.run("terminal.run('echo later')").ok();
    // What acts on a command means one that runs.
    env.run("terminal.stop()").ok().has("stop: c1 · stopped");
    env.run("terminal.stop('c9')")
        .exits(3)
        .has("no command is named \"c9\"; ended: c2 echo later · c1 sleep 300");
    // The window shows commands, and how to use them is a line.
    let view = env.pipemux(&["view", "terminal"]);
    view.ok()
        .has("[c2 echo later](obj:")
        .has("pipemux help terminal")
        .lacks("function")
        .lacks("wait_for");
}

/// Returns the program that runs the tests of a Python project, and what it prints when one of two
/// failed and when both passed: pytest where it is installed, unittest else.
fn python_tests() -> (String, [&'static str; 2]) {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/pytest");
    let has_pytest = |path: &PathBuf| {
        let mut command = Command::new("python3");
        command.args(["-m", "pytest", "--version"]).env("PYTHONPATH", path);
        command.output().is_ok_and(|output| output.status.success())
    };
    // Without byte code: what is edited twice within a second has the same time stamp.
    match has_pytest(&tools) {
        true => {
            let tools = tools.display();
            let run = format!(
                "terminal.run('python3 -B -m pytest -p no:cacheprovider test_sums.py', env={{'PYTHONPATH': '{tools}'}})"
            );
            (run, ["failed test_sums.py::test_total test_sums.py:4", "2 passed"])
        }
        false => (
            "terminal.run('python3 -B -m unittest test_cases')".to_owned(),
            ["failed test_cases.Sums.test_total test_cases.py:6 ", "2 passed"],
        ),
    }
}

#[test]
fn python_tests_are_mended_and_the_next_run_says_so() {
    let env = confining();
    env.write("sums.py", "def total(numbers):\n    return sum(numbers) - 1\n\n\ndef mean(numbers):\n    return sum(numbers) / len(numbers)\n");
    env.write("test_sums.py", "from sums import mean, total\n\ndef test_total():\n    assert total([1, 2]) == 3\n\ndef test_mean():\n    assert mean([1, 2]) == 1.5\n");
    env.write("test_cases.py", "import unittest\nfrom sums import mean, total\n\nclass Sums(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n    def test_mean(self):\n        self.assertEqual(mean([1, 2]), 1.5)\n");
    let (run, [failure, passed]) = python_tests();
    let failing = env.run(&run);
    failing.ok().has("exit 1").has("1 failed").has(failure);
    let failed = failing.objects();
    assert_eq!(failed.len(), 1, "{}", failing.text());
    // The failure opens where the assertion stands.
    ask(&env, &format!("editor.lines(obj:{})", failed[0])).ok().has("total([1, 2])");
    // One is mended, and another one is broken.
    env.run(
        "editor.replace(' - 1', '', in='sums.py'); editor.replace('/ len', '* len', in='sums.py')",
    )
    .ok();
    let second = env.run(&run);
    second.ok().has("1 fixed, 1 new").has("new: [failed ").has("test_mean").lacks("test_total");
    env.run("editor.replace('* len', '/ len', in='sums.py')").ok();
    env.run(&run).ok().has("exit 0").has(passed).has("1 fixed").lacks("failed");
}

/// Runs git as a person with a name, without the files of the machine's user.
fn git(env: &TestEnv, args: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Dev",
            "-c",
            "user.email=dev@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .current_dir(env.path(""))
        .env("HOME", env.root())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns what stands behind a label: the number of its object.
fn value(env: &TestEnv, output: &Output, label: &str) -> String {
    let object = format!("obj:{}", output.obj(label));
    env.pipemux(&["read", &object]).ok().text().trim().to_owned()
}

#[test]
fn git_tells_of_files_hunks_and_commits() {
    let env = confining();
    let lines = |count: usize| (1..=count).map(|n| format!("line {n}\n")).collect::<String>();
    std::fs::create_dir_all(env.path("src")).expect("a folder");
    env.write("src/long.txt", lines(60));
    env.write("old 名.txt", lines(3));
    git(&env, &["init", "-q"]);
    git(&env, &["add", "-A"]);
    git(&env, &["commit", "-qm", "Add the first files"]);
    env.write(
        "src/long.txt",
        lines(60).replace("line 3\n", "third\n").replace("line 50\n", "fifty\n"),
    );
    env.write("new.txt", "new\n");
    let status = env.run("terminal.run('git status --short', cwd='.')");
    status
        .ok()
        .has("```\n M src/long.txt\n?? new.txt\n```\n[src/long.txt](obj:")
        .has("[new.txt](obj:");
    assert!(value(&env, &status, "new.txt").ends_with("/new.txt:1"));
    // Each hunk opens in the editor, also from a folder below, and follows edits.
    let diff = env.run("terminal.run('git diff', cwd='src')");
    diff.ok().has("-line 3\n+third\n").has("[src/long.txt:1](obj:").has("[src/long.txt:47](obj:");
    let hunk = diff.obj("src/long.txt:47");
    env.run("editor.insert('first', before='src/long.txt:1')").ok();
    assert!(value(&env, &diff, "src/long.txt:47").ends_with("/src/long.txt:48"));
    ask(&env, &format!("editor.lines(obj:{hunk})")).ok().has("48\tline 47");
    let all = ask(&env, "terminal.problems()");
    all.ok().has("[modified src/long.txt +2 -2](obj:");

    git(&env, &["commit", "-qam", "Change two lines"]);
    let log = env.run("terminal.run('git log')");
    log.ok().has("Change two lines").has("Add the first files");
    let commits = ask(&env, "terminal.problems()");
    let first = commits.objects()[0];
    let hash = env.pipemux(&["read", &format!("obj:{first}")]);
    let head = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(env.path(""))
        .output()
        .expect("git");
    assert_eq!(hash.ok().text().trim(), String::from_utf8_lossy(&head.stdout).trim());

    // A diff that is too long is its files and hunks, with the way to the rest.
    let many: String = (1..=3000).map(|n| format!("changed {n}\n")).collect();
    env.write("new.txt", many);
    git(&env, &["add", "-A"]);
    let long = env.run("terminal.run('git diff --cached')");
    long.ok().has("1 file +3000 -0").has("[added new.txt +3000 -0](obj:").has("[new.txt:1](obj:");
    long.has("all of it: pipemux ask 'terminal.output(1, ");
}
