//! The next step while a turn is open: for its player, and for those who wait.

use pipemux_planner_course::Speaker;
use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::text::{flat, shown_name};
use pipemux_planner_course::turn::{Turn, TurnKind};

use crate::calls::template;
use crate::frame::say;
use crate::model::Planner;
use crate::next_step::step::{NextStep, Whose, of_user, waiting};
use crate::reader::{Player, Reader};

/// What is said of an open turn.
struct Words {
    speaker: Speaker,
    lang: Lang,
    /// What the speaker does: `judges the brief`.
    task: String,
    /// The speaker with its task.
    whom: String,
    /// The call that has the reader play the speaker.
    played: String,
    /// The call that takes the speaker.
    take: String,
    /// The same for another reader.
    named: String,
}

impl Words {
    fn of(planner: &Planner, turn: &Turn) -> Self {
        let (speaker, lang) = (turn.kind.speaker(), planner.course.lang());
        let task = say(lang, turn.kind.task());
        let whom = lang.pick(format!("{speaker}, who {task}"), format!("{speaker}：{task}"));
        let played = lang.pick(
            format!("driver('{speaker}', 'agent'): whoever reads this plays {speaker}"),
            format!("driver('{speaker}', 'agent')：由读到这里的人扮演 {speaker}"),
        );
        let take = planner.run(&format!("take('{speaker}')"));
        let named = take.replacen("pipemux ", "pipemux --reader NAME ", 1);
        Self { speaker, lang, task, whom, played, take, named }
    }
}

fn yours(sentence: String, call: String) -> NextStep {
    NextStep { whose: Whose::Yours, sentence, call, also: Vec::new() }
}

/// Returns what a reader is to do while this turn is open.
pub fn of_turn(planner: &Planner, turn: &Turn, reader: &Reader<'_>) -> NextStep {
    let words = Words::of(planner, turn);
    let Words { lang, whom, .. } = &words;
    let subjects = subjects(planner, turn.kind);
    let answers = format!("['yes'{}]", ", 'yes'".repeat(subjects.len().saturating_sub(1)));
    let call = planner.run(&template(turn.kind).replace("['yes']", &answers));
    if let Some(why) = turn.failed.as_ref().map(|why| planner.failures.get(&turn.id).unwrap_or(why))
    {
        return of_failed(planner, reader, &words, why, &call);
    }
    match reader.player(planner, turn) {
        Player::You => {
            let step = yours(lang.pick(format!("you play {whom}"), format!("你扮演 {whom}")), call);
            subjects.into_iter().fold(step, NextStep::also).also(lang.pick(
                "with `run --wait 300`, `; planner.turn()` behind it waits for your next turn",
                "用 `run --wait 300` 并在其后加 `; planner.turn()`，即等到你的下一轮",
            ))
        }
        Player::Anyone => {
            let sentence = lang.pick(
                format!("you may play {whom}: nobody has taken it"),
                format!("你可以扮演 {whom}（还没有人担任）"),
            );
            let step = subjects.into_iter().fold(yours(sentence, call), NextStep::also);
            let named = &words.named;
            match planner.course.cycle.rounds.is_empty() {
                true => step.also(lang.pick(
                    format!("several readers each take a role first: `{named}`"),
                    format!("多个读者先各自担任一个角色：`{named}`"),
                )),
                false => step,
            }
        }
        Player::Other(taker) => {
            let taker = shown_name(&taker);
            let sentence = lang
                .pick(format!("reader {taker} plays {whom}"), format!("读者 {taker} 扮演 {whom}"));
            NextStep::wait(planner, sentence)
        }
        Player::Untaken => of_untaken(planner, reader, words),
        Player::Driver(name) => of_driver(planner, reader, &name, words),
    }
}

/// The user decides on a turn that was not answered.
fn of_failed(
    planner: &Planner,
    reader: &Reader<'_>,
    words: &Words,
    why: &str,
    call: &str,
) -> NextStep {
    let (Words { speaker, lang, played, .. }, why) = (words, flat(why));
    let what = lang.pick(
        format!("decides: {speaker} gave no answer ({why})"),
        format!("决定：{speaker} 没有回答（{why}）"),
    );
    let driver = lang.pick(
        format!("{played} · or the call of the turn itself: {call}"),
        format!("{played} · 或直接调用：{call}"),
    );
    let out = lang.pick(
        format!("leave_out('{speaker}'): then only a draft can come of this cycle"),
        format!("leave_out('{speaker}')：则本循环只能产出规划草案"),
    );
    let also: &[&str] = match speaker {
        Speaker::Role(_) => &[&driver, &out],
        Speaker::Coach => &[&driver],
    };
    of_user(planner, reader, &what, "retry()", also)
}

