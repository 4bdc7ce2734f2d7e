//! What a client is shown of windows that it says it has a version of. Its word counts instead of
//! what is known of its reader, since it may have lost what that one was shown.
//!
//! **Invariant: whoever applies the answers has the text of the window as it is now.** Nothing but
//! a text that is known to be that of the version, and of no other form of it, is compared with.

use pipemux_proto::report::{HeldChange, HeldReport};
use pipemux_proto::{Fault, Incarnation, SessionAddr};

use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_text::AnswerText;
use crate::views::answer_window::AnswerWindow;
use crate::views::delta::Delta;
use crate::views::held_claim::{HeldClaim, mismatch};
use crate::views::requested_window::WindowStatus;

impl AnswerText<'_> {
    /// Returns what the client says it has of a window.
    pub(super) fn claim_of(&self, window: &AnswerWindow) -> Option<&HeldClaim> {
        self.held.iter().find(|claim| claim.session.as_ref() == Some(&window.session))
    }

    /// Returns what a client has to be shown of a window, and why it is all of it if that can't be
    /// said; notes what that says of line numbers.
    pub(super) fn since_claim(
        &self,
        out: &mut AnswerBuffer,
        window: &AnswerWindow,
        claim: &HeldClaim,
    ) -> (Delta, Option<Fault>) {
        let fresh = window.rendered.as_ref().filter(|_| window.status == WindowStatus::Fresh);
        let (Some(now), Some(kept)) = (fresh, self.workspace.window(&window.session)) else {
            return (Delta::Whole, None);
        };
        let version = match &claim.version {
            Ok(Some(version)) => *version,
            Ok(None) => return (Delta::Whole, None),
            Err(fault) => return (Delta::Whole, Some(fault.clone())),
        };
        let Some(before) = kept.delivered_as(version) else {
            let why = match version > kept.context.version() {
                true => format!("{version} is later than the newest one"),
                false => format!("{version} is not known any more"),
            };
            return (Delta::Whole, Some(mismatch(why)));
        };
        let (rendered, seen) = (&*before.rendered, before.seen);
        let is_same = rendered.has_same_text(now);
        let mut compared = AnswerBuffer::default();
        // What was shown before the app's version went back is compared with nothing.
        let comparable = seen.0 != Incarnation::default();
        let delta = match comparable {
            true => self.compare(&mut compared, window, (rendered, seen), now),
            false => Delta::Whole,
        };
        let is_told = match &delta {
            Delta::Same => is_same,
            // A difference doesn't tell that the row of links is gone.
            Delta::Lines(_) => rendered.nav.is_empty() || !now.nav.is_empty(),
            Delta::Whole => false,
        };
        if !is_told {
            let restarted = window.version.is_none_or(|(app, _)| app != seen.0);
            let why = || mismatch(format!("{version} is of an earlier process of the app"));
            return (Delta::Whole, restarted.then(why));
        }
        for (session, update) in compared.take_lines() {
            out.tell_lines(&session, vec![update]);
        }
        (delta, None)
    }

    /// Returns true for a window of which the client has what there is.
    pub fn is_unchanged(&self, window: &AnswerWindow) -> bool {
        let since = |claim| self.since_claim(&mut AnswerBuffer::default(), window, claim).0;
        self.claim_of(window).is_some_and(|claim| since(claim) == Delta::Same)
    }

    /// Says what became of each window that the client says it has.
    pub fn held_reports(&self) -> Vec<HeldReport> {
        self.held.iter().map(|claim| self.held_report(claim)).collect()
    }

    fn held_report(&self, claim: &HeldClaim) -> HeldReport {
        let name = &claim.name;
        let lost = |fault: Fault| HeldReport {
            window: name.clone(),
            error: Some(fault),
            ..HeldReport::default()
        };
        let Some(session) = &claim.session else {
            let fault = Fault::not_found("no window is open");
            return lost(match name.parse::<SessionAddr>() {
                Ok(_) => fault.hint(self.hints(&format!("pipemux open {name}"))),
                Err(_) => fault,
            });
        };
        let command = self.hints(&format!("pipemux view {name} --have {name}=none")).into_owned();
        let window = self.windows.iter().find(|window| window.session == *session);
        let Some(window) = window.filter(|window| !window.is_cut()) else {
            return lost(Fault::unavailable("no room for all of it").hint(command));
        };
        if window.status != WindowStatus::Fresh {
            return lost(Fault::unavailable("its app did not answer").hint(command));
        }
        let (delta, error) = self.since_claim(&mut AnswerBuffer::default(), window, claim);
        let change = match delta {
            Delta::Same => HeldChange::Unchanged,
            Delta::Lines(_) => HeldChange::Changed,
            Delta::Whole => HeldChange::Whole,
        };
        let version = self.workspace.window(session).map(|kept| kept.context.version());
        let version = version.map(|version| version.to_string());
        HeldReport { window: name.clone(), change, version, error }
    }

    /// Writes a line for each window that the client says it has, with the version that it has now.
    pub(super) fn held_lines(&self) -> String {
        let line = |(report, claim): (HeldReport, &HeldClaim)| {
            let HeldReport { window, change, version, error } = report;
            let now = version.map_or(" has no version".into(), |version| format!("={version}"));
            let how = match (change, &claim.version) {
                (HeldChange::Unchanged, _) => " unchanged".into(),
                (HeldChange::Changed, Ok(Some(version))) => format!(" changed since {version}"),
                (HeldChange::Whole, _) => " whole".into(),
                _ => String::new(),
            };
            let parts = |error: Fault| {
                let message = error.named_message();
                [vec![message], error.hints].concat().into_iter().map(|part| format!(" · {part}"))
            };
            let why: String = error.into_iter().flat_map(parts).collect();
            format!("{window}{now}{how}{why}\n")
        };
        self.held_reports().into_iter().zip(self.held).map(line).collect()
    }
}
