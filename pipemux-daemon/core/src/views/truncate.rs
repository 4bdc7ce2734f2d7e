//! Truncates texts to a number of tokens: what is cut ends with a line that leads to the rest.
//!
//! Outcomes of steps are cut while they are written, before the windows: what they show besides
//! their briefs, then long briefs. What is still too much is taken from the windows
//! (`answers::fit`). How the run ended and a question are never cut: their length is bounded where
//! they are taken in.

use pipemux_tokens::{Estimate, estimate};

use crate::text::clip;

/// Tokens that an answer may take for one step, however many there are.
const STEP_TOKENS: u64 = 60;

/// Characters of a step's first line that always stay.
const STEP_CHARS: usize = 160;

/// Tokens for the line that says what was cut, and for closing a fence.
pub const CUT_LINE_TOKENS: u64 = 16;

/// Cuts a text to about a number of tokens, at the end of a line, and says how many lines were cut.
/// A fence that is open there is closed.
pub fn cut_lines(text: &str, tokens: u64) -> String {
    let all = estimate(text);
    if all <= tokens {
        return text.to_owned();
    }
    cut_lines_with(text, tokens, |lines| more_lines(lines, all))
}

/// Cuts a text that is too long, as [`cut_lines`] does; `more` says how many lines were cut.
pub fn cut_lines_with(text: &str, tokens: u64, more: impl FnOnce(usize) -> String) -> String {
    let room = tokens.saturating_sub(CUT_LINE_TOKENS);
    let (mut kept, mut counted) = (0, Estimate::default());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        counted.add(line);
        if counted.tokens() > room {
            break;
        }
        kept += line.len();
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        fence = match fence {
            None if ticks.len() >= 3 => Some(ticks),
            Some(open) if line.trim_end() == open => None,
            other => other,
        };
    }
    let (head, rest) = text.split_at(kept);
    let closing = fence.map_or(String::new(), |fence| format!("{fence}\n"));
    let end = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{end}{closing}{}", more(rest.lines().count()))
}

/// Cuts a list whose newest lines come last to about a number of tokens, and says how many lines
/// were cut.
pub fn cut_older_lines(text: &str, tokens: u64) -> String {
    match newest_lines(text, tokens) {
        ("", kept) => kept.to_owned(),
        (older, kept) => more_lines(older.lines().count(), estimate(text)) + kept,
    }
}

/// Splits a text into the older lines and the newest ones that have room in about a number of
/// tokens, beside a line that says how many were cut.
pub fn newest_lines(text: &str, tokens: u64) -> (&str, &str) {
    if estimate(text) <= tokens {
        return ("", text);
    }
    let room = tokens.saturating_sub(CUT_LINE_TOKENS);
    let (mut start, mut counted) = (text.len(), Estimate::default());
    for line in text.split_inclusive('\n').rev() {
        counted.add(line);
        if counted.tokens() > room {
            break;
        }
        start -= line.len();
    }
    text.split_at(start)
}

fn more_lines(lines: usize, all: u64) -> String {
    // An answer has a few tokens besides.
    let enough = all + all / 10 + 60;
    format!("… {lines} more lines: repeat it with --budget {enough}\n")
}

/// Shortens the longest texts until all are shorter by `excess` tokens together; short ones stay
/// whole as long as there is room for them.
pub fn cut_contents(contents: &mut [String], excess: u64) {
    let mut costs: Vec<u64> = contents.iter().map(|content| estimate(content)).collect();
    costs.sort_unstable();
    let mut room = costs.iter().sum::<u64>().saturating_sub(excess);
    let mut most = u64::MAX;
    for (index, cost) in costs.iter().enumerate() {
        let share = room / (costs.len() - index) as u64;
        if *cost > share {
            most = share;
            break;
        }
        room -= cost;
    }
    for content in contents.iter_mut().filter(|content| !content.is_empty()) {
        *content = cut_lines(content, most);
    }
}

/// Joins what an answer says of steps, in about a number of tokens: what is too long is cut to its
/// first lines, then the first steps are only counted. The last ones say how the run ended, and
/// always stay.
pub fn cut_steps(steps: Vec<String>, tokens: u64) -> String {
    let whole = steps.concat();
    if estimate(&whole) <= tokens {
        return whole;
    }
    // A step may take what its share is, and in any case its line and where the rest is.
    let told = steps.iter().filter(|step| !step.is_empty()).count().max(1) as u64;
    let share = (tokens / told).max(STEP_TOKENS);
    let short: Vec<String> = steps
        .iter()
        .map(|step| match estimate(step) > share {
            true => cut_step(step, share),
            false => step.clone(),
        })
        .collect();
    let mut left = tokens.saturating_sub(CUT_LINE_TOKENS);
    let fits = |step: &&String| {
        let cost = estimate(step);
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    };
    let kept = short.iter().rev().take_while(fits).count();
    let last = short.iter().rposition(|step| !step.is_empty()).unwrap_or_default();
    let first = (short.len() - kept).min(last);
    let earlier = match steps[..first].iter().filter(|step| !step.is_empty()).count() {
        0 => String::new(),
        1 => "1 earlier step: pipemux history --detail\n".to_owned(),
        earlier => format!("{earlier} earlier steps: pipemux history --detail\n"),
    };
    earlier + &short[first..].concat()
}

