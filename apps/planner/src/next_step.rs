//! The next step that is expected of each reader: what to do, with the call, or whom to wait for,
//! with the command that waits.

mod decision;
mod meeting;
mod step;
mod turn;

use pipemux_planner_course::Stage;

use crate::frame::say;
use crate::model::Planner;
use crate::reader::Reader;
use decision::{NODES, checkable, is_plan, of_confirm, of_intent};
use meeting::{of_expert, of_meeting};
use step::of_user;
use turn::of_turn;

pub use step::{NextStep, Whose};

/// Returns what is expected now, as one reader is told.
pub fn next_step(planner: &Planner, name: &str) -> NextStep {
    let course = &planner.course;
    let reader = Reader::of(course, name);
    if course.paused && course.stage != Stage::Empty {
        return of_user(planner, &reader, "lets it go on: it is paused", "resume()", &[]);
    }
    let is_over = matches!(course.stage, Stage::Confirm | Stage::Accepted | Stage::Discarded);
    if reader.is_expert && !is_over {
        return of_expert(planner);
    }
    if let Some(turn) = reader.turn(planner) {
        return of_turn(planner, turn, &reader);
    }
    let over = |sentence: &str, call: &str, also: &[&str]| NextStep {
        whose: Whose::Nobody,
        sentence: say(course.lang(), sentence),
        call: planner.run(call),
        also: also.iter().map(|one| say(course.lang(), one)).collect(),
    };
    match course.stage {
        Stage::AskIntent => of_intent(planner, &reader),
        Stage::Meeting => of_meeting(planner, &reader),
        Stage::Confirm => of_confirm(planner, &reader),
        Stage::Accepted => {
            let also = ["plan('…'): the next topic · adjust('…'): a new cycle"];
            let nodes = is_plan(planner).then_some(NODES);
            let also: Vec<&str> = also.into_iter().chain(checkable(planner)).chain(nodes).collect();
            over("it is accepted; it can be handed over", "handoff()", &also)
        }
        Stage::Discarded => over("it is discarded; its versions stay", "plan('…')", &[]),
        _ => NextStep {
            whose: Whose::Yours,
            sentence: "say what is to be planned".into(),
            call: planner.run("plan('what you want, and why')"),
            also: vec!["with an earlier plan, draft or note: plan('…', from='FILE')".into()],
        },
    }
}
