//! Import of Markdown files, and export to one.

use std::fs;
use std::io::Write;
use std::path::Path;

use docui::{Anchor, Done, Fault, regular_file};
use pipemux_memotree_store::Committed;
use pipemux_memotree_store::transfer::Imported;

use crate::action::Node;
use crate::faults::fault;
use crate::model::MemoTree;
use crate::update::borrowed;
use crate::{undo, words};

/// Takes the headings of a file as nodes.
///
/// # Errors
/// The file can't be read, or a heading can't be a node.
pub fn import(
    tree: &mut MemoTree,
    path: &Path,
    shown: &str,
    parent: Option<&str>,
) -> Result<(Done, Vec<Committed>), Fault> {
    let text = regular_file::read_to_string(path)
        .map_err(|error| Fault::failed(format!("{shown}: {error}")))?;
    markdown(tree, &text, parent)
}

/// Takes the headings of a text as nodes.
///
/// # Errors
/// A heading can't be a node, or a file can't be written.
pub fn markdown(
    tree: &mut MemoTree,
    text: &str,
    parent: Option<&str>,
) -> Result<(Done, Vec<Committed>), Fault> {
    let Imported { added, updated, committed } =
        tree.store().import(text, parent).map_err(fault)?;
    if added.is_empty() && updated.is_empty() {
        let brief = match text.trim() {
            "" => "nothing to add: the text is empty",
            _ => "nothing changed: the nodes are so already",
        };
        return Ok((Done::new(brief).complete(), committed));
    }
    let mut parts = Vec::new();
    if !added.is_empty() {
        let number = words::count(added.len() as u64, "node");
        parts.push(format!("added {number}: {}", words::list(added)));
    }
    if !updated.is_empty() {
        parts.push(format!("changed {}", words::list(updated)));
    }
    let done = Done::new(parts.join("; ")).complete();
    let changes: Vec<i64> = committed.iter().filter_map(|one| one.change).collect();
    let done = match changes.as_slice() {
        [one] => done.link("undo", &undo::action(*one)),
        several => {
            done.also(&format!("to undo: {}", tree.call(&format!("undo(steps={})", several.len()))))
        }
    };
    Ok((done, committed))
}

/// Writes nodes as headings to a file.
///
/// # Errors
/// There is such a file and it isn't to be replaced, or it can't be written.
pub fn export(
    tree: &MemoTree,
    path: &Path,
    shown: &str,
    nodes: &[Anchor<Node>],
    overwrite: bool,
) -> Result<Done, Fault> {
    let ids: Vec<String> = nodes.iter().map(|node| node.key.clone()).collect();
    let text = tree.store().export(&borrowed(&ids)).map_err(fault)?;
    if text.is_empty() {
        return Err(Fault::refused("the tree has no nodes to export"));
    }
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Fault::refused(format!("{shown} exists already")).hint("overwrite=true replaces it")
        }
        _ => Fault::failed(format!("{shown}: {error}")),
    };
    // A file is replaced as a whole, never cut.
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let target = if overwrite { Path::new(&temporary) } else { path };
    let mut options = fs::OpenOptions::new();
    options.write(true);
    if overwrite {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let mut file = options.open(target).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    if overwrite {
        fs::rename(target, path).map_err(failed)?;
    }
    let lines = words::count(text.lines().count() as u64, "line");
    Ok(Done::new(format!("{shown}, {lines}")).complete())
}
