//! The document of a window: the stage, what is expected now, who said what, and what the speaker is given.

use std::sync::Arc;

use docui::{Lod, Object, View, ViewRequest, tokens};
use pipemux_planner_course::course::Said;
use pipemux_planner_course::meeting::QuestionState;
use pipemux_planner_course::turn::{self, gist};
use pipemux_planner_course::{Course, Role, Stage};
use serde_json::Value;

use crate::expected::{choices, expected, is_for};
use crate::given::outline;
use crate::model::Planner;

/// Tokens that what a speaker is given may take of a window; more of it is read by reference.
const GIVEN_MAX: u64 = 900;

/// Lines of the record that a summary shows.
const RECORD_LINES: usize = 40;

/// Renders the window.
pub fn view(planner: &Planner, request: &ViewRequest) -> View {
    let course = &planner.course;
    if course.stage == Stage::Empty {
        let mut view = View::new("no plan yet");
        problems(planner, &mut view);
        expectation(planner, request, &mut view);
        return view;
    }
    let mut view = View::new(title(planner));
    view.document(course.topic.clone());
    problems(planner, &mut view);
    expectation(planner, request, &mut view);
    if request.lod == Lod::Gist {
        if let Some(last) = course.said.last() {
            view.text(format!("last: {} {}\n", last.who, last.gist));
        }
        return view;
    }
    let is_given = given(planner, request, &mut view);
    progress(planner, is_given, &mut view);
    brief(planner, request, &mut view);
    record(planner, request, is_given, &mut view);
    artifact(planner, &mut view);
    view
}

fn title(planner: &Planner) -> String {
    let course = &planner.course;
    let mut title = format!("{} · {}", course.topic, place(course));
    if course.cycle > 1 {
        title += &format!(" · cycle {}", course.cycle);
    }
    if course.paused {
        title += " · paused";
    }
    title
}

/// Returns how far a course is: `round 2 · 3 of 5`.
pub fn place(course: &Course) -> String {
    let number = course.speaker().and_then(|speaker| {
        Role::ALL.iter().position(|role| role.name() == speaker.name()).map(|at| at + 1)
    });
    match (course.stage, number) {
        (Stage::Round(_), Some(number)) => format!("{} · {number} of 5", course.stage.shown()),
        _ => course.stage.shown(),
    }
}

fn problems(planner: &Planner, view: &mut View) {
    for problem in planner.problems() {
        view.text(format!("Problem: {problem}\n"));
    }
}

/// Writes what is expected, and how it is done.
fn expectation(planner: &Planner, request: &ViewRequest, view: &mut View) {
    let expected = expected(planner, &request.reader);
    let mut text = format!("**Expected now**: {}\n", expected.sentence());
    text += &format!("`{}`\n", expected.call);
    if let Some(turn) = planner.course.turn.as_ref().filter(|turn| turn.failed.is_none()) {
        let said = choices(turn.kind);
        if !said.is_empty() && is_for(planner, turn, &request.reader) {
            text += &format!("{said}\n");
        }
    }
    for also in &expected.also {
        text += &format!("- {also}\n");
    }
    view.text(text);
}

/// Writes what the speaker is given besides the brief, which stands below. Returns true if that was anything of the record.
fn given(planner: &Planner, request: &ViewRequest, view: &mut View) -> bool {
    let course = &planner.course;
    let Some(turn) = course.turn.as_ref().filter(|turn| is_for(planner, turn, &request.reader))
    else {
        return false;
    };
    let Some(Value::Object(payload)) = course.payload(&planner.config.prompts()) else {
        return false;
    };
    let prompt = payload.get("my_prompt").and_then(Value::as_str);
    let task = prompt.and_then(|prompt| prompt.lines().next()).unwrap_or_default();
    view.text(format!("\n{} · {task}\n", turn.kind.speaker()));
    let text = outline(&payload);
    match tokens::estimate(&text) <= GIVEN_MAX {
        true => drop(view.text(text.clone())),
        false => drop(view.text(format!(
            "all that {} is given: `pipemux ask '{}.payload()'`\n",
            turn.kind.speaker(),
            planner.callee
        ))),
    }
    !text.is_empty()
}

/// Writes who is next.
fn progress(planner: &Planner, is_given: bool, view: &mut View) {
    let course = &planner.course;
    let is_met = course.stage == Stage::Meeting && !is_given;
    if let Some(meeting) = course.meeting.as_ref().filter(|_| is_met) {
        let waits = meeting.questions.iter().filter(|one| one.state == QuestionState::Waiting);
        let next: Vec<String> =
            waits.map(|one| format!("{}: {}", one.asker(), gist(&one.text))).collect();
        if !next.is_empty() {
            view.text(format!("\nto be cleared up: {}\n", next.join(" · ")));
        }
    }
    let Stage::Round(round) = course.stage else { return };
    let waits = |role: &Role| {
        let spoken = course.rounds.get(&round).is_some_and(|spoken| spoken.contains_key(role));
        let speaks = course.speaker().is_some_and(|speaker| speaker.name() == role.name());
        !(spoken || speaks || course.left_out.contains(role))
    };
    let next: Vec<&str> =
        Role::ALL.iter().filter(|role| waits(role)).map(|role| role.name()).collect();
    let left_out: Vec<&str> = course.left_out.iter().map(|role| role.name()).collect();
    let mut text = String::new();
    if !next.is_empty() {
        text += &format!("\nthen: {}\n", next.join(", "));
    }
    if !left_out.is_empty() {
        text += &format!("left out: {}\n", left_out.join(", "));
    }
    view.text(text);
}

