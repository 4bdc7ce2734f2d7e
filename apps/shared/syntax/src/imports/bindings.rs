//! The declarations of a module, which of them can be imported, and the uses of a name of its
//! outermost scope.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::regions::regions;
use crate::rename::locals::hiding;
use crate::rename::occurrences::{self, Role, words};
use crate::source::{Source, ancestors, children, descendants, field, fields, has_token, named};

use super::statements::Statement;

/// The way in which other files can import something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Export {
    /// They can't.
    No,
    /// Importable by this name.
    As(String),
    /// Importable as the module's default.
    Default,
}

/// Something that a module declares in its outermost scope.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub name: String,
    pub name_range: Range<usize>,
    pub export: Export,
    /// True for what is no value: it is imported with `import type`.
    pub is_type: bool,
}

/// Returns what a module declares.
pub(super) fn declared(source: &Source) -> Vec<Declared> {
    let mut all = Vec::new();
    match source.language() {
        Language::Python => python(source, source.root(), &mut all),
        language if language.is_ecmascript() => {
            let mut lists = Vec::new();
            for node in named(source.root()) {
                ecmascript(source, node, Export::No, &mut all);
                exported(source, node, &mut lists);
            }
            for one in all.iter_mut().filter(|one| one.export == Export::No) {
                let found = lists.iter().find(|(name, _)| *name == one.name);
                one.export = found.map_or(Export::No, |(_, export)| export.clone());
            }
        }
        _ => {}
    }
    all
}

fn add(source: &Source, name: Node<'_>, export: &Export, is_type: bool, all: &mut Vec<Declared>) {
    let text = source.text_of(name);
    let export = match export {
        Export::As(_) => Export::As(text.to_owned()),
        other => other.clone(),
    };
    all.push(Declared { name: text.to_owned(), name_range: name.byte_range(), export, is_type });
}

fn ecmascript(source: &Source, node: Node<'_>, export: Export, all: &mut Vec<Declared>) {
    match node.kind() {
        "export_statement" => {
            if let Some(declaration) = field(node, "declaration") {
                let export = match has_token(node, "default") {
                    true => Export::Default,
                    false => Export::As(String::new()),
                };
                ecmascript(source, declaration, export, all);
            }
        }
        "ambient_declaration" | "expression_statement" => {
            for inner in named(node).into_iter().filter(|one| one.kind() != "export_statement") {
                if node.kind() == "ambient_declaration" || inner.kind() == "internal_module" {
                    ecmascript(source, inner, export.clone(), all);
                }
            }
        }
        "lexical_declaration" | "variable_declaration" => {
            let patterns = named(node).into_iter().filter_map(|one| field(one, "name"));
            for name in patterns.flat_map(bound_by) {
                add(source, name, &export, false, all);
            }
        }
        "function_declaration"
        | "generator_function_declaration"
        | "function_signature"
        | "class_declaration"
        | "abstract_class_declaration"
        | "enum_declaration"
        | "internal_module"
        | "module"
        | "interface_declaration"
        | "type_alias_declaration" => {
            let is_type = matches!(node.kind(), "interface_declaration" | "type_alias_declaration");
            if let Some(name) = field(node, "name").filter(|name| name.kind() != "string") {
                add(source, name, &export, is_type, all);
            }
        }
        _ => {}
    }
}

