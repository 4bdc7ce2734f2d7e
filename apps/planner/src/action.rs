//! The actions of the planner.

use docui::args::{Arg, Type, expected, value_of};
use docui::{Anchor, ArgType, Fault, FilePath, Text, Value};
use pipemux_planner_course::answers::Intent;
use pipemux_planner_course::event::BackTo;

docui::kind!(
    /// Something that was said.
    pub Said = "said"
);
docui::choices! {
    /// What an earlier plan is for.
    pub enum IntentName {
        Refine = "refine",
        NewWithReference = "new_with_reference",
        New = "new",
        ContinueDiscussion = "continue_discussion",
        Other = "other",
        Unsure = "unsure",
    }
}
docui::choices! {
    /// A stage to go back to.
    pub enum StageName {
        Round1 = "round1",
        Round2 = "round2",
        Meeting = "meeting",
        Extraction = "extraction",
        Round3 = "round3",
    }
}
docui::actions! {
    /// An action of the planner.
    pub enum Action {
        /// Begins: five roles judge the brief. from: an earlier plan, draft or note; intent: what
        /// it is for, if you know.
        changes featured Plan = plan(
            brief: Text,
            from: Option<FilePath> = None,
            intent: Option<IntentName> = None,
            topic: String = "",
        );
        /// The user's answer to the open question, in the user's words.
        changes featured Reply = reply(
            text: Text,
            question: Option<i64> = None,
            /// And then as turn().
            wait: bool = false,
        ), input;
        /// A job that ends once something is expected of this reader: `pipemux run --wait 300
        /// 'planner.turn()'`.
        safe listed Turn = turn();
        /// By the role whose turn it is, or 'Expert': true agrees, false blocks, null has a
        /// concern.
        changes featured Verdict = verdict(
            role: String,
            ok: Opinion,
            reasons: Vec<String> = [],
            suggestions: Vec<String> = [],
            /// What only the user can say.
            questions: Vec<String> = [],
        );
        /// Any other turn: the JSON that the window shows.
        changes listed Speak = speak(answer: Json, role: String = "");
        /// A remark; in the meeting the role that asks answers it.
        changes listed Say = say(text: Text);
        /// Adds to the brief or changes it; the roles judge again.
        changes listed Adjust = adjust(
            text: Text,
            /// With what failed in the last check.
            check: bool = false,
        );
        changes listed Accept = accept();
        changes listed Discard = discard();
        /// Gives the plan to a command, or prints it.
        changes listed Handoff = handoff(command: String = "");
        /// Runs the commands of the plan's acceptance and tests, of all or of these ids, once a
        /// person allows them.
        changes help Check = check(of: Vec<String> = []);
        /// What the earlier file is for; 'other' with words of your own.
        changes help Intend = intent(kind: IntentName, words: String = "");
        changes help Pause = pause();
        changes help Resume = resume();
        changes help Back = back(stage: StageName);
        /// Has drivers play that a restart interrupted.
        changes help Go = go();
        /// Asks the driver again that failed.
        changes help Retry = retry();
        /// Who plays a role: 'agent', 'claude', 'codex', 'ollama' or one of planner.toml; role
        /// 'all' means everybody.
        changes help Driver = driver(role: String, driver: String);
        /// Without it only a draft can come of this cycle.
        changes help LeaveOut = leave_out(role: String);
        /// This reader plays the role, or the Coach, and nobody else. 'Expert', for a person: asked
        /// in each round, without a vote.
        changes help Take = take(role: String);
        /// A reader speaks as the expert: verdict('Expert', …).
        changes help Invite = invite(reader: String, veto: bool = false);
        changes help RollBack = roll_back(version: i64);
        safe help Switch = switch(topic: String);
        /// Shows in full what was said.
        safe help Expand = expand(said: Vec<Anchor<Said>>);
        safe help Collapse = collapse();
        /// What the speaker whose turn it is is given, or of several the named one.
        query help Payload = payload(role: String = "") -> String;
        /// What was said, word for word: from an entry on, or the last ones.
        query help Record = record(since: i64 = 0, last: i64 = 0) -> String;
        /// The plan or the draft, or one section of it.
        query help Artifact = artifact(section: String = "") -> String;
        query help Versions = versions() -> Vec<String>;
        /// By section: added, gone, changed.
        query help Compare = compare(a: i64, b: i64) -> String;
        /// How complete the plan is, computed from its links.
        query help Quality = quality() -> String;
        /// The requirements as Markdown nodes: memotree.add_many(planner.nodes()) adds or updates
        /// them.
        query help Nodes = nodes() -> String;
        query help Topics = topics() -> Vec<String>;
        /// As plan(brief).
        changes alias Start = start(brief: Text);
    }
}

impl From<IntentName> for Intent {
    fn from(name: IntentName) -> Self {
        match name {
            IntentName::Refine => Self::Refine,
            IntentName::NewWithReference => Self::NewWithReference,
            IntentName::New => Self::New,
            IntentName::ContinueDiscussion => Self::ContinueDiscussion,
            IntentName::Other => Self::Other,
            IntentName::Unsure => Self::Unsure,
        }
    }
}

impl From<StageName> for BackTo {
    fn from(name: StageName) -> Self {
        match name {
            StageName::Round1 => Self::Round1,
            StageName::Round2 => Self::Round2,
            StageName::Meeting => Self::Meeting,
            StageName::Extraction => Self::Extraction,
            StageName::Round3 => Self::Round3,
        }
    }
}

/// Agree, block or concern: `true`, `false`, `null`, or these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opinion(pub Option<bool>);

impl ArgType for Opinion {
    fn ty() -> Type {
        Type::Any
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        let value = value_of(&arg)?;
        match &value {
            Value::Bool(ok) => return Ok(Self(Some(*ok))),
            Value::Null => return Ok(Self(None)),
            _ => {}
        }
        match value.as_str() {
            Some("agree" | "true" | "yes") => Ok(Self(Some(true))),
            Some("block" | "false" | "no") => Ok(Self(Some(false))),
            Some("concern" | "null") => Ok(Self(None)),
            _ => Err(Fault::usage("expected true (agree), false (block) or null (concern)")),
        }
    }
    fn to_arg(&self) -> Arg {
        match self.0 {
            Some(ok) => Value::Bool(ok).into(),
            None => Value::Null.into(),
        }
    }
}

/// A JSON object: as a text, or as a record of the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Json(pub serde_json::Value);

impl ArgType for Json {
    fn ty() -> Type {
        Type::Any
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        match value_of(&arg)? {
            Value::Str(text) => crate::strict::parse(&text).map(Self).map_err(|error| {
                Fault::usage(format!("the text is no JSON: {error}"))
                    .hint("speak({action: 'ask', reason: '…'})")
            }),
            value @ Value::Map(_) => Ok(Self(json(value))),
            _ => Err(expected(&Type::String, &arg).hint("speak({action: 'ask', reason: '…'})")),
        }
    }
    fn to_arg(&self) -> Arg {
        Value::from(self.0.to_string().as_str()).into()
    }
}

/// Makes JSON of a value.
fn json(value: Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => value.into(),
        Value::Int(value) => value.into(),
        Value::Float(value) => value.into(),
        Value::Str(value) => value.into(),
        Value::Bin(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        Value::List(items) => items.into_iter().map(json).collect(),
        Value::Map(entries) => {
            let fields: serde_json::Map<_, _> =
                entries.into_iter().map(|(name, value)| (name, json(value))).collect();
            serde_json::Value::Object(fields)
        }
    }
}
