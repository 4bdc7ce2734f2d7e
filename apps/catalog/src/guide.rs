//! Guides: the form in which help shows an app's actions.
//!
//! A guide has a line for each line of the help:
//!
//! ```text
//! > FILES: a path, a folder, a glob, or a list of them.
//! find(text, in=FILES, word, regex) · outline | without in: the whole project
//! ```
//!
//! `>` begins a sentence, any other line has signatures between ` · ` and a remark after ` | `. A
//! signature names an action and the parameters to show, `…` for those that are left out; without
//! parentheses all are shown. `in=FILES` shows what an optional parameter takes, `range:RANGE`
//! shows a word in place of a required one, and `word!` only the name of an optional one. A line
//! that begins with `~` names actions that the help doesn't show, one with `#` is a comment.

use pipemux_proto::prototype::{Param, Prominence, Prototype};

/// The differences between a guide and the prototypes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MissingFromPrototypes {
    /// Signatures in the guide that match no prototype.
    pub signatures: Vec<String>,
    /// The actions that the guide doesn't name.
    pub unmentioned: Vec<String>,
}

/// A signature in a guide.
struct Entry<'a> {
    action: &'a str,
    /// The parameters to show; `None` shows all of them.
    params: Option<Vec<Shown<'a>>>,
}

/// A parameter in a guide's signature.
enum Shown<'a> {
    Rest,
    /// The parameter as the prototype declares it.
    Plain(&'a str),
    /// `name!`: the name alone.
    Name(&'a str),
    /// `name=WORD`
    Optional(&'a str, &'a str),
    /// `name:WORD`
    Required(&'a str, &'a str),
}

enum Line<'a> {
    Sentence(&'a str),
    Signatures(Vec<Entry<'a>>, &'a str),
    LeftOut(Vec<&'a str>),
}

/// Writes a guide with the signatures of the prototypes.
pub fn write(guide: &str, prototypes: &[Prototype]) -> String {
    let mut text = String::new();
    for line in lines(guide) {
        match line {
            Line::LeftOut(_) => {}
            Line::Sentence(words) => text += &format!("{words}\n"),
            Line::Signatures(entries, remark) => {
                let written = entries.iter().filter_map(|entry| entry.write(prototypes));
                let written: Vec<String> = written.collect();
                if !written.is_empty() {
                    let remark = if remark.is_empty() { "" } else { &format!("   {remark}") };
                    text += &format!("{}{remark}\n", written.join(" · "));
                }
            }
        }
    }
    text
}

/// Compares a guide with the prototypes.
pub fn check(guide: &str, prototypes: &[Prototype]) -> MissingFromPrototypes {
    let mut found = MissingFromPrototypes::default();
    let mut named: Vec<&str> = Vec::new();
    for line in lines(guide) {
        match line {
            Line::Sentence(_) => {}
            Line::LeftOut(actions) => named.extend(actions),
            Line::Signatures(entries, _) => {
                for entry in &entries {
                    named.push(entry.action);
                    if !entry.is_exact(prototypes) {
                        found.signatures.push(entry.action.to_owned());
                    }
                }
            }
        }
    }
    let listed = prototypes.iter().filter(|one| one.prominence != Prominence::Alias);
    let unmentioned = listed.map(Prototype::written_name).filter(|name| !named.contains(name));
    found.unmentioned = unmentioned.map(str::to_owned).collect();
    found
}

/// Reads the lines of a guide.
fn lines(guide: &str) -> impl Iterator<Item = Line<'_>> {
    let shown = guide.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    shown.map(|line| {
        if let Some(actions) = line.strip_prefix('~') {
            return Line::LeftOut(actions.split_whitespace().collect());
        }
        if let Some(sentence) = line.strip_prefix('>') {
            return Line::Sentence(sentence.trim());
        }
        let (signatures, remark) = line.split_once(" | ").unwrap_or((line, ""));
        Line::Signatures(signatures.split(" · ").map(Entry::read).collect(), remark)
    })
}

impl<'a> Entry<'a> {
    fn read(text: &'a str) -> Self {
        let Some((action, params)) = text.split_once('(') else {
            return Self { action: text.trim(), params: None };
        };
        let params = params.trim_end().trim_end_matches(')').split(", ");
        let params = params.filter(|param| !param.is_empty()).map(Shown::read).collect();
        Self { action: action.trim(), params: Some(params) }
    }

    /// Returns the prototype that has all parameters which the entry names, preferably one that
    /// requires no other; else any that is called so.
    fn prototype<'p>(&self, prototypes: &'p [Prototype]) -> Option<&'p Prototype> {
        let is_listed = |one: &&Prototype| one.prominence != Prominence::Alias;
        let called = || prototypes.iter().filter(|one| one.written_name() == self.action);
        let has_all = |one: &&Prototype| {
            let mut names = self.params.iter().flatten().filter_map(Shown::name);
            names.all(|name| one.params.iter().any(|param| param.name == name))
        };
        let fits = |one: &&Prototype| has_all(one) && self.shows_required(one);
        let listed = || called().filter(is_listed);
        listed().find(fits).or_else(|| listed().find(has_all)).or_else(|| listed().next())
    }

    fn write(&self, prototypes: &[Prototype]) -> Option<String> {
        let prototype = self.prototype(prototypes)?;
        // A signature without a parameter that must be given would mislead.
        let shown = self.params.as_ref().filter(|_| self.shows_required(prototype));
        let Some(shown) = shown else { return Some(prototype.short()) };
        let params: Vec<String> = shown.iter().filter_map(|param| param.write(prototype)).collect();
        let mark = prototype.query_mark();
        Some(format!("{mark}{}({})", prototype.written_name(), params.join(", ")))
    }

    /// Returns true when a prototype has all that the entry names, and the entry shows all that the
    /// prototype requires.
    fn is_exact(&self, prototypes: &[Prototype]) -> bool {
        let Some(prototype) = self.prototype(prototypes) else { return false };
        let Some(shown) = &self.params else { return true };
        let exists = |param: &Shown<'_>| param.write(prototype).is_some();
        shown.iter().all(exists) && self.shows_required(prototype)
    }

    /// Returns true when the entry shows all parameters that must be given.
    fn shows_required(&self, prototype: &Prototype) -> bool {
        let shows = |name: &str| {
            self.params.as_ref().is_none_or(|all| all.iter().any(|one| one.name() == Some(name)))
        };
        let mut required = prototype.params.iter().filter(|param: &&Param| param.is_required());
        required.all(|param| shows(&param.name))
    }
}

