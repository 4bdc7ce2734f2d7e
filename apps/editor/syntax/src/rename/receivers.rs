//! The type of what stands before a dot, and the type that a member belongs to.

use tree_sitter::Node;

use crate::bind::bind;
use crate::language::Language;
use crate::lookup::Found;
use crate::outline::{SymbolKind, base_name};
use crate::source::{Source, ancestors, descendants, field, named};

/// Returns the type, trait or class that a declaration is a member of.
pub(super) fn owner_of(source: &Source, found: &Found) -> Option<String> {
    if let Some(owner) = &found.symbol.owner {
        return Some(base_name(owner).to_owned());
    }
    let node = source.node_at(&found.symbol.name_range);
    let declaration = ancestors(node).find(|one| {
        one.start_byte() >= found.symbol.range.start && one.end_byte() <= found.symbol.range.end
    });
    for around in ancestors(declaration.unwrap_or(node)) {
        if around.byte_range() == found.symbol.range
            || around.start_byte() >= found.symbol.range.start
        {
            continue;
        }
        if source.language().is_function(around.kind()) || around.kind() == "mod_item" {
            return None;
        }
        if let Some(ty) = type_around(source, around) {
            return Some(ty);
        }
    }
    None
}

/// True if a declaration is in a trait rather than in an implementation.
pub(super) fn is_in_trait(source: &Source, found: &Found) -> bool {
    let node = source.node_at(&found.symbol.name_range);
    ancestors(node)
        .find(|one| matches!(one.kind(), "trait_item" | "impl_item"))
        .is_some_and(|one| one.kind() == "trait_item")
}

/// Returns the name of the type whose members a node holds.
fn type_around(source: &Source, node: Node<'_>) -> Option<String> {
    let name = |part: &str| field(node, part).map(|one| base_name(source.text_of(one)).to_owned());
    match node.kind() {
        "impl_item" => name("type"),
        "trait_item"
        | "struct_item"
        | "union_item"
        | "enum_item"
        | "class_definition"
        | "class_declaration"
        | "abstract_class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "record_declaration"
        | "struct_declaration"
        | "class_specifier"
        | "struct_specifier"
        | "union_specifier"
        | "enum_specifier"
        | "type_spec"
        | "annotation_type_declaration"
        | "type_alias_declaration" => name("name"),
        "type_definition" => name("declarator"),
        _ => None,
    }
}

/// Returns the name of the innermost type around a node.
pub(super) fn enclosing_type(source: &Source, node: Node<'_>) -> Option<String> {
    ancestors(node).find_map(|around| match around.kind() {
        "method_declaration" if source.language() == Language::Go => {
            let receiver = field(around, "receiver")?.named_child(0)?;
            Some(base_name(source.text_of(field(receiver, "type")?)).to_owned())
        }
        "function_definition" if source.language() == Language::Cpp => {
            let scope = descendants(field(around, "declarator")?)
                .into_iter()
                .find(|one| one.kind() == "qualified_identifier")?;
            Some(base_name(source.text_of(field(scope, "scope")?)).to_owned())
        }
        _ => type_around(source, around),
    })
}

/// Returns the names of the types that a class names as those that it extends or implements.
pub(super) fn bases_of(source: &Source, node: Node<'_>) -> Vec<String> {
    let class = ancestors(node).find(|around| type_around(source, *around).is_some());
    let Some(class) = class else { return Vec::new() };
    let lists = named(class).into_iter().filter(|one| {
        matches!(
            one.kind(),
            "argument_list"
                | "class_heritage"
                | "superclass"
                | "super_interfaces"
                | "base_list"
                | "base_class_clause"
                | "extends_interfaces"
                | "extends_type_clause"
        )
    });
    let names = lists.flat_map(descendants).filter(|one| one.kind().contains("identifier"));
    names.map(|one| source.text_of(one).to_owned()).collect()
}

