//! The README and the pages of `docs/`, done as they are written.
//!
//! Each page is played in an environment of its own, from its first block to its last. A block of
//! `sh` is run, unless its fence says `no-run`. In a block of `text` a line behind `$ ` is a
//! command, and the lines below it are what it prints; `…` stands for anything. Other blocks are
//! for readers only. After an intended change of an output, `PIPEMUX_DOCS=write` puts what is
//! printed into the pages, for a review as text.

mod picture;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use pipemux_tests::TestEnv;

/// The exit statuses that a page may show: done, an action that failed, a question.
const SHOWN: [i32; 3] = [0, 1, 5];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

fn page(name: &str) -> String {
    fs::read_to_string(repository().join(name)).expect(name)
}

/// The names of the pages of `docs/`, from the repository's root.
fn pages_of_docs() -> BTreeSet<String> {
    let entries =
        fs::read_dir(repository().join("docs")).expect("docs").map(|one| one.expect("one"));
    let names = entries.map(|one| one.file_name().into_string().expect("a name"));
    names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")).collect()
}

/// The blocks of a page: what stands behind the fence, and the lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut fence = None;
    for line in text.lines() {
        match fence {
            None if line.starts_with("```") => {
                let info = line.trim_start_matches('`');
                fence = line.strip_suffix(info);
                blocks.push((info, Vec::new()));
            }
            Some(end) if line == end => fence = None,
            Some(_) => blocks.last_mut().expect("a block").1.push(line),
            None => {}
        }
    }
    assert!(fence.is_none(), "a block without an end: {blocks:#?}");
    blocks
}

/// Splits a block with a dialogue into commands and what is printed for each. A command goes on
/// over the lines up to the end of its here-document.
fn dialogue<'a>(lines: &[&'a str]) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    let mut document: Option<&'a str> = None;
    for line in lines {
        if let Some(end) = document {
            steps.last_mut().expect("a command").0 += &format!("\n{line}");
            if line.strip_prefix(end).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) {
                document = None;
            }
            continue;
        }
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => {
                document = command.split_once("<<END").map(|_| "END");
                steps.push((command.to_owned(), String::new()));
            }
            (None, Some((_, printed))) => *printed += &format!("{line}\n"),
            (None, None) => return Vec::new(),
        }
    }
    steps
}

/// Returns a line without the words about commands that aren't confined, which only some machines
/// have.
fn confined(line: &str) -> String {
    let (kept, rest) = line.split_once("; commands aren't confined").unwrap_or((line, ""));
    format!("{kept}{}", rest.find(" · [").map_or("", |link| &rest[link..]))
}

/// Returns a text without what differs from run to run: the tokens of receipts, which change with
/// each word of a help.
fn lasting(text: &str) -> String {
    let line = |line: &str| {
        let line = confined(line);
        match line.strip_suffix(" tokens").and_then(|rest| rest.rsplit_once(" · ")) {
            Some((rest, _)) => format!("{rest} · N of N tokens\n"),
            None => format!("{line}\n"),
        }
    };
    text.trim_end().lines().map(line).collect()
}

/// Whether what is printed is what a page has.
fn is_as_expected(printed: &str, expected: &str) -> bool {
    let (printed, expected) = (&lasting(printed), &lasting(expected));
    let mut rest = printed.as_str();
    for (at, part) in expected.split('…').map(|part| part.trim_matches('\n')).enumerate() {
        let found = if at == 0 { rest.starts_with(part).then_some(0) } else { rest.find(part) };
        let Some(found) = found else { return false };
        rest = &rest[found + part.len()..];
    }
    expected.trim_end().ends_with('…') || rest.trim_end().is_empty()
}

