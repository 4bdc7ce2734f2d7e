//! The tree and its panels as a document.

use pipemux_context::{
    Budgets, Document, Outcome, RenderContext, RenderSource, Share, Size, merge, shares, slots,
};
use pipemux_memotree_store::actions::NewNode;
use pipemux_memotree_store::config::TokenForm;
use pipemux_memotree_store::{Level, Store};
use pipemux_memotree_store::{render, views};
use pipemux_proto::projection::Piece;

use crate::common::{Tree, add, node};

fn share(tokens: u64) -> Share {
    let budgets = Budgets::new(Size::tokens(tokens)).framed_by(pipemux_context::Frame::Caller);
    shares(&[RenderSource::new("tree", "")], &budgets)[0]
}

/// The tree as text.
pub fn text(store: &mut Store, tokens: u64) -> String {
    let rendered = render::tree(store, "default", &share(tokens), TokenForm::Long).expect("a tree");
    let lines = rendered.section.content.into_iter().map(|line| line.content);
    joined(slots::content(lines))
}

fn joined(pieces: Vec<Piece>) -> String {
    let text = |piece: Piece| match piece {
        Piece::Text(text) => text,
        other => panic!("text, not {other:?}"),
    };
    pieces.into_iter().map(text).collect()
}

fn expand(store: &mut Store, ids: &[&str], level: Level) {
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    store.state.set_levels("default", &ids, Some(level)).expect("levels");
}

fn example() -> (Tree, Store) {
    let tree = Tree::new();
    let mut store = tree.open();
    let editor = NewNode {
        text: "Lines are kept in a rope.\n\nSee the tests.\n".to_owned(),
        gist: "How files are edited".to_owned(),
        summary: "A rope for each file,\nwritten through.".to_owned(),
        tags: vec!["core".to_owned()],
        ..node("Editor", None)
    };
    store.add(&[editor]).expect("a node");
    add(&mut store, "撤销 undo", Some("editor"));
    add(&mut store, "Search", Some("editor"));
    add(&mut store, "Notebook", None);
    add(&mut store, "Tags", Some("notebook"));
    (tree, store)
}

#[test]
fn folded_nodes_show_title_and_token_and_expanded_ones_the_long_form() {
    let (_tree, mut store) = example();
    assert_eq!(
        text(&mut store, 1_000),
        "- Editor [[MT:Node:editor]] · 2 nodes · 3 lines · How files are edited\n- Notebook [[MT:Node:notebook]] · 1 node\n"
    );
    expand(&mut store, &["editor"], Level::Gist);
    assert_eq!(
        text(&mut store, 1_000),
        "- [Editor] [editor] [[MT:Node:editor]] · 3 lines #core\n  How files are edited\n  - 撤销 undo [[MT:Node:撤销-undo]]\n\
         \u{20} - Search [[MT:Node:search]]\n- Notebook [[MT:Node:notebook]] · 1 node\n"
    );
    expand(&mut store, &["editor"], Level::Full);
    expand(&mut store, &["notebook"], Level::Summary);
    assert_eq!(
        text(&mut store, 1_000),
        "- [Editor] [editor] [[MT:Node:editor]] #core\n  How files are edited\n  A rope for each file,\n  written through.\n\
         \u{20} Lines are kept in a rope.\n\n  See the tests.\n  - 撤销 undo [[MT:Node:撤销-undo]]\n  - Search [[MT:Node:search]]\n\
         - [Notebook] [notebook] [[MT:Node:notebook]]\n  - Tags [[MT:Node:tags]]\n"
    );
    let short = render::tree(&mut store, "default", &share(1_000), TokenForm::Short).unwrap();
    let lines = short.section.content.into_iter().map(|line| line.content);
    assert!(joined(slots::content(lines)).starts_with("- Editor [[MT:Node:editor]] #core\n"));
}

#[test]
fn way_to_an_expanded_node_shows_none_of_its_siblings() {
    let (_tree, mut store) = example();
    expand(&mut store, &["search"], Level::Full);
    expand(&mut store, &["editor"], Level::Path);
    assert_eq!(
        text(&mut store, 1_000),
        "- [Editor] [editor] [[MT:Node:editor]] · 1 of 2 nodes · 3 lines #core\n  How files are edited\n\
         \u{20} - [Search] [search] [[MT:Node:search]]\n- Notebook [[MT:Node:notebook]] · 1 node\n"
    );
    assert_eq!(store.state.expanded("default").unwrap(), 1);
    // Without what it leads to it is folded.
    store.state.set_levels("default", &["search".to_owned()], None).unwrap();
    assert!(text(&mut store, 1_000).starts_with("- Editor [[MT:Node:editor]] · 2 nodes · 3 lines"));
    expand(&mut store, &["search"], Level::Full);
    expand(&mut store, &["editor"], Level::Gist);
    assert!(text(&mut store, 1_000).contains("- 撤销 undo [[MT:Node:撤销-undo]]"));
}

