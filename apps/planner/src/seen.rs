//! Tracks the version that each reader was shown. A version that was edited by hand can only be
//! accepted by a reader who was shown it.

use std::borrow::Cow;
use std::fs;
use std::sync::PoisonError;

use docui::{Fault, regular_file};
use pipemux_planner_course::Refusal;
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::compare::compare;
use pipemux_planner_course::limits::VERSIONS_MAX;

use crate::limits::PRIOR_MAX;
use crate::model::Planner;
use crate::store::FOLDER;

/// Notes that a reader is shown the newest version.
pub fn note(planner: &Planner, reader: &str) {
    let Some(version) = planner.course.versions.newest() else { return };
    let shown = (planner.course.topic.clone(), version.number);
    let mut all = planner.readers.shown.lock().unwrap_or_else(PoisonError::into_inner);
    all.insert(reader.to_owned(), shown);
}

/// Checks that a reader was shown the newest version, if somebody has edited it by hand.
///
/// # Errors
/// It wasn't: the message has what was changed, so that the call can be made again.
pub fn check(planner: &mut Planner, reader: &str) -> Result<(), Fault> {
    planner.take_outside_changes();
    let Some(version) = planner.course.versions.newest().filter(|version| version.edited) else {
        return Ok(());
    };
    let shown = (planner.course.topic.clone(), version.number);
    let is_shown = planner.readers.shown.lock().unwrap_or_else(PoisonError::into_inner).get(reader)
        == Some(&shown);
    if is_shown {
        return Ok(());
    }
    let before = planner.course.versions.all.iter().rev().nth(1);
    let differences = before.map(|before| compare(&before.artifact, &version.artifact));
    let sections: Vec<String> =
        differences.unwrap_or_default().into_iter().map(|one| one.section).collect();
    let (number, former) = (version.number, before.map_or(0, |before| before.number));
    let what = format!(
        "version {number} was edited by hand and you haven't seen it; changed: {}",
        pipemux_planner_course::text::gist(&sections.join(", "))
    );
    note(planner, reader);
    let compared = format!("pipemux ask '{}.compare({former}, {number})'", planner.session.callee);
    Err(Fault::stale(what).hint(compared).hint(planner.run("accept()")))
}

/// Checks that a version can be brought back.
///
/// # Errors
/// There are as many versions as a topic may have, or it isn't held any more; the hint is the way
/// on from its file.
pub fn check_versions(planner: &Planner, number: u32) -> Result<(), Fault> {
    let is_held = planner.course.versions.all.iter().any(|one| one.number == number);
    if is_held && planner.course.versions.all.len() < VERSIONS_MAX {
        return Ok(());
    }
    let Some((name, _)) = artifact(planner, number) else { return Ok(()) };
    let why = match is_held {
        true => format!("this topic has {VERSIONS_MAX} versions"),
        false => format!("version {number} is kept in its file only"),
    };
    let topic = &planner.course.topic;
    let from = format!("{FOLDER}/{topic}/versions/v{number}/{name}");
    let call = format!("plan('…', from='{from}', intent='refine')");
    Err(planner.fault(Refusal::new(format!("{why}: go on from it in a new topic"), call)))
}

/// Returns a version with the name of its file, from the disk if the course holds it no longer.
pub fn artifact(planner: &Planner, number: u32) -> Option<(&'static str, Cow<'_, Artifact>)> {
    if let Some(held) = planner.course.versions.all.iter().find(|one| one.number == number) {
        return Some((held.artifact.file(), Cow::Borrowed(&held.artifact)));
    }
    let folder = planner.store.as_ref()?.folder().join("versions").join(format!("v{number}"));
    ["planning.ai.json", "planning.draft.md"].into_iter().find_map(|name| {
        let path = folder.join(name);
        let is_small = fs::metadata(&path).ok()?.len() <= PRIOR_MAX;
        let text = regular_file::read_to_string(&path).ok().filter(|_| is_small)?;
        let artifact = match name.ends_with(".md") {
            true => Artifact::Draft(text),
            false => Artifact::Plan(crate::strict::parse(&text).ok()?),
        };
        Some((name, Cow::Owned(artifact)))
    })
}
