//! The files of a change while it is made. Later parts of a change see the earlier ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::error::StoreError;
use crate::file_edit::{FileEdit, FileName, Part};
use crate::name::NodeId;
use crate::node_file::{FILE_BYTES_MAX, NodeFile};
use crate::store::{Committed, Store};

/// A change under construction.
pub(super) struct Draft<'a> {
    pub(super) store: &'a mut Store,
    /// The changed files, by id: the name, the bytes before, and the new contents.
    files: BTreeMap<String, DraftFile>,
    /// The ids in the order in which they were first touched.
    order: Vec<String>,
    /// Ids that this change gives, in lower case.
    given: BTreeSet<String>,
    /// For each parent, the last order key that this change assigned at its end.
    pub(super) ends: HashMap<String, String>,
    today: String,
}

struct DraftFile {
    name: FileName,
    before: Option<Vec<u8>>,
    file: NodeFile,
}

impl<'a> Draft<'a> {
    pub(super) fn new(store: &'a mut Store) -> Self {
        let today = store.today();
        let (files, order) = (BTreeMap::new(), Vec::new());
        Self { store, files, order, given: BTreeSet::new(), ends: HashMap::new(), today }
    }

    pub(super) fn today(&self) -> String {
        self.today.clone()
    }

    /// Makes an id that no node has or had.
    pub(super) fn free_id(&mut self, title: &str) -> Result<NodeId, StoreError> {
        let Self { store, given, .. } = self;
        let id = NodeId::from_title(title, |candidate| -> Result<bool, StoreError> {
            let name = format!("{candidate}.md");
            Ok(given.contains(candidate)
                || store.files.index.has_id(candidate)?
                || store.files.folder.file_stamp(&FileName::new(Part::Nodes, &name))?.is_some()
                || store.files.folder.file_stamp(&FileName::new(Part::Trash, &name))?.is_some())
        })?;
        given.insert(id.to_string());
        Ok(id)
    }

    /// Adds the file of a new node.
    pub(super) fn create(&mut self, id: &NodeId, file: NodeFile) -> Result<(), StoreError> {
        let name = FileName::new(Part::Nodes, id.file_name());
        self.order.push(id.to_string());
        self.files.insert(id.to_string(), DraftFile { name, before: None, file });
        Ok(())
    }

    /// Returns true if this change makes the node.
    pub(super) fn creates(&self, id: &str) -> bool {
        self.files.get(id).is_some_and(|file| file.before.is_none())
    }

    /// Returns a node's file, to change it.
    pub(super) fn file(&mut self, id: &str) -> Result<&mut NodeFile, StoreError> {
        if !self.files.contains_key(id) {
            let (name, file, bytes) = self.store.files.read(id)?;
            self.order.push(id.to_owned());
            self.files.insert(id.to_owned(), DraftFile { name, before: Some(bytes), file });
        }
        match self.files.get_mut(id) {
            Some(draft) => Ok(&mut draft.file),
            None => Err(StoreError::NoNode { name: id.to_owned(), near: Vec::new() }),
        }
    }

    /// Makes the change.
    pub(super) fn commit(self, label: &str) -> Result<Committed, StoreError> {
        let Self { store, mut files, order, .. } = self;
        let mut edits = Vec::new();
        for id in order {
            let Some(DraftFile { name, before, file }) = files.remove(&id) else { continue };
            let after = file.print();
            if after.len() > FILE_BYTES_MAX {
                let message = format!("{name}: {} bytes, at most {FILE_BYTES_MAX}", after.len());
                return Err(StoreError::Value(message));
            }
            edits.push(FileEdit { file: name, before, after: Some(after) });
        }
        store.commit(label, edits)
    }
}
