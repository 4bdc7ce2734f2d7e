//! The document of a window, as its reader is shown it: what is expected now, who said what, what
//! the speaker is given, and what is decided on.

use docui::{Lod, View, ViewRequest, tokens};
use pipemux_planner_course::question::QuestionState;
use pipemux_planner_course::text::{gist, quoted};
use pipemux_planner_course::{Role, Stage};
use serde_json::Value;

use crate::calls::choices;
use crate::frame::{place, say, say_first};
use crate::limits::GIVEN_MAX;
use crate::model::Planner;
use crate::next_step::next_step;
use crate::page::Page;
use crate::payload_outline::outline;
use crate::reader::Reader;
use crate::{conversation, decision, handoff, seen};

/// Renders the window.
pub fn view(planner: &Planner, request: &ViewRequest) -> View {
    let course = &planner.course;
    let title = match course.stage {
        Stage::Empty => "no plan yet".to_owned(),
        _ => title(planner),
    };
    let left = request.budget.saturating_sub(tokens::estimate(&title));
    let mut page = Page { planner, request, view: View::new(title), left, hidden: 0 };
    for problem in planner.problems() {
        page.text(format!("Problem: {problem}\n"));
    }
    for kept in &planner.kept {
        page.text(format!("Note: {kept}\n"));
    }
    if course.stage == Stage::Empty {
        expectation(&mut page);
        return page.view;
    }
    page.view.document(course.topic.clone());
    expectation(&mut page);
    if let Some(line) = handoff::unfinished(planner) {
        page.text(line + "\n");
    }
    if request.lod == Lod::Gist {
        if let Some(last) = course.record.statements.last() {
            let lang = course.lang();
            let gist = say_first(lang, &last.gist);
            page.text(format!("{}: {} {gist}\n", lang.pick("last", "最近"), last.who));
        }
        return page.view;
    }
    let decides = matches!(course.stage, Stage::Confirm | Stage::Accepted);
    if decides {
        seen::note(planner, &request.reader);
        decision::check(&mut page);
        decision::artifact(&mut page);
    }
    let is_given = given(&mut page);
    progress(&mut page, is_given);
    brief(&mut page);
    conversation::record(&mut page, is_given || decides);
    if !decides {
        decision::heading(&mut page);
    }
    page.view
}

fn title(planner: &Planner) -> String {
    let course = &planner.course;
    let mut title = format!("{} · {}", course.topic, place(course));
    let lang = course.lang();
    if course.cycle.number > 1 {
        title += &format!(" · {} {}", lang.pick("cycle", "循环"), course.cycle.number);
    }
    if course.paused {
        title += lang.pick(" · paused", " · 已暂停");
    }
    title
}

/// Writes who the reader is, what is expected, and how it is done.
fn expectation(page: &mut Page<'_>) {
    let (planner, reader) = (page.planner, Reader::of(&page.planner.course, &page.request.reader));
    let step = next_step(planner, &page.request.reader);
    let mut text = reader.introduced(planner).map_or_else(String::new, |line| line + "\n");
    text += &format!(
        "**{}**: {}\n`{}`\n",
        step.heading(planner.course.lang()),
        step.sentence,
        step.call
    );
    if let Some(turn) = reader.turn(planner).filter(|_| !planner.course.paused) {
        let said = say(planner.course.lang(), choices(turn.kind));
        if !said.is_empty() && reader.is_to_play(planner, turn) {
            text += &format!("{said}\n");
        }
    }
    for also in &step.also {
        text += &format!("- {also}\n");
    }
    if let Some(why) = planner.course.why() {
        text += &format!("{why}\n");
    }
    page.text(text);
}

/// Writes what the speaker is given besides the brief, which stands below. Returns true if that was
/// anything of the record.
fn given(page: &mut Page<'_>) -> bool {
    let planner = page.planner;
    let course = &planner.course;
    let reader = Reader::of(course, &page.request.reader);
    let Some(turn) = reader.turn(planner).filter(|turn| reader.is_to_play(planner, turn)) else {
        return false;
    };
    let Value::Object(payload) = course.payload_of(turn.kind, &planner.config.prompts()) else {
        return false;
    };
    let prompt = payload.get("my_prompt").and_then(Value::as_str);
    let task = prompt.and_then(|prompt| prompt.lines().next()).unwrap_or_default();
    page.text(format!("\n{} · {task}\n", turn.kind.speaker()));
    let text = outline(&payload, course.lang());
    let tokens = tokens::estimate(&text);
    match page.is_full() || (tokens <= GIVEN_MAX && page.has_room(&text, 75)) {
        true => page.text(text.clone()),
        false => {
            page.hide(tokens);
            let command = format!("`pipemux ask '{}.payload()'`", planner.session.callee);
            let who = turn.kind.speaker();
            page.text(course.lang().pick(
                format!("all that {who} is given: {command}\n"),
                format!("给 {who} 的全部内容：{command}\n"),
            ));
        }
    }
    !text.is_empty()
}

/// Writes who is next.
fn progress(page: &mut Page<'_>, is_given: bool) {
    let course = &page.planner.course;
    let is_met = course.stage == Stage::Meeting && !is_given;
    if let Some(meeting) = course.cycle.meeting.as_ref().filter(|_| is_met) {
        let waits = meeting.questions.iter().filter(|one| one.state == QuestionState::Waiting);
        let next: Vec<String> =
            waits.map(|one| format!("{}: {}", one.asker(), gist(&one.text))).collect();
        if !next.is_empty() {
            let word = course.lang().pick("to be cleared up", "待澄清");
            page.text(format!("\n{word}: {}\n", next.join(" · ")));
        }
    }
    let Stage::Round(round) = course.stage else { return };
    let reader = Reader::of(course, &page.request.reader);
    let shown = reader.turn(page.planner).map(|turn| turn.kind.speaker().name());
    let waits = |role: &Role| {
        let spoken =
            course.cycle.rounds.get(&round).is_some_and(|spoken| spoken.contains_key(role));
        !(spoken || shown == Some(role.name()) || course.cycle.left_out.contains(role))
    };
    let next: Vec<&str> =
        Role::ALL.iter().filter(|role| waits(role)).map(|role| role.name()).collect();
    let lang = course.lang();
    let word = match course.turns.open.len() > 1 {
        true => lang.pick("at the same time", "同时"),
        false => lang.pick("then", "接下来"),
    };
    let left_out: Vec<&str> = course.cycle.left_out.iter().map(|role| role.name()).collect();
    let mut text = String::new();
    if !next.is_empty() {
        text += &format!("\n{word}: {}\n", next.join(", "));
    }
    if !left_out.is_empty() {
        text += &format!("{}: {}\n", lang.pick("left out", "不参加"), left_out.join(", "));
    }
    page.text(text);
}

fn brief(page: &mut Page<'_>) {
    let (brief, lang) = (page.planner.course.brief.whole(), page.planner.course.lang());
    let text = match page.has_room(&brief, 50) {
        true => quoted(&brief),
        false => {
            page.hide(tokens::estimate(&brief));
            let all = format!("pipemux view {} --lod full", page.planner.address());
            format!("> {}\n{}: `{all}`", gist(&brief), lang.pick("all of it", "全文"))
        }
    };
    page.text(format!("\n### {}\n{text}\n", lang.pick("Brief", "需求原文")));
}
