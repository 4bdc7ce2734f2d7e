//! Finds the nodes that declare symbols.

mod c;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, children, field, fields, named};

use super::declaration::{Declared, is_outermost};
use super::symbol::{SymbolKind, base_name};

/// Returns the symbols that a node declares; several for `int a, b;`.
pub(super) fn declared<'t>(source: &Source, node: Node<'t>) -> Vec<Declared<'t>> {
    match source.language() {
        Language::Rust => rust(source, node).into_iter().collect(),
        Language::Python => python(source, node).into_iter().collect(),
        Language::Go => go(source, node),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            ecmascript(source, node).into_iter().collect()
        }
        Language::C | Language::Cpp => c::c(source, node),
        Language::Java => java(source, node).into_iter().collect(),
        Language::CSharp => csharp(source, node).into_iter().collect(),
        Language::Markdown => Vec::new(),
    }
}

fn rust<'t>(source: &Source, node: Node<'t>) -> Option<Declared<'t>> {
    let (kind, keyword) = match node.kind() {
        "function_item" | "function_signature_item" => {
            let around = ancestors(node).find(|one| one.kind() != "declaration_list");
            let member = around.is_some_and(|one| matches!(one.kind(), "impl_item" | "trait_item"));
            (if member { SymbolKind::Method } else { SymbolKind::Function }, "fn")
        }
        "struct_item" => (SymbolKind::Class, "struct"),
        "union_item" => (SymbolKind::Class, "union"),
        "enum_item" => (SymbolKind::Enum, "enum"),
        "trait_item" => (SymbolKind::Interface, "trait"),
        "mod_item" => (SymbolKind::Module, "mod"),
        "type_item" | "associated_type" => (SymbolKind::Type, "type"),
        "const_item" => (SymbolKind::Constant, "const"),
        "static_item" => (SymbolKind::Constant, "static"),
        "macro_definition" => (SymbolKind::Macro, "macro"),
        "field_declaration" => (SymbolKind::Field, ""),
        "enum_variant" => (SymbolKind::Variant, ""),
        "impl_item" => {
            let ty = field(node, "type")?;
            let mut one = Declared::new(SymbolKind::Impl, "impl", ty, node);
            let text = source.text_of(ty);
            let of = field(node, "trait").map(|of| source.text_of(of));
            one.label = Some(of.map_or(text.to_owned(), |of| format!("{of} for {text}")));
            return Some(one);
        }
        _ => return None,
    };
    field(node, "name").map(|name| Declared::new(kind, keyword, name, node))
}

fn python<'t>(source: &Source, node: Node<'t>) -> Option<Declared<'t>> {
    let around = || {
        ancestors(node).find(|one| {
            !matches!(one.kind(), "block" | "decorated_definition" | "expression_statement")
        })
    };
    match node.kind() {
        "function_definition" => {
            let member = around().is_some_and(|one| one.kind() == "class_definition");
            let kind = if member { SymbolKind::Method } else { SymbolKind::Function };
            field(node, "name").map(|name| Declared::new(kind, "def", name, node))
        }
        "class_definition" => {
            field(node, "name").map(|name| Declared::new(SymbolKind::Class, "class", name, node))
        }
        "assignment" => {
            let left = field(node, "left").filter(|left| left.kind() == "identifier")?;
            // Only the first of several assignments declares the name.
            let statement = node.parent().filter(|one| one.kind() == "expression_statement")?;
            let assigns = |one: Node<'_>| {
                one.kind() == "expression_statement"
                    && one.named_child(0).is_some_and(|assignment| {
                        assignment.kind() == "assignment"
                            && field(assignment, "left")
                                .is_some_and(|other| source.text_of(other) == source.text_of(left))
                    })
            };
            let mut before = statement.prev_named_sibling();
            while let Some(one) = before {
                if assigns(one) {
                    return None;
                }
                before = one.prev_named_sibling();
            }
            let kind = match around()?.kind() {
                "module" => SymbolKind::Constant,
                "class_definition" => SymbolKind::Field,
                _ => return None,
            };
            let mut one = Declared::new(kind, "", left, node);
            one.body = None;
            Some(one)
        }
        _ => None,
    }
}

