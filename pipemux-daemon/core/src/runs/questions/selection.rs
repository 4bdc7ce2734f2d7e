//! Answers that choose among the options of a question: by number, by label, or with words.

use pipemux_proto::app::{Choice, QuestionKind};

use crate::foreign::{OptionItem, Question, bounds};

/// Most numbers that one answer may name.
const NUMBERS_MAX: usize = 100_000;

/// The options that the words of an answer select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The answer selects these options.
    Chosen(Choice),
    /// The answer cancels the step.
    Cancel,
    /// A label that several options have, or that is also a word with a meaning: the numbers of the
    /// options.
    Ambiguous(Vec<u32>),
    /// The answer has numbers that the question doesn't list.
    OutOfRange,
    /// Neither numbers nor labels.
    Other,
}

/// Reads words as a choice among the options of a question.
pub fn select(question: &Question, words: &str) -> Selection {
    let many = question.kind == QuestionKind::PickMany;
    let lower = words.trim().to_lowercase();
    let reserved = matches!(lower.as_str(), "cancel" | "none" | "no" | "n")
        || (many && (lower == "all" || lower.starts_with("all but ")));
    match (labelled(&question.options, words).as_slice(), reserved) {
        ([], _) => {}
        // A number is always that of an option.
        _ if numbers(&lower, count(question)).is_some() => {}
        ([one], false) => return Selection::Chosen(Choice::Picked(vec![*one])),
        (several, _) => return Selection::Ambiguous(several.to_vec()),
    }
    match lower.as_str() {
        "cancel" | "none" | "no" | "n" => return Selection::Cancel,
        "all" if many => return Selection::Chosen(Choice::AllBut(Vec::new())),
        _ => {}
    }
    // `all but ` has the same length in lower case.
    match lower.strip_prefix("all but ").and_then(|_| words.trim_start().get("all but ".len()..)) {
        Some(but) if many => chosen(question, but, Choice::AllBut),
        _ => match chosen(question, words, Choice::Picked) {
            Selection::Chosen(Choice::Picked(picked)) if !many && picked.len() != 1 => {
                Selection::OutOfRange
            }
            chosen => chosen,
        },
    }
}

/// Reads numbers and labels, separated by commas; numbers also by spaces.
fn chosen(question: &Question, text: &str, choice: impl Fn(Vec<u32>) -> Choice) -> Selection {
    if let Some(all) = numbers(text, count(question)) {
        return Selection::Chosen(choice(all));
    }
    let mut all = Vec::new();
    for part in text.split(',') {
        match numbers(part, count(question)) {
            Some(numbers) => all.extend(numbers),
            None => match labelled(&question.options, part).as_slice() {
                [one] => all.push(*one),
                [] if is_numeric(text) => return Selection::OutOfRange,
                [] => return Selection::Other,
                several => return Selection::Ambiguous(several.to_vec()),
            },
        }
    }
    all.sort_unstable();
    all.dedup();
    Selection::Chosen(choice(all))
}

/// The number of options of a question, listed or not.
fn count(question: &Question) -> u64 {
    (question.options.len() as u64).saturating_add(question.unlisted)
}

/// The numbers of the options with a label; those that differ in upper and lower case count only
/// when none has exactly this one.
fn labelled(options: &[OptionItem], label: &str) -> Vec<u32> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let label = words(label);
    if label.is_empty() {
        return Vec::new();
    }
    let matching = |fits: &dyn Fn(&str) -> bool| -> Vec<u32> {
        let numbered = (1..).zip(options);
        let fits = |option: &OptionItem| option.label.borrow().fits(|text| fits(&words(text)));
        numbered.filter(|(_, option)| fits(option)).map(|(n, _)| n).collect()
    };
    let exact = matching(&|other| other == label);
    let folded = label.to_lowercase();
    let found =
        if exact.is_empty() { matching(&|other| other.to_lowercase() == folded) } else { exact };
    match label.strip_prefix("all in ") {
        // An option may stand for all of a file.
        Some(whole) if found.is_empty() => labelled(options, whole),
        _ => found,
    }
}

