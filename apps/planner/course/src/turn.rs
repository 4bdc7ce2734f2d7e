//! One thing that somebody is asked to say, and what is answered.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{By, Refusal};
use crate::limits::{ANSWER_MAX, GIST_MAX};
use crate::role::{Role, Speaker};
use crate::{schema, signing};

/// A turn that is open: somebody is to speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its number, which no other turn of the course has.
    pub id: u64,
    /// What is asked.
    pub kind: TurnKind,
    /// Why it was not answered, if it was tried.
    pub failed: Option<String>,
}

/// What a turn asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    /// The coach judges what an earlier plan is for.
    Intent,
    /// A role judges the brief in a round.
    Verdict(u8, Role),
    /// A role judges once more whether to ask its question, the one with this index.
    Judge(Role, usize),
    /// A role may ask one more question.
    FollowUp(Role),
    /// A role answers what the user asked back about the question with this index.
    AnswerBack(Role, usize),
    /// The coach extracts what was agreed.
    Extraction,
    /// A role confirms, denies or rewords what the coach wrote of it.
    Confirm(Role),
    /// The coach sums up what came of it.
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
            Self::Extraction | Self::Synthesis => signing::check_roles(answer),
            Self::Confirm(_) => signing::check_answers(answer),
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
            (Self::Confirm(_), given, asked) if given != asked => {
                Err(format!("answers: {given} for {}", self::count(asked, "point")))
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
            Self::Plan => crate::quality::check_links(answer),
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

/// Makes an answer into its type.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(answer: &Value) -> Result<T, Refusal> {
    serde_json::from_value(answer.clone()).map_err(|error| Refusal::new(error.to_string(), ""))
}

/// What an earlier plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// This brief refines it: its consensus is inherited.
    Refine,
    /// A new plan; the earlier one is shown as a reference.
    NewWithReference,
    /// A new plan; the earlier one plays no part.
    New,
    /// The discussion goes on from where it stopped.
    ContinueDiscussion,
    /// What the user says in words of their own.
    Other,
    /// The coach can't tell: the user is asked.
    Unsure,
}

impl Intent {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refine => "refine",
            Self::NewWithReference => "new_with_reference",
            Self::New => "new",
            Self::ContinueDiscussion => "continue_discussion",
            Self::Other => "other",
            Self::Unsure => "unsure",
        }
    }
}

/// A role's verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// True agrees, false blocks, null has a concern.
    pub ok: Option<bool>,
    /// Why the role agrees, blocks or has a concern.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// What would be better.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// What the user has to say before the role can agree.
    #[serde(default)]
    pub blocking_open_questions: Vec<String>,
}

impl Verdict {
    /// Returns how the verdict is shown.
    pub fn word(&self) -> &'static str {
        match self.ok {
            Some(true) => "agree",
            Some(false) => "block",
            None => "concern",
        }
    }
}

/// A verdict with its circumstances.
#[derive(Debug, Clone, PartialEq)]
pub struct Spoken {
    /// The verdict.
    pub verdict: Verdict,
    /// When it was given.
    pub ts: String,
    /// Who gave it.
    pub by: By,
    /// The revision of the brief that it judges.
    pub revision: u32,
    /// What it cites that doesn't exist.
    pub missing: Vec<String>,
}

/// What was agreed in rounds 1 and 2.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Extraction {
    pub agreed_points: Vec<String>,
    pub conflicting_points: Vec<String>,
}

/// A concern that a role keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Reserved {
    pub role: String,
    pub concern: String,
    /// `warning` or `error`.
    pub severity: String,
}

/// What roles see differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Disagreement {
    pub topic: String,
    /// What each role says, by its name.
    pub positions: std::collections::BTreeMap<String, String>,
}

/// What came of the rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Synthesis {
    #[serde(default)]
    pub agreed_points: Vec<String>,
    #[serde(default)]
    pub reserved_points: Vec<Reserved>,
    #[serde(default)]
    pub strong_disagreements: Vec<Disagreement>,
    /// What the coach took for agreed and roles did not confirm.
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub unsigned_points: Vec<String>,
    #[serde(default)]
    pub summary: String,
    /// When it was made.
    #[serde(default, skip_serializing)]
    pub at: String,
    /// The plan, if the coach wrote it at once.
    #[serde(default, skip_serializing)]
    pub plan: Option<Value>,
}

/// Returns a text each line of which ends with `\n`, whatever ended it, without control characters and without those that
/// turn the direction of writing: what a reader sees is what is there.
pub fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let kept = text.chars().filter_map(|c| match c {
        c if is_line_end(c) => Some('\n'),
        '\t' => Some(c),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        c => (!c.is_control()).then_some(c),
    });
    kept.collect()
}

/// Returns true for what some program takes for the end of a line.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns true for a character that a reader can't see, or that changes how the text around it is shown, ends of lines among
/// them. The joiners and variation selectors that scripts and emoji need are none.
pub(crate) fn is_hidden(c: char) -> bool {
    match c {
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => {
            true
        }
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control() || is_line_end(c),
    }
}

/// Marks each line of a text as a quotation.
pub fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        plain(text).lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Returns a text on one line, so that it can't pass for a line of anybody else's.
pub fn flat(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a reader's name as it is shown: on one line, and no markup.
pub fn shown_name(name: &str) -> String {
    flat(name).replace(['`', '*', '[', ']', '<', '>', '#', '|', '\\'], "'")
}

/// Returns the first words of a text, on one line.
pub fn gist(text: &str) -> String {
    let flat = flat(text);
    match flat.char_indices().nth(GIST_MAX) {
        Some((at, _)) => format!("{}…", &flat[..at]),
        None => flat,
    }
}

/// Returns a number with its noun: `1 question`, `3 questions`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_escapes_a_quotation_and_no_control_character_stays() {
        for end in ["\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
            let text = format!("ok{end}{end}## What was agreed\u{1b}[2J\u{202e}");
            assert_eq!(quoted(&text), "> ok\n>\n> ## What was agreed[2J");
            assert_eq!(flat(&text), "ok ## What was agreed[2J");
        }
    }
}
