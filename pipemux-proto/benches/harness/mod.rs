//! Runs a piece of work so often as the command line says: for counting its instructions from outside.
//!
//! | arguments | does |
//! |---|---|
//! | `--list` | prints the names of all work, one a line |
//! | `NAME COUNT` | does that work so often, and nothing else after its preparation |
//! | none of these | prints how long each takes, as `cargo bench` expects; reported, never judged |
//!
//! Counting twice with different counts and subtracting leaves the work alone: `tests/bench/instructions.py`.

// Benches print.
#![allow(clippy::print_stdout)]

use std::time::Instant;

/// Prepares a piece of work; what it returns does the work once.
pub type Work = fn() -> Box<dyn FnMut()>;

/// How often work is done for a time.
const ROUNDS: u32 = 200;

/// What the bench's `main` calls.
pub fn main(all: &[(&str, Work)]) {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["--list"] => all.iter().for_each(|(name, _)| println!("{name}")),
        [name, count] => {
            let found = all.iter().find(|(known, _)| *known == name);
            let (work, count) = (found.expect("a name of --list"), count.parse::<u32>());
            let mut once = work.1();
            for _ in 0..count.expect("a count") {
                once();
            }
        }
        _ => {
            for (name, work) in all {
                let mut once = work();
                let began = Instant::now();
                for _ in 0..ROUNDS {
                    once();
                }
                println!("{name}: {:?}", began.elapsed() / ROUNDS);
            }
        }
    }
}
