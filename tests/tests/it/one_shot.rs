//! One process a verb: what one was shown, the next one isn't shown again.

use pipemux_tests::World;

/// The last word of a process is that its answer was written out, and it doesn't wait for a reply to that.
/// The daemon has to take it before anything of a process that comes later, also when others come and go.
#[test]
fn what_a_process_confirms_last_counts_for_the_next_one() {
    let world = World::new();
    let lines: String = (0..200).map(|number| format!("line {number}\n")).collect();
    world.write("a.txt", &lines);
    world.pipemux(&["open", "editor", "a.txt", "--budget", "20000"]).ok();
    let (mut last, mut others) = (String::new(), Vec::new());
    for number in 0..20 {
        others.extend((0..2).map(|_| world.command(&["sessions"]).start()));
        let line = 10 * number + 1;
        let changed = format!("changed {number}!");
        let answer = world.run(&format!("editor.replace_lines({line}, {line}, '{changed}')"));
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
fn the_bench_uses_a_daemon_of_its_own_and_leaves_nothing() {
    let world = World::new();
    let scratch = world.path("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let scratch_name = scratch.display().to_string();
    let bench = world.command(&["bench", "--quick", "--json"]).env("TMPDIR", &scratch_name);
    let told = bench.output().ok().json();
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.len() >= 7, "{told:#}");
    for row in rows {
        // A figure; that of memory may be nothing, for the system counts by pages.
        assert!(row["pipemux"].as_f64().unwrap() >= 0.0, "{row}");
    }
    assert_eq!(scratch.read_dir().unwrap().count(), 0, "all of it is gone");
    assert!(world.processes().is_empty(), "this world's own daemon was never asked");
}
