//! The one thing that is expected now, as each reader is told: what it is to do itself, with the call, or whom it waits for,
//! with the command that waits.

use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::contract;
use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::quality::quality;
use pipemux_planner_course::turn::{Turn, flat, shown_name};
use pipemux_planner_course::{Speaker, Stage};

use crate::calls::template;
use crate::config::DriverSpec;
use crate::model::Planner;
use crate::reader::{Player, Reader};
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
    fn wait(planner: &Planner, sentence: String) -> Self {
        Self { whose: Whose::Others, sentence, call: waiting(planner), also: Vec::new() }
    }

    /// Adds what else could be done.
    fn also(mut self, line: impl Into<String>) -> Self {
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
        sentence: sentence.into(),
        call: planner.run(call),
        also: also.iter().map(|one| (*one).to_owned()).collect(),
    };
    match course.stage {
        Stage::AskIntent => {
            let prior = course.prior.clone().unwrap_or_default();
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
            let (version, lang) = (course.version(), course.lang());
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
    planner.course.version().is_some_and(|one| matches!(one.artifact, Artifact::Plan(_)))
}

/// Says that the plan can be checked, if something of it has a command.
fn check(planner: &Planner) -> Option<&'static str> {
    let Artifact::Plan(plan) = &planner.course.version()?.artifact else { return None };
    contract::criteria(plan).iter().any(|one| one.command.is_some()).then_some(
        "check(): runs the commands of its acceptance and tests, once a person allows them",
    )
}

/// Returns what the user is to do: for a reader who speaks for the user with the call, and for others to wait for.
fn of_user(
    planner: &Planner,
    reader: &Reader<'_>,
    what: &str,
    call: &str,
    also: &[&str],
) -> Expected {
    let user = planner.course.lang().pick("the user ", "由用户");
    let (sentence, call) = (format!("{user}{what}"), planner.run(call));
    if reader.speaks_for_the_user(planner) {
        let also = also.iter().map(|one| (*one).to_owned()).collect();
        return Expected { whose: Whose::Yours, sentence, call, also };
    }
    let waits = Expected::wait(planner, sentence);
    match reader.may_speak_for_the_user(planner) {
        true => waits.also(format!("if you speak for the user: `{call}`")),
        false => waits,
    }
}

fn of_expert(planner: &Planner) -> Expected {
    let sentence =
        format!("you, the invited expert, may speak at any time; now: {}", place(&planner.course));
    let call = planner.run("verdict('Expert', ok=true, reasons=['…'])");
    let has_spoken = planner.course.expert.as_ref().is_some_and(|one| !one.words.is_empty());
    match has_spoken {
        true => Expected::wait(planner, sentence).also(format!("to say more: `{call}`")),
        false => Expected { whose: Whose::Yours, sentence, call, also: vec![waiting(planner)] },
    }
}

fn of_meeting(planner: &Planner, reader: &Reader<'_>) -> Expected {
    let meeting = planner.course.meeting.clone().unwrap_or_default();
    let Some((_, question)) = meeting.open() else {
        return Expected::wait(planner, "the meeting goes on".into());
    };
    let asker = question.asker();
    // Roles may follow up, and take questions back: nobody knows the number before the end.
    let number = format!("question {} of {} so far", question.number, meeting.known());
    let answered = match question.exchange.last() {
        Some(last) if !last.starts_with("user: ") => format!("; {asker} has answered you"),
        _ => String::new(),
    };
    // A role's words can't pass for a call or a line of the window.
    let asked = flat(&question.text).replace('`', "'");
    let lang = planner.course.lang();
    let what = lang.pick(
        format!("answers {asker} ({number}{answered}): {asked}"),
        format!(
            "回答 {asker}（第 {} 个问题，到目前共 {} 个）：{asked}",
            question.number,
            meeting.known()
        ),
    );
    let also = [lang.pick(
        "say('…') asks back · \"I don\u{2019}t know\" is an answer, too",
        "say('…') 反问 · “不知道”也是回答",
    )];
    let is_driven = Speaker::ALL
        .iter()
        .any(|one| planner.driver(*one).is_ok_and(|driver| driver != DriverSpec::Agent));
    let call = lang.pick("reply('the user\u{2019}s words')", "reply('用户的原话')");
    let mut told = of_user(planner, reader, &what, call, &also);
    if is_driven && told.whose == Whose::Yours && !reader.is_person() {
        let call = planner.run("reply('…', wait=true)").replacen("run ", "run --wait 120 ", 1);
        told = told.also(format!("with the wait for the next question: `{call}`"));
    }
    told
}

