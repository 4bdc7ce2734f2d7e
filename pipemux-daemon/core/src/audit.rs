//! The audit log's account of one act: who asked for what, and what came of it.
//!
//! The core says what there is to write down, the driver writes it. Long texts stand apart in it
//! ([`CallPart::Value`]): the driver writes their length and hash, so that the log tells which text
//! it was and doesn't hold it.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::call::mask::{AllValues, MASKED, masked};
use pipemux_proto::call::texts_apart;
use pipemux_proto::client::{ProvidersArgs, Verb, VerbRequest};
use pipemux_proto::consent::{ConsentArgs, ConsentDecision, PersonChannel};
use pipemux_proto::limits::RESOLVE_MAX;
use pipemux_proto::pause::{PauseArgs, PauseScope};
use pipemux_proto::{SessionAddr, command};

use crate::limits::{AUDIT_CALL_MAX, AUDIT_VALUE_MAX, AUDIT_WORDS_MAX};
use crate::peer::PeerProcess;
use crate::persist::records::SavedRound;
use crate::text;

/// One line of the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditEntry {
    /// The time of the answer, in milliseconds since 1970, UTC.
    pub unix_ms: u64,
    /// The process that sent the request.
    pub peer: Option<Rc<PeerProcess>>,
    /// The reader that the process acted as; empty for an exchange, which has none.
    pub reader: String,
    /// The workspace's key.
    pub workspace: String,
    /// The verb, such as `run`.
    pub verb: &'static str,
    /// The parts of the request.
    pub call: Vec<CallPart>,
    pub exit: u8,
    /// The id that the client gave the request.
    pub run_id: String,
    /// The outcome of the request.
    pub notes: AuditNotes,
}

/// A part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallPart {
    /// A text that is logged as it was written.
    Text(String),
    /// A long text, of which only the length and the hash are logged.
    Value(Bytes),
}

/// The outcome of a request, recorded while it was carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditNotes {
    /// True for a run of nothing but queries, which is no act.
    pub only_queries: bool,
    /// The part of the sent code or answer that may be logged.
    pub text: ToldText,
    /// The number of the request's round in the workspace's history.
    pub round: Option<u64>,
    /// The calls that it stood for, as history has them; absent for a run, which has them itself.
    pub calls: Option<String>,
    /// The result of the calls, or the error.
    pub result: Option<String>,
    /// The number of the question with which the request ended.
    pub asked: Option<u64>,
    /// The number of the question that the request answered.
    pub answered: Option<u64>,
    /// A description of the destructive step that this answer confirmed. The requester of this
    /// entry is the one who confirmed it.
    pub confirmed: Option<String>,
}

/// The part of a code or an answer that may be logged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToldText {
    /// Nobody has checked it for secrets: its texts are left out.
    #[default]
    Unchecked,
    /// All of the text.
    Whole,
    /// This, which stands for it. Of its standard input nothing is told.
    Hidden(String),
}

impl AuditNotes {
    /// Notes what history tells of it.
    pub fn set_round(&mut self, round: &SavedRound) {
        self.round = Some(round.number);
        self.calls = Some(clip(&round.action));
        self.set_result(&round.result);
    }

    /// Sets the shortened result. If the code hasn't been checked for secrets, only the first line
    /// is kept, since later lines may quote the code.
    pub fn set_result(&mut self, text: &str) {
        let told = match self.text {
            ToldText::Unchecked => text.lines().next().unwrap_or_default(),
            ToldText::Whole | ToldText::Hidden(_) => text,
        };
        self.result = Some(clip(told));
    }
}

impl AuditEntry {
    /// Makes the line of a request, if it is one that may change something.
    pub fn of_request(call: VerbRequest, exit: u8, notes: AuditNotes) -> Option<Self> {
        let (verb, parts) = describe(&call.verb, &notes.text).filter(|_| !notes.only_queries)?;
        let calls = notes.calls.filter(|_| !matches!(call.verb, Verb::Run { .. }));
        Some(Self {
            reader: call.reader,
            workspace: call.workspace.key,
            verb,
            call: parts,
            exit,
            run_id: call.run_id,
            notes: AuditNotes { calls, ..notes },
            ..Self::default()
        })
    }

