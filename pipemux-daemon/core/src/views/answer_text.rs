//! The Markdown of an answer.

use std::borrow::Cow;

use pipemux_proto::Fault;
use pipemux_proto::command::with_options;
use pipemux_proto::projection::Lod;
use pipemux_proto::report::TokenReceipt;

use crate::foreign::ForeignText;
use crate::keys::SessionKey;
use crate::limits::{ANSWER_BUDGET_MIN, LAST_LINE_TOKENS};
use crate::views::answer::{self, fault_with_options};
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_window::AnswerWindow;
use crate::views::delta::Delta;
use crate::views::held_claim::HeldClaim;
use crate::views::inert;
use crate::views::line_changes::KeptLines;
use crate::views::quoted_refs::quoted_refs_note;
use crate::views::requested_window::WindowStatus;
use crate::views::shown_lines::{changed_window, whole_window};
use crate::workspaces::{Panels, Rendered, ShownVersion, Workspace};

/// The tokens for the receipt.
const RECEIPT_TOKENS: u64 = 8;

/// Ends the heading of a window whose app didn't answer in time.
pub const BUSY: &str = " · busy, as it was before";

/// Everything that an answer is written from.
pub struct AnswerText<'a> {
    pub workspace: &'a Workspace,
    /// The reader who made the request.
    pub reader: &'a str,
    pub windows: &'a [AnswerWindow],
    /// Notices that the reader hasn't been shown.
    pub notices: &'a [String],
    /// The panels of the workspace document.
    pub panels: &'a Panels,
    /// A summary of what was done, for the context of a prompt after a reset.
    pub recap: &'a str,
    /// Sessions of other windows that changed.
    pub changed_elsewhere: &'a [SessionKey],
    /// The text of the reader's open questions, in full.
    pub questions: &'a str,
    /// The budget in tokens that the request named.
    pub budget: Option<u32>,
    /// The client's claims of the windows that it holds.
    pub held: &'a [HeldClaim],
    /// Sessions whose windows there was no room for.
    pub left_out: &'a [SessionKey],
    /// The options that are repeated in suggested commands.
    pub hint_options: &'a str,
}

