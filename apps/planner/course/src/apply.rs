//! Applies journal entries to a course, or refuses them.

use serde_json::Value;

use crate::advance::advance;
use crate::answers::{
    CitedPoints, Confirmation, Extraction, IntentAnswer, PointAnswer, Synthesis, Verdict, read,
};
use crate::brief::within;
use crate::course::Course;
use crate::cycle::Spoken;
use crate::event::{Effect, Entry, Event, Refusal};
use crate::limits::ENTRIES_MAX;
use crate::role::Role;
use crate::signing::Signing;
use crate::stage::Stage;
use crate::text::{count, gist};
use crate::turn::TurnKind;
use crate::{begin, control, edits, meeting, replies};

impl Course {
    /// Applies one entry, or refuses it: then nothing has changed.
    ///
    /// # Errors
    /// What is wrong with it now, and the call that is right.
    pub fn apply(&mut self, entry: &Entry) -> Result<Vec<Effect>, Refusal> {
        // What is there can be decided on all the same.
        let most = if entry.event.decides() { 2 * ENTRIES_MAX } else { ENTRIES_MAX };
        if self.entries >= most {
            let file = self.versions.newest().map_or("FILE", |version| version.artifact.file());
            let call =
                format!("plan('…', from='.planning/{}/{file}', intent='refine')", self.topic);
            return Err(Refusal::new("this topic's record is full: go on in a new topic", call));
        }
        let mut next = self.clone();
        next.record.now.clone_from(&entry.ts);
        next.record.by.clone_from(&entry.by);
        next.entries += 1;
        handle(&mut next, &entry.event)?;
        next.record.by = Default::default();
        advance(&mut next);
        let effects = std::mem::take(&mut next.effects);
        *self = next;
        Ok(effects)
    }
}

fn handle(course: &mut Course, event: &Event) -> Result<(), Refusal> {
    if !matches!(event, Event::Start { .. }) && course.stage == Stage::Empty {
        let call = match event {
            // Who plays a role isn't to write the brief.
            Event::Take { .. } => "turn()",
            _ => "plan('what you want, and why')",
        };
        return Err(Refusal::new("there is no brief yet", call));
    }
    match event {
        Event::Start { topic, brief, prior, history, rules, parallel } => {
            begin::start(course, topic, brief, prior.as_deref(), history)?;
            (course.rules, course.parallel) = (*rules, *parallel);
            course.user.clone_from(&course.record.by.reader);
            Ok(())
        }
        Event::Intent { intent, words } => begin::set_intent(course, *intent, words),
        Event::Answered { turn, answer, missing } => answered(course, *turn, answer, missing),
        Event::Failed { turn, reason } => {
            let open = course.turns.get_mut(*turn)?;
            open.failed = Some(gist(reason));
            let who = open.kind.speaker().name();
            course.note(who, &format!("no answer · {reason}"), reason);
            Ok(())
        }
        Event::Retry => control::retry(course),
        Event::LeaveOut { role } => control::leave_out(course, *role),
        Event::Take { role } => control::take_role(course, *role),
        Event::Reply { question, text } => replies::reply(course, *question, &within(text)?),
        Event::Say { text } => replies::say(course, &within(text)?),
        Event::Adjust { text } => control::adjust(course, &within(text)?),
        Event::Accept => control::decide(course, Stage::Accepted),
        Event::Discard => control::decide(course, Stage::Discarded),
        Event::Pause => control::pause(course),
        Event::Resume => control::resume(course),
        Event::Back { stage } => control::back(course, *stage),
        Event::Invite { reader, veto } => {
            control::invite(course, reader, *veto);
            Ok(())
        }
        Event::ExpertSpoke { ok, text } => control::expert_spoke(course, *ok, &within(text)?),
        Event::Edited { text } => edits::edit(course, text),
        Event::RollBack { to } => edits::roll_back(course, *to),
        Event::HandedOver { number, hash, confirmed, command } => {
            course.handed_over = course.handed_over.max(*number);
            let how = if command.is_empty() { "printed".into() } else { format!("to {command}") };
            let risk = if *confirmed { " · a draft; the user knows the risk" } else { "" };
            let text = format!("hand-over {number}: {how} · sha256 {hash}{risk}");
            course.record.note("hand-over".into(), "user", &text, &text);
            Ok(())
        }
    }
}

