//! Merges the results of all sources, including failures, into one document within a budget.

use crate::context::{Frame, Mode, RenderContext};
use crate::cut::cut;
use crate::limits::{MARK, MORE};
use crate::note::{cut_note, fit_notes, fit_reason, no_room_note};
use crate::section::{RenderSection, heading_size};
use crate::share::{Share, shares};
use crate::size::Size;
use crate::source::{RenderSource, document_order};

/// The result of asking a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<T> {
    /// The source produced sections.
    Ready(Vec<RenderSection<T>>),
    /// The source failed.
    Failed {
        /// The reason, in words for readers, without paths and secrets.
        reason: String,
        /// The sections that it showed before, if known.
        last: Option<Vec<RenderSection<T>>>,
    },
    /// The source missed its deadline.
    Late {
        /// The sections that it showed before, if known.
        last: Option<Vec<RenderSection<T>>>,
    },
}

/// The contribution of one source to a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Produced<T> {
    pub outcome: Outcome<T>,
    /// The time that the source took, in milliseconds; shown in debug mode.
    pub millis: Option<u64>,
}

impl<T> From<Outcome<T>> for Produced<T> {
    fn from(outcome: Outcome<T>) -> Self {
        Self { outcome, millis: None }
    }
}

/// The merged document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document<T> {
    /// The shown parts of the sources, in document order. Sources that don't fit have none.
    pub entries: Vec<Entry<T>>,
    /// The lines at the end, with the cuts and the calls that show the rest.
    pub notes: Vec<String>,
    /// The lines of the debug mode.
    pub debug: Vec<String>,
    /// Sources that failed or were late.
    pub records: Vec<Record>,
    /// The size of the document, without the lines of the debug mode.
    pub used: Size,
}

/// The part of a document that shows one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<T> {
    /// The source's index in the merged sources.
    pub source: usize,
    /// The freshness of the shown content.
    pub freshness: Freshness,
    /// Stands below the first heading, when it isn't fresh: why. Without sections it is all there
    /// is.
    pub mark: Option<String>,
    /// The sections in their order.
    pub sections: Vec<ShownSection<T>>,
    /// The lines that were cut or that the source itself left out.
    pub hidden: u64,
    /// The size of the entry.
    pub used: Size,
}

/// The freshness of a source's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The current content.
    Fresh,
    /// Earlier content.
    Stale,
    /// No content, because nothing is known of the source.
    Skipped,
}

/// A section in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSection<T> {
    /// The section's name within its source.
    pub key: String,
    /// The section's heading; empty if there is none.
    pub title: String,
    /// The shown lines.
    pub lines: Vec<T>,
    /// The number of omitted lines, if a line reports it.
    pub more: Option<u64>,
}

/// The failure or delay of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub source: String,
    /// The reason, in one line.
    pub reason: String,
    /// True when it is shown as it was before.
    pub degraded: bool,
}

/// Merges what sources produced; `produced` stands in the order of `sources`. It is a pure
/// function: equal arguments give equal documents, and what one source produced changes nothing of
/// another's entry.
pub fn merge<V, S, T>(
    context: &RenderContext<V, S>,
    sources: &[RenderSource],
    produced: Vec<Produced<T>>,
) -> Document<T> {
    let budgets = &context.budgets;
    let shares = shares(sources, budgets);
    let mut produced: Vec<Option<Produced<T>>> = produced.into_iter().map(Some).collect();
    produced.resize_with(sources.len(), || None);
    let (mut entries, mut notes) = (Vec::new(), Vec::new());
    let (mut records, mut debug) = (Vec::new(), Vec::new());
    let mut used = Size::ZERO;
    for position in document_order(sources) {
        let (source, share) = (&sources[position], shares[position]);
        let Produced { outcome, millis } = produced[position].take().unwrap_or_else(|| {
            Outcome::Failed { reason: "it was not asked".to_owned(), last: None }.into()
        });
        let (sections, reason) = match outcome {
            Outcome::Ready(sections) => (Some(sections), None),
            Outcome::Failed { reason, last } => (last, Some(reason)),
            Outcome::Late { last } => {
                (last, Some(format!("no answer in {} ms", source.deadline_ms)))
            }
        };
        if let Some(reason) = &reason {
            let degraded = sections.is_some();
            records.push(Record { source: source.id.clone(), reason: reason.clone(), degraded });
        }
        if !share.admitted {
            notes.push(no_room_note(source));
            if context.mode == Mode::Debug {
                debug.push(format!("debug: {}: no room\n", source.name()));
            }
            continue;
        }
        let (entry, at_depth) =
            write_entry(position, source, share, budgets.frame, sections, reason.as_deref());
        if entry.hidden > 0 {
            notes.push(cut_note(source, entry.hidden));
        }
        if context.mode == Mode::Debug {
            debug.push(debug_line(source, share, &entry, millis, reason.as_deref(), at_depth));
        }
        used = used.plus(entry.used);
        entries.push(entry);
    }
    let (notes, size) = match budgets.frame {
        Frame::Merge => fit_notes(notes, budgets.notes(sources.len())),
        Frame::Caller => (Vec::new(), Size::ZERO),
    };
    Document { entries, notes, debug, records, used: used.plus(size) }
}

