//! Removed nodes: their files are kept in the trash, so that no id is used again.

use pipemux_proto::call::nearest;

use super::named;
use crate::error::StoreError;
use crate::file_edit::{FileEdit, FileName, Part};
use crate::name::NodeId;
use crate::store::{Committed, Store};

impl Store {
    /// Moves nodes, with all that is below them, to the trash, which is kept: no id is used again.
    ///
    /// # Errors
    /// There is no such node, or a file can't be written.
    pub fn remove(&mut self, ids: &[&str]) -> Result<(Vec<NodeId>, Committed), StoreError> {
        let gone = self.files.below(ids)?;
        let mut edits = Vec::new();
        for id in &gone {
            let (file, bytes) = self.files.current_bytes(id.as_str())?;
            let trash = self.free_trash_name(id)?;
            edits.push(FileEdit { file: trash, before: None, after: Some(bytes.clone()) });
            edits.push(FileEdit { file, before: Some(bytes), after: None });
        }
        let done = self.commit(&named("remove", ids), edits)?;
        Ok((gone, done))
    }

    /// Brings a node back from the trash. Where its parent is gone it stands at the root.
    ///
    /// # Errors
    /// There is none of this id in the trash, or there is such a node again.
    pub fn restore(&mut self, id: &str) -> Result<Committed, StoreError> {
        let name = NodeId::parse(id)?.file_name();
        let (trash, file) = (FileName::new(Part::Trash, &name), FileName::new(Part::Nodes, &name));
        let Some((bytes, _)) = self.files.folder.read(&trash)? else {
            let trashed = self.trash()?;
            let near = nearest(id, trashed.iter().map(NodeId::as_str));
            let near = near.map(str::to_owned).into_iter().collect();
            let what = "node in the trash";
            return Err(StoreError::NoSuch { what, name: id.to_owned(), near });
        };
        if self.files.folder.file_stamp(&file)?.is_some() {
            return Err(StoreError::Exists { what: "node", name: id.to_owned() });
        }
        let edits = vec![
            FileEdit { file, before: None, after: Some(bytes.clone()) },
            FileEdit { file: trash, before: Some(bytes), after: None },
        ];
        self.commit(&format!("restore {id}"), edits)
    }

    /// Returns true if a node was removed and lies in the trash.
    pub fn is_in_trash(&self, id: &NodeId) -> bool {
        let file = FileName::new(Part::Trash, id.file_name());
        matches!(self.files.folder.file_stamp(&file), Ok(Some(_)))
    }

    /// Returns the ids in the trash, in order.
    ///
    /// # Errors
    /// The trash isn't readable.
    pub fn trash(&self) -> Result<Vec<NodeId>, StoreError> {
        let mut ids = Vec::new();
        self.files
            .folder
            .list(Part::Trash, |name, _| ids.extend(NodeId::of_file(&name).and_then(Result::ok)))?;
        ids.sort();
        Ok(ids)
    }

    fn free_trash_name(&self, id: &NodeId) -> Result<FileName, StoreError> {
        let mut number = 1_u32;
        loop {
            let name = match number {
                1 => id.file_name(),
                // Not the name of a node: the file is kept, and nothing else claims it.
                number => format!("{id}.{number}.md"),
            };
            let file = FileName::new(Part::Trash, name);
            if self.files.folder.file_stamp(&file)?.is_none() {
                return Ok(file);
            }
            number += 1;
        }
    }
}
