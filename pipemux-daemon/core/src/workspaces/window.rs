//! A window: a workspace's view of one session, with what its app sent and what was written of it.

use std::collections::VecDeque;
use std::rc::Rc;

use pipemux_proto::app::Project;
use pipemux_proto::context::ContextVersion;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;

use crate::event::Now;
use crate::keys::{ProjectionKey, SessionKey};
use crate::limits::{BUDGET_MAX, BUDGET_MIN, FULL_BUDGET, PAST_BYTES, PAST_MAX, WINDOW_BUDGET};
use crate::persist::records::{Record, SavedPlacement};
use crate::processes::Prototypes;
use crate::workspaces::context_errors::CONFLICTS_TOLD;
use crate::workspaces::per_reader::Readers;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{ContextVersionCounter, HeldEmbed, Rendered};

/// A view of one session.
#[derive(Debug)]
pub struct Window {
    /// Its number, by which its app knows it.
    pub number: u64,
    /// The session that it shows.
    pub session: SessionKey,
    /// Its level of detail.
    pub lod: Lod,
    /// Its budget in tokens, when one was set.
    pub budget: Option<u32>,
    /// True when its session is to stay awake.
    pub pinned: bool,
    /// Its place and its part of the budget in the workspace document.
    pub placement: Placement,
    /// What the app last sent.
    pub projection: Option<HeldProjection>,
    /// What was last written, and the projection that it was written from.
    pub rendered: Option<(Rc<RawProjection>, Rc<Rendered>)>,
    /// The level of detail of what was last written.
    pub rendered_lod: Lod,
    /// What was last written of it at its own detail, and of which process and version: what a look at another detail
    /// showed meanwhile changes nothing.
    pub own_rendered: Option<((Incarnation, u64), Rc<Rendered>)>,
    /// The epoch in which that was first shown.
    pub text_epoch: u64,
    /// What was last written of what its session can do.
    pub(super) actions: Option<WrittenActions>,
    /// What windows of other sessions show of it, oldest first.
    pub(super) embeds: Vec<HeldEmbed>,
    /// The version of its Context.
    pub context: ContextVersionCounter,
    /// Keys that the app gave to two things, as far as readers were told.
    pub(super) conflicts: Vec<String>,
    /// What was delivered, oldest first.
    pub(super) delivered: VecDeque<DeliveredVersion>,
    /// The version of its Context that was delivered last, and its text; none where there were several.
    pub(super) told: Option<(ContextVersion, Option<Rc<Rendered>>)>,
    /// Whose content it holds, of an app that shows each reader something else.
    pub(super) readers: Readers,
}

/// A window's place in the workspace document, and its part of the document's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// A higher one stands earlier.
    pub priority: i32,
    /// Its part of the budget compared to the other windows', at least 1.
    pub weight: u32,
}

impl Placement {
    /// Returns the placement that a record holds.
    pub fn from_saved(saved: Option<SavedPlacement>) -> Self {
        saved.map_or_else(Self::default, |SavedPlacement { priority, weight }| Self {
            priority,
            weight: weight.max(1),
        })
    }

    /// Returns what is saved of it; none for the usual placement.
    pub fn to_saved(self) -> Option<SavedPlacement> {
        let Self { priority, weight } = self;
        (self != Self::default()).then_some(SavedPlacement { priority, weight })
    }
}

impl Default for Placement {
    fn default() -> Self {
        Self { priority: 0, weight: 1 }
    }
}

/// A window as it was delivered.
#[derive(Debug, Clone)]
pub struct DeliveredVersion {
    /// The first epoch in which the window was so.
    pub epoch: u64,
    /// The process and version that it showed.
    pub seen: (Incarnation, u64),
    /// What it showed.
    pub rendered: Rc<Rendered>,
    /// The version of its Context.
    pub context: ContextVersion,
    /// True while a reader who has that version can only have this text.
    pub is_exact: bool,
}

/// A projection that the daemon keeps.
#[derive(Debug, Clone)]
pub struct HeldProjection {
    /// The process that sent it.
    pub app: Incarnation,
    /// The level of detail that was asked for.
    pub lod: Lod,
    /// The budget in tokens that was asked for.
    pub budget: u32,
    /// What the app sent.
    pub projection: Rc<RawProjection>,
}

/// What was written of what a window's session can do, and what it was written from.
#[derive(Debug, Clone)]
pub(super) struct WrittenActions {
    all: Prototypes,
    possible: Option<Vec<String>>,
    lod: Lod,
    text: Rc<str>,
}

/// What was written of a window from a projection.
#[derive(Debug)]
pub struct NewRendering {
    /// The level of detail that was asked for.
    pub lod: Lod,
    /// What the app sent.
    pub projection: Rc<RawProjection>,
    /// What was written.
    pub rendered: Rc<Rendered>,
    /// True when it minted something, or something has another meaning in it.
    pub minted: bool,
    /// True when it differs from what was written before, at whatever detail.
    pub differs: bool,
}

