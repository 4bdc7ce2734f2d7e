//! A tree in a temporary directory.

use std::fs;
use std::path::{Path, PathBuf};

use pipemux_memotree_store::actions::{NewNode, NewPlace, NodePlace};
use pipemux_memotree_store::index::NodeRow;
use pipemux_memotree_store::{NodeId, Opened, Store};
use tempfile::TempDir;

pub struct Tree {
    pub dir: TempDir,
}

pub fn today() -> String {
    "2031-02-03".to_owned()
}

impl Tree {
    pub fn new() -> Self {
        let tree = Self { dir: tempfile::tempdir().expect("a directory") };
        fs::create_dir(tree.root()).expect("a new directory");
        tree
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join(".memotree")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn open(&self) -> Store {
        self.open_with_report().0
    }

    pub fn open_with_report(&self) -> (Store, Opened) {
        open(&self.root(), &self.dir.path().join("state"))
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    /// All files with their contents.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        files(&self.root())
    }
}

pub fn open(root: &Path, state: &Path) -> (Store, Opened) {
    let (store, opened) = Store::open(root, state).expect("a store");
    (store.with_date(today), opened)
}

pub fn files(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in ["nodes", "trash", "views", "queries"] {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        for entry in entries.flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            files.push((name, fs::read(entry.path()).expect("a file")));
        }
    }
    files.sort();
    files
}

pub fn at(parent: Option<&str>, before: Option<&str>) -> NodePlace {
    NodePlace { parent: parent.map(str::to_owned), before: before.map(str::to_owned) }
}

pub fn node(title: &str, parent: Option<&str>) -> NewNode {
    let place = NewPlace::At(at(parent, None));
    NewNode { title: title.to_owned(), place, ..NewNode::default() }
}

pub fn add(store: &mut Store, title: &str, parent: Option<&str>) -> NodeId {
    store.add(&[node(title, parent)]).expect("a new node").0.remove(0)
}

pub fn children(store: &Store, of: Option<&str>) -> Vec<String> {
    let rows = store.index().children(of, 0, 1_000_000).expect("children");
    rows.into_iter().map(|row| row.id.to_string()).collect()
}

/// The whole tree, one node a line, indented.
pub fn outline(store: &Store) -> String {
    let mut out = String::new();
    let mut stack: Vec<(NodeRow, usize)> = Vec::new();
    let push = |stack: &mut Vec<(NodeRow, usize)>, of: Option<&str>, depth: usize| {
        let rows = store.index().children(of, 0, 1_000_000).expect("children");
        stack.extend(rows.into_iter().rev().map(|row| (row, depth)));
    };
    push(&mut stack, None, 0);
    while let Some((row, depth)) = stack.pop() {
        out += &format!("{}{}", "  ".repeat(depth), row.id);
        if let Some(problem) = &row.problem {
            out += &format!(" ({problem})");
        }
        out.push('\n');
        push(&mut stack, Some(row.id.as_str()), depth + 1);
    }
    out
}
