//! What an expression is: a module or a class itself, or a value of a type.

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{ancestors, field, named};

use super::classes::own_name;
use super::facts::Facts;
use super::meaning::{Entity, Meaning, Space};
use super::occurrences::segments;
use super::project::File;
use super::resolve::Resolver;

/// Types of the languages' own libraries that have no members of their parameters. Any other one with parameters may
/// stand for one of them, as `Box<T>`, `Readonly<T>` and `Annotated[T]` do.
const OPAQUE: [&str; 34] = [
    "Vec",
    "Option",
    "Result",
    "HashMap",
    "BTreeMap",
    "HashSet",
    "BTreeSet",
    "VecDeque",
    "BinaryHeap",
    "Promise",
    "Map",
    "Set",
    "WeakMap",
    "WeakSet",
    "Array",
    "ReadonlyArray",
    "Record",
    "list",
    "dict",
    "set",
    "tuple",
    "frozenset",
    "List",
    "Dict",
    "Tuple",
    "FrozenSet",
    "Iterable",
    "Iterator",
    "Sequence",
    "Mapping",
    "Callable",
    "Generator",
    "Generic",
    "Protocol",
];

/// What an expression is.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    /// The modules, classes and functions that it is.
    pub things: Meaning,
    /// The types of which it is a value.
    pub types: Meaning,
}

impl Value {
    fn unknown() -> Self {
        Self { things: Meaning::default(), types: Meaning::unknown() }
    }

    fn thing(meaning: Meaning) -> Self {
        Self { things: meaning, types: Meaning::default() }
    }

    fn of_type(types: Meaning) -> Self {
        Self { things: Meaning::default(), types: types.or(Meaning::unknown) }
    }
}

impl Resolver<'_, '_> {
    /// What an expression has under a name.
    pub(super) fn attribute(&self, value: &Value, name: &str, space: Space) -> Meaning {
        let mut all = value.things.then(|thing| self.descend(thing, name, space));
        all.extend(value.types.then(|of| self.member(of, name, space)).0);
        all
    }

    /// The type that `Self` and `self` are at a byte.
    pub(super) fn self_type(&self, file: File, facts: &Facts, at: usize) -> Option<Entity> {
        let index = super::classes::class_around(&facts.classes, at)?;
        let class = facts.classes.get(index)?;
        match class.is_impl {
            true => self.impl_owner(file, facts.source.node_at(&class.at)),
            false => self.owner(file, facts, class),
        }
    }

    /// What an expression is.
    pub(super) fn value(&self, file: File, node: Node<'_>) -> Value {
        let mut found = Value::default();
        self.step(|| {
            found = self.value_of(file, node);
            Meaning::default()
        })
        .is_unknown()
        .then(Value::unknown)
        .unwrap_or(found)
    }

    fn value_of(&self, file: File, node: Node<'_>) -> Value {
        let Some(facts) = self.project.facts(file) else { return Value::unknown() };
        let source = &facts.source;
        let inner = |name: &str| match field(node, name) {
            Some(inner) => self.value(file, inner),
            None => Value::unknown(),
        };
        match node.kind() {
            "self" | "this" => self.own_value(file, &facts, node),
            "identifier" => {
                if self.language == Language::Python
                    && let Some(own) = self.object_of_method(file, &facts, node)
                {
                    return own;
                }
                self.value_of_all(&self.free(file, node, Space::Any))
            }
            "parenthesized_expression" | "non_null_expression" => match named(node).as_slice() {
                [inner] => self.value(file, *inner),
                _ => Value::unknown(),
            },
            "reference_expression" => inner("value"),
            "unary_expression" if self.language == Language::Rust => {
                match (source.text_of(node).starts_with('*'), node.named_child(0)) {
                    (true, Some(inner)) => self.value(file, inner),
                    _ => Value::unknown(),
                }
            }
            "attribute" => self.attribute_value(file, node, "object", "attribute"),
            "member_expression" => self.attribute_value(file, node, "object", "property"),
            "field_expression" => self.attribute_value(file, node, "value", "field"),
            "scoped_identifier" => {
                let path = segments(source.text_of(node));
                self.value_of_all(&self.path((file, node.start_byte()), &path, Space::Value))
            }
            "call" | "call_expression" => match field(node, "function") {
                Some(function) if source.text_of(function) == "super" => Value::unknown(),
                Some(function) => self.result(&self.value(file, function)),
                None => Value::unknown(),
            },
            "new_expression" => match field(node, "constructor") {
                Some(class) => self.result(&self.value(file, class)),
                None => Value::unknown(),
            },
            "struct_expression" => match field(node, "name") {
                Some(name) => Value::of_type(self.type_entity(file, name)),
                None => Value::unknown(),
            },
            "as_expression" | "type_cast_expression" | "satisfies_expression" => {
                match named(node).get(1) {
                    Some(ty) => Value::of_type(self.type_entity(file, *ty)),
                    None => Value::unknown(),
                }
            }
            "string"
            | "integer"
            | "float"
            | "list"
            | "dictionary"
            | "set"
            | "tuple"
            | "concatenated_string"
            | "list_comprehension"
            | "dictionary_comprehension"
            | "set_comprehension"
            | "generator_expression"
            | "template_string"
            | "number"
            | "array"
            | "regex"
            | "string_literal"
            | "integer_literal"
            | "float_literal"
            | "boolean_literal"
            | "char_literal"
            | "none"
            | "true"
            | "false"
            | "not_operator"
            | "comparison_operator" => Value::of_type(Meaning::outside()),
            _ => Value::unknown(),
        }
    }

