//! Finds the module that an import names, for each language.

mod ecmascript;
mod python;
mod rules;
mod rust;

use crate::language::Language;

use super::project::Project;

pub(super) use rules::{Names, Rules};

pub(super) fn rules(language: Language, project: &Project<'_>) -> Box<dyn Rules> {
    match language {
        Language::Rust => Box::new(rust::Rust::new(project)),
        Language::Python => Box::new(python::Python),
        _ => Box::new(ecmascript::EcmaScript),
    }
}

/// Whether names can be resolved in a language.
pub(super) fn has_rules(language: Language) -> bool {
    matches!(language, Language::Rust | Language::Python) || language.is_ecmascript()
}
