//! Reads an output from the standard input and prints its summary, its problems and its folded text.
#![allow(clippy::print_stdout, reason = "a tool for measuring")]

use std::io::{self, Read as _};

use pipemux_problems::OutputReader;

fn main() -> io::Result<()> {
    let brief = std::env::args().any(|arg| arg == "--brief");
    let mut reader = OutputReader::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut input = io::stdin().lock();
    loop {
        let count = input.read(&mut chunk)?;
        if count == 0 {
            break;
        }
        reader.feed(&chunk[..count]);
    }
    let report = reader.finish();
    println!("{}", report.summary());
    if brief {
        return Ok(());
    }
    for problem in &report.problems {
        let place = problem.place.as_ref().map(ToString::to_string).unwrap_or_default();
        println!("{} {place} {}", problem.severity, problem.message);
        problem.detail.iter().for_each(|line| println!("    {line}"));
    }
    for failure in &report.failures {
        let place = failure.place.as_ref().map(ToString::to_string).unwrap_or_default();
        println!("failed {} {place} {}", failure.name, failure.assertion);
        failure.detail.iter().for_each(|line| println!("    {line}"));
    }
    println!();
    for entry in &report.transcript {
        let mark = match entry {
            pipemux_problems::Entry::Line { problem: true, .. } => 'p',
            pipemux_problems::Entry::Line { detail: true, .. } => 'd',
            pipemux_problems::Entry::Line { progress: true, .. } => '.',
            _ => ' ',
        };
        println!("{mark} {entry}");
    }
    Ok(())
}
