//! A document as its readers see it.

use pipemux_context::*;
use pipemux_proto::projection::Piece;

#[test]
fn document_reads_as_one_text() {
    let sources = [
        RenderSource::new("tree", "Workspace tree").call("memotree.expand()"),
        RenderSource::new("views", "Views").required(),
        RenderSource::new("monitor/main", "").call("pipemux view monitor/main"),
        RenderSource::new("env", "Environment").required().ranked(-1, 1),
    ];
    let text = |text: &str| slots::lines(vec![Piece::Text(text.to_owned())], 0);
    let tree: String = (0..40).map(|n| format!("- node {n} of the tree\n")).collect();
    let last = vec![RenderSection::new("m", "Load", text("CPU 3%\n"))];
    let late = Outcome::Failed { reason: "it ended\nwith signal 9".into(), last: Some(last) };
    let outcomes = vec![
        Outcome::Ready(vec![RenderSection::new("tree", "Workspace tree", text(&tree))]),
        Outcome::Ready(vec![RenderSection::new("meta", "Views", text("Context UI v1\n"))]),
        late,
        Outcome::Late { last: None },
    ];
    let produced = outcomes.into_iter().map(Produced::from).collect();
    let mut context = RenderContext::new((), Budgets::new(Size::tokens(560)));
    context.mode = Mode::Debug;
    let document = merge(&context, &sources, produced);
    let [Piece::Text(text)] = &slots::pieces(document)[..] else { panic!("one text") };
    let shown: Vec<&str> = text.lines().filter(|line| !line.starts_with("- node")).collect();
    assert_eq!(
        shown,
        [
            "### Views",
            "Context UI v1",
            "Environment: skipped: no answer in 2000 ms",
            "### Workspace tree",
            "… over 9 more lines",
            "### Load",
            "as it was before: it ended with signal 9",
            "CPU 3%",
            "cut: over 9 lines of Workspace tree: memotree.expand()",
            "debug: Views · 10 of 98 tokens · 24 bytes",
            "debug: Environment · 13 of 98 tokens · 43 bytes · no answer in 2000 ms",
            "debug: Workspace tree · 93 of 98 tokens · 259 bytes · cut 30 lines from depth 0 on",
            "debug: monitor/main · 22 of 98 tokens · 57 bytes · it ended with signal 9",
        ]
    );
}
