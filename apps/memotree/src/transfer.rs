//! Import of Markdown files, and export to one.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use docui::regular_file::OpenError;
use docui::{Anchor, Done, Fault, command, nearest, regular_file};
use pipemux_memotree_store::folder::system_words;
use pipemux_memotree_store::transfer;
use pipemux_memotree_store::transfer::Imported;
use pipemux_notes::text::count;
use pipemux_publish::{Durability, Place, PublishError};

use crate::action::Node;
use crate::model::MemoTree;
use crate::reply::{ChangeReply, undo_action};
use crate::{format, names};

/// Entries of a folder that are looked at to tell which files it has.
const LOOKED_AT: usize = 2_000;

/// Takes the headings of a file as nodes.
///
/// # Errors
/// The file can't be read, or a heading can't be a node.
pub fn import(
    tree: &mut MemoTree,
    path: &Path,
    shown: &str,
    parent: Option<&str>,
) -> Result<ChangeReply, Fault> {
    let text = regular_file::read_to_string(path).map_err(|error| {
        let OpenError::Io(error) = error else {
            return Fault::failed(format!("{shown}: {error}"));
        };
        let fault = Fault::failed(format!("{shown}: {}", system_words(&error)));
        match error.kind() {
            ErrorKind::NotFound => fault.hint(files_beside(tree, path, shown)),
            _ => fault,
        }
    })?;
    markdown(tree, &text, parent)
}

/// Says which Markdown files are where one was looked for.
fn files_beside(tree: &MemoTree, path: &Path, shown: &str) -> String {
    let folder = path.parent().unwrap_or(path);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(LOOKED_AT);
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".md") && !name.starts_with('.'))
        .collect();
    names.sort();
    let name = Path::new(shown).file_name().and_then(|name| name.to_str()).unwrap_or(shown);
    let near =
        nearest(name, names.iter().map(String::as_str)).or(names.first().map(String::as_str));
    match near {
        Some(near) => {
            let near = Path::new(shown).with_file_name(near).display().to_string();
            let call = tree.call(&format!("import({})", format::quoted(&near)));
            command::run(&call)
        }
        None if folder.is_dir() => "there is no Markdown file in that folder: ls".to_owned(),
        None => "paths are relative to the folder of the call: pwd".to_owned(),
    }
}

/// Takes the headings of a text as nodes.
///
/// # Errors
/// A heading can't be a node, or a file can't be written.
pub fn markdown(
    tree: &mut MemoTree,
    text: &str,
    parent: Option<&str>,
) -> Result<ChangeReply, Fault> {
    let Imported { added, updated, committed } =
        transfer::import(&mut tree.store(), text, parent).map_err(|error| tree.fault(error))?;
    if added.is_empty() && updated.is_empty() {
        let brief = match text.trim() {
            "" => "nothing to add: the text is empty",
            _ => "nothing changed: the nodes are so already",
        };
        return Ok(ChangeReply { done: Done::new(brief).complete(), committed });
    }
    let mut parts = Vec::new();
    if !added.is_empty() {
        let number = count(added.len() as u64, "node");
        parts.push(format!("added {number}: {}", format::list(added)));
    }
    if !updated.is_empty() {
        parts.push(format!("changed {}", format::list(updated)));
    }
    let done = Done::new(parts.join("; ")).complete();
    let changes: Vec<i64> = committed.iter().filter_map(|one| one.change).collect();
    let done = match changes.as_slice() {
        [one] => done.link("undo", &undo_action(*one)),
        several => {
            done.also(&format!("to undo: {}", tree.call(&format!("undo(steps={})", several.len()))))
        }
    };
    Ok(ChangeReply { done, committed })
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
    let ids = if nodes.is_empty() { Vec::new() } else { names::ids(tree, nodes)? };
    let text = transfer::export(&mut tree.store(), &names::borrowed(&ids))
        .map_err(|error| tree.fault(error))?;
    if text.is_empty() {
        return Err(Fault::refused("the tree has no nodes to export"));
    }
    let exists =
        || Fault::refused(format!("{shown} exists already")).hint("overwrite=true replaces it");
    let failed = |error: PublishError| match error {
        PublishError::Exists => exists(),
        PublishError::Io(error) if error.raw_os_error().is_none() => {
            Fault::refused(format!("{shown}: {error}"))
        }
        PublishError::Io(error) => {
            Fault::failed(format!("{shown}: {}; nothing was written", system_words(&error)))
                .hint("a path is relative to the folder of the call: export('tree.md')")
        }
        error => Fault::failed(format!("{shown}: {error}")),
    };
    // What a link leads to is replaced, not the link.
    let (target, place) = match path.canonicalize() {
        Ok(_) if !overwrite => return Err(exists()),
        Ok(target) => (target, Place::Existing),
        Err(_) => (path.to_owned(), Place::New(0o666)),
    };
    let write = |out: &mut BufWriter<&File>| out.write_all(text.as_bytes());
    let staged = pipemux_publish::stage(&target, place, Durability::Process, write);
    staged
        .map_err(PublishError::Io)
        .and_then(|staged| staged.publish(&|_| Ok(true)))
        .map_err(failed)?;
    let lines = count(text.lines().count() as u64, "line");
    Ok(Done::new(format!("{shown}, {lines}")).complete())
}