/// Somebody has to take the speaker, since readers have taken others.
fn of_untaken(planner: &Planner, reader: &Reader<'_>, words: Words) -> NextStep {
    let Words { speaker, lang, whom, take, named, .. } = words;
    if !reader.holds.is_empty() {
        let sentence =
            lang.pick(format!("nobody has taken {whom}"), format!("还没有人担任 {whom}"));
        return NextStep::wait(planner, sentence).also(lang.pick(
            format!("to play {speaker}, too: `{take}`"),
            format!("也扮演 {speaker}：`{take}`"),
        ));
    }
    if reader.is_user {
        let sentence = lang.pick(
            format!("nobody has taken {whom}: see to it that somebody does"),
            format!("还没有人担任 {whom}，请安排"),
        );
        return yours(sentence, take).also(
            lang.pick(format!("for another reader: `{named}`"), format!("给另一个读者：`{named}`")),
        );
    }
    let look = waiting(planner);
    yours(lang.pick(format!("you may take {whom}"), format!("你可以担任 {whom}")), take)
        .also(lang.pick(format!("to look on: `{look}`"), format!("只是观看：`{look}`")))
}

/// A driver plays the speaker, once somebody has said so.
fn of_driver(planner: &Planner, reader: &Reader<'_>, name: &str, words: Words) -> NextStep {
    let Words { speaker, lang, task, whom, played, .. } = words;
    let may_decide = reader.may_speak_for_the_user(planner);
    if !(planner.plays_elsewhere() || planner.has_acted && planner.is_trusted()) {
        let sentence = lang.pick(
            format!("{name} is to play {whom}: nothing is started before somebody says so"),
            format!("将由 {name} 扮演 {whom}；在有人发话之前不会启动"),
        );
        let step = yours(sentence, planner.run("go()"));
        return if may_decide { step.also(played) } else { step };
    }
    // One session of a project has the roles played; the others look on.
    let is_here = planner.workers.claim.is_some();
    let session = if is_here { "" } else { lang.pick(" in another session", "（另一会话）") };
    let others = match planner.course.turns.open.len().saturating_sub(1) {
        0 => String::new(),
        more => {
            lang.pick(format!("; {more} more at the same time"), format!("；同时还有 {more} 个"))
        }
    };
    let step = NextStep::wait(
        planner,
        lang.pick(
            format!("{name} plays {speaker}{session}, who {task}{others}"),
            format!("{name} 扮演 {speaker}{session}：{task}{others}"),
        ),
    );
    let other = lang.pick(
        format!("driver('{speaker}', 'agent') takes the turn · pause()"),
        format!("driver('{speaker}', 'agent') 接过发言 · pause()：暂停"),
    );
    if may_decide { step.also(other) } else { step }
}

/// Returns what a turn is about: the question that is judged or answered, or the points to be
/// confirmed, numbered.
fn subjects(planner: &Planner, kind: TurnKind) -> Vec<String> {
    // A role's words can't pass for a call or a line of the window.
    let plain = |text: &str| flat(text).replace('`', "'");
    let course = &planner.course;
    match kind {
        TurnKind::Judge(_, at) | TurnKind::AnswerBack(_, at) => {
            let meeting = course.cycle.meeting.as_ref();
            let question = meeting.and_then(|meeting| meeting.questions.get(at));
            let lang = course.lang();
            let line =
                |text: String| lang.pick(format!("the question: {text}"), format!("问题：{text}"));
            question.map(|question| line(plain(&question.text))).into_iter().collect()
        }
        TurnKind::Confirm(role) => {
            let points = course.cycle.signing.iter().flat_map(|signing| signing.of(role));
            let lines = points.zip(1..).map(|(point, number)| {
                format!(
                    "{number}. {}: {}",
                    say(course.lang(), point.kind.name()),
                    plain(&point.text)
                )
            });
            lines.collect()
        }
        _ => Vec::new(),
    }
}
