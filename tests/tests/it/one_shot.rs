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
