//! Advances a course after an event: opens missing turns, and moves through the stages until one
//! has to wait.

use crate::artifact::Artifact;
use crate::course::Course;
use crate::draft::{draft, objections};
use crate::meeting::advance_meeting;
use crate::plan::plan;
use crate::role::Role;
use crate::stage::Stage;
use crate::turn::TurnKind;

/// What a stage waits for.
enum Next {
    /// These turns are to be open; without one the user is to act.
    Turns(Vec<TurnKind>),
    /// Nothing: another stage was entered.
    Stage,
}

/// Goes on until somebody has to speak: turns are open, or the user is to act.
pub(crate) fn advance(course: &mut Course) {
    while !course.paused {
        if let Next::Turns(turns) = next(course) {
            turns.into_iter().for_each(|kind| course.open_turn(kind));
            return;
        }
    }
}

fn next(course: &mut Course) -> Next {
    match course.stage {
        Stage::Intent => Next::Turns(vec![TurnKind::Intent]),
        Stage::Round(round) => {
            let speakers = speakers(course, round);
            if speakers.is_empty() {
                end_round(course, round);
                return Next::Stage;
            }
            let turns = speakers.into_iter().map(|role| TurnKind::Verdict(round, role));
            Next::Turns(turns.collect())
        }
        Stage::Meeting => {
            let turns = advance_meeting(course);
            match turns.is_empty() && course.stage != Stage::Meeting {
                true => Next::Stage,
                false => Next::Turns(turns),
            }
        }
        Stage::Extraction if course.cycle.extraction.is_some() => confirm_or(course, |course| {
            let meeting = course.cycle.meeting.as_ref();
            let is_met = meeting.is_some_and(|one| one.closed.is_some());
            let before = course.is_signed() && !is_met;
            course.enter(if before { Stage::Meeting } else { Stage::Round(3) });
        }),
        Stage::Extraction => Next::Turns(vec![TurnKind::Extraction]),
        Stage::Synthesis(after) if course.cycle.synthesis.is_some() => {
            confirm_or(course, |course| end_synthesis(course, after))
        }
        Stage::Synthesis(_) => Next::Turns(vec![TurnKind::Synthesis]),
        Stage::Plan(_) => {
            let body = course.cycle.synthesis.as_ref().and_then(|made| made.plan.clone());
            let Some(body) = body else { return Next::Turns(vec![TurnKind::Plan]) };
            let plan = plan(course, &body);
            course.add_artifact(Artifact::Plan(plan), Vec::new());
            Next::Stage
        }
        Stage::Empty | Stage::AskIntent | Stage::Confirm | Stage::Accepted | Stage::Discarded => {
            Next::Turns(Vec::new())
        }
    }
}

/// Has roles confirm what the coach wrote; once they have, that stands, and the course goes on.
fn confirm_or(course: &mut Course, go_on: impl FnOnce(&mut Course)) -> Next {
    let signers = course.cycle.signers();
    if signers.is_empty() {
        course.cycle.settle();
        go_on(course);
        return Next::Stage;
    }
    Next::Turns(signers.into_iter().map(TurnKind::Confirm).collect())
}

/// Returns the roles that are to speak now in a round: all that haven't, or the first of them.
fn speakers(course: &Course, round: u8) -> Vec<Role> {
    let at_once = course.is_signed() && (round == 1 || (round == 2 && course.parallel));
    let most = if at_once { Role::ALL.len() } else { 1 };
    course.cycle.silent(round).take(most).collect()
}

fn end_round(course: &mut Course, round: u8) {
    match round {
        1 if course.all_agree(1) && (!course.cycle.meeting_due || course.is_signed()) => {
            course.enter(Stage::Synthesis(1));
        }
        1 => begin_second_round(course),
        2 if course.is_signed() => course.enter(Stage::Extraction),
        2 => course.enter(Stage::Meeting),
        _ => course.enter(Stage::Synthesis(3)),
    }
}

fn begin_second_round(course: &mut Course) {
    course.cycle.meeting_due = true;
    course.enter(Stage::Round(2));
}

fn end_synthesis(course: &mut Course, after: u8) {
    let clean = course.cycle.synthesis.as_ref().is_some_and(|made| {
        made.reserved_points.is_empty() && made.strong_disagreements.is_empty()
    });
    match (course.all_agree(after) && (clean || course.is_signed()), after) {
        (true, _) => course.enter(Stage::Plan(after)),
        // By earlier rules a reservation, else an expert's veto that came in the meantime.
        (false, 1) => {
            course.cycle.synthesis = None;
            begin_second_round(course);
        }
        (false, _) => {
            let objections = objections(course);
            let draft = draft(course, &objections);
            course.add_artifact(Artifact::Draft(draft), objections);
        }
    }
}
