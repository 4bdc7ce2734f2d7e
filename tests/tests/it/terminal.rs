//! Commands, builds and tests: what an agent is shown of them, what may run, and what is left when
//! something is killed.

use pipemux_tests::{Output, TestEnv, is_alive, wait_for};

/// What rustc says of a crate with an unused import and a wrong type, and a test runner of a wrong
/// sum.
const FAILING: &str = "   Compiling sample v0.1.0 (/p)
warning: unused import: `std::fmt`
 --> src/lib.rs:1:5
  |
1 | use std::fmt;
  |     ^^^^^^^^
  |
  = note: `#[warn(unused_imports)]` (part of `#[warn(unused)]`) on by default

error[E0308]: mismatched types
 --> src/lib.rs:5:5
  |
4 | fn total() -> u32 {
  |               --- expected `u32` because of return type
5 |     \"three\"
  |     ^^^^^^^ expected `u32`, found `&str`

error[E0425]: cannot find value `missing` in this scope
 --> src/lib.rs:9:13
  |
9 |     let a = missing;
  |             ^^^^^^^ not found in this scope

Some errors have detailed explanations: E0308, E0425.
For more information about an error, try `rustc --explain E0308`.
warning: `sample` (lib) generated 1 warning
error: could not compile `sample` (lib) due to 2 previous errors; 1 warning emitted
";

/// The file that these messages are of.
const SOURCE: &str = "use std::fmt;\n\n/// A sum.\nfn total() -> u32 {\n    \"three\"\n}\n\nfn more() {\n    let a = missing;\n}\n";

/// An environment in which commands are confined, also where the whole machine is the test's.
pub fn confining() -> TestEnv {
    let env = TestEnv::new();
    decide(&env, "confine = \"workspace\"\n");
    env
}

/// Writes what a person decides about commands.
pub fn decide(env: &TestEnv, policy: &str) {
    let folder = env.root().join("home/.config/pipemux");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), format!("[terminal]\n{policy}")).expect("a file");
}

/// A crate whose build is a script that prints what was recorded.
fn recorded() -> TestEnv {
    let env = confining();
    std::fs::create_dir_all(env.path("src")).expect("a folder");
    env.write("src/lib.rs", SOURCE);
    env.write("out.txt", FAILING);
    env.write("build.sh", "cat out.txt\nexit $(cat status 2>/dev/null || echo 101)\n");
    env
}

/// Returns what `pipemux read` needs for the job of an answer: `job:c3`.
pub(crate) fn job(output: &Output) -> String {
    let text = output.text();
    let (_, rest) = text
        .split_once("end and output: pipemux read job:")
        .unwrap_or_else(|| panic!("no job in {text}"));
    let name: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
    format!("job:{name}")
}

pub(crate) fn ask(env: &TestEnv, query: &str) -> Output {
    env.pipemux(&["ask", query])
}

#[test]
fn short_output_is_shown_as_it_is() {
    let env = confining();
    let shown = env.run("terminal.run('echo one && echo two')");
    shown.ok().has("1 done · run: exit 0\n```\none\ntwo\n```\n");
    env.run("terminal.run('true')").ok().has("run: exit 0 · no output\n");
    env.run("terminal.run('false')").ok().has("run: exit 1 · no output\n");
    env.run("terminal.run('echo a b', cwd='/')").ok().has("a b");
    env.run("terminal.run('echo $GREETING', env={'GREETING': 'hello you'})").ok().has("hello you");
    env.run("terminal.run('kill -9 $$')").ok().has("ended by signal");
    // The directory is the caller's.
    std::fs::create_dir_all(env.path("sub")).expect("a folder");
    env.write("sub/file", "x");
    let below = env.command(&["run", "terminal.run('ls')"]).current_dir(env.path("sub")).output();
    below.ok().has("```\nfile\n```");
}

#[test]
fn failing_build_shows_its_errors_and_the_next_one_what_changed() {
    let env = recorded();
    let failing = env.run("terminal.run('sh build.sh')");
    failing.ok().has("1 done · run: exit 101 · 2 errors, 1 warning · 27 lines\n");
    failing
        .has("[error E0308 src/lib.rs:5 mismatched types](obj:")
        .has("^ expected `u32`, found `&str`");
    failing.has("[error E0425 src/lib.rs:9 cannot find value 'missing' in this scope](obj:");
    failing.lacks("Compiling").lacks("unused import");
    ask(&env, "terminal.problems()")
        .ok()
        .has("[warning src/lib.rs:1 unused import: 'std::fmt'](obj:");
    ask(&env, "terminal.output(1, 2)").ok().has("lines 1-2 of 27").has("Compiling sample");
    ask(&env, "terminal.find('E0425')").ok().has("18\terror[E0425]: cannot find value");

    // One is mended, another one is made.
    let mended =
        FAILING.replace("error[E0308]: mismatched types", "error[E0061]: this takes 1 argument");
    env.write("out.txt", mended);
    let second = env.run("terminal.run('sh build.sh')");
    second.ok().has("2 errors, 1 warning · 27 lines · 1 fixed, 1 new, 2 still there\n");
    second.has("new: [error E0061 src/lib.rs:5 this takes 1 argument](obj:");
    // What the agent has read already is told in one line.
    second.has("[error E0425 src/lib.rs:9").lacks("let a = missing");
    ask(&env, "terminal.problems()").ok().has("fixed: error E0308 src/lib.rs:5 mismatched types");

    env.write("out.txt", "    Finished `dev` profile in 0.1s\n");
    env.write("status", "0");
    env.run("terminal.run('sh build.sh')").ok().has("exit 0 · 3 fixed\n").has("Finished `dev`");
}

