//! Starts a topic with a brief, and records what an earlier plan is to be used for.

use crate::answers::Intent;
use crate::brief::within;
use crate::course::Course;
use crate::event::{Prior, Refusal};
use crate::sections::outline;
use crate::stage::Stage;
use crate::text::{flat, listed};

pub(crate) fn start(
    course: &mut Course,
    topic: &str,
    brief: &str,
    prior: Option<&Prior>,
    history: &[String],
) -> Result<(), Refusal> {
    if course.stage != Stage::Empty {
        return Err(Refusal::new(
            "this topic has a brief already",
            "adjust('what is to be different')",
        ));
    }
    course.topic = flat(topic);
    course.brief.text = within(brief)?;
    course.brief.history = history.to_vec();
    course.brief.prior = prior.cloned();
    course.cycle.number = 1;
    course.enter(if prior.is_some() { Stage::Intent } else { Stage::Round(1) });
    Ok(())
}

/// Sets what an earlier plan is for, as the user or the coach says it.
pub(crate) fn set_intent(course: &mut Course, intent: Intent, words: &str) -> Result<(), Refusal> {
    let Some(prior) = &course.brief.prior else {
        return Err(Refusal::new("no earlier plan came with the brief", "plan('…', from='FILE')"));
    };
    if !matches!(course.stage, Stage::Intent | Stage::AskIntent) {
        return Err(Refusal::new("the intent is settled", "adjust('what is to be different')"));
    }
    let words = words.trim();
    match intent {
        Intent::Other if words.is_empty() => {
            return Err(Refusal::new(
                "say in your own words what it is for",
                "intent('other', words='…')",
            ));
        }
        Intent::Unsure => {
            course.turns.open.clear();
            course.enter(Stage::AskIntent);
            return Ok(());
        }
        _ => {}
    }
    let from = format!("inherited from {} {}", prior.title, prior.version);
    let inherited = match (&prior.plan, prior.agreed_points.is_empty()) {
        (Some(plan), _) => outline(plan),
        (None, true) => listed(&prior.key_points),
        (None, false) => listed(&prior.agreed_points),
    };
    if matches!(intent, Intent::Refine | Intent::ContinueDiscussion) && !inherited.is_empty() {
        course.brief.add(from, inherited);
    }
    if !words.is_empty() {
        course.brief.add("added by the user", within(words)?);
    }
    let shown = format!("{}{}{words}", intent.name(), if words.is_empty() { "" } else { " · " });
    course.record.note("intent".into(), "user", &shown, &shown);
    course.brief.intent = Some((intent, words.to_owned()));
    course.turns.open.clear();
    course.enter(Stage::Round(1));
    Ok(())
}
