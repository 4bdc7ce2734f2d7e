//! The items of Rust outside of types.

use std::ops::Range;

use tree_sitter::Node;

use crate::source::{Source, ancestors, field};

use super::imports::{extent, is_conditional};
use super::meaning::Space;

#[derive(Debug, Clone)]
pub(super) struct RustItem {
    pub name: String,
    pub space: Space,
    pub at: Range<usize>,
    /// The byte range in which the item can be used without a path.
    pub extent: Range<usize>,
    /// True if it is a struct, which may be a value as well.
    pub constructor: bool,
    /// True if only some builds have it.
    pub conditional: bool,
}

impl RustItem {
    pub(super) fn is_in(&self, wanted: Space) -> bool {
        wanted == Space::Any || self.space == wanted || (wanted == Space::Value && self.constructor)
    }

    /// The item that a node declares outside of types.
    pub(super) fn of(source: &Source, node: Node<'_>) -> Option<Self> {
        let space = match node.kind() {
            "function_item" | "function_signature_item" | "const_item" | "static_item" => {
                Space::Value
            }
            "struct_item" | "union_item" | "enum_item" | "trait_item" | "type_item"
            | "mod_item" => Space::Type,
            "macro_definition" => Space::Macro,
            _ => return None,
        };
        let name = field(node, "name")?;
        let around = ancestors(node)
            .find(|one| matches!(one.kind(), "block" | "impl_item" | "trait_item" | "mod_item"));
        if around.is_some_and(|one| matches!(one.kind(), "impl_item" | "trait_item")) {
            return None;
        }
        let constructor = node.kind() == "struct_item";
        let (name, at) = (source.text_of(name).to_owned(), name.byte_range());
        let conditional = is_conditional(source, node);
        Some(Self { name, space, at, extent: extent(source, node), constructor, conditional })
    }
}
