//! Resolves written types.

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, field, named};

use super::facts::Facts;
use super::meaning::{Entity, FileId, Meaning, Space};
use super::occurrences::segments;
use super::resolve::Resolver;

/// Types of the languages' own libraries that have no members of their parameters. Any other one
/// with parameters may stand for one of them, as `Box<T>`, `Readonly<T>` and `Annotated[T]` do.
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

impl Resolver<'_, '_> {
    /// The type that `Self` and `self` are at a byte.
    pub(super) fn self_type(&self, file: FileId, facts: &Facts, at: usize) -> Option<Entity> {
        let index = super::classes::class_around(&facts.classes, at)?;
        let class = facts.classes.get(index)?;
        match class.is_impl {
            true => self.impl_owner(file, facts.source.node_at(&class.at)),
            false => self.owner(file, facts, class),
        }
    }

    /// The types that a written type means.
    pub(super) fn type_entity(&self, file: FileId, node: Node<'_>) -> Meaning {
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
                self.types_only(&self.free(file, node, Space::Type).or(Meaning::outside))
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
                let opaque = of.is_some_and(|of| OPAQUE.contains(&source.text_of(of)));
                // A type from outside may dereference to one of its parameters.
                if opaque { inner(of) } else { inner(of).then_or_unknown() }
            }
            "string" if self.language == Language::Python => {
                let name = quoted_name(source.text_of(node));
                let found =
                    name.map(|name| self.visible(file, node.start_byte(), name, Space::Any));
                found.map_or_else(Meaning::unknown, |found| {
                    self.types_only(&found.or(Meaning::outside))
                })
            }
            "generic_type" | "subscript" => match python_generic(source, node) {
                PythonGeneric::Optional(part) => inner(part),
                PythonGeneric::Opaque => Meaning::outside(),
                PythonGeneric::Other => inner(node.named_child(0)).then_or_unknown(),
            },
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
            _ => Meaning::unknown(),
        }
    }

    /// The types that a name refers to, through aliases. Anything else is unknown.
    fn types_only(&self, meaning: &Meaning) -> Meaning {
        meaning.then(|entity| {
            if !self.classes_of(entity).is_empty() {
                return Meaning::of(entity.clone());
            }
            self.step(|| self.alias(entity))
        })
    }

    /// The type that an alias stands for.
    pub(super) fn alias(&self, entity: &Entity) -> Meaning {
        let Entity::Item { file, name, scope, space } = entity else { return Meaning::unknown() };
        let Some(facts) = self.project.facts(*file) else { return Meaning::unknown() };
        let at = match self.language {
            Language::Rust => facts.items_of(*scope, name, *space).next().map(|one| one.at.clone()),
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

/// What a type of Python with parameters is.
enum PythonGeneric<'t> {
    /// `Optional[T]` is a `T`.
    Optional(Option<Node<'t>>),
    /// One of [`OPAQUE`].
    Opaque,
    Other,
}

fn python_generic<'t>(source: &Source, node: Node<'t>) -> PythonGeneric<'t> {
    let head = source.text_of(node).split('[').next().unwrap_or_default();
    match head.trim_start_matches("typing.").trim_start_matches("t.") {
        "Optional" => {
            let last = named(node).into_iter().next_back();
            let list = last.filter(|one| one.kind() == "type_parameter");
            PythonGeneric::Optional(list.map_or(last, |list| list.named_child(0)))
        }
        head if OPAQUE.contains(&head) => PythonGeneric::Opaque,
        _ => PythonGeneric::Other,
    }
}

/// Returns the name that a Python annotation in quotes consists of.
fn quoted_name(literal: &str) -> Option<&str> {
    let name = literal.trim_matches(['"', '\'']);
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}
