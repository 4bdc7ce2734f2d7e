//! Several parts of a text at once: each character's step waits for the one before it, and a processor has
//! time for others meanwhile.

use super::{Estimate, byte_class, step_from};

/// Parts that are estimated together.
const LANES: usize = 4;
/// Length of a text, in bytes, from which on it is worth the parting.
pub(super) const LEAST: usize = 1024;

impl Estimate {
    /// Goes on with parts of an ASCII text, if it has lines to part it by; returns what is left of it.
    #[inline(never)]
    pub(super) fn add_in_lanes<'a>(&mut self, text: &'a str) -> &'a str {
        let Some(lanes) = parts(text) else { return text };
        let length = lanes.iter().map(|lane| lane.len()).min().unwrap_or_default();
        let [a, b, c, d] = lanes.map(|lane| &lane.as_bytes()[..length]);
        // What a line costs doesn't depend on those before it: see `Estimate::of_lines`.
        let mut states = [*self, Self::of_lines(), Self::of_lines(), Self::of_lines()];
        let mut total = 0;
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            for (state, byte) in states.iter_mut().zip([*a, *b, *c, *d]) {
                let step = step_from(state.state, byte_class(byte, state.last));
                state.last = u32::from(byte);
                state.state = step.next;
                total += u64::from(step.cost);
            }
        }
        for (state, lane) in states.iter_mut().zip(lanes).take(LANES - 1) {
            // Ends with its newline, behind which the next one has begun.
            state.add_plainly(&lane[length..]);
            total += state.hundredths;
        }
        let last = states[LANES - 1];
        *self = Self { hundredths: total + last.hundredths, ..last };
        &lanes[LANES - 1][length..]
    }

    fn add_plainly(&mut self, text: &str) {
        for byte in text.bytes() {
            let class = byte_class(byte, self.last);
            self.last = u32::from(byte);
            self.step(class);
        }
    }
}

/// Whole lines in parts that are about as long.
fn parts(text: &str) -> Option<[&str; LANES]> {
    let (mut parts, mut rest) = ([""; LANES], text);
    for (index, part) in parts.iter_mut().enumerate().take(LANES - 1) {
        let about = rest.len() / (LANES - index);
        let end = about + rest.get(about..)?.find('\n')? + 1;
        (*part, rest) = rest.split_at(end);
    }
    parts[LANES - 1] = rest;
    Some(parts)
}
