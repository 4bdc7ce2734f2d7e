//! Rules for windows.

use std::thread;

use pipemux_core::lint;
use pipemux_proto::app::Project;
use pipemux_proto::projection::{Lod, Piece, Projection};
use pipemux_proto::prototype::Risk;
use pipemux_proto::{Fault, Method};
use pipemux_tokens::estimate;

use crate::checker::Checker;
use crate::limits::{CALM, CALM_TRIES, RESTLESS_CHANGES};
use crate::things::Things;

/// The budget of the window in which the effects of actions are looked for.
const WIDE: u32 = 20_000;
/// The budget of a gist.
const GIST: u32 = 200;

impl Checker<'_> {
    /// Checks the first windows, at all levels of detail and with many budgets.
    pub fn windows(&mut self) {
        let Some(first) = self.look("project full") else { return };
        self.things.first = Things::of(&first).into_iter().map(|object| object.key).collect();
        if let Some(again) = self.look("project full") {
            if again.version != first.version {
                self.changed_by_itself();
            } else if !same(&first, &again) {
                let text = format!(
                    "two windows of version {} differ: the same state shows the same, and each change adds 1 to the version",
                    first.version
                );
                self.report.add("project full", "version", text);
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
                self.report.add("project gist", "budget", text);
            } else if gist > full.max(20) {
                let text = format!("has more tokens ({gist}) than the full level ({full})");
                self.report.add("project gist", "lod", text);
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
            self.report.add(place, "unchanged", text);
        }
        let place = "project with another known_version";
        if let Some(Ok(again)) = self.project(place, Lod::Full, WIDE, Some(version + 1_000_000))
            && again.unchanged
        {
            let text =
                "is `unchanged`, though the daemon holds another version: compare it with yours";
            self.report.add(place, "unchanged", text);
        }
    }

    /// Returns all of the window, and checks its things.
    pub fn look(&mut self, place: &str) -> Option<Projection> {
        let shown = match self.project(place, Lod::Full, WIDE, None)? {
            Ok(shown) => shown,
            Err(fault) => {
                let text = format!("refused: {}", fault.message);
                self.report.add(&format!("{place} · Project"), "project", text);
                return None;
            }
        };
        let moved = self.process.as_mut().and_then(|process| process.changed.take());
        // The version of an outcome may be told twice.
        let moved = moved.is_some_and(|version| version > self.outcome_version);
        if moved {
            self.changed_by_itself();
        }
        let sent = std::mem::take(&mut self.sent);
        let acted = matches!(self.cause, Some(Risk::Changes | Risk::Destructive));
        for broken in self.things.show(&shown, self.restless || moved) {
            if !acted && !broken.was_gone {
                // What changes without an action changes by itself, as a gauge does. The effect of an action that
                // failed is reported as such.
                if !sent {
                    self.changed_by_itself();
                }
                continue;
            }
            if self.changes_by_itself() {
                continue;
            }
            let place = format!("{place} · key {}", broken.key);
            self.report.add(&place, broken.rule, broken.text);
        }
        Some(shown)
    }

    /// Notes that the state changed without a request. Once may be a timer that an action set; an app that does it again
    /// and again is restless.
    fn changed_by_itself(&mut self) {
        self.own_changes += 1;
        self.calm = false;
        self.restless |= self.own_changes >= RESTLESS_CHANGES;
    }

    /// Returns true when the state changes without a request just now: then no request is to blame for a change. It is
    /// asked before a change is reported, and waits the first time.
    pub fn changes_by_itself(&mut self) -> bool {
        let place = "project full";
        let before = self.own_changes;
        for _ in 0..CALM_TRIES {
            if self.restless || self.calm {
                return self.restless;
            }
            let Some(Ok(before)) = self.project(place, Lod::Full, WIDE, None) else { return false };
            thread::sleep(CALM);
            let Some(Ok(after)) = self.project(place, Lod::Full, WIDE, None) else { return false };
            let told = self.process.as_mut().and_then(|process| process.changed.take());
            if told.is_some() || before.version != after.version || !same(&before, &after) {
                self.changed_by_itself();
            }
        }
        self.calm = self.own_changes == before;
        !self.calm
    }

    /// Asks for a window.
    pub fn project(
        &mut self,
        place: &str,
        lod: Lod,
        budget: u32,
        known_version: Option<u64>,
    ) -> Option<Result<Projection, Fault>> {
        let project = self.subject.project(1, lod, budget, known_version);
        let shown = self.ask::<Projection>(place, Method::Project, &project)?;
        if let Ok(shown) = &shown {
            self.lints(place, lint::projection(shown, &self.actions));
            for (at, piece) in shown.content.iter().enumerate() {
                if let Piece::Text(text) = piece
                    && (text.contains("](obj:") || text.contains("](link:"))
                {
                    let text = "looks like an anchor and is escaped: send an object or a link";
                    self.report.add(&format!("{place} · content[{at}].text"), "anchor", text);
                }
            }
        }
        Some(shown)
    }
}

impl crate::run::Subject {
    /// Makes the request for a window.
    pub fn project(&self, window: u64, lod: Lod, budget: u32, known: Option<u64>) -> Project {
        Project { window, lod, budget, known_version: known, reader: "check".to_owned() }
    }
}

/// Returns true when two windows show the same, whatever their versions are.
pub fn same(one: &Projection, other: &Projection) -> bool {
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
