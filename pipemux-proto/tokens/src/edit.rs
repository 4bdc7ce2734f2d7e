//! The estimate of lines after an edit of some of them.

use super::Estimate;

impl Estimate {
    /// Returns the estimate of the lines `after` an edit, as [`Estimate::for_lines`] gives it.
    /// `self` is the estimate of the lines `before` the edit; only the lines that differ are
    /// estimated.
    #[must_use]
    pub fn after_edit(&self, before: &str, after: &str) -> Self {
        crate::work::spend(before.len().min(after.len()));
        let begin = common_prefix(before, after);
        let (old, new) = (&before[begin..], &after[begin..]);
        let end = common_suffix(old, new);
        let (removed, added) = (&old[..old.len() - end], &new[..new.len() - end]);
        if removed.len() + added.len() > after.len() {
            return of(after);
        }
        let (removed, added) = (of(removed), of(added));
        let hundredths = self.hundredths - removed.hundredths + added.hundredths;
        if end > 0 { Self { hundredths, ..*self } } else { Self { hundredths, ..added } }
    }
}

fn of(lines: &str) -> Estimate {
    let mut cost = Estimate::for_lines();
    cost.add(lines);
    cost
}

/// Returns the length in bytes of the whole lines that both texts begin with.
fn common_prefix(one: &str, other: &str) -> usize {
    let (eights, _) = one.as_bytes().as_chunks::<SPAN>();
    let (others, _) = other.as_bytes().as_chunks::<SPAN>();
    let spans = eights.iter().zip(others).take_while(|(one, other)| one == other).count();
    let rest = one.bytes().zip(other.bytes()).skip(spans * SPAN);
    let same = spans * SPAN + rest.take_while(|(one, other)| one == other).count();
    one.as_bytes()[..same].iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1)
}

/// Returns the length in bytes of the whole lines that both texts end with; the last line may lack
/// its newline.
fn common_suffix(one: &str, other: &str) -> usize {
    let (_, eights) = one.as_bytes().as_rchunks::<SPAN>();
    let (_, others) = other.as_bytes().as_rchunks::<SPAN>();
    let pairs = eights.iter().rev().zip(others.iter().rev());
    let spans = pairs.take_while(|(one, other)| one == other).count();
    let rest = one.bytes().rev().zip(other.bytes().rev()).skip(spans * SPAN);
    let same = spans * SPAN + rest.take_while(|(one, other)| one == other).count();
    if same == one.len() && same == other.len() {
        return same;
    }
    let tail = &one.as_bytes()[one.len() - same..];
    tail.iter().position(|byte| *byte == b'\n').map_or(0, |first| same - first - 1)
}

/// Number of bytes that are compared at once.
const SPAN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines() -> impl Strategy<Value = Vec<String>> {
        let any = "[aZ1 \t\r.(\\-#`中。か─🚀\u{80}\0]{0,9}|[a-z ]{50,90}";
        let ascii = "[aZ1 \t\r.(\\-#`\0]{0,99}";
        prop_oneof![proptest::collection::vec(any, 0..40), proptest::collection::vec(ascii, 0..40)]
    }

    fn same(one: Estimate, other: Estimate) -> bool {
        // The cost of further text shows whether the states are equal.
        let more = |mut cost: Estimate| {
            cost.add(" a");
            cost.hundredths
        };
        let alike = (one.hundredths, one.state) == (other.hundredths, other.state);
        alike && more(one) == more(other)
    }

    #[test]
    fn long_lines_and_texts_without_final_newline_are_edited_correctly() {
        let huge = "one huge line, (中) ".repeat(50_000);
        let edited = huge.replacen("huge", "vast", 30_000);
        let crlf = huge.replace(", ", "\r\n");
        for before in ["", "\n", "a", "a\n", &huge, &crlf] {
            for after in ["", "\n", "a", "a\n", "\r\n", &huge, &edited, &crlf] {
                assert!(same(of(before).after_edit(before, after), of(after)));
            }
        }
    }

    proptest! {
        #[test]
        fn estimate_after_an_edit_equals_a_whole_estimate(
            (lines, removed, added) in lines().prop_flat_map(|before| {
                let most = before.len();
                (Just(before), (0..=most, 0..=most), lines())
            }),
            ends in any::<(bool, bool)>(),
        ) {
            let written = |lines: &[String], whole: bool| {
                let text = lines.join("\n");
                if whole { text + "\n" } else { text }
            };
            let (from, to) = (removed.0.min(removed.1), removed.0.max(removed.1));
            let edited = [&lines[..from], &added, &lines[to..]].concat();
            let (before, after) = (written(&lines, ends.0), written(&edited, ends.1));
            let known = of(&before);
            prop_assert!(same(known.after_edit(&before, &after), of(&after)), "{before:?} {after:?}");
            prop_assert!(same(known.after_edit(&before, &before), known));
        }

        #[test]
        fn estimating_lines_in_lanes_equals_estimating_each_character(
            lines in lines(),
            times in 1_usize..30,
            begin in "[a (\n]{0,3}",
        ) {
            let text = lines.join("\n").repeat(times);
            let (mut whole, mut plain) = (Estimate::default(), Estimate::default());
            whole.add(&begin);
            whole.add(&text);
            for c in begin.chars().chain(text.chars()) {
                plain.add(c.encode_utf8(&mut [0; 4]));
            }
            prop_assert!(same(whole, plain));
        }
    }
}