/// Applies the answer to an open turn.
fn answered(
    course: &mut Course,
    id: u64,
    answer: &Value,
    missing: &[String],
) -> Result<(), Refusal> {
    let kind = course.turns.get_mut(id)?.kind;
    let checked = match course.is_signed() {
        true => kind.check(answer),
        false => kind.check_form(answer),
    };
    checked.map_err(|why| Refusal::new(why, ""))?;
    match kind {
        TurnKind::Verdict(round, role) => verdict(course, round, role, read(answer)?, missing),
        TurnKind::Intent => {
            let IntentAnswer { intent, reason } = read(answer)?;
            let shown = format!("{} · {}", intent.name(), gist(&reason));
            course.note("Coach", &shown, &reason);
            return begin::set_intent(course, intent, "");
        }
        TurnKind::Judge(role, index) => meeting::judged(course, role, index, read(answer)?),
        TurnKind::FollowUp(role) => meeting::followed_up(course, role, read(answer)?),
        TurnKind::AnswerBack(role, index) => {
            meeting::answered_back(course, role, index, read(answer)?);
        }
        TurnKind::Extraction => extraction(course, read(answer)?, &read(answer)?),
        TurnKind::Confirm(role) => confirmed(course, role, read(answer)?)?,
        TurnKind::Synthesis => synthesis(course, read(answer)?, &read(answer)?),
        TurnKind::Plan => {
            course.note("Coach", "wrote the plan", "wrote the plan");
            if let Some(synthesis) = &mut course.cycle.synthesis {
                synthesis.plan = Some(answer.clone());
            }
        }
    }
    course.turns.open.retain(|turn| turn.id != id);
    Ok(())
}

fn verdict(course: &mut Course, round: u8, role: Role, verdict: Verdict, missing: &[String]) {
    let mark = if missing.is_empty() {
        String::new()
    } else {
        format!(" · cites what doesn't exist: {}", missing.join(", "))
    };
    let shown = format!("{} · {}{mark}", verdict.word(), gist(&verdict.reasons.join(" ")));
    let mut text = format!("{}\n", verdict.word());
    let parts = [
        ("reasons", verdict.reasons.as_slice()),
        ("suggestions", &verdict.suggestions),
        ("open questions", &verdict.blocking_open_questions),
        ("cites what doesn't exist", missing),
    ];
    for (name, items) in parts.into_iter().filter(|(_, items)| !items.is_empty()) {
        text += &format!("{name}:\n- {}\n", items.join("\n- "));
    }
    course.note(role.name(), &shown, &text);
    let (ts, by) = (course.record.now.clone(), course.record.by.clone());
    let revision = course.brief.revision;
    let spoken = Spoken { verdict, ts, by, revision, missing: missing.to_vec() };
    course.cycle.rounds.entry(round).or_default().insert(role, spoken);
}

fn extraction(course: &mut Course, extraction: Extraction, cited: &CitedPoints) {
    let (agreed, open) = (&extraction.agreed_points, &extraction.conflicting_points);
    let text = format!("agreed:\n- {}\nin conflict:\n- {}", agreed.join("\n- "), open.join("\n- "));
    let shown = format!("{} agreed, {} in conflict", count(agreed.len(), "point"), open.len());
    course.note("Coach", &shown, &text);
    course.cycle.extraction = Some(extraction);
    if course.is_signed() {
        course.cycle.signing = Some(Signing::of_extraction(cited));
    }
}

fn synthesis(course: &mut Course, mut synthesis: Synthesis, cited: &CitedPoints) {
    synthesis.at.clone_from(&course.record.now);
    course.note("Coach", &gist(&synthesis.summary), &synthesis.summary);
    if course.is_signed() && course.last_round() == 3 && !course.all_agree(3) {
        let signing = Signing::of_synthesis(cited, &synthesis, &course.cycle.signed);
        course.cycle.signing = Some(signing);
    }
    course.cycle.synthesis = Some(synthesis);
}

/// Applies what a role says of the points that cite it.
fn confirmed(course: &mut Course, role: Role, answer: Confirmation) -> Result<(), Refusal> {
    let Some(signing) = &mut course.cycle.signing else { return Ok(()) };
    let answers = answer.answers;
    let expected = signing.of(role).count();
    if answers.len() != expected {
        let message = format!("answers: {} for {}", answers.len(), count(expected, "point"));
        return Err(Refusal::new(message, ""));
    }
    let yes = answers.iter().filter(|one| **one == PointAnswer::Yes).count();
    let mut shown = format!("confirms {yes} of {}", count(expected, "point"));
    let mut text = shown.clone();
    for (point, answer) in signing.of(role).zip(&answers) {
        let word = match answer {
            PointAnswer::Yes => "yes".to_owned(),
            PointAnswer::No => "no".to_owned(),
            PointAnswer::Reword(words) => format!("rather: {words}"),
        };
        text += &format!("\n- {} · {word}", point.text);
        if *answer != PointAnswer::Yes {
            shown += &format!(" · {} · {word}", point.text);
        }
    }
    signing.answers.insert(role, answers);
    course.note(role.name(), &shown, &text);
    Ok(())
}
