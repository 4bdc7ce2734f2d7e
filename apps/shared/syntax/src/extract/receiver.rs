//! The receiver of a method: `self` in Python, the receiver in Go.

use tree_sitter::Node;

use crate::scopes::Binding;
use crate::source::{Source, field, holds, named};

use super::selection::Selected;

/// True if a binding is what a method is called on: `self` in Python, the receiver in Go.
pub(super) fn is_receiver(source: &Source, selected: &Selected<'_>, binding: &Binding<'_>) -> bool {
    let Some(declaration) = binding.declarations.first() else { return false };
    let host = selected.host;
    match host.kind() {
        "method_declaration" => {
            field(host, "receiver").is_some_and(|list| holds(&list.byte_range(), declaration.name))
        }
        "function_definition" => {
            selected.class.is_some()
                && !is_static(source, selected)
                && receiver(selected).is_some_and(|name| name == declaration.name)
        }
        _ => false,
    }
}

/// Returns the first parameter of the method around the selection.
pub(super) fn receiver<'t>(selected: &Selected<'t>) -> Option<Node<'t>> {
    let parameters = field(selected.host, "parameters")?;
    let first = named(parameters).into_iter().find(|one| !one.kind().contains("comment"))?;
    match first.kind() {
        "identifier" => Some(first),
        "typed_parameter" => first.named_child(0),
        _ => None,
    }
}

/// True in a method that is called on nothing.
pub(super) fn is_static(source: &Source, selected: &Selected<'_>) -> bool {
    has_decorator(source, selected, "staticmethod")
}

pub(super) fn has_decorator(source: &Source, selected: &Selected<'_>, name: &str) -> bool {
    let mut decorators = named(selected.anchor).into_iter().filter(|one| one.kind() == "decorator");
    decorators.any(|one| source.text_of(one).trim_start_matches('@').trim() == name)
}
