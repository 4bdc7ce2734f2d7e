//! A rendered window, with the windows of other sessions embedded in it.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::{Incarnation, LineNumbers};
use pipemux_tokens::Estimate;

use crate::keys::SessionKey;
use crate::workspaces::content::Content;
use crate::workspaces::{LineUpdate, ShownVersion, When};

/// A window as Markdown, with the ids that were minted for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// `## editor/main · src/parse.rs · 412 lines · saved`
    pub heading: String,
    /// The document that the content belongs to, as the app names it.
    pub document: Option<Rc<str>>,
    /// The row of links; may be empty.
    pub nav: String,
    pub content: Rc<Content>,
    /// `lines 1-40`
    pub position: Option<String>,
    /// The displayed ids, in order.
    pub ids: Rc<[u64]>,
    /// The refs that are displayed with a key instead of the id, by id.
    pub keyed: Box<[(u64, Box<str>)]>,
    /// True when every link shows its call.
    pub show_calls: bool,
    /// The words of the calls that links display.
    pub words: Box<[TitleWord]>,
    /// The key and revision of the object to which each name is bound.
    pub names: BTreeMap<String, (String, u64)>,
    /// The embedded windows of other sessions.
    pub embeds: Embeds,
    /// Line numbers that the content shows beside numbered lines.
    pub numbers: Rc<[LineNumbers]>,
    /// About how many tokens the app left out.
    pub hidden_tokens: u64,
    /// Tokens of heading, links and content.
    pub tokens: u64,
    /// Keys that the app gave to two things: the first thing has the key's id.
    pub conflicts: Rc<[String]>,
}

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

/// The embedded view of another session's window.
#[derive(Debug, Clone)]
pub enum Embed {
    Window(EmbeddedWindow),
    /// One line in its place, without the newline: which session it is, and why there is nothing to
    /// show.
    Line(String),
}

/// A window that is embedded in another one.
#[derive(Debug, Clone)]
pub struct EmbeddedWindow {
    pub session: SessionKey,
    /// The process and version that the window shows.
    pub version: ShownVersion,
    /// The rendered window.
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

    /// Returns the line number updates for an answer that shows a part of the embedded windows.
    /// Numbers that the reader knows only in the shown version are valid in it; others are retired,
    /// because the answer may or may not show them.
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

    /// Returns true when one of the sessions has a newer version than is shown. `newest` gives the
    /// process and version that a session has now.
    pub fn have_changed(&self, newest: impl Fn(&SessionKey) -> Option<(Incarnation, u64)>) -> bool {
        self.windows().any(|window| {
            let (app, version) = window.version;
            newest(&window.session).is_some_and(|(now, newest)| now == app && newest > version)
        })
    }

    /// Makes what was shown of one process of a session count for the next one, which went on from
    /// it.
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

/// A word in the call that a link displays.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TitleWord {
    /// The name of an action, or a bound name.
    pub word: String,
    /// True for a bound name.
    pub is_name: bool,
    /// True when it is written with its session.
    pub qualified: bool,
}

impl Rendered {
    /// Returns true when a reader can't tell the two apart.
    pub fn has_same_text(&self, other: &Self) -> bool {
        self.heading == other.heading && self.nav == other.nav && self.content == other.content
    }

    /// Estimates the tokens of heading, links and content.
    pub fn estimate_tokens(&self) -> u64 {
        let mut estimate = Estimate::default();
        estimate.add(&self.heading);
        estimate.add("\n");
        if !self.nav.is_empty() {
            estimate.add(&self.nav);
            estimate.add("\n");
        }
        if !self.content.text().is_empty() {
            estimate.add_lines(self.content.estimate());
        }
        estimate.tokens()
    }
}

impl Rendered {
    /// Returns about how many bytes it takes, without its content, which others may share.
    pub(super) fn own_bytes(&self) -> usize {
        self.heading.len() + self.nav.len() + self.ids.len() * 8 + self.keyed.len() * 32 + 256
    }

    /// Returns about how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        self.own_bytes() + self.content.text().len()
    }
}
