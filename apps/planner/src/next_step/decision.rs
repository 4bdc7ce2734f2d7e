//! The next step when the user has to decide: what an earlier file is for, or whether to accept a
//! plan or draft.

use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::contract;
use pipemux_planner_course::quality::quality;
use pipemux_planner_course::text::flat;

use crate::model::Planner;
use crate::next_step::step::{NextStep, of_user};
use crate::reader::Reader;

/// The user says what an earlier file is for.
pub fn of_intent(planner: &Planner, reader: &Reader<'_>) -> NextStep {
    let course = &planner.course;
    let prior = course.brief.prior.clone().unwrap_or_default();
    let (source, title) = (flat(&prior.source), flat(&prior.title));
    let what = course.lang().pick(
        format!(
            "says what the file is for: I see {source}, which looks like a {} ({title}). Is it there to be refined, or something else?",
            prior.kind
        ),
        format!(
            "说明文件用途：我看到你上传了 {source}，看着是一份{}（{title}）。你是想基于这份文件来细化需求，还是其他目的？",
            match prior.kind.as_str() {
                "plan" => "规划案",
                "draft" => "规划草案",
                _ => "笔记",
            }
        ),
    );
    let also = course.lang().pick([

        "intent('new_with_reference'): a new plan that may look at it",
        "intent('new'): a new plan without it · intent('continue_discussion'): go on where it stopped",
        "intent('other', words='…'): in the user's own words",
    ], [
        "intent('new_with_reference')：全新的规划，但参考这份文件",
        "intent('new')：全新的规划，不用它 · intent('continue_discussion')：从上次停下的地方继续",
        "intent('other', words='…')：用用户自己的话说明",
    ]);
    of_user(planner, reader, &what, "intent('refine')", &also)
}

/// The user decides on a plan or a draft.
pub fn of_confirm(planner: &Planner, reader: &Reader<'_>) -> NextStep {
    let course = &planner.course;
    let (version, lang) = (course.versions.newest(), course.lang());
    let what = match version.map(|version| &version.artifact) {
        Some(Artifact::Plan(plan)) => {
            let agreed = match version.is_some_and(|version| version.edited) {
                true => lang.pick(
                    "it was edited by hand since all five agreed",
                    "五个角色同意之后被手工修改",
                ),
                false => lang.pick("all five agree", "五个角色都同意"),
            };
            let percent = quality(plan).percent();
            lang.pick(
                format!("decides on the plan: {agreed} · quality {percent} %"),
                format!("决定规划案：{agreed} · 质量 {percent} %"),
            )
        }
        _ => match version.map_or(0, |one| one.objections.len()) {
            1 => lang
                .pick("decides on the draft: 1 objection stands", "决定规划草案：还有 1 条异议")
                .to_owned(),
            more => lang.pick(
                format!("decides on the draft: {more} objections stand"),
                format!("决定规划草案：还有 {more} 条异议"),
            ),
        },
    };
    let mut also = vec![
        "adjust('what is to be different'): a new cycle, with what was agreed",
        "handoff(): gives it to a command, or prints it · discard() · back('round3')",
    ];
    also.extend(checkable(planner));
    of_user(planner, reader, &what, "accept()", &also)
}

/// How the requirements of a plan come into the memory tree.
pub(super) const NODES: &str =
    "`pipemux run 'memotree.add_many(planner.nodes())'`: its requirements into the memory tree";

pub(super) fn is_plan(planner: &Planner) -> bool {
    planner.course.versions.newest().is_some_and(|one| matches!(one.artifact, Artifact::Plan(_)))
}

/// Says that the plan can be checked, if something of it has a command.
pub(super) fn checkable(planner: &Planner) -> Option<&'static str> {
    let Artifact::Plan(plan) = &planner.course.versions.newest()?.artifact else { return None };
    contract::criteria(plan).iter().any(|one| one.command.is_some()).then_some(
        "check(): runs the commands of its acceptance and tests, once a person allows them",
    )
}
