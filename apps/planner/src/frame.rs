//! The words of the frame in the language of the brief: stages, verdicts, what speakers do. JSON
//! keys and calls stay English, and so does the record, which is the same for all who read it.

use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::{Course, Role, Stage};

/// The translations of phrases from English to Chinese.
const WORDS: [(&str, &str); 47] = [
    // Stages.
    ("intent", "判断意图"),
    ("intent: you are asked", "判断意图：请你说明"),
    ("clarification meeting", "澄清小会"),
    ("extraction", "提炼共识"),
    ("synthesis", "总结"),
    ("writing the plan", "撰写规划案"),
    ("your decision", "由你决定"),
    ("accepted", "已接受"),
    ("discarded", "已放弃"),
    ("decision", "决定"),
    ("hand-over", "交接"),
    // Verdicts.
    ("agree", "同意"),
    ("block", "反对"),
    ("concern", "保留"),
    ("passed", "通过"),
    ("failed", "未通过"),
    ("not run", "未运行"),
    ("is running", "正在进行"),
    (
        "has no end on record: it was cut off, unless another session runs it",
        "没有结束记录：已中断，除非另一会话正在进行",
    ),
    ("a new cycle with what failed", "以未通过的内容开始新的循环"),
    ("wrote the plan", "写好了规划案"),
    // What speakers do.
    ("judges what the earlier file is for", "判断文件用途"),
    ("judges the brief", "判断需求"),
    ("decides whether its question still needs asking", "决定自己的问题是否还需要问"),
    ("may ask one more question", "可以再问一个问题"),
    ("answers what the user asked back", "回答用户的反问"),
    ("extracts what was agreed in rounds 1 and 2", "提炼前两轮的共识"),
    ("confirms what the coach wrote of it", "确认敏捷教练所写的内容"),
    ("sums up what was agreed", "总结共识"),
    ("writes the plan", "撰写规划案"),
    // What an answer may be.
    (
        "ok: true agrees, false blocks, null has a concern; questions: up to 3 that only the user can answer",
        "ok：true 同意，false 反对，null 保留；questions：至多 3 个只有用户能回答的问题",
    ),
    (
        "action: ask, skip, or modify with question: 'the new wording'; the user sees the reason",
        "action：ask、skip，或 modify 并给出 question: '新的措辞'；用户会看到 reason",
    ),
    (
        "question: null for none, or one more question to the user",
        "question：没有则为 null，否则再问用户一个问题",
    ),
    (
        "intent: refine, new_with_reference, new, continue_discussion, or unsure: then the user is asked",
        "intent：refine、new_with_reference、new、continue_discussion，或 unsure（则询问用户）",
    ),
    (
        "for each point, in order: 'yes', 'no' or {reword: '…'}",
        "依次对每一点回答：'yes'、'no' 或 {reword: '…'}",
    ),
    (
        "a point that not all roles share: {point: '…', roles: ['TestPlanner']}",
        "并非所有角色都同意的一点：{point: '…', roles: ['TestPlanner']}",
    ),
    (
        "reserved_points: [{role, concern, severity: 'warning'|'error'}]; strong_disagreements: [{topic, positions: {Role: \
             '…'}}]: of five agreements they become risks, else the roles confirm them",
        "reserved_points: [{role, concern, severity: 'warning'|'error'}]; strong_disagreements: [{topic, positions: {Role: \
             '…'}}]：五个角色都同意时成为风险，否则由各角色确认",
    ),
    (
        "ids link: acceptance to a requirement, tests to what they cover, risks to what they affect; also constraints and \
             decisions: lists of texts; acceptance and tests may have a command, a line of sh that ends with status 0 once it holds",
        "id 互相关联：acceptance 对应 requirement，test 对应其 covers，risk 对应其 affects；另有 constraints、decisions 文本列表；\
             acceptance 与 test 可以有 command：一行 sh，成立时以状态 0 结束",
    ),
    // What else could be done.
    ("the meeting goes on", "小会还在进行"),
    ("it is accepted; it can be handed over", "已接受；可以交接"),
    ("it is discarded; its versions stay", "已放弃；各版本保留"),
    (
        "plan('…'): the next topic · adjust('…'): a new cycle",
        "plan('…')：下一个主题 · adjust('…')：新的循环",
    ),
    (
        "adjust('what is to be different'): a new cycle, with what was agreed",
        "adjust('要改变什么')：新的循环，保留已达成的共识",
    ),
    (
        "handoff(): gives it to a command, or prints it · discard() · back('round3')",
        "handoff()：交给命令，或打印出来 · discard()：放弃 · back('round3')：重新进行最后一轮",
    ),
    ("lets it go on: it is paused", "让讨论继续：现在已暂停"),
    (
        "check(): runs the commands of its acceptance and tests, once a person allows them",
        "check()：在人允许之后，运行验收与测试的命令",
    ),
    (
        "`pipemux run 'memotree.add_many(planner.nodes())'`: its requirements into the memory tree",
        "`pipemux run 'memotree.add_many(planner.nodes())'`：把需求条目放入记忆树",
    ),
];