/// Plays a page, and returns the number of commands whose output was compared.
fn play(name: &str) -> usize {
    let text = page(name);
    let mut written = text.clone();
    let place = TestEnv::new();
    let mut folder = String::from(".");
    let mut compared = 0;
    // Each command is a shell of its own, which goes on where the one before it ended.
    let mut run = |script: &str| {
        let own = "pipemux() { \"$PIPEMUX\" \"$@\"; }";
        let script = format!(
            "{own}\ncd {folder} || exit 99\n{script}\nstatus=$?\npwd > \"$OLD_HOME/where\"\nexit $status\n"
        );
        let script = script.replace("$OLD_HOME", &place.path(".").display().to_string());
        let output = place.shell(&script).output();
        assert!(SHOWN.contains(&output.exit), "{name}: {script}\n{output}");
        folder = place.read("where").trim().to_owned();
        output.text()
    };
    for (info, lines) in blocks(&text) {
        match info {
            "sh" => drop(run(&lines.join("\n"))),
            "text" => {
                for (command, expected) in dialogue(&lines) {
                    let printed = run(&command);
                    compared += 1;
                    if is_as_expected(&printed, &expected) {
                        continue;
                    }
                    let both =
                        format!("{name}: $ {command}\n{printed}\n--- {name} has:\n{expected}");
                    assert!(
                        env::var_os("PIPEMUX_DOCS").is_some(),
                        "{both}\nPIPEMUX_DOCS=write puts it there"
                    );
                    let step = |output: &str| format!("$ {command}\n{}\n", output.trim_end());
                    written = written.replacen(&step(&expected), &step(&printed), 1);
                }
            }
            _ => {}
        }
    }
    if written != text {
        fs::write(repository().join(name), written).expect("a page can be written");
    }
    compared
}

#[test]
fn readme_can_be_repeated_literally() {
    assert!(play("README.md") >= 3);
}

#[test]
fn quick_start_can_be_repeated_literally() {
    assert!(play("docs/quick-start.md") > 4);
}

#[test]
fn every_other_page_can_be_repeated_literally() {
    let pages = pages_of_docs();
    let compared: usize =
        pages.iter().filter(|name| *name != "docs/quick-start.md").map(|name| play(name)).sum();
    assert!(compared > 15, "{compared}");
}

/// The anchors that a page's headings have, as renderers of Markdown make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| {
        line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
    });
    let kept = |one: char| one.is_alphanumeric() || matches!(one, '-' | '_' | ' ');
    headings
        .map(|heading| {
            heading
                .to_lowercase()
                .chars()
                .filter(|one| kept(*one))
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}

/// The targets of a page's links and pictures, outside of code.
fn targets(text: &str) -> Vec<String> {
    let mut outside = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match fence {
            None if line.starts_with("```") => {
                fence = Some(&line[..line.len() - line.trim_start_matches('`').len()])
            }
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None => outside += &line.split('`').step_by(2).collect::<Vec<_>>().join("` `"),
        }
        outside.push('\n');
    }
    let found = outside.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    found.map(|(target, _)| target.to_owned()).collect()
}

#[test]
fn every_link_of_the_pages_leads_somewhere() {
    let named = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ".github/SECURITY.md"]
        .map(str::to_owned);
    let mut checked = 0;
    for name in pages_of_docs().into_iter().chain(named) {
        let text = page(&name);
        for target in targets(&text).into_iter().filter(|one| !one.contains("://")) {
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = match path {
                "" => repository().join(&name),
                path => repository().join(&name).parent().expect("a folder").join(path),
            };
            assert!(file.exists(), "{name}: {target} leads nowhere");
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&file).expect("a page"));
                assert!(there.contains(anchor), "{name}: {target}: no such heading of {there:?}");
            }
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn book_and_list_for_models_have_every_page() {
    let all = pages_of_docs();
    let listed = |text: &str| -> BTreeSet<String> {
        targets(text).into_iter().map(|one| format!("docs/{one}")).collect()
    };
    let but = |names: &[&str]| -> BTreeSet<String> {
        all.iter().filter(|name| !names.contains(&name.as_str())).cloned().collect()
    };
    assert_eq!(listed(&page("docs/SUMMARY.md")), but(&["docs/SUMMARY.md"]));
    let models = listed(&page("docs/llms.txt"));
    assert_eq!(models, but(&["docs/SUMMARY.md", "docs/introduction.md"]));
}
