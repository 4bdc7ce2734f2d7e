//! The next step in a meeting, and for the invited expert.

use pipemux_planner_course::Stage;
use pipemux_planner_course::text::flat;

use crate::frame::{place, say};
use crate::model::Planner;
use crate::next_step::step::{NextStep, Whose, of_user, waiting};
use crate::reader::Reader;

/// The expert is asked once in each round and in the meeting, and may speak at any other time.
/// Nobody waits for it.
pub fn of_expert(planner: &Planner) -> NextStep {
    let (course, lang) = (&planner.course, planner.course.lang());
    let (stage, now) = (course.stage.shown(), place(course));
    let sentence = lang.pick(
        format!("you, the invited expert, may speak at any time; now: {now}"),
        format!("你是受邀专家，可以随时发言；现在：{now}"),
    );
    let call = planner.run("verdict('Expert', ok=true, reasons=['…'])");
    let here = course.record.statements.iter().rev().take_while(|said| said.place == stage);
    let has_spoken = here.filter(|said| said.who == "Expert").any(|said| is_word(&said.gist));
    let is_asked = matches!(course.stage, Stage::Round(_) | Stage::Meeting) && !has_spoken;
    match is_asked {
        false => NextStep::wait(planner, sentence)
            .also(lang.pick(format!("to say more: `{call}`"), format!("还要说：`{call}`"))),
        true => NextStep { whose: Whose::Yours, sentence, call, also: vec![waiting(planner)] },
    }
}

/// Returns true for the gist of a verdict, none of that somebody joined.
fn is_word(gist: &str) -> bool {
    ["agree · ", "block · ", "concern · "].iter().any(|word| gist.starts_with(word))
}

pub fn of_meeting(planner: &Planner, reader: &Reader<'_>) -> NextStep {
    let meeting = planner.course.cycle.meeting.clone().unwrap_or_default();
    let Some((_, question)) = meeting.open() else {
        let sentence = say(planner.course.lang(), "the meeting goes on");
        return NextStep::wait(planner, sentence);
    };
    let asker = question.asker();
    // Roles may follow up, and take questions back: nobody knows the number before the end.
    let number = format!("question {} of {} so far", question.number, meeting.known());
    let answered = match question.exchange.last() {
        Some(last) if !last.starts_with("user: ") => planner
            .course
            .lang()
            .pick(format!("; {asker} has answered you"), format!("；{asker} 已回答你")),
        _ => String::new(),
    };
    // A role's words can't pass for a call or a line of the window.
    let asked = flat(&question.text).replace('`', "'");
    let lang = planner.course.lang();
    let what = lang.pick(
        format!("answers {asker} ({number}{answered}): {asked}"),
        format!(
            "回答 {asker}（第 {} 个问题，到目前共 {} 个{answered}）：{asked}",
            question.number,
            meeting.known()
        ),
    );
    let also = [lang.pick(
        "say('…') asks back · \"I don\u{2019}t know\" is an answer, too",
        "say('…') 反问 · “不知道”也是回答",
    )];
    let call = lang.pick("reply('the user\u{2019}s words')", "reply('用户的原话')");
    let mut told = of_user(planner, reader, &what, call, &also);
    if told.whose == Whose::Yours && !reader.is_person() {
        let call = planner.run("reply('…', wait=true)").replacen("run ", "run --wait 300 ", 1);
        told = told.also(lang.pick(
            format!("with the wait for the next question: `{call}`"),
            format!("并等待下一个问题：`{call}`"),
        ));
    }
    told
}