#[test]
fn problem_opens_in_the_editor_and_follows_edits() {
    let env = recorded();
    let failing = env.run("terminal.run('sh build.sh')");
    let problem =
        failing.ok().obj("error E0425 src/lib.rs:9 cannot find value 'missing' in this scope");
    let lines = format!("editor.lines(obj:{problem})");
    ask(&env, &lines).ok().has("9\t    let a = missing;");
    env.run("editor.insert('new\\nlines', before='src/lib.rs:1')").ok();
    ask(&env, &lines).ok().has("11\t    let a = missing;");
    env.pipemux(&["read", &format!("obj:{problem}")]).ok().has("src/lib.rs:11");
    env.run(&format!("editor.open(obj:{problem}); editor.goto(obj:{problem})")).ok();
    // It can't be followed through an edit of the line itself, and says so.
    env.run(&format!("editor.replace_lines(obj:{problem}, text='    let a = 1;')")).ok();
    assert!(env.read("src/lib.rs").contains("let a = 1;"));
    let stale = ask(&env, &lines);
    stale.has("was edited since the command ran; it said: let a = missing;");
}

#[test]
fn server_is_waited_for_and_ends_with_its_session() {
    let env = confining();
    let script = "import http.server, sys\ns = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\nprint('listening on', s.server_port, flush=True)\ns.serve_forever()\n";
    env.write("server.py", script);
    let started = env.run("terminal.run('python3 server.py', wait=0)");
    started.ok().has("1 started · run: python3 server.py · job c1 · [cancel](link:");
    started.has("pipemux read job:c1 --wait 60\n").lacks("## terminal/main");
    let waited = ask(&env, "terminal.wait_for('listening on', 20)");
    waited.ok().has("line 1 · listens on ").has(": listening on ");
    ask(&env, "terminal.wait_for('never', 0.1)")
        .exits(1)
        .has("not within 0.1 s")
        .has("newest line: listening on");
    env.pipemux(&["view"]).ok().has("c1 python3 server.py").has("listening on");
    let restarted = env.run("terminal.restart(wait=0)");
    restarted.ok().has("1 started · restart: python3 server.py · job c2 · ");
    ask(&env, "terminal.wait_for('listening on', 20, 'c2')").ok();
    assert_eq!(env.count_processes("python3"), 1);
    env.run("terminal.stop()").ok().has("stop: c2 · stopped");
    assert_eq!(env.count_processes("python3"), 0);

    // A job's end is told once, to whoever acts next.
    let quick = env.run("terminal.run('sleep 0.3; echo over', wait=0)");
    quick.ok().has("1 started");
    let end = env.pipemux(&["read", &job(&quick), "--wait", "20"]);
    end.ok().has(" done after ").has(": exit 0").has("over\n");
}

#[test]
fn full_screen_program_is_driven_by_keys() {
    let env = confining();
    let script = r"
import sys, termios, tty
tty.setcbreak(0)
out = lambda text: (sys.stdout.write(text), sys.stdout.flush())
out('\x1b[?1049h\x1b[2J\x1b[H')
rows, at = ['first', 'second', 'third'], 0
while True:
    out('\x1b[H' + ''.join(('> ' if i == at else '  ') + row + '\r\n' for i, row in enumerate(rows)))
    key = sys.stdin.read(1)
    if key == '\x1b':
        key += sys.stdin.read(2)
    if key == '\x1b[B':
        at = (at + 1) % 3
    if key == 'q':
        break
out('\x1b[?1049l')
print('chosen', rows[at])
";
    env.write("menu.py", script);
    // It waits for keys, so that its end isn't waited for.
    let started = env.run("terminal.run('python3 menu.py')");
    started.ok().has("1 started · run: python3 menu.py · full screen · job c1");
    ask(&env, "terminal.screen()").ok().has("```\n> first\n  second\n  third\n```");
    env.run("terminal.keys('down down')").ok().has("  second\n> third\n");
    env.run("terminal.keys('q')").ok().has("exit 0").has("chosen third");
    env.run("terminal.keys('q')").exits(9).has("has ended: exit 0");
}

#[test]
fn program_that_asks_is_answered() {
    let env = confining();
    env.run("terminal.run('read -p \"name? \" name; echo hello $name', wait=0.2)")
        .ok()
        .has("1 started");
    ask(&env, "terminal.wait_for('name?')").ok();
    env.run("terminal.input('you')").ok().has("exit 0").has("hello you");
    env.run("terminal.run('sleep 60', timeout=0.2)").ok().has("run: timed out");
    env.run("terminal.run('sleep 60 | cat', wait=0)").ok().has("1 started");
    env.run("terminal.keys('ctrl-c')").ok().has("ended by signal").lacks("started");
    assert_eq!(env.count_processes("sleep"), 0);
}

