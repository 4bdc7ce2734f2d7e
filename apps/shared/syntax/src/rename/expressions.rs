//! What an expression is: a module or a class itself, or a value of a type.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{ancestors, field, named};

use super::classes::{Member, own_name};
use super::facts::{Declared, Facts};
use super::meaning::{Entity, FileId, Meaning, Space};
use super::occurrences::segments;
use super::resolve::Resolver;

/// Expressions whose types are of the languages themselves.
const LITERALS: &str = "string integer float list dictionary set tuple concatenated_string \
    list_comprehension dictionary_comprehension set_comprehension \
    generator_expression template_string number array regex string_literal \
    integer_literal float_literal boolean_literal char_literal none true false \
    not_operator comparison_operator";

/// The possible values of an expression.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    /// The modules, classes and functions that it is.
    pub objects: Meaning,
    /// The types of which the expression may be an instance.
    pub types: Meaning,
}

impl Value {
    fn unknown() -> Self {
        Self { objects: Meaning::default(), types: Meaning::unknown() }
    }

    fn object(meaning: Meaning) -> Self {
        Self { objects: meaning, types: Meaning::default() }
    }

    fn of_type(types: Meaning) -> Self {
        Self { objects: Meaning::default(), types: types.or(Meaning::unknown) }
    }
}

/// What an expression has under a name.
pub(super) fn attribute(
    names: &Resolver<'_, '_>,
    value: &Value,
    name: &str,
    space: Space,
) -> Meaning {
    let mut all = value.objects.then(|object| names.descend(object, name, space));
    all.extend(value.types.then(|of| names.member(of, name, space)).0);
    all
}

/// What an expression is.
pub(super) fn evaluate(names: &Resolver<'_, '_>, file: FileId, node: Node<'_>) -> Value {
    let mut found = Value::default();
    names
        .step(|| {
            found = evaluate_once(names, file, node);
            Meaning::default()
        })
        .is_unknown()
        .then(Value::unknown)
        .unwrap_or(found)
}

fn evaluate_once(names: &Resolver<'_, '_>, file: FileId, node: Node<'_>) -> Value {
    let Some(facts) = names.project.facts(file) else { return Value::unknown() };
    let source = &facts.source;
    let inner = |name: &str| match field(node, name) {
        Some(inner) => evaluate(names, file, inner),
        None => Value::unknown(),
    };
    match node.kind() {
        "self" | "this" => self_value(names, file, &facts, node),
        "identifier" => {
            if names.language == Language::Python
                && let Some(own) = object_of_method(names, file, &facts, node)
            {
                return own;
            }
            value_of_all(names, &names.free(file, node, Space::Any))
        }
        "parenthesized_expression" | "non_null_expression" => match named(node).as_slice() {
            [inner] => evaluate(names, file, *inner),
            _ => Value::unknown(),
        },
        "reference_expression" => inner("value"),
        "unary_expression" if names.language == Language::Rust => {
            match (source.text_of(node).starts_with('*'), node.named_child(0)) {
                (true, Some(inner)) => evaluate(names, file, inner),
                _ => Value::unknown(),
            }
        }
        "attribute" => attribute_value(names, file, node, "object", "attribute"),
        "member_expression" => attribute_value(names, file, node, "object", "property"),
        "field_expression" => attribute_value(names, file, node, "value", "field"),
        "scoped_identifier" => {
            let path = segments(source.text_of(node));
            value_of_all(names, &names.path((file, node.start_byte()), &path, Space::Value))
        }
        "call" | "call_expression" => match field(node, "function") {
            Some(function) if source.text_of(function) == "super" => Value::unknown(),
            Some(function) => call_result(names, &evaluate(names, file, function)),
            None => Value::unknown(),
        },
        "new_expression" => match field(node, "constructor") {
            Some(class) => call_result(names, &evaluate(names, file, class)),
            None => Value::unknown(),
        },
        "struct_expression" => match field(node, "name") {
            Some(name) => Value::of_type(names.type_entity(file, name)),
            None => Value::unknown(),
        },
        "as_expression" | "type_cast_expression" | "satisfies_expression" => {
            match named(node).get(1) {
                Some(ty) => Value::of_type(names.type_entity(file, *ty)),
                None => Value::unknown(),
            }
        }
        kind if LITERALS.split(' ').any(|one| one == kind) => Value::of_type(Meaning::outside()),
        _ => Value::unknown(),
    }
}

