//! Selects the lines of a section that fit.

use crate::limits::MORE;
use crate::section::Line;
use crate::size::Size;

/// The selection of the lines that are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cut {
    /// For each line, whether it is kept.
    pub keep: Vec<bool>,
    /// The size of the kept lines, with the line that gives the number of cut ones.
    pub used: Size,
    /// The number of cut lines, without structural ones.
    pub hidden: u64,
    /// True when `used` holds the line that tells how many were cut.
    pub more: bool,
    /// The depth of the first line that was cut.
    pub at_depth: Option<u32>,
}

/// Chooses the lines that fit in `room`: lines of a smaller depth first, of one depth the heavier
/// ones, then in their order, until the first that doesn't fit. `levels` and `nodes` bound depths
/// and the number of lines.
///
/// The time is linear in the number of lines and depths, except that lines of one depth whose
/// weights differ are sorted.
pub fn cut<T>(lines: &[Line<T>], room: Size, levels: u32, nodes: u64) -> Cut {
    let deep = |line: &Line<T>| line.depth >= levels;
    let whole = lines.iter().fold(Size::ZERO, |sum, line| sum.plus(line.size));
    if whole.fits_in(room) && lines.len() as u64 <= nodes && !lines.iter().any(deep) {
        return Cut { keep: vec![true; lines.len()], used: whole, ..Cut::default() };
    }
    let mut cut = Cut { keep: vec![false; lines.len()], ..Cut::default() };
    let tells = MORE.fits_in(room);
    let room = room.minus(MORE);
    let (mut used, mut count) = (Size::ZERO, 0);
    for position in by_depth(lines) {
        let line = &lines[position];
        let with = used.plus(line.size);
        if !with.fits_in(room) || count >= nodes || deep(line) {
            cut.at_depth = Some(line.depth);
            break;
        }
        (used, count) = (with, count + 1);
        cut.keep[position] = true;
    }
    let gone = lines.iter().zip(&cut.keep).filter(|(line, keep)| !**keep && !line.structural);
    cut.hidden = gone.count() as u64;
    cut.more = tells && cut.hidden > 0;
    cut.used = used.plus(if cut.more { MORE } else { Size::ZERO });
    cut
}

/// Returns positions in the order in which lines are kept.
fn by_depth<T>(lines: &[Line<T>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    let key = |position: &usize| {
        let line = &lines[*position];
        (line.depth, std::cmp::Reverse(line.weight))
    };
    // Stable, and linear for what is in order already, as a flat text is.
    order.sort_by_key(key);
    order
}