    /// Makes the line of a client that attached to a session.
    pub fn of_attach(workspace: &str, session: &SessionAddr, refusal: Option<String>) -> Self {
        Self {
            workspace: workspace.to_owned(),
            verb: "attach",
            call: vec![CallPart::Text(session.to_string())],
            exit: refusal.as_ref().map_or(0, |_| pipemux_proto::Code::Refused.exit_status()),
            notes: AuditNotes { result: refusal, ..AuditNotes::default() },
            ..Self::default()
        }
    }

    /// Creates the entry for the exchanges of a client that has disconnected. Their content is
    /// unknown.
    pub fn of_exchanges(workspace: &str, count: u64, sent: u64, received: u64) -> Self {
        let text = format!("{count} exchanges · {sent} bytes sent · {received} bytes received");
        Self {
            workspace: workspace.to_owned(),
            verb: "exchange",
            call: vec![CallPart::Text(text)],
            ..Self::default()
        }
    }
}

/// Returns the name of a verb that is an act, and what it is asked to do.
fn describe(verb: &Verb, text: &ToldText) -> Option<(&'static str, Vec<CallPart>)> {
    let name = verb.kind().audit_name()?;
    let parts = match verb {
        Verb::Run { code, stdin, .. } => {
            let mut parts = match text {
                ToldText::Whole => code_parts(code),
                ToldText::Hidden(told) => code_parts(told),
                ToldText::Unchecked => code_parts(&masked(code, &AllValues)),
            };
            parts.extend(stdin_parts(stdin.as_ref(), text));
            parts
        }
        Verb::Answer { text: words, to, stdin } => {
            let mut parts = match text {
                ToldText::Hidden(told) => code_parts(told),
                ToldText::Unchecked if !is_choice(words) => code_parts(MASKED),
                ToldText::Whole | ToldText::Unchecked => code_parts(words),
            };
            parts.extend(to.map(|number| CallPart::Text(format!(" --to {number}"))));
            parts.extend(stdin_parts(stdin.as_ref(), text));
            parts
        }
        Verb::Click { link } => words([link.as_str()]),
        Verb::Resolve { text, run: true } => {
            // What it ran is in the history; of the text only the refs mean anything.
            let found = pipemux_proto::refs::scan::find(text).take(RESOLVE_MAX);
            let refs: Vec<String> = found.map(|(_, found)| found.to_string()).collect();
            words(refs.iter().map(String::as_str))
        }
        Verb::Undo { round } => {
            let round = round.map(|number| number.to_string());
            words(round.as_deref())
        }
        Verb::Open(open) => {
            let name = match &open.session {
                Some(session) => format!("{}/{session}", open.provider),
                None => open.provider.to_string(),
            };
            let args = open.args.iter().map(String::as_str);
            words([name.as_str()].into_iter().chain(args))
        }
        Verb::Close { session, end } => {
            let end = end.then_some("--end");
            words([session.to_string().as_str()].into_iter().chain(end))
        }
        Verb::Restart { session } | Verb::End { session } => words([session.to_string().as_str()]),
        Verb::Set { option, value } => words(option.as_deref().into_iter().chain(value.as_deref())),
        Verb::Providers(change) => change_parts(change),
        Verb::Consent(ConsentArgs { number: Some(number), decision: Some(decision), by }) => {
            vec![CallPart::Text(decided(*number, *decision, *by))]
        }
        Verb::Pause(pause) => vec![CallPart::Text(clip(&paused(pause)))],
        Verb::Down => Vec::new(),
        Verb::View(_)
        | Verb::Read { .. }
        | Verb::Resolve { run: false, .. }
        | Verb::Help { .. }
        | Verb::Apps
        | Verb::Sessions
        | Verb::Logs { .. }
        | Verb::Trace { .. }
        | Verb::History(_)
        | Verb::Watch(_)
        | Verb::Consent(_)
        | Verb::Limits
        | Verb::Status => return None,
    };
    Some((name, parts))
}

