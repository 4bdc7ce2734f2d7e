//! The state of a course, and how entries change it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::event::{By, Effect, Entry, Event, Prior, Refusal, SIGNED};
use crate::limits::ENTRIES_MAX;
use crate::meeting::Meeting;
pub use crate::parts::{Addition, Expert, Said, Version};
use crate::parts::{verdict_text, within};
use crate::role::{Role, Speaker};
use crate::signing::{self, Signing};
pub use crate::stage::Stage;
use crate::turn::{self, Extraction, Intent, Spoken, Synthesis, Turn, TurnKind, Verdict};
use crate::{control, sections};

/// A course. [`Course::apply`] is all that changes one.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "the names say it, and the types tell the rest")]
pub struct Course {
    pub topic: String,
    pub stage: Stage,
    pub paused: bool,
    pub brief: String,
    pub additions: Vec<Addition>,
    /// Changes with the brief, so that a verdict tells which one it judges.
    pub revision: u32,
    pub prior: Option<Prior>,
    pub history: Vec<String>,
    pub intent: Option<(Intent, String)>,
    /// Cycles that were begun.
    pub cycle: u32,
    /// The verdicts of this cycle, by round.
    pub rounds: BTreeMap<u8, BTreeMap<Role, Spoken>>,
    pub left_out: BTreeSet<Role>,
    /// The rules that it follows: [`RULES`](crate::event::RULES) for a new one.
    pub rules: u32,
    /// The reader who gave the brief: the user speaks through it.
    pub user: String,
    /// The readers who took a role, or the coach.
    pub takers: BTreeMap<Speaker, String>,
    pub meeting: Option<Meeting>,
    pub extraction: Option<Extraction>,
    pub synthesis: Option<Synthesis>,
    /// What roles are to confirm before it stands.
    pub signing: Option<Signing>,
    /// What roles have agreed on in this cycle, word for word.
    pub signed: BTreeSet<String>,
    /// True if the roles of round 2 are asked at the same time, too.
    pub parallel: bool,
    pub expert: Option<Expert>,
    /// The turns that are open, in the order in which they were opened.
    pub open_turns: Vec<Turn>,
    pub versions: Vec<Version>,
    /// The newest version's file, if somebody wrote it in another form that says the same.
    pub(crate) written: Option<String>,
    /// All that was said, in order; shared between the states that know it.
    pub said: Vec<Arc<Said>>,
    /// The lines of `planning.clarification.jsonl`.
    pub lines: Vec<Arc<Value>>,
    /// Hand-overs so far.
    pub handed_over: u32,
    /// True once round 2 has begun in this cycle: then nothing comes about without a meeting.
    pub(crate) meeting_due: bool,
    pub(crate) reached: BTreeSet<Stage>,
    pub(crate) turns: u64,
    pub(crate) entries: u64,
    pub(crate) now: String,
}

impl Course {
    /// Takes one entry, or refuses it: then nothing has changed.
    ///
    /// # Errors
    /// What is wrong with it now, and the call that is right.
    pub fn apply(&mut self, entry: &Entry) -> Result<Vec<Effect>, Refusal> {
        // What is there can be decided on all the same.
        let most = if entry.event.decides() { 2 * ENTRIES_MAX } else { ENTRIES_MAX };
        if self.entries >= most {
            let file = self.version().map_or("FILE", |version| version.artifact.file());
            let call =
                format!("plan('…', from='.planning/{}/{file}', intent='refine')", self.topic);
            return Err(Refusal::new("this topic's record is full: go on in a new topic", call));
        }
        let mut next = self.clone();
        next.now.clone_from(&entry.ts);
        next.entries += 1;
        let mut effects = Vec::new();
        next.take(entry, &mut effects)?;
        next.advance(&mut effects);
        *self = next;
        Ok(effects)
    }

