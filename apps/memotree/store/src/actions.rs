//! What one can do with the nodes of a tree. Each action is one change: all of it or nothing, on
//! disk when it returns, and undone as one.
//!
//! | module | purpose |
//! |---|---|
//! | `draft` | the files of a change while it is made |
//! | `fields` | the bounds of a node's fields |
//! | `place` | where nodes go: parents, order keys |
//! | `replace` | replaces a text in many nodes |
//! | `trash` | removes nodes, and brings them back |

mod draft;
mod fields;
mod place;
mod replace;
mod trash;

use crate::error::StoreError;
use crate::name::NodeId;
use crate::node_file::NodeFile;
use crate::store::{Committed, Store};
use draft::Draft;
use fields::{optional_line, summary, tags};

pub(crate) use fields::one_line;
pub use fields::{GIST_CHARS_MAX, SUMMARY_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX, TITLE_CHARS_MAX};

/// Nodes that one action adds.
pub const ADDED_MAX: usize = 100_000;

/// The target position of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodePlace {
    /// The parent; `None` for the root.
    pub parent: Option<String>,
    /// The sibling before which the node goes; `None` for the end.
    pub before: Option<String>,
}

/// A node to be created.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewNode {
    pub title: String,
    /// The name from which the id is made; if empty, the title is used.
    pub name: String,
    pub text: String,
    /// One line that says what the node is about.
    pub gist: String,
    /// A summary of a few lines.
    pub summary: String,
    /// The node's tags, without `#`.
    pub tags: Vec<String>,
    pub place: NewPlace,
}

/// The position of a node to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewPlace {
    /// To nodes that there are.
    At(NodePlace),
    /// Below the node that the same action makes at this position, at the end.
    Below(usize),
}

impl Default for NewPlace {
    fn default() -> Self {
        Self::At(NodePlace::default())
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
                    NodePlace { parent: Some(parent.to_string()), before: None }
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

    /// Moves nodes to a place, in the order in which they are named. Each touches its own file
    /// only, unless siblings have no order keys of their own.
    ///
    /// # Errors
    /// There is no such node or place, or a node would stand below itself.
    pub fn move_nodes(&mut self, ids: &[&str], place: &NodePlace) -> Result<Committed, StoreError> {
        let mut draft = Draft::new(self);
        for id in ids {
            draft.move_node(id, place)?;
        }
        draft.commit(&named("move", ids))
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
        let target = self.files.node(target)?.id;
        crate::name::check_new(kind)?;
        if kind.chars().count() > TAG_CHARS_MAX {
            return Err(StoreError::Value(format!("kind: at most {TAG_CHARS_MAX} characters")));
        }
        let identity = format!("{source}\n{kind}\n{target}");
        let id = format!("r{:012x}", crate::stamp::hash(identity.as_bytes()) >> 16);
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
        let Some([source, ..]) = self.files.index.relation(id)? else {
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
}

fn named(verb: &str, ids: &[&str]) -> String {
    match ids {
        [one] => format!("{verb} {one}"),
        several => format!("{verb} {} nodes", several.len()),
    }
}