/// Writes what is shown of one source. Returns also the depth from which on lines were cut.
fn write_entry<T>(
    position: usize,
    source: &RenderSource,
    share: Share,
    frame: Frame,
    sections: Option<Vec<RenderSection<T>>>,
    reason: Option<&str>,
) -> (Entry<T>, Option<u32>) {
    let freshness = match (&sections, reason) {
        (_, None) => Freshness::Fresh,
        (Some(_), Some(_)) => Freshness::Stale,
        (None, Some(_)) => Freshness::Skipped,
    };
    let mut entry = Entry {
        source: position,
        freshness,
        mark: None,
        sections: Vec::new(),
        hidden: 0,
        used: Size::ZERO,
    };
    if let (Some(reason), Frame::Merge) = (reason, frame) {
        let name = source.name();
        entry.mark = match freshness {
            Freshness::Skipped => fit_reason(reason, share.size.plus(MARK), |reason| {
                format!("{}: skipped: {reason}\n", crate::note::one_line(name, 60))
            }),
            _ => fit_reason(reason, MARK, |reason| format!("as it was before: {reason}\n")),
        };
        entry.used = entry.mark.as_deref().map_or(Size::ZERO, Size::of_lines);
    }
    let mut at_depth = None;
    let sections = sections.unwrap_or_default();
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|at| (!sections[*at].required, std::cmp::Reverse(sections[*at].weight)));
    let (mut room, mut nodes) = (share.size, share.nodes);
    let mut cuts: Vec<Option<crate::cut::Cut>> = vec![None; sections.len()];
    for at in order {
        let section = &sections[at];
        let heading = heading_size(&section.title, frame);
        entry.hidden += section.hidden;
        if !heading.fits_in(room) {
            let lines = section.content.iter().filter(|line| !line.structural);
            entry.hidden += lines.count() as u64;
            continue;
        }
        let space = room.minus(heading);
        let fit = |space| cut(&section.content, space, share.levels, nodes);
        let mut cut = fit(space);
        if section.hidden > 0 && !cut.more && MORE.fits_in(space) {
            // What the source left out is told at the place, too.
            cut = fit(space.minus(MORE));
            cut.used = cut.used.plus(if cut.more { Size::ZERO } else { MORE });
            cut.more = true;
        }
        if cut.hidden > 0 && !cut.more && !cut.keep.contains(&true) {
            // A heading over nothing says nothing.
            entry.hidden += cut.hidden;
            continue;
        }
        let took = heading.plus(cut.used);
        (room, entry.used) = (room.minus(took), entry.used.plus(took));
        nodes = nodes.saturating_sub(cut.keep.iter().filter(|keep| **keep).count() as u64);
        entry.hidden += cut.hidden;
        at_depth = at_depth.or(cut.at_depth);
        cuts[at] = Some(cut);
    }
    for (section, cut) in sections.into_iter().zip(cuts) {
        let Some(cut) = cut else { continue };
        let more = cut.more.then_some(cut.hidden + section.hidden);
        let kept = section.content.into_iter().zip(&cut.keep).filter(|(_, keep)| **keep);
        let lines = kept.map(|(line, _)| line.content).collect();
        entry.sections.push(ShownSection { key: section.key, title: section.title, lines, more });
    }
    (entry, at_depth)
}

fn debug_line<T>(
    source: &RenderSource,
    share: Share,
    entry: &Entry<T>,
    millis: Option<u64>,
    reason: Option<&str>,
    at_depth: Option<u32>,
) -> String {
    let mut line = format!("debug: {}", source.name());
    if let Some(millis) = millis {
        line += &format!(" · {millis} ms");
    }
    let of = |used: u64, share: u64, unit: &str| match share {
        u64::MAX => format!(" · {used} {unit}"),
        share => format!(" · {used} of {share} {unit}"),
    };
    line += &of(entry.used.tokens, share.size.tokens, "tokens");
    line += &of(entry.used.bytes, share.size.bytes, "bytes");
    if entry.hidden > 0 {
        line += &format!(" · cut {} lines", entry.hidden);
    }
    if let Some(depth) = at_depth {
        line += &format!(" from depth {depth} on");
    }
    if let Some(reason) = reason {
        line += &format!(" · {}", crate::note::one_line(reason, 100));
    }
    line + "\n"
}