#[test]
fn tree_is_cut_by_depth_and_order() {
    let (_tree, mut store) = example();
    expand(&mut store, &["editor", "notebook"], Level::Full);
    let cut = render::tree(&mut store, "default", &share(70), TokenForm::Long).unwrap();
    assert_eq!(cut.section.hidden + cut.section.content.len() as u64, 11);
    let shown = text(&mut store, 70);
    assert!(shown.contains("[[MT:Node:notebook]]"), "the roots come first: {shown}");
    assert!(!shown.contains("[[MT:Node:search]]"), "{shown}");
    for tokens in 0..250 {
        let shown = text(&mut store, tokens);
        assert!(pipemux_tokens::estimate(&shown) <= tokens);
    }
}

#[test]
fn node_that_changed_outside_is_shown_as_it_is_now() {
    let (tree, mut store) = example();
    let file = tree.read("nodes/search.md").replace("title: Search", "title: Find");
    std::fs::write(tree.path("nodes/search.md"), file).unwrap();
    expand(&mut store, &["editor"], Level::Gist);
    let rendered = render::tree(&mut store, "default", &share(1_000), TokenForm::Long).unwrap();
    assert_eq!(rendered.changes.changed[0].as_str(), "search");
    assert!(text(&mut store, 1_000).contains("- Find [[MT:Node:search]]"));
}

#[test]
fn panels_and_tree_make_one_context() {
    let (_tree, mut store) = example();
    views::create(&mut store, "default", "the whole project").unwrap();
    views::create(&mut store, "review", "what to check before a release").unwrap();
    store.state.use_view("default", None, 2).unwrap();
    expand(&mut store, &["editor"], Level::Gist);
    let sources = [
        RenderSource::new("views", "Views")
            .required()
            .ranked(1, 1)
            .call("pipemux ask 'memotree.list()'"),
        RenderSource::new("environment", "Environment").required(),
        RenderSource::new("tree", "Workspace tree")
            .ranked(0, 3)
            .call("pipemux view memotree --lod full"),
    ];
    let context = RenderContext::new("default", Budgets::new(Size::tokens(900)));
    let shares = shares(&sources, &context.budgets);
    let tree = render::tree(&mut store, context.view, &shares[2], TokenForm::Long).unwrap();
    let sections = [
        render::views(&store, context.view, 5, |call| format!("run {call}")).unwrap(),
        render::environment(&store, "pipemux", context.view, "9.9", Some("changed 2031-02-03"), 5)
            .unwrap(),
        tree.section,
    ];
    let produced = sections.into_iter().map(|section| Outcome::Ready(vec![section]).into());
    let document: Document<_> = merge(&context, &sources, produced.collect());
    let day = views::get(&store, "review").unwrap().changed_day.unwrap();
    assert_eq!(
        joined(slots::pieces(document)).replace(&day, "today"),
        "### Views\n\
         current: default [[MT:View:default]] · the whole project · changed today\n\
         - review [[MT:View:review]] · what to check before a release · changed today\n\
         run switch(\"review\")\n\
         run create(\"view-1\", \"what it is for\")\n\
         run rename(\"review\", \"view-1\")\n\
         run delete(\"review\")\n\
         ### Environment\n\
         Context UI v1 · memotree 9.9 · changed 2031-02-03\n\
         pipemux · 5 nodes, 1 expanded\n\
         ### Workspace tree\n\
         - [Editor] [editor] [[MT:Node:editor]] · 3 lines #core\n  How files are edited\n  - 撤销 undo [[MT:Node:撤销-undo]]\n\
         \u{20} - Search [[MT:Node:search]]\n- Notebook [[MT:Node:notebook]] · 1 node\n"
    );
}

#[test]
fn words_are_found_in_any_script() {
    let (_tree, mut store) = example();
    store.edit("search", "全文検索はＳＱＬで。支持中文搜索。\n").unwrap();
    let found = |query: &str| -> Vec<String> {
        let nodes = store.index().search(query, 10).unwrap().nodes;
        nodes.into_iter().map(|row| row.id.to_string()).collect()
    };
    assert_eq!(found("检索"), [""; 0]);
    assert_eq!(found("検索"), ["search"]);
    assert_eq!(found("中文"), ["search"]);
    assert_eq!(found("sql"), ["search"]);
    assert_eq!(found("撤"), ["撤销-undo"]);
    assert_eq!(found("rop"), ["editor"]);
    assert_eq!(found("core"), ["editor"], "tags, too");
    assert_eq!(found("#core"), ["editor"]);
    assert_eq!(found("#rope"), [""; 0], "a word that is no tag");
    let tagged = store.index().tagged("CORE", 10).unwrap();
    assert_eq!(tagged[0].id.as_str(), "editor");
    assert_eq!(found("tag"), ["tags"]);
    assert_eq!(found("\"written through\""), ["editor"]);
    assert_eq!(found("\" OR title : NEAR("), [""; 0]);
    assert_eq!(found(""), [""; 0]);
}
