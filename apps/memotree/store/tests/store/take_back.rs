//! One change is taken back, and nothing of what came after it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use pipemux_memotree_store::{Store, StoreError};
use proptest::prelude::*;

use crate::common::{Tree, at, node};

type Files = BTreeMap<String, Vec<u8>>;

#[derive(Debug, Clone)]
enum Step {
    Add(usize, usize),
    Line(usize, usize, String),
    Tag(usize, usize),
    Title(usize, usize),
    Move(usize, usize),
    Remove(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let any = || 0..6_usize;
    prop_oneof![
        2 => (any(), any()).prop_map(|(title, parent)| Step::Add(title, parent)),
        6 => (any(), 0..9_usize, "[a-z界]{1,4}").prop_map(|(node, at, text)| Step::Line(node, at, text)),
        2 => (any(), any()).prop_map(|(node, tag)| Step::Tag(node, tag)),
        1 => (any(), any()).prop_map(|(node, title)| Step::Title(node, title)),
        2 => (any(), any()).prop_map(|(node, parent)| Step::Move(node, parent)),
        1 => any().prop_map(Step::Remove),
    ]
}

fn carry_out(store: &mut Store, step: &Step) -> Result<Option<i64>, StoreError> {
    let id = |number: &usize| format!("t{number}");
    let done = match step {
        Step::Add(title, parent) => {
            let parent = id(parent);
            store.add(&[node(&id(title), store.files.node(&parent).is_ok().then_some(&*parent))])?.1
        }
        Step::Line(node, line, text) => {
            let (_, before) = store.files.text(&id(node))?;
            let mut lines: Vec<&str> = before.lines().collect();
            let at = (*line).min(lines.len());
            lines.splice(at..(at + line % 2).min(lines.len()), [text.as_str()]);
            store.edit(&id(node), &(lines.join("\n") + "\n"))?
        }
        Step::Tag(node, tag) => {
            let tags = [format!("tag{tag}")];
            match tag % 2 {
                0 => store.tag(&[&id(node)], &tags, &[])?,
                _ => store.tag(&[&id(node)], &[], &[format!("tag{}", tag - 1)])?,
            }
        }
        Step::Title(node, title) => store.retitle(&id(node), &format!("Title {title}"))?,
        Step::Move(node, parent) => store.move_nodes(&[&id(node)], &at(Some(&id(parent)), None))?,
        Step::Remove(node) => store.remove(&[&id(node)])?.1,
    };
    Ok(done.change)
}

fn files(tree: &Tree) -> Files {
    tree.files().into_iter().collect()
}

/// What `git merge-file` makes of a text; none where it finds a conflict.
fn git_merge(dir: &Path, now: &str, after: &str, before: &str) -> Option<String> {
    let path = |name: &str, text: &str| {
        let path = dir.join(name);
        fs::write(&path, text).expect("a file");
        path
    };
    let output = Command::new("git")
        .args(["merge-file", "-p"])
        .args([path("now", now), path("after", after), path("before", before)])
        .output()
        .expect("git is there");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("text"))
}

fn body(file: &[u8]) -> String {
    let text = String::from_utf8(file.to_vec()).expect("text");
    text.split_once("\n---\n").expect("a front matter").1.to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn change_is_taken_back_as_git_would_merge_it_and_made_again(
        steps in proptest::collection::vec(step(), 4..30),
        undos in proptest::collection::vec(any::<prop::sample::Index>(), 6),
    ) {
        let tree = Tree::new();
        let mut store = tree.open();
        let mut changes: Vec<(i64, Files, Files)> = Vec::new();
        for step in &steps {
            let before = files(&tree);
            if let Ok(Some(change)) = carry_out(&mut store, step) {
                changes.push((change, before, files(&tree)));
            }
        }
        for undo in undos {
            if changes.is_empty() {
                break;
            }
            let (change, before, after) = changes.remove(undo.index(changes.len()));
            let now = files(&tree);
            let done = store.take_back(change);
            let then = files(&tree);
            let Ok(done) = done else {
                prop_assert!(matches!(done, Err(StoreError::Later(_))), "{:?}", done);
                prop_assert_eq!(&then, &now);
                continue;
            };
            for name in now.keys().chain(before.keys()) {
                let [was, made, had, has] = [&before, &after, &now, &then].map(|files| files.get(name));
                if was == made {
                    prop_assert_eq!(had, has, "{} isn't of the change", name);
                } else if had == made {
                    prop_assert_eq!(was, has, "{} as before", name);
                } else if let (Some(was), Some(made), Some(had), Some(has)) = (was, made, had, has) {
                    let merged = git_merge(tree.dir.path(), &body(had), &body(made), &body(was));
                    prop_assert_eq!(merged, Some(body(has)), "{}", name);
                }
            }
            // Each node is where it says, and none has lost its parent.
            store.files.refresh().unwrap();
            prop_assert!(store.index().problems(9).unwrap().is_empty());
            let Some(undo) = done.change else { continue };
            let again = store.take_back(undo).unwrap();
            let bodies = |files: Files| files.into_iter().map(|(name, file)| (name, body(&file))).collect::<Vec<_>>();
            prop_assert_eq!(bodies(files(&tree)), bodies(now), "made again");
            prop_assert_eq!(again.change, Some(change));
            store.take_back(change).unwrap();
            prop_assert_eq!(bodies(files(&tree)), bodies(then), "and taken back again");
        }
    }
}

#[test]
fn later_change_of_another_day_stays() {
    let tree = Tree::new();
    let mut store = tree.open().with_date(|| "2026-01-01".into());
    store.add(&[node("a", None)]).unwrap();
    let first = store.describe("a", Some("short"), None).unwrap().change.unwrap();
    let mut store = store.with_date(|| "2026-01-02".into());
    store.tag(&["a"], &["b".into()], &[]).unwrap();
    store.take_back(first).unwrap();
    let file = tree.read("nodes/a.md");
    assert!(
        !file.contains("gist") && file.contains("- b\n") && file.contains("2026-01-02"),
        "{file}"
    );
}
