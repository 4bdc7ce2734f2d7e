//! What one can do with the nodes of a tree. Each action is one change: all of it or nothing, on disk when it returns, and
//! undone as one.
//!
//! | module | purpose |
//! |---|---|
//! | `draft` | the files of a change while it is made |
//! | `place` | where nodes go: parents, order keys |

mod draft;
mod place;
mod replace;

use pipemux_proto::call::nearest;

use crate::error::StoreError;
use crate::folder::{FileName, Part};
use crate::name::{NodeId, is_visible};
use crate::node_file::NodeFile;
use crate::state::FileEdit;
use crate::store::{Committed, Store};
use draft::Draft;

/// Characters of a title.
pub const TITLE_CHARS_MAX: usize = 200;

/// Characters of a gist.
pub const GIST_CHARS_MAX: usize = 300;

/// Characters of a summary.
pub const SUMMARY_CHARS_MAX: usize = 4_000;

/// Characters of a tag or of the kind of a relation.
pub const TAG_CHARS_MAX: usize = 64;

/// Tags or relations of one node.
pub const TAGS_MAX: usize = 64;

/// Nodes that one action adds.
pub const ADDED_MAX: usize = 100_000;

/// Where a node goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The parent; none is the root.
    pub parent: Option<String>,
    /// The sibling before which it goes; none is the end.
    pub before: Option<String>,
}

/// A node that is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewNode {
    /// The title.
    pub title: String,
    /// What its id is made of; of the title if this is empty.
    pub name: String,
    /// The content.
    pub text: String,
    /// One line that says what it is about.
    pub gist: String,
    /// A few lines.
    pub summary: String,
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// Where it goes.
    pub place: NewPlace,
}

/// Where a node that is to be made goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewPlace {
    /// To nodes that there are.
    At(Place),
    /// Below the node that the same action makes at this position, at the end.
    Below(usize),
}

impl Default for NewPlace {
    fn default() -> Self {
        Self::At(Place::default())
    }
}

