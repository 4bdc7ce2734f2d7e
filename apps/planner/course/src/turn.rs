//! Turns: requests for an answer from a speaker, and the validation of the answers.

use serde_json::Value;

use crate::answers::{Cited, CitedPoints, Synthesis, read};
use crate::event::{Effect, Refusal};
use crate::limits::ANSWER_MAX;
use crate::quality::check_links;
use crate::role::{Role, Speaker};
use crate::schema;
use crate::text::{self, gist};

/// An open turn: a speaker is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The number of the turn, unique in its course.
    pub id: u64,
    /// The kind of answer that is requested.
    pub kind: TurnKind,
    /// The reason why the last attempt to answer failed, if there was one.
    pub failed: Option<String>,
}

/// The kind of answer that a turn requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    /// The coach determines the purpose of an earlier plan.
    Intent,
    /// A role judges the brief in a round.
    Verdict(u8, Role),
    /// A role reviews whether to ask its question, the one with this index.
    Judge(Role, usize),
    /// A role may ask one more question.
    FollowUp(Role),
    /// A role replies to the user's counter-question on the question with this index.
    AnswerBack(Role, usize),
    /// The coach extracts the points of agreement.
    Extraction,
    /// A role confirms, denies or rewords the points that the coach attributes to it.
    Confirm(Role),
    /// The coach sums up the outcome of the rounds.
    Synthesis,
    /// The coach writes the plan.
    Plan,
}

impl TurnKind {
    /// Returns who is to speak.
    pub fn speaker(self) -> Speaker {
        match self {
            Self::Verdict(_, role)
            | Self::Judge(role, _)
            | Self::FollowUp(role)
            | Self::Confirm(role)
            | Self::AnswerBack(role, _) => Speaker::Role(role),
            Self::Intent | Self::Extraction | Self::Synthesis | Self::Plan => Speaker::Coach,
        }
    }

