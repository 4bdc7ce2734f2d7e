//! Control actions that the user may use at any time: retry, skip, adjust, go back, pause, decide,
//! invite.

use crate::answers::Verdict;
use crate::artifact::Artifact;
use crate::course::{Course, Expert};
use crate::cycle::Cycle;
use crate::event::{BackTo, Effect, Refusal};
use crate::role::{Role, Speaker};
use crate::sections::outline;
use crate::stage::Stage;
use crate::text::{listed, shown_name};

pub(crate) fn retry(course: &mut Course) -> Result<(), Refusal> {
    let mut again = course.turns.open.iter_mut().filter(|turn| turn.failed.is_some()).peekable();
    if again.peek().is_some() {
        for turn in again {
            turn.failed = None;
            course.effects.push(Effect::Play(turn.id));
        }
        return Ok(());
    }
    Err(match course.speaker() {
        Some(speaker) => Refusal::new(format!("{speaker} has not failed"), ""),
        None => Refusal::new("no turn is open", ""),
    })
}

pub(crate) fn leave_out(course: &mut Course, role: Role) -> Result<(), Refusal> {
    let is_asked =
        matches!(course.stage, Stage::Round(_) | Stage::Meeting) || course.cycle.signing.is_some();
    if !is_asked {
        return Err(Refusal::new(
            format!("no role speaks now: the stage is {}", course.stage.shown()),
            "",
        ));
    }
    if !course.cycle.left_out.insert(role) {
        return Err(Refusal::new(format!("{role} is left out already"), ""));
    }
    let text = format!("leaves {role} out: only a draft can come of this cycle");
    course.note("user", &text, &text);
    course.end_turns(|kind| kind.speaker() == Speaker::Role(role));
    Ok(())
}

pub(crate) fn take_role(course: &mut Course, role: Speaker) -> Result<(), Refusal> {
    let reader = &course.record.by.reader;
    match course.takers.get(&role) {
        Some(other) if other != reader => {
            Err(Refusal::new(format!("{role} is played by reader {}", shown_name(other)), ""))
        }
        _ => {
            let name = shown_name(reader);
            course.takers.insert(role, reader.clone());
            let text = format!("{name} plays {role}");
            course.note(&name, &text, &text);
            Ok(())
        }
    }
}

/// Adds to the brief. Who has judged the brief as it was judges it again.
pub(crate) fn adjust(course: &mut Course, text: &str) -> Result<(), Refusal> {
    if course.stage == Stage::Discarded {
        return Err(Refusal::new("it is discarded", "plan('…')"));
    }
    course.brief.check_room(course.is_signed())?;
    course.note("user", &format!("adjusts: {text}"), text);
    course.brief.revision += 1;
    if matches!(course.stage, Stage::Confirm | Stage::Accepted) {
        keep_consensus(course);
    }
    course.brief.add("added by the user", text);
    match course.stage {
        Stage::Confirm | Stage::Accepted => {
            course.cycle = Cycle { number: course.cycle.number + 1, ..Cycle::default() };
            course.enter(Stage::Round(1));
        }
        Stage::Round(round) => {
            course.end_turns(|_| true);
            course.cycle.rounds.remove(&round);
        }
        Stage::Synthesis(round) | Stage::Plan(round) => {
            course.end_turns(|_| true);
            course.cycle.rounds.remove(&round);
            (course.cycle.synthesis, course.cycle.signing) = (None, None);
            course.enter(Stage::Round(round));
        }
        _ => {}
    }
    Ok(())
}

/// Adds what was agreed on to the brief of the next cycle.
fn keep_consensus(course: &mut Course) {
    let version = course.versions.newest().map_or(0, |version| version.number);
    if let Some(last) = course.versions.newest().filter(|_| course.is_signed()) {
        // The newest plan or draft has what earlier ones had.
        course.brief.additions.retain(|one| !one.from.starts_with("agreed in version "));
        let (from, text) = match &last.artifact {
            Artifact::Plan(plan) if last.edited => (", edited by hand since", outline(plan)),
            Artifact::Plan(plan) => ("", outline(plan)),
            Artifact::Draft(_) => ("", listed(&last.agreed)),
        };
        if !text.is_empty() {
            course.brief.add(format!("agreed in version {version}{from}"), text);
        }
        return;
    }
    if let Some(made) = &course.cycle.synthesis
        && !made.agreed_points.is_empty()
    {
        course.brief.add(format!("agreed in version {version}"), listed(&made.agreed_points));
    }
}