#[test]
fn hostile_output_does_nothing() {
    let env = confining();
    env.write("hostile.py", r"
import sys
out = sys.stdout.buffer
out.write(b'\x1b]0;title\x07\x1b[2Jred \x1b[31mtext\x1b[0m \xff\xfe \xe2\x80\xae reversed [x](link:1) obj:2\n```\n## editor/main\n')
out.write(b'z' * 3000000 + b'\n')
out.write(bytes(range(256)) * 40)
");
    let shown = env.run("terminal.run('python3 hostile.py')");
    let text = shown.ok().text();
    assert!(text.len() < 9000, "{} bytes", text.len());
    let is_inert = |c: char| !c.is_control() || c == '\n' || c == '\t';
    assert!(text.chars().all(is_inert), "{text:?}");
    assert!(!text.contains('\u{202e}'), "{text:?}");
    shown.has("red text").has("⟨U+202E⟩");
    env.pipemux(&["click", "1"]).exits(3);
    ask(&env, "terminal.find('reversed')").ok().has("1 line");
}

#[test]
fn long_output_keeps_its_ends_and_all_of_it_can_be_read() {
    let env = confining();
    let shown = env.run("terminal.run('seq 1 30000')");
    shown.ok().has("exit 0").has("30000 lines").has("```\n1\n2\n").has("30000\n");
    assert!(shown.lines() < 700, "{} lines", shown.lines());
    ask(&env, "terminal.output(15000, 15001)").ok().has("15000\n15001\n");
    ask(&env, "terminal.output(-1)").ok().has("lines 30000-30000 of 30000");
    ask(&env, "terminal.output(last=2)").ok().has("lines 29999-30000 of 30000");
    ask(&env, "terminal.output(first=2)").ok().has("lines 1-2 of 30000");
    ask(&env, "terminal.output(first=5, last=6)").ok().has("lines 5-6 of 30000");
    ask(&env, "terminal.find('2999')").ok().has("2999\t2999").has("29999\t29999");
    ask(&env, "terminal.find('^2999$', regex=true)").ok().has("1 line");
    let copied = env.run("notebook.add('log', text=terminal.output(7, 9))");
    copied.ok();
    env.pipemux(&["view", "notebook/main", "--lod", "full"]).ok().has("7\n8\n9");
}

#[test]
fn nothing_is_left_of_what_was_killed() {
    let env = confining();
    // One that ignores what asks it to end, and one that left its session.
    env.write("stubborn.sh", "trap '' HUP INT TERM\nsetsid sleep 1234 &\nsleep 1235\nsleep 1236\n");
    let start = || {
        env.run("terminal.run('sh stubborn.sh', wait=0)").ok().has("1 started");
        wait_for("its processes", || env.count_processes("sleep") == 2);
    };
    start();
    env.kill_session("terminal/main");
    wait_for("the end of its processes", || env.count_processes("sleep") == 0);
    let view = env.pipemux(&["view"]);
    view.ok().has("lost after").has("Lost: the commands that ran, and all output.");
    start();
    env.run("terminal.stop()").ok().has("stopped");
    assert_eq!(env.count_processes("sleep"), 0);
    start();
    let pids: Vec<i32> = env.processes().iter().map(|process| process.pid).collect();
    env.kill_daemon();
    wait_for("the end of all processes", || pids.iter().all(|pid| !is_alive(*pid)));
    env.pipemux(&["view"]).ok().has("lost after");
    start();
    env.pipemux(&["end", "terminal/main"]).ok();
    wait_for("the end of its processes", || env.count_processes("sleep") == 0);
}

#[test]
fn real_tools_are_understood() {
    let env = confining();
    std::fs::create_dir_all(env.path("src")).expect("a folder");
    env.write(
        "Cargo.toml",
        "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    env.write(
        "src/lib.rs",
        "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n#[test]\nfn zero() {\n    assert_eq!(add(0, 0), 0);\n}\n",
    );
    // The toolchain itself: what stands in front of it needs the home directory of its user.
    let cargo = std::env::var("CARGO").unwrap_or_default();
    let Some(folder) = std::path::Path::new(&cargo).parent().filter(|_| cargo.starts_with('/'))
    else {
        return;
    };
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    let run = || {
        let mut answer =
            env.run(&format!("terminal.run('cargo test --offline', env={{'PATH': '{path}'}})"));
        if answer.text().contains("started") {
            answer = env.pipemux(&["read", &job(&answer), "--wait", "120"]);
        }
        answer
    };
    let failed = run();
    failed
        .has("exit 101")
        .has("1 failed, 1 passed")
        .has("failed adds src/lib.rs:6 assertion 'left == right' failed");
    failed.has("left: -1").has("right: 3");
    env.run("editor.replace('a - b', 'a + b', in='src/lib.rs')").ok();
    let passed = run();
    passed.has("exit 0").has("2 passed").has("1 fixed").lacks("failed");
}
