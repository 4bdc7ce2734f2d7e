//! Looks at the app's window, with the rules for windows.

use std::thread;

use pipemux_core::lint;
use pipemux_proto::projection::{Lod, Piece, Projection};
use pipemux_proto::prototype::Risk;
use pipemux_proto::{Fault, Method};
use pipemux_tokens::estimate;

use crate::limits::{QUIET, QUIET_TRIES, RESTLESS_CHANGES};
use crate::session::Session;
use crate::shown_objects::ShownObjects;

/// The budget of the window in which the effects of actions are searched.
const WIDE: u32 = 20_000;
/// The budget of a gist.
const GIST: u32 = 200;

/// Looks at the app's window, and tells what an action did from what changes by itself.
pub struct Observer<'a> {
    pub session: Session<'a>,
    /// How often the state has changed without a request.
    pub own_changes: u32,
    /// True once it was waited for a change without a request, and none came.
    is_quiet: bool,
    /// The risk of the action whose effect is being examined.
    pub cause: Option<Risk>,
    /// True when an action was sent since all of the window was looked at.
    pub sent: bool,
}

impl<'a> Observer<'a> {
    pub fn new(session: Session<'a>) -> Self {
        Self { session, own_changes: 0, is_quiet: false, cause: None, sent: false }
    }

    /// Checks the first windows, at all levels of detail and with many budgets.
    pub fn windows(&mut self) {
        let Some(first) = self.look("project full") else { return };
        self.session.objects.first =
            ShownObjects::of(&first).into_iter().map(|object| object.key).collect();
        if let Some(again) = self.look("project full") {
            if again.version != first.version {
                self.changed_by_itself();
            } else if !same_content(&first, &again) {
                let text = format!(
                    "two windows of version {} differ: the same state shows the same, and each change adds 1 to the version",
                    first.version
                );
                self.session.report.add("project full", "version", text);
            }
        }
        self.known_versions();
        let mut tokens = Vec::new();
        for (lod, budget) in [
            (Lod::Full, WIDE),
            (Lod::Full, 400),
            (Lod::Full, 40),
            (Lod::Summary, 2000),
            (Lod::Summary, 100),
            (Lod::Gist, GIST),
            (Lod::Gist, 20),
        ] {
            let name = format!("{lod:?}").to_lowercase();
            let place = format!("project {name} (budget {budget})");
            if let Some(Ok(shown)) = self.project(&place, lod, budget, None) {
                tokens.push(((lod, budget), content_tokens(&shown)));
            }
        }
        let of = |wanted| tokens.iter().find(|(key, _)| *key == wanted).map(|(_, tokens)| *tokens);
        if let (Some(gist), Some(full)) = (of((Lod::Gist, GIST)), of((Lod::Full, WIDE))) {
            let most = u64::from(GIST) * 3 / 2;
            if gist > most {
                let text = format!(
                    "has about {gist} tokens of a budget of {GIST}: a gist is one line, and nothing shorter can be asked for"
                );
                self.session.report.add("project gist", "budget", text);
            } else if gist > full.max(20) {
                let text = format!("has more tokens ({gist}) than the full level ({full})");
                self.session.report.add("project gist", "lod", text);
            }
        }
        self.lookups();
    }

    /// Checks `known_version` and `unchanged`.
    fn known_versions(&mut self) {
        let place = "project with known_version";
        let Some(shown) = self.look(place) else { return };
        let version = shown.version;
        if let Some(Ok(again)) = self.project(place, Lod::Full, WIDE, Some(version))
            && !again.unchanged
            && again.version == version
        {
            let text = format!(
                "version {version} is still current and was sent again: answer {{version: {version}, unchanged: true}}"
            );
            self.session.report.add(place, "unchanged", text);
        }
        let place = "project with another known_version";
        if let Some(Ok(again)) = self.project(place, Lod::Full, WIDE, Some(version + 1_000_000))
            && again.unchanged
        {
            let text =
                "is `unchanged`, though the daemon holds another version: compare it with yours";
            self.session.report.add(place, "unchanged", text);
        }
    }