fn go<'t>(source: &Source, node: Node<'t>) -> Vec<Declared<'t>> {
    let one = |kind, keyword| {
        field(node, "name").map(|name| Declared::new(kind, keyword, name, node)).into_iter()
    };
    match node.kind() {
        "function_declaration" => one(SymbolKind::Function, "func").collect(),
        "method_declaration" => {
            let mut all: Vec<_> = one(SymbolKind::Method, "func").collect();
            let receiver = field(node, "receiver").and_then(|list| list.named_child(0));
            let ty = receiver.and_then(|one| field(one, "type"));
            for one in &mut all {
                one.owner = ty.map(|ty| base_name(source.text_of(ty)).to_owned());
            }
            all
        }
        "method_elem" => one(SymbolKind::Method, "").collect(),
        "type_spec" | "type_alias" => {
            let ty = field(node, "type");
            let (kind, body) = match ty.map(|ty| ty.kind()) {
                Some("struct_type") => (
                    SymbolKind::Class,
                    ty.and_then(|ty| {
                        named(ty).into_iter().find(|one| one.kind() == "field_declaration_list")
                    }),
                ),
                Some("interface_type") => (SymbolKind::Interface, ty),
                _ => (SymbolKind::Type, None),
            };
            one(kind, "type").map(|one| Declared { body, ..one }).collect()
        }
        "const_spec" | "var_spec" if is_outermost(source, node) => {
            let keyword = if node.kind() == "const_spec" { "const" } else { "var" };
            let names = fields(node, "name").into_iter().filter(|name| name.is_named());
            names.map(|name| Declared::new(SymbolKind::Constant, keyword, name, node)).collect()
        }
        "field_declaration" => {
            let names = fields(node, "name").into_iter().filter(|name| name.is_named());
            names
                .map(|name| Declared {
                    body: None,
                    ..Declared::new(SymbolKind::Field, "", name, node)
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn ecmascript<'t>(source: &Source, node: Node<'t>) -> Option<Declared<'t>> {
    let is_function = |value: Option<Node<'_>>| {
        value.is_some_and(|value| {
            matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function")
        })
    };
    let (kind, keyword) = match node.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            (SymbolKind::Function, "function")
        }
        "method_definition" | "method_signature" | "abstract_method_signature" => {
            (SymbolKind::Method, "")
        }
        "class_declaration" | "abstract_class_declaration" => (SymbolKind::Class, "class"),
        "interface_declaration" => (SymbolKind::Interface, "interface"),
        "enum_declaration" => (SymbolKind::Enum, "enum"),
        "type_alias_declaration" => (SymbolKind::Type, "type"),
        "internal_module" | "module" => (SymbolKind::Module, "namespace"),
        "property_signature" => (SymbolKind::Field, ""),
        "field_definition" | "public_field_definition" => {
            let name = field(node, "name").or_else(|| field(node, "property"))?;
            let method = is_function(field(node, "value"));
            let kind = if method { SymbolKind::Method } else { SymbolKind::Field };
            return Some(Declared::new(kind, "", name, node));
        }
        "enum_assignment" => (SymbolKind::Variant, ""),
        "property_identifier"
            if node.parent().is_some_and(|parent| parent.kind() == "enum_body") =>
        {
            return Some(Declared::new(SymbolKind::Variant, "", node, node));
        }
        "variable_declarator" => {
            let keyword = node.parent().and_then(|parent| parent.child(0)).map(|one| one.kind());
            let keyword = match keyword {
                Some("const") => "const",
                Some("var") => "var",
                _ => "let",
            };
            let plain = field(node, "name").is_some_and(|name| name.kind() == "identifier");
            match (is_function(field(node, "value")), plain && is_outermost(source, node)) {
                (true, _) => (SymbolKind::Function, keyword),
                (false, true) => (SymbolKind::Constant, keyword),
                _ => return None,
            }
        }
        "assignment_expression" => {
            let statement = node.parent().is_some_and(|one| one.kind() == "expression_statement");
            let left = field(node, "left").filter(|left| left.kind() == "member_expression")?;
            let right = field(node, "right").filter(|right| is_function(Some(*right)))?;
            let (object, name) = (field(left, "object")?, field(left, "property")?);
            let object = source.text_of(object).trim_end_matches(".prototype");
            let plain = object.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
            if !statement || !plain || object == "this" || !is_outermost(source, node) {
                return None;
            }
            let exported = matches!(object, "exports" | "module.exports");
            let kind = if exported { SymbolKind::Function } else { SymbolKind::Method };
            let mut one = Declared::new(kind, "", name, node);
            one.owner = (!exported).then(|| object.to_owned());
            one.body = field(right, "body");
            return Some(one);
        }
        _ => return None,
    };
    let mut one = field(node, "name").map(|name| Declared::new(kind, keyword, name, node))?;
    if kind == SymbolKind::Constant {
        one.body = None;
    }
    Some(one)
}