/// Cuts what an answer says of one step: its first line, with how it ended, always stays.
fn cut_step(step: &str, tokens: u64) -> String {
    let more = |lines| format!("… {lines} more lines: pipemux history --detail\n");
    let first = step.lines().next().unwrap_or_default();
    if estimate(first) + 2 * CUT_LINE_TOKENS <= tokens {
        return cut_lines_with(step, tokens.saturating_sub(CUT_LINE_TOKENS), more);
    }
    let head = clip(first, STEP_CHARS).into_owned() + "\n";
    match step.lines().count() {
        0 | 1 => head,
        lines => head + &more(lines - 1),
    }
}

/// Keeps the newest notices of apps, as far as about so many tokens hold them and those of the
/// daemon; the others are counted.
pub fn cut_notices(own: Vec<String>, mut of_apps: Vec<String>, tokens: u64) -> Vec<String> {
    let cost = |notice: &String| estimate(notice) + 1;
    let mut left = tokens.saturating_sub(own.iter().map(cost).sum());
    let fits = |notice: &&String| {
        let fits = cost(notice) <= left;
        left = left.saturating_sub(cost(notice));
        fits
    };
    let kept = of_apps.iter().rev().take_while(fits).count();
    let more = of_apps.len() - kept;
    let newest = of_apps.split_off(more);
    let told = (more > 0).then(|| format!("… {more} more notices were left out"));
    own.into_iter().chain(told).chain(newest).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_contents_stay_whole_beside_long_ones() {
        let rows = |rows: usize| "a row of words\n".repeat(rows);
        let mut contents = [rows(200), rows(4), String::new(), rows(300), rows(5)];
        let whole = contents.clone();
        let all: u64 = whole.iter().map(|content| estimate(content)).sum();
        cut_contents(&mut contents, all - 600);
        assert_eq!([&contents[1], &contents[4]], [&whole[1], &whole[4]]);
        let cut: u64 = contents.iter().map(|content| estimate(content)).sum();
        assert!((400..=640).contains(&cut), "{cut}");
        assert!(contents[0].contains("more lines") && contents[3].contains("more lines"));
    }

    proptest! {
        #[test]
        fn cut_text_keeps_to_its_tokens_and_closes_its_fence(
            lines in prop::collection::vec("[a-z 界🦀]{0,40}", 0..60),
            fenced: bool,
            tokens in 40_u64..400,
        ) {
            let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let text = if fenced { format!("```\n{body}```\n") } else { body };
            let cut = cut_lines(&text, tokens);
            prop_assert!(estimate(&cut) <= tokens + 8, "{} of {tokens}: {cut}", estimate(&cut));
            prop_assert_eq!(cut.matches("```").count() % 2, 0);
            prop_assert_eq!(cut == text, !cut.contains("more lines: repeat"));
            let older = cut_older_lines(&text, tokens);
            prop_assert!(estimate(&older) <= tokens + 8);
            prop_assert!(older == text || text.ends_with(older.split_once('\n').map_or("", |(_, rest)| rest)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn steps_keep_to_their_tokens_and_the_last_one_is_always_told(
            steps in prop::collection::vec(("[a-z ]{0,30}", 0_usize..40), 1..60),
            tokens in 100_u64..2_000,
        ) {
            let step = |(index, (text, lines)): (usize, &(String, usize))| {
                format!("{index} done · x\n{}", format!("{text}\n").repeat(*lines))
            };
            let steps: Vec<String> = steps.iter().enumerate().map(step).collect();
            let cut = cut_steps(steps.clone(), tokens);
            prop_assert!(estimate(&cut) <= tokens + STEP_TOKENS, "{}: {cut}", estimate(&cut));
            let last = format!("{} done", steps.len() - 1);
            prop_assert!(cut.contains(&last), "{last} in {cut}");
            // Each step is told or counted.
            let is_told = |n: &usize| {
                let line = format!("{n} done");
                cut.lines().any(|told| told.starts_with(&line))
            };
            let told = (0..steps.len()).filter(is_told).count();
            let counted = match cut.split_once(" earlier step") {
                Some((count, _)) => count.parse().unwrap(),
                None => 0,
            };
            prop_assert_eq!(told + counted, steps.len());
        }
    }
}
