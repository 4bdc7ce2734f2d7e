//! Filling a budget from a tree, and content as lines.

use pipemux_context::outline::{Outline, fill};
use pipemux_context::*;
use pipemux_proto::projection::{CodePiece, LinkSlot, ObjectSlot, Piece};
use proptest::collection::vec;
use proptest::prelude::*;

/// A complete tree: each node has `width` children, down to `depth`.
struct Complete {
    width: usize,
    depth: usize,
    calls: usize,
    read: usize,
}

impl Outline for Complete {
    type Node = Vec<usize>;
    type Error = std::convert::Infallible;

    fn children(
        &mut self,
        of: Option<&Vec<usize>>,
        from: usize,
        max: usize,
    ) -> Result<Vec<Vec<usize>>, Self::Error> {
        self.calls += 1;
        let path = of.cloned().unwrap_or_default();
        let end = if path.len() == self.depth { 0 } else { self.width };
        let page: Vec<Vec<usize>> =
            (from..end).take(max).map(|at| path.iter().copied().chain([at]).collect()).collect();
        self.read += page.len();
        Ok(page)
    }

    fn size(&mut self, _: &Vec<usize>, _: u32) -> Size {
        Size { tokens: 10, chars: 30, bytes: 30, lines: 1 }
    }
}

#[test]
fn filling_from_a_large_tree_reads_no_more_than_from_a_small_one() {
    let budgets = Budgets::new(Size::tokens(2_000)).framed_by(Frame::Caller);
    let share = shares(&[RenderSource::new("tree", "")], &budgets)[0];
    let counts = [10, 100, 100_000].map(|width| {
        let mut tree = Complete { width, depth: 6, calls: 0, read: 0 };
        let filled = fill(&mut tree, &share).unwrap();
        assert_eq!(filled.lines.len(), 200);
        assert!(filled.is_cut);
        assert!(tree.read <= 200 + limits::PAGE, "{}", tree.read);
        assert!(tree.calls <= 200 + 200 / limits::PAGE + 2, "{}", tree.calls);
        tree.read
    });
    assert!(counts.iter().all(|read| *read <= 200 + limits::PAGE), "{counts:?}");
}

proptest! {
    #[test]
    fn filled_tree_is_closed_and_cut_by_depth_and_order(
        width in 1..9_usize,
        depth in 1..5_usize,
        tokens in 0..900_u64,
        nodes in prop_oneof![Just(u64::MAX), 0..60_u64],
    ) {
        let share = Share { size: Size::tokens(tokens), levels: 4, nodes, admitted: true };
        let mut tree = Complete { width, depth, calls: 0, read: 0 };
        let filled = fill(&mut tree, &share).unwrap();
        let paths: Vec<&Vec<usize>> = filled.lines.iter().map(|line| &line.content).collect();
        prop_assert!(paths.is_sorted(), "each stands behind its parent");
        for line in &filled.lines {
            prop_assert_eq!(line.depth as usize + 1, line.content.len());
        }
        let all: usize = (1..=depth.min(4)).map(|level| width.pow(level as u32)).sum();
        let room = (tokens / 10).min(nodes) as usize;
        prop_assert_eq!(filled.lines.len(), all.min(room));
        let mut by_depth: Vec<(usize, &Vec<usize>)> =
            paths.iter().map(|path| (path.len(), *path)).collect();
        by_depth.sort();
        // The nodes of a level are complete before the next one begins.
        let deepest = by_depth.last().map_or(0, |(len, _)| *len);
        for level in 1..deepest {
            let count = by_depth.iter().filter(|(len, _)| *len == level).count();
            prop_assert_eq!(count, width.pow(level as u32));
        }
        prop_assert_eq!(filled.is_cut, filled.lines.len() < all || depth > 4 && !filled.lines.is_empty());
    }
}

fn piece() -> impl Strategy<Value = Piece> {
    let text = "[a-z中🚀 \n]{1,20}";
    prop_oneof![
        text.prop_map(Piece::Text),
        text.prop_map(|label| Piece::Object(ObjectSlot {
            key: label.clone(),
            label,
            ..ObjectSlot::default()
        })),
        "[a-z]{1,5}".prop_map(|label| Piece::Link(LinkSlot {
            action: label.clone(),
            label,
            ..LinkSlot::default()
        })),
        ("[a-z]{0,3}", "[a-z`\n]{1,20}", proptest::option::of(1..9_u64), any::<bool>()).prop_map(
            |(lang, text, first, identified)| {
                let count = text.split_inclusive('\n').count() as u64;
                let lines = match first {
                    Some(_) if identified => vec![pipemux_proto::LineRun { id: 7, count }],
                    _ => Vec::new(),
                };
                Piece::Code(CodePiece { lang, text, first, lines })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn lines_of_slots_become_the_same_content_again(pieces in vec(piece(), 0..12)) {
        let mut joined: Vec<Piece> = Vec::new();
        for piece in &pieces {
            match (joined.last_mut(), piece) {
                (Some(Piece::Text(text)), Piece::Text(more)) => *text += more,
                (_, piece) => joined.push(piece.clone()),
            }
        }
        let lines = slots::lines(pieces, 0);
        let again = slots::content(lines.into_iter().map(|line| line.content));
        prop_assert_eq!(again, joined);
    }
}
