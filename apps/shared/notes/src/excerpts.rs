//! Shows the lines of a text where words of a query were found.

use std::collections::VecDeque;

use crate::query::{Alternative, Query, Term};
use crate::tokenizer::{CharClass, Token, tokens};

/// A line of a text in which words of a query were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// The number of the line, from 1.
    pub number: u64,
    /// The line's text; a long line is cut around the found words, at word boundaries.
    pub text: String,
}

/// Most matches of one term that are looked at in one text.
const MATCHES_MAX: usize = 50;
/// Most characters of a line before the first match, and between two matches.
const SNIPPET_BEFORE: usize = 40;
/// Most characters of a line from the beginning of its last match.
const SNIPPET_AFTER: usize = 90;

/// A place where a term was found: the index of the term, and the range in bytes.
type Match = (usize, usize, usize);

/// Returns the lines of a text that show each word of the query which is found there: as few lines
/// as are needed, in their order.
pub fn found_lines(text: &str, query: &Query) -> Vec<FoundLine> {
    let matches = matches(text, query);
    let line_of = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let mut lines: Vec<(usize, Vec<Match>)> = Vec::new();
    for found in matches {
        let start = line_of(found.1);
        match lines.last_mut() {
            Some((at, matches)) if *at == start => matches.push(found),
            _ => lines.push((start, vec![found])),
        }
    }
    let mut wanted: Vec<usize> =
        lines.iter().flat_map(|(_, matches)| matches.iter().map(|found| found.0)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut chosen: Vec<usize> = Vec::new();
    while !wanted.is_empty() {
        let shows = |(_, matches): &(usize, Vec<Match>)| {
            wanted.iter().filter(|term| matches.iter().any(|found| found.0 == **term)).count()
        };
        // Of equal ones, `max_by_key` returns the last, so that reversing gives the first.
        let best = lines.iter().enumerate().rev().max_by_key(|(_, line)| shows(line));
        let Some((best, (_, matches))) = best else { break };
        wanted.retain(|term| matches.iter().all(|found| found.0 != *term));
        chosen.push(best);
    }
    chosen.sort_unstable();
    let line = |index: usize| {
        let (start, matches) = &lines[index];
        let number = text[..*start].matches('\n').count() as u64 + 1;
        FoundLine { number, text: cut_line(text, *start, matches) }
    };
    chosen.into_iter().map(line).collect()
}

/// Finds the terms of all alternatives in a text, in the order of the places.
fn matches(text: &str, query: &Query) -> Vec<Match> {
    let mut terms: Vec<&Term> = Vec::new();
    let mut found: Vec<Match> = Vec::new();
    for alternative in &query.alternatives {
        match alternative {
            Alternative::Terms(more) => {
                more.iter().for_each(|term| {
                    if !terms.contains(&term) {
                        terms.push(term);
                    }
                });
            }
            Alternative::Literal(literal) => {
                let places = text.match_indices(literal.as_str()).take(MATCHES_MAX);
                found.extend(places.map(|(at, part)| (usize::MAX, at, at + part.len())));
            }
        }
    }
    let Some(longest) = terms.iter().map(|term| term.tokens.len()).max() else { return found };
    let mut counts = vec![0; terms.len()];
    let mut window: VecDeque<Token> = VecDeque::new();
    for token in tokens(text) {
        if window.len() == longest {
            window.pop_front();
        }
        window.push_back(token);
        let window = &*window.make_contiguous();
        for (index, term) in terms.iter().enumerate() {
            let Some(from) = window.len().checked_sub(term.tokens.len()) else { continue };
            if counts[index] < MATCHES_MAX
                && let (true, [first, .., last] | [first @ last]) =
                    (term.matches(&window[from..]), &window[from..])
            {
                counts[index] += 1;
                found.push((index, first.start, last.end));
            }
        }
    }
    found.sort_by_key(|(_, start, _)| *start);
    found
}

/// Returns a line, which begins at `start`, or the parts of it around the matches.
fn cut_line(text: &str, start: usize, matches: &[Match]) -> String {
    let last = matches.iter().map(|found| found.2).max().unwrap_or(start);
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
    let mut shown: Vec<(usize, usize)> = Vec::new();
    let mut terms = Vec::new();
    for (term, from, to) in matches {
        // Each term is shown once.
        if terms.contains(term) {
            continue;
        }
        terms.push(*term);
        let before = &text[start..*from];
        let first = before.char_indices().rev().nth(SNIPPET_BEFORE - 1);
        let first = first.map_or(start, |(at, _)| {
            // In scripts with spaces, the cut is not within a word.
            start + before[at..].find(' ').map_or(at, |space| at + space + 1)
        });
        let after = &text[*to..end];
        let rest = SNIPPET_AFTER.saturating_sub(text[*from..*to].chars().count());
        let last = match after.char_indices().nth(rest) {
            None => end,
            // The match itself ends with its word.
            Some((at, _)) => {
                let within = after[at..].chars().next().is_some_and(is_spaced_word);
                let space = if within { after[..at].rfind(' ') } else { None };
                let word_end = || after.find(' ').unwrap_or(after.len());
                to + match (within, space) {
                    (true, Some(space)) => space,
                    (true, None) if after[..at].chars().all(is_spaced_word) => {
                        word_end().min(at * 4)
                    }
                    _ => at,
                }
            }
        };
        let last = text.floor_char_boundary(last);
        match shown.last_mut() {
            Some((_, end)) if first <= *end => *end = (*end).max(last),
            _ => shown.push((first, last)),
        }
    }
    let mut cut = String::new();
    for (index, (from, to)) in shown.iter().enumerate() {
        if index > 0 || *from > start {
            cut.push('…');
        }
        cut += &text[*from..*to].split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if shown.last().is_some_and(|(_, to)| *to < end) {
        cut.push('…');
    }
    cut
}

fn is_spaced_word(c: char) -> bool {
    CharClass::of(c) == CharClass::Word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Grammar;

    fn parse(text: &str) -> Query {
        Query::parse(text, Grammar::Words).unwrap_or_else(|| panic!("{text:?} is blank"))
    }

    fn lines(text: &str, query: &str) -> Vec<String> {
        let lines = found_lines(text, &parse(query)).into_iter();
        lines.map(|line| format!("{}: {}", line.number, line.text)).collect()
    }

    #[test]
    fn lines_show_each_word_that_was_found() {
        assert_eq!(lines("one\n  two Three\nfour", "thre"), ["2: two Three"]);
        assert_eq!(lines("数据库的全文检索", "检索"), ["1: 数据库的全文检索"]);
        assert_eq!(lines("a -> b", "->"), ["1: a -> b"]);
        assert_eq!(lines("nothing", "else"), [""; 0]);
        let text = "alpha\nbeta\ngamma alpha\nrust-version = 1.65\n";
        assert_eq!(lines(text, "alpha"), ["1: alpha"]);
        assert_eq!(lines(text, "gamma alpha"), ["3: gamma alpha"]);
        assert_eq!(lines(text, "beta rust-version"), ["2: beta", "4: rust-version = 1.65"]);
        assert_eq!(lines(text, "beta OR nothing"), ["2: beta"]);
    }

    #[test]
    fn long_line_is_cut_around_each_word_and_never_within_one() {
        let hay = "haystack ".repeat(50);
        let text = format!("{hay}needle {hay}thread {hay}");
        let [line] = &lines(&text, "needle thread")[..] else { panic!("one line") };
        let words =
            line.trim_start_matches("1: ").split(['…', ' ']).filter(|word| !word.is_empty());
        for word in words {
            assert!(["haystack", "needle", "thread"].contains(&word), "{line}");
        }
        assert!(line.contains(" needle ") && line.contains(" thread "), "{line}");
        assert!(line.chars().count() < 2 * (SNIPPET_BEFORE + SNIPPET_AFTER) + 10, "{line}");
        let long = "数".repeat(300) + "针" + &"数".repeat(300);
        let [line] = &lines(&long, "针")[..] else { panic!("one line") };
        assert!(line.chars().count() <= SNIPPET_BEFORE + SNIPPET_AFTER + 6, "{line}");
        // A word that is longer than what is shown is cut all the same.
        let word = "x".repeat(5000);
        assert!(lines(&format!("a {word}"), "a")[0].len() < 600);
    }
}