impl AnswerText<'_> {
    /// Writes windows in full, for `open` and `view`. With `all`, they are all windows of the
    /// workspace, and prototypes that the reader knows are left out.
    pub fn full(&self, notes: &[ForeignText], all: bool) -> (AnswerBuffer, TokenReceipt) {
        let mut out = self.begin();
        for note in notes {
            out.push(&format!("{}\n", inert::lines(note)));
        }
        self.push_panels(&mut out, true);
        for window in self.windows {
            if let Some(claim) = self.claim_of(window) {
                let (changed, _) = self.since_claim(&mut out, window, claim);
                self.push_changed(&mut out, window, &changed, false);
                continue;
            }
            if !out.is_empty() {
                out.push("\n");
            }
            self.push_window(&mut out, window, all);
        }
        if self.windows.is_empty() {
            out.push(&self.hints("0 windows · see what can be opened: pipemux apps\n"));
        }
        self.push_panels(&mut out, false);
        out.push(&self.truncation_hints(&self.windows.iter().collect::<Vec<_>>()));
        if all {
            self.push_help_line(&mut out);
        }
        out.push(&self.held_lines());
        self.push_questions(&mut out);
        let position = match self.windows {
            [window] => window.rendered.as_ref().and_then(|r| r.position.as_deref()),
            _ => None,
        };
        self.finish(out, position, true)
    }

    /// Appends the panels that stand before all windows, or the others.
    pub(super) fn push_panels(&self, out: &mut AnswerBuffer, first: bool) {
        for (_, text) in self.panels.shown.iter().filter(|(panel, _)| panel.is_first() == first) {
            if !out.is_empty() {
                out.push("\n");
            }
            out.push(&self.hints(text));
        }
        if !first {
            out.push(&self.hints(&self.panels.no_room_line()));
        }
    }

    /// Says which windows are shown in part, and how to see all of them.
    pub(super) fn truncation_hints(&self, shown: &[&AnswerWindow]) -> String {
        let mut out = match self.left_out {
            [] => String::new(),
            [only] => format!("no room for {only}: pipemux view {only}\n"),
            [first, ..] => {
                let count = self.left_out.len();
                format!("no room for {count} windows: pipemux view {first} shows one of them\n")
            }
        };
        let is_cut = |window: &&AnswerWindow| {
            window.lowered.is_none() && window.shown().is_some_and(|r| r.hidden_tokens > 0)
        };
        let cut = shown.iter().copied().rev().find(is_cut);
        if let (Some(budget), Some(AnswerWindow { session, .. })) = (self.budget, cut) {
            // An answer takes no less, whatever the request names.
            let budget = budget.max(ANSWER_BUDGET_MIN);
            out += &format!(
                "cut to fit {budget} tokens; all of a window: pipemux view {session} --lod full\n"
            );
        }
        let too_large: Vec<_> = shown.iter().filter_map(|window| window.too_large()).collect();
        self.hints(&(out + &too_large_line(&too_large))).into_owned()
    }

    /// Says where the actions are that windows didn't list again, if there is room for that.
    fn push_help_line(&self, out: &mut AnswerBuffer) {
        let unlisted = self.windows.iter().filter(|window| {
            let is_shown = window.shown().is_some() && window.lod != Lod::Gist;
            is_shown && !window.prototypes.is_empty() && self.knows_prototypes(window)
        });
        let mut commands = Vec::new();
        for window in unlisted {
            let command = format!("pipemux help {}", window.session.addr.provider);
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        let line = format!("actions: {}\n", commands.join(" · "));
        let tokens = out.tokens() + pipemux_tokens::estimate(&line) + u64::from(LAST_LINE_TOKENS);
        if !commands.is_empty() && self.budget.is_none_or(|budget| tokens <= u64::from(budget)) {
            out.push(&line);
        }
    }

    /// Returns true when the reader was shown the window's prototypes as they are.
    pub(super) fn knows_prototypes(&self, window: &AnswerWindow) -> bool {
        let seen = self.workspace.seen(self.reader, &window.session);
        seen.is_some_and(|seen| seen.prototypes == window.prototypes)
    }

    /// Returns true when the reader was shown these prototypes with any window of the app.
    pub(super) fn knows_prototypes_of_app(&self, window: &AnswerWindow) -> bool {
        let provider = &window.session.addr.provider;
        let reader = self.workspace.reader(self.reader);
        reader.is_some_and(|reader| {
            let of_app = reader.seen.iter().filter(|(key, _)| key.addr.provider == *provider);
            of_app.into_iter().any(|(_, seen)| seen.prototypes == window.prototypes)
        })
    }

    /// Writes nothing but the open questions, below the reason why they are shown.
    pub fn questions_only(&self, reason: String) -> (AnswerBuffer, TokenReceipt) {
        let mut out = self.begin();
        out.push(&reason);
        out.push(self.questions);
        self.finish(out, None, false)
    }

    /// Appends the open questions. They come last, so that what precedes them is as it is without
    /// them.
    pub(super) fn push_questions(&self, out: &mut AnswerBuffer) {
        if !self.questions.is_empty() {
            out.push("\n");
            if self.workspace.options.panels.questions {
                out.push("## pipemux/questions\n");
            }
            out.push(self.questions);
        }
    }

    /// Appends a window. With `omit_known`, prototypes that the reader was shown are left out.
    pub(super) fn push_window(
        &self,
        out: &mut AnswerBuffer,
        window: &AnswerWindow,
        omit_known: bool,
    ) {
        self.push_window_with(out, window, omit_known && self.knows_prototypes(window));
    }

    /// Appends a window, without its prototypes if these are `known`.
    pub(super) fn push_window_with(
        &self,
        out: &mut AnswerBuffer,
        window: &AnswerWindow,
        known: bool,
    ) {
        let suffix = match &window.status {
            WindowStatus::Broken(fault) => {
                let fault = fault_with_options((**fault).clone(), self.hint_options);
                let refusal = answer::refusal(&fault);
                return out.push(&format!("## {}\n{refusal}{}", window.session, window.jobs));
            }
            WindowStatus::Busy | WindowStatus::Waiting => BUSY,
            WindowStatus::Fresh => "",
        };
        let Some(rendered) = window.shown() else {
            return out.push(&format!("## {}{suffix}\n{}", window.session, window.jobs));
        };
        // They are shown once, and again when they change or the window is asked for by itself.
        let prototypes = if known { "" } else { &*window.prototypes };
        let prototypes = match prototypes {
            "" => Cow::Borrowed(""),
            _ => window.fitting_prototypes(rendered),
        };
        let version = window.version.or(window.older_version);
        out.tell_lines(&window.session, whole_window(rendered, version));
        tell_embedded(out, rendered);
        out.push_window(rendered, suffix, &prototypes);
        out.push(&window.jobs);
    }

    /// Begins an answer with the notices, and room for the windows that may follow.
    pub(super) fn begin(&self) -> AnswerBuffer {
        let mut out = self.room();
        out.push(&self.notice_lines());
        out
    }

    /// Makes a buffer with room for the windows.
    pub(super) fn room(&self) -> AnswerBuffer {
        let room = |window: &AnswerWindow| Some(AnswerBuffer::room_for(window.shown()?) + 600);
        let room = self.windows.iter().filter_map(room);
        AnswerBuffer::with_room(room.sum::<usize>() + 200)
    }

    /// Returns true when the reader was shown a number in another version than `base`.
    pub(super) fn renumbered(
        &self,
        window: &AnswerWindow,
        document: Option<&str>,
        number: u64,
        base: ShownVersion,
    ) -> bool {
        let reader = self.workspace.reader(self.reader);
        reader.is_some_and(|reader| {
            let lines = reader.lines_of(&window.session);
            !lines.all_in(document.unwrap_or_default(), number, number, base)
        })
    }

    pub(super) fn notice_lines(&self) -> String {
        let line = |notice: &String| format!("{}\n", inert::lines(&*self.hints(notice)));
        self.notices.iter().map(line).collect()
    }

    /// Adds the caller's options to the commands of a text.
    pub(super) fn hints<'t>(&self, text: &'t str) -> Cow<'t, str> {
        with_options(text, self.hint_options)
    }

    /// Appends the last line: position, workspace, epoch, receipt.
    pub(super) fn finish(
        &self,
        out: AnswerBuffer,
        position: Option<&str>,
        named: bool,
    ) -> (AnswerBuffer, TokenReceipt) {
        self.finish_with(out, position, named, 0)
    }

    /// Does the same for a context whose first tokens, so many, are those of the last one.
    pub(super) fn finish_with(
        &self,
        mut out: AnswerBuffer,
        position: Option<&str>,
        named: bool,
        same: u64,
    ) -> (AnswerBuffer, TokenReceipt) {
        let note = quoted_refs_note(self.workspace, self.reader, &out.quoted_refs());
        if let Some(note) = &note {
            out.push(&format!("{note}\n"));
        }
        let available = self
            .windows
            .iter()
            .filter_map(|window| {
                let rendered = window.rendered.as_ref()?;
                let all = rendered.tokens.saturating_add(rendered.hidden_tokens);
                Some(all.max(window.lowered.unwrap_or(0)))
            })
            .fold(0, u64::saturating_add);
        let mut last = String::new();
        if let Some(position) = position {
            last.extend([&*field(position), " · "]);
        }
        if named {
            last.extend(["workspace ", &*field(&inert::line(&self.workspace.name)), " · "]);
        }
        if same > 0 {
            last.extend(["first ", &*same.to_string(), " as last time · "]);
        }
        last.extend(["e", &*self.workspace.epoch.to_string(), " · "]);
        let shown = out.tokens() + pipemux_tokens::estimate(&last) + RECEIPT_TOKENS;
        let receipt = TokenReceipt { shown, available: available.max(shown), same };
        let (shown, available) = (shown.to_string(), receipt.available.to_string());
        for part in [&*last, &*shown, " of ", &*available, " tokens\n"] {
            out.push_unestimated(part);
        }
        (out, receipt)
    }
}