fn attribute_value(
    names: &Resolver<'_, '_>,
    file: FileId,
    node: Node<'_>,
    object: &str,
    name: &str,
) -> Value {
    let Some(facts) = names.project.facts(file) else { return Value::unknown() };
    let (Some(object), Some(name)) = (field(node, object), field(node, name)) else {
        return Value::unknown();
    };
    let space = if names.language == Language::Rust { Space::Type } else { Space::Any };
    // `f()` of `x.f()` is a method, and `x.f` a field.
    let called = node.parent().is_some_and(|call| {
        call.kind() == "call_expression" && field(call, "function") == Some(node)
    });
    let space = if called && space == Space::Type { Space::Value } else { space };
    let value = evaluate(names, file, object);
    value_of_all(names, &attribute(names, &value, facts.source.text_of(name), space))
}

/// `self` of Rust, `this` of ECMAScript.
fn self_value(names: &Resolver<'_, '_>, file: FileId, facts: &Facts, node: Node<'_>) -> Value {
    if names.language.is_ecmascript() {
        let around = ancestors(node).find(|one| {
            matches!(
                one.kind(),
                "function_declaration"
                    | "function_expression"
                    | "generator_function"
                    | "generator_function_declaration"
                    | "method_definition"
                    | "field_definition"
                    | "public_field_definition"
                    | "class_static_block"
            )
        });
        let of_class =
            around.and_then(|one| one.parent()).is_some_and(|up| up.kind() == "class_body");
        if !of_class {
            return Value::unknown();
        }
    }
    match names.self_type(file, facts, node.start_byte()) {
        Some(entity) => Value::of_type(Meaning::of(entity)),
        None => Value::unknown(),
    }
}

/// The first parameter of a method of Python, also in functions within it.
fn object_of_method(
    names: &Resolver<'_, '_>,
    file: FileId,
    facts: &Facts,
    node: Node<'_>,
) -> Option<Value> {
    let (_, binding) = facts.binding_at(node.start_byte())?;
    let [declared] = binding.declarations.as_slice() else { return None };
    if binding.assigned {
        return None;
    }
    let parameter = facts.source.node_at(&declared.at);
    let method = ancestors(parameter).find(|one| one.kind() == "function_definition")?;
    let first = named(field(method, "parameters")?).into_iter().next()?;
    let own = own_name(&facts.source, method)? == binding.name;
    if !own || !first.byte_range().contains(&declared.at.start) {
        return None;
    }
    let of = names.class_entity(file, facts, method.start_byte())?;
    Some(Value::of_type(Meaning::of(of)))
}

fn value_of_all(names: &Resolver<'_, '_>, meaning: &Meaning) -> Value {
    let mut all = Value::default();
    for entity in &meaning.0 {
        let one = value_of_entity(names, entity);
        all.objects.extend(one.objects.0);
        all.types.extend(one.types.0);
    }
    all
}

/// What a name is that means an entity.
fn value_of_entity(names: &Resolver<'_, '_>, entity: &Entity) -> Value {
    match entity {
        Entity::Outside => Value::object(Meaning::outside()),
        Entity::Unknown => Value::object(Meaning::unknown()),
        Entity::Module { .. } | Entity::Package(_) => Value::object(Meaning::of(entity.clone())),
        Entity::Member { owner, name, space } => {
            let all = names.declarations(owner, name, *space);
            if all.iter().any(|(_, one)| one.function) {
                return Value::object(Meaning::of(entity.clone()));
            }
            let of = all.into_iter().map(|(file, one)| {
                let Member { at, ty, init, .. } = one;
                (file, Declared { at, ty, init })
            });
            declared_value(names, &of.collect::<Vec<_>>())
        }
        Entity::Item { file, .. } | Entity::Local { file, .. } => {
            if !names.classes_of(entity).is_empty()
                || names.rules.module_of_item(names, entity).is_some()
                || functions_of(names, entity).is_some()
            {
                return Value::object(Meaning::of(entity.clone()));
            }
            let Some(facts) = names.project.facts(*file) else { return Value::unknown() };
            let binding = match entity {
                Entity::Local { binding, .. } => facts.bindings.get(*binding),
                Entity::Item { name, .. } => facts.outermost(name),
                _ => None,
            };
            let Some(binding) = binding else { return Value::unknown() };
            // What may have another value later has only the type that is written.
            let of = binding.declarations.iter().map(|one| {
                let init = one.init.clone().filter(|_| !binding.assigned);
                (*file, Declared { init, ..one.clone() })
            });
            declared_value(names, &of.collect::<Vec<_>>())
        }
    }
}