/// Returns a word or a sentence of the frame in a language: a stage with its number, too. What
/// isn't known stays as it is.
pub fn say(lang: Lang, english: &str) -> String {
    if lang == Lang::English {
        return english.to_owned();
    }
    if let Some(number) = english.strip_prefix("round ") {
        return format!("第 {number} 轮");
    }
    let known = WORDS.iter().find(|(word, _)| *word == english);
    known.map_or(english, |(_, chinese)| chinese).to_owned()
}

/// Returns a gist or a verdict with its first word in a language: `block · the migration is
/// missing`.
pub fn say_first(lang: Lang, gist: &str) -> String {
    match gist.split_once(" · ") {
        Some((first, rest)) => format!("{} · {rest}", say(lang, first)),
        None => say(lang, gist),
    }
}

/// Returns how far a course is: `round 2 · 3 of 5`.
pub fn place(course: &Course) -> String {
    let lang = course.lang();
    let stage = say(lang, &course.stage.shown());
    match course.stage {
        Stage::Round(round) if !course.turns.open.is_empty() => {
            let has_spoken =
                |role: &Role| course.cycle.verdicts(round).any(|(other, _)| other == *role);
            let waits = |role: &&Role| !has_spoken(role) && !course.cycle.left_out.contains(role);
            let number = 6 - Role::ALL.iter().filter(waits).count();
            lang.pick(format!("{stage} · {number} of 5"), format!("{stage} · {number}/5"))
        }
        _ => stage,
    }
}

#[cfg(test)]
mod tests {
    use pipemux_planner_course::turn::TurnKind;

    use super::*;
    use crate::calls::choices;

    #[test]
    fn each_stage_and_task_is_said_in_chinese() {
        use Stage::*;
        let is_said = |english: &str| say(Lang::Chinese, english) != english;
        let stages = [Intent, AskIntent, Round(2), Meeting, Extraction, Synthesis(1), Plan(3)];
        for stage in stages.into_iter().chain([Confirm, Accepted, Discarded]) {
            assert!(is_said(&stage.shown()), "{stage:?}");
        }
        let role = Role::TestPlanner;
        for kind in [
            TurnKind::Intent,
            TurnKind::Verdict(1, role),
            TurnKind::Judge(role, 0),
            TurnKind::FollowUp(role),
            TurnKind::AnswerBack(role, 0),
            TurnKind::Extraction,
            TurnKind::Confirm(role),
            TurnKind::Synthesis,
            TurnKind::Plan,
        ] {
            assert!(is_said(kind.task()), "{kind:?}");
            assert!(is_said(choices(kind)) || choices(kind).is_empty(), "{kind:?}");
        }
        assert_eq!(say_first(Lang::Chinese, "block · no · yes"), "反对 · no · yes");
        assert_eq!(say_first(Lang::English, "block · no"), "block · no");
    }
}