    fn take(&mut self, entry: &Entry, effects: &mut Vec<Effect>) -> Result<(), Refusal> {
        if !matches!(entry.event, Event::Start { .. }) && self.stage == Stage::Empty {
            let call = match entry.event {
                // Who plays a role isn't to write the brief.
                Event::Take { .. } => "turn()",
                _ => "plan('what you want, and why')",
            };
            return Err(Refusal::new("there is no brief yet", call));
        }
        match &entry.event {
            Event::Start { topic, brief, prior, history, rules, parallel } => {
                self.start(topic, brief, prior.as_deref(), history)?;
                (self.rules, self.parallel) = (*rules, *parallel);
                self.user.clone_from(&entry.by.reader);
                Ok(())
            }
            Event::Intent { intent, words } => self.set_intent(*intent, words, &entry.by),
            Event::Answered { turn, answer, missing } => {
                self.answered(*turn, answer, missing, &entry.by, effects)
            }
            Event::Failed { turn, reason } => {
                let open = self.open_turn(*turn)?;
                open.failed = Some(turn::gist(reason));
                let (who, place) = (open.kind.speaker().name().to_owned(), self.stage.shown());
                self.note(place, who, &entry.by, format!("no answer · {reason}"), reason);
                Ok(())
            }
            Event::Retry => self.retry(effects),
            Event::LeaveOut { role } => self.leave_out(*role, &entry.by, effects),
            Event::Take { role } => self.take_role(*role, &entry.by),
            Event::Reply { question, text } => {
                self.reply(*question, &within(text)?, &entry.by, effects)
            }
            Event::Say { text } => self.say(&within(text)?, &entry.by, effects),
            Event::Adjust { text } => self.adjust(&within(text)?, &entry.by, effects),
            Event::Accept => self.decide(Stage::Accepted, &entry.by),
            Event::Discard => self.decide(Stage::Discarded, &entry.by),
            Event::Pause => self.pause(effects),
            Event::Resume => self.resume(effects),
            Event::Back { stage } => self.back(*stage, &entry.by, effects),
            Event::Invite { reader, veto } => self.invite(reader, *veto, &entry.by),
            Event::ExpertSpoke { ok, text } => self.expert_spoke(*ok, &within(text)?, &entry.by),
            Event::Edited { text } => self.edited(text, &entry.by, effects),
            Event::RollBack { to } => self.roll_back(*to, &entry.by, effects),
            Event::HandedOver { number, hash, confirmed, command } => {
                self.handed_over = self.handed_over.max(*number);
                let how =
                    if command.is_empty() { "printed".into() } else { format!("to {command}") };
                let risk = if *confirmed { " · a draft; the user knows the risk" } else { "" };
                let text = format!("hand-over {number}: {how} · sha256 {hash}{risk}");
                self.note("hand-over".into(), "user".into(), &entry.by, text.clone(), &text);
                Ok(())
            }
        }
    }

    fn start(
        &mut self,
        topic: &str,
        brief: &str,
        prior: Option<&Prior>,
        history: &[String],
    ) -> Result<(), Refusal> {
        if self.stage != Stage::Empty {
            return Err(Refusal::new(
                "this topic has a brief already",
                "adjust('what is to be different')",
            ));
        }
        self.topic = turn::flat(topic);
        self.brief = within(brief)?;
        self.history = history.to_vec();
        self.cycle = 1;
        self.prior = prior.cloned();
        self.enter(if prior.is_some() { Stage::Intent } else { Stage::Round(1) });
        Ok(())
    }

    /// Sets what an earlier plan is for, as the user says it.
    fn set_intent(&mut self, intent: Intent, words: &str, by: &By) -> Result<(), Refusal> {
        let Some(prior) = &self.prior else {
            return Err(Refusal::new(
                "no earlier plan came with the brief",
                "plan('…', from='FILE')",
            ));
        };
        if !matches!(self.stage, Stage::Intent | Stage::AskIntent) {
            return Err(Refusal::new("the intent is settled", "adjust('what is to be different')"));
        }
        let words = words.trim();
        match intent {
            Intent::Other if words.is_empty() => {
                return Err(Refusal::new(
                    "say in your own words what it is for",
                    "intent('other', words='…')",
                ));
            }
            Intent::Unsure => {
                self.open_turns.clear();
                self.enter(Stage::AskIntent);
                return Ok(());
            }
            _ => {}
        }
        let from = format!("inherited from {} {}", prior.title, prior.version);
        let inherited = match (&prior.plan, prior.agreed_points.is_empty()) {
            (Some(plan), _) => sections::outline(plan),
            (None, true) => control::listed(&prior.key_points),
            (None, false) => control::listed(&prior.agreed_points),
        };
        if matches!(intent, Intent::Refine | Intent::ContinueDiscussion) && !inherited.is_empty() {
            self.additions.push(Addition { from, text: inherited });
        }
        if !words.is_empty() {
            self.additions
                .push(Addition { from: "added by the user".into(), text: within(words)? });
        }
        let shown =
            format!("{}{}{words}", intent.name(), if words.is_empty() { "" } else { " · " });
        self.note("intent".into(), "user".into(), by, shown.clone(), &shown);
        self.intent = Some((intent, words.to_owned()));
        self.open_turns.clear();
        self.enter(Stage::Round(1));
        Ok(())
    }