/// The options of a window in its record.
#[derive(Debug)]
pub struct SavedDetail<'a> {
    /// The level of detail, by [`lod_name`]; another word stands for the default.
    pub lod: &'a str,
    pub budget: Option<u32>,
    pub pinned: bool,
    pub placement: Option<SavedPlacement>,
}

/// Returns a level of detail as it is typed and saved.
pub fn lod_name(lod: Lod) -> &'static str {
    match lod {
        Lod::Gist => "gist",
        Lod::Summary => "summary",
        Lod::Full => "full",
    }
}

/// How many keys with two things are remembered as told.
const CONFLICTS_KEPT: usize = 64;

impl Window {
    /// Makes a window that wasn't shown yet. Its Context's versions go on from the workspace's epoch,
    /// which never goes back: each version took an epoch of its own.
    pub fn new(number: u64, session: SessionKey, epoch: u64) -> Self {
        Self {
            number,
            session,
            lod: Lod::default(),
            budget: None,
            pinned: false,
            placement: Placement::default(),
            projection: None,
            rendered: None,
            rendered_lod: Lod::default(),
            own_rendered: None,
            text_epoch: 0,
            actions: None,
            embeds: Vec::new(),
            context: ContextVersionCounter::after(epoch),
            conflicts: Vec::new(),
            delivered: VecDeque::new(),
            told: None,
            readers: Readers::default(),
        }
    }

    /// Sets its level of detail and its budget.
    #[must_use]
    pub fn with_detail(self, lod: Lod, budget: Option<u32>) -> Self {
        Self { lod, budget, ..self }
    }

    /// Returns the record that restores its options in a workspace.
    pub fn to_record(&self, workspace: &str) -> Record {
        Record::Window {
            workspace: workspace.to_owned(),
            session: self.session.to_string(),
            lod: lod_name(self.lod).into(),
            budget: self.budget,
            pinned: self.pinned,
            placement: self.placement.to_saved(),
        }
    }

    /// Sets the options that a record holds.
    pub fn restore(&mut self, saved: &SavedDetail<'_>) {
        let lods = [Lod::Gist, Lod::Summary, Lod::Full];
        self.lod = lods.into_iter().find(|lod| lod_name(*lod) == saved.lod).unwrap_or_default();
        (self.budget, self.pinned) = (saved.budget, saved.pinned);
        self.placement = Placement::from_saved(saved.placement);
    }

    /// Returns the level of detail and the budget to show it with; a request may override both.
    pub fn detail(&self, lod: Option<Lod>, budget: Option<u32>) -> (Lod, u32) {
        let lod = lod.unwrap_or(self.lod);
        let usual = if lod == Lod::Full { FULL_BUDGET } else { WINDOW_BUDGET };
        (lod, budget.or(self.budget).unwrap_or(usual).clamp(BUDGET_MIN, BUDGET_MAX))
    }

    /// Returns the request for a reader's complete window at its own detail, whatever is kept of it.
    pub fn whole(&self, reader: &str) -> (ProjectionKey, Project) {
        let (window, (lod, budget)) = (self.number, self.detail(None, None));
        // A fifth is kept back for what the app's own estimate leaves out.
        let (budget_asked, reader) = (budget - budget / 5, reader.to_owned());
        let request = Project { window, lod, budget: budget_asked, known_version: None, reader };
        (ProjectionKey { window, lod, budget }, request)
    }

    /// Returns what is written of what its session can do, where `possible` names what it can do now: as it was written
    /// before, if that was from the same.
    pub fn written_actions(
        &mut self,
        all: &Prototypes,
        possible: Option<&[String]>,
        lod: Lod,
        write: impl FnOnce() -> Rc<str>,
    ) -> Rc<str> {
        let same = |written: &&WrittenActions| {
            Rc::ptr_eq(&written.all, all)
                && written.possible.as_deref() == possible
                && written.lod == lod
        };
        if let Some(written) = self.actions.as_ref().filter(same) {
            return written.text.clone();
        }
        let (all, possible, text) = (all.clone(), possible.map(<[String]>::to_vec), write());
        self.actions = Some(WrittenActions { all, possible, lod, text: text.clone() });
        text
    }

    /// Keeps what its app sent, unless that was asked for an earlier window of the session.
    pub fn hold(&mut self, key: ProjectionKey, app: Incarnation, projection: Rc<RawProjection>) {
        if key.window == self.number {
            let ProjectionKey { lod, budget, .. } = key;
            self.projection = Some(HeldProjection { app, lod, budget, projection });
        }
    }

    /// Returns the window as it was in an epoch, if that is remembered.
    pub fn at(&self, epoch: u64) -> Option<&DeliveredVersion> {
        self.delivered.iter().rev().find(|version| version.epoch <= epoch)
    }

    /// Returns true when the newest delivery is of this process and version and shows the same as `rendered`.
    pub fn was_delivered(&self, seen: (Incarnation, u64), rendered: &Rc<Rendered>) -> bool {
        self.delivered.back().is_some_and(|newest| {
            let same = || Rc::ptr_eq(&newest.rendered, rendered) || newest.rendered == *rendered;
            newest.seen == seen && same()
        })
    }

