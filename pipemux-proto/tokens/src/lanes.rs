//! Estimates several parts of a text at once. Each step of the state machine depends on the one
//! before it, so the processor has time for independent steps of other parts meanwhile.

use super::{Estimate, byte_class, step_from};

/// Number of parts that are estimated together.
const LANES: usize = 4;
/// Length in bytes of the shortest text that is faster to estimate in parts.
pub(super) const MIN_LENGTH: usize = 1024;

impl Estimate {
    /// Adds the beginning of an ASCII text, in parts if its lines allow it. Returns the rest.
    #[inline(never)]
    pub(super) fn add_in_lanes<'a>(&mut self, text: &'a str) -> &'a str {
        let Some(lanes) = split_into_lanes(text) else { return text };
        let length = lanes.iter().map(|lane| lane.len()).min().unwrap_or_default();
        let [a, b, c, d] = lanes.map(|lane| &lane.as_bytes()[..length]);
        // The cost of a line doesn't depend on the lines before it: see `Estimate::for_lines`.
        let mut states = [*self, Self::for_lines(), Self::for_lines(), Self::for_lines()];
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
            // The lane ends with a newline, after which the next lane has begun.
            state.add_bytes(&lane[length..]);
            total += state.hundredths;
        }
        let last = states[LANES - 1];
        *self = Self { hundredths: total + last.hundredths, ..last };
        &lanes[LANES - 1][length..]
    }

    fn add_bytes(&mut self, text: &str) {
        for byte in text.bytes() {
            let class = byte_class(byte, self.last);
            self.last = u32::from(byte);
            self.step(class);
        }
    }
}

/// Splits a text into parts of whole lines that have about the same length.
fn split_into_lanes(text: &str) -> Option<[&str; LANES]> {
    let (mut parts, mut rest) = ([""; LANES], text);
    for (index, part) in parts.iter_mut().enumerate().take(LANES - 1) {
        let about = rest.len() / (LANES - index);
        let end = about + rest.get(about..)?.find('\n')? + 1;
        (*part, rest) = rest.split_at(end);
    }
    parts[LANES - 1] = rest;
    Some(parts)
}