impl Store {
    /// Adds nodes, each of which may stand below an earlier one. Returns their ids in order.
    ///
    /// # Errors
    /// A title, text or place isn't allowed, or a file can't be written.
    pub fn add(&mut self, nodes: &[NewNode]) -> Result<(Vec<NodeId>, Committed), StoreError> {
        if nodes.len() > ADDED_MAX {
            let message = format!("{} nodes at once, at most {ADDED_MAX}", nodes.len());
            return Err(StoreError::Value(message));
        }
        let mut draft = Draft::new(self);
        let mut ids: Vec<NodeId> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let place = match &node.place {
                NewPlace::At(place) => place.clone(),
                NewPlace::Below(at) => {
                    let parent = ids.get(*at).ok_or_else(|| {
                        StoreError::Value(format!("row {} stands after the one below it", at + 1))
                    })?;
                    Place { parent: Some(parent.to_string()), before: None }
                }
            };
            let named = if node.name.is_empty() { &node.title } else { &node.name };
            let id = draft.free_id(named)?;
            let (parent, order) = draft.place(&id, &place)?;
            let today = draft.today();
            let mut file = NodeFile::default();
            file.set("title", &one_line("title", &node.title, TITLE_CHARS_MAX)?);
            file.set("parent", &parent);
            file.set("order", &order);
            file.set("gist", &optional_line("gist", &node.gist, GIST_CHARS_MAX)?);
            file.set("summary", &summary(&node.summary)?);
            file.set_list("tags", &tags(&node.tags)?);
            file.set("created", &today);
            file.set("modified", &today);
            file.set_content(&node.text);
            draft.create(&id, file)?;
            ids.push(id);
        }
        let label = match nodes {
            [one] => format!("add {}", one.title),
            several => format!("add {} nodes", several.len()),
        };
        let done = draft.commit(&label)?;
        Ok((ids, done))
    }

    /// Replaces the content of a node.
    ///
    /// # Errors
    /// There is no such node, or its file can't be written.
    pub fn edit(&mut self, id: &str, text: &str) -> Result<Committed, StoreError> {
        self.change(id, "edit", |file| {
            file.set_content(text);
            Ok(())
        })
    }

    /// Appends lines to the content of a node.
    ///
    /// # Errors
    /// There is no such node, or its file can't be written.
    pub fn append(&mut self, id: &str, text: &str) -> Result<Committed, StoreError> {
        self.change(id, "append to", |file| {
            file.append_content(text);
            Ok(())
        })
    }

    /// Gives a node another title. Its id stays.
    ///
    /// # Errors
    /// There is no such node, the title isn't allowed, or the file can't be written.
    pub fn retitle(&mut self, id: &str, title: &str) -> Result<Committed, StoreError> {
        let title = one_line("title", title, TITLE_CHARS_MAX)?;
        self.change(id, "retitle", |file| {
            file.set("title", &title);
            Ok(())
        })
    }

    /// Sets what is said of a node in short; none leaves it as it is.
    ///
    /// # Errors
    /// There is no such node, a text is too long, or the file can't be written.
    pub fn describe(
        &mut self,
        id: &str,
        gist: Option<&str>,
        summary_text: Option<&str>,
    ) -> Result<Committed, StoreError> {
        let gist = gist.map(|gist| optional_line("gist", gist, GIST_CHARS_MAX)).transpose()?;
        let summary_text = summary_text.map(summary).transpose()?;
        self.change(id, "describe", |file| {
            gist.iter().for_each(|gist| file.set("gist", gist));
            summary_text.iter().for_each(|summary| file.set("summary", summary));
            Ok(())
        })
    }

    /// Adds tags to nodes, and removes others.
    ///
    /// # Errors
    /// There is no such node, a tag isn't allowed, or a file can't be written.
    pub fn tag(
        &mut self,
        ids: &[&str],
        add: &[String],
        remove: &[String],
    ) -> Result<Committed, StoreError> {
        let add = tags(add)?;
        self.change_all(ids, "tag", |file| {
            let mut all = file.list("tags");
            all.retain(|tag| !remove.contains(tag));
            all.extend(add.iter().cloned());
            file.set_list("tags", &tags(&all)?);
            Ok(())
        })
    }

    /// Moves nodes to a place, in the order in which they are named. Each touches its own file only, unless siblings have no
    /// order keys of their own.
    ///
    /// # Errors
    /// There is no such node or place, or a node would stand below itself.
    pub fn move_nodes(&mut self, ids: &[&str], place: &Place) -> Result<Committed, StoreError> {
        let mut draft = Draft::new(self);
        for id in ids {
            draft.move_node(id, place)?;
        }
        draft.commit(&named("move", ids))
    }

    /// Moves nodes, with all that is below them, to the trash, which is kept: no id is used again.
    ///
    /// # Errors
    /// There is no such node, or a file can't be written.
    pub fn remove(&mut self, ids: &[&str]) -> Result<(Vec<NodeId>, Committed), StoreError> {
        let gone = self.below(ids)?;
        let mut edits = Vec::new();
        for id in &gone {
            let file = self.node_file_name(id.as_str())?;
            let bytes = self.current_bytes(id.as_str(), &file)?;
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
        let Some((bytes, _)) = self.folder.read(&trash)? else {
            let trashed = self.trash()?;
            let near = nearest(id, trashed.iter().map(NodeId::as_str));
            let near = near.map(str::to_owned).into_iter().collect();
            let what = "node in the trash";
            return Err(StoreError::NoSuch { what, name: id.to_owned(), near });
        };
        if self.folder.file_stamp(&file)?.is_some() {
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
        matches!(self.folder.file_stamp(&file), Ok(Some(_)))
    }

    /// Returns the ids in the trash, in order.
    ///
    /// # Errors
    /// The trash isn't readable.
    pub fn trash(&self) -> Result<Vec<NodeId>, StoreError> {
        let mut ids = Vec::new();
        self.folder
            .list(Part::Trash, |name, _| ids.extend(NodeId::of_file(&name).and_then(Result::ok)))?;
        ids.sort();
        Ok(ids)
    }

    /// Relates a node to another one; returns the relation's id, by which tokens name it.
    ///
    /// # Errors
    /// There is no such node, the kind isn't allowed, or the file can't be written.
    pub fn relate(
        &mut self,
        source: &str,
        target: &str,
        kind: &str,
    ) -> Result<(String, Committed), StoreError> {
        let target = self.node(target)?.id;
        crate::name::check_new(kind)?;
        if kind.chars().count() > TAG_CHARS_MAX {
            return Err(StoreError::Value(format!("kind: at most {TAG_CHARS_MAX} characters")));
        }
        let identity = format!("{source}\n{kind}\n{target}");
        let id = format!("r{:012x}", crate::store::hash(identity.as_bytes()) >> 16);
        let relation = format!("{id} {kind} {target}");
        let done = self.change(source, "relate", |file| {
            let mut all = file.list("relations");
            if !all.iter().any(|other| other.split_whitespace().next() == Some(&id)) {
                all.push(relation.clone());
            }
            if all.len() > TAGS_MAX {
                return Err(StoreError::Value(format!("a node has at most {TAGS_MAX} relations")));
            }
            all.sort();
            file.set_list("relations", &all);
            Ok(())
        })?;
        Ok((id, done))
    }

    /// Removes a relation.
    ///
    /// # Errors
    /// There is none of this id, or the file can't be written.
    pub fn unrelate(&mut self, id: &str) -> Result<Committed, StoreError> {
        let Some([source, ..]) = self.index.relation(id)? else {
            let near = Vec::new();
            return Err(StoreError::NoSuch { what: "relation", name: id.to_owned(), near });
        };
        self.change(&source, "unrelate", |file| {
            let mut all = file.list("relations");
            all.retain(|other| other.split_whitespace().next() != Some(id));
            file.set_list("relations", &all);
            Ok(())
        })
    }

    fn change(
        &mut self,
        id: &str,
        verb: &str,
        set: impl FnMut(&mut NodeFile) -> Result<(), StoreError>,
    ) -> Result<Committed, StoreError> {
        self.change_all(&[id], verb, set)
    }

    fn change_all(
        &mut self,
        ids: &[&str],
        verb: &str,
        mut set: impl FnMut(&mut NodeFile) -> Result<(), StoreError>,
    ) -> Result<Committed, StoreError> {
        let mut draft = Draft::new(self);
        let today = draft.today();
        for id in ids {
            let file = draft.file(id)?;
            let before = file.clone();
            set(file)?;
            if *file != before {
                file.set("modified", &today);
            }
        }
        draft.commit(&named(verb, ids))
    }

    /// Returns nodes and all below them, each once, parents first.
    fn below(&self, ids: &[&str]) -> Result<Vec<NodeId>, StoreError> {
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

    pub(crate) fn node_file_name(&self, id: &str) -> Result<FileName, StoreError> {
        let row = self.node(id)?;
        let name = self.index.file_of(id)?.map_or_else(|| row.id.file_name(), |(name, _)| name);
        Ok(FileName::new(Part::Nodes, name))
    }

    /// Reads a file as bytes, provided that it is what the index knows.
    fn current_bytes(&mut self, id: &str, file: &FileName) -> Result<Vec<u8>, StoreError> {
        let known = self.node(id)?.hash;
        match self.folder.read(file)? {
            Some((bytes, _)) if crate::store::hash(&bytes) == known => Ok(bytes),
            _ => {
                self.verify([id])?;
                Err(StoreError::Changed(vec![file.clone()]))
            }
        }
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
            if self.folder.file_stamp(&file)?.is_none() {
                return Ok(file);
            }
            number += 1;
        }
    }
}

fn named(verb: &str, ids: &[&str]) -> String {
    match ids {
        [one] => format!("{verb} {one}"),
        several => format!("{verb} {} nodes", several.len()),
    }
}

/// Checks a text that is one line.
pub(crate) fn one_line(what: &str, text: &str, max: usize) -> Result<String, StoreError> {
    let line = optional_line(what, text, max)?;
    match (line.is_empty(), is_visible(&line)) {
        (true, _) => Err(StoreError::Value(format!("{what}: expected a text, not an empty one"))),
        (false, false) => {
            let message = "expected a text, not one of characters that can't be seen";
            Err(StoreError::Value(format!("{what}: {message}")))
        }
        _ => Ok(line),
    }
}

fn optional_line(what: &str, text: &str, max: usize) -> Result<String, StoreError> {
    let text = text.trim();
    let count = text.chars().count();
    if count > max {
        return Err(StoreError::Value(format!("{what}: {count} characters, at most {max}")));
    }
    match text.chars().find(|c| c.is_control() || pipemux_proto::text::is_deceptive_in_prose(*c)) {
        Some('\n') => Err(StoreError::Value(format!("{what}: expected one line"))),
        Some(c) => {
            let shown = pipemux_proto::text::code_point(c);
            Err(StoreError::Value(format!("{what}: the character {shown} isn't allowed")))
        }
        None => Ok(text.to_owned()),
    }
}

fn summary(text: &str) -> Result<String, StoreError> {
    let text = text.trim();
    match text.chars().count() {
        count if count > SUMMARY_CHARS_MAX => {
            let message = format!("summary: {count} characters, at most {SUMMARY_CHARS_MAX}");
            Err(StoreError::Value(message))
        }
        _ => Ok(text.to_owned()),
    }
}

fn tags(tags: &[String]) -> Result<Vec<String>, StoreError> {
    let checked =
        tags.iter().map(|tag| one_line("tag", tag.trim_start_matches('#'), TAG_CHARS_MAX));
    let mut checked = checked.collect::<Result<Vec<String>, _>>()?;
    checked.sort();
    checked.dedup();
    match checked.len() {
        count if count > TAGS_MAX => {
            Err(StoreError::Value(format!("a node has at most {TAGS_MAX} tags, not {count}")))
        }
        _ => Ok(checked),
    }
}
