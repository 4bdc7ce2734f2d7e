//! The files of the nodes, and the index that follows them.
//!
//! | module | purpose |
//! |---|---|
//! | `sync`, `changes` | notices what other programs changed |
//! | `indexed` | reads files for the index |
//!
//! **Invariant: the index is what the files were when they were looked at last.** Whoever writes a
//! file, or finds that another program did, has the index follow before it returns.

mod changes;
mod indexed;
mod sync;

use std::collections::BTreeSet;
use std::path::Path;

use pipemux_proto::call::nearest;

use crate::error::StoreError;
use crate::file_edit::{FileEdit, FileName, Part};
use crate::folder::{Folder, FolderError, now_ns};
use crate::index::{self, Index, NodeRow};
use crate::name::NodeId;
use crate::node_file::NodeFile;
use crate::stamp::{Stamp, hash};
pub use changes::OutsideChanges;
use indexed::conflict;
pub(crate) use indexed::parse;

/// Maximum number of ids that are compared with a nonexistent one.
const NEAR_COMPARED: usize = 200;

/// The folder of a tree, and its index.
#[derive(Debug)]
pub struct NodeFiles {
    pub(crate) folder: Folder,
    pub(crate) index: Index,
    /// The folder's stamp after this session's last change, until the stamp is reliable.
    unsettled: Option<Stamp>,
    /// The position up to which node files were compared with the index.
    swept: Option<String>,
    /// What other programs changed, until somebody takes it.
    noticed: OutsideChanges,
    /// Files whose names aren't allowed, as far as they were told.
    misnamed: BTreeSet<String>,
}

