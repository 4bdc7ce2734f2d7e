//! Answers queries, which change nothing.

use std::borrow::Cow;

use docui::{Done, Fault, Value, View};
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::compare::compare as course_compare;
use pipemux_planner_course::quality::quality as course_quality;
use pipemux_planner_course::text::count;
use pipemux_planner_course::versions::Version;
use pipemux_planner_course::{Refusal, Speaker, ordered};

use crate::action::Action;
use crate::model::Planner;
use crate::reader::Reader;
use crate::store::Store;
use crate::{conversation, nodes, seen};

/// Answers one query.
///
/// # Errors
/// There is nothing to answer with.
pub fn answer(planner: &Planner, action: &Action, reader: &str) -> Result<Done, Fault> {
    let (brief, text) = match action {
        Action::Payload { role } => payload(planner, role, reader)?,
        Action::Record { since, last } => {
            let course = &planner.course;
            let (entries, text) = conversation::word_for_word(course, *since, *last);
            let of = course.record.statements.len();
            (format!("{entries} of {}", count(of, "entry").replace("entrys", "entries")), text)
        }
        Action::Artifact { section } => artifact(planner, section)?,
        Action::Versions {} => versions(planner),
        Action::Compare { a, b } => compare(planner, *a, *b)?,
        Action::Quality {} => quality(planner)?,
        Action::Nodes {} => nodes(planner)?,
        Action::Topics {} => {
            let topics = Store::topics(&planner.root);
            (count(topics.len(), "topic"), topics.join("\n"))
        }
        other => {
            let name = docui::Actions::name(other);
            return Err(Fault::failed(format!("{name} is no query")));
        }
    };
    let mut view = View::default();
    view.code("", text.clone());
    let value = match action {
        Action::Versions {} | Action::Topics {} => {
            Value::List(text.lines().map(Value::from).collect())
        }
        _ => text.as_str().into(),
    };
    Ok(Done::new(brief).content(view).value(value))
}

/// The line of an answer, and its text.
type Text = (String, String);

fn payload(planner: &Planner, role: &str, reader: &str) -> Result<Text, Fault> {
    let named = Speaker::parse(role);
    let turn = match role.trim().is_empty() {
        true => Reader::of(&planner.course, reader).turn(planner),
        false => planner.course.turns.open.iter().find(|turn| Some(turn.kind.speaker()) == named),
    };
    let Some(turn) = turn else {
        return Err(refused(planner, "no turn is open", "versions()"));
    };
    let payload = planner.course.payload_of(turn.kind, &planner.config.prompts());
    let text = ordered::pretty(&payload);
    Ok((turn.kind.speaker().to_string(), text))
}

fn versions(planner: &Planner) -> Text {
    let line = |version: &Version| {
        let back = version
            .rolled_back_from
            .map_or_else(String::new, |from| format!(" · brings back version {from}"));
        let edited = if version.edited { " · edited by hand" } else { "" };
        format!(
            "{} · {} · {}{back}{edited} · {}",
            version.number,
            version.artifact.word(),
            version.at,
            count(version.objections.len(), "objection")
        )
    };
    let lines: Vec<String> = planner.course.versions.all.iter().map(line).collect();
    (count(lines.len(), "version"), lines.join("\n"))
}

fn compare(planner: &Planner, a: i64, b: i64) -> Result<Text, Fault> {
    let (before, after) = (version(planner, a)?, version(planner, b)?);
    let found = course_compare(&before, &after);
    let mut text = String::new();
    for difference in &found {
        text += &format!("{}\n", difference.section);
        difference.gone.iter().for_each(|one| text += &format!("- {one}\n"));
        difference.added.iter().for_each(|one| text += &format!("+ {one}\n"));
        difference.changed.iter().for_each(|(old, new)| text += &format!("- {old}\n+ {new}\n"));
    }
    Ok((format!("{} in which they differ", count(found.len(), "section")), text))
}

fn quality(planner: &Planner) -> Result<Text, Fault> {
    match planner.course.versions.newest().map(|version| &version.artifact) {
        Some(Artifact::Plan(plan)) => {
            let quality = course_quality(plan);
            let brief = format!(
                "{} % · {} of {} checks hold",
                quality.percent(),
                quality.held,
                quality.total
            );
            Ok((brief, quality.reasons.join("\n")))
        }
        Some(Artifact::Draft(_)) => Err(refused(
            planner,
            "a draft has no quality score: only a plan by consensus has",
            "adjust('…')",
        )),
        None => Err(refused(planner, "there is no plan yet", "")),
    }
}

fn nodes(planner: &Planner) -> Result<Text, Fault> {
    match planner.course.versions.newest().map(|one| (one.number, &one.artifact)) {
        Some((number, Artifact::Plan(plan))) => {
            let of = plan["requirements"].as_array().map_or(0, Vec::len);
            let text = nodes::markdown(&planner.course.topic, number, plan);
            Ok((count(of, "requirement"), text))
        }
        _ => Err(refused(planner, "there is no plan yet", "")),
    }
}

fn refused(planner: &Planner, message: impl Into<String>, hint: &str) -> Fault {
    planner.fault(Refusal::new(message, hint))
}

fn version(planner: &Planner, number: i64) -> Result<Cow<'_, Artifact>, Fault> {
    let found = u32::try_from(number).ok().and_then(|number| seen::artifact(planner, number));
    let none = || refused(planner, format!("there is no version {number}"), "versions()");
    found.map(|(_, artifact)| artifact).ok_or_else(none)
}

/// Returns the newest plan or draft, or a section of it.
fn artifact(planner: &Planner, section: &str) -> Result<Text, Fault> {
    let Some(version) = planner.course.versions.newest() else {
        return Err(refused(planner, "there is no plan and no draft yet", ""));
    };
    let brief = format!("{} version {}", version.artifact.word(), version.number);
    let plain = |name: &str| name.to_lowercase().replace(['_', '-'], " ");
    if section.trim().is_empty() {
        return Ok((brief, version.text()));
    }
    let sections = version.artifact.sections();
    match sections.iter().find(|(name, _)| plain(name) == plain(section.trim())) {
        Some((name, items)) => Ok((format!("{brief} · {name}"), items.join("\n"))),
        None => {
            let names: Vec<&str> = sections.iter().map(|(name, _)| name.as_str()).collect();
            let message =
                format!("there is no section {section:?}; there are {}", names.join(", "));
            Err(refused(planner, message, "artifact()"))
        }
    }
}

/// Returns the value of an object: something that was said, or a version.
pub fn read(planner: &Planner, key: &str) -> Option<String> {
    let (kind, rest) = key.split_once(':')?;
    let (topic, number) = rest.rsplit_once(':')?;
    if topic != planner.course.topic {
        return None;
    }
    let number: usize = number.parse().ok()?;
    match kind {
        "said" => planner.course.record.statements.get(number).map(|said| said.text.clone()),
        "version" => {
            let found = planner
                .course
                .versions
                .all
                .iter()
                .find(|version| version.number as usize == number);
            found.map(|version| version.text())
        }
        _ => None,
    }
}
