//! Prints what a search finds as `path:line`, for comparisons with other tools.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for measuring")]

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use pipemux_search::{Files, Filters, Found, Overlay, Pattern, search};

const USAGE: &str = "usage: find [-w] [-i] [--count | --time] REGEX [PATH…]
  -w       only whole words
  -i       upper and lower case are the same
  --count  the number of lines of each file
  --time   the time that the search takes, in microseconds";

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut flag = |name: &str| {
        let at = args.iter().position(|arg| arg == name);
        at.map(|at| args.remove(at)).is_some()
    };
    let (word, fold, time, counts) = (flag("-w"), flag("-i"), flag("--time"), flag("--count"));
    let Some((pattern, paths)) = args.split_first() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let filters = Filters { word, ..Filters::default() };
    let pattern = match Pattern::new(pattern, true, !fold, filters) {
        Ok(pattern) => pattern,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match find(&pattern, paths, time, counts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn find(
    pattern: &Pattern,
    paths: &[String],
    time: bool,
    counts: bool,
) -> Result<(), Box<dyn Error>> {
    let base = Path::new(".");
    let began = Instant::now();
    let files = Files::new(paths, base, base, &[])?;
    let found = search(pattern, &files.list()?, &Overlay::new());
    if time {
        println!("{}", began.elapsed().as_micros());
    } else {
        print(pattern, found, counts)?;
    }
    Ok(())
}

/// Prints each line with a match once, or how many of them each file has.
fn print(pattern: &Pattern, found: Found, counts: bool) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for file in found.files {
        let path = &file.path;
        if counts {
            writeln!(out, "{}:{}", path.display(), file.counts.lines)?;
            continue;
        }
        let text = std::fs::read_to_string(path)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut last = 0;
        for one in pattern.search(path, text).found {
            if one.line > last {
                writeln!(out, "{}:{}", path.display(), one.line)?;
                last = one.line;
            }
        }
    }
    out.flush()
}
