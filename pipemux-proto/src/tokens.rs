//! An estimate of what a text costs a model, in tokens of OpenAI's o200k vocabulary.
//!
//! Budgets and receipts need a count for every answer; the real tokenizer's tables are megabytes and
//! its code slower by an order of magnitude. Most of the count doesn't need them: o200k first cuts a
//! text into pieces by a fixed pattern (a word with the one space or sign before it, up to three
//! digits, a run of signs with the newlines behind it, a run of white space), and nearly every piece
//! is one token. So this follows that pattern character by character and adds, for the pieces that
//! are usually more than one token, a cost per character beyond a length:
//!
//! | class | cost, and why |
//! |---|---|
//! | word | 1, then a little per letter past 4 or 5: long words split. Grammar knows three spellings (`word`, `Word`, `WORD`); a capital inside a word starts a new one, as the pattern does |
//! | word after a single sign | shares the sign's token when the pair is common: `(` `.` `_` and tab mostly, others less |
//! | digits | 1 per group of three; they take no space with them, so a space before costs 1 |
//! | signs | 1 per run of up to three, which cover most operators; repeats (`-----`) stay cheap |
//! | white space | the space before a word or sign is free, an indent 1, newlines 1, or 0 after signs |
//! | Han, kana, Hangul, South-East Asian | the first 1, then a fraction each: common pairs and phrases are tokens |
//! | other letters | 1, then a fraction each: alphabets have longer tokens, but fewer than ASCII |
//! | the rest | 1; beyond the basic plane (emoji) 2 |
//!
//! Error on texts that took no part in the fitting, whole class at once, and the worst single text
//! of at least 5 KB in it:
//!
//! TABLE
//!
//! Costs are never negative and depend only on what came before, so appending never lowers the
//! estimate; and `estimate(a + b) <= estimate(a) + estimate(b) + 1`, and at least either part.

/// Estimates how many o200k tokens a text is; 0 for an empty one. Linear in the text's length.
pub fn estimate(text: &str) -> u64 {
    let mut hundredths = 0;
    let mut state = START;
    let mut previous = 'a'; // Any that is no sign.
    for c in text.chars() {
        let class = match class(c) {
            Class::Join | Class::Sign | Class::Other if c == previous => Class::Same,
            class => class,
        };
        let step = STEPS[state as usize + class as usize];
        hundredths += u64::from(step.cost);
        state = step.next;
        previous = c;
    }
    hundredths.div_ceil(TOKEN)
}

/// Costs are in hundredths of a token, so that sums are exact.
const TOKEN: u64 = 100;

/// What a character is to the pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    Tab,
    Newline,
    /// A sign that often shares a token with the word behind it.
    Join,
    Sign,
    /// The same sign or other mark as just before; only [`estimate`] can tell.
    Same,
    Han,
    /// Kana, Hangul, and the scripts of South-East Asia, whose tokens are as short.
    Syllable,
    Letter,
    Other,
    Astral,
}

const CLASSES: [Class; 14] = [
    Class::Lower,
    Class::Upper,
    Class::Digit,
    Class::Space,
    Class::Tab,
    Class::Newline,
    Class::Join,
    Class::Sign,
    Class::Same,
    Class::Han,
    Class::Syllable,
    Class::Letter,
    Class::Other,
    Class::Astral,
];

const ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b' ' => Class::Space,
            b'\t' => Class::Tab,
            b'\n' | b'\r' => Class::Newline,
            b'(' | b'.' | b'_' => Class::Join,
            b'!'..=b'~' => Class::Sign,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

#[inline]
fn class(c: char) -> Class {
    match ASCII.get(c as usize) {
        Some(class) => *class,
        None => wide_class(c),
    }
}

