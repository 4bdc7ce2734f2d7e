//! Writes the result of `resolve`: the current meaning of the refs and tokens in a text.

use pipemux_proto::Value;
use pipemux_proto::refs::{Ref, RefKind};

use crate::foreign::{ForeignText, data};
use crate::keys::SessionKey;
use crate::views::inert;

/// A ref or a token in a text.
#[derive(Debug, Clone)]
pub struct ResolvedRef {
    pub of: Ref,
    /// The current status of the ref.
    pub status: RefStatus,
    /// The session that owns the object.
    pub session: Option<SessionKey>,
    /// The title of the object.
    pub title: Option<ForeignText>,
    /// The location of the object.
    pub at: Option<ForeignText>,
    /// The reason for the status, and the remedy.
    pub why: Option<String>,
    /// The call that a click on the token makes.
    pub click: Option<String>,
    /// The actions that accept the object, as in `show(nodes)`.
    pub takes: Vec<String>,
}

/// The current status of a ref or a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefStatus {
    /// The status isn't known yet; the app was asked.
    Asked,
    /// Calls can be made on the object.
    Live,
    /// The object exists, but is folded or filtered away, or its window is closed.
    Hidden,
    /// The object presumably exists; its session sleeps, and a call wakes it.
    Asleep,
    /// The meaning changed since the reader saw it, or the reader never saw it.
    Stale,
    /// The object existed, but is gone.
    Gone,
    /// No object in this workspace ever had the name.
    Forged,
    /// Several sessions may be meant.
    Ambiguous,
    /// The app didn't report the status.
    Unknown,
}

impl RefStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Hidden => "hidden",
            Self::Asleep => "asleep",
            Self::Stale => "stale",
            Self::Gone => "gone",
            Self::Forged => "forged",
            Self::Ambiguous => "ambiguous",
            Self::Unknown | Self::Asked => "unknown",
        }
    }

    /// Returns true for what a call can be made on.
    pub fn is_there(self) -> bool {
        matches!(self, Self::Live | Self::Hidden | Self::Asleep)
    }
}

impl ResolvedRef {
    /// Makes a ref of which nothing is known yet.
    pub fn new(of: Ref) -> Self {
        let (status, takes) = (RefStatus::Unknown, Vec::new());
        Self { of, status, session: None, title: None, at: None, why: None, click: None, takes }
    }

    /// Returns the ref with a status and its reason.
    #[must_use]
    pub fn is(self, status: RefStatus, why: impl Into<Option<String>>) -> Self {
        Self { status, why: why.into(), ..self }
    }

    /// Returns the ref as it was written, without what would change how other text is shown.
    pub fn written(&self) -> String {
        inert::printable(&self.of.to_string()).into_owned()
    }

    /// Returns the command that clicks it, if it has a click.
    pub fn click_command(&self) -> Option<String> {
        let clicks = self.click.is_some() || self.of.kind == RefKind::Link;
        let quote = if self.of.prefix.is_some() { "'" } else { "" };
        (clicks && self.status.is_there())
            .then(|| format!("pipemux click {quote}{}{quote}", self.written()))
    }

    /// Writes a line or two; `with_takes` also says which actions take it.
    fn lines(&self, with_takes: bool) -> String {
        let mut fields = vec![format!("{} {}", self.written(), self.status.name())];
        if let Some(title) = self.title.as_ref().filter(|title| !title.is_empty()) {
            fields.push(format!("\"{}\"", inert::line(title)));
        }
        if let Some(session) = &self.session {
            let at = self.at.as_ref().map_or(String::new(), |at| format!(", {}", inert::line(at)));
            fields.push(format!("{session}{at}"));
        }
        fields.extend(self.why.iter().map(|why| inert::line(&**why)));
        let mut calls = Vec::new();
        if let Some(command) = self.click_command() {
            let call = self.click.as_ref().map(|call| format!(" = {}", inert::line(&**call)));
            calls.push(command + &call.unwrap_or_default());
        }
        if with_takes && !self.takes.is_empty() {
            calls.push(format!("taken by {}", self.takes.join(", ")));
        }
        let calls =
            if calls.is_empty() { String::new() } else { format!("  {}\n", calls.join(" · ")) };
        format!("{}\n{calls}", fields.join(" · "))
    }

    fn data(&self) -> Value {
        let text = |text: &ForeignText| Value::from(data::exact(text));
        let mut fields: Vec<(String, Value)> = vec![
            ("ref".into(), self.written().into()),
            ("status".into(), self.status.name().into()),
        ];
        let session = self.session.as_ref().map(|session| Value::from(session.to_string()));
        let optional = [
            ("session", session),
            ("title", self.title.as_ref().map(text)),
            ("at", self.at.as_ref().map(text)),
            ("why", self.why.as_ref().map(|why| why.as_str().into())),
            ("click", self.click.as_ref().map(|call| call.as_str().into())),
            ("command", self.click_command().map(Value::from)),
        ];
        let set = optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        fields.extend(set);
        if !self.takes.is_empty() {
            let takes = self.takes.iter().map(|name| Value::from(name.as_str())).collect();
            fields.push(("taken_by".into(), Value::List(takes)));
        }
        Value::Map(fields)
    }
}

/// Writes what the refs of a text are, a line or two each; `more` further ones were not looked up.
pub fn resolved_text(refs: &[ResolvedRef], more: usize) -> String {
    if refs.is_empty() {
        return "0 refs and tokens found\n".into();
    }
    // Things of one kind are taken by the same actions: these are named once.
    let mut told: Vec<(&Option<SessionKey>, &[String])> = Vec::new();
    let mut out = String::new();
    for found in refs {
        let kind = (&found.session, &found.takes[..]);
        let is_new = found.status.is_there() && !told.contains(&kind);
        if is_new {
            told.push(kind);
        }
        out += &found.lines(is_new);
    }
    if more > 0 {
        out += &format!("… {more} more: pass the text in parts\n");
    }
    out
}

/// Writes the same as data.
pub fn resolved_data(refs: &[ResolvedRef], more: usize) -> Value {
    let refs = refs.iter().map(ResolvedRef::data).collect();
    let mut fields = vec![("refs".to_owned(), Value::List(refs))];
    if more > 0 {
        fields.push(("more".to_owned(), Value::from(more as i64)));
    }
    Value::Map(fields)
}