fn java<'t>(source: &Source, node: Node<'t>) -> Option<Declared<'t>> {
    let (kind, keyword) = match node.kind() {
        "class_declaration" => (SymbolKind::Class, "class"),
        "record_declaration" => (SymbolKind::Class, "record"),
        "interface_declaration" => (SymbolKind::Interface, "interface"),
        "annotation_type_declaration" => (SymbolKind::Interface, "@interface"),
        "enum_declaration" => (SymbolKind::Enum, "enum"),
        "method_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration"
        | "annotation_type_element_declaration" => (SymbolKind::Method, ""),
        "enum_constant" => (SymbolKind::Variant, ""),
        "variable_declarator"
            if node.parent().is_some_and(|one| {
                matches!(one.kind(), "field_declaration" | "constant_declaration")
            }) && is_outermost(source, node) =>
        {
            let name = field(node, "name")?;
            return Some(Declared {
                body: None,
                ..Declared::new(SymbolKind::Field, "", name, node)
            });
        }
        _ => return None,
    };
    field(node, "name").map(|name| Declared::new(kind, keyword, name, node))
}

fn csharp<'t>(source: &Source, node: Node<'t>) -> Option<Declared<'t>> {
    let (kind, keyword) = match node.kind() {
        "class_declaration" => (SymbolKind::Class, "class"),
        "struct_declaration" => (SymbolKind::Class, "struct"),
        "record_declaration" | "record_struct_declaration" => (SymbolKind::Class, "record"),
        "interface_declaration" => (SymbolKind::Interface, "interface"),
        "enum_declaration" => (SymbolKind::Enum, "enum"),
        "delegate_declaration" => (SymbolKind::Type, "delegate"),
        "namespace_declaration" | "file_scoped_namespace_declaration" => {
            (SymbolKind::Module, "namespace")
        }
        "method_declaration" | "constructor_declaration" | "destructor_declaration" => {
            (SymbolKind::Method, "")
        }
        "local_function_statement" => (SymbolKind::Function, ""),
        "operator_declaration" => {
            let name = field(node, "operator")?;
            let mut one = Declared::new(SymbolKind::Method, "operator", name, node);
            one.label = Some(format!("operator {}", source.text_of(name)));
            return Some(one);
        }
        "property_declaration" | "event_declaration" => (SymbolKind::Field, ""),
        "enum_member_declaration" => (SymbolKind::Variant, ""),
        "variable_declarator" => {
            let around = ancestors(node).nth(1)?;
            let is_field = matches!(around.kind(), "field_declaration" | "event_field_declaration");
            let name = field(node, "name").or_else(|| node.named_child(0)).filter(|_| is_field)?;
            return Some(Declared {
                body: None,
                ..Declared::new(SymbolKind::Field, "", name, node)
            });
        }
        _ => return None,
    };
    let mut one = field(node, "name").map(|name| Declared::new(kind, keyword, name, node))?;
    if one.body.is_none() && node.kind() == "property_declaration" {
        one.body = children(node).into_iter().find(|one| one.kind() == "arrow_expression_clause");
    }
    Some(one)
}
