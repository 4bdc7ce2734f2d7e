//! Files of the folder by their names, and changes of them.

/// The folders inside of `.memotree`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// `nodes`: a file for each node.
    Nodes,
    /// `trash`: files of removed nodes.
    Trash,
    /// `views`: a file for each view.
    Views,
    /// `queries`: a file for each saved search.
    Queries,
    /// `.memotree` itself, with `memotree.toml`.
    Root,
}

impl Part {
    /// Returns the folder's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Trash => "trash",
            Self::Views => "views",
            Self::Queries => "queries",
            Self::Root => "",
        }
    }

    /// Returns the folder's name as messages show it.
    pub(crate) fn shown(self) -> &'static str {
        if self == Self::Root { ".memotree" } else { self.name() }
    }

    /// Returns the folder with a name; the reverse of [`Part::name`].
    pub fn named(name: &str) -> Option<Self> {
        [Self::Nodes, Self::Trash, Self::Views, Self::Queries, Self::Root]
            .into_iter()
            .find(|part| part.name() == name)
    }
}

/// A file inside of `.memotree`: `nodes/plan.md`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileName {
    /// The folder that contains the file.
    pub part: Part,
    pub name: String,
}

impl FileName {
    /// Names a file.
    pub fn new(part: Part, name: impl Into<String>) -> Self {
        Self { part, name: name.into() }
    }
}

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.part {
            Part::Root => f.write_str(&self.name),
            part => write!(f, "{}/{}", part.name(), self.name),
        }
    }
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    pub file: FileName,
    /// The content before; `None` if there was no file.
    pub before: Option<Vec<u8>>,
    /// The content after; `None` if the file is removed.
    pub after: Option<Vec<u8>>,
}

impl FileEdit {
    /// Returns the change that takes this one back.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { file: self.file.clone(), before: self.after.clone(), after: self.before.clone() }
    }
}