impl NodeFiles {
    /// Opens a folder, which need not exist yet, and its index. Nothing is compared yet.
    pub(crate) fn open(path: &Path, index: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            folder: Folder::open(path)?,
            index: Index::open(index)?,
            unsettled: None,
            swept: None,
            noticed: OutsideChanges::default(),
            misnamed: BTreeSet::new(),
        })
    }

    /// Returns what other programs changed, as far as this was noticed since it was last asked for,
    /// by whatever looked at the files.
    pub fn take_noticed(&mut self) -> OutsideChanges {
        std::mem::take(&mut self.noticed)
    }

    /// Returns a node.
    ///
    /// # Errors
    /// There is none of this id; the error has the nearest ones.
    pub fn node(&self, id: &str) -> Result<NodeRow, StoreError> {
        match self.index.node(id)? {
            Some(row) => Ok(row),
            None => {
                let near = self.index.ids_near(id, NEAR_COMPARED)?;
                let near = nearest(id, near.iter().map(String::as_str)).map(str::to_owned);
                Err(StoreError::NoNode { name: id.to_owned(), near: near.into_iter().collect() })
            }
        }
    }

    /// Reads a node's file. Returns also its bytes.
    ///
    /// # Errors
    /// There is none, it isn't what the index knows (the index then follows), or it isn't readable
    /// as a node.
    pub fn read(&mut self, id: &str) -> Result<(FileName, NodeFile, Vec<u8>), StoreError> {
        let (file, bytes) = self.current_bytes(id)?;
        let broken = |problem: String| StoreError::Broken { file: file.clone(), problem };
        if let Some(problem) = conflict(&bytes) {
            return Err(broken(problem));
        }
        match NodeFile::parse(&bytes) {
            Ok(parsed) => Ok((file, parsed, bytes)),
            Err(error) => Err(broken(error.to_string())),
        }
    }

    /// Returns the summary and the content of a node, as it is to be shown: also of a file with
    /// conflict markers.
    ///
    /// # Errors
    /// There is no such node, or its file isn't readable.
    pub fn text(&mut self, id: &str) -> Result<(String, String), StoreError> {
        self.verify([id])?;
        let file = self.file_of(&self.node(id)?)?;
        let bytes = self.folder.read(&file)?.map(|(bytes, _)| bytes);
        let bytes = bytes.unwrap_or_default();
        match NodeFile::parse(&bytes) {
            Ok(file) if conflict(&bytes).is_none() => {
                Ok((file.get("summary").unwrap_or_default(), file.content()))
            }
            // As it is: whoever mends it must see it.
            _ => Ok((String::new(), String::from_utf8_lossy(&bytes).into_owned())),
        }
    }

    fn file_of(&self, row: &NodeRow) -> Result<FileName, StoreError> {
        let name = self.index.file_of(row.id.as_str())?;
        let name = name.map_or_else(|| row.id.file_name(), |(name, _)| name);
        Ok(FileName::new(Part::Nodes, name))
    }

    /// Reads a node's file as bytes, provided that it is what the index knows.
    pub(crate) fn current_bytes(&mut self, id: &str) -> Result<(FileName, Vec<u8>), StoreError> {
        let row = self.node(id)?;
        let file = self.file_of(&row)?;
        match self.folder.read(&file)? {
            Some((bytes, _)) if hash(&bytes) == row.hash => Ok((file, bytes)),
            _ => {
                self.verify([id])?;
                Err(StoreError::Changed(vec![file]))
            }
        }
    }

    /// Returns nodes and all below them, each once, parents first.
    pub(crate) fn below(&self, ids: &[&str]) -> Result<Vec<NodeId>, StoreError> {
        let mut found: Vec<NodeId> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut stack: Vec<NodeId> = Vec::new();
        for id in ids.iter().rev() {
            stack.push(self.node(id)?.id);
        }
        while let Some(id) = stack.pop() {
            if !seen.insert(id.clone()) {
                continue;
            }
            let children = self.index.children(Some(id.as_str()), 0, usize::MAX >> 1)?;
            stack.extend(children.into_iter().rev().map(|row| row.id));
            found.push(id);
        }
        Ok(found)
    }

    /// Writes files, all or none, and has the index follow. Returns the nodes whose files changed.
    pub(crate) fn apply(&mut self, edits: &[FileEdit]) -> Result<Vec<NodeId>, StoreError> {
        let was_known = self.is_folder_known()?;
        let mut stamps: Vec<Option<Stamp>> = Vec::new();
        let mut replaced: Vec<&FileEdit> = Vec::new();
        for edit in edits {
            let FileEdit { file, before, after } = edit;
            match self.folder.replace(file, before.as_deref(), after.as_deref()) {
                Ok(stamp) => {
                    stamps.push(stamp);
                    replaced.push(edit);
                }
                // Another program did the same, such as removing what an undo would remove.
                Err(FolderError::Changed(_)) if self.is_as_wanted(edit) => stamps.push(None),
                Err(error) => {
                    for done in replaced.into_iter().rev().map(FileEdit::reversed) {
                        let FileEdit { file, before, after } = done;
                        // What another program wrote just now stays.
                        let _ = self.folder.replace(&file, before.as_deref(), after.as_deref());
                    }
                    self.forget_folder()?;
                    if let FolderError::Changed(file) = &error {
                        let id = NodeId::of_file(&file.name).and_then(Result::ok);
                        self.verify(id.as_ref().map(NodeId::as_str))?;
                    }
                    return Err(error.into());
                }
            }
        }
        let mut nodes = Vec::new();
        let mut changed = Vec::new();
        for (edit, stamp) in edits.iter().zip(stamps) {
            let FileEdit { file: FileName { part: Part::Nodes, name }, after, .. } = edit else {
                continue;
            };
            let Some(Ok(id)) = NodeId::of_file(name) else { continue };
            let indexed = after.as_deref().map(|bytes| {
                let mut file = parse(&id, name, bytes);
                file.stamp = stamp.and_then(|stamp| stamp.if_settled(now_ns()));
                file
            });
            nodes.push(id.clone());
            changed.push((id, indexed));
        }
        self.index.change::<_, StoreError>(|transaction| {
            for (id, indexed) in &changed {
                index::set(transaction, id, indexed.as_ref())?;
            }
            Ok(())
        })?;
        self.forget_folder()?;
        if was_known {
            self.unsettled = self.folder.stamp(Part::Nodes)?;
        }
        nodes.sort();
        nodes.dedup();
        Ok(nodes)
    }

    /// Returns true if a file is as it shall be already.
    fn is_as_wanted(&self, edit: &FileEdit) -> bool {
        let found = self.folder.read(&edit.file).map(|found| found.map(|(bytes, _)| bytes));
        found.is_ok_and(|found| found == edit.after)
    }

    /// Returns true if no file came or went since the index was last the same as the folder.
    fn is_folder_known(&mut self) -> Result<bool, StoreError> {
        let stamp = self.folder.stamp(Part::Nodes)?;
        let known = self.index.folder_stamp()?;
        let bytes = stamp.map(Stamp::to_bytes);
        let same = bytes.as_ref().map(|bytes| &bytes[..]) == known.as_deref();
        Ok(stamp.is_none() || same || stamp == self.unsettled)
    }

    /// Notes that the index may not be the same as the folder.
    pub(crate) fn forget_folder(&mut self) -> Result<(), StoreError> {
        self.unsettled = None;
        Ok(self.index.set_folder_stamp(None)?)
    }
}
