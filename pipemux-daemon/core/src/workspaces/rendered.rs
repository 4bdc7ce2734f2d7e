//! What was written of a window.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::LineNumbers;
use pipemux_tokens::Estimate;

use crate::workspaces::Embeds;
use crate::workspaces::content::Content;

/// A window as Markdown, with the ids that were minted for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// `## editor/main · src/parse.rs · 412 lines · saved`
    pub heading: String,
    /// The document that the content is of, as the app names it.
    pub document: Option<Rc<str>>,
    /// The row of links, or empty.
    pub nav: String,
    /// The content.
    pub content: Rc<Content>,
    /// `lines 1-40`
    pub position: Option<String>,
    /// The ids shown, in order.
    pub ids: Rc<[u64]>,
    /// The refs that are shown with a key instead of the id, by id.
    pub keyed: Box<[(u64, Box<str>)]>,
    /// True when every link shows its call.
    pub show_calls: bool,
    /// The words of the calls that links show.
    pub words: Box<[TitleWord]>,
    /// The key and rev that each bound name stands for.
    pub names: BTreeMap<String, (String, u64)>,
    /// The windows of other sessions that the content shows.
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

/// A word in the call that a link shows.
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

/// Its size in memory.
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