fn wide_class(c: char) -> Class {
    match c {
        '\u{e00}'..='\u{1dff}' | '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7af}' => {
            Class::Syllable
        }
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Class::Han,
        // Typographic marks, full-width punctuation: « — “ … 。「」，：
        '\u{a1}'..='\u{bf}' | '\u{2010}'..='\u{2027}' => Class::Sign,
        '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' => Class::Sign,
        '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff65}' => Class::Sign,
        // The alphabets, their marks included: those are part of the words.
        '\u{c0}'..='\u{dff}' | '\u{1e00}'..='\u{1fff}' => Class::Letter,
        '\u{10000}'.. => Class::Astral,
        c if c.is_alphabetic() => Class::Letter,
        _ => Class::Other,
    }
}

/// What stands before a word and, as the pattern has it, belongs to it.
#[derive(Clone, Copy)]
enum Lead {
    Bare,
    Space,
    Join,
    Sign,
}

#[derive(Clone, Copy)]
enum Case {
    Lower,
    Capital,
    Upper,
}

/// The run that the last character was in.
#[derive(Clone, Copy)]
enum Run {
    Start,
    Space,
    /// White space that ends in a tab: unlike a space it joins words only.
    Tab,
    Newline,
    /// One sign with no space before it: the next word takes it along.
    Join,
    Sign,
    /// Several signs, or one that took the space before it: the next word stands alone.
    Signs,
    Digits,
    /// Han and syllables, mixed as they come.
    Ideographs,
    Letters,
    Other,
    Word(Lead, Case),
}

const RUNS: [Run; 23] = [
    Run::Start,
    Run::Space,
    Run::Tab,
    Run::Newline,
    Run::Join,
    Run::Sign,
    Run::Signs,
    Run::Digits,
    Run::Ideographs,
    Run::Letters,
    Run::Other,
    Run::Word(Lead::Bare, Case::Lower),
    Run::Word(Lead::Bare, Case::Capital),
    Run::Word(Lead::Bare, Case::Upper),
    Run::Word(Lead::Space, Case::Lower),
    Run::Word(Lead::Space, Case::Capital),
    Run::Word(Lead::Space, Case::Upper),
    Run::Word(Lead::Join, Case::Lower),
    Run::Word(Lead::Join, Case::Capital),
    Run::Word(Lead::Join, Case::Upper),
    Run::Word(Lead::Sign, Case::Lower),
    Run::Word(Lead::Sign, Case::Capital),
    Run::Word(Lead::Sign, Case::Upper),
];

const fn place(run: Run) -> usize {
    match run {
        Run::Start => 0,
        Run::Space => 1,
        Run::Tab => 2,
        Run::Newline => 3,
        Run::Join => 4,
        Run::Sign => 5,
        Run::Signs => 6,
        Run::Digits => 7,
        Run::Ideographs => 8,
        Run::Letters => 9,
        Run::Other => 10,
        Run::Word(lead, case) => 11 + lead as usize * 3 + case as usize,
    }
}

/// What a word costs, in hundredths: its first letter, how many letters that covers, and each letter
/// more. Fitted to o200k counts of 350 texts (5–30 KB each: English prose and READMEs, Chinese news,
/// reviews and manual pages, Rust, Python, TypeScript, JSON, windows), each class weighing the same.
const fn word(lead: Lead, case: Case) -> (u16, usize, u16) {
    match (lead, case) {
        (Lead::Bare, Case::Lower) => (100, 5, 6),
        (Lead::Bare, Case::Capital) => (100, 4, 6),
        (Lead::Bare, Case::Upper) => (100, 2, 18),
        (Lead::Space, Case::Lower) => (100, 5, 6),
        (Lead::Space, Case::Capital) => (100, 4, 9),
        (Lead::Space, Case::Upper) => (100, 2, 18),
        // What the sign already cost covers most of these.
        (Lead::Join, Case::Lower) => (5, 4, 14),
        (Lead::Join, Case::Capital) => (25, 1, 11),
        (Lead::Join, Case::Upper) => (25, 1, 15),
        (Lead::Sign, Case::Lower) => (15, 1, 11),
        (Lead::Sign, Case::Capital) => (25, 1, 10),
        (Lead::Sign, Case::Upper) => (25, 1, 20),
    }
}

