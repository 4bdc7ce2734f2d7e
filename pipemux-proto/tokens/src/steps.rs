//! The pattern as a state machine: the cost of each character depends on the run before it.

use super::class::{CLASSES, Class};

/// Costs are in hundredths of a token, so that sums are exact.
pub(super) const TOKEN: u64 = 100;

/// The result of [`step`] for every state and class, so that each character costs one look-up. A
/// state consists of a run and its length; its number is the index at which its row begins. The
/// table's length is a power of two, which makes the remainder in the look-up a mask; entries after
/// the last state are unused.
pub(super) static STEPS: [Step; CELLS.next_power_of_two()] = {
    let mut steps = [Step { next: 0, cost: 0 }; CELLS.next_power_of_two()];
    let mut at = 0;
    while at < CELLS {
        let (state, class) = (at / CLASSES.len(), CLASSES[at % CLASSES.len()]);
        let (run, length, cost) = step(RUNS[state / LENGTHS], state % LENGTHS, class);
        let next = (row(run) * LENGTHS + length) * CLASSES.len();
        steps[at] = Step { next: next as u16, cost };
        at += 1;
    }
    steps
};

#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) next: u16,
    pub(super) cost: u16,
}

const LENGTHS: usize = LONG + 1;
const CELLS: usize = RUNS.len() * LENGTHS * CLASSES.len();
/// The state before the first character.
pub(super) const START: u16 = 0;
/// The state after a newline, whatever came before it.
pub(super) const NEWLINE: u16 = ((row(Run::Newline) * LENGTHS + 1) * CLASSES.len()) as u16;

/// The character before a word that the pattern includes in the word's piece.
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

/// The kind of run that the last character belongs to.
#[derive(Clone, Copy)]
enum Run {
    Start,
    Space,
    /// White space that ends in a tab, which the pattern includes in a following word only.
    Tab,
    Newline,
    /// One sign with no space before it; the pattern includes it in the next word.
    Join,
    Sign,
    /// Several signs, or one with a space before it; the next word is a piece of its own.
    Signs,
    Digits,
    /// Han and syllables in any mixture.
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

const fn row(run: Run) -> usize {
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

/// Returns the cost of a word in hundredths: of its first letter, the number of letters that this
/// cost covers, and the cost of each further letter. The costs were fitted to the o200k counts of
/// 348 texts (5–30 KB each: English prose and READMEs, Chinese news, reviews and manual pages,
/// Rust, Python, TypeScript, JSON, windows) with equal weight for each class. They were then
/// adjusted by a few hundredths, so that the property tested below holds exactly.
const fn word(lead: Lead, case: Case) -> (u16, usize, u16) {
    match (lead, case) {
        (Lead::Bare, Case::Lower) => (100, 5, 6),
        (Lead::Bare, Case::Capital) => (100, 4, 6),
        (Lead::Bare, Case::Upper) => (100, 2, 18),
        (Lead::Space, Case::Lower) => (100, 5, 6),
        (Lead::Space, Case::Capital) => (100, 4, 9),
        (Lead::Space, Case::Upper) => (100, 2, 18),
        // The sign's own cost already covers most of these words.
        (Lead::Join, Case::Lower) => (5, 4, 14),
        (Lead::Join, Case::Capital) => (25, 1, 11),
        (Lead::Join, Case::Upper) => (25, 1, 15),
        (Lead::Sign, Case::Lower) => (15, 1, 11),
        (Lead::Sign, Case::Capital) => (25, 1, 10),
        (Lead::Sign, Case::Upper) => (25, 1, 20),
    }
}

/// From this length on every further letter costs [`LONG_COST`]: such a run is hardly a word.
const LONG: usize = 12;
const LONG_COST: u16 = 20;
/// Capitals and the word after them (`HTTPServer`) are one piece, but rarely one token.
const UPPER_TO_LOWER: u16 = 50;
/// The costs of further signs of a run, and of a sign that repeats the one before; fitted like
/// [`word`].
const SECOND_SIGN: u16 = 2;
const THIRD_SIGN: u16 = 15;
const LATER_SIGN: u16 = 55;
const SAME_SIGN: u16 = 8;
/// The cost of repeating another character, as in a drawn line (`────`).
const SAME_OTHER: u16 = 25;
/// The costs of each further character of a run. Han is fitted like [`word`]; the others follow the
/// o200k counts of one paragraph each in Russian, Greek, Arabic, Hindi, German, French, Japanese
/// and Korean.
const HAN: u16 = 76;
const SYLLABLE: u16 = 55;
const LETTER: u16 = 15;

/// Returns the next run, its length as far as it matters, and the character's cost.
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
            // Unlike a sign, the tab itself has had no cost.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn step_of(state: u16, class: Class) -> (u16, i64) {
        let step = STEPS[state as usize + class as usize];
        (step.next, i64::from(step.cost))
    }

    /// Returns the smallest cost of a text that ends in each state.
    fn reachable() -> HashMap<u16, i64> {
        let mut least = HashMap::from([(START, 0)]);
        let mut open = vec![START];
        while let Some(state) = open.pop() {
            for class in CLASSES {
                let (next, cost) = step_of(state, class);
                let total = least[&state] + cost;
                if least.get(&next).is_none_or(|known| total < *known) {
                    least.insert(next, total);
                    open.push(next);
                }
            }
        }
        least
    }

    /// Checks in every context what the property test in `tests/` samples: after another text, a
    /// text costs at most one token more than alone, and saves at most what the other text costs.
    #[test]
    fn context_changes_the_cost_of_a_text_by_at_most_one_token() {
        for (&start, &least) in reachable().iter().filter(|(state, _)| **state != START) {
            // The range of the difference in cost between the text in context and the text alone.
            let mut bounds = HashMap::from([((start, START), (0, 0))]);
            let mut open = vec![(start, START)];
            while let Some((inside, alone)) = open.pop() {
                let (cheaper, dearer) = bounds[&(inside, alone)];
                assert!(dearer <= 100, "{dearer} hundredths more after state {start}");
                assert!(-cheaper <= least, "{cheaper} of at least {least} after state {start}");
                for class in CLASSES {
                    // A repetition needs an equal character before it, so a text can't begin with
                    // one.
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
                        let ((inside, cost), (alone, own)) =
                            (step_of(inside, class), step_of(alone, fresh));
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
