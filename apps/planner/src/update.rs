//! Carries out actions.

use docui::{Context, Done, Fault, Reply};
use pipemux_planner_course::answers::Intent;
use pipemux_planner_course::event::{Effect, Event};
use pipemux_planner_course::text::shown_name;
use pipemux_planner_course::turn::TurnKind;
use pipemux_planner_course::{By, Course, Driver, Refusal, Role, Speaker};
use serde_json::{Value, json};

use crate::action::{Action, IntentName};
use crate::model::Planner;
use crate::reader::{Reader, is_person, join_as_expert};
use crate::store::Store;
use crate::{begin, check, cites, expected, handoff, query, seen, window};

/// Carries out one action.
///
/// # Errors
/// It can't be carried out; nothing took effect.
pub fn update(planner: &mut Planner, action: Action, context: &Context) -> Result<Reply, Fault> {
    if is_of_user(&action) {
        refuse_role(planner, context)?;
    }
    if starts_turns(&action) {
        planner.check_trust(context)?;
        planner.has_acted = true;
    }
    let by = by(context);
    let event = match action {
        Action::Plan { brief, from, intent, topic } => {
            let from = from.filter(|from| !from.0.trim().is_empty());
            let from = from.map(|from| from.0);
            return begin::plan(planner, &brief.text, from, intent, &topic, context)
                .map(Into::into);
        }
        Action::Start { brief } => {
            return begin::plan(planner, &brief.text, None, None, "", context).map(Into::into);
        }
        Action::Verdict { role, ok, reasons, suggestions, questions } => {
            let verdict = json!({
                "ok": ok.0, "reasons": reasons, "suggestions": suggestions, "blocking_open_questions": questions,
            });
            return verdict_of(planner, &role, verdict, context).map(Into::into);
        }
        Action::Speak { answer, role } => {
            return speak(planner, answer.0, &role, context).map(Into::into);
        }
        Action::Reply { text, question, wait } => {
            let question = question.map(|number| u32::try_from(number).unwrap_or(0));
            kept(planner, &text.text)?;
            planner.commit(by, Event::Reply { question, text: text.text })?;
            return Ok(if wait { turn(planner, context) } else { told(planner, context).into() });
        }
        Action::Turn {} => return Ok(turn(planner, context)),
        Action::Say { text } => {
            kept(planner, &text.text)?;
            Event::Say { text: text.text }
        }
        Action::Adjust { text, check } => {
            kept(planner, &text.text)?;
            let failed =
                if check { format!("\n\n{}", check::evidence(planner)?) } else { String::new() };
            Event::Adjust { text: text.text + &failed }
        }
        Action::Check { of } => return check::check(planner, &of, context),
        Action::Accept {} => {
            seen::check(planner, &context.reader)?;
            Event::Accept
        }
        Action::Discard {} => Event::Discard,
        Action::Handoff { command } => return handoff::hand_over(planner, &command, context),
        Action::Intend { kind: IntentName::ContinueDiscussion, words } => {
            if let Some(gone_on) = begin::go_on(planner, &words, &by)? {
                return Ok(told(planner, context).also(&gone_on).into());
            }
            Event::Intent { intent: Intent::ContinueDiscussion, words }
        }
        Action::Intend { kind, words } => Event::Intent { intent: kind.into(), words },
        Action::Pause {} => Event::Pause,
        Action::Resume {} => Event::Resume,
        Action::Back { stage } => Event::Back { stage: stage.into() },
        Action::Go {} => {
            planner.play();
            return Ok(told(planner, context).into());
        }
        Action::Retry {} => Event::Retry,
        Action::LeaveOut { role } => Event::LeaveOut { role: role_of(&role)? },
        Action::Take { role } if role.trim().eq_ignore_ascii_case("expert") => {
            join_as_expert(planner, &context.reader)?
        }
        Action::Take { role } => Event::Take { role: speaker_of(&role)? },
        Action::Invite { reader, veto } => Event::Invite { reader, veto },
        Action::RollBack { version } => {
            let to = u32::try_from(version).unwrap_or(0);
            seen::check_versions(planner, to)?;
            Event::RollBack { to }
        }
        Action::Driver { role, driver } => {
            return choose(planner, &role, &driver, context).map(Into::into);
        }
        Action::Switch { topic } => {
            let topics = Store::topics(&planner.root);
            if !topics.contains(&topic) {
                let near = docui::nearest(&topic, topics.iter().map(String::as_str));
                let near = near.map_or_else(String::new, |near| format!("; near: {near}"));
                return Err(Fault::not_found(format!("there is no topic {topic:?}{near}"))
                    .hint(planner.run("topics()").replace("run", "ask")));
            }
            planner.load(&topic)?;
            return Ok(Done::new(topic).into());
        }
        Action::Expand { said } => {
            let numbers = said.iter().filter_map(|one| {
                one.key.strip_prefix("said:")?.rsplit(':').next()?.parse::<usize>().ok()
            });
            planner.expanded.extend(numbers);
            return Ok(Done::new(format!("{} shown in full", said.len())).into());
        }
        Action::Collapse {} => {
            planner.expanded.clear();
            return Ok(Done::new("gists").into());
        }
        query => return query::answer(planner, &query, &context.reader).map(Into::into),
    };
    planner.commit(by, event)?;
    Ok(told(planner, context).into())
}