/// From this length on a word is no word, and every letter costs [`LONG_COST`] whatever came before.
const LONG: usize = 12;
const LONG_COST: u16 = 20;
/// `HTTPServer`: capitals are one piece with the word behind them, but rarely one token.
const UPPER_TO_LOWER: u16 = 50;
/// Further signs of a run, and one that repeats the sign before it; fitted as [`word`] is.
const SECOND_SIGN: u16 = 2;
const THIRD_SIGN: u16 = 15;
const LATER_SIGN: u16 = 55;
const SAME_SIGN: u16 = 8;
/// `────`: rules drawn with other characters.
const SAME_OTHER: u16 = 25;
/// Each further character of a run. Han is fitted as [`word`] is; the others are set by o200k counts
/// of a paragraph each of Russian, Greek, Arabic, Hindi, German, French, Japanese and Korean.
const HAN: u16 = 76;
const SYLLABLE: u16 = 55;
const LETTER: u16 = 15;

/// The next run, how long it is (as far as that matters), and the character's cost.
const fn step(run: Run, length: usize, class: Class) -> (Run, usize, u16) {
    match class {
        Class::Lower | Class::Upper => step_word(run, length, matches!(class, Class::Upper)),
        Class::Digit => match run {
            Run::Digits if length < 3 => (run, length + 1, 0),
            Run::Space | Run::Tab => (Run::Digits, 1, 200),
            _ => (Run::Digits, 1, 100),
        },
        Class::Space | Class::Tab => {
            let next = if matches!(class, Class::Tab) { Run::Tab } else { Run::Space };
            match run {
                Run::Space | Run::Tab if length == 1 => (next, 2, 100),
                Run::Space | Run::Tab => (next, 2, 0),
                _ => (next, 1, 0),
            }
        }
        Class::Newline => match run {
            Run::Newline | Run::Join | Run::Sign | Run::Signs => (Run::Newline, 1, 0),
            Run::Space | Run::Tab if length > 1 => (Run::Newline, 1, 0),
            _ => (Run::Newline, 1, 100),
        },
        Class::Same if matches!(run, Run::Other) => (Run::Other, 1, SAME_OTHER),
        Class::Join | Class::Sign | Class::Same => match run {
            Run::Join | Run::Sign | Run::Signs => {
                let cost = match (class, length) {
                    (Class::Same, _) => SAME_SIGN,
                    (_, 1) => SECOND_SIGN,
                    (_, 2) => THIRD_SIGN,
                    _ => LATER_SIGN,
                };
                (Run::Signs, if length < 3 { length + 1 } else { 3 }, cost)
            }
            Run::Space => (Run::Signs, 1, 100),
            Run::Tab => (if matches!(class, Class::Join) { Run::Join } else { Run::Sign }, 1, 200),
            _ => (if matches!(class, Class::Join) { Run::Join } else { Run::Sign }, 1, 100),
        },
        Class::Han => (Run::Ideographs, 1, if matches!(run, Run::Ideographs) { HAN } else { 100 }),
        Class::Syllable => {
            (Run::Ideographs, 1, if matches!(run, Run::Ideographs) { SYLLABLE } else { 100 })
        }
        Class::Letter => {
            let inside = matches!(run, Run::Letters | Run::Word(..));
            (Run::Letters, 1, if inside { LETTER } else { 100 })
        }
        Class::Other => (Run::Other, 1, 100),
        Class::Astral => (Run::Other, 1, 200),
    }
}

const fn step_word(run: Run, length: usize, upper: bool) -> (Run, usize, u16) {
    let (lead, case) = match (run, upper) {
        (Run::Word(_, Case::Upper), false) => {
            return (Run::Word(Lead::Bare, Case::Capital), 2, UPPER_TO_LOWER);
        }
        (Run::Word(lead, case), false) => (lead, case),
        (Run::Word(lead, Case::Capital), true) if length == 1 => (lead, Case::Upper),
        (Run::Word(lead, Case::Upper), true) => (lead, Case::Upper),
        _ => {
            let lead = match run {
                Run::Space => Lead::Space,
                Run::Tab | Run::Join => Lead::Join,
                Run::Sign | Run::Letters => Lead::Sign,
                _ => Lead::Bare,
            };
            let case = if upper { Case::Capital } else { Case::Lower };
            // A tab, unlike a sign, has cost nothing yet.
            let tab = if matches!(run, Run::Tab) { 100 } else { 0 };
            return (Run::Word(lead, case), 1, tab + word(lead, case).0);
        }
    };
    let (_, covered, more) = word(lead, case);
    let next = if length < LONG { length + 1 } else { length };
    let cost = if length == LONG {
        LONG_COST
    } else if next > covered {
        more
    } else {
        0
    };
    (Run::Word(lead, case), next, cost)
}

