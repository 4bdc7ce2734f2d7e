//! The language-specific rules of name resolution, and the interface to the resolver that they
//! need.

use crate::rename::facts::Facts;
use crate::rename::meaning::{Entity, FileId, Meaning, Space};
use crate::rename::project::Project;

/// What the rules of a language ask about names.
pub(in crate::rename) trait Names<'p> {
    fn project(&self) -> &Project<'p>;

    /// The module around a byte.
    fn module_at(&self, file: FileId, at: usize) -> Entity;

    /// The type that `Self` is at a byte.
    fn self_type(&self, file: FileId, facts: &Facts, at: usize) -> Option<Entity>;

    /// What a name is within a module, or as a member of a type.
    fn descend(&self, entity: &Entity, name: &str, space: Space) -> Meaning;

    /// What a name means that the scopes around a byte declare or import by name.
    fn explicit(&self, file: FileId, at: usize, name: &str, space: Space) -> Meaning;

    /// What a name means at a byte outside of the scopes of variables.
    fn visible(&self, file: FileId, at: usize, name: &str, space: Space) -> Meaning;
}

/// What is peculiar to a language in which names can be resolved.
pub(in crate::rename) trait Rules {
    /// The modules that a path means at a byte of a file.
    fn module(&self, names: &dyn Names<'_>, at: (FileId, usize), path: &[String]) -> Meaning;

    /// What a package without a file of its own has under a name.
    fn submodule(&self, _: &dyn Names<'_>, _directory: &str, _name: &str) -> Meaning {
        Meaning::default()
    }

    /// The files that describe the same module as a file does: a stub beside it, or what it is a
    /// stub of.
    fn twins(&self, _: &Project<'_>, _: FileId) -> Vec<FileId> {
        Vec::new()
    }

    /// The module that an item is, if it is one.
    fn module_of_item(&self, _: &dyn Names<'_>, _item: &Entity) -> Option<Meaning> {
        None
    }

    /// True for a type of the language's own library of which it is known what members it has.
    fn is_known_base(&self, _name: &str) -> bool {
        false
    }

    /// True if none of the known bases has a member of this name.
    fn is_never_inherited(&self, _name: &str) -> bool {
        false
    }

    /// True if the language itself uses a name, so that another one would have another effect.
    fn is_reserved(&self, _name: &str) -> bool {
        false
    }
}