/// Returns the parts of a change of the registered apps, whose manifest isn't a part of the text.
fn change_parts(change: &ProvidersArgs) -> Vec<CallPart> {
    let mut parts = Vec::new();
    if let Some(id) = &change.remove {
        parts.extend(words(["remove", id.as_str()]));
    }
    if let Some(new) = &change.add {
        let replace = new.replace.then_some("--replace");
        parts.extend(words(["add", new.file.as_str()].into_iter().chain(replace)));
        parts.push(CallPart::Text(" manifest=".into()));
        parts.push(CallPart::Value(Bytes::copy_from_slice(new.text.as_bytes())));
    }
    parts
}

/// Returns how the audit log tells of a pause, or of its end.
fn paused(PauseArgs { scope, by, .. }: &PauseArgs) -> String {
    let scope = match scope {
        PauseScope::All => "all",
        PauseScope::Workspace => "workspace",
        PauseScope::Reader(name) => &*format!("reader {name}"),
    };
    format!("{scope} by {}", by.map_or("nobody", PersonChannel::name))
}

/// Returns how the audit log tells of a decision.
fn decided(number: u64, decision: ConsentDecision, by: Option<PersonChannel>) -> String {
    let word = match decision {
        ConsentDecision::Allow => "allow",
        ConsentDecision::Refuse => "refuse",
        ConsentDecision::Withdraw => "withdraw",
    };
    format!("{number} {word} by {}", by.map_or("nobody", PersonChannel::name))
}

/// Tells of standard input, if that may be.
fn stdin_parts(stdin: Option<&Bytes>, text: &ToldText) -> Vec<CallPart> {
    match (stdin, text) {
        (None, _) => Vec::new(),
        (Some(stdin), ToldText::Whole) => {
            vec![CallPart::Text(" stdin=".into()), CallPart::Value(stdin.clone())]
        }
        // Its hash would tell whether it is a certain text.
        (Some(_), _) => vec![CallPart::Text(format!(" stdin={MASKED}"))],
    }
}

/// True for words that choose or confirm, and that are no secret whatever they answer.
fn is_choice(words: &str) -> bool {
    let word = |word: &str| {
        let number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        number && word.len() <= 3
            || matches!(word, "all" | "but" | "none" | "yes" | "no" | "go" | "cancel" | "stdin")
            || word.starts_with("link:") && word.len() <= 24
    };
    words.split([',', ' ']).all(word)
}

/// Separates the long texts of calls from the calls.
fn code_parts(code: &str) -> Vec<CallPart> {
    let apart = texts_apart(code, AUDIT_VALUE_MAX, AUDIT_CALL_MAX);
    let part = |(text, apart): (String, bool)| match apart {
        true => CallPart::Value(text.into()),
        false => CallPart::Text(text),
    };
    apart.into_iter().map(part).collect()
}

/// Writes words as for a shell, the long ones apart.
fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<CallPart> {
    let mut parts = Vec::new();
    let mut words = words.into_iter();
    for (index, word) in words.by_ref().take(AUDIT_WORDS_MAX).enumerate() {
        let gap = if index == 0 { "" } else { " " };
        if word.len() > AUDIT_VALUE_MAX {
            parts.push(CallPart::Text(gap.to_owned()));
            parts.push(CallPart::Value(Bytes::copy_from_slice(word.as_bytes())));
        } else {
            parts.push(CallPart::Text(gap.to_owned() + &command::join(&[word])));
        }
    }
    match words.count() {
        0 => {}
        more => parts.push(CallPart::Text(format!(" and {more} more"))),
    }
    parts
}

/// Shortens a text that isn't the caller's own.
pub(crate) fn clip(text: &str) -> String {
    text::clip(text, AUDIT_VALUE_MAX * 4).into_owned()
}
