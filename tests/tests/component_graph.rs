//! The daemon's core consists of components that form layers: each uses only those below it.

use std::path::Path;

use pipemux_tests::module_graph::ModuleGraph;

/// The modules that hold the components together and may therefore use all of them.
const TOP: &[&str] = &["core"];

#[test]
fn components_of_the_core_form_no_circle() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipemux-daemon/core/src");
    let graph = ModuleGraph::read(&src).expect("the sources of the core").components(TOP);
    assert!(graph.edges().count() > 5, "no components were found in {}", src.display());
    if let Some(circle) = graph.shortest_circle() {
        let edges: Vec<String> = graph
            .edges()
            .map(|(from, to)| {
                format!("{from} → {}", to.iter().cloned().collect::<Vec<_>>().join(", "))
            })
            .collect();
        panic!("components use each other: {}\n{}", circle.join(" → "), edges.join("\n"));
    }
}
