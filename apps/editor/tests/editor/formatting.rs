//! What is arranged in files that rustfmt found clean stays clean. The files are this crate's own.

use std::io::Write;
use std::process::{Command, Stdio};

use pipemux_syntax::{Language, Source, Symbol, SymbolKind};
use proptest::prelude::*;

use crate::support::*;

/// Returns a text as rustfmt formats it, with the rules of this repository.
fn formatted(text: &str) -> String {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(rules)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn files() -> Vec<PathBuf> {
    let sources = std::env::var_os("PIPEMUX_CRATES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), PathBuf::from);
    let (mut files, mut open) = (Vec::new(), vec![sources]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The items that stand side by side, without modules, whose order is rustfmt's.
fn siblings(symbols: &[Symbol], text: &str, all: &mut Vec<Vec<String>>) {
    let is_item = |one: &&Symbol| one.kind != SymbolKind::Module && one.is_whole_lines(text);
    let line = |at: usize| text[..at].matches('\n').count();
    let lines = |one: &Symbol| {
        format!("x.rs:{}-{}", line(one.whole.start) + 1, line(one.whole.end - 1) + 1)
    };
    all.push(symbols.iter().filter(is_item).map(lines).collect());
    symbols.iter().for_each(|one| siblings(&one.children, text, all));
}

/// The text of lines, without the indentation of the first one.
fn text_of(text: &str, lines: &Line) -> Text {
    let Line::Text(lines) = lines else { panic!("{lines:?}") };
    let (first, last) = lines.trim_start_matches("x.rs:").split_once('-').unwrap();
    let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    let lines: Vec<&str> = text.lines().skip(first - 1).take(last + 1 - first).collect();
    lines.join("\n").as_str().into()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arranged_items_stay_formatted(
        file in any::<prop::sample::Index>(),
        group in any::<prop::sample::Index>(),
        (one, other) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        act in 0..6,
    ) {
        let files = files();
        let path = file.get(&files);
        let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
        let mut groups = Vec::new();
        siblings(&Source::parse(Language::Rust, text.as_str()).unwrap().outline(), &text, &mut groups);
        groups.retain(|group| group.len() > 1);
        prop_assume!(!groups.is_empty() && formatted(&text) == text);
        let group = group.get(&groups);
        let (one, other) = (one.index(group.len()), other.index(group.len()));
        // A body that nothing is left in is written on one line: `impl A {}`.
        prop_assume!(one != other && (act != 3 || group.len() > 2));
        let (one, other) = (line_of(&group[one]), line_of(&group[other]));
        let (after, none) = (Some(other.clone()), || None);
        let action = match act {
            0 => Action::Move { range: one, before: none(), after, at_start_of: none(), at_end_of: none() },
            1 => Action::Move { range: one, before: after, after: none(), at_start_of: none(), at_end_of: none() },
            2 => Action::Delete { range: one },
            3 => Action::DeleteAll { ranges: vec![one, other] },
            4 => Action::Swap { one, other },
            _ => Action::InsertBeside {
                text: text_of(&text, &one),
                before: none(),
                after,
                at_start_of: none(),
                at_end_of: none(),
                indent: String::new(),
            },
        };
        let mut session = TestSession::with(&[("x.rs", &text)]);
        session.view();
        match session.host.invoke(&action) {
            Outcome::Done(_) => {
                let now = session.on_disk("x.rs");
                prop_assert_eq!(formatted(&now), now, "{:?} in {}", action, path.display());
            }
            Outcome::Failed(fault) => prop_assert!(act == 3 && fault.message.contains("overlap"), "{fault:?}"),
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

#[test]
fn several_items_are_deleted_at_once_or_not_at_all() {
    let code = "fn a() {}\n\nfn b() {}\n\n/// 中\nfn c() {}\n\nfn d() {}";
    for ending in ["\n", "\r\n"] {
        let text = code.replace('\n', ending);
        let mut session = TestSession::with(&[("a.rs", &text), ("b.py", "x = 1\ny = 2\n")]);
        let all = |ranges: &[&str]| Action::DeleteAll {
            ranges: ranges.iter().map(|range| line_of(range)).collect(),
        };
        let fault = session.failed(&all(&["a", "nowhere"]));
        assert_eq!(fault.message, "no symbol is called nowhere");
        assert_eq!(session.on_disk("a.rs"), text);
        let done = session.done(&all(&["c", "b.py:2", "a"]));
        assert!(done.brief.starts_with("c, lines 5-6; y, line 2; a, line 1"), "{}", done.brief);
        assert_eq!(session.on_disk("a.rs"), "fn b() {}\n\nfn d() {}".replace('\n', ending));
        assert_eq!(session.on_disk("b.py"), "x = 1\n");
        session.view();
        session.done(&undo());
        assert_eq!(
            (session.on_disk("a.rs"), session.on_disk("b.py").as_str()),
            (text.clone(), "x = 1\ny = 2\n")
        );
        let done = session.done(&all(&["a", "b", "c", "d"]));
        assert!(session.on_disk("a.rs").is_empty(), "{} {:?}", done.brief, session.on_disk("a.rs"));
    }
}
