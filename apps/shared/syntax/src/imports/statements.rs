//! The import statements of a file, as they are written.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, children, descendants, field, fields, has_token, named};

/// The kind of an import or export statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `import { a } from 'm'`, `from m import a`
    Import,
    /// `export { a } from 'm'`
    Reexport,
    /// `export * from 'm'`
    ReexportAll,
    /// `export * as m from 'm'`
    ReexportAs,
    /// `import a.b` of Python
    ImportModule,
    /// `from m import *`
    ImportAll,
}

/// A name that a statement imports or exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Imported {
    /// The name within the file, or the name under which the file exports it.
    pub local: String,
    /// The name in the module; for Python's `import a.b`, the path of the module.
    pub original: String,
    /// The range of the whole entry: `type a as b`.
    pub range: Range<usize>,
    /// True for `type a`.
    pub is_type: bool,
    /// True if an alias is written, be it the same name.
    pub has_alias: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub kind: Kind,
    pub range: Range<usize>,
    /// The module, without quotes; empty for `import a.b`.
    pub specifier: String,
    pub specifier_range: Range<usize>,
    /// True for `import type …`.
    pub is_type: bool,
    pub names: Vec<Imported>,
    pub default: Option<Imported>,
    pub namespace: Option<Imported>,
    /// The list of names with its braces or parentheses.
    pub list: Option<Range<usize>>,
    /// True if it stands in no function and no block.
    pub is_outermost: bool,
    /// True if it gives names to a function alone.
    pub is_in_function: bool,
    /// True for what follows its path, such as `with { type: 'json' }`.
    pub has_attributes: bool,
}

impl Statement {
    fn new(kind: Kind, node: Node<'_>) -> Self {
        let top = |parent: Node<'_>| matches!(parent.kind(), "program" | "module");
        Self {
            kind,
            range: node.byte_range(),
            specifier: String::new(),
            specifier_range: node.start_byte()..node.start_byte(),
            is_type: false,
            names: Vec::new(),
            default: None,
            namespace: None,
            list: None,
            is_outermost: node
                .parent()
                .is_some_and(|parent| top(parent) && parent.parent().is_none()),
            is_in_function: ancestors(node)
                .any(|one| matches!(one.kind(), "function_definition" | "class_definition")),
            has_attributes: false,
        }
    }

    /// Everything that it gives a name in the file.
    pub(super) fn bound(&self) -> Vec<&Imported> {
        match self.kind {
            Kind::Import | Kind::ImportModule => {
                self.default.iter().chain(&self.namespace).chain(&self.names).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the indexes of the names that satisfy a predicate.
    pub(super) fn positions(&self, wanted: impl Fn(&Imported) -> bool) -> Vec<usize> {
        (0..self.names.len()).filter(|index| wanted(&self.names[*index])).collect()
    }
}

/// Returns the statements of a file, in the order of the text.
pub(super) fn statements(source: &Source) -> Vec<Statement> {
    match source.language() {
        Language::Python => descendants(source.root())
            .into_iter()
            .filter_map(|node| match node.kind() {
                "import_from_statement" => Some(python_from(source, node)),
                "import_statement" => Some(python_import(source, node)),
                _ => None,
            })
            .collect(),
        language if language.is_ecmascript() => {
            // Those in `declare module` are of that module.
            named(source.root()).into_iter().filter_map(|node| ecmascript(source, node)).collect()
        }
        _ => Vec::new(),
    }
}

fn ecmascript(source: &Source, node: Node<'_>) -> Option<Statement> {
    let kind = match node.kind() {
        "import_statement" => Kind::Import,
        "export_statement" => Kind::Reexport,
        _ => return None,
    };
    let from = field(node, "source").filter(|from| from.kind() == "string")?;
    if node.has_error() {
        return None;
    }
    let mut statement = Statement::new(kind, node);
    let quoted = from.byte_range();
    statement.specifier_range =
        quoted.start + 1..quoted.end.saturating_sub(1).max(quoted.start + 1);
    statement.specifier = source.text()[statement.specifier_range.clone()].to_owned();
    statement.is_type = has_token(node, "type") || has_token(node, "typeof");
    for part in children(node) {
        match part.kind() {
            "*" => statement.kind = Kind::ReexportAll,
            "namespace_export" => statement.kind = Kind::ReexportAs,
            "export_clause" => list(source, part, &mut statement),
            "import_attribute" => statement.has_attributes = true,
            "import_clause" => {
                for clause in named(part) {
                    match clause.kind() {
                        "identifier" => {
                            statement.default = Some(alone(source, clause, clause, "default"));
                        }
                        "namespace_import" => {
                            if let Some(name) = clause.named_child(0) {
                                statement.namespace = Some(alone(source, clause, name, "*"));
                            }
                        }
                        "named_imports" => list(source, clause, &mut statement),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some(statement)
}

fn alone(source: &Source, node: Node<'_>, name: Node<'_>, original: &str) -> Imported {
    Imported {
        local: source.text_of(name).to_owned(),
        original: original.to_owned(),
        range: node.byte_range(),
        is_type: false,
        has_alias: false,
    }
}

fn list(source: &Source, node: Node<'_>, statement: &mut Statement) {
    statement.list = Some(node.byte_range());
    for one in named(node) {
        if let Some(name) = field(one, "name") {
            let alias = field(one, "alias");
            statement.names.push(Imported {
                local: source.text_of(alias.unwrap_or(name)).to_owned(),
                original: source.text_of(name).to_owned(),
                range: one.byte_range(),
                is_type: has_token(one, "type"),
                has_alias: alias.is_some(),
            });
        }
    }
}

fn python_name(source: &Source, node: Node<'_>) -> Imported {
    let alias = field(node, "alias");
    let name = if alias.is_some() { field(node, "name").unwrap_or(node) } else { node };
    let original: String = source.text_of(name).split_whitespace().collect();
    Imported {
        local: alias.map_or(original.clone(), |alias| source.text_of(alias).to_owned()),
        original,
        range: node.byte_range(),
        is_type: false,
        has_alias: alias.is_some(),
    }
}

fn python_from(source: &Source, node: Node<'_>) -> Statement {
    let mut statement = Statement::new(Kind::Import, node);
    if let Some(module) = field(node, "module_name") {
        statement.specifier_range = module.byte_range();
        statement.specifier = source.text_of(module).split_whitespace().collect();
    }
    statement.names =
        fields(node, "name").into_iter().map(|one| python_name(source, one)).collect();
    for part in children(node) {
        match part.kind() {
            "wildcard_import" => statement.kind = Kind::ImportAll,
            "(" => statement.list = Some(part.start_byte()..node.end_byte()),
            _ => {}
        }
    }
    statement
}

fn python_import(source: &Source, node: Node<'_>) -> Statement {
    let mut statement = Statement::new(Kind::ImportModule, node);
    let names = fields(node, "name").into_iter().map(|one| python_name(source, one));
    // `import a.b` gives the file `a`.
    statement.names = names
        .map(|mut one| {
            if !one.has_alias {
                one.local = one.local.split('.').next().unwrap_or_default().to_owned();
            }
            one
        })
        .collect();
    statement
}
