//! The picture of the README: a session as it is printed, drawn as it stands in `docs/session.svg`.

use std::fmt::Write as _;
use std::{env, fs};

use pipemux_tests::TestEnv;

use super::{confined, lasting, repository};

/// Where the picture lies, from the repository's root.
const PICTURE: &str = "docs/session.svg";
/// The width of the terminal, in characters.
const COLUMNS: usize = 104;
/// The height of a line, in pixels.
const LINE: usize = 19;

const SHOP: &str = r#""""A basket, and what it costs."""


def total(prices):
    return sum(prices)


def receipt(prices):
    lines = [f"{price:>8.2f}" for price in prices]
    return "\n".join([*lines, f"{total(prices):>8.2f}"])
"#;

const TESTS: &str = "\
import unittest

from shop import receipt, total


class Prices(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([3, 4]), 7)

    def test_discount(self):
        self.assertEqual(total([80, 40]), 108)

    def test_receipt(self):
        self.assertIn(\"7.00\", receipt([3, 4]))
";

/// What is typed, each with the remark above it.
const SESSION: [(&str, &str); 4] = [
    (
        "# An agent renames a function and runs the tests, in one call. The verdict comes first.",
        r#"pipemux run 'editor.rename("total", "price_of"); terminal.run("python3 -m unittest -q")'"#,
    ),
    (
        "# It writes what the test asks for. Text needs no escaping, and the answer says what is new.",
        r#"pipemux run 'editor.replace("    return sum(prices)", <<END, in="shop.py"); terminal.run("python3 -m unittest -q")
    full = sum(prices)
    return full * 0.9 if full > 100 else full
END'"#,
    ),
    (
        "# A person changes the first line of the same file. Then the agent's second step is taken back:",
        "pipemux undo 2",
    ),
    (
        "# what the person wrote stays, and so does the rename.",
        "git diff -U0 shop.py | grep '^[+-][^+-]'",
    ),
];

/// Plays the session, and returns its lines.
fn play() -> Vec<String> {
    let place = TestEnv::new();
    place.write("shop.py", SHOP);
    place.write("test_shop.py", TESTS);
    place.write(".gitignore", "__pycache__/\n");
    place
        .shell(
            "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm start",
        )
        .output()
        .ok();
    let mut lines = Vec::new();
    for (remark, command) in SESSION {
        if command.contains("undo") {
            let person = place.read("shop.py").replace("A basket", "A shopping basket");
            place.write("shop.py", person);
        }
        let output =
            place.shell(&format!("pipemux() {{ \"$PIPEMUX\" \"$@\"; }}\n{command}\n")).output();
        lines.push(remark.to_owned());
        lines.extend(format!("$ {command}").lines().map(str::to_owned));
        lines.extend(output.text().trim_end().lines().map(str::to_owned));
        lines.push(String::new());
    }
    lines.pop();
    lines
}

/// Breaks a line as a terminal does.
fn wrapped(line: &str) -> Vec<String> {
    let characters: Vec<char> = line.chars().collect();
    let rows = characters.chunks(COLUMNS).map(|row| row.iter().collect()).collect::<Vec<String>>();
    if rows.is_empty() { vec![String::new()] } else { rows }
}

/// The class of a line's colour; `typed` while the line before it belongs to a command.
fn class(line: &str, typed: bool) -> &'static str {
    match line.chars().next() {
        Some('#') => "remark",
        Some('$') => "typed",
        _ if typed => "typed",
        Some('+') => "more",
        Some('-') => "less",
        _ if line.ends_with(" tokens") => "faint",
        _ if line.starts_with("[failed") => "less",
        _ => "said",
    }
}

fn draw(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().flat_map(|line| wrapped(&confined(line))).collect();
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (width, height) = (COLUMNS * 8 + 32, lines.len() * LINE + 28);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\" xml:space=\"preserve\">\n\
         <title>A session of PipeMux in a terminal</title>\n\
         <style>text{{font:13px ui-monospace,Menlo,Consolas,monospace;white-space:pre}}.remark{{fill:#8b949e;font-style:italic}}\
         .typed{{fill:#f0f6fc;font-weight:600}}.said{{fill:#c9d1d9}}.more{{fill:#7ee787}}.less{{fill:#ff9492}}\
         .faint{{fill:#6e7681}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>\n"
    );
    let mut typed = false;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let class = class(line, typed);
        typed = class == "typed" && (line.contains("<<END") || typed) && line != "END'";
        let y = 28 + at * LINE;
        let _ =
            writeln!(svg, "<text x=\"16\" y=\"{y}\" class=\"{class}\">{}</text>", escaped(line));
    }
    svg + "</svg>\n"
}

#[test]
fn picture_is_what_is_printed() {
    let drawn =
        draw(&play().iter().map(|line| lasting(line).trim_end().to_owned()).collect::<Vec<_>>());
    let path = repository().join(PICTURE);
    if env::var_os("PIPEMUX_DOCS").is_some() {
        return fs::write(path, draw(&play())).expect("the picture can be written");
    }
    let there = fs::read_to_string(path).expect("the picture").replace("</text>", "\n</text>");
    let there = lasting(&there).replace("\n</text>", "</text>");
    assert_eq!(there.trim_end(), drawn.trim_end(), "PIPEMUX_DOCS=write draws it anew");
}