    fn attribute_value(&self, file: File, node: Node<'_>, object: &str, name: &str) -> Value {
        let Some(facts) = self.project.facts(file) else { return Value::unknown() };
        let (Some(object), Some(name)) = (field(node, object), field(node, name)) else {
            return Value::unknown();
        };
        let space = if self.language == Language::Rust { Space::Type } else { Space::Any };
        // `f()` of `x.f()` is a method, and `x.f` a field.
        let called = node.parent().is_some_and(|call| {
            call.kind() == "call_expression" && field(call, "function") == Some(node)
        });
        let space = if called && space == Space::Type { Space::Value } else { space };
        let value = self.value(file, object);
        self.value_of_all(&self.attribute(&value, facts.source.text_of(name), space))
    }

    /// `self` of Rust, `this` of ECMAScript.
    fn own_value(&self, file: File, facts: &Facts, node: Node<'_>) -> Value {
        if self.language.is_ecmascript() {
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
        match self.self_type(file, facts, node.start_byte()) {
            Some(entity) => Value::of_type(Meaning::of(entity)),
            None => Value::unknown(),
        }
    }

    /// The first parameter of a method of Python, also in functions within it.
    fn object_of_method(&self, file: File, facts: &Facts, node: Node<'_>) -> Option<Value> {
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
        let of = self.class_entity(file, facts, method.start_byte())?;
        Some(Value::of_type(Meaning::of(of)))
    }

    fn value_of_all(&self, meaning: &Meaning) -> Value {
        let mut all = Value::default();
        for entity in &meaning.0 {
            let one = self.value_of_entity(entity);
            all.things.extend(one.things.0);
            all.types.extend(one.types.0);
        }
        all
    }

    /// What a name is that means an entity.
    fn value_of_entity(&self, entity: &Entity) -> Value {
        match entity {
            Entity::Outside => Value::thing(Meaning::outside()),
            Entity::Unknown => Value::thing(Meaning::unknown()),
            Entity::Module { .. } | Entity::Package(_) => Value::thing(Meaning::of(entity.clone())),
            Entity::Member { owner, name, space } => {
                let all = self.declarations(owner, name, *space);
                if all.iter().any(|(_, one)| one.function) {
                    return Value::thing(Meaning::of(entity.clone()));
                }
                let of = all.iter().map(|(file, one)| (*file, one.ty.clone(), one.init.clone()));
                self.declared_value(of.collect())
            }
            Entity::Item { file, .. } | Entity::Local { file, .. } => {
                if !self.classes_of(entity).is_empty()
                    || self.rules.module_of_item(self, entity).is_some()
                    || self.function(entity).is_some()
                {
                    return Value::thing(Meaning::of(entity.clone()));
                }
                let Some(facts) = self.project.facts(*file) else { return Value::unknown() };
                let binding = match entity {
                    Entity::Local { binding, .. } => facts.bindings.get(*binding),
                    Entity::Item { name, .. } => facts.outermost(name),
                    _ => None,
                };
                let Some(binding) = binding else { return Value::unknown() };
                // What may have another value later has only the type that is written.
                let of = binding.declarations.iter().map(|one| {
                    let init = one.init.clone().filter(|_| !binding.assigned);
                    (*file, one.ty.clone(), init)
                });
                self.declared_value(of.collect())
            }
        }
    }

    /// The value of something that has all of these types and first values.
    #[allow(clippy::type_complexity)]
    fn declared_value(
        &self,
        all: Vec<(File, Option<std::ops::Range<usize>>, Option<std::ops::Range<usize>>)>,
    ) -> Value {
        let written: Vec<_> = all.iter().filter(|(_, ty, _)| ty.is_some()).collect();
        let mut value = Value::default();
        for (file, ty, init) in &all {
            let Some(facts) = self.project.facts(*file) else { return Value::unknown() };
            let one = match (ty, init) {
                (Some(ty), _) => Value::of_type(self.type_entity(*file, facts.source.node_at(ty))),
                (None, _) if !written.is_empty() => continue,
                (None, Some(init)) => self.value(*file, facts.source.node_at(init)),
                (None, None) => Value::unknown(),
            };
            value.things.extend(one.things.0);
            value.types.extend(one.types.0);
        }
        if value.things.is_empty() && value.types.is_empty() { Value::unknown() } else { value }
    }

    /// The nodes of the functions that an entity is, each with its file.
    fn function(&self, entity: &Entity) -> Option<Vec<(File, std::ops::Range<usize>)>> {
        let (file, facts, names) = match entity {
            Entity::Item { file, name, scope, space } => {
                let facts = self.project.facts(*file)?;
                let names: Vec<_> = match self.language {
                    Language::Rust => facts
                        .items
                        .iter()
                        .filter(|one| {
                            one.name == **name && one.space == *space && one.extent.start == *scope
                        })
                        .map(|one| one.at.clone())
                        .collect(),
                    _ => {
                        let all = &facts.outermost(name)?.declarations;
                        all.iter().map(|one| one.at.clone()).collect()
                    }
                };
                (*file, facts, names)
            }
            Entity::Local { file, binding } => {
                let facts = self.project.facts(*file)?;
                let all = &facts.bindings.get(*binding)?.declarations;
                let names = all.iter().map(|one| one.at.clone()).collect();
                (*file, facts, names)
            }
            _ => return None,
        };
        let is_function = |at: &std::ops::Range<usize>| {
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
    fn result(&self, called: &Value) -> Value {
        let mut all = Value::default();
        for thing in &called.things.0 {
            let types = match thing {
                Entity::Outside | Entity::Unknown => Meaning::unknown(),
                Entity::Member { owner, name, space } => {
                    let mut types = Meaning::default();
                    for (file, one) in self.declarations(owner, name, *space) {
                        let Some(facts) = self.project.facts(file) else { continue };
                        let node = facts.source.node_at(&one.at).parent();
                        let plain = node.is_some_and(|node| self.is_plain(&facts, node));
                        let ty = one.ty.filter(|_| plain);
                        types.extend(match ty {
                            Some(ty) => self.type_entity(file, facts.source.node_at(&ty)).0,
                            None => Meaning::unknown().0,
                        });
                    }
                    types
                }
                thing => match self.function(thing) {
                    Some(functions) => {
                        let mut types = Meaning::default();
                        for (file, range) in functions {
                            let Some(facts) = self.project.facts(file) else { continue };
                            let node = facts
                                .source
                                .root()
                                .descendant_for_byte_range(range.start, range.end);
                            let plain = node.filter(|node| self.is_plain(&facts, *node));
                            let ty = plain.and_then(|node| field(node, "return_type"));
                            types.extend(match ty {
                                Some(ty) => self.type_entity(file, ty).0,
                                None => Meaning::unknown().0,
                            });
                        }
                        types
                    }
                    None if !self.classes_of(thing).is_empty() => Meaning::of(thing.clone()),
                    None => Meaning::unknown(),
                },
            };
            all.types.extend(types.0);
        }
        all.types.extend(called.types.0.iter().map(|_| Entity::Unknown));
        if all.types.is_empty() { Value::unknown() } else { all }
    }

    /// True for a function whose call gives just what it is written to return.
    fn is_plain(&self, facts: &Facts, function: Node<'_>) -> bool {
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

    /// The types that a written type means.
    pub(super) fn type_entity(&self, file: File, node: Node<'_>) -> Meaning {
        let Some(facts) = self.project.facts(file) else { return Meaning::unknown() };
        let source = &facts.source;
        let inner = |node: Option<Node<'_>>| match node {
            Some(node) => self.step(|| self.type_entity(file, node)),
            None => Meaning::unknown(),
        };
        match node.kind() {
            "type" | "type_annotation" | "parenthesized_type" | "reference_type"
            | "dynamic_type" | "return_type" | "bounded_type" | "abstract_type" => {
                let parts = named(node);
                let mut types = parts.iter().filter(|one| {
                    !matches!(one.kind(), "lifetime" | "mutable_specifier" | "attribute_item")
                });
                match (types.next(), types.next()) {
                    (Some(only), None) => inner(Some(*only)),
                    _ => Meaning::unknown(),
                }
            }
            "identifier" | "type_identifier" => {
                let text = source.text_of(node);
                if text == "Self" && self.language == Language::Rust {
                    let own = self.self_type(file, &facts, node.start_byte());
                    return own.map_or(Meaning::unknown(), Meaning::of);
                }
                if super::locals::is_type_parameter(source, text, node) {
                    return Meaning::unknown();
                }
                let found = self.free(file, node, Space::Type);
                self.types_only(&found.or(Meaning::outside))
            }
            "attribute" | "member_expression" | "nested_type_identifier" => {
                let path = segments(source.text_of(node));
                let mut parts = path.iter();
                let Some(head) = parts.next() else { return Meaning::unknown() };
                let mut found = self.visible(file, node.start_byte(), head, Space::Any);
                for part in parts {
                    found = found.then(|one| self.descend(one, part, Space::Any));
                }
                self.types_only(&found.or(Meaning::outside))
            }
            "scoped_type_identifier" | "scoped_identifier" => {
                let path = segments(source.text_of(node));
                let found = self.path((file, node.start_byte()), &path, Space::Type);
                self.types_only(&found.or(Meaning::outside))
            }
            // `Point<T>` is a `Point`.
            "generic_type" if self.language != Language::Python => {
                let of = field(node, "type").or_else(|| field(node, "name"));
                let of = of.or_else(|| node.named_child(0));
                let found = inner(of);
                let head = of.map_or("", |of| source.text_of(of));
                // A type from outside may dereference to one of its parameters.
                match OPAQUE.contains(&head) {
                    true => found,
                    false => found.then_or_unknown(),
                }
            }
            "string" if self.language == Language::Python => {
                let text = source.text_of(node).trim_matches(['"', '\'']);
                let plain = |c: char| c.is_alphanumeric() || c == '_';
                match text.chars().all(plain) && !text.is_empty() {
                    true => {
                        let found = self.visible(file, node.start_byte(), text, Space::Any);
                        self.types_only(&found.or(Meaning::outside))
                    }
                    false => Meaning::unknown(),
                }
            }
            "generic_type" | "subscript" => {
                let text = source.text_of(node);
                let head = text.split('[').next().unwrap_or_default();
                match head.trim_start_matches("typing.").trim_start_matches("t.") {
                    "Optional" => {
                        let last = named(node).into_iter().next_back();
                        let part = last.filter(|one| one.kind() == "type_parameter");
                        inner(part.map_or(last, |list| list.named_child(0)))
                    }
                    head if OPAQUE.contains(&head) => Meaning::outside(),
                    _ => inner(node.named_child(0)).then_or_unknown(),
                }
            }
            "union_type" | "binary_operator" => {
                let mut all = Meaning::default();
                for part in named(node) {
                    if !matches!(source.text_of(part), "None" | "null" | "undefined") {
                        all.extend(inner(Some(part)).0);
                    }
                }
                all.or(Meaning::unknown)
            }
            "none" | "predefined_type" | "primitive_type" | "array_type" | "tuple_type"
            | "unit_type" | "literal_type" | "function_type" | "never_type" => Meaning::outside(),
            "call" | "call_expression" => Meaning::unknown(),
            _ => Meaning::unknown(),
        }
    }

    /// What a name of a type means, through aliases. What is no type is unknown.
    fn types_only(&self, meaning: &Meaning) -> Meaning {
        meaning.then(|entity| {
            if !self.classes_of(entity).is_empty() {
                return Meaning::of(entity.clone());
            }
            self.step(|| self.alias(entity))
        })
    }

    /// The type that an alias is another name of.
    pub(super) fn alias(&self, entity: &Entity) -> Meaning {
        let Entity::Item { file, name, scope, space } = entity else { return Meaning::unknown() };
        let Some(facts) = self.project.facts(*file) else { return Meaning::unknown() };
        let at = match self.language {
            Language::Rust => facts
                .items
                .iter()
                .find(|one| one.name == **name && one.space == *space && one.extent.start == *scope)
                .map(|one| one.at.clone()),
            _ => facts
                .outermost(name)
                .filter(|one| one.declarations.len() == 1)
                .map(|one| one.declarations[0].at.clone()),
        };
        let node = at.and_then(|at| facts.source.node_at(&at).parent());
        let of = node.and_then(|node| match node.kind() {
            "type_item" => field(node, "type"),
            "type_alias_declaration" => field(node, "value"),
            "assignment" => field(node, "right")
                .filter(|right| matches!(right.kind(), "identifier" | "attribute")),
            _ => None,
        });
        match of {
            Some(of) => self.step(|| self.type_entity(*file, of)),
            None => Meaning::unknown(),
        }
    }
}
