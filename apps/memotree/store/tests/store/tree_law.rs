//! Whatever is done, and whatever other programs do in between: the index says what the files say,
//! every node can be reached, and undo takes back to the same bytes.

use std::collections::BTreeSet;
use std::fs;

use pipemux_memotree_store::actions::{NewNode, NewPlace};
use pipemux_memotree_store::{Store, StoreError};
use proptest::prelude::*;

use crate::common::{Tree, at, node, outline};

#[derive(Debug, Clone)]
enum Step {
    Add(usize, Option<usize>),
    AddBefore(usize),
    Move(usize, Option<usize>),
    MoveBefore(usize, usize),
    Remove(usize),
    Edit(usize, String),
    Undo,
    Redo,
    Reopen,
    Outside(usize, Option<usize>),
    OutsideRemove(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0..12_usize;
    let maybe = || proptest::option::weighted(0.7, 0..12_usize);
    prop_oneof![
        4 => (at.clone(), maybe()).prop_map(|(title, parent)| Step::Add(title, parent)),
        2 => at.clone().prop_map(Step::AddBefore),
        4 => (at.clone(), maybe()).prop_map(|(node, parent)| Step::Move(node, parent)),
        4 => (at.clone(), at.clone()).prop_map(|(node, before)| Step::MoveBefore(node, before)),
        1 => at.clone().prop_map(Step::Remove),
        2 => (at.clone(), "[a-z界\n-]{0,20}").prop_map(|(node, text)| Step::Edit(node, text)),
        2 => Just(Step::Undo),
        1 => Just(Step::Redo),
        1 => Just(Step::Reopen),
        1 => (at.clone(), maybe()).prop_map(|(node, parent)| Step::Outside(node, parent)),
        1 => at.prop_map(Step::OutsideRemove),
    ]
}

fn all(store: &Store) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for line in outline(store).lines() {
        ids.extend(line.trim().split(' ').next().map(str::to_owned));
    }
    ids.sort();
    ids
}

fn before_files_made_here(files: &[(String, Vec<u8>)], made_here: impl Fn(&[u8]) -> bool) -> bool {
    files.iter().all(|(_, bytes)| made_here(bytes))
}

fn pick(ids: &[String], at: usize) -> Option<&str> {
    (!ids.is_empty()).then(|| ids[at % ids.len()].as_str())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn index_follows_the_files_and_every_node_is_reached(steps in proptest::collection::vec(step(), 1..25)) {
        let tree = Tree::new();
        let mut store = tree.open();
        for step in steps {
            let ids = all(&store);
            let before_files = tree.files();
            let done: Result<bool, StoreError> = match step.clone() {
                Step::Add(title, parent) => {
                    let parent = parent.and_then(|at| pick(&ids, at));
                    store.add(&[node(&format!("t{title}"), parent)]).map(|_| true)
                }
                Step::AddBefore(before) => {
                    let place = NewPlace::At(at(None, pick(&ids, before)));
                    store.add(&[NewNode { place, ..node("new", None) }]).map(|_| true)
                }
                Step::Move(node, parent) => match pick(&ids, node) {
                    Some(id) => {
                        let parent = parent.and_then(|at| pick(&ids, at));
                        store.move_nodes(&[id], &at(parent, None)).map(|done| !done.nodes.is_empty())
                    }
                    None => Ok(false),
                },
                Step::MoveBefore(node, before) => match (pick(&ids, node), pick(&ids, before)) {
                    (Some(id), Some(before)) => {
                        let done = store.move_nodes(&[id], &at(None, Some(before)));
                        if let Ok(done) = &done {
                            // Only its own file, unless outsiders left keys without a gap.
                            let made_here = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("created");
                            let all_made_here = before_files_made_here(&before_files, made_here);
                            prop_assert!(done.nodes.len() <= 1 || !all_made_here);
                            let row = store.index().node(before).unwrap().unwrap();
                            let parent = row.shown_under.as_ref().map(|id| id.as_str());
                            let siblings = crate::common::children(&store, parent);
                            let place = |wanted: &str| siblings.iter().position(|id| id == wanted);
                            if id != before {
                                prop_assert_eq!(place(id).map(|at| at + 1), place(before));
                            }
                        }
                        done.map(|done| !done.nodes.is_empty())
                    }
                    _ => Ok(false),
                },
                Step::Remove(node) => match pick(&ids, node) {
                    Some(id) => store.remove(&[id]).map(|_| true),
                    None => Ok(false),
                },
                Step::Edit(node, text) => match pick(&ids, node) {
                    Some(id) => store.edit(id, &text).map(|done| !done.nodes.is_empty()),
                    None => Ok(false),
                },
                Step::Undo => store.undo().map(|_| false),
                Step::Redo => store.redo().map(|_| false),
                Step::Reopen => {
                    drop(store);
                    store = tree.open();
                    Ok(false)
                }
                Step::Outside(node, parent) => {
                    let parent = parent.and_then(|at| pick(&ids, at)).unwrap_or_default();
                    let id = pick(&ids, node).unwrap_or("outside");
                    tree.write(&format!("nodes/{id}.md"), &format!("---\nparent: {parent}\n---\n"));
                    Ok(false)
                }
                Step::OutsideRemove(node) => {
                    if let Some(id) = pick(&ids, node) {
                        fs::remove_file(tree.path(&format!("nodes/{id}.md"))).unwrap();
                    }
                    Ok(false)
                }
            };
            let outside = matches!(step, Step::Outside(..) | Step::OutsideRemove(_));
            match done {
                Ok(true) => {
                    let after = tree.files();
                    store.undo().unwrap();
                    prop_assert_eq!(tree.files(), before_files, "{:?}", step);
                    store.redo().unwrap();
                    prop_assert_eq!(tree.files(), after);
                }
                Ok(false) => {}
                Err(_) if !outside => prop_assert_eq!(tree.files(), before_files, "{:?}", step),
                Err(_) => {}
            }
            store.files.refresh().unwrap();
            store.files.sweep(1_000).unwrap();
            // Every file is a node that can be reached.
            let files: BTreeSet<String> = tree
                .files()
                .into_iter()
                .filter_map(|(name, _)| Some(name.strip_prefix("nodes/")?.strip_suffix(".md")?.to_owned()))
                .collect();
            let reached = all(&store);
            prop_assert_eq!(reached.len(), files.len());
            prop_assert!(reached.iter().all(|id| files.contains(id)));
            // An index that is made of the files alone says the same.
            let (fresh, _) = crate::common::open(&tree.root(), &tree.dir.path().join("fresh"));
            prop_assert_eq!(outline(&store), outline(&fresh), "after {:?}", step);
            drop(fresh);
            fs::remove_dir_all(tree.dir.path().join("fresh")).unwrap();
        }
    }
}