/// Goes back to a stage; it and those behind it run again. What was said stays on record.
pub(crate) fn back(course: &mut Course, to: BackTo) -> Result<(), Refusal> {
    let stage = match to {
        BackTo::Round1 => Stage::Round(1),
        BackTo::Round2 => Stage::Round(2),
        BackTo::Meeting => Stage::Meeting,
        BackTo::Extraction => Stage::Extraction,
        BackTo::Round3 => Stage::Round(3),
    };
    if !course.cycle.reached.contains(&stage) {
        return Err(Refusal::new(
            format!("{} was not reached in this cycle", stage.shown()),
            "back('round1')",
        ));
    }
    if matches!(course.stage, Stage::Accepted | Stage::Discarded) {
        return Err(Refusal::new(
            format!("it is {}", course.stage.shown()),
            "adjust('what is to be different')",
        ));
    }
    course.end_turns(|_| true);
    let text = format!("goes back to {}", stage.shown());
    course.note("user", &text, &text);
    if to == BackTo::Round1 {
        course.cycle.rounds.remove(&1);
    }
    if to <= BackTo::Round2 {
        course.cycle.rounds.remove(&2);
    }
    let is_signed = course.is_signed();
    if to <= BackTo::Meeting {
        course.cycle.meeting = None;
    }
    // What was answered in a meeting isn't asked again for the sake of the extraction before it.
    if to <= BackTo::Round2 || to == BackTo::Extraction || (to == BackTo::Meeting && !is_signed) {
        course.cycle.extraction = None;
        course.cycle.signed.clear();
    }
    course.cycle.rounds.remove(&3);
    (course.cycle.synthesis, course.cycle.signing) = (None, None);
    // What lies behind is reached once it has run again.
    course.cycle.reached.retain(|reached| {
        reached.rank(is_signed) <= stage.rank(is_signed)
            || (*reached == Stage::Meeting && to == BackTo::Extraction)
    });
    // A meeting is given what was extracted before it.
    let is_extracted = !is_signed || course.cycle.extraction.is_some();
    course.enter(if stage == Stage::Meeting && !is_extracted { Stage::Extraction } else { stage });
    Ok(())
}

pub(crate) fn pause(course: &mut Course) -> Result<(), Refusal> {
    if std::mem::replace(&mut course.paused, true) {
        return Err(Refusal::new("it is paused already", "resume()"));
    }
    course.effects.extend(course.turns.open.iter().map(|turn| Effect::Cancel(turn.id)));
    Ok(())
}

pub(crate) fn resume(course: &mut Course) -> Result<(), Refusal> {
    if !std::mem::replace(&mut course.paused, false) {
        return Err(Refusal::new("it isn't paused", ""));
    }
    let waits = course.turns.open.iter().filter(|turn| turn.failed.is_none());
    course.effects.extend(waits.map(|turn| Effect::Play(turn.id)));
    Ok(())
}

/// Accepts or discards the artifact.
pub(crate) fn decide(course: &mut Course, to: Stage) -> Result<(), Refusal> {
    let may =
        matches!((course.stage, to), (Stage::Confirm, _) | (Stage::Accepted, Stage::Discarded));
    let Some(version) = course.versions.newest().filter(|_| may) else {
        let stage = course.stage.shown();
        return Err(Refusal::new(
            format!("there is nothing to decide on: the stage is {stage}"),
            "",
        ));
    };
    let text = format!("version {} is {}", version.number, to.shown());
    course.record.note("decision".into(), "user", &text, &text);
    course.enter(to);
    Ok(())
}

/// Makes a reader the expert: whom the user invites, or a person who joins.
pub(crate) fn invite(course: &mut Course, reader: &str, veto: bool) {
    let name = shown_name(reader);
    let right = if veto { " with a veto" } else { "" };
    let by = &course.record.by;
    let (who, text) = match by.person && by.reader == reader {
        true => ("Expert", format!("{name} joins as the expert{right}")),
        false => ("user", format!("invites {name} as an expert{right}")),
    };
    course.expert = Some(Expert { reader: reader.to_owned(), veto, words: Vec::new() });
    course.note(who, &text, &text);
}

pub(crate) fn expert_spoke(
    course: &mut Course,
    ok: Option<bool>,
    text: &str,
) -> Result<(), Refusal> {
    let Some(expert) = &mut course.expert else {
        return Err(Refusal::new("no expert is invited", "invite('READER')"));
    };
    let reader = &course.record.by.reader;
    if expert.reader != *reader {
        let (expert, reader) = (shown_name(&expert.reader), shown_name(reader));
        let message = format!("the expert is reader {expert}, not {reader}");
        return Err(Refusal::new(message, ""));
    }
    expert.words.push((ok, text.to_owned()));
    let word = Verdict { ok, ..Verdict::default() }.word();
    course.note("Expert", &format!("{word} · {text}"), text);
    Ok(())
}