/// Makes a text one field of the last line: the mark between fields is none of it.
fn field(text: &str) -> Cow<'_, str> {
    match text.contains('·') {
        true => text.replace(" · ", ", ").replace('·', ",").into(),
        false => text.into(),
    }
}

/// Notes what a window says of line numbers that is shown as a difference from `base`.
pub(super) fn tell_changes(
    out: &mut AnswerBuffer,
    window: &AnswerWindow,
    changed: &Delta,
    kept: &[KeptLines],
    base: ShownVersion,
) {
    if let (Some(rendered), Some(version)) = (&window.rendered, window.version)
        && *changed != Delta::Whole
    {
        tell_embedded(out, rendered);
        out.tell_lines(&window.session, changed_window(rendered, version, base, kept));
    }
}

/// Notes what a window says of the line numbers of windows that it embeds.
fn tell_embedded(out: &mut AnswerBuffer, rendered: &Rendered) {
    for (session, update) in rendered.embeds.line_updates() {
        out.tell_lines(session, vec![update]);
    }
}

/// Writes which windows are shown with less detail, on one line.
fn too_large_line(errors: &[Fault]) -> String {
    let way = |fault: &Fault| fault.hints.join("; ");
    match errors {
        [] => String::new(),
        [only] => format!("{}; all of it: {}\n", only.named_message(), way(only)),
        [.., last] => {
            let message = format!("{} windows are shown with less detail, to fit", errors.len());
            let all = Fault { message, ..last.clone() }.named_message();
            format!("{all}; all of one: {}\n", way(last))
        }
    }
}
