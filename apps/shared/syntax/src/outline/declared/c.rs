//! C and C++: what their declarators declare.

use tree_sitter::Node;

use crate::source::{Source, field, fields, named};

use crate::outline::declaration::{Declared, is_outermost, item_of};
use crate::outline::symbol::{SymbolKind, base_name};

/// Returns the name within a declarator, what stands before it, and whether it declares a function.
fn declarator<'t>(source: &Source, node: Node<'t>) -> Option<(Node<'t>, Option<String>, bool)> {
    let (mut node, mut function, mut scopes) = (node, false, Vec::new());
    loop {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "operator_name"
            | "destructor_name" | "operator_cast" | "primitive_type" => break,
            "qualified_identifier" => {
                if let Some(scope) = field(node, "scope") {
                    scopes.push(base_name(source.text_of(scope)).to_owned());
                }
                node = field(node, "name")?;
            }
            // `int (*f)(void)` is a variable.
            "pointer_declarator" | "parenthesized_declarator" if function => {
                let inner = field(node, "declarator").or_else(|| node.named_child(0))?;
                function &= node.kind() == "parenthesized_declarator"
                    && inner.kind() != "pointer_declarator";
                node = inner;
            }
            "template_function" | "template_method" => node = field(node, "name")?,
            kind => {
                function |= kind == "function_declarator";
                let last = || named(node).into_iter().next_back();
                node = field(node, "declarator").or_else(last)?;
            }
        }
    }
    let owner = (!scopes.is_empty()).then(|| scopes.join("::"));
    Some((node, owner, function))
}

/// Returns the symbols that a node of C or C++ declares.
pub(super) fn c<'t>(source: &Source, node: Node<'t>) -> Vec<Declared<'t>> {
    let member = || node.parent().is_some_and(|one| one.kind() == "field_declaration_list");
    let with_name = |kind, keyword| {
        let name = field(node, "name");
        name.map(|name| Declared::new(kind, keyword, name, node)).into_iter().collect()
    };
    let is_definition = field(node, "body").is_some();
    match node.kind() {
        "function_definition" | "declaration" | "field_declaration" => {
            if node.kind() == "declaration" && !is_outermost(source, node) {
                return Vec::new();
            }
            let member = member()
                || item_of(node).parent().is_some_and(|one| one.kind() == "field_declaration_list");
            let all = fields(node, "declarator");
            let several = all.len() > 1;
            let mut found = Vec::new();
            for part in all {
                let Some((name, owner, function)) = declarator(source, part) else { continue };
                let kind = match function {
                    true if member || owner.is_some() => SymbolKind::Method,
                    true => SymbolKind::Function,
                    false if member => SymbolKind::Field,
                    false => SymbolKind::Constant,
                };
                let mut one = Declared::new(kind, "", name, node);
                one.owner = owner;
                if several {
                    one.item = part;
                }
                found.push(one);
            }
            // A type that is defined in the declaration of a variable is a symbol of its own.
            match field(node, "type").is_some_and(|ty| field(ty, "body").is_some()) {
                true if found.is_empty() || !member => Vec::new(),
                _ => found,
            }
        }
        "type_definition" => typedef(source, node),
        // Of a typedef, the definition above is the symbol.
        "struct_specifier" | "union_specifier" | "class_specifier" | "enum_specifier"
            if is_definition
                && node.parent().is_none_or(|parent| parent.kind() != "type_definition") =>
        {
            match node.kind() {
                "enum_specifier" => with_name(SymbolKind::Enum, "enum"),
                "union_specifier" => with_name(SymbolKind::Class, "union"),
                "class_specifier" => with_name(SymbolKind::Class, "class"),
                _ => with_name(SymbolKind::Class, "struct"),
            }
        }
        "enumerator" => with_name(SymbolKind::Variant, ""),
        "namespace_definition" => with_name(SymbolKind::Module, "namespace"),
        "alias_declaration" => with_name(SymbolKind::Type, "using"),
        "concept_definition" => with_name(SymbolKind::Interface, "concept"),
        "preproc_def" if field(node, "value").is_some() => with_name(SymbolKind::Macro, "#define"),
        "preproc_function_def" => with_name(SymbolKind::Macro, "#define"),
        _ => Vec::new(),
    }
}

/// The type that a `typedef` defines, and its other names.
fn typedef<'t>(source: &Source, node: Node<'t>) -> Vec<Declared<'t>> {
    let ty = field(node, "type");
    let aggregate = ty.filter(|ty| field(*ty, "body").is_some());
    let kind = match aggregate.map(|ty| ty.kind()) {
        Some("enum_specifier") => SymbolKind::Enum,
        Some(_) => SymbolKind::Class,
        None => SymbolKind::Type,
    };
    let mut found = Vec::new();
    if let Some((ty, name)) = aggregate.and_then(|ty| Some((ty, field(ty, "name")?))) {
        let mut one = Declared::new(kind, "", name, ty);
        one.item = node;
        found.push(one);
    }
    for part in fields(node, "declarator") {
        let Some((name, _, _)) = declarator(source, part) else { continue };
        if found.iter().any(|one| source.text_of(one.name) == source.text_of(name)) {
            continue;
        }
        let mut one = Declared::new(kind, "typedef", name, node);
        one.body = aggregate.and_then(|ty| field(ty, "body"));
        found.push(one);
    }
    found
}
