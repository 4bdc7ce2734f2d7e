//! Which lines of a window were added, removed or moved, and which stayed.

use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffOp};

use crate::workspaces::content::Line;

/// A run of unchanged numbered lines that a delta omits, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLines {
    /// The previous number of the first line.
    pub old: u64,
    /// The present number of the first line.
    pub new: u64,
    /// The number of lines.
    pub count: u64,
    /// True when their app says that they are the same lines; else only their texts are equal.
    pub identified: bool,
}

/// The result of a comparison of lines.
pub(super) struct LineChanges<'l> {
    /// The lines to show, in the order of the window.
    pub changed: Vec<(Sign, &'l Line<'l>)>,
    pub kept: Vec<KeptLines>,
    /// False if the changed lines don't tell all that has changed.
    pub comparable: bool,
}

/// Compares lines, each of which has a number that equal ones share. `show_removed` has
/// vanished lines shown; `is_cut` is true if some found no room in the window.
pub(super) fn line_changes<'l>(
    (before, after): (&'l [Line<'l>], &'l [Line<'l>]),
    (old, new): (&[usize], &[usize]),
    show_removed: bool,
    is_cut: bool,
) -> LineChanges<'l> {
    let mut changed: Vec<(Sign, &Line<'_>)> = Vec::new();
    let mut kept = KeptList::default();
    let mut title = Title::default();
    let (things_before, things_after) = (things(before), things(after));
    let mut comparable = true;
    // The things whose lines are told to have moved, and those of which the line isn't told to be
    // gone.
    let (mut moved_things, mut unsaid) = (Vec::new(), Vec::new());
    for op in similar::capture_diff_slices(Algorithm::Patience, old, new) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            let pairs = before[old_index..].iter().zip(&after[new_index..]).take(len);
            for (old, new) in pairs {
                comparable &= old.number.is_some() == new.number.is_some();
                kept.add(old, new);
                title.keep(new);
            }
            continue;
        }
        for line in &before[op.old_range()] {
            let shown = match thing(line).map(|thing| things_after.get(thing)) {
                // It stands elsewhere: it is told there that it moved.
                Some(Some(now)) if *now == line.text => {
                    unsaid.push(line.text);
                    false
                }
                Some(Some(_)) => show_removed,
                // A thing that found no room in the window isn't gone.
                Some(None) => show_removed || !is_cut,
                None => show_removed,
            };
            let above = title.before_change(line, shown);
            if shown {
                changed.extend(above.map(|line| (Sign::Context, line)));
                changed.push((Sign::Removed, line));
            }
        }
        for line in &after[op.new_range()] {
            let above = title.before_change(line, true);
            changed.extend(above.map(|line| (Sign::Context, line)));
            let before = thing(line).and_then(|thing| things_before.get(thing));
            let moved = before.is_some_and(|before| *before == line.text);
            moved_things.extend(moved.then_some(line.text));
            changed.push((if moved { Sign::Moved } else { Sign::Added }, line));
        }
    }
    // A line that stands twice may be gone or new only once.
    moved_things.sort_unstable();
    unsaid.sort_unstable();
    comparable &= moved_things == unsaid;
    LineChanges { changed, kept: kept.0, comparable }
}

/// Gathers unchanged lines into ranges.
#[derive(Default)]
pub(super) struct KeptList(pub Vec<KeptLines>);

impl KeptList {
    fn add(&mut self, old: &Line<'_>, new: &Line<'_>) {
        let (Some(old_number), Some(new_number)) = (old.number, new.number) else { return };
        let identified = new.identity.is_some();
        self.push(KeptLines { old: old_number, new: new_number, count: 1, identified });
    }

    pub fn push(&mut self, new: KeptLines) {
        match self.0.last_mut() {
            Some(last)
                if last.old.checked_add(last.count) == Some(new.old)
                    && last.new.checked_add(last.count) == Some(new.new)
                    && last.identified == new.identified =>
            {
                last.count += new.count;
            }
            _ => self.0.push(new),
        }
    }
}

/// The kind of a line's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// An unchanged line that shows the position of those below.
    Context,
    Added,
    Removed,
    /// A line whose object was at another position before.
    Moved,
}

/// Returns the texts of the lines that show a thing, by its ref.
fn things<'a>(lines: &[Line<'a>]) -> FxHashMap<&'a str, &'a str> {
    lines.iter().filter_map(|line| Some((thing(line)?, line.text))).collect()
}

/// Returns the ref of the thing that a line is about: the first one that it shows. Numbered lines
/// and exact text have none.
fn thing<'a>(line: &Line<'a>) -> Option<&'a str> {
    if line.exact || line.number.is_some() {
        return None;
    }
    let (_, from) = line.text.split_once("](obj:")?;
    from.split_once(')').map(|(of, _)| of)
}

/// What says where changed lines stand: the heading above them, and the line above them that shows
/// an object, as an entry's title is above its text. Numbered lines need neither.
#[derive(Default)]
struct Title<'a> {
    /// The heading, until it is added to the diff.
    heading: Option<&'a Line<'a>>,
    /// The title, until it is added to the diff.
    pending: Option<&'a Line<'a>>,
}

impl<'a> Title<'a> {
    /// Notes an unchanged line, which may be the title of those below.
    fn keep(&mut self, line: &'a Line<'a>) {
        if is_heading(line) {
            (self.heading, self.pending) = (Some(line), None);
        } else if is_title(line) {
            self.pending = Some(line);
        }
    }

    /// Returns the lines that the diff needs before a changed line, if that line is shown.
    fn before_change(
        &mut self,
        line: &Line<'_>,
        shown: bool,
    ) -> impl Iterator<Item = &'a Line<'a>> + use<'a> {
        if is_heading(line) {
            (self.heading, self.pending) = (None, None);
        } else if is_title(line) {
            self.pending = None;
        }
        let is_numbered = line.number.is_some();
        let belongs = !is_numbered && (line.exact || line.text.starts_with(' '));
        let heading = self.heading.take_if(|_| !is_numbered && shown);
        heading.into_iter().chain(self.pending.take_if(|_| belongs && shown))
    }
}

fn is_heading(line: &Line<'_>) -> bool {
    !line.exact && line.number.is_none() && line.text.starts_with('#')
}

fn is_title(line: &Line<'_>) -> bool {
    !line.exact && !line.text.starts_with(' ') && line.text.contains("](obj:")
}