    /// Returns the name of the schema of its answer.
    pub fn schema(self) -> &'static str {
        match self {
            Self::Intent => "intent",
            Self::Verdict(..) => "verdict",
            Self::Judge(..) => "judgement",
            Self::FollowUp(_) => "follow_up",
            Self::AnswerBack(..) => "answer_back",
            Self::Extraction => "extraction",
            Self::Confirm(_) => "confirm",
            Self::Synthesis => "synthesis",
            Self::Plan => "plan",
        }
    }

    /// Says in a few words what the speaker does.
    pub fn task(self) -> &'static str {
        match self {
            Self::Intent => "judges what the earlier file is for",
            Self::Verdict(..) => "judges the brief",
            Self::Judge(..) => "decides whether its question still needs asking",
            Self::FollowUp(_) => "may ask one more question",
            Self::AnswerBack(..) => "answers what the user asked back",
            Self::Extraction => "extracts what was agreed in rounds 1 and 2",
            Self::Confirm(_) => "confirms what the coach wrote of it",
            Self::Synthesis => "sums up what was agreed",
            Self::Plan => "writes the plan",
        }
    }

    /// Takes lists that are null for empty ones.
    pub fn fill(self, answer: &mut Value) {
        let Some(fields) = answer.as_object_mut() else { return };
        let properties = schema::schema(self.schema()).map(|schema| &schema["properties"]);
        for (name, field) in fields.iter_mut().filter(|(_, field)| field.is_null()) {
            if properties.is_some_and(|all| all[name.as_str()]["type"] == "array") {
                *field = Value::Array(Vec::new());
            }
        }
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check(self, answer: &Value) -> Result<(), String> {
        self.check_form(answer)?;
        match self {
            Self::Verdict(..) if answer["ok"] != true && !has_words(&answer["reasons"]) => {
                Err("reasons: say why, unless the role agrees".into())
            }
            Self::Extraction => check_roles(&cited(answer)?, &Synthesis::default()),
            Self::Synthesis => {
                let synthesis = read(answer).map_err(|refusal| refusal.message)?;
                check_roles(&cited(answer)?, &synthesis)
            }
            Self::Confirm(_) => check_words(answer),
            _ => Ok(()),
        }
    }

    /// Checks an answer by what its speaker was given.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check_for(self, payload: &Value, answer: &Value) -> Result<(), String> {
        let count = |value: &Value| value.as_array().map_or(0, Vec::len);
        match (self, count(&answer["answers"]), count(&payload["points"])) {
            (Self::Confirm(_), answered, asked) if answered != asked => {
                Err(format!("answers: {answered} for {}", text::count(asked, "point")))
            }
            _ => Ok(()),
        }
    }

    /// Checks an answer as courses of the earlier [rules](crate::event::RULES) did.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub(crate) fn check_form(self, answer: &Value) -> Result<(), String> {
        let length = answer.to_string().len();
        if length > ANSWER_MAX {
            return Err(format!("the answer has {length} bytes, at most {ANSWER_MAX}"));
        }
        schema::check(self.schema(), answer)?;
        let blank = |name: &str| answer[name].as_str().is_none_or(|text| text.trim().is_empty());
        match self {
            Self::Judge(..) if answer["action"] == "modify" && blank("question") => {
                Err("question: `modify` needs the new wording".into())
            }
            Self::Plan => check_links(answer),
            // The coach may write the plan at once.
            Self::Synthesis if !answer["plan"].is_null() => {
                Self::Plan.check_form(&answer["plan"]).map_err(|why| format!("plan: {why}"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns true if a list has a text that says something.
fn has_words(list: &Value) -> bool {
    let mut texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.any(|text| !text.trim().is_empty())
}

fn cited(answer: &Value) -> Result<Vec<Cited>, String> {
    let points: CitedPoints = read(answer).map_err(|refusal| refusal.message)?;
    Ok(points.agreed_points.into_iter().chain(points.conflicting_points).collect())
}

/// Checks that the coach names none but the five roles.
fn check_roles(points: &[Cited], synthesis: &Synthesis) -> Result<(), String> {
    let cited = points.iter().flat_map(Cited::names);
    let reserved = synthesis.reserved_points.iter().map(|one| &one.role);
    let positions = synthesis.strong_disagreements.iter().flat_map(|one| one.positions.keys());
    match cited.chain(reserved).chain(positions).find(|name| Role::parse(name).is_none()) {
        Some(name) => Err(format!(
            "there is no role {:?}; the roles are {}",
            gist(name),
            Role::ALL.map(Role::name).join(", ")
        )),
        None => Ok(()),
    }
}

/// Checks that a role confirms its points with the words that there are for it.
fn check_words(answer: &Value) -> Result<(), String> {
    let mut answers = answer["answers"].as_array().into_iter().flatten();
    let is_wrong = |item: &&Value| item.as_str().is_some_and(|word| !["yes", "no"].contains(&word));
    match answers.find(is_wrong) {
        Some(word) => {
            Err(format!("answers: expected \"yes\", \"no\" or {{\"reword\": \"…\"}}, got {word}"))
        }
        None => Ok(()),
    }
}

/// The turns that are open, in the order in which they were opened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turns {
    /// The open turns.
    pub open: Vec<Turn>,
    /// Turns that were opened so far, which numbers them.
    opened: u64,
}

impl Turns {
    /// Returns the turn that was opened first of those that are open.
    pub fn first(&self) -> Option<&Turn> {
        self.open.first()
    }

    /// Opens a turn, unless one of its kind is open.
    pub(crate) fn open(&mut self, kind: TurnKind, effects: &mut Vec<Effect>) {
        if self.open.iter().any(|turn| turn.kind == kind) {
            return;
        }
        self.opened += 1;
        self.open.push(Turn { id: self.opened, kind, failed: None });
        effects.push(Effect::Play(self.opened));
    }

    /// Ends turns that nobody waits for any more.
    pub(crate) fn end(&mut self, effects: &mut Vec<Effect>, ends: impl Fn(TurnKind) -> bool) {
        self.open.retain(|turn| {
            let stays = !ends(turn.kind);
            if !stays {
                effects.push(Effect::Cancel(turn.id));
            }
            stays
        });
    }

    /// Returns the turn that is open if it has this number.
    ///
    /// # Errors
    /// It isn't open.
    pub(crate) fn get_mut(&mut self, id: u64) -> Result<&mut Turn, Refusal> {
        let found = self.open.iter_mut().find(|turn| turn.id == id);
        found.ok_or_else(|| Refusal::new("that turn is over; nothing was changed", ""))
    }

    /// Returns true if the user has asked a role back, which has not answered.
    pub(crate) fn asked_back(&self) -> Option<Role> {
        self.open.iter().find_map(|turn| match turn.kind {
            TurnKind::AnswerBack(role, _) => Some(role),
            _ => None,
        })
    }
}
