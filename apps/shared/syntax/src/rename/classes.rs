//! The types of a file with what they declare, and what they are derived from.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, descendants, field, fields, named};

use super::meaning::Space;

/// A member that a type declares.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub name: String,
    pub space: Space,
    /// The bytes of the name.
    pub at: Range<usize>,
    /// The written type of the member, or of its return value if it is a function.
    pub ty: Option<Range<usize>>,
    /// The value of the member, if it is the only one ever assigned.
    pub init: Option<Range<usize>>,
    /// True for what is called before it has a value of its type.
    pub function: bool,
}

/// A class, an interface, a struct, a trait, an enum, or one `impl` of Rust.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// The declaration of the name; for an `impl` of Rust, the implementing type.
    pub at: Range<usize>,
    /// True if `at` only uses the name of the type.
    pub is_impl: bool,
    /// The byte range of the whole type.
    pub range: Range<usize>,
    /// The types that it names as extended or implemented.
    pub bases: Vec<Range<usize>>,
    pub members: Vec<Member>,
    /// True for what other types fit by their form alone.
    pub structural: bool,
}

/// Returns the types of a file.
pub(super) fn classes(source: &Source) -> Vec<Class> {
    let one: fn(&Source, Node<'_>) -> Option<Class> = match source.language() {
        Language::Rust => rust,
        Language::Python => python,
        language if language.is_ecmascript() => ecmascript,
        _ => return Vec::new(),
    };
    descendants(source.root()).into_iter().filter_map(|node| one(source, node)).collect()
}

fn class(node: Node<'_>, name: Node<'_>) -> Class {
    Class {
        at: name.byte_range(),
        is_impl: false,
        range: node.byte_range(),
        bases: Vec::new(),
        members: Vec::new(),
        structural: false,
    }
}

fn member(source: &Source, name: Node<'_>, space: Space) -> Member {
    let (name, at) = (source.text_of(name).to_owned(), name.byte_range());
    Member { name, space, at, ty: None, init: None, function: false }
}

fn rust(source: &Source, node: Node<'_>) -> Option<Class> {
    let name = match node.kind() {
        "struct_item" | "union_item" | "enum_item" | "trait_item" => field(node, "name")?,
        "impl_item" => {
            let ty = field(node, "type")?;
            // `impl Trait for &T<U>` is of `T`.
            let named = |one: &Node<'_>| one.kind() == "type_identifier";
            match ty.kind() {
                "generic_type" => {
                    let inner = field(ty, "type")?;
                    field(inner, "name").filter(named).unwrap_or(inner)
                }
                "scoped_type_identifier" => field(ty, "name")?,
                _ => ty,
            }
        }
        _ => return None,
    };
    let mut found = class(node, name);
    found.is_impl = node.kind() == "impl_item";
    found.bases.extend(field(node, "trait").map(|of| of.byte_range()));
    if node.kind() == "trait_item" {
        let bounds = field(node, "bounds").map(named).unwrap_or_default();
        found.bases.extend(bounds.iter().map(|one| one.byte_range()));
    }
    for part in field(node, "body").map(named).unwrap_or_default() {
        let (space, function) = match part.kind() {
            "function_item" | "function_signature_item" => (Space::Value, true),
            "const_item" => (Space::Value, false),
            "field_declaration" => (Space::Type, false),
            "enum_variant" => (Space::Value, false),
            "type_item" | "associated_type" => (Space::Type, false),
            _ => continue,
        };
        let Some(name) = field(part, "name") else { continue };
        let ty = if function { field(part, "return_type") } else { field(part, "type") };
        let ty = ty.map(|ty| ty.byte_range());
        found.members.push(Member { ty, function, ..member(source, name, space) });
        if part.kind() == "enum_variant" {
            let fields = field(part, "body").map(named).unwrap_or_default();
            let fields = fields.into_iter().filter(|one| one.kind() == "field_declaration");
            let fields = fields.filter_map(|one| field(one, "name"));
            found.members.extend(fields.map(|name| member(source, name, Space::Type)));
        }
    }
    Some(found)
}

fn python(source: &Source, node: Node<'_>) -> Option<Class> {
    if node.kind() != "class_definition" {
        return None;
    }
    let mut found = class(node, field(node, "name")?);
    let bases = field(node, "superclasses").map(named).unwrap_or_default();
    found.bases = bases.iter().map(|one| one.byte_range()).collect();
    let body = field(node, "body")?;
    let mut open = named(body);
    open.reverse();
    while let Some(part) = open.pop() {
        match part.kind() {
            "function_definition" => {
                let Some(name) = field(part, "name") else { continue };
                let ty = field(part, "return_type").map(|ty| ty.byte_range());
                let function = !is_property(source, part);
                let one = Member { ty, function, ..member(source, name, Space::Any) };
                found.members.push(one);
                own_attributes(source, part, &mut found.members);
            }
            "class_definition" => {
                let name = field(part, "name");
                found.members.extend(name.map(|name| member(source, name, Space::Any)));
            }
            "assignment" => {
                let ty = field(part, "type").map(|ty| ty.byte_range());
                let left = field(part, "left");
                let names = left.map(descendants).unwrap_or_default();
                for name in names.into_iter().filter(|one| one.kind() == "identifier") {
                    let init = field(part, "right").filter(|_| left == Some(name));
                    let init = init.map(|init| init.byte_range());
                    let ty = ty.clone();
                    found.members.push(Member { ty, init, ..member(source, name, Space::Any) });
                }
            }
            "lambda" | "list_comprehension" | "generator_expression" => {}
            _ => open.extend(named(part).into_iter().rev()),
        }
    }
    Some(found)
}

