//! Builds the reply to each call, which says what is expected next.

use docui::{Context, Done};

use crate::frame::place;
use crate::model::Planner;
use crate::next_step::next_step;

/// Says what is expected now of the reader who made a call.
pub fn outcome(planner: &Planner, context: &Context) -> Done {
    let step = next_step(planner, &context.reader);
    let (place, lang) = (place(&planner.course), planner.course.lang());
    Done::new(format!("{place} · {}", step.line(lang)))
}

/// Returns the call that is right now, for errors.
pub fn present_call(planner: &Planner, context: &Context) -> String {
    next_step(planner, &context.reader).call
}
