//! A window: a workspace's view of one session, with what its app sent and what was written of it.

use std::mem;
use std::rc::Rc;

use pipemux_proto::app::Project;
use pipemux_proto::context::ContextVersion;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;

use crate::event::Now;
use crate::keys::{ProjectionKey, ReaderId, SessionKey};
use crate::limits::{BUDGET_MAX, BUDGET_MIN, CONFLICTS_MAX, FULL_BUDGET, WINDOW_BUDGET};
use crate::persist::records::Record;
use crate::processes::Prototypes;
use crate::workspaces::context_errors::CONFLICTS_TOLD;
use crate::workspaces::delivered_versions::{DeliveredVersion, DeliveredVersions};
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::reader_contents::{ReaderContent, ReaderContents};
use crate::workspaces::window_options::{SavedDetail, lod_name};
use crate::workspaces::{ContextVersionCounter, HeldEmbeds, HeldProjection, Placement, Rendered};

/// A view of one session.
#[derive(Debug)]
pub struct Window {
    /// The number by which the app knows the window.
    pub number: u64,
    pub session: SessionKey,
    pub lod: Lod,
    /// The token budget, if one was set.
    pub budget: Option<u32>,
    /// True when its session is to stay awake.
    pub pinned: bool,
    /// The priority and the weight in the workspace document.
    pub placement: Placement,
    /// The last projection that the app sent.
    pub projection: Option<HeldProjection>,
    /// The last rendering, with the projection it was made from.
    pub rendered: Option<(Rc<RawProjection>, Rc<Rendered>)>,
    /// The level of detail of the last rendering.
    pub rendered_lod: Lod,
    /// The last rendering at the window's own level of detail, with its process and version. Views
    /// at other levels don't change it.
    pub own_rendered: Option<((Incarnation, u64), Rc<Rendered>)>,
    /// The epoch in which the last rendering was first shown.
    pub text_epoch: u64,
    /// The last text of the session's prototypes.
    pub(super) actions: Option<WrittenActions>,
    /// The window's content as embedded in windows of other sessions, oldest first.
    pub embeds: HeldEmbeds,
    /// The version counter of the window's Context.
    pub context: ContextVersionCounter,
    /// Keys that the app gave to two things, as far as readers were told.
    pub(super) conflicts: Vec<String>,
    /// The versions that were delivered.
    pub(super) delivered: DeliveredVersions,
    /// The version of the window's Context that was delivered last, and its text; `None` instead of
    /// the text if several texts were delivered under this version.
    pub(super) last_delivered: Option<(ContextVersion, Option<Rc<Rendered>>)>,
    /// The contents for other readers, if the app shows each reader something else.
    pub(super) other_readers: ReaderContents,
}

/// The text of a session's prototypes, and the data it was written from.
#[derive(Debug, Clone)]
pub(super) struct WrittenActions {
    all: Prototypes,
    possible: Option<Vec<String>>,
    lod: Lod,
    text: Rc<str>,
}

/// A rendering of a window from a projection.
#[derive(Debug)]
pub struct NewRendering {
    /// The requested level of detail.
    pub lod: Lod,
    /// The projection that the app sent.
    pub projection: Rc<RawProjection>,
    pub rendered: Rc<Rendered>,
    /// True when it minted something, or something has another meaning in it.
    pub minted: bool,
    /// True when it differs from what was written before, at whatever detail.
    pub differs: bool,
}

impl Window {
    /// Makes a window that wasn't shown yet. Its Context's versions go on from the workspace's
    /// epoch, which never goes back: each version took an epoch of its own.
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
            embeds: HeldEmbeds::default(),
            context: ContextVersionCounter::after(epoch),
            conflicts: Vec::new(),
            delivered: DeliveredVersions::default(),
            last_delivered: None,
            other_readers: ReaderContents::default(),
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

    /// Returns the request for a reader's complete window at its own detail, whatever is kept of
    /// it.
    pub fn whole(&self, reader: &str) -> (ProjectionKey, Project) {
        let (window, (lod, budget)) = (self.number, self.detail(None, None));
        // A fifth is kept back for what the app's own estimate leaves out.
        let (budget_asked, reader) = (budget - budget / 5, reader.to_owned());
        let request = Project { window, lod, budget: budget_asked, known_version: None, reader };
        (ProjectionKey { window, lod, budget }, request)
    }

