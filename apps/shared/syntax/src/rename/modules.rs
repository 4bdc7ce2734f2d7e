//! How each language finds the module that an import names.

mod ecmascript;
mod python;
mod rust;

use crate::language::Language;

use super::meaning::{Entity, Meaning};
use super::project::{File, Project};
use super::resolve::Resolver;

/// What is peculiar to a language in which names can be resolved.
pub(super) trait Rules {
    /// The modules that a path means at a byte of a file.
    fn module(&self, resolver: &Resolver<'_, '_>, at: (File, usize), path: &[String]) -> Meaning;

    /// What a package without a file of its own has under a name.
    fn submodule(&self, _: &Resolver<'_, '_>, _directory: &str, _name: &str) -> Meaning {
        Meaning::default()
    }

    /// The files that describe the same module as a file does: a stub beside it, or what it is a stub of.
    fn twins(&self, _: &Project<'_>, _: File) -> Vec<File> {
        Vec::new()
    }

    /// The module that an item is, if it is one.
    fn module_of_item(&self, _: &Resolver<'_, '_>, _item: &Entity) -> Option<Meaning> {
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

/// The rules of a language.
pub(super) fn rules(language: Language, project: &Project<'_>) -> Box<dyn Rules> {
    match language {
        Language::Rust => Box::new(rust::Rust::new(project)),
        Language::Python => Box::new(python::Python),
        _ => Box::new(ecmascript::EcmaScript),
    }
}

/// The languages in which names can be resolved.
pub(super) fn has_rules(language: Language) -> bool {
    matches!(language, Language::Rust | Language::Python) || language.is_ecmascript()
}
