//! The Markdown of an answer.

use pipemux_proto::report::Receipt;
use pipemux_proto::tokens;

use crate::keys::SessionKey;
use crate::limits::BUDGET_MAX;
use crate::runs::Run;
use crate::verbs::show::WindowStatus;
use crate::views::answer;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::delta::{Delta, delta};
use crate::views::inert;
use crate::views::window_part::AnswerWindow;
use crate::workspaces::Workspace;

/// Ends the heading of a window whose app didn't answer in time.
pub const BUSY: &str = " · busy, as it was before";

/// What an answer is written from.
pub struct AnswerText<'a> {
    pub workspace: &'a Workspace,
    pub reader: &'a str,
    pub parts: &'a [AnswerWindow],
    pub news: &'a [String],
    /// Other windows that changed.
    pub others: &'a [SessionKey],
    pub budget: Option<u32>,
}

impl AnswerText<'_> {
    /// Windows in full: `open` and `view`.
    pub fn windows(&self, notes: &[String], whole: bool) -> (AnswerBuffer, Receipt) {
        let mut out = self.begin();
        for note in notes {
            out.say(&format!("{}\n", inert::lines(note)));
        }
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 || !out.is_empty() {
                out.say("\n");
            }
            self.window(&mut out, part, whole);
        }
        if self.parts.is_empty() {
            out.say("0 windows · pipemux apps · pipemux open <app>\n");
        }
        out.say(&self.cut());
        let position = match self.parts {
            [part] => part.rendered.as_ref().and_then(|r| r.position.as_deref()),
            _ => None,
        };
        self.finish(out, position, true)
    }

    /// Says of what less is shown than was asked for, and how to see it.
    fn cut(&self) -> String {
        let mut out = String::new();
        let hidden = |part: &&AnswerWindow| {
            part.lowered.is_none() && part.written().is_some_and(|r| r.hidden_tokens > 0)
        };
        let cut = self.parts.iter().rev().find(hidden);
        if let (Some(budget), Some(AnswerWindow { session, .. })) = (self.budget, cut) {
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
    pub fn since(&self, epoch: u64) -> (AnswerBuffer, Receipt) {
        let mut out = self.begin();
        for part in self.parts {
            let window = self.workspace.window(&part.session);
            let past = window.and_then(|window| window.at(epoch));
            let changed = match (past, &part.rendered) {
                (Some(past), Some(rendered)) if part.state == WindowStatus::Fresh => {
                    delta(&past.rendered, rendered, true)
                }
                _ => Delta::Whole,
            };
            if !out.is_empty() && changed != Delta::Same {
                out.say("\n");
            }
            match changed {
                Delta::Same => {}
                Delta::Lines(lines) => out.say(&lines),
                Delta::Whole => self.window(&mut out, part, true),
            }
        }
        if out.is_empty() {
            out.say(&format!("0 changes since e{epoch}\n"));
        }
        self.finish(out, None, true)
    }

    /// A window's text.
    fn window(&self, out: &mut AnswerBuffer, part: &AnswerWindow, whole: bool) {
        let suffix = match &part.state {
            WindowStatus::Broken(fault) => {
                let refusal = answer::refusal(fault);
                return out.say(&format!("## {}\n{refusal}", part.session));
            }
            WindowStatus::Busy | WindowStatus::Waiting => BUSY,
            WindowStatus::Fresh => "",
        };
        let Some(rendered) = part.written() else {
            return out.say(&format!("## {}{suffix}\n", part.session));
        };
        let seen = self.workspace.seen(self.reader, &part.session);
        let known = seen.is_some_and(|seen| seen.prototypes == part.prototypes);
        // They are shown once, and again when they change or the window is asked for by itself.
        let prototypes = if known && whole { "" } else { &*part.prototypes };
        // Each window has its share, prototypes included.
        let windows = self.parts.len().max(1) as u64;
        let room = self.budget.map_or(u64::MAX, |budget| u64::from(budget) / windows);
        let crowded = |prototypes: &str| rendered.tokens + tokens::estimate(prototypes) > room;
        let elsewhere;
        let prototypes = if !prototypes.is_empty() && crowded(prototypes) {
            elsewhere = format!("actions: pipemux help {}\n", part.session.addr.provider);
            elsewhere.as_str()
        } else {
            prototypes
        };
        rendered.say(out, suffix, prototypes);
    }

    /// What every answer begins with, and room for the windows that may follow.
    fn begin(&self) -> AnswerBuffer {
        let windows = self.parts.iter().filter_map(|part| Some(part.written()?.room() + 600));
        let mut out = AnswerBuffer::with_room(windows.sum::<usize>() + 200);
        out.say(&self.notices());
        out
    }

    /// A run: what came of it, then what changed.
    pub fn act(&self, run: &Run, outcome: &str) -> (AnswerBuffer, Receipt) {
        let mut out = AnswerBuffer::default();
        out.say(&self.notices());
        out.say(outcome);
        let mut position = None;
        for part in self.parts {
            let Some(rendered) =
                part.rendered.as_ref().filter(|_| part.state == WindowStatus::Fresh)
            else {
                if part.state == WindowStatus::Busy {
                    let session = &part.session;
                    out.say(&format!("\n{session} is busy: pipemux view {session}\n"));
                }
                continue;
            };
            let seen = self.workspace.seen(self.reader, &part.session);
            let changed = match seen {
                Some(seen) => {
                    delta(&seen.rendered, rendered, !self.own(run, part) || run.reverts())
                }
                None => Delta::Whole,
            };
            match changed {
                Delta::Same => {}
                Delta::Lines(lines) => {
                    out.say("\n");
                    out.say(&lines);
                }
                Delta::Whole => {
                    position = rendered.position.as_deref();
                    out.say("\n");
                    self.window(&mut out, part, true);
                }
            }
        }
        out.say(&self.cut());
        if !self.others.is_empty() {
            let names: Vec<String> = self.others.iter().map(ToString::to_string).collect();
            out.say(&format!("\nchanged too: {} · pipemux view\n", names.join(", ")));
        }
        self.finish(out, position, false)
    }

    /// True while nobody but this run changed the window since the reader saw it: each step counts
    /// one version.
    fn own(&self, run: &Run, part: &AnswerWindow) -> bool {
        let expected = run.expected.get(&part.session).copied();
        run.only_own_changes
            && part.projection.as_ref().map(|projection| projection.version) == expected
    }

    fn notices(&self) -> String {
        self.news.iter().map(|news| format!("{}\n", inert::lines(news))).collect()
    }

    /// Adds the last line: place, workspace, epoch, receipt.
    fn finish(
        &self,
        mut out: AnswerBuffer,
        position: Option<&str>,
        named: bool,
    ) -> (AnswerBuffer, Receipt) {
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
        let shown = out.tokens() + tokens::estimate(&last) + 8;
        let receipt = Receipt { shown, available: available.max(shown) };
        out.end(&format!("{last}{} of {} tokens\n", receipt.shown, receipt.available));
        (out, receipt)
    }
}
