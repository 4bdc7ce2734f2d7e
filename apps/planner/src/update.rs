//! Carries out actions.

use docui::{Anchor, Context, Done, Fault, Reply};
use pipemux_planner_course::answers::Intent;
use pipemux_planner_course::event::Event;
use serde_json::json;

use crate::action::{Action, IntentName, Said};
use crate::frame::place;
use crate::model::Planner;
use crate::outcome::{outcome, present_call};
use crate::reader::{by, join_as_expert, refuse_role_of};
use crate::speak::{choose, role_of, speak, speaker_of, verdict_of};
use crate::store::Store;
use crate::{check, handoff, query, seen, topic};

/// Carries out one action.
///
/// # Errors
/// It can't be carried out; nothing took effect.
pub fn update(planner: &mut Planner, action: Action, context: &Context) -> Result<Reply, Fault> {
    if is_of_user(&action) {
        refuse_role_of(planner, &planner.course, &context.reader)
            .map_err(|fault| fault.hint(present_call(planner, context)))?;
    }
    if starts_turns(&action) {
        planner.check_trust(context)?;
        planner.has_acted = true;
    }
    match action {
        Action::Plan { brief, from, intent, topic } => {
            let from = from.map(|from| from.0).filter(|from| !from.trim().is_empty());
            topic::plan(planner, &brief.text, from, intent, &topic, context).map(Into::into)
        }
        Action::Start { brief } => {
            topic::plan(planner, &brief.text, None, None, "", context).map(Into::into)
        }
        Action::Verdict { role, ok, reasons, suggestions, questions } => {
            let verdict = json!({
                "ok": ok.0, "reasons": reasons, "suggestions": suggestions,
                "blocking_open_questions": questions,
            });
            verdict_of(planner, &role, verdict, context).map(Into::into)
        }
        Action::Speak { answer, role } => speak(planner, answer.0, &role, context).map(Into::into),
        Action::Reply { text, question, wait } => {
            let question = question.map(|number| u32::try_from(number).unwrap_or(0));
            kept(planner, &text.text)?;
            planner.commit(by(context), Event::Reply { question, text: text.text })?;
            Ok(if wait { turn(planner, context) } else { outcome(planner, context).into() })
        }
        Action::Turn {} => Ok(turn(planner, context)),
        Action::Check { of } => check::check(planner, &of, context),
        Action::Handoff { command } => handoff::hand_over(planner, &command, context),
        Action::Intend { kind, words } => intend(planner, kind, words, context).map(Into::into),
        Action::Go {} => {
            planner.play();
            Ok(outcome(planner, context).into())
        }
        Action::Driver { role, driver } => choose(planner, &role, &driver, context).map(Into::into),
        Action::Switch { topic } => switch(planner, topic).map(Into::into),
        Action::Expand { said } => Ok(expand(planner, &said).into()),
        Action::Collapse {} => {
            planner.expanded.clear();
            Ok(Done::new("gists").into())
        }
        action => match event(planner, &action, context)? {
            Some(event) => {
                planner.commit(by(context), event)?;
                Ok(outcome(planner, context).into())
            }
            None => query::answer(planner, &action, &context.reader).map(Into::into),
        },
    }
}

/// Returns what an action means to the course, if that is all that it does.
fn event(
    planner: &mut Planner,
    action: &Action,
    context: &Context,
) -> Result<Option<Event>, Fault> {
    Ok(Some(match action {
        Action::Say { text } => {
            kept(planner, &text.text)?;
            Event::Say { text: text.text.clone() }
        }
        Action::Adjust { text, check } => {
            kept(planner, &text.text)?;
            let failed =
                if *check { format!("\n\n{}", check::evidence(planner)?) } else { String::new() };
            Event::Adjust { text: format!("{}{failed}", text.text) }
        }
        Action::Accept {} => {
            seen::check(planner, &context.reader)?;
            Event::Accept
        }
        Action::Discard {} => Event::Discard,
        Action::Pause {} => Event::Pause,
        Action::Resume {} => Event::Resume,
        Action::Back { stage } => Event::Back { stage: (*stage).into() },
        Action::Retry {} => Event::Retry,
        Action::LeaveOut { role } => Event::LeaveOut { role: role_of(role)? },
        Action::Take { role } if role.trim().eq_ignore_ascii_case("expert") => {
            join_as_expert(planner, &context.reader)?
        }
        Action::Take { role } => Event::Take { role: speaker_of(role)? },
        Action::Invite { reader, veto } => Event::Invite { reader: reader.clone(), veto: *veto },
        Action::RollBack { version } => {
            let to = u32::try_from(*version).unwrap_or(0);
            seen::check_versions(planner, to)?;
            Event::RollBack { to }
        }
        _ => return Ok(None),
    }))
}