/// Gives options whose line would be the same distinct labels: `main (1)`, `main (2)`.
pub fn make_distinct(options: &mut [OptionItem]) {
    let same = |a: &OptionItem, b: &OptionItem| a.label == b.label && a.text == b.text;
    let counts: Vec<Option<usize>> = options
        .iter()
        .enumerate()
        .map(|(index, option)| {
            let others = options.iter().filter(|other| same(other, option)).count();
            let before = options[..index].iter().filter(|other| same(other, option)).count();
            (others > 1).then_some(before + 1)
        })
        .collect();
    for (option, count) in options.iter_mut().zip(counts) {
        if let Some(count) = count {
            bounds::append(&mut option.label, &format!(" ({count})"));
        }
    }
}

/// Numbers between 1 and `count`, separated by commas or spaces; ranges count. Sorted, each once.
fn numbers(text: &str, count: u64) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?),
            None => (part.parse().ok()?, part.parse().ok()?),
        };
        let valid = first >= 1 && first <= last && u64::from(last) <= count;
        if !valid || all.len() + (last - first) as usize > NUMBERS_MAX {
            return None;
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then_some(all)
}

/// True for numbers and ranges, whether there are such options or not.
fn is_numeric(text: &str) -> bool {
    let sign = |c: char| c.is_ascii_digit() || matches!(c, ',' | ' ' | '-');
    text.chars().all(sign) && text.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(kind: QuestionKind, labels: &[&str]) -> Question {
        let option = |label: &&str| OptionItem { label: (*label).into(), text: "".into() };
        let options = labels.iter().map(option).collect();
        Question { text: "?".into(), kind, options, unlisted: 0, ..Question::default() }
    }

    fn picked(numbers: &[u32]) -> Selection {
        Selection::Chosen(Choice::Picked(numbers.to_vec()))
    }

    fn all_but(numbers: &[u32]) -> Selection {
        Selection::Chosen(Choice::AllBut(numbers.to_vec()))
    }

    #[test]
    fn options_are_chosen_by_number_or_label() {
        let one = question(QuestionKind::PickOne, &["overwrite", "reload", "Line 57"]);
        for (words, expected) in [
            ("2", picked(&[2])),
            ("reload", picked(&[2])),
            (" RELOAD ", picked(&[2])),
            ("line  57", picked(&[3])),
            ("none", Selection::Cancel),
            ("1,2", Selection::OutOfRange),
            ("4", Selection::OutOfRange),
            ("0", Selection::OutOfRange),
            ("all", Selection::Other),
            ("relod", Selection::Other),
            ("", Selection::Other),
        ] {
            assert_eq!(select(&one, words), expected, "{words:?}");
        }
    }

    #[test]
    fn several_options_are_chosen_at_once() {
        let many = question(QuestionKind::PickMany, &["a", "b, c", "d"]);
        for (words, expected) in [
            ("1,3", picked(&[1, 3])),
            ("3 1", picked(&[1, 3])),
            ("1-3", picked(&[1, 2, 3])),
            ("a,d", picked(&[1, 3])),
            ("a, 3", picked(&[1, 3])),
            ("b, c", picked(&[2])),
            ("all", all_but(&[])),
            ("all but 2", all_but(&[2])),
            ("ALL BUT a,d", all_but(&[1, 3])),
            ("all but 9", Selection::OutOfRange),
            ("all but x", Selection::Other),
            ("1,9", Selection::OutOfRange),
        ] {
            assert_eq!(select(&many, words), expected, "{words:?}");
        }
    }

    #[test]
    fn label_of_several_options_or_of_a_word_is_ambiguous() {
        let same = question(QuestionKind::PickOne, &["a", "b", "a", "none", "3"]);
        assert_eq!(select(&same, "a"), Selection::Ambiguous(vec![1, 3]));
        assert_eq!(select(&same, "none"), Selection::Ambiguous(vec![4]));
        assert_eq!(select(&same, "cancel"), Selection::Cancel);
        // A number is always that of an option.
        assert_eq!(select(&same, "3"), picked(&[3]));
        let cased = question(QuestionKind::PickOne, &["A", "a"]);
        assert_eq!(select(&cased, "a"), picked(&[2]));
    }

    #[test]
    fn options_with_the_same_line_get_distinct_labels() {
        let mut options = question(QuestionKind::PickOne, &["a", "b", "a"]).options;
        make_distinct(&mut options);
        let labels: Vec<_> = options.iter().map(|option| &option.label).collect();
        assert_eq!(labels, ["a (1)", "b", "a (2)"]);
        let mut told = question(QuestionKind::PickOne, &["a", "a"]).options;
        told[0].text = "first".into();
        make_distinct(&mut told);
        assert_eq!(told[1].label, "a");
    }
}
