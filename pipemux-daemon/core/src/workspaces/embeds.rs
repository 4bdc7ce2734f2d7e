//! What a window shows of other sessions' windows.

use std::rc::Rc;

use pipemux_proto::{Incarnation, LineNumbers};

use crate::keys::SessionKey;
use crate::limits::EMBED_DETAILS_MAX;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{HeldProjection, LineUpdate, Rendered, ShownVersion, When};

/// What a window shows of other sessions' windows, in the order in which it embeds them.
///
/// All are equal: what a reader can see of a difference stands in the content of the window.
#[derive(Debug, Clone, Default)]
pub struct Embeds(pub Rc<[Embed]>);

impl PartialEq for Embeds {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Embeds {}

/// What a window shows of another session's window.
#[derive(Debug, Clone)]
pub enum Embed {
    /// The window.
    Window(EmbeddedWindow),
    /// One line in its place, without the newline: which session it is, and why there is nothing to show.
    Line(String),
}

/// A window that another one shows.
#[derive(Debug, Clone)]
pub struct EmbeddedWindow {
    /// Its session.
    pub session: SessionKey,
    /// The process and version that it shows.
    pub version: ShownVersion,
    /// What was written of it.
    pub rendered: Rc<Rendered>,
    /// Ends its heading, if it is not shown as it is now.
    pub mark: &'static str,
}

impl Embeds {
    /// Returns true when these show the very same as others, in the same versions.
    pub fn are(&self, others: &[Embed]) -> bool {
        let same = |one: &Embed, other: &Embed| match (one, other) {
            (Embed::Line(one), Embed::Line(other)) => one == other,
            (Embed::Window(one), Embed::Window(other)) => {
                Rc::ptr_eq(&one.rendered, &other.rendered)
                    && (one.version, one.mark) == (other.version, other.mark)
            }
            _ => false,
        };
        self.0.len() == others.len()
            && self.0.iter().zip(others).all(|(one, other)| same(one, other))
    }

    /// Iterates over the windows.
    pub fn windows(&self) -> impl Iterator<Item = &EmbeddedWindow> {
        self.0.iter().filter_map(|embed| match embed {
            Embed::Window(window) => Some(window),
            Embed::Line(_) => None,
        })
    }

    /// Returns what an answer that shows some of it says of line numbers. They count in the version that is shown where
    /// the reader knows them in no other one; otherwise they are retired, since the answer may or may not show them.
    pub fn line_updates(&self) -> impl Iterator<Item = (&SessionKey, LineUpdate)> {
        self.windows().flat_map(|window| {
            let update = |numbers: &LineNumbers| LineUpdate {
                document: numbers.document.clone(),
                first: numbers.first,
                last: numbers.last,
                seen: Some(window.version),
                when: When::StillInOrRetire(window.version),
            };
            window.rendered.numbers.iter().map(move |numbers| (&window.session, update(numbers)))
        })
    }

    /// Returns true when one of the sessions has a newer version than is shown. `newest` gives the process and version
    /// that a session has now.
    pub fn have_changed(&self, newest: impl Fn(&SessionKey) -> Option<(Incarnation, u64)>) -> bool {
        self.windows().any(|window| {
            let (app, version) = window.version;
            newest(&window.session).is_some_and(|(now, newest)| now == app && newest > version)
        })
    }

    /// Makes what was shown of one process of a session count for the next one, which went on from it.
    pub(super) fn hand_over(
        rendered: &mut Rc<Rendered>,
        session: &SessionKey,
        (from, to): (Incarnation, Incarnation),
    ) {
        let concerns =
            |window: &EmbeddedWindow| window.session == *session && window.version.0 == from;
        if !rendered.embeds.windows().any(concerns) {
            return;
        }
        let moved = rendered.embeds.0.iter().cloned().map(|embed| match embed {
            Embed::Window(window) if concerns(&window) => {
                Embed::Window(EmbeddedWindow { version: (to, window.version.1), ..window })
            }
            other => other,
        });
        let moved = Self(moved.collect());
        Rc::make_mut(rendered).embeds = moved;
    }
}

/// What is kept of a window at the level of detail and the budget at which other windows show it.
#[derive(Debug, Clone)]
pub struct HeldEmbed {
    /// What its app sent.
    pub held: HeldProjection,
    /// What was written of that.
    pub rendered: Option<Rc<Rendered>>,
}

/// What is kept of a window for those that embed it: at most [`EMBED_DETAILS_MAX`] details, oldest first.
#[derive(Debug, Default)]
pub struct HeldEmbeds(Vec<HeldEmbed>);

impl HeldEmbeds {
    /// Returns what is kept at a detail.
    pub fn get(&self, detail: EmbedDetail) -> Option<&HeldEmbed> {
        self.0.iter().find(|kept| kept.detail() == detail)
    }

    /// Keeps what the window's app sent; the oldest of too many makes room.
    pub fn hold(&mut self, held: HeldProjection) {
        self.forget((held.lod, held.budget));
        if self.0.len() >= EMBED_DETAILS_MAX {
            self.0.remove(0);
        }
        self.0.push(HeldEmbed { held, rendered: None });
    }

    /// Gives up what is kept at a detail: the app holds another version.
    pub fn forget(&mut self, detail: EmbedDetail) {
        self.0.retain(|kept| kept.detail() != detail);
    }

    /// Keeps what was written of a projection, unless a newer one came.
    pub fn record_rendering(&mut self, source: &Rc<RawProjection>, rendered: Rc<Rendered>) {
        let of_source = |kept: &&mut HeldEmbed| Rc::ptr_eq(&kept.held.projection, source);
        for kept in self.0.iter_mut().filter(of_source) {
            kept.rendered = Some(rendered.clone());
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &HeldEmbed> {
        self.0.iter()
    }

    pub(super) fn projections_mut(&mut self) -> impl Iterator<Item = &mut HeldProjection> {
        self.0.iter_mut().map(|kept| &mut kept.held)
    }
}

impl HeldEmbed {
    fn detail(&self) -> EmbedDetail {
        (self.held.lod, self.held.budget)
    }
}

/// A level of detail, and a budget in tokens.
pub type EmbedDetail = (pipemux_proto::projection::Lod, u32);
