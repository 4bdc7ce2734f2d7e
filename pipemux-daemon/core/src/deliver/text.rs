//! The Markdown of an answer.

use pipemux_proto::report::Receipt;
use pipemux_proto::tokens;

use super::part::Part;
use crate::act::Acting;
use crate::keys::SessionKey;
use crate::limits::BUDGET_MAX;
use crate::render::answer;
use crate::render::delta::{Delta, delta};
use crate::render::inert;
use crate::verbs::show::State;
use crate::workspace::Workspace;

/// Ends the heading of a window whose app didn't answer in time.
pub const BUSY: &str = " · busy, as it was before";

/// True for a run that takes changes back: what vanishes by it is worth seeing.
fn takes_back(acting: &Acting) -> bool {
    acting.steps.iter().any(|step| matches!(step.prototype.name.as_str(), "undo" | "redo"))
}

/// What an answer is written from.
pub struct AnswerText<'a> {
    pub workspace: &'a Workspace,
    pub reader: &'a str,
    pub parts: &'a [Part],
    pub news: &'a [String],
    /// Other windows that changed.
    pub others: &'a [SessionKey],
    pub budget: Option<u32>,
}

impl AnswerText<'_> {
    /// Windows in full: `open` and `view`.
    pub fn windows(&self, notes: &[String], whole: bool) -> (String, Receipt) {
        let mut out = self.notices();
        for note in notes {
            out += &format!("{}\n", inert::lines(note));
        }
        let mut tokens = None;
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 || !out.is_empty() {
                out.push('\n');
            }
            let (window, known) = self.window(part, whole);
            tokens = known.filter(|_| out.is_empty());
            out += &window;
        }
        if self.parts.is_empty() {
            out += "0 windows · pipemux apps · pipemux open <app>\n";
        }
        let cut = self.cut();
        // Of an answer that is one window as it was written, the tokens are known.
        tokens = tokens.filter(|_| cut.is_empty() && self.parts.len() == 1);
        out += &cut;
        let position = match self.parts {
            [part] => part.rendered.as_ref().and_then(|r| r.position.as_deref()),
            _ => None,
        };
        self.finish(out, tokens, position, true)
    }

    /// Says of what less is shown than was asked for, and how to see it.
    fn cut(&self) -> String {
        let mut out = String::new();
        let hidden = |part: &&Part| {
            part.lowered.is_none() && part.written().is_some_and(|r| r.hidden_tokens > 0)
        };
        let cut = self.parts.iter().rev().find(hidden);
        if let (Some(budget), Some(Part { session, .. })) = (self.budget, cut) {
            out += &format!(
                "cut to fit {budget} tokens; all of a window: pipemux view {session} --lod full\n"
            );
        }
        let lowered = self.parts.iter().rev().find_map(|part| Some((&part.session, part.lowered?)));
        if let Some((session, tokens)) = lowered {
            // What the daemon writes around it takes some, too.
            let enough = (tokens + tokens / 4 + 100).min(u64::from(BUDGET_MAX));
            out += &format!(
                "less detail, to fit; all of it: pipemux view {session} --lod full --budget {enough}\n"
            );
        }
        out
    }

    /// What changed since an epoch.
    pub fn since(&self, epoch: u64) -> (String, Receipt) {
        let mut out = self.notices();
        for part in self.parts {
            let window = self.workspace.window(&part.session);
            let past = window.and_then(|window| window.at(epoch));
            let changed = match (past, &part.rendered) {
                (Some(past), Some(rendered)) if part.state == State::Fresh => {
                    delta(&past.rendered, rendered, true)
                }
                _ => Delta::Whole,
            };
            let space = if out.is_empty() { "" } else { "\n" };
            match changed {
                Delta::Same => {}
                Delta::Lines(lines) => out += &format!("{space}{lines}"),
                Delta::Whole => out += &format!("{space}{}", self.window(part, true).0),
            }
        }
        if out.is_empty() {
            out += &format!("0 changes since e{epoch}\n");
        }
        self.finish(out, None, None, true)
    }

    /// A window's text, and its tokens where these are known already.
    fn window(&self, part: &Part, whole: bool) -> (String, Option<u64>) {
        let suffix = match &part.state {
            State::Broken(fault) => {
                let refusal = answer::refusal(fault);
                return (format!("## {}\n{refusal}", part.session), None);
            }
            State::Busy | State::Waiting => BUSY,
            State::Fresh => "",
        };
        let Some(rendered) = part.written() else {
            return (format!("## {}{suffix}\n", part.session), None);
        };
        let seen = self.workspace.seen(self.reader, &part.session);
        let known = seen.is_some_and(|seen| seen.prototypes == part.prototypes);
        // They are shown once, and again when they change or the window is asked for by itself.
        let prototypes = if known && whole { "" } else { &*part.prototypes };
        // Each window has its share, prototypes included.
        let windows = self.parts.len().max(1) as u64;
        let room = self.budget.map_or(u64::MAX, |budget| u64::from(budget) / windows);
        let elsewhere;
        let prototypes = if rendered.tokens + tokens::estimate(prototypes) > room {
            elsewhere = format!("actions: pipemux help {}\n", part.session.addr.provider);
            if prototypes.is_empty() { "" } else { elsewhere.as_str() }
        } else {
            prototypes
        };
        let body = rendered.body(prototypes);
        match suffix {
            "" if prototypes.is_empty() && part.titled.is_none() => (body, Some(rendered.tokens)),
            "" => (body, None),
            suffix => (body.replacen('\n', &format!("{suffix}\n"), 1), None),
        }
    }

    /// A run: what came of it, then what changed.
    pub fn act(&self, acting: &Acting, outcome: &str) -> (String, Receipt) {
        let mut out = self.notices();
        out += outcome;
        let mut position = None;
        for part in self.parts {
            let Some(rendered) = part.rendered.as_ref().filter(|_| part.state == State::Fresh)
            else {
                if part.state == State::Busy {
                    out += &format!("\n{} is busy: pipemux view {}\n", part.session, part.session);
                }
                continue;
            };
            let seen = self.workspace.seen(self.reader, &part.session);
            let changed = match seen {
                Some(seen) => {
                    delta(&seen.rendered, rendered, !self.own(acting, part) || takes_back(acting))
                }
                None => Delta::Whole,
            };
            match changed {
                Delta::Same => {}
                Delta::Lines(lines) => out += &format!("\n{lines}"),
                Delta::Whole => {
                    position = rendered.position.as_deref();
                    out += &format!("\n{}", self.window(part, true).0);
                }
            }
        }
        out += &self.cut();
        if !self.others.is_empty() {
            let names: Vec<String> = self.others.iter().map(ToString::to_string).collect();
            out += &format!("\nchanged too: {} · pipemux view\n", names.join(", "));
        }
        self.finish(out, None, position, false)
    }

    /// True while nobody but this run changed the window since the reader saw it: each step counts
    /// one version.
    fn own(&self, acting: &Acting, part: &Part) -> bool {
        let expected = acting.expected.get(&part.session).copied();
        acting.own && part.projection.as_ref().map(|projection| projection.version) == expected
    }

    fn notices(&self) -> String {
        self.news.iter().map(|news| format!("{}\n", inert::lines(news))).collect()
    }

    /// Adds the last line: place, workspace, epoch, receipt.
    fn finish(
        &self,
        mut out: String,
        tokens: Option<u64>,
        position: Option<&str>,
        named: bool,
    ) -> (String, Receipt) {
        let available = self
            .parts
            .iter()
            .filter_map(|part| part.rendered.as_ref())
            .map(|rendered| rendered.tokens.saturating_add(rendered.hidden_tokens))
            .fold(0, u64::saturating_add);
        let mut last = position.map_or(String::new(), |position| format!("{position} · "));
        if named {
            last += &format!("workspace {} · ", self.workspace.name);
        }
        last += &format!("e{} · ", self.workspace.epoch);
        let shown = tokens.unwrap_or_else(|| tokens::estimate(&out)) + tokens::estimate(&last) + 8;
        let receipt = Receipt { shown, available: available.max(shown) };
        out += &format!("{last}{} of {} tokens\n", receipt.shown, receipt.available);
        (out, receipt)
    }
}