/// Returns the names that a pattern gives to values.
fn bound_by(pattern: Node<'_>) -> Vec<Node<'_>> {
    let part = |name| field(pattern, name).map(bound_by).unwrap_or_default();
    match pattern.kind() {
        "identifier" | "shorthand_property_identifier_pattern" => vec![pattern],
        "pair_pattern" => part("value"),
        "assignment_pattern" | "object_assignment_pattern" => part("left"),
        "object_pattern" | "array_pattern" | "rest_pattern" => {
            named(pattern).into_iter().flat_map(bound_by).collect()
        }
        _ => Vec::new(),
    }
}

/// Collects what `export { a, b as c }` and `export default a` say.
fn exported(source: &Source, node: Node<'_>, lists: &mut Vec<(String, Export)>) {
    if node.kind() != "export_statement" || field(node, "source").is_some() {
        return;
    }
    if let Some(value) = field(node, "value").filter(|value| value.kind() == "identifier") {
        lists.push((source.text_of(value).to_owned(), Export::Default));
    }
    for one in children(node).into_iter().filter(|one| one.kind() == "export_clause") {
        for one in named(one) {
            let Some(name) = field(one, "name") else { continue };
            let export = match source.text_of(field(one, "alias").unwrap_or(name)) {
                "default" => Export::Default,
                alias => Export::As(alias.to_owned()),
            };
            lists.push((source.text_of(name).to_owned(), export));
        }
    }
}

fn python(source: &Source, block: Node<'_>, all: &mut Vec<Declared>) {
    let export = Export::As(String::new());
    for node in named(block) {
        match node.kind() {
            "function_definition" | "class_definition" => {
                if let Some(name) = field(node, "name") {
                    add(source, name, &export, false, all);
                }
            }
            "expression_statement" => {
                let mut open: Vec<_> = named(node);
                while let Some(one) = open.pop().filter(|one| one.kind() == "assignment") {
                    let left = field(one, "left").map(descendants).unwrap_or_default();
                    let names = left.into_iter().filter(|name| {
                        name.kind() == "identifier"
                            && name.parent().is_none_or(|parent| {
                                !matches!(parent.kind(), "attribute" | "subscript" | "call")
                            })
                    });
                    names.for_each(|name| add(source, name, &export, false, all));
                    open.extend(field(one, "right"));
                }
            }
            "type_alias_statement" => {
                let name = field(node, "left").and_then(|left| {
                    descendants(left).into_iter().find(|one| one.kind() == "identifier")
                });
                name.into_iter().for_each(|name| add(source, name, &export, false, all));
            }
            "import_statement" | "import_from_statement" => {}
            _ => python(source, node, all),
        }
    }
}

/// Returns where a name of the outermost scope is used within a range.
pub(super) fn uses(source: &Source, name: &str, within: &Range<usize>) -> Vec<usize> {
    if !source.text()[within.clone()].contains(name) {
        return Vec::new();
    }
    let hidden = hiding(source, name, &[]);
    let all = occurrences::all(source, name).into_iter().filter(|one| {
        let at = one.node.start_byte();
        let role = match &one.role {
            Role::Free => !is_parameter_of_type(one.node),
            Role::Field { shorthand, .. } => *shorthand,
            Role::Unknown => matches!(one.node.kind(), "identifier" | "type_identifier"),
            _ => false,
        };
        within.contains(&at) && role && !hidden.others.contains(&at)
    });
    all.map(|one| one.node.start_byte()).collect()
}

/// True if a name stands anywhere in the code of a file.
pub(super) fn mentions(source: &Source, name: &str) -> bool {
    !occurrences::nodes(source, name).is_empty()
}

/// True if a name stands in a comment or a string of a file, outside of its import statements.
pub(super) fn is_written(source: &Source, name: &str, statements: &[Statement]) -> bool {
    let all = regions(source);
    let mut regions = all.comments.iter().chain(&all.strings);
    regions.any(|region| {
        words(&source.text()[region.clone()], name).any(|at| {
            let at = region.start + at;
            !statements.iter().any(|one| one.range.contains(&at))
        })
    })
}

/// `(name: string) => void`
fn is_parameter_of_type(node: Node<'_>) -> bool {
    let Some(parameter) = node.parent() else { return false };
    let pattern = matches!(parameter.kind(), "required_parameter" | "optional_parameter")
        && field(parameter, "pattern") == Some(node);
    pattern
        && ancestors(parameter).nth(1).is_some_and(|around| {
            matches!(
                around.kind(),
                "function_type"
                    | "constructor_type"
                    | "method_signature"
                    | "call_signature"
                    | "construct_signature"
                    | "function_signature"
                    | "abstract_method_signature"
            )
        })
}

/// True if the name at a byte gets another value there, which an imported name can't.
pub(super) fn is_assigned(source: &Source, name: &str, at: usize) -> bool {
    let node = source.node_at(&(at..at + name.len()));
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "assignment_expression" | "augmented_assignment_expression" => {
            source.language().is_ecmascript() && field(parent, "left") == Some(node)
        }
        "update_expression" | "global_statement" => true,
        _ => false,
    }
}

/// Returns the relative paths that are written in code outside of import statements, such as in
/// `require('./a')`: the path, its byte, and what it is given to.
pub(super) fn other_paths(source: &Source) -> Vec<(String, usize, String)> {
    if !source.language().is_ecmascript() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for node in descendants(source.root()).into_iter().filter(|one| one.kind() == "string") {
        let text = source.text_of(node);
        let path = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        let call = ancestors(node).nth(1).filter(|call| call.kind() == "call_expression");
        let required = node.parent().filter(|one| one.kind() == "import_require_clause");
        let to = match (call, required) {
            (Some(call), _) => field(call, "function").map(|function| source.text_of(function)),
            (None, Some(_)) => Some("require"),
            (None, None) => None,
        };
        if let Some(to) = to.filter(|_| super::specifiers::is_relative(path)) {
            let to = match to {
                "import" => "dynamic import",
                other => other.lines().next().unwrap_or_default(),
            };
            found.push((path.to_owned(), node.start_byte(), to.to_owned()));
        }
    }
    found
}

/// True if a file has elements of JSX within a range, which older tools turn into uses of `React`.
pub(super) fn has_jsx(source: &Source, within: &Range<usize>) -> bool {
    source.language().is_ecmascript()
        && descendants(source.root()).into_iter().any(|one| {
            matches!(one.kind(), "jsx_element" | "jsx_self_closing_element")
                && within.contains(&one.start_byte())
        })
}

/// Returns the values of the list `__all__` of a Python module, with their bytes.
pub(crate) fn listed_in_all(source: &Source) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    if source.language() != Language::Python {
        return found;
    }
    for statement in named(source.root()) {
        for assignment in named(statement) {
            let is_all = fields(assignment, "left")
                .first()
                .is_some_and(|left| source.text_of(*left) == "__all__");
            if is_all {
                let strings =
                    descendants(assignment).into_iter().filter(|one| one.kind() == "string");
                found.extend(strings.map(|one| {
                    (source.text_of(one).trim_matches(['"', '\'']).to_owned(), one.start_byte())
                }));
            }
        }
    }
    found
}
