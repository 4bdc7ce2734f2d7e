//! Prints what a search finds as `path:line`, for comparisons with other tools: `find [-w] TEXT PATH…`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for measuring")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pipemux_search::{Files, Filters, Overlay, Pattern, search};

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut flag = |name: &str| {
        let at = args.iter().position(|arg| arg == name);
        at.map(|at| args.remove(at)).is_some()
    };
    let (word, fold, time, counts) = (flag("-w"), flag("-i"), flag("--time"), flag("--count"));
    let filters = Filters { word, ..Filters::default() };
    let pattern = Pattern::new(&args[0], true, !fold, filters).unwrap();
    let base = Path::new(".");
    let began = Instant::now();
    let files = Files::new(&args[1..], base, base, &[]).unwrap();
    let found = search(&pattern, &files.list().unwrap(), &Overlay::new());
    if time {
        println!("{}", began.elapsed().as_micros());
        return;
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for file in found.files {
        let path: &PathBuf = &file.path;
        if counts {
            writeln!(out, "{}:{}", path.display(), file.counts.lines).unwrap();
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut last = 0;
        for one in pattern.search(path, text).found {
            if one.line > last {
                writeln!(out, "{}:{}", path.display(), one.line).unwrap();
                last = one.line;
            }
        }
    }
}
