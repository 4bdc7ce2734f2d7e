//! Fills a budget from a tree of any size, reading only what is shown.

use crate::limits::PAGE;
use crate::section::Line;
use crate::share::Share;
use crate::size::Size;

/// A tree that is read in pages, such as a store or an index.
pub trait Outline {
    /// A node, or a line of one.
    type Node;
    /// The reason why the tree can't be read.
    type Error;

    /// Returns at most `max` children of a node from position `from` on, in order; of `None`,
    /// roots. Of a node that is folded there are none. Fewer than `max` are the last ones.
    ///
    /// # Errors
    /// The tree can't be read.
    fn children(
        &mut self,
        of: Option<&Self::Node>,
        from: usize,
        max: usize,
    ) -> Result<Vec<Self::Node>, Self::Error>;

    /// Returns what a node's own line takes at a depth.
    fn size(&mut self, node: &Self::Node, depth: u32) -> Size;
}

/// The part of a tree that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled<N> {
    /// The nodes that fit, each after its parent, with their depths.
    pub lines: Vec<Line<N>>,
    /// True when there are more nodes than fit.
    pub is_cut: bool,
}

/// Reads the nodes that fit in a share: all roots in order, then all their children, and so on,
/// until the first that doesn't fit. The calls, and the nodes that are read, are bounded by what is
/// shown and one page; the size of the tree doesn't matter.
///
/// # Errors
/// The tree can't be read.
pub fn fill<O: Outline>(outline: &mut O, share: &Share) -> Result<Filled<O::Node>, O::Error> {
    let mut arena: Vec<Found<O::Node>> = Vec::new();
    let (mut used, mut is_cut) = (Size::ZERO, false);
    let mut level: Vec<Option<usize>> = vec![None];
    let mut depth = 0;
    'levels: while !level.is_empty() {
        let mut next = Vec::new();
        for parent in std::mem::take(&mut level) {
            let mut from = 0;
            loop {
                // One node more than there may be tells whether there are more.
                let left = share.nodes.saturating_sub(arena.len() as u64).saturating_add(1);
                let lines = share.size.lines.saturating_sub(used.lines).saturating_add(1);
                let max = usize::try_from(left.min(lines)).unwrap_or(PAGE).min(PAGE);
                let of = parent.map(|at| &arena[at].node);
                let page = outline.children(of, from, max)?;
                let count = page.len();
                for node in page {
                    let size = outline.size(&node, depth);
                    let with = used.plus(size);
                    let is_full = arena.len() as u64 >= share.nodes || depth >= share.levels;
                    if is_full || !with.fits_in(share.size) {
                        is_cut = true;
                        break 'levels;
                    }
                    used = with;
                    let at = arena.len();
                    arena.push(Found { node, size, depth, children: Vec::new() });
                    if let Some(parent) = parent {
                        arena[parent].children.push(at);
                    }
                    next.push(Some(at));
                }
                from += count;
                if count < max {
                    break;
                }
            }
        }
        level = next;
        depth += 1;
    }
    Ok(Filled { lines: in_order(arena), is_cut })
}

struct Found<N> {
    node: N,
    size: Size,
    depth: u32,
    children: Vec<usize>,
}

/// Returns the nodes each behind its parent.
fn in_order<N>(arena: Vec<Found<N>>) -> Vec<Line<N>> {
    let roots = arena.iter().enumerate().filter(|(_, found)| found.depth == 0).map(|(at, _)| at);
    let mut stack: Vec<usize> = roots.collect();
    stack.reverse();
    let mut arena: Vec<Option<Found<N>>> = arena.into_iter().map(Some).collect();
    let mut lines = Vec::with_capacity(arena.len());
    while let Some(at) = stack.pop() {
        let Some(found) = arena[at].take() else { continue };
        stack.extend(found.children.iter().rev());
        lines.push(Line::new(found.node, found.size).at(found.depth));
    }
    lines
}
