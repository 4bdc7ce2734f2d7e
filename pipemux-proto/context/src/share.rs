//! Divides the budget among the sources.

use crate::context::{Budgets, Frame};
use crate::limits::{MARK, MIN_SHARE, SOURCES_MAX};
use crate::size::Size;
use crate::source::{RenderSource, SourceLimits, document_order};

/// The share of the budget that one source may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// Tokens, characters, bytes and lines, its headings included.
    pub size: Size,
    /// Levels of a tree.
    pub levels: u32,
    /// Lines.
    pub nodes: u64,
    /// False when there is no room for the source.
    pub admitted: bool,
}

/// Divides a budget among sources; the shares stand in the sources' order.
///
/// First the sources are admitted in the document's order, as long as there is a useful minimum for
/// each; what is reserved for a required source is taken before those after it are admitted. Then
/// reservations are granted in that order. What a source gets is its part by weight, but no less
/// than its reservation and no more than its limits; what that leaves is divided again among the
/// others, as flexible boxes are sized in CSS.
pub fn shares(sources: &[RenderSource], budgets: &Budgets) -> Vec<Share> {
    let order = document_order(sources);
    let frame = match budgets.frame {
        Frame::Merge => MARK,
        Frame::Caller => Size::ZERO,
    };
    let room = budgets.total.minus(budgets.notes(sources.len()));
    let minimum = match budgets.frame {
        Frame::Merge => MIN_SHARE.plus(MARK),
        // The caller has minimums of its own.
        Frame::Caller => Size::ZERO,
    };
    let limits = |position: &usize| {
        let source = &sources[*position];
        let own = source.limits;
        let set = budgets.per_source.get(&source.id).copied().unwrap_or_default();
        SourceLimits {
            size: own.size.min(set.size),
            levels: own.levels.min(set.levels),
            nodes: own.nodes.min(set.nodes),
        }
    };
    let admitted = order.iter().take(SOURCES_MAX).scan(Size::ZERO, |sum, position| {
        let fits = sum.plus(minimum).fits_in(room);
        let source = &sources[*position];
        let reserved = match source.required && !budgets.soft {
            true => source.reserved.min(limits(position).size).plus(frame),
            false => Size::ZERO,
        };
        *sum = sum.plus(minimum.max(reserved));
        fits.then_some(*position)
    });
    let admitted: Vec<usize> = admitted.collect();
    let mut parts = vec![[0; 4]; admitted.len()];
    for unit in 0..4 {
        let all = room.to_array()[unit];
        let least = minimum.to_array()[unit];
        let items = admitted.iter().map(|position| {
            let source = &sources[*position];
            // The mark of a failed source stands beside its share.
            let most = limits(position).size.to_array()[unit];
            let most = most.saturating_add(frame.to_array()[unit]).max(least);
            let reserved = match source.reserved.to_array()[unit] {
                0 => 0,
                reserved => reserved.saturating_add(frame.to_array()[unit]),
            };
            Item { weight: source.weight.max(1), least, reserved, most }
        });
        let items: Vec<Item> = items.collect();
        for (part, size) in parts.iter_mut().zip(divide(all, &items, budgets.soft)) {
            part[unit] = size;
        }
    }
    let mut shares = vec![Share::default(); sources.len()];
    for (position, part) in admitted.iter().zip(parts) {
        let SourceLimits { levels, nodes, .. } = limits(position);
        let size = Size::from_array(part).minus(frame);
        shares[*position] = Share { size, levels, nodes, admitted: true };
    }
    shares
}

/// The demand of one source, in one unit.
#[derive(Debug, Clone, Copy)]
struct Item {
    weight: u32,
    least: u64,
    reserved: u64,
    most: u64,
}

/// Divides one unit of a budget by weight, within bounds. Items come in the order in which
/// reservations are granted.
fn divide(all: u64, items: &[Item], soft: bool) -> Vec<u64> {
    if all == u64::MAX {
        return items.iter().map(|item| item.most).collect();
    }
    let mut spare = all.saturating_sub(items.iter().map(|item| item.least).sum());
    let floors: Vec<u64> = items
        .iter()
        .map(|item| {
            let wanted = item.reserved.min(item.most).saturating_sub(item.least);
            let granted = if soft { 0 } else { wanted.min(spare) };
            spare -= granted;
            item.least + granted
        })
        .collect();
    let mut fixed: Vec<Option<u64>> = vec![None; items.len()];
    loop {
        let open: Vec<usize> = (0..items.len()).filter(|at| fixed[*at].is_none()).collect();
        if open.is_empty() {
            break;
        }
        let left = all.saturating_sub(fixed.iter().flatten().sum());
        let weights: u64 = open.iter().map(|at| u64::from(items[*at].weight)).sum();
        let part = |at: usize| {
            let part = u128::from(left) * u128::from(items[at].weight) / u128::from(weights);
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        let bounded = |at: usize| part(at).clamp(floors[at], items[at].most.max(floors[at]));
        // What the bounds add, and what they take away.
        let added: u64 = open.iter().map(|at| bounded(*at).saturating_sub(part(*at))).sum();
        let taken: u64 = open.iter().map(|at| part(*at).saturating_sub(bounded(*at))).sum();
        for at in open {
            let (part, bounded) = (part(at), bounded(at));
            let settled = match added.cmp(&taken) {
                std::cmp::Ordering::Equal => true,
                std::cmp::Ordering::Greater => bounded > part,
                std::cmp::Ordering::Less => bounded < part,
            };
            if settled {
                fixed[at] = Some(bounded);
            }
        }
    }
    let sizes = fixed.into_iter().zip(items).map(|(size, item)| {
        let size = size.unwrap_or_default();
        if soft { size.max(item.reserved.min(item.most)) } else { size }
    });
    sizes.collect()
}
