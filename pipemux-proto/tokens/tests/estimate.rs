//! The token estimate: near the true count on what windows hold, and lawful on anything.

use std::path::Path;

use pipemux_tokens::{Estimate, estimate};
use proptest::prelude::*;

const WORST_ERROR: f64 = 0.10;

#[test]
fn is_near_the_true_count() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    let counts = read("counts.tsv");
    let rows: Vec<_> = counts.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(rows.len(), 7, "a row a text");
    for (name, count) in rows {
        let text = read(name);
        assert!(text.len() > 5000, "{name} is too short to tell");
        let truth: f64 = count.parse().expect("a count");
        let estimated = estimate(&text) as f64;
        let error = estimated / truth - 1.0;
        assert!(error.abs() <= WORST_ERROR, "{name}: {estimated} for {truth}, {error:+.3}");
    }
}

#[test]
fn counts_what_the_transcripts_promise() {
    assert_eq!(estimate(""), 0);
    assert_eq!(estimate("word"), 1);
    assert_eq!(estimate("two words"), 2);
    assert_eq!(estimate("12\tlet"), 3, "a gutter costs what its number and the tab do");
    assert_eq!(estimate(&"\n".repeat(500)), 1);
    assert_eq!(estimate(&" ".repeat(500)), 1);
}

#[test]
fn charges_for_long_runs() {
    // A text can't hide its size in one run that the pattern takes for a single piece.
    for run in ["a", "Z", "1", "中", "か", "я", "#", "(", "─", "🚀", "\u{301}", "\0"] {
        let (few, many) = (estimate(&run.repeat(100)), estimate(&run.repeat(10_000)));
        assert!(many >= few * 50, "{run:?}: {few} then {many}");
    }
}

/// Characters of every class, the rare ones as often as the common.
const ALPHABET: [char; 28] = [
    'a', 'e', 't', 'A', 'Z', '1', '9', ' ', '\t', '\n', '\r', '.', '(', '_', '-', '"', '/', '中',
    '文', '。', 'か', '한', 'я', 'é', '─', '🚀', '\u{301}', '\0',
];

fn text() -> impl Strategy<Value = String> {
    let dense = prop::collection::vec(prop::sample::select(&ALPHABET[..]), 0..40);
    let runs = prop::collection::vec((prop::sample::select(&ALPHABET[..]), 1..20_usize), 0..8);
    prop_oneof![
        any::<String>(),
        dense.prop_map(String::from_iter),
        runs.prop_map(|runs| runs.iter().map(|(c, n)| c.to_string().repeat(*n)).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_text_in_parts_costs_what_it_costs_whole(parts in prop::collection::vec(text(), 0..6)) {
        let mut estimate_of_parts = Estimate::default();
        parts.iter().for_each(|part| estimate_of_parts.add(part));
        prop_assert_eq!(estimate_of_parts.tokens(), estimate(&parts.concat()));
    }

    #[test]
    fn the_kept_cost_of_lines_is_what_they_cost_anew(
        head in text(), lines in prop::collection::vec(text(), 1..6), tail in text(),
    ) {
        let mut all = Estimate::default();
        all.add(&head);
        all.add("\n");
        for line in &lines {
            let mut kept = Estimate::of_lines();
            kept.add(line);
            kept.add("\n");
            all.add_lines(kept);
        }
        all.add(&tail);
        prop_assert_eq!(all.tokens(), estimate(&format!("{head}\n{}\n{tail}", lines.join("\n"))));
    }

    #[test]
    fn adds_up(a in text(), b in text()) {
        let (whole, first, second) = (estimate(&format!("{a}{b}")), estimate(&a), estimate(&b));
        prop_assert!(whole <= first + second + 1, "{whole} > {first} + {second} + 1");
        prop_assert!(whole >= first.max(second), "{whole} < {first} or {second}");
    }

    #[test]
    fn never_falls_as_text_grows(text in text()) {
        let mut last = 0;
        for (end, _) in text.char_indices() {
            let now = estimate(&text[..end]);
            prop_assert!(now >= last, "{now} after {last} at {end}");
            last = now;
        }
    }
}