fn of_turn(planner: &Planner, turn: &Turn, reader: &Reader<'_>) -> Expected {
    let speaker = turn.kind.speaker();
    let whom = format!("{speaker}, who {}", turn.kind.task());
    let call = planner.run(&template(turn.kind));
    if let Some(why) = turn.failed.as_ref().map(|why| planner.failures.get(&turn.id).unwrap_or(why))
    {
        let what = format!("decides: {speaker} gave no answer ({})", flat(why));
        let driver = format!(
            "driver('{speaker}', 'agent'): whoever reads this plays {speaker} · or the call of the turn itself: {call}"
        );
        let out = format!("leave_out('{speaker}'): then only a draft can come of this cycle");
        let also: &[&str] = match speaker {
            Speaker::Role(_) => &[&driver, &out],
            Speaker::Coach => &[&driver],
        };
        return of_user(planner, reader, &what, "retry()", also);
    }
    let yours = |sentence: String, call: String| Expected {
        whose: Whose::Yours,
        sentence,
        call,
        also: Vec::new(),
    };
    let take = planner.run(&format!("take('{speaker}')"));
    match reader.player(planner, turn) {
        Player::You => yours(format!("you play {whom}"), call),
        Player::Anyone => {
            let told = yours(format!("you may play {whom}: nobody has taken it"), call);
            match planner.course.rounds.is_empty() {
                true => told.also(format!(
                    "several readers each take a role first: `{}`",
                    take.replacen("pipemux ", "pipemux --reader NAME ", 1)
                )),
                false => told,
            }
        }
        Player::Other(taker) => {
            Expected::wait(planner, format!("reader {} plays {whom}", shown_name(&taker)))
        }
        Player::Untaken if !reader.holds.is_empty() => {
            Expected::wait(planner, format!("nobody has taken {whom}"))
                .also(format!("to play {speaker}, too: `{take}`"))
        }
        Player::Untaken if reader.is_user => {
            yours(format!("nobody has taken {whom}: see to it that somebody does"), take.clone())
                .also(format!(
                    "for another reader: `{}`",
                    take.replacen("pipemux ", "pipemux --reader NAME ", 1)
                ))
        }
        Player::Untaken => yours(format!("you may take {whom}"), take)
            .also(format!("to look on: `{}`", waiting(planner))),
        Player::Driver(name)
            if !(planner.plays_elsewhere() || planner.has_acted && planner.is_trusted()) =>
        {
            let sentence =
                format!("{name} is to play {whom}: nothing is started before somebody says so");
            let told = yours(sentence, planner.run("go()"));
            let other = format!("driver('{speaker}', 'agent'): whoever reads this plays {speaker}");
            if reader.may_speak_for_the_user(planner) { told.also(other) } else { told }
        }
        Player::Driver(name) => {
            // One session of a project has the roles played; the others look on.
            let session = if planner.claim.is_some() { "" } else { " in another session" };
            let others = match planner.course.open_turns.len().saturating_sub(1) {
                0 => String::new(),
                more => format!("; {more} more at the same time"),
            };
            let told = Expected::wait(
                planner,
                format!("{name} plays {speaker}{session}, who {}{others}", turn.kind.task()),
            );
            let other = format!("driver('{speaker}', 'agent') takes the turn · pause()");
            if reader.may_speak_for_the_user(planner) { told.also(other) } else { told }
        }
    }
}

/// Returns the command that waits for something to be said; a gist, since that is repeated for each turn of a course.
fn waiting(planner: &Planner) -> String {
    format!("pipemux view {} --wait 60 --lod gist", planner.address())
}
