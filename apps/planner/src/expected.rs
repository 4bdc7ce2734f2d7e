//! The one thing that is expected now, as each reader is told: what it is to do itself, with the
//! call, or whom it waits for, with the command that waits.

use pipemux_planner_course::Stage;
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::contract;
use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::quality::quality;
use pipemux_planner_course::text::flat;

use crate::expected_turn::of_turn;
use crate::frame::say;
use crate::model::Planner;
use crate::reader::Reader;
use crate::window::place;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// That of the reader who is told.
    Yours,
    /// Somebody else's: the reader waits.
    Others,
    /// Nobody's: it is over.
    Nobody,
}

/// What is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Whose turn it is.
    pub whose: Whose,
    /// Who is to do what.
    pub sentence: String,
    /// The whole command for the reader: what does it, or what waits.
    pub call: String,
    /// What else could be done, a line each.
    pub also: Vec<String>,
}

impl Expected {
    /// Returns what stands before the sentence.
    pub fn heading(&self, lang: Lang) -> &'static str {
        match self.whose {
            Whose::Yours => lang.pick("Expected of you now", "现在请你"),
            Whose::Others => lang.pick("Wait", "请等待"),
            Whose::Nobody => lang.pick("Done", "完成"),
        }
    }

    /// Returns what is expected, in a line.
    pub fn line(&self, lang: Lang) -> String {
        format!("{}: {}", self.heading(lang).to_lowercase(), self.sentence)
    }

    /// Has the reader wait.
    pub fn wait(planner: &Planner, sentence: String) -> Self {
        Self { whose: Whose::Others, sentence, call: waiting(planner), also: Vec::new() }
    }

    /// Adds what else could be done.
    pub fn also(mut self, line: impl Into<String>) -> Self {
        self.also.push(line.into());
        self
    }
}

/// Returns what is expected now, as one reader is told.
pub fn expected(planner: &Planner, name: &str) -> Expected {
    let course = &planner.course;
    let reader = Reader::of(course, name);
    if course.paused && course.stage != Stage::Empty {
        return of_user(planner, &reader, "lets it go on: it is paused", "resume()", &[]);
    }
    let is_over = matches!(course.stage, Stage::Confirm | Stage::Accepted | Stage::Discarded);
    if reader.is_expert && !is_over {
        return of_expert(planner);
    }
    if let Some(turn) = reader.turn(planner) {
        return of_turn(planner, turn, &reader);
    }
    let over = |sentence: &str, call: &str, also: &[&str]| Expected {
        whose: Whose::Nobody,
        sentence: say(course.lang(), sentence),
        call: planner.run(call),
        also: also.iter().map(|one| say(course.lang(), one)).collect(),
    };
    match course.stage {
        Stage::AskIntent => {
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
            of_user(planner, &reader, &what, "intent('refine')", &also)
        }
        Stage::Meeting => of_meeting(planner, &reader),
        Stage::Confirm => {
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
                        .pick(
                            "decides on the draft: 1 objection stands",
                            "决定规划草案：还有 1 条异议",
                        )
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
            also.extend(check(planner));
            of_user(planner, &reader, &what, "accept()", &also)
        }
        Stage::Accepted => {
            let also = ["plan('…'): the next topic · adjust('…'): a new cycle"];
            let nodes = is_plan(planner).then_some(NODES);
            let also: Vec<&str> = also.into_iter().chain(check(planner)).chain(nodes).collect();
            over("it is accepted; it can be handed over", "handoff()", &also)
        }
        Stage::Discarded => over("it is discarded; its versions stay", "plan('…')", &[]),
        _ => Expected {
            whose: Whose::Yours,
            sentence: "say what is to be planned".into(),
            call: planner.run("plan('what you want, and why')"),
            also: vec!["with an earlier plan, draft or note: plan('…', from='FILE')".into()],
        },
    }
}

/// How the requirements of a plan come into the memory tree.
const NODES: &str =
    "`pipemux run 'memotree.add_many(planner.nodes())'`: its requirements into the memory tree";

fn is_plan(planner: &Planner) -> bool {
    planner.course.versions.newest().is_some_and(|one| matches!(one.artifact, Artifact::Plan(_)))
}

/// Says that the plan can be checked, if something of it has a command.
fn check(planner: &Planner) -> Option<&'static str> {
    let Artifact::Plan(plan) = &planner.course.versions.newest()?.artifact else { return None };
    contract::criteria(plan).iter().any(|one| one.command.is_some()).then_some(
        "check(): runs the commands of its acceptance and tests, once a person allows them",
    )
}

/// Returns what the user is to do: for a reader who speaks for the user with the call, and for
/// others to wait for.
pub fn of_user(
    planner: &Planner,
    reader: &Reader<'_>,
    what: &str,
    call: &str,
    also: &[&str],
) -> Expected {
    let lang = planner.course.lang();
    let user = lang.pick("the user ", "由用户");
    let (sentence, call) = (format!("{user}{}", say(lang, what)), planner.run(call));
    if reader.speaks_for_the_user(planner) {
        let also = also.iter().map(|one| say(lang, one)).collect();
        return Expected { whose: Whose::Yours, sentence, call, also };
    }
    let waits = Expected::wait(planner, sentence);
    match reader.may_speak_for_the_user(planner) {
        true => waits.also(lang.pick(
            format!("if you speak for the user: `{call}`"),
            format!("如果你代表用户：`{call}`"),
        )),
        false => waits,
    }
}

/// The expert is asked once in each round and in the meeting, and may speak at any other time.
/// Nobody waits for it.
fn of_expert(planner: &Planner) -> Expected {
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
        false => Expected::wait(planner, sentence)
            .also(lang.pick(format!("to say more: `{call}`"), format!("还要说：`{call}`"))),
        true => Expected { whose: Whose::Yours, sentence, call, also: vec![waiting(planner)] },
    }
}

/// Returns true for the gist of a verdict, none of that somebody joined.
fn is_word(gist: &str) -> bool {
    ["agree · ", "block · ", "concern · "].iter().any(|word| gist.starts_with(word))
}

fn of_meeting(planner: &Planner, reader: &Reader<'_>) -> Expected {
    let meeting = planner.course.cycle.meeting.clone().unwrap_or_default();
    let Some((_, question)) = meeting.open() else {
        let sentence = say(planner.course.lang(), "the meeting goes on");
        return Expected::wait(planner, sentence);
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

/// Returns the command that waits until something is expected of whoever gives it.
pub fn waiting(planner: &Planner) -> String {
    planner.run("turn()").replacen("run ", "run --wait 300 ", 1)
}
