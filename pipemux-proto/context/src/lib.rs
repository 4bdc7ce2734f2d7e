//! The Context UI: what several sources have to show, merged into one document that keeps to a
//! budget.
//!
//! A [`RenderSource`] describes who produces something: a window, a panel, a tree. From the
//! descriptions alone, [`shares`] says how much each source may take. The sources then produce
//! [`RenderSection`]s, wherever they live, and [`merge`] makes a [`Document`] of what came and of
//! what didn't. Nothing here waits, reads or knows the time: a session's projection, a file or a
//! process is asked by whoever calls, which also enforces [`RenderSource::deadline_ms`] and reports
//! a source that missed it as [`Outcome::Late`].
//!
//! | module | purpose |
//! |---|---|
//! | [`size`] | what a text costs: tokens, characters, bytes, lines |
//! | [`source`], [`context`] | the descriptions of sources; the budgets and the mode of one rendering |
//! | [`share`] | how much each source may take |
//! | [`section`] | what a source produced: lines with a depth and a weight |
//! | [`cut`] | which lines of a section fit |
//! | [`mod@merge`], [`note`] | the merge; what it says of what was cut, failed or late |
//! | [`outline`] | fills a budget from a tree of any size, reading only what is shown |
//! | [`slots`] | the content of apps as lines, and lines as content again: anchors survive |
//! | [`limits`] | the constants |
//!
//! # The rules
//!
//! 1. **Order.** Required sources come first, then those of higher priority; within a priority the
//!    heavier ones, then overviews (a lower level of detail) before details, then the order in
//!    which the sources were named.
//! 2. **Shares.** Priority says who is left out when there isn't a useful minimum for everybody:
//!    the last ones in the order. Weight says how much each of the others gets. A share depends on
//!    the budgets and on the *set* of sources with their priorities, weights, reservations and
//!    limits, never on what a source shows. What a source doesn't use is given to another one only
//!    if the caller says what it needs ([`Budgets::needs`], in steps): so no source changes the
//!    bytes of another unasked. What is reserved for required sources comes before all others.
//! 3. **Cuts.** Of a source's sections the required ones are filled first, then the heavier ones.
//!    Within a section, lines of a smaller depth stay before deeper ones, and lines of the same
//!    depth by weight, then in their order. So a line is never shown without the lines that it
//!    belongs to, and a larger share shows at least as much.
//! 4. **Failures.** A source that failed or is late is shown as it was before, marked, if that is
//!    known; else one line names it and the reason. Both are recorded in [`Document::records`]. All
//!    other entries keep their bytes.
//! 5. **The end.** What was cut, of which source, and the call that shows it, stand at the end.
//! 6. **Debug mode** adds a line for each source: its time, what it took of its share, what was cut
//!    and why. These lines are beside the budget, so that the document they explain is the one that
//!    is shown without them.
//!
//! # How the daemon calls it
//!
//! The windows of a workspace are sources, and so are its panels. The daemon writes its own
//! headings, marks and hints, so it sets [`Frame::Caller`], which reserves nothing for them:
//!
//! ```
//! use pipemux_context::{Budgets, Frame, RenderContext, RenderSource, Size, shares};
//! # struct Window { session: &'static str, budget: Option<u64> }
//! # let windows = [Window { session: "editor/main", budget: None }, Window { session: "notes/a", budget: Some(3_000) }];
//! # let named_by_the_request: Option<u64> = None;
//! let sources: Vec<RenderSource> = windows
//!     .iter()
//!     .map(|window| {
//!         let own = Size::tokens(window.budget.filter(|_| named_by_the_request.is_none()).unwrap_or(0));
//!         RenderSource::new(window.session, "").reserved(own)
//!     })
//!     .collect();
//! let mut budgets = Budgets::new(Size::tokens(named_by_the_request.unwrap_or(4_000))).framed_by(Frame::Caller);
//! // Without a budget in the request a window's own budget may exceed the total.
//! budgets.soft = named_by_the_request.is_none();
//! let shares = shares(&sources, &budgets);
//! assert_eq!(shares[0].size.tokens, 2_000);
//! assert_eq!(shares[1].size.tokens, 3_000);
//! # let _ = RenderContext::new((), budgets);
//! ```
//!
//! Each share is the budget of the window's `Project` request. Windows of equal weight without
//! reservations get `total / windows`, which is the daemon's rule from before there were weights.
//! When the projections have come, each rendered window becomes one section whose lines are indexes
//! of its rendered lines, all of depth 0; fences are [`Line::structural`]. [`merge`] then keeps of
//! each the same first lines as a cut at the share less [`limits::MORE_TOKENS`] does, and
//! [`Entry::hidden`] is the number for `… more lines`. A window that is busy is [`Outcome::Late`]
//! with its last rendering; one that is broken is [`Outcome::Failed`].
//!
//! # How an app calls it
//!
//! An app that has a document of several sources, such as the memory tree, leaves [`Frame::Merge`]
//! and writes [`slots::pieces`] of the document into its view: headings, marks, cuts and anchors
//! included. For a large tree it implements [`outline::Outline`] and takes the lines from
//! [`outline::fill`].
#![forbid(unsafe_code)]

pub mod context;
pub mod cut;
pub mod limits;
pub mod merge;
pub mod note;
pub mod outline;
pub mod section;
pub mod share;
pub mod size;
pub mod slots;
pub mod source;

pub use context::{Budgets, Frame, Mode, RenderContext};
pub use merge::{Document, Entry, Freshness, Outcome, Produced, Record, merge};
pub use section::{Line, RenderSection};
pub use share::{Share, shares};
pub use size::Size;
pub use source::{RenderSource, SourceLimits};

/// The version of the Context UI, which a document names in its meta section.
pub const VERSION: &str = "v1";
