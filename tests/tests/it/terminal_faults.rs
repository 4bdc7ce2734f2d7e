//! What a hostile or unlucky caller of commands must not get: a command that wasn't allowed,
//! another one than was asked for, a place that is other code, or a session that waits.

use pipemux_tests::{TestClient, TestEnv, wait_for};

use crate::terminal::{confining, decide};

#[test]
fn values_of_secret_variables_are_kept_nowhere() {
    let env = TestEnv::new();
    decide(&env, "confine = \"workspace\"\nask = [\"test\"]\n");
    let call = "terminal.run('test -n \"$API_TOKEN\"', env={'API_TOKEN': 'hunter2', 'A': '1'})";
    env.run(call).exits(9).lacks("hunter2");
    env.pipemux(&["consent"]).ok().has("runs: A=1 API_TOKEN=*** test -n").lacks("hunter2");
    TestClient::new(&env, None, "person").allow_all();
    env.run(call).ok().has("exit 0");
    env.run("terminal.run('ls', env='hunter2')").exits(2).lacks("hunter2");
    let told = env.pipemux(&["history", "--detail"]);
    told.ok().has("'test -n \"$API_TOKEN\"'], env='***')").lacks("hunter2");
    env.pipemux(&["view"]).ok().lacks("hunter2");
    env.pipemux(&["down"]).ok();
    let state = env.paths().state_dir;
    let held = std::process::Command::new("grep").args(["-rl", "hunter2"]).arg(&state).output();
    assert_eq!(String::from_utf8_lossy(&held.expect("grep").stdout), "");
}

#[test]
fn directory_that_is_gone_is_not_replaced_by_another_one() {
    let env = confining();
    std::fs::create_dir(env.path("gone")).expect("a folder");
    env.run("terminal.run('pwd; touch where', cwd='gone')").ok().has("exit 0");
    std::fs::remove_dir_all(env.path("gone")).expect("a folder");
    env.run("terminal.restart('c1')").exits(3).has("cwd: there is no folder");
    assert!(!env.root().join("home/where").exists());
}

#[test]
fn server_answers_as_soon_as_it_listens() {
    let env = confining();
    let script = "import http.server\ns = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\nprint('ready to serve', flush=True)\ns.serve_forever()\n";
    env.write("server.py", script);
    let started = env.run("terminal.run('python3 server.py')");
    started
        .ok()
        .has("1 started · run: python3 server.py · listening on 127.0.0.1:")
        .has("ready to serve");
    env.run("terminal.stop()").ok().has("stopped").lacks("left behind");
    // Nothing runs that could be meant.
    env.run("terminal.stop()").exits(9).has("has ended").has("no command runs");
}

#[test]
fn stop_means_a_command_that_runs() {
    let env = confining();
    env.run("terminal.run('sleep 300', wait=0)").ok();
    env.run("terminal.run('true')").ok();
    env.run("terminal.stop('true')").exits(9).has("c2 true has ended").has("running: c1 sleep 300");
    env.run("terminal.stop()").ok().has("stopped");
    assert_eq!(env.count_processes("sleep"), 0);
}

#[test]
fn processes_that_leave_their_session_end_with_the_command_and_are_told() {
    let env = confining();
    for _ in 0..3 {
        let ended = env.run("terminal.run('(setsid sleep 1301 &) ; sleep 0.2; echo ok')");
        ended.ok().has("exit 0 · ended 1 process that it left behind");
        env.run("terminal.run('sleep 1302 & echo started')")
            .ok()
            .has("ended 1 process that it left behind");
    }
    assert_eq!(env.count_processes("sleep"), 0);
    env.run("terminal.run('(setsid sleep 1303 &); sleep 1304', wait=0)").ok();
    wait_for("its processes", || env.count_processes("sleep") == 2);
    env.run("terminal.stop()").ok().has("stopped").lacks("left behind");
    assert_eq!(env.count_processes("sleep"), 0);
}

#[test]
fn input_that_nobody_reads_is_dropped_and_told() {
    let env = confining();
    env.run("terminal.run('sleep 300', wait=0)").ok();
    let many = "x".repeat(60) + "\\n";
    let call = format!("terminal.input(\"{}\")", many.repeat(2000));
    let typed = env.command(&["run", "-"]).stdin(call.as_bytes()).output();
    typed.has("c1 sleep 300 takes no input: ").has(" bytes were typed, the rest was dropped");
    env.run("terminal.stop()").ok();
}

#[test]
fn signal_reaches_the_program_in_the_foreground() {
    let env = confining();
    env.run("terminal.run('bash --norc -i', wait=0)").ok();
    env.run("terminal.input('sleep 1305')").ok();
    wait_for("the program", || env.count_processes("sleep") == 1);
    env.run("terminal.signal('INT')").ok();
    wait_for("its end", || env.count_processes("sleep") == 0);
    env.run("terminal.stop()").ok();
}

#[test]
fn problems_that_a_run_did_not_look_at_are_not_fixed() {
    let env = confining();
    env.write(
        "u.sh",
        "[ -f slow ] && sleep 30\necho 'a.c:1:1: error: one'; echo 'a.c:2:1: error: two'\n",
    );
    env.run("terminal.run('sh u.sh')").ok().has("2 errors");
    env.write("slow", "");
    env.run("terminal.run('sh u.sh', timeout=0.5)").ok().has("timed out").lacks("fixed");
    std::fs::remove_file(env.path("slow")).expect("a file");
    env.run("terminal.run('sh u.sh')").ok().has("2 still there");
}

#[test]
fn problem_does_not_move_to_other_code_with_the_same_text() {
    let env = confining();
    let source =
        "int f(void) {\n  return g();\n}\n\nint h(void) {\n  int z = 1;\n  return g();\n}\n";
    env.write("a.c", source);
    env.write("out.txt", "a.c:7:10: error: implicit declaration of g\n");
    env.run("terminal.run('cat out.txt')").ok();
    let problem =
        env.pipemux(&["ask", "terminal.problems()"]).obj("error a.c:7 implicit declaration of g");
    env.write("a.c", source.replace("z = 1;\n  return g()", "z = 1;\n  return other(z)"));
    let stale = env.pipemux(&["ask", &format!("editor.lines(obj:{problem})")]);
    stale.has("a.c:7 was edited since the command ran; it said: return g();");
    // A file that is edited meanwhile is told of, too.
    env.write("b.c", "one\ntwo\nBAD\nfour\n");
    let edits = "echo b.c:3:1: error: wrong; sed -i 1i\\\\\\\\new b.c";
    env.run(&format!("terminal.run('{edits}')")).ok();
    let problem = env.pipemux(&["ask", "terminal.problems()"]).obj("error b.c:3 wrong");
    let stale = env.pipemux(&["ask", &format!("editor.lines(obj:{problem})")]);
    stale.has("b.c was changed while the command ran");
}

#[test]
fn last_state_of_an_overwritten_line_is_shown_and_found() {
    let env = confining();
    env.write("progress.sh", "i=0; while [ $i -lt 3000 ]; do printf '\\rprogress %d%%' $i; i=$((i+1)); done; printf '\\rALL DONE\\n'; printf '%020000d TAIL\\n' 5\n");
    env.run("terminal.run('sh progress.sh')").ok().has("ALL DONE").lacks("progress 1");
    env.pipemux(&["ask", "terminal.find('ALL DONE')"])
        .ok()
        .has("1 line · 1 line was searched up to 16 KiB only");
    env.pipemux(&["ask", "terminal.wait_for('TAIL', seconds=1)"]).has("searched up to 16 KiB only");
}
