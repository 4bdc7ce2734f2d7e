//! The nodes that declare a symbol.

use tree_sitter::Node;

use crate::source::{Source, ancestors, field, has_token, named};

use super::symbol::SymbolKind;

/// The nodes of a symbol.
pub(super) struct Declared<'t> {
    pub kind: SymbolKind,
    pub keyword: &'static str,
    pub name: Node<'t>,
    /// The name of the symbol, if it isn't the text of the node `name`.
    pub label: Option<String>,
    pub owner: Option<String>,
    pub node: Node<'t>,
    /// The node with everything that belongs to the symbol: decorators, `export`, `const`.
    pub item: Node<'t>,
    pub body: Option<Node<'t>>,
}

impl<'t> Declared<'t> {
    pub(super) fn new(
        kind: SymbolKind,
        keyword: &'static str,
        name: Node<'t>,
        node: Node<'t>,
    ) -> Self {
        let body = || field(node, "value").and_then(|value| field(value, "body"));
        let body = field(node, "body").or_else(body).or_else(|| field(node, "accessors"));
        Self { kind, keyword, name, label: None, owner: None, node, item: item_of(node), body }
    }
}

/// Returns a node with what is written around it and belongs to it alone.
pub(super) fn item_of(node: Node<'_>) -> Node<'_> {
    let mut item = node;
    while let Some(parent) = item.parent() {
        let alone = || {
            let same = |one: &Node<'_>| one.kind() == item.kind();
            !has_token(parent, "(") && named(parent).iter().filter(|one| same(one)).count() == 1
        };
        let wraps = match parent.kind() {
            "decorated_definition"
            | "export_statement"
            | "template_declaration"
            | "ambient_declaration"
            | "type_definition" => true,
            "expression_statement" => parent.named_child_count() == 1,
            "linkage_specification" => item.kind() != "declaration_list",
            "lexical_declaration"
            | "variable_declaration"
            | "type_declaration"
            | "const_declaration"
            | "var_declaration"
            | "declaration"
            | "field_declaration"
            | "event_field_declaration"
            | "constant_declaration" => alone(),
            _ => false,
        };
        // The type of a variable isn't all that declares the variable.
        let is_type = field(parent, "type") == Some(item) && field(parent, "declarator").is_some();
        if !wraps || (is_type && parent.kind() != "type_definition") {
            break;
        }
        item = parent;
    }
    item
}

/// True if no function is around a node.
pub(super) fn is_outermost(source: &Source, node: Node<'_>) -> bool {
    ancestors(node).all(|one| !source.language().is_function(one.kind()))
}