    /// Returns the window as it was delivered with a version of its Context, if that is remembered and its text is known.
    pub fn delivered_as(&self, version: ContextVersion) -> Option<&DeliveredVersion> {
        self.delivered.iter().rev().find(|past| past.context == version && past.is_exact)
    }

    /// Counts its version once more if that was delivered with several texts: then a reader who has it is told of one
    /// that has a single one.
    pub fn make_exact(&mut self, version: ContextVersion, now: Now) {
        if version == self.context.version() && self.told == Some((version, None)) {
            self.context.count_again(now);
        }
    }

    /// Remembers a delivery; the oldest makes room.
    pub fn remember(&mut self, mut new: DeliveredVersion) {
        // Looks at another detail have the version that the window has anyway, and texts may be cut or show calls.
        let text = match self.told.take() {
            Some((version, text)) if version == new.context => {
                text.filter(|text| new.is_exact && text.has_same_text(&new.rendered))
            }
            _ => new.is_exact.then(|| new.rendered.clone()),
        };
        new.is_exact = text.is_some();
        self.told = Some((new.context, text));
        if !new.is_exact {
            let others = self.readers.others_mut().flat_map(|shown| &mut shown.delivered);
            let of_version = self.delivered.iter_mut().chain(others);
            for past in of_version.filter(|past| past.context == new.context) {
                past.is_exact = false;
            }
        }
        let same = |newest: &DeliveredVersion| {
            Rc::ptr_eq(&newest.rendered, &new.rendered)
                && (newest.seen, newest.context) == (new.seen, new.context)
        };
        if self.delivered.back().is_some_and(same) {
            return;
        }
        self.delivered.push_back(new);
        let mut bytes: usize = self.delivered.iter().map(|past| past.rendered.bytes()).sum();
        while self.delivered.len() > PAST_MAX || (bytes > PAST_BYTES && self.delivered.len() > 1) {
            let oldest = self.delivered.pop_front();
            bytes -= oldest.map_or(bytes, |oldest| oldest.rendered.bytes());
        }
    }

    /// Keeps what was written. Returns the keys with two things that readers weren't told of yet.
    pub(super) fn record_rendering(&mut self, new: NewRendering) -> Vec<String> {
        let conflicts = new.rendered.conflicts.iter();
        let untold = conflicts.filter(|key| !self.conflicts.contains(key)).cloned();
        let untold: Vec<String> = untold.take(CONFLICTS_TOLD).collect();
        self.conflicts.extend(untold.iter().cloned());
        let forgotten = self.conflicts.len().saturating_sub(CONFLICTS_KEPT);
        self.conflicts.drain(..forgotten);
        self.readers.note_rendered();
        (self.rendered, self.rendered_lod) = (Some((new.projection, new.rendered)), new.lod);
        untold
    }

    /// Makes what was seen of one process count as seen of the next one.
    pub(super) fn hand_over(&mut self, from: Incarnation, to: Incarnation) {
        let embeds = self.embeds.iter_mut().map(|kept| &mut kept.held);
        let held = self.projection.iter_mut().chain(embeds).map(|held| &mut held.app);
        let counted = self.context.counted.iter_mut().map(|(app, ..)| app);
        let delivered = self.delivered.iter_mut().map(|version| &mut version.seen.0);
        let own = self.own_rendered.iter_mut().map(|((app, _), _)| app);
        for app in held.chain(counted).chain(delivered).chain(own).filter(|app| **app == from) {
            *app = to;
        }
        self.readers.others_mut().for_each(|shown| shown.hand_over(from, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_are_remembered_up_to_a_bound_and_found_by_epoch() {
        let session = SessionKey { workspace: None, addr: "notes/main".parse().unwrap() };
        let mut window = Window::new(1, session, 0);
        let last = PAST_MAX as u64 + 4;
        for epoch in 1..=last {
            window.remember(DeliveredVersion {
                epoch: 2 * epoch,
                seen: (Incarnation(1), epoch),
                rendered: Rc::default(),
                context: ContextVersion { major: epoch, ..ContextVersion::default() },
                is_exact: true,
            });
        }
        let version = |epoch| window.at(epoch).map(|delivered| delivered.seen.1);
        assert_eq!(version(2 * last + 7), Some(last));
        assert_eq!(version(2 * last - 1), Some(last - 1));
        assert_eq!(version(2 * 5), Some(5));
        assert_eq!(version(2 * 5 - 1), None, "the oldest made room");
    }

    #[test]
    fn projection_of_an_earlier_window_is_not_kept() {
        let session = SessionKey { workspace: None, addr: "notes/main".parse().unwrap() };
        let mut window = Window::new(2, session, 0);
        let sent = pipemux_proto::encode(&pipemux_proto::projection::Projection::default());
        let projection = Rc::new(RawProjection::read(&sent.unwrap().into()).unwrap());
        let (key, _) = window.whole("agent");
        window.hold(ProjectionKey { window: 1, ..key }, Incarnation(1), projection.clone());
        assert!(window.projection.is_none());
        window.hold(key, Incarnation(1), projection);
        assert!(window.projection.is_some());
    }
}