    /// Takes the answer to the open turn.
    fn answered(
        &mut self,
        id: u64,
        answer: &Value,
        missing: &[String],
        by: &By,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let kind = self.open_turn(id)?.kind;
        let checked = match self.rules >= SIGNED {
            true => kind.check(answer),
            false => kind.check_form(answer),
        };
        checked.map_err(|why| Refusal::new(why, ""))?;
        let place = self.stage.shown();
        match kind {
            TurnKind::Verdict(round, role) => {
                let verdict: Verdict = turn::read(answer)?;
                let reasons = verdict.reasons.join(" ");
                let mark = if missing.is_empty() {
                    String::new()
                } else {
                    format!(" · cites what doesn't exist: {}", missing.join(", "))
                };
                let gist = format!("{} · {}{mark}", verdict.word(), turn::gist(&reasons));
                let text = verdict_text(&verdict, missing);
                self.note(place, role.name().into(), by, gist, &text);
                let (ts, revision) = (self.now.clone(), self.revision);
                let spoken =
                    Spoken { verdict, ts, by: by.clone(), revision, missing: missing.to_vec() };
                self.rounds.entry(round).or_default().insert(role, spoken);
            }
            TurnKind::Intent => {
                let intent: Intent = turn::read(&answer["intent"])?;
                let reason = answer["reason"].as_str().unwrap_or_default();
                let gist = format!("{} · {}", intent.name(), turn::gist(reason));
                self.note(place, "Coach".into(), by, gist, reason);
                return self.set_intent(intent, "", by);
            }
            TurnKind::Judge(role, index) => self.judged(role, index, answer, by, effects),
            TurnKind::FollowUp(role) => self.followed_up(role, answer, by, effects),
            TurnKind::AnswerBack(role, index) => {
                self.answered_back(role, index, answer, by, effects)
            }
            TurnKind::Extraction => {
                let extraction: Extraction = turn::read(&plain_points(answer))?;
                let (agreed, open) =
                    (extraction.agreed_points.len(), extraction.conflicting_points.len());
                let text = format!(
                    "agreed:\n- {}\nin conflict:\n- {}",
                    extraction.agreed_points.join("\n- "),
                    extraction.conflicting_points.join("\n- ")
                );
                self.note(
                    place,
                    "Coach".into(),
                    by,
                    format!("{} agreed, {open} in conflict", turn::count(agreed, "point")),
                    &text,
                );
                self.extraction = Some(extraction);
                if self.rules >= SIGNED {
                    self.signing = Some(signing::of_extraction(answer));
                }
            }
            TurnKind::Confirm(role) => self.confirmed(role, answer, by)?,
            TurnKind::Synthesis => {
                let mut synthesis: Synthesis = turn::read(&plain_points(answer))?;
                synthesis.at.clone_from(&self.now);
                self.note(
                    place,
                    "Coach".into(),
                    by,
                    turn::gist(&synthesis.summary),
                    &synthesis.summary,
                );
                if self.rules >= SIGNED && self.last_round() == 3 && !self.all_agree(3) {
                    self.signing = Some(signing::of_synthesis(answer, &synthesis, self));
                }
                self.synthesis = Some(synthesis);
            }
            TurnKind::Plan => {
                self.note(place, "Coach".into(), by, "wrote the plan".into(), "wrote the plan");
                if let Some(synthesis) = &mut self.synthesis {
                    synthesis.plan = Some(answer.clone());
                }
            }
        }
        self.open_turns.retain(|turn| turn.id != id);
        Ok(())
    }

    /// Returns the turn that is open if it has this number.
    pub(crate) fn open_turn(&mut self, id: u64) -> Result<&mut Turn, Refusal> {
        match self.open_turns.iter_mut().find(|turn| turn.id == id) {
            Some(turn) => Ok(turn),
            None => Err(Refusal::new("that turn is over; nothing was changed", "")),
        }
    }

    /// Returns the turn that was opened first of those that are open.
    pub fn turn(&self) -> Option<&Turn> {
        self.open_turns.first()
    }

    /// Returns who is to speak now, the first of several.
    pub fn speaker(&self) -> Option<Speaker> {
        self.turn().map(|turn| turn.kind.speaker())
    }

    /// Returns the verdicts of a round.
    pub fn verdicts(&self, round: u8) -> impl Iterator<Item = (Role, &Spoken)> {
        self.rounds.get(&round).into_iter().flatten().map(|(role, spoken)| (*role, spoken))
    }

    /// Returns true if one reader played several roles of this cycle without a driver between them.
    pub fn roles_shared_context(&self) -> bool {
        let mut roles: BTreeMap<&str, BTreeSet<Role>> = BTreeMap::new();
        for (role, spoken) in self.rounds.values().flatten() {
            if spoken.by.driver == crate::event::Driver::Agent {
                roles.entry(&spoken.by.reader).or_default().insert(*role);
            }
        }
        roles.values().any(|roles| roles.len() > 1)
    }

    /// Returns the newest version.
    pub fn version(&self) -> Option<&Version> {
        self.versions.last()
    }

    /// Returns the content of the newest version's file.
    pub fn file_text(&self) -> Option<String> {
        Some(self.written.clone().unwrap_or(self.version()?.text()))
    }

    /// Returns how many entries it has taken.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    pub(crate) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.reached.insert(stage);
    }

    pub(crate) fn note(&mut self, place: String, who: String, by: &By, gist: String, text: &str) {
        let (ts, by, text) = (self.now.clone(), by.clone(), text.to_owned());
        self.said.push(Arc::new(Said { ts, place, who, by, gist: turn::gist(&gist), text }));
    }
}

/// Returns an answer whose points are texts, also those that cite roles.
fn plain_points(answer: &Value) -> Value {
    let mut answer = answer.clone();
    for name in ["agreed_points", "conflicting_points"] {
        for item in answer.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            *item = signing::text_of(item).into();
        }
    }
    answer
}
