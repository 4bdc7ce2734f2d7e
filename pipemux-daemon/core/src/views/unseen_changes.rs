//! Finds what is new in a workspace's windows, since an epoch or for a reader, such as for the
//! context of a prompt.

use std::cmp::Reverse;

use pipemux_proto::Incarnation;
use pipemux_proto::report::TokenReceipt;

use crate::keys::SessionKey;
use crate::limits::CONTEXT_BYTES;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_text::{AnswerText, BUSY, tell_changes};
use crate::views::answer_window::AnswerWindow;
use crate::views::delta::{Delta, Known, delta};
use crate::views::requested_window::WindowStatus;
use crate::workspaces::{Panel, Rendered, ShownVersion};

/// Begins a context that a model is shown for the first time: what it is, and how to act on it.
const FIRST_LINE: &str =
    "PipeMux context v1 · act on it: pipemux run '<call>', pipemux click <link> · pipemux --help\n";

/// Leads to the windows that found no room.
const NEXT: &str = "pipemux inject shows more\n";

/// Is all of a context after a reset while no window is open.
const NO_WINDOWS: &str = "PipeMux context v1 · 0 windows · pipemux --help\n";

/// Returns the reason why nothing of a window can be shown, in a form only used for comparison;
/// `None` if the window can be shown.
pub fn unshown_status(window: &AnswerWindow) -> Option<(SessionKey, String)> {
    let why = match &window.status {
        WindowStatus::Fresh => return None,
        WindowStatus::Broken(fault) => fault.message.clone(),
        WindowStatus::Busy | WindowStatus::Waiting => BUSY.to_owned(),
    };
    Some((window.session.clone(), why))
}

