//! The Markdown of a run's answer: its outcome, then what changed in its windows.

use pipemux_proto::report::TokenReceipt;
use pipemux_proto::{Incarnation, LineNumbers};

use crate::runs::Run;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_text::{AnswerText, tell_changes};
use crate::views::answer_window::AnswerWindow;
use crate::views::delta::{Delta, Known, delta};
use crate::views::line_changes::KeptLines;
use crate::views::requested_window::WindowStatus;
use crate::views::shown_lines::told_lines;
use crate::workspaces::{Rendered, SeenWindow};

impl AnswerText<'_> {
    /// Writes the answer of a run: its outcome, then what changed.
    pub fn run_result(&self, run: &Run, outcome: &str) -> (AnswerBuffer, TokenReceipt) {
        let mut out = AnswerBuffer::default();
        out.push(&self.notice_lines());
        out.push(outcome);
        for (session, update) in told_lines(run, self.workspace.reader(self.reader)) {
            out.tell_lines(&session, vec![update]);
        }
        let mut position = None;
        for window in self.windows {
            let Some(rendered) =
                window.rendered.as_ref().filter(|_| window.status == WindowStatus::Fresh)
            else {
                let session = &window.session;
                match &window.status {
                    WindowStatus::Busy => {
                        let line = format!("\n{session} is busy: pipemux view {session}\n");
                        out.push(&self.hints(&line));
                    }
                    WindowStatus::Broken(fault) if fault.code.context_error().is_some() => {
                        out.push("\n");
                        self.push_window(&mut out, window, true);
                    }
                    _ => {}
                }
                continue;
            };
            let seen = self.workspace.seen(self.reader, &window.session);
            // What was seen before the app's version went back is compared with nothing; and a
            // reader who saw another document meanwhile would take the difference for one of that.
            let comparable = |seen: &&SeenWindow| {
                seen.app != Incarnation::default() && seen.document == rendered.document
            };
            let changed = match seen.filter(comparable) {
                None => Delta::Whole,
                Some(seen) => {
                    let removed = !only_own_changes(run, window) || run.progress.reverts();
                    let (changed, kept) = self.delta(run, window, seen, rendered, removed);
                    tell_changes(&mut out, window, &changed, &kept, seen.base);
                    changed
                }
            };
            match changed {
                Delta::Same => {}
                Delta::Lines(lines) => {
                    out.push("\n");
                    out.push(&lines);
                }
                Delta::Whole => {
                    position = rendered.position.as_deref();
                    out.push("\n");
                    self.push_window(&mut out, window, true);
                }
            }
        }
        out.push(&self.truncation_hints(&self.windows.iter().collect::<Vec<_>>()));
        if !self.changed_elsewhere.is_empty() {
            let names: Vec<String> =
                self.changed_elsewhere.iter().map(ToString::to_string).collect();
            let line = format!("\nchanged too: {} · pipemux view\n", names.join(", "));
            out.push(&self.hints(&line));
        }
        let round = run.end.round.map(|number| format!("round {number}"));
        let fields: Vec<&str> = position.into_iter().chain(round.as_deref()).collect();
        let fields = fields.join(", ");
        self.finish(out, Some(&*fields).filter(|fields| !fields.is_empty()), false)
    }

    /// Compares a window with what the reader saw, beside what the run's outcome told.
    fn delta(
        &self,
        run: &Run,
        window: &AnswerWindow,
        seen: &SeenWindow,
        now: &Rendered,
        removed: bool,
    ) -> (Delta, Vec<KeptLines>) {
        let document = now.document.as_deref().unwrap_or_default();
        let session = &window.session;
        let newest = window.version.map_or(0, |(_, version)| version);
        let told = |old: u64, new: u64| {
            let of_window = run.told_lines.iter().filter(|(told, _, numbers)| {
                told == session && numbers.document == document && numbers.version == Some(newest)
            });
            let mut moves = of_window.filter_map(|(.., numbers)| Some((numbers.was?, numbers)));
            moves.any(|(was, LineNumbers { first, last, .. })| {
                (*first..=*last).contains(&new) && (new - first).checked_add(was) == Some(old)
            })
        };
        let renumbered = |number| self.renumbered(window, Some(document), number, seen.base);
        let restarted = window.version.map(|(app, _)| app) != Some(seen.base.0);
        let (told, renumbered) = (Some(&told as _), Some(&renumbered as _));
        let known = Known { removed, restarted, told, renumbered };
        delta(&seen.rendered, now, &known)
    }
}

/// Returns true while nobody but this run changed the window since the reader saw it: each step
/// counts one version.
fn only_own_changes(run: &Run, window: &AnswerWindow) -> bool {
    let expected = run.own_changes.expected.get(&window.session).copied();
    run.own_changes.only_own
        && window.projection.as_ref().map(|projection| projection.version) == expected
}
