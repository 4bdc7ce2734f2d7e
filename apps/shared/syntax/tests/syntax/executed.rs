//! What extractions do when they run: a program prints the same before and after, whichever
//! statements of it become a function. Every selection of neighbouring lines is tried; a refusal is
//! fine, another output is not.

use std::path::Path;
use std::process::Command;

use crate::support::*;

/// Runs each program in one interpreter, and prints what each prints, between lines of `∎`.
const PYTHON: &str = r#"
import contextlib, io, sys
for name in sys.argv[1:]:
    out = io.StringIO()
    with open(name, encoding="utf-8") as file, contextlib.redirect_stdout(out):
        try:
            exec(compile(file.read(), name, "exec"), {"__name__": "__main__"})
        except Exception as error:
            print("failed", repr(error))
    print(out.getvalue() + "∎")
"#;

/// The same in Node. The programs end with a call of `main`, whose promise is awaited.
const NODE: &str = r#"
const fs = require('fs');
const AsyncFunction = (async () => {}).constructor;
(async () => {
  for (const name of process.argv.slice(2)) {
    const lines = [];
    const text = fs.readFileSync(name, 'utf8').replace(/main\(\);\s*$/, 'return main();');
    const console_ = { log: (line) => lines.push(line) };
    try {
      await new AsyncFunction('console', text)(console_);
    } catch (error) {
      lines.push(`failed ${error}`);
    }
    console.log(lines.join('\n') + '\n∎');
  }
})();
"#;

/// Returns each text that an extraction from a program leads to, with the lines that were selected.
fn extractions(language: Language, text: &str) -> Vec<(String, String)> {
    let source = Source::parse(language, text).unwrap();
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut found = std::collections::BTreeMap::new();
    for first in 0..starts.len() {
        for last in first + 1..starts.len().min(first + 14) {
            let range = starts[first]..starts[last];
            let request = Request { range, name: "extracted", ..Request::default() };
            if let Ok(extraction) = plan_extraction(&source, &request) {
                let lines = format!("lines {}-{last}", first + 1);
                found.insert(extraction.apply(text), lines);
            }
        }
    }
    found.into_iter().map(|(text, lines)| (lines, text)).collect()
}

/// Checks that a program prints the same after each extraction. Returns how many there were.
fn same_output(language: Language, text: &str, interpreter: &str, driver: &str) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let found = extractions(language, text);
    let programs = std::iter::once(text).chain(found.iter().map(|(_, text)| text.as_str()));
    let mut command = Command::new(interpreter);
    command.arg(write(dir.path(), "driver.cjs", driver));
    for (index, program) in programs.enumerate() {
        command.arg(write(dir.path(), &format!("{index}.txt"), program));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut printed = printed.split("∎\n");
    let before = printed.next().unwrap();
    assert!(before.lines().count() > 20 && !before.contains("failed"), "{before}");
    let mut wrong = String::new();
    for ((lines, text), printed) in found.iter().zip(printed) {
        if printed != before {
            let differs = before.lines().zip(printed.lines()).find(|(old, new)| old != new);
            wrong += &format!("=== {lines}: {differs:?}\n{text}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    found.len()
}

fn write(dir: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn python_prints_the_same_after_any_extraction() {
    let text = include_str!("cases/program.py");
    let tried = same_output(Language::Python, text, "python3", PYTHON);
    assert!(tried >= 100, "{tried} extractions");
}

#[test]
fn javascript_prints_the_same_after_any_extraction() {
    let text = include_str!("cases/program.js");
    let node = Command::new("node").arg("--version").output();
    // Where Node isn't installed, the extractions are planned and parsed all the same.
    let tried = match node.is_ok_and(|node| node.status.success()) {
        true => same_output(Language::JavaScript, text, "node", NODE),
        false => extractions(Language::JavaScript, text).len(),
    };
    assert!(tried >= 60, "{tried} extractions");
}
