//! The README's quick start, done as it is written.

use pipemux_tests::TestEnv;

const README: &str = include_str!("../../../README.md");

/// The exit status of a run that asks a question.
const NEEDS_ANSWER: i32 = 5;

/// A block of the quick start: its language, and its lines.
fn blocks() -> Vec<(&'static str, Vec<&'static str>)> {
    let (_, rest) = README.split_once("\n## Quick start\n").expect("the quick start");
    let (part, _) = rest.split_once("\n## Use it ").expect("what follows it");
    let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut fence = None;
    for line in part.lines() {
        match fence {
            None if line.starts_with("```") => {
                let language = line.trim_start_matches('`');
                fence = line.strip_suffix(language);
                blocks.push((language, Vec::new()));
            }
            Some(end) if line == end => fence = None,
            Some(_) => blocks.last_mut().expect("a block").1.push(line),
            None => {}
        }
    }
    assert!(fence.is_none() && blocks.len() > 4, "{blocks:#?}");
    blocks
}

/// Splits a block with a dialogue into commands and what is printed for each.
fn dialogue(lines: &[&'static str]) -> Vec<(&'static str, String)> {
    let mut steps: Vec<(&str, String)> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command, String::new())),
            (None, Some((_, printed))) => *printed += &format!("{line}\n"),
            (None, None) => panic!("no command before {line}"),
        }
    }
    steps
}

/// Returns a text without the tokens of its receipts, which change with each word of a help.
fn without_tokens(text: &str) -> String {
    let line =
        |line: &str| match line.strip_suffix(" tokens").and_then(|rest| rest.rsplit_once(" · ")) {
            Some((rest, _)) => format!("{rest} · N of N tokens\n"),
            None => format!("{line}\n"),
        };
    text.trim_end().lines().map(line).collect()
}

/// Compares what is printed with what the README has; its `…` stands for any lines.
fn assert_printed(command: &str, printed: &str, expected: &str) {
    let (printed, expected) = (&without_tokens(printed), &without_tokens(expected));
    let mut rest = printed.as_str();
    let parts: Vec<&str> = expected.trim_end().split("…\n").collect();
    for (at, part) in parts.iter().enumerate() {
        let found = if at == 0 { rest.starts_with(part).then_some(0) } else { rest.find(part) };
        let found =
            found.unwrap_or_else(|| panic!("$ {command}\n{printed}\n--- README:\n{expected}"));
        rest = &rest[found + part.len()..];
    }
    assert_eq!(rest.trim_end(), "", "$ {command}\n{printed}\n--- README:\n{expected}");
}

#[test]
fn quick_start_can_be_repeated_literally() {
    let env = TestEnv::new();
    let printed = |script: &str| {
        let own = "pipemux() { \"$PIPEMUX\" \"$@\"; }\n[ -d demo ] && cd demo";
        let output = env.shell(&format!("{own}\n{script}\n")).output();
        assert!([0, NEEDS_ANSWER].contains(&output.exit), "{output}");
        output.text()
    };
    let mut commands = 0;
    for (language, lines) in blocks() {
        if language == "sh" {
            printed(&lines.join("\n"));
            continue;
        }
        for (command, expected) in dialogue(&lines) {
            assert_printed(command, &printed(command), &expected);
            commands += 1;
        }
    }
    assert!(commands > 4, "{commands}");
    assert!(env.read("demo/src/greet.rs").contains("who.trim()"), "the last command counts, too");
}
