//! Binders: each walks a function of its language, declares names and notes their uses.

mod ecmascript;
mod go;
mod python;
mod rust;

use tree_sitter::Node;

use crate::language::Language;
use crate::scopes::Scopes;
use crate::source::Source;

/// Returns the scopes of a whole file, whose outermost names belong to the first scope.
pub(crate) fn bind_module(source: &Source) -> Scopes<'_> {
    let mut scopes = match source.language() {
        Language::Python => python::bind_module(source),
        language if language.is_ecmascript() => ecmascript::bind_module(source),
        _ => Scopes::default(),
    };
    scopes.resolve();
    scopes
}

/// Returns the scopes of a function.
pub(crate) fn bind<'t>(source: &'t Source, function: Node<'t>) -> Scopes<'t> {
    let mut scopes = match source.language() {
        Language::Rust => rust::bind(source, function),
        Language::Python => python::bind(source, function),
        Language::Go => go::bind(source, function),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            ecmascript::bind(source, function)
        }
        // Nothing is extracted in these.
        Language::C | Language::Cpp | Language::Java | Language::CSharp | Language::Markdown => {
            Scopes::default()
        }
    };
    scopes.resolve();
    scopes
}