    /// Returns the text of the session's prototypes, where `possible` names the actions that are
    /// possible now. The previous text is reused if it was written from the same data.
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
        self.delivered.at(epoch)
    }

    /// Returns true when the newest delivery is of this process and version and shows the same as
    /// `rendered`.
    pub fn was_delivered(&self, seen: (Incarnation, u64), rendered: &Rc<Rendered>) -> bool {
        self.delivered.newest().is_some_and(|newest| {
            let same = || Rc::ptr_eq(&newest.rendered, rendered) || newest.rendered == *rendered;
            newest.seen == seen && same()
        })
    }

    /// Returns the window as it was delivered with a version of its Context, if that is remembered
    /// and its text is known.
    pub fn delivered_as(&self, version: ContextVersion) -> Option<&DeliveredVersion> {
        self.delivered.exact(version)
    }

    /// Increments the window's version if several texts were delivered under it, so that a reader
    /// who holds that version gets one with a single text.
    pub fn make_exact(&mut self, version: ContextVersion, now: Now) {
        if version == self.context.version() && self.last_delivered == Some((version, None)) {
            self.context.count_again(now);
        }
    }

    /// Remembers a delivery; the oldest makes room.
    pub fn remember(&mut self, mut new: DeliveredVersion) {
        // Looks at another detail have the version that the window has anyway, and texts may be cut
        // or show calls.
        let text = match self.last_delivered.take() {
            Some((version, text)) if version == new.context => {
                text.filter(|text| new.is_exact && text.has_same_text(&new.rendered))
            }
            _ => new.is_exact.then(|| new.rendered.clone()),
        };
        new.is_exact = text.is_some();
        self.last_delivered = Some((new.context, text));
        if !new.is_exact {
            self.delivered.mark_inexact(new.context);
            let others = self.other_readers.contents_mut();
            others.for_each(|content| content.delivered.mark_inexact(new.context));
        }
        self.delivered.push(new);
    }

    /// Keeps what was written. Returns the keys with two things that readers weren't told of yet.
    pub(super) fn record_rendering(&mut self, new: NewRendering) -> Vec<String> {
        let conflicts = new.rendered.conflicts.iter();
        let untold = conflicts.filter(|key| !self.conflicts.contains(key)).cloned();
        let untold: Vec<String> = untold.take(CONFLICTS_TOLD).collect();
        self.conflicts.extend(untold.iter().cloned());
        let forgotten = self.conflicts.len().saturating_sub(CONFLICTS_MAX);
        self.conflicts.drain(..forgotten);
        self.other_readers.note_rendered();
        (self.rendered, self.rendered_lod) = (Some((new.projection, new.rendered)), new.lod);
        untold
    }

    /// Makes what was seen of one process count as seen of the next one.
    pub(super) fn hand_over(&mut self, from: Incarnation, to: Incarnation) {
        let held = self.projection.iter_mut().chain(self.embeds.projections_mut());
        let held = held.map(|held| &mut held.app);
        let counted = self.context.counted.iter_mut().map(|(app, ..)| app);
        let own = self.own_rendered.iter_mut().map(|((app, _), _)| app);
        for app in held.chain(counted).chain(own).filter(|app| **app == from) {
            *app = to;
        }
        self.delivered.hand_over(from, to);
        let others = self.other_readers.contents_mut();
        others.for_each(|content| content.hand_over(from, to));
    }
}

/// Apps that show each reader something else, and what is given up when too much is kept.
impl Window {
    /// Turns the window to a reader: sets the current content aside, and restores the content kept
    /// for the reader. Returns the previous reader; `None` if there was none, in which case the
    /// current content becomes this reader's.
    pub(super) fn turn_to_reader(&mut self, reader: &ReaderId) -> Option<TurnedAway> {
        let (before, content) = self.other_readers.take(reader)?;
        let aside = self.exchange(content);
        let dropped = self.other_readers.put_aside(before.clone(), aside);
        Some(TurnedAway { from: before, dropped })
    }

    /// Takes what it holds, and holds something else instead.
    fn exchange(&mut self, other: ReaderContent) -> ReaderContent {
        let now = self.context.counted.map(|(app, version, _)| (app, version));
        let ReaderContent {
            projection,
            rendered,
            rendered_lod,
            own_rendered,
            delivered,
            newest,
            outdated,
        } = other;
        // Things that it shows may mean something else by now, which another reader was told in
        // this very epoch.
        let outdated = rendered.is_some() && (outdated || newest != now);
        ReaderContent {
            newest: now,
            outdated: mem::replace(&mut self.other_readers.outdated, outdated),
            projection: mem::replace(&mut self.projection, projection),
            rendered: mem::replace(&mut self.rendered, rendered),
            rendered_lod: mem::replace(&mut self.rendered_lod, rendered_lod),
            own_rendered: mem::replace(&mut self.own_rendered, own_rendered),
            delivered: mem::replace(&mut self.delivered, delivered),
        }
    }

    /// True when it can be shown as it was, since its app doesn't answer.
    pub fn can_be_shown_as_it_was(&self) -> bool {
        self.rendered.is_some() && !self.is_outdated()
    }

    /// True if another version was shown after this rendering, a newer one or, by a late answer, an
    /// older one: the rendering's refs may belong to the other version.
    pub fn is_outdated(&self) -> bool {
        self.other_readers.outdated
    }

    /// Forgets what it holds for readers to whom it isn't turned: they are asked for again.
    pub(super) fn drop_other_readers(&mut self) {
        let others = self.other_readers.contents_mut();
        others.for_each(|content| *content = ReaderContent::default());
    }

    /// Returns true when the content that its app sent last is what this rendering was made of,
    /// whatever its version.
    pub fn holds_content_of(&self, rendered: &Rc<Rendered>) -> bool {
        match (&self.projection, &self.rendered) {
            (Some(held), Some((source, own))) => {
                (Rc::ptr_eq(own, rendered) || own == rendered)
                    && held.projection.shows_the_same_as(source)
            }
            _ => false,
        }
    }

    /// Forgets what was delivered but for the newest: `--since` shows it whole.
    pub(super) fn drop_past(&mut self) {
        self.delivered.keep_newest();
        let others = self.other_readers.contents_mut();
        others.for_each(|content| content.delivered.keep_newest());
    }

    /// Forgets what was rendered: its app is asked for it again.
    pub(super) fn drop_rendered(&mut self) {
        self.delivered.clear();
        // Another text with the same version can't be told from it any more.
        self.last_delivered.iter_mut().for_each(|(_, text)| *text = None);
        self.projection = None;
        self.rendered = None;
        self.drop_other_readers();
        self.embeds.clear();
    }
}

/// The change of the reader whose content a window holds.
#[derive(Debug)]
pub(super) struct TurnedAway {
    pub from: ReaderId,
    /// The reader whose content was evicted.
    pub dropped: Option<ReaderId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::PAST_MAX;

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