/// The value of something that has all of these types and first values.
fn declared_value(names: &Resolver<'_, '_>, all: &[(FileId, Declared)]) -> Value {
    let written = all.iter().any(|(_, one)| one.ty.is_some());
    let mut value = Value::default();
    for (file, Declared { ty, init, .. }) in all {
        let Some(facts) = names.project.facts(*file) else { return Value::unknown() };
        let one = match (ty, init) {
            (Some(ty), _) => Value::of_type(names.type_entity(*file, facts.source.node_at(ty))),
            (None, _) if written => continue,
            (None, Some(init)) => evaluate(names, *file, facts.source.node_at(init)),
            (None, None) => Value::unknown(),
        };
        value.objects.extend(one.objects.0);
        value.types.extend(one.types.0);
    }
    if value.objects.is_empty() && value.types.is_empty() { Value::unknown() } else { value }
}

/// The nodes of the functions that an entity is, each with its file.
fn functions_of(names: &Resolver<'_, '_>, entity: &Entity) -> Option<Vec<(FileId, Range<usize>)>> {
    let (file, facts, names) = match entity {
        Entity::Item { file, name, scope, space } => {
            let facts = names.project.facts(*file)?;
            let names: Vec<_> = match names.language {
                Language::Rust => {
                    facts.items_of(*scope, name, *space).map(|one| one.at.clone()).collect()
                }
                _ => {
                    let all = &facts.outermost(name)?.declarations;
                    all.iter().map(|one| one.at.clone()).collect()
                }
            };
            (*file, facts, names)
        }
        Entity::Local { file, binding } => {
            let facts = names.project.facts(*file)?;
            let all = &facts.bindings.get(*binding)?.declarations;
            let names = all.iter().map(|one| one.at.clone()).collect();
            (*file, facts, names)
        }
        _ => return None,
    };
    let is_function = |at: &Range<usize>| {
        let parent = facts.source.node_at(at).parent();
        parent.filter(|one| {
            let kind = one.kind();
            matches!(
                kind,
                "function_item"
                    | "function_signature_item"
                    | "function_definition"
                    | "function_declaration"
                    | "function_signature"
                    | "generator_function_declaration"
            )
        })
    };
    let all: Option<Vec<_>> =
        names.iter().map(|at| is_function(at).map(|node| (file, node.byte_range()))).collect();
    all.filter(|all| !all.is_empty())
}

/// What a call of something gives.
fn call_result(names: &Resolver<'_, '_>, called: &Value) -> Value {
    let mut all = Value::default();
    for object in &called.objects.0 {
        let types = match object {
            Entity::Outside | Entity::Unknown => Meaning::unknown(),
            Entity::Member { owner, name, space } => {
                let mut types = Meaning::default();
                for (file, one) in names.declarations(owner, name, *space) {
                    let Some(facts) = names.project.facts(file) else { continue };
                    let node = facts.source.node_at(&one.at).parent();
                    let plain = node.is_some_and(|node| is_plain(&facts, node));
                    let ty = one.ty.filter(|_| plain);
                    types.extend(match ty {
                        Some(ty) => names.type_entity(file, facts.source.node_at(&ty)).0,
                        None => Meaning::unknown().0,
                    });
                }
                types
            }
            object => match functions_of(names, object) {
                Some(functions) => {
                    let mut types = Meaning::default();
                    for (file, range) in functions {
                        let Some(facts) = names.project.facts(file) else { continue };
                        let node =
                            facts.source.root().descendant_for_byte_range(range.start, range.end);
                        let plain = node.filter(|node| is_plain(&facts, *node));
                        let ty = plain.and_then(|node| field(node, "return_type"));
                        types.extend(match ty {
                            Some(ty) => names.type_entity(file, ty).0,
                            None => Meaning::unknown().0,
                        });
                    }
                    types
                }
                None if !names.classes_of(object).is_empty() => Meaning::of(object.clone()),
                None => Meaning::unknown(),
            },
        };
        all.types.extend(types.0);
    }
    all.types.extend(called.types.0.iter().map(|_| Entity::Unknown));
    if all.types.is_empty() { Value::unknown() } else { all }
}

/// True for a function whose call gives just what it is written to return.
fn is_plain(facts: &Facts, function: Node<'_>) -> bool {
    let source = &facts.source;
    let is_async = function.child(0).is_some_and(|first| source.text_of(first) == "async");
    let modifiers = source.text_of(function).split('(').next().unwrap_or_default();
    let is_async = is_async || modifiers.split_whitespace().any(|word| word == "async");
    let decorated = function.parent().filter(|one| one.kind() == "decorated_definition");
    let decorators = decorated.map(named).unwrap_or_default();
    let mut decorators = decorators.iter().filter(|one| one.kind() == "decorator");
    !is_async
        && decorators.all(|one| {
            let name = source.text_of(*one).trim_start_matches('@');
            matches!(
                name,
                "staticmethod"
                    | "classmethod"
                    | "abstractmethod"
                    | "abc.abstractmethod"
                    | "overload"
                    | "typing.overload"
                    | "override"
                    | "t.overload"
            )
        })
}
