//! The token estimate: close to the true count on the texts of windows, and consistent on any text.

use std::path::Path;

use pipemux_tokens::{Estimate, estimate};
use proptest::prelude::*;

const WORST_ERROR: f64 = 0.10;

#[test]
fn estimate_is_within_ten_percent_of_the_true_count() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    let counts = read("counts.tsv");
    let rows: Vec<_> = counts.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(rows.len(), 7, "one row for each text");
    for (name, count) in rows {
        let text = read(name);
        assert!(text.len() > 5000, "{name} is too short to be meaningful");
        let truth: f64 = count.parse().expect("a count");
        let estimated = estimate(&text) as f64;
        let error = estimated / truth - 1.0;
        assert!(error.abs() <= WORST_ERROR, "{name}: {estimated} for {truth}, {error:+.3}");
    }
}

#[test]
fn short_texts_have_their_exact_count() {
    assert_eq!(estimate(""), 0);
    assert_eq!(estimate("word"), 1);
    assert_eq!(estimate("two words"), 2);
    assert_eq!(estimate("12\tlet"), 3, "a line number costs as much as its digits and the tab");
    assert_eq!(estimate(&"\n".repeat(500)), 1);
    assert_eq!(estimate(&" ".repeat(500)), 1);
}

#[test]
fn long_runs_of_one_character_are_not_free() {
    // The pattern makes one piece of a run, but its cost must still grow with its length.
    for run in ["a", "Z", "1", "中", "か", "я", "#", "(", "─", "🚀", "\u{301}", "\0"] {
        let (few, many) = (estimate(&run.repeat(100)), estimate(&run.repeat(10_000)));
        assert!(many >= few * 50, "{run:?}: {few} then {many}");
    }
}

/// Characters of every class, rare ones as often as common ones.
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
    fn estimate_in_parts_equals_the_whole_estimate(parts in prop::collection::vec(text(), 0..6)) {
        let mut estimate_of_parts = Estimate::default();
        parts.iter().for_each(|part| estimate_of_parts.add(part));
        prop_assert_eq!(estimate_of_parts.tokens(), estimate(&parts.concat()));
    }

    #[test]
    fn kept_estimates_of_lines_add_up_to_the_whole_estimate(
        head in text(), lines in prop::collection::vec(text(), 1..6), tail in text(),
    ) {
        let mut all = Estimate::default();
        all.add(&head);
        all.add("\n");
        for line in &lines {
            let mut kept = Estimate::for_lines();
            kept.add(line);
            kept.add("\n");
            all.add_lines(kept);
        }
        all.add(&tail);
        prop_assert_eq!(all.tokens(), estimate(&format!("{head}\n{}\n{tail}", lines.join("\n"))));
    }

    #[test]
    fn estimate_of_a_concatenation_is_bounded_by_its_parts(a in text(), b in text()) {
        let (whole, first, second) = (estimate(&format!("{a}{b}")), estimate(&a), estimate(&b));
        prop_assert!(whole <= first + second + 1, "{whole} > {first} + {second} + 1");
        prop_assert!(whole >= first.max(second), "{whole} < {first} or {second}");
    }

    #[test]
    fn estimate_never_falls_as_text_grows(text in text()) {
        let mut last = 0;
        for (end, _) in text.char_indices() {
            let now = estimate(&text[..end]);
            prop_assert!(now >= last, "{now} after {last} at {end}");
            last = now;
        }
    }
}