fn intend(
    planner: &mut Planner,
    kind: IntentName,
    words: String,
    context: &Context,
) -> Result<Done, Fault> {
    let intent: Intent = kind.into();
    if intent == Intent::ContinueDiscussion
        && let Some(gone_on) = topic::go_on(planner, &words, &by(context))?
    {
        return Ok(outcome(planner, context).also(&gone_on));
    }
    planner.commit(by(context), Event::Intent { intent, words })?;
    Ok(outcome(planner, context))
}

fn switch(planner: &mut Planner, topic: String) -> Result<Done, Fault> {
    let topics = Store::topics(&planner.root);
    if !topics.contains(&topic) {
        let near = docui::nearest(&topic, topics.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; near: {near}"));
        return Err(Fault::not_found(format!("there is no topic {topic:?}{near}"))
            .hint(planner.run("topics()").replace("run", "ask")));
    }
    planner.load(&topic)?;
    Ok(Done::new(topic))
}

/// Shows statements of the record in full.
fn expand(planner: &mut Planner, said: &[Anchor<Said>]) -> Done {
    let numbers = said
        .iter()
        .filter_map(|one| one.key.strip_prefix("said:")?.rsplit(':').next()?.parse::<usize>().ok());
    planner.expanded.extend(numbers);
    Done::new(format!("{} shown in full", said.len()))
}

/// Waits until something is expected of a reader.
fn turn(planner: &mut Planner, context: &Context) -> Reply {
    match planner.wait_for_turn(&context.reader) {
        Some(job) => Reply::started(&job, place(&planner.course)),
        None => outcome(planner, context).into(),
    }
}

/// True for an act that is the user's alone.
fn is_of_user(action: &Action) -> bool {
    matches!(
        action,
        Action::Reply { .. }
            | Action::Say { .. }
            | Action::Adjust { .. }
            | Action::Accept {}
            | Action::Discard {}
            | Action::Handoff { .. }
            | Action::Intend { .. }
            | Action::Back { .. }
            | Action::LeaveOut { .. }
            | Action::Invite { .. }
            | Action::RollBack { .. }
            | Action::Pause {}
            | Action::Resume {}
            | Action::Driver { .. }
    )
}

/// True for an act after which a driver may play a turn. All others only look, or keep drivers from
/// playing.
fn starts_turns(action: &Action) -> bool {
    // With an agent in its place no driver plays.
    let leaves_drivers = |driver: &str| driver.trim() == "agent";
    !matches!(action, Action::Driver { driver, .. } if leaves_drivers(driver))
        && !matches!(
            action,
            Action::Discard {}
                | Action::Pause {}
                | Action::Handoff { .. }
                | Action::Check { .. }
                | Action::Switch { .. }
                | Action::Expand { .. }
                | Action::Collapse {}
                | Action::Payload { .. }
                | Action::Record { .. }
                | Action::Artifact { .. }
                | Action::Versions {}
                | Action::Compare { .. }
                | Action::Quality {}
                | Action::Nodes {}
                | Action::Topics {}
        )
}

/// Keeps a text that is too long for the course, and says where.
fn kept(planner: &Planner, text: &str) -> Result<(), Fault> {
    let (length, most) = (text.chars().count(), pipemux_planner_course::limits::TEXT_MAX);
    if length <= most {
        return Ok(());
    }
    let fault = format!("the text has {length} characters, at most {most}");
    let Some(store) = &planner.store else { return Err(Fault::refused(fault)) };
    let path = store.folder().join("too-long.txt");
    crate::store::replace(&path, text.as_bytes())?;
    let name = path.strip_prefix(&planner.root).unwrap_or(&path).display().to_string();
    let call = format!("reply('the most important of it; all of it is in {name}')");
    Err(Fault::refused(format!("{fault}; it is kept in {name}")).hint(planner.run(&call)))
}