/// [`step`] for every state and class, so that a character costs one look-up. A state is a run and its
/// length, and stands for the place where its row begins.
static STEPS: [Step; RUNS.len() * LENGTHS * CLASSES.len()] = {
    let mut steps = [Step { next: 0, cost: 0 }; RUNS.len() * LENGTHS * CLASSES.len()];
    let mut at = 0;
    while at < steps.len() {
        let (state, class) = (at / CLASSES.len(), CLASSES[at % CLASSES.len()]);
        let (run, length, cost) = step(RUNS[state / LENGTHS], state % LENGTHS, class);
        let next = (place(run) * LENGTHS + length) * CLASSES.len();
        steps[at] = Step { next: next as u16, cost };
        at += 1;
    }
    steps
};

#[derive(Clone, Copy)]
struct Step {
    next: u16,
    cost: u16,
}

const LENGTHS: usize = LONG + 1;
const START: u16 = 0;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn go(state: u16, class: Class) -> (u16, i64) {
        let step = STEPS[state as usize + class as usize];
        (step.next, i64::from(step.cost))
    }

    /// The least that a text costs that ends in each state.
    fn reachable() -> HashMap<u16, i64> {
        let mut least = HashMap::from([(START, 0)]);
        let mut open = vec![START];
        while let Some(state) = open.pop() {
            for class in CLASSES {
                let (next, cost) = go(state, class);
                let total = least[&state] + cost;
                if least.get(&next).is_none_or(|known| total < *known) {
                    least.insert(next, total);
                    open.push(next);
                }
            }
        }
        least
    }

    /// For every context at once, what the property test in `tests/` samples: a text costs at most a
    /// token more after another than alone, and saves at most what the other one costs.
    #[test]
    fn context_changes_a_text_by_at_most_a_token() {
        for (&start, &least) in reachable().iter().filter(|(state, _)| **state != START) {
            // How far the text in context is dearer, or cheaper, where both have come so far.
            let mut bounds = HashMap::from([((start, START), (0, 0))]);
            let mut open = vec![(start, START)];
            while let Some((inside, alone)) = open.pop() {
                let (cheaper, dearer) = bounds[&(inside, alone)];
                assert!(dearer <= 100, "{dearer} hundredths more after state {start}");
                assert!(-cheaper <= least, "{cheaper} of at least {least} after state {start}");
                for class in CLASSES {
                    // A repeat follows its like only; alone, a text can't begin with one.
                    let fresh = match (class, RUNS[inside as usize / CLASSES.len() / LENGTHS]) {
                        (Class::Same, Run::Join | Run::Sign | Run::Signs) if alone == START => {
                            vec![Class::Join, Class::Sign]
                        }
                        (Class::Same, Run::Other) if alone == START => vec![Class::Other],
                        (Class::Same, Run::Join | Run::Sign | Run::Signs | Run::Other) => {
                            vec![class]
                        }
                        (Class::Same, _) => vec![],
                        _ => vec![class],
                    };
                    for fresh in fresh {
                        let ((inside, cost), (alone, own)) = (go(inside, class), go(alone, fresh));
                        let now = (cheaper + cost - own, dearer + cost - own);
                        let known = bounds.entry((inside, alone)).or_insert((i64::MAX, i64::MIN));
                        if now.0 < known.0 || now.1 > known.1 {
                            *known = (known.0.min(now.0), known.1.max(now.1));
                            open.push((inside, alone));
                        }
                    }
                }
            }
        }
    }
}
