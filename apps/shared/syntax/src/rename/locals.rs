//! Variables, parameters and type parameters that hide what is declared outside.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Node;

use crate::bind::bind;
use crate::language::Language;
use crate::scopes::Keyword;
use crate::source::{Source, ancestors, descendants, field, named};

use super::occurrences::nodes;

/// The first bytes of names that are resolved by a scope within a function.
#[derive(Default)]
pub(crate) struct Hidden {
    /// Names of variables, parameters or nested functions other than the target.
    pub others: HashSet<usize>,
    /// Names of the target, if it is declared within a function.
    pub own: HashSet<usize>,
    /// Names whose scope can't be determined.
    pub unsure: HashSet<usize>,
}

/// Returns the occurrences of a name that the scopes of functions decide. `targets` are the names
/// of the declarations that are renamed.
pub(crate) fn hiding(source: &Source, name: &str, targets: &[Range<usize>]) -> Hidden {
    let (language, mut hidden) = (source.language(), Hidden::default());
    let all = nodes(source, name);
    let mut functions: Vec<Node<'_>> = Vec::new();
    for node in &all {
        let around: Vec<_> = ancestors(*node).collect();
        if is_type_parameter(source, name, *node) {
            hidden.others.insert(node.start_byte());
        }
        let mut outside = around.iter().rev().filter(|one| language.is_function(one.kind()));
        match outside.next() {
            Some(function) => {
                // In Rust a function within another one is an item, whose variables are its own.
                let items = outside.filter(|one| one.kind() == "function_item");
                for function in std::iter::once(function).chain(items) {
                    if !functions.contains(function) {
                        functions.push(*function);
                    }
                }
            }
            None if around.iter().any(|one| is_block(one.kind())) => {
                hidden.unsure.insert(node.start_byte());
            }
            None => {}
        }
    }
    if !language.has_extraction() {
        for node in &all {
            if c_like(source, name, *node) {
                hidden.others.insert(node.start_byte());
            }
        }
        return hidden;
    }
    for function in functions {
        let scopes = bind(source, function);
        for binding in scopes.bindings.iter().filter(|one| one.name == name) {
            let imported = binding.declarations.iter().any(|one| {
                ancestors(one.name).any(|around| {
                    around.kind().contains("import") || around.kind() == "use_declaration"
                })
            });
            if imported {
                let uses = binding.uses.iter().map(|one| one.node.start_byte());
                hidden.unsure.extend(uses);
                continue;
            }
            let own =
                binding.declarations.iter().any(|one| targets.contains(&one.name.byte_range()));
            let item = binding.keyword() == Keyword::Item;
            let into = match own {
                true => &mut hidden.own,
                false if item && binding.declarations.len() > 1 => &mut hidden.unsure,
                false => &mut hidden.others,
            };
            into.extend(binding.declarations.iter().map(|one| one.name.start_byte()));
            into.extend(binding.uses.iter().map(|one| one.node.start_byte()));
        }
        // A function's own name belongs to what is around it.
        if let Some(own) = field(function, "name") {
            hidden.others.remove(&own.start_byte());
        }
    }
    hidden
}

/// True for scopes outside of functions in which variables may be declared.
fn is_block(kind: &str) -> bool {
    matches!(
        kind,
        "block"
            | "statement_block"
            | "for_statement"
            | "for_in_statement"
            | "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression"
            | "catch_clause"
    )
}

/// True for a type parameter and its uses.
pub(super) fn is_type_parameter(source: &Source, name: &str, node: Node<'_>) -> bool {
    std::iter::once(node).chain(ancestors(node)).any(|around| {
        let list = field(around, "type_parameters")
            .into_iter()
            .chain(named(around).into_iter().filter(|one| one.kind() == "template_parameter_list"));
        list.into_iter().any(|list| {
            // A lifetime of the same name is something else.
            let parameters = named(list).into_iter().filter(|one| !one.kind().contains("lifetime"));
            parameters.into_iter().any(|parameter| {
                let declared = field(parameter, "name").unwrap_or(parameter);
                let first = std::iter::successors(Some(declared), |one| one.named_child(0)).last();
                first.is_some_and(|first| source.text_of(first) == name)
            })
        })
    })
}

/// For languages without a binder: true if a declaration of the name within the function is around
/// or before.
fn c_like(source: &Source, name: &str, node: Node<'_>) -> bool {
    if matches!(source.language(), Language::Markdown) {
        return false;
    }
    let member = node.parent().is_some_and(|parent| {
        let behind =
            ["field", "name", "property"].iter().any(|part| field(parent, part) == Some(node));
        matches!(
            parent.kind(),
            "field_expression"
                | "field_access"
                | "member_access_expression"
                | "qualified_identifier"
        ) && behind
            || (parent.kind() == "method_invocation" && field(parent, "name") == Some(node))
    });
    if member {
        return false;
    }
    ancestors(node).any(|scope| {
        let function = source.language().is_function(scope.kind());
        let block = matches!(
            scope.kind(),
            "compound_statement"
                | "block"
                | "for_statement"
                | "for_range_loop"
                | "for_each_statement"
                | "foreach_statement"
                | "enhanced_for_statement"
                | "catch_clause"
                | "try_with_resources_statement"
                | "switch_block_statement_group"
                | "switch_section"
                | "using_statement"
                | "constructor_body"
                | "if_statement"
                | "while_statement"
        );
        (function || block) && declares_local(source, name, scope, node)
    })
}

fn declares_local(source: &Source, name: &str, scope: Node<'_>, node: Node<'_>) -> bool {
    descendants(scope).into_iter().any(|one| {
        if source.text_of(one) != name || !one.kind().contains("identifier") {
            return false;
        }
        let declares = ancestors(one).take_while(|around| *around != scope).any(|around| {
            let local = matches!(
                around.kind(),
                "parameter_declaration"
                    | "optional_parameter_declaration"
                    | "formal_parameter"
                    | "spread_parameter"
                    | "parameter"
                    | "catch_formal_parameter"
                    | "catch_declaration"
                    | "resource"
                    | "inferred_parameters"
                    | "local_variable_declaration"
                    | "local_declaration_statement"
                    | "declaration_pattern"
                    | "variable_declaration"
                    | "declaration"
                    | "implicit_parameter"
            );
            let named = ["declarator", "name", "pattern"].iter().any(|part| {
                let chain =
                    std::iter::once(one).chain(ancestors(one).take_while(|up| *up != around));
                chain
                    .into_iter()
                    .any(|up| up.parent().is_some_and(|parent| field(parent, part) == Some(up)))
            });
            local && named
        });
        let loop_variable = one.parent().is_some_and(|parent| {
            matches!(
                parent.kind(),
                "enhanced_for_statement"
                    | "foreach_statement"
                    | "lambda_expression"
                    | "instanceof_expression"
            ) && ["name", "left", "parameters"].iter().any(|part| field(parent, part) == Some(one))
        });
        (declares || loop_variable) && (one == node || one.start_byte() <= node.start_byte())
    })
}