/// Returns the type of an expression as it is written; `None` if the tree doesn't tell.
pub(super) fn type_of(source: &Source, node: Node<'_>) -> Option<String> {
    match node.kind() {
        "self" | "this" => enclosing_type(source, node),
        "identifier" => {
            let text = source.text_of(node);
            let own = match source.language() {
                Language::Python => matches!(text, "self" | "cls"),
                Language::Rust => text == "self",
                _ => false,
            };
            match own {
                // A `self` in a function within a method is the method's.
                true => enclosing_type(source, node),
                false => variable_type(source, node, text),
            }
        }
        "parenthesized_expression" | "reference_expression" | "unary_expression" => {
            let inner = field(node, "value").or_else(|| field(node, "operand"));
            type_of(
                source,
                inner.or_else(|| {
                    node.named_child(node.named_child_count().checked_sub(1)? as u32)
                })?,
            )
        }
        "struct_expression" => field(node, "name").map(|name| source.text_of(name).to_owned()),
        "composite_literal" => field(node, "type").map(|ty| source.text_of(ty).to_owned()),
        "new_expression" => field(node, "constructor").map(|ty| source.text_of(ty).to_owned()),
        "object_creation_expression" => field(node, "type").map(|ty| source.text_of(ty).to_owned()),
        _ => None,
    }
}

fn variable_type(source: &Source, node: Node<'_>, name: &str) -> Option<String> {
    let language = source.language();
    let function = ancestors(node).filter(|one| language.is_function(one.kind())).last()?;
    if !language.has_extraction() {
        return None;
    }
    // In Rust a function within another one is an item of its own.
    let function = match language {
        Language::Rust => {
            ancestors(node).find(|one| one.kind() == "function_item").unwrap_or(function)
        }
        _ => function,
    };
    let scopes = bind(source, function);
    let binding = scopes
        .bindings
        .iter()
        .find(|one| one.uses.iter().any(|one| one.node.start_byte() == node.start_byte()))?;
    let [declaration] = binding.declarations.as_slice() else { return None };
    debug_assert_eq!(binding.name, name);
    if let Some(ty) = declaration.ty {
        let text = source.text_of(ty).trim_start_matches(':').trim();
        let plain = !text.starts_with(['[', '(', '{', '"', '\''])
            && !text.contains('|')
            && !text.ends_with(']');
        // Types such as `Vec<T>` are the outer one; a function's or an array's type has no members of its own.
        return plain.then(|| text.to_owned());
    }
    let init = declaration.init?;
    // What is assigned later may be of another type.
    if binding.uses.iter().any(|one| one.access.writes()) && language != Language::Rust {
        return None;
    }
    match init.kind() {
        "call_expression" if language == Language::Rust => {
            let callee = field(init, "function").filter(|one| one.kind() == "scoped_identifier")?;
            let ty = source.text_of(field(callee, "path")?);
            let ty = if ty == "Self" { enclosing_type(source, node)? } else { ty.to_owned() };
            let function = source.text_of(field(callee, "name")?);
            returns_own_type(source, &ty, function).then_some(ty)
        }
        "call" if language == Language::Python => {
            let callee = field(init, "function").filter(|one| one.kind() == "identifier")?;
            let text = source.text_of(callee);
            text.starts_with(char::is_uppercase).then(|| text.to_owned())
        }
        _ => type_of(source, init),
    }
}

/// True if a function of a type is seen to return the type itself.
fn returns_own_type(source: &Source, ty: &str, function: &str) -> bool {
    let found = source.named_symbols().into_iter().find(|one| {
        one.symbol.kind == SymbolKind::Method
            && one.symbol.name == function
            && one.path.iter().rev().nth(1).is_some_and(|owner| owner == base_name(ty))
    });
    let Some(found) = found else { return false };
    let node = source.node_at(&found.symbol.name_range);
    let item = ancestors(node).find(|one| one.kind() == "function_item");
    let result = item.and_then(|item| field(item, "return_type"));
    result.is_some_and(|result| {
        let text = source.text_of(result);
        text == "Self" || base_name(text) == base_name(ty) && !text.contains('<')
    })
}

/// True for types of the standard libraries, which have no members of the project.
pub(super) fn is_well_known(ty: &str) -> bool {
    matches!(
        ty,
        "String"
            | "str"
            | "Vec"
            | "Option"
            | "Result"
            | "HashMap"
            | "HashSet"
            | "BTreeMap"
            | "BTreeSet"
            | "VecDeque"
            | "PathBuf"
            | "Path"
            | "usize"
            | "isize"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "f32"
            | "f64"
            | "bool"
            | "char"
            | "number"
            | "string"
            | "boolean"
            | "Map"
            | "Set"
            | "Array"
            | "Promise"
            | "Date"
            | "RegExp"
            | "int"
            | "float"
            | "dict"
            | "list"
            | "tuple"
            | "set"
            | "bytes"
            | "error"
            | "byte"
            | "rune"
            | "int64"
            | "int32"
            | "float64"
            | "double"
            | "long"
    )
}