    /// Returns all of the window, and checks its things.
    pub fn look(&mut self, place: &str) -> Option<Projection> {
        let shown = match self.project(place, Lod::Full, WIDE, None)? {
            Ok(shown) => shown,
            Err(fault) => {
                let text = format!("refused: {}", fault.message);
                self.session.report.add(&format!("{place} · Project"), "project", text);
                return None;
            }
        };
        let moved = self.session.process.as_mut().and_then(|process| process.changed.take());
        // The version of an outcome may be told twice.
        let known = self.session.process.as_ref().map_or(0, |process| process.outcome_version);
        let moved = moved.is_some_and(|version| version > known);
        if moved {
            self.changed_by_itself();
        }
        let sent = std::mem::take(&mut self.sent);
        let acted = matches!(self.cause, Some(Risk::Changes | Risk::Destructive));
        for broken in self.session.objects.show(&shown, self.session.restless || moved) {
            if !acted && !broken.was_gone {
                // What changes without an action changes by itself, as a gauge does. The effect of
                // an action that failed is reported as such.
                if !sent {
                    self.changed_by_itself();
                }
                continue;
            }
            if self.changes_by_itself() {
                continue;
            }
            let place = format!("{place} · key {}", broken.key);
            self.session.report.add(&place, broken.rule, broken.text);
        }
        Some(shown)
    }

    /// Notes that the state changed without a request. Once may be a timer that an action set; an
    /// app that does it again and again is restless.
    fn changed_by_itself(&mut self) {
        self.own_changes += 1;
        self.is_quiet = false;
        self.session.restless |= self.own_changes >= RESTLESS_CHANGES;
    }

    /// Returns true when the state changes without a request just now: then no request is to blame
    /// for a change. It is asked before a change is reported, and waits the first time.
    pub fn changes_by_itself(&mut self) -> bool {
        let place = "project full";
        let before = self.own_changes;
        for _ in 0..QUIET_TRIES {
            if self.session.restless || self.is_quiet {
                return self.session.restless;
            }
            let Some(Ok(before)) = self.project(place, Lod::Full, WIDE, None) else { return false };
            thread::sleep(QUIET);
            let Some(Ok(after)) = self.project(place, Lod::Full, WIDE, None) else { return false };
            let told = self.session.process.as_mut().and_then(|process| process.changed.take());
            if told.is_some() || before.version != after.version || !same_content(&before, &after) {
                self.changed_by_itself();
            }
        }
        self.is_quiet = self.own_changes == before;
        !self.is_quiet
    }

    /// Returns true when the app told a change of its own between a window and an outcome, as one
    /// does that watches a file. The version of the outcome may be told, too.
    pub fn told_own_change(&self, before: &Projection, outcome: u64) -> bool {
        let told = self.session.process.as_ref().and_then(|process| process.changed);
        told.is_some_and(|version| version > before.version && version != outcome)
    }

    /// Checks that an action that isn't done had no effect.
    pub fn had_no_effect(&mut self, place: &str, before: &Projection, how: &str) {
        let own_changes = self.own_changes;
        let Some(after) = self.look(place) else { return };
        let changed = !same_content(before, &after);
        let own = self.own_changes > own_changes;
        if !changed && after.version == before.version || own || self.changes_by_itself() {
            return;
        }
        let text = match changed {
            true => format!("{how}, and the window changed: nothing takes effect then"),
            false => format!(
                "{how}, and the version rose from {} to {}: nothing takes effect then",
                before.version, after.version
            ),
        };
        self.session.report.add(place, "effect", text);
    }

    /// Asks for a window.
    pub fn project(
        &mut self,
        place: &str,
        lod: Lod,
        budget: u32,
        known_version: Option<u64>,
    ) -> Option<Result<Projection, Fault>> {
        let project = self.session.subject.project(1, lod, budget, known_version);
        let shown = self.session.ask::<Projection>(place, Method::Project, &project)?;
        if let Ok(shown) = &shown {
            self.session.lints(place, lint::projection(shown, &self.session.actions));
            for (at, piece) in shown.content.iter().enumerate() {
                if let Piece::Text(text) = piece
                    && (text.contains("](obj:") || text.contains("](link:"))
                {
                    let text = "looks like an anchor and is escaped: send an object or a link";
                    self.session.report.add(
                        &format!("{place} · content[{at}].text"),
                        "anchor",
                        text,
                    );
                }
            }
        }
        Some(shown)
    }
}

/// Returns true when two windows show the same, whatever their versions are.
pub fn same_content(one: &Projection, other: &Projection) -> bool {
    let plain = |shown: &Projection| {
        let mut shown = Projection { version: 0, ..shown.clone() };
        shown.numbers.iter_mut().for_each(|numbers| numbers.version = None);
        shown
    };
    plain(one) == plain(other)
}

fn content_tokens(shown: &Projection) -> u64 {
    let tokens = |piece: &Piece| match piece {
        Piece::Text(text) => estimate(text),
        Piece::Object(object) => estimate(&object.label) + 5,
        Piece::Link(link) => estimate(&link.label) + 5,
        Piece::Code(code) => estimate(&code.text) + 5,
        // Its budget is checked where it is shown.
        Piece::Embed(_) => 0,
    };
    shown.content.iter().map(tokens).sum()
}
