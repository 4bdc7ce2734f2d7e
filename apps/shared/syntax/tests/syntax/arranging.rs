//! Items moved, swapped, taken out and added.

use similar::TextDiff;

use crate::outlines::EXAMPLES;
use crate::support::*;

fn symbol(source: &Source, name: &str) -> Symbol {
    let mut found = Wanted::new(name).find(source, None);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found.remove(0).symbol
}

fn place(source: &Source, word: &str, name: &str) -> InsertionPoint {
    let symbol = symbol(source, name);
    match word {
        "before" => InsertionPoint::Before(symbol.whole),
        "after" => InsertionPoint::After(symbol.whole),
        "at_start_of" => InsertionPoint::StartOf(symbol),
        _ => InsertionPoint::EndOf(symbol),
    }
}

/// Carries out an operation such as `move a before b`.
fn arrange(source: &Source, operation: &str) -> Option<Arrangement> {
    let (verb, rest) = operation.split_once(' ').unwrap();
    match verb {
        "insert" => {
            let (at, text) = rest.split_once(": ").unwrap();
            let (word, name) = at.split_once(' ').unwrap();
            let text = text.replace("\\n", "\n").replace("\\t", "\t") + "\n";
            let block = Block { text, exact: false };
            Some(plan_insert(source, &place(source, word, name), &block))
        }
        "move" => {
            let words = [" before ", " after ", " at_start_of ", " at_end_of "];
            let word = words.into_iter().find(|word| rest.contains(word)).unwrap();
            let (name, to) = rest.split_once(word).unwrap();
            plan_move(source, &symbol(source, name).whole, &place(source, word.trim(), to), false)
        }
        "swap" => {
            let (one, other) = rest.split_once(' ').unwrap();
            plan_swap(source, &symbol(source, one).whole, &symbol(source, other).whole)
        }
        _ => Some(plan_delete(source, &symbol(source, rest).whole, false)),
    }
}

fn language(name: &str) -> Language {
    Language::ALL.into_iter().find(|language| language.name() == name).unwrap()
}

#[test]
fn items_keep_the_empty_lines_of_their_file() {
    let mut all = String::new();
    for (title, case) in cases(include_str!("cases/arrange.txt")) {
        let (text, operations) = case.split_once("\n---\n").unwrap();
        let text = &format!("{text}\n");
        let source = Source::parse(language(&title), text.as_str()).unwrap();
        for operation in operations.lines() {
            all += &format!("=== {title}: {operation}\n");
            let Some(arrangement) = arrange(&source, operation) else {
                all += "nothing to do\n";
                continue;
            };
            let after = arrangement.apply(text);
            let parsed = Source::parse(language(&title), after.as_str()).unwrap();
            assert_eq!(parsed.error_count(), source.error_count(), "{operation}\n{after}");
            let diff = TextDiff::from_lines(text, &after);
            let shown = diff.unified_diff().context_radius(2).to_string();
            all += &shown
                .lines()
                .filter(|line| !line.starts_with("@@"))
                .fold(String::new(), |all, line| format!("{all}{}\n", line.trim_end()));
            // The file may lack its last newline: the same is done to it.
            let open = text.trim_end_matches('\n');
            let source = Source::parse(language(&title), open).unwrap();
            let arrangement = arrange(&source, operation).unwrap();
            assert_eq!(arrangement.apply(open), after.trim_end_matches('\n'), "{operation}");
            // So it is to one whose lines end otherwise.
            let crlf = text.replace('\n', "\r\n");
            let source = Source::parse(language(&title), crlf.as_str()).unwrap();
            let operation = operation.replace("\\n", "\r\n");
            let new = arrange(&source, &operation).unwrap().apply(&crlf);
            assert_eq!(new.replace("\r\n", "\n"), after, "{operation}");
        }
    }
    insta::assert_snapshot!(all);
}

/// The lines of a text that aren't empty, sorted and without their indentation.
fn content(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines
}

fn items(source: &Source) -> Vec<Symbol> {
    let all = source.named_symbols().into_iter().map(|found| found.symbol);
    all.filter(|one| one.is_whole_lines(source.text())).collect()
}

#[test]
fn nothing_but_empty_lines_comes_or_goes() {
    for (language, text) in EXAMPLES {
        for (ending, step) in [("\n", 3), ("\r\n", 11)] {
            let text = text.replace('\n', ending);
            let source = Source::parse(language, text.as_str()).unwrap();
            let items = items(&source);
            for one in &items {
                let block = content(&text[one.whole.clone()]);
                let after = plan_delete(&source, &one.whole, false).apply(&text);
                let mut rest = content(&after);
                rest.extend(block);
                rest.sort_unstable();
                assert_eq!(rest, content(&text), "delete {}", one.name);
                for other in items.iter().step_by(step) {
                    let apart =
                        one.whole.end <= other.whole.start || other.whole.end <= one.whole.start;
                    let swapped = plan_swap(&source, &one.whole, &other.whole);
                    assert_eq!(swapped.is_some(), apart);
                    let places = [
                        InsertionPoint::Before(other.whole.clone()),
                        InsertionPoint::After(other.whole.clone()),
                    ];
                    let moved = places
                        .iter()
                        .filter(|_| apart)
                        .filter_map(|place| plan_move(&source, &one.whole, place, false));
                    for arrangement in moved.chain(swapped) {
                        let after = arrangement.apply(&text);
                        assert_eq!(content(&after), content(&text), "{} {}", one.name, other.name);
                        let placed = content(&after[arrangement.placed.clone()]).len();
                        assert!(placed > 0);
                    }
                }
            }
        }
    }
}

#[test]
fn move_and_move_back_is_the_identity() {
    // In files whose items are all as far from each other.
    let mut tried = 0;
    for gap in [0, 1, 2] {
        for count in [2, 3, 4] {
            for nested in [false, true] {
                let item = |index: usize| {
                    let pad = if nested { "    " } else { "" };
                    format!(
                        "{pad}/// Doc {index}.\n{pad}fn f{index}() {{\n{pad}    go();\n\n{pad}}}\n"
                    )
                };
                let all: Vec<_> = (0..count).map(item).collect();
                let body = all.join(&"\n".repeat(gap));
                let text = if nested { format!("mod m {{\n{body}}}\n") } else { body };
                let source = Source::parse(Language::Rust, text.as_str()).unwrap();
                for from in 0..count {
                    for to in (0..count).filter(|to| *to != from) {
                        let name = |index: usize| format!("f{index}");
                        for word in ["before", "after"] {
                            let there = format!("move {} {word} {}", name(from), name(to));
                            let Some(moved) = arrange(&source, &there) else { continue };
                            let text_there = moved.apply(&text);
                            let source =
                                Source::parse(Language::Rust, text_there.as_str()).unwrap();
                            let back = match from + 1 < count {
                                true => format!("move {} before {}", name(from), name(from + 1)),
                                false => format!("move {} after {}", name(from), name(from - 1)),
                            };
                            let back = arrange(&source, &back).unwrap();
                            assert_eq!(back.apply(&text_there), text, "{there}");
                            tried += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
}