fn brief(planner: &Planner, request: &ViewRequest, view: &mut View) {
    let brief = planner.course.whole_brief();
    let text = match request.lod == Lod::Full || tokens::estimate(&brief) <= request.budget / 3 {
        true => quoted(&brief),
        false => {
            view.hidden(tokens::estimate(&brief));
            format!("> {}\nall of it: pipemux view --lod full", gist(&brief))
        }
    };
    view.text(format!("\n### Brief\n{text}\n"));
}

/// Writes what was said: gists, and in full what was expanded. Earlier stages are a line each if the reader is given what
/// was said there, or gave all verdicts of the round itself.
fn record(planner: &Planner, request: &ViewRequest, is_given: bool, view: &mut View) {
    let course = &planner.course;
    let said = &course.said;
    if said.is_empty() {
        return;
    }
    let all = request.lod == Lod::Full;
    let now = course.stage.shown();
    let first = if all { 0 } else { said.len().saturating_sub(RECORD_LINES) };
    view.text("\n### Said\n");
    if first > 0 {
        view.text(format!("{first} earlier: `pipemux ask '{}.record()'`\n", planner.callee));
    }
    let (mut place, mut reader) = ("", "");
    for (number, one) in said.iter().enumerate().skip(first) {
        let is_expanded = all || planner.expanded.contains(&number);
        let is_known = is_given || is_own(course, &one.place, &request.reader);
        let folds = is_known && one.place != now && !is_expanded;
        if one.place != place {
            place = &one.place;
            match folds {
                true => view.text(format!("{place}: {}\n", tally(course, place))),
                false => view.text(format!("{place}:\n")),
            };
        }
        if folds {
            continue;
        }
        let key = key(planner, number);
        view.text("- ").object(Object::new(key, one.who.clone()).ty("said").detail(one.ts.clone()));
        // Said once, until somebody else speaks.
        let origin = origin(one).filter(|by| *by != reader);
        reader = origin.unwrap_or(reader);
        let origin = origin.map_or_else(String::new, |by| format!(" (by {by})"));
        view.text(format!(" {}{origin}\n", one.gist));
        if is_expanded {
            view.text(format!("{}\n", quoted(&one.text)));
        }
    }
    if is_given && !all {
        view.text(format!("word for word: `pipemux ask '{}.record()'`\n", planner.callee));
    }
}

/// Returns true if all that was said in a round came from this reader.
fn is_own(course: &Course, place: &str, reader: &str) -> bool {
    place.starts_with("round ")
        && course
            .said
            .iter()
            .filter(|said| said.place == place)
            .all(|said| said.by.reader == reader)
}

/// Sums up a stage that is folded: `2 agree, 3 concern`.
fn tally(course: &Course, place: &str) -> String {
    let of = |word: &str| {
        let is_one = |said: &&Arc<Said>| said.place == place && said.gist.starts_with(word);
        course.said.iter().filter(is_one).count()
    };
    let counts = ["agree", "block", "concern"].map(|word| (of(word), word));
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match parts.is_empty() {
        true => {
            let count = course.said.iter().filter(|said| said.place == place).count();
            turn::count(count, "line")
        }
        false => parts.join(", "),
    }
}

/// Returns the key of something that was said.
pub fn key(planner: &Planner, number: usize) -> String {
    format!("said:{}:{number}", planner.course.topic)
}

/// Returns who typed something, where that isn't plain.
fn origin(said: &Said) -> Option<&str> {
    match (said.by.reader.as_str(), said.who.as_str()) {
        ("", _) | (_, "user" | "Coach") => None,
        (reader, _) => Some(reader),
    }
}

fn artifact(planner: &Planner, view: &mut View) {
    let course = &planner.course;
    let Some(version) = course.version() else { return };
    let name = version.artifact.file();
    let edited = if version.edited { ", edited by hand" } else { "" };
    let back = version
        .rolled_back_from
        .map_or_else(String::new, |from| format!(", brings back version {from}"));
    view.text(format!(
        "\n### Version {}\n.planning/{}/{name} · {}{edited}{back} · ",
        version.number,
        course.topic,
        version.artifact.word()
    ));
    view.object(
        Object::new(format!("version:{}:{}", course.topic, version.number), name).ty("version"),
    );
    view.text("\n");
    for objection in &version.objections {
        view.text(format!("- {}\n", gist(objection)));
    }
}

/// Marks each line of a text as a quotation.
fn quoted(text: &str) -> String {
    text.lines()
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}
