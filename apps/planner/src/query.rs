//! Answers queries, which change nothing.

use docui::{Done, Fault, Value, View};
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::course::Version;
use pipemux_planner_course::turn::count;
use pipemux_planner_course::{compare, quality};

use crate::action::Action;
use crate::model::Planner;
use crate::store::Store;
use crate::update;

/// Answers one query.
///
/// # Errors
/// There is nothing to answer with.
pub fn answer(planner: &Planner, action: &Action) -> Result<Done, Fault> {
    let course = &planner.course;
    let (brief, text) = match action {
        Action::Payload {} => match course.payload(&planner.config.prompts()) {
            Some(payload) => {
                let who = course.speaker().map_or_else(String::new, |speaker| speaker.to_string());
                (who, serde_json::to_string_pretty(&payload).unwrap_or_default())
            }
            None => return Err(update::refused(planner, "no turn is open", "versions()")),
        },
        Action::Record {} => (format!("{} entries", course.said.len()), record(planner)),
        Action::Versions {} => {
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
            let lines: Vec<String> = course.versions.iter().map(line).collect();
            (count(lines.len(), "version"), lines.join("\n"))
        }
        Action::Compare { a, b } => {
            let (before, after) = (version(planner, *a)?, version(planner, *b)?);
            let found = compare::compare(&before.artifact, &after.artifact);
            let mut text = String::new();
            for difference in &found {
                text += &format!("{}\n", difference.section);
                difference.gone.iter().for_each(|one| text += &format!("- {one}\n"));
                difference.added.iter().for_each(|one| text += &format!("+ {one}\n"));
                difference
                    .changed
                    .iter()
                    .for_each(|(old, new)| text += &format!("- {old}\n+ {new}\n"));
            }
            (format!("{} in which they differ", count(found.len(), "section")), text)
        }
        Action::Quality {} => match course.version().map(|version| &version.artifact) {
            Some(Artifact::Plan(plan)) => {
                let quality = quality::quality(plan);
                let brief = format!(
                    "{} % · {} of {} checks hold",
                    quality.percent(),
                    quality.held,
                    quality.total
                );
                (brief, quality.reasons.join("\n"))
            }
            Some(Artifact::Draft(_)) => {
                return Err(update::refused(
                    planner,
                    "a draft has no quality score: only a plan by consensus has",
                    "adjust('…')",
                ));
            }
            None => return Err(update::refused(planner, "there is no plan yet", "")),
        },
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

fn version(planner: &Planner, number: i64) -> Result<&Version, Fault> {
    let found = planner.course.versions.iter().find(|version| i64::from(version.number) == number);
    found.ok_or_else(|| {
        update::refused(planner, format!("there is no version {number}"), "versions()")
    })
}

fn record(planner: &Planner) -> String {
    let mut text = String::new();
    if planner.course.roles_shared_context() {
        text += "roles shared one context\n";
    }
    for said in &planner.course.said {
        text += &format!("{} · {} · {} · {}\n", said.ts, said.place, said.who, said.gist);
        if !said.text.trim().is_empty() && said.text.trim() != said.gist.trim() {
            said.text.lines().for_each(|line| text += &format!("    {line}\n"));
        }
    }
    text
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
        "said" => planner.course.said.get(number).map(|said| said.text.clone()),
        "version" => {
            let found =
                planner.course.versions.iter().find(|version| version.number as usize == number);
            found.map(|version| version.artifact.text())
        }
        _ => None,
    }
}