/// Waits until something is expected of a reader.
fn turn(planner: &mut Planner, context: &Context) -> Reply {
    match planner.wait_for_turn(&context.reader) {
        Some(job) => Reply::started(&job, window::place(&planner.course)),
        None => told(planner, context).into(),
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

/// Refuses what somebody who plays a part would say in the user's place.
fn refuse_role(planner: &Planner, context: &Context) -> Result<(), Fault> {
    refuse_role_of(planner, &planner.course, &context.reader)
        .map_err(|fault| fault.hint(present_call(planner, context)))
}

/// As [`refuse_role`], in any course of the project.
///
/// # Errors
/// The reader plays a part in it, and isn't its user.
pub fn refuse_role_of(planner: &Planner, course: &Course, reader: &str) -> Result<(), Fault> {
    match Reader::of(course, reader).speaks_as(planner, course) {
        Some(role) => Err(Fault::refused(format!(
            "reader {} plays {role}: only the user (reader {}, or a person) can do that",
            shown_name(reader),
            shown_name(&course.user)
        ))),
        None => Ok(()),
    }
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

/// Returns who makes a call.
pub fn by(context: &Context) -> By {
    let reader = context.reader.clone();
    let person = is_person(&reader);
    By { reader, driver: Driver::Agent, person }
}

/// Says what is expected now: the answer to each call.
pub fn told(planner: &Planner, context: &Context) -> Done {
    let expected = expected::expected(planner, &context.reader);
    Done::new(format!(
        "{} · {}",
        window::place(&planner.course),
        expected.line(planner.course.lang())
    ))
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

fn role_of(name: &str) -> Result<Role, Fault> {
    Role::parse(name).ok_or_else(|| {
        let names = Role::ALL.map(Role::name).join(", ");
        Fault::usage(format!("there is no role {name:?}; the roles are {names}"))
    })
}

fn speaker_of(name: &str) -> Result<Speaker, Fault> {
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

/// Returns the call that judges the present turn, for errors.
fn present_call(planner: &Planner, context: &Context) -> String {
    expected::expected(planner, &context.reader).call
}

fn verdict_of(
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
        return Ok(told(planner, context));
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
            let done = told(planner, context);
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
fn speak(
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
    if begin::continues(&answer)
        && let Some(gone_on) = begin::go_on(planner, "", &by(context))?
    {
        return Ok(told(planner, context).also(&gone_on));
    }
    let missing = cites::missing(&planner.root, kind, &answer);
    planner.commit(by(context), Event::Answered { turn, answer, missing })?;
    Ok(told(planner, context))
}

fn choose(
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
    Ok(told(planner, context).also(&format!("{driver} plays {name}")))
}

/// Makes a fault of something that the course refuses.
pub fn refused(planner: &Planner, message: impl Into<String>, hint: &str) -> Fault {
    planner.fault(Refusal::new(message, hint))
}
