//! Every command is a process of its own: what one was shown is not shown again to the next.

use pipemux_tests::TestEnv;

/// A command ends by confirming its answer and doesn't wait for a reply. The daemon has to handle
/// that confirmation before any request of a later command, even while other commands run.
#[test]
fn confirmation_of_one_process_counts_for_the_next() {
    let env = TestEnv::new();
    let lines: String = (0..200).map(|number| format!("line {number}\n")).collect();
    env.write("a.txt", &lines);
    env.pipemux(&["open", "editor", "a.txt", "--budget", "20000"]).ok();
    let (mut last, mut others) = (String::new(), Vec::new());
    for number in 0..20 {
        others.extend((0..2).map(|_| env.command(&["sessions"]).start()));
        let line = 10 * number + 1;
        let changed = format!("changed {number}!");
        let answer = env.run(&format!("editor.replace_lines({line}, {line}, '{changed}')"));
        answer.ok().has(&changed);
        if !last.is_empty() {
            answer.lacks(&last);
        }
        last = changed;
    }
    for other in others {
        other.finish().ok();
    }
}

#[test]
fn bench_uses_a_separate_daemon_and_leaves_nothing() {
    let env = TestEnv::new();
    let scratch = env.path("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let scratch_name = scratch.display().to_string();
    let bench = env.command(&["bench", "--quick", "--json"]).env("TMPDIR", &scratch_name);
    let told = bench.output().ok().json();
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.len() >= 7, "{told:#}");
    for row in rows {
        // The figure for memory may be 0, because the system counts whole pages.
        assert!(row["pipemux"].as_f64().unwrap() >= 0.0, "{row}");
    }
    assert_eq!(scratch.read_dir().unwrap().count(), 0, "all of it is gone");
    assert!(env.processes().is_empty(), "this env's own daemon was never asked");
}