fn is_property(source: &Source, function: Node<'_>) -> bool {
    let decorated = function.parent().filter(|one| one.kind() == "decorated_definition");
    let decorators = decorated.map(named).unwrap_or_default();
    let mut decorators = decorators.into_iter().filter(|one| one.kind() == "decorator");
    decorators.any(|one| source.text_of(one).contains("property"))
}

/// Returns the name of a Python method's object parameter; `None` if it has none.
pub(super) fn own_name<'s>(source: &'s Source, method: Node<'_>) -> Option<&'s str> {
    let decorated = method.parent().filter(|one| one.kind() == "decorated_definition");
    let around = decorated.unwrap_or(method).parent()?;
    if around.parent()?.kind() != "class_definition" {
        return None;
    }
    let decorators = decorated.map(named).unwrap_or_default();
    if decorators.iter().any(|one| source.text_of(*one).trim() == "@staticmethod") {
        return None;
    }
    let first = named(field(method, "parameters")?).into_iter().next()?;
    let name = field(first, "name").unwrap_or(first);
    let name = if name.kind() == "typed_parameter" { name.named_child(0)? } else { name };
    (name.kind() == "identifier").then(|| source.text_of(name))
}

/// `self.name = …` declares an attribute.
fn own_attributes(source: &Source, method: Node<'_>, all: &mut Vec<Member>) {
    let Some(own) = own_name(source, method) else { return };
    for node in descendants(method).into_iter().filter(|one| one.kind() == "attribute") {
        let of_self = field(node, "object").is_some_and(|of| source.text_of(of) == own);
        let Some(name) = field(node, "attribute").filter(|_| of_self) else { continue };
        let Some(parent) = node.parent() else { continue };
        let assigned = matches!(parent.kind(), "assignment" | "augmented_assignment")
            && field(parent, "left") == Some(node)
            || matches!(parent.kind(), "pattern_list" | "tuple_pattern" | "as_pattern_target");
        let in_loop = parent.kind() == "for_statement" && field(parent, "left") == Some(node);
        if assigned || in_loop {
            let (ty, init) = (field(parent, "type"), field(parent, "right"));
            let init = init.filter(|_| parent.kind() == "assignment");
            let (ty, init) = (ty.map(|ty| ty.byte_range()), init.map(|init| init.byte_range()));
            all.push(Member { ty, init, ..member(source, name, Space::Any) });
        }
    }
}

fn ecmascript(source: &Source, node: Node<'_>) -> Option<Class> {
    let body = match node.kind() {
        "class_declaration"
        | "abstract_class_declaration"
        | "class"
        | "interface_declaration"
        | "enum_declaration" => field(node, "body")?,
        "type_alias_declaration" => {
            field(node, "value").filter(|value| value.kind() == "object_type")?
        }
        _ => return None,
    };
    let mut found = class(node, field(node, "name")?);
    found.structural = matches!(node.kind(), "interface_declaration" | "type_alias_declaration");
    let lists = named(node)
        .into_iter()
        .filter(|one| matches!(one.kind(), "class_heritage" | "extends_type_clause"));
    for list in lists {
        let clauses = named(list).into_iter().flat_map(|one| match one.kind() {
            "extends_clause" => fields(one, "value"),
            "implements_clause" => named(one),
            _ => vec![one],
        });
        found.bases.extend(clauses.map(|one| one.byte_range()));
    }
    for part in named(body) {
        let name = field(part, "name").or_else(|| field(part, "property"));
        let name = match part.kind() {
            "property_identifier" => Some(part),
            _ => name,
        };
        let Some(name) = name.filter(|one| one.kind().ends_with("identifier")) else { continue };
        let function = part.kind().contains("method");
        let ty = if function { field(part, "return_type") } else { field(part, "type") };
        let (ty, init) = (ty.map(|ty| ty.byte_range()), field(part, "value"));
        let init = init.map(|init| init.byte_range());
        found.members.push(Member { ty, init, function, ..member(source, name, Space::Any) });
        // `constructor(private name: string)` declares a field.
        if source.text_of(name) == "constructor" {
            for parameter in field(part, "parameters").map(named).unwrap_or_default() {
                let field_too = named(parameter).iter().any(|one| {
                    matches!(one.kind(), "accessibility_modifier" | "override_modifier")
                }) || super::super::source::has_token(parameter, "readonly");
                let pattern = field(parameter, "pattern").filter(|_| field_too);
                let ty = field(parameter, "type").map(|ty| ty.byte_range());
                found
                    .members
                    .extend(pattern.map(|name| Member { ty, ..member(source, name, Space::Any) }));
            }
        }
    }
    Some(found)
}

/// Returns the index of the innermost type that contains a byte.
pub(super) fn class_around(classes: &[Class], at: usize) -> Option<usize> {
    let around = classes.iter().enumerate().filter(|(_, one)| one.range.contains(&at));
    around.min_by_key(|(_, one)| one.range.len()).map(|(index, _)| index)
}

/// True if a name stands directly in the body of a class of Python, where its members are seen.
pub(super) fn is_in_class_body(node: Node<'_>) -> Option<Node<'_>> {
    let around = ancestors(node).find(|one| {
        let inside = |part: &str| {
            field(*one, part).is_some_and(|part| part.byte_range().contains(&node.start_byte()))
        };
        match one.kind() {
            "class_definition" => inside("body"),
            // The default values, annotations and decorators of a method are computed in the
            // class's body.
            "function_definition" | "lambda" => inside("body"),
            "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => true,
            _ => false,
        }
    })?;
    (around.kind() == "class_definition").then_some(around)
}