impl<'a> Shown<'a> {
    fn read(text: &'a str) -> Self {
        match text.trim() {
            "…" => Self::Rest,
            text if text.ends_with('!') => Self::Name(text.trim_end_matches('!')),
            text => match (text.split_once('='), text.split_once(':')) {
                (Some((name, word)), _) => Self::Optional(name, word),
                (None, Some((name, word))) => Self::Required(name, word),
                (None, None) => Self::Plain(text),
            },
        }
    }

    fn name(&self) -> Option<&'a str> {
        match self {
            Self::Rest => None,
            Self::Plain(name)
            | Self::Name(name)
            | Self::Optional(name, _)
            | Self::Required(name, _) => Some(name),
        }
    }

    /// Writes the parameter as the prototype has it; nothing when it has none that fits.
    fn write(&self, prototype: &Prototype) -> Option<String> {
        let Some(name) = self.name() else { return Some("…".to_owned()) };
        let param = prototype.params.iter().find(|param| param.name == name)?;
        match self {
            Self::Optional(_, word) => (!param.is_required()).then(|| format!("{name}={word}")),
            Self::Required(_, word) => param.is_required().then(|| (*word).to_owned()),
            Self::Name(_) => (!param.is_required()).then(|| name.to_owned()),
            Self::Rest | Self::Plain(_) => Some(param.short()),
        }
    }
}
