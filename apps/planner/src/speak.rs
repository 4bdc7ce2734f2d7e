//! Handles answers of readers to turns, and the assignment of roles to readers.

use docui::{Context, Done, Fault};
use pipemux_planner_course::event::{Effect, Event};
use pipemux_planner_course::text::shown_name;
use pipemux_planner_course::turn::TurnKind;
use pipemux_planner_course::{Role, Speaker};
use serde_json::Value;

use crate::model::Planner;
use crate::outcome::{outcome, present_call};
use crate::reader::{Reader, by};
use crate::{cites, topic};

pub fn role_of(name: &str) -> Result<Role, Fault> {
    Role::parse(name).ok_or_else(|| {
        let names = Role::ALL.map(Role::name).join(", ");
        Fault::usage(format!("there is no role {name:?}; the roles are {names}"))
    })
}

pub fn speaker_of(name: &str) -> Result<Speaker, Fault> {
    Speaker::parse(name).ok_or_else(|| {
        let names = Speaker::ALL.map(Speaker::name).join(", ");
        Fault::usage(format!("there is no role {name:?}; expected one of {names}"))
    })
}

/// Refuses what a reader says as somebody whom another reader took.
fn refuse_taken(planner: &Planner, speaker: Speaker, context: &Context) -> Result<(), Fault> {
    match planner.course.takers.get(&speaker) {
        Some(taker) if *taker != context.reader => Err(Fault::refused(format!(
            "{speaker} is played by reader {}, not by {}",
            shown_name(taker),
            shown_name(&context.reader)
        ))
        .hint(present_call(planner, context))),
        _ => Ok(()),
    }
}

/// Answers a role's turn of a round, or takes the expert's word.
///
/// # Errors
/// There is no such turn, or the verdict is refused.
pub fn verdict_of(
    planner: &mut Planner,
    name: &str,
    verdict: Value,
    context: &Context,
) -> Result<Done, Fault> {
    let ok = verdict["ok"].as_bool();
    let said = verdict["reasons"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect::<Vec<_>>()
        .join(" ");
    if ok != Some(true) && said.trim().is_empty() {
        return Err(Fault::usage("reasons: say why, unless the role agrees").field("reasons"));
    }
    if name.eq_ignore_ascii_case("expert") {
        let text = if said.is_empty() { "agrees".to_owned() } else { said };
        planner.commit(by(context), Event::ExpertSpoke { ok, text })?;
        return Ok(outcome(planner, context));
    }
    let role = role_of(name)?;
    refuse_taken(planner, Speaker::Role(role), context)?;
    let of_role = planner.course.turns.open.iter().find_map(|turn| match turn.kind {
        TurnKind::Verdict(_, of) if of == role => Some((turn.id, turn.kind)),
        _ => None,
    });
    match of_role {
        Some((turn, kind)) => {
            let missing = cites::missing(&planner.root, kind, &verdict);
            let marked = (!missing.is_empty())
                .then(|| format!("cites what doesn't exist: {}", missing.join(", ")));
            planner.commit(by(context), Event::Answered { turn, answer: verdict, missing })?;
            let done = outcome(planner, context);
            Ok(match marked {
                Some(marked) => done.also(&marked),
                None => done,
            })
        }
        None => {
            let turn = planner.course.turns.first();
            // The second of two who play one role is told what the first said.
            let spoken =
                planner.course.record.statements.iter().rev().find(|said| {
                    said.who == role.name() && said.place == planner.course.stage.shown()
                });
            let message = match (spoken, turn) {
                (Some(said), _) => format!(
                    "{role} has spoken in {} already, by {}: {}",
                    said.place,
                    shown_name(&said.by.reader),
                    said.gist
                ),
                (None, Some(turn)) => {
                    let (who, task) = (turn.kind.speaker(), turn.kind.task());
                    format!("it is {who}'s turn: {who} {task}")
                }
                (None, None) => {
                    format!("no role judges now: the stage is {}", planner.course.stage.shown())
                }
            };
            Err(Fault::refused(message).hint(present_call(planner, context)))
        }
    }
}

/// Answers an open turn: that of the named speaker, else the one that concerns the reader most.
///
/// # Errors
/// There is none, or the answer is refused.
pub fn speak(
    planner: &mut Planner,
    mut answer: Value,
    name: &str,
    context: &Context,
) -> Result<Done, Fault> {
    let named = if name.trim().is_empty() { None } else { Some(speaker_of(name)?) };
    let turn = match named {
        Some(speaker) => {
            planner.course.turns.open.iter().find(|turn| turn.kind.speaker() == speaker)
        }
        None => Reader::of(&planner.course, &context.reader).turn(planner),
    };
    let Some((turn, kind)) = turn.map(|turn| (turn.id, turn.kind)) else {
        let message =
            format!("nobody is to speak now: the stage is {}", planner.course.stage.shown());
        return Err(Fault::refused(message).hint(present_call(planner, context)));
    };
    refuse_taken(planner, kind.speaker(), context)?;
    kind.fill(&mut answer);
    if let Err(why) = kind.check(&answer) {
        let message = format!("{} {}: {why}", kind.speaker(), kind.task());
        return Err(Fault::usage(message).hint(present_call(planner, context)));
    }
    if topic::continues(&answer)
        && let Some(gone_on) = topic::go_on(planner, "", &by(context))?
    {
        return Ok(outcome(planner, context).also(&gone_on));
    }
    let missing = cites::missing(&planner.root, kind, &answer);
    planner.commit(by(context), Event::Answered { turn, answer, missing })?;
    Ok(outcome(planner, context))
}

/// Has a driver play a speaker, or all.
///
/// # Errors
/// There is no such speaker or driver.
pub fn choose(
    planner: &mut Planner,
    name: &str,
    driver: &str,
    context: &Context,
) -> Result<Done, Fault> {
    let name = match (name.trim().eq_ignore_ascii_case("all"), Speaker::parse(name)) {
        (true, _) => "all",
        (false, Some(speaker)) => speaker.name(),
        (false, None) => {
            let names = Role::ALL.map(Role::name).join(", ");
            return Err(Fault::usage(format!(
                "there is no role {name:?}; expected {names}, Coach or all"
            )));
        }
    };
    planner.choose(name, driver.trim())?;
    let has_failed =
        planner.course.turns.open.iter().any(|turn| {
            turn.failed.is_some() && (name == "all" || turn.kind.speaker().name() == name)
        });
    if has_failed {
        let effects = planner.commit(by(context), Event::Retry)?;
        debug_assert!(effects.iter().any(|effect| matches!(effect, Effect::Play(_))));
    } else {
        planner.play();
    }
    Ok(outcome(planner, context).also(&format!("{driver} plays {name}")))
}