impl AnswerText<'_> {
    /// Returns what the reader hasn't seen of each window; with `reset`, all of it.
    pub fn unseen(&self, reset: bool) -> Vec<Delta> {
        self.windows
            .iter()
            .map(|window| self.unseen_of(&mut AnswerBuffer::default(), window, reset))
            .collect()
    }

    /// Writes what the reader hasn't seen of the windows; with `reset`, or if it has seen none, all
    /// of them. The answer is empty if there is nothing to tell.
    pub fn injection(&self, reset: bool) -> (AnswerBuffer, TokenReceipt) {
        let mut out = self.room();
        let reader = self.workspace.reader(self.reader).filter(|_| !reset);
        let known = |session| {
            reader.is_some_and(|reader| {
                reader.seen.contains_key(session) || reader.unshown.contains_key(session)
            })
        };
        let all = self.windows.iter().map(|window| &window.session).chain(self.left_out);
        let (windows, known) = all
            .fold((0, 0), |(windows, sum), session| (windows + 1, sum + u32::from(known(session))));
        match (windows, known) {
            (0, _) if reset => out.push(&self.hints(NO_WINDOWS)),
            (1.., 0) => out.push(&self.hints(FIRST_LINE)),
            _ => {}
        }
        let lists_windows = self.panels.shown.iter().any(|(panel, _)| *panel == Panel::Views);
        if !reset && !lists_windows && self.workspace.knows_other_windows(self.reader) {
            let open: Vec<String> =
                self.workspace.windows.iter().map(|w| w.session.to_string()).collect();
            out.push(&match open.len() {
                0 => "0 windows are open now\n".to_owned(),
                _ => format!("open now: {}\n", open.join(", ")),
            });
        }
        self.push_panels(&mut out, true);
        let mut whole: Vec<&AnswerWindow> = Vec::new();
        for window in self.steadiest_first() {
            let changed = match window.is_cut() {
                true => Delta::Whole,
                false => self.unseen_of(&mut out, window, reset),
            };
            // What an app can do is the same in all its windows: one of them tells it.
            // After a reset the reader still has the guide, and what was done needs the room.
            let known = reset
                || (self.claim_of(window).is_none() && self.knows_prototypes_of_app(window))
                || whole.iter().any(|shown| shown.tells_prototypes_of(window));
            self.push_changed(&mut out, window, &changed, known);
            if changed == Delta::Whole {
                whole.push(window);
            }
        }
        self.push_panels(&mut out, false);
        // These tell of more each time. Behind what stays the same they leave a prompt's cache
        // that.
        let latest = [&*self.notice_lines(), &*self.hints(self.recap)].concat();
        if !out.is_empty() && !latest.is_empty() {
            out.push("\n");
        }
        out.push(&latest);
        // Those without room come with the next injection, once this one has something to show.
        match (whole.is_empty(), self.left_out) {
            (false, [only]) => out.push(&self.hints(&format!("no room for {only}: {NEXT}"))),
            (false, [_, ..]) => {
                let count = self.left_out.len();
                out.push(&self.hints(&format!("no room for {count} windows: {NEXT}")));
            }
            _ => {}
        }
        let told = if whole.is_empty() { self.left_out } else { &[] };
        if let Some(window) =
            whole.iter().rev().find(|window| !window.is_cut() && window.is_trimmed())
        {
            let session = &window.session;
            let line = format!("all of a window: pipemux view {session} --lod full\n");
            out.push(&self.hints(&line));
        }
        // These aren't cut for the budget of this answer.
        whole.retain(|window| window.is_cut() || window.lowered.is_some());
        out.push(&AnswerText { left_out: told, ..*self }.truncation_hints(&whole));
        let only_held = out.is_empty();
        out.push(&self.held_lines());
        if only_held && self.questions.is_empty() {
            let shown = out.tokens();
            return (out, TokenReceipt { shown, available: shown, same: 0 });
        }
        self.push_questions(&mut out);
        let same = if reset { self.same_beginning(&out) } else { 0 };
        self.finish_with(out, None, true, same)
    }

    /// Returns the windows by priority; among equals, the ones whose text has been unchanged for
    /// longest come first, because prompt caches need an identical beginning. The progress of a
    /// running job counts as a change.
    fn steadiest_first(&self) -> Vec<&AnswerWindow> {
        let mut windows: Vec<&AnswerWindow> = self.windows.iter().collect();
        windows.sort_by_key(|shown| {
            let kept = self.workspace.window(&shown.session);
            let (priority, since) =
                kept.map_or((0, 0), |kept| (kept.placement.priority, kept.text_epoch));
            (Reverse(priority), !shown.jobs.is_empty(), since)
        });
        windows
    }

    /// Estimates the tokens with which a whole context begins as the last one of its reader did.
    fn same_beginning(&self, context: &AnswerBuffer) -> u64 {
        let Some(reader) = self.workspace.reader(self.reader) else { return 0 };
        let now = context.beginning(CONTEXT_BYTES);
        let mut pairs = now.char_indices().zip(reader.context.chars());
        let differing = pairs.find(|((_, one), other)| one != other);
        let end = differing.map_or(now.len().min(reader.context.len()), |((at, _), _)| at);
        pipemux_tokens::estimate(&now[..end])
    }

    /// Compares a window with what the reader saw of it, and notes what that says of line numbers.
    fn unseen_of(&self, out: &mut AnswerBuffer, window: &AnswerWindow, reset: bool) -> Delta {
        if let Some(claim) = self.claim_of(window) {
            return self.since_claim(out, window, claim).0;
        }
        let seen = self.workspace.seen(self.reader, &window.session).filter(|_| !reset);
        let Some(seen) = seen else {
            let known = self.workspace.reader(self.reader).map(|reader| &reader.unshown);
            // Why there is nothing to show of it is told once.
            let told = unshown_status(window).is_some_and(|(session, why)| {
                !reset && known.and_then(|known| known.get(&session)) == Some(&why)
            });
            return if told { Delta::Same } else { Delta::Whole };
        };
        let Some(now) = window.rendered.as_ref().filter(|_| window.status == WindowStatus::Fresh)
        else {
            // It was shown before, and notices tell what has become of its app.
            return Delta::Same;
        };
        // What was seen before the app's version went back is compared with nothing, nor is another
        // document.
        match seen.app != Incarnation::default() && seen.document == now.document {
            true => self.compare(out, window, (&seen.rendered, seen.base), now),
            false => Delta::Whole,
        }
    }

    /// Writes what changed since an epoch.
    pub fn changes_since(&self, epoch: u64) -> (AnswerBuffer, TokenReceipt) {
        let mut out = self.begin();
        for window in self.windows {
            let kept = self.workspace.window(&window.session);
            let delivered = kept.and_then(|kept| kept.at(epoch));
            let changed = match (delivered, &window.rendered) {
                (Some(delivered), Some(now)) if window.status == WindowStatus::Fresh => {
                    self.compare(&mut out, window, (&delivered.rendered, delivered.seen), now)
                }
                _ => Delta::Whole,
            };
            self.push_changed(&mut out, window, &changed, self.knows_prototypes(window));
            if changed == Delta::Same {
                out.push(&window.jobs);
            }
        }
        if out.is_empty() {
            out.push(&format!("0 changes since e{epoch}\n"));
        }
        self.push_questions(&mut out);
        self.finish(out, None, true)
    }

    /// Appends what changed of a window, without its prototypes if these are `known`.
    pub(super) fn push_changed(
        &self,
        out: &mut AnswerBuffer,
        window: &AnswerWindow,
        changed: &Delta,
        known: bool,
    ) {
        if !out.is_empty() && *changed != Delta::Same {
            out.push("\n");
        }
        match changed {
            Delta::Same => {}
            Delta::Lines(lines) => {
                out.push(lines);
                out.push(&window.jobs);
            }
            Delta::Whole => self.push_window_with(out, window, known),
        }
    }

    /// Compares a window with what was shown of it in a version, and notes what that says of line
    /// numbers.
    pub(super) fn compare(
        &self,
        out: &mut AnswerBuffer,
        window: &AnswerWindow,
        (before, base): (&Rendered, ShownVersion),
        now: &Rendered,
    ) -> Delta {
        let document = now.document.as_deref();
        let renumbered = |number| self.renumbered(window, document, number, base);
        let known = Known {
            removed: true,
            restarted: window.version.map(|(app, _)| app) != Some(base.0),
            renumbered: Some(&renumbered as _),
            ..Known::default()
        };
        let (changed, kept) = delta(before, now, &known);
        tell_changes(out, window, &changed, &kept, base);
        changed
    }
}
