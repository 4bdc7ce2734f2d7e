//! What an answer says of line numbers: for the windows in it, and for what outcomes and questions
//! told.
//!
//! **Invariant: an answer advances only the numbers that it shows or maps, and those that it leaves
//! out because they name the same lines as before.**

use pipemux_proto::LineNumbers;

use crate::keys::SessionKey;
use crate::limits::LINE_NUMBERS_MAX;
use crate::runs::Run;
use crate::views::line_changes::KeptLines;
use crate::workspaces::{LineUpdate, Reader, Rendered, ShownVersion, When};

/// Returns what a complete window says.
pub fn whole_window(rendered: &Rendered, seen: Option<ShownVersion>) -> Vec<LineUpdate> {
    let mut updates = Updates::of(rendered, seen);
    for lines in rendered.content.numbered_lines() {
        updates.add(lines.first, lines.last(), When::Always);
    }
    for LineNumbers { document, first, last, .. } in rendered.numbers.iter() {
        let (document, first, last) = (document.clone(), *first, *last);
        updates.all.push(LineUpdate { document, first, last, seen, when: When::Always });
    }
    updates.all
}

/// Returns the line number updates of a window that is shown as a difference from `base`, without
/// the `kept` lines.
pub fn changed_window(
    rendered: &Rendered,
    seen: ShownVersion,
    base: ShownVersion,
    kept: &[KeptLines],
) -> Vec<LineUpdate> {
    let mut updates = Updates::of(rendered, Some(seen));
    // The numbers that moved lines had before mean something else now.
    for kept in kept.iter().filter(|kept| kept.old != kept.new) {
        updates.add(kept.old, kept.old.saturating_add(kept.count - 1), When::Always);
    }
    let mut left_out = kept.iter().flat_map(|kept| (0..kept.count).map(move |at| (kept, at)));
    let mut next = left_out.next();
    let numbered = rendered.content.numbered_lines().into_iter();
    for number in numbered.flat_map(|lines| lines.first..=lines.last()) {
        match next {
            Some((kept, at)) if kept.new.checked_add(at) == Some(number) => {
                next = left_out.next();
                if kept.old != kept.new {
                    updates.add(number, number, When::Always);
                } else if kept.identified {
                    updates.add(number, number, When::StillIn(base));
                }
            }
            _ => updates.add(number, number, When::Always),
        }
    }
    for LineNumbers { document, first, last, .. } in rendered.numbers.iter() {
        let (document, first, last) = (document.clone(), *first, *last);
        let (seen, when) = (Some(seen), When::StillInOrRetire(base));
        updates.all.push(LineUpdate { document, first, last, seen, when });
    }
    updates.all
}

/// Returns what the outcomes and questions of a run told.
///
/// What those of a pinned run say of numbers that they leave out, or that lines had before, holds
/// for its epoch. It holds no more where the reader was shown other lines under these numbers
/// since.
pub fn told_lines(run: &Run, reader: Option<&Reader>) -> Vec<(SessionKey, LineUpdate)> {
    let meant = |session: &SessionKey, document: &str, first, last| match (
        run.baseline.pinned_lines(session),
        reader,
    ) {
        (Some(then), Some(reader)) => reader.lines_of(session).same_in(then, document, first, last),
        _ => vec![(first, last)],
    };
    let update = |session: &SessionKey, document: &str, first, last, seen| {
        let (document, when) = (document.to_owned(), When::Always);
        (session.clone(), LineUpdate { document, first, last, seen, when })
    };
    let mut updates = Vec::new();
    for (index, (session, app, numbers)) in run.told_lines.iter().enumerate() {
        let LineNumbers { document, first, last, version, was } = numbers;
        if index >= LINE_NUMBERS_MAX {
            updates.push(update(session, document, 0, u64::MAX, None));
            continue;
        }
        let seen = version.map(|version| (*app, version));
        if let Some(was) = *was {
            let end = was.saturating_add(last.saturating_sub(*first));
            let before = meant(session, document, was, end).into_iter();
            updates.extend(before.map(|(was, end)| update(session, document, was, end, seen)));
        }
        if *was != Some(*first) {
            updates.push(update(session, document, *first, *last, seen));
        }
    }
    updates
}

/// Gathers updates of one window's document.
struct Updates<'a> {
    document: &'a str,
    seen: Option<ShownVersion>,
    all: Vec<LineUpdate>,
}

impl<'a> Updates<'a> {
    fn of(rendered: &'a Rendered, seen: Option<ShownVersion>) -> Self {
        let document = rendered.document.as_deref().unwrap_or_default();
        Self { document, seen, all: Vec::new() }
    }

    fn add(&mut self, first: u64, last: u64, when: When) {
        match self.all.last_mut() {
            Some(update) if update.when == when && update.last.checked_add(1) == Some(first) => {
                update.last = last;
            }
            _ => {
                let (document, seen) = (self.document.to_owned(), self.seen);
                self.all.push(LineUpdate { document, first, last, seen, when });
            }
        }
    }
}
