//! Python: a name belongs to the function that assigns it.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::scopes::{Access, Declaration, Keyword, Scopes};
use crate::source::{Source, children, field, fields, named};

pub(super) fn bind<'t>(source: &'t Source, function: Node<'t>) -> Scopes<'t> {
    let mut binder = Binder { source, scopes: Scopes::default(), outer: Vec::new() };
    binder.function(function, None);
    binder.scopes
}

pub(super) fn bind_module(source: &Source) -> Scopes<'_> {
    let mut binder = Binder { source, scopes: Scopes::default(), outer: Vec::new() };
    let scope = binder.scopes.open_function(None, source.root().byte_range());
    named(source.root()).into_iter().for_each(|child| binder.visit(child, scope));
    binder.scopes
}

struct Binder<'t> {
    source: &'t Source,
    scopes: Scopes<'t>,
    /// For each function around the node that is walked, the names that it declares `global` and
    /// `nonlocal`.
    outer: Vec<(HashSet<&'t str>, HashSet<&'t str>)>,
}

impl<'t> Binder<'t> {
    fn function(&mut self, node: Node<'t>, parent: Option<usize>) {
        let scope = self.scopes.open_function(parent, node.byte_range());
        let mut names = (HashSet::new(), HashSet::new());
        if let Some(body) = field(node, "body") {
            self.outer_names(body, &mut names);
        }
        self.outer.push(names);
        for parameter in field(node, "parameters").map(named).unwrap_or_default() {
            self.parameter(parameter, scope, parent);
        }
        if let Some(body) = field(node, "body") {
            self.visit(body, scope);
        }
        self.outer.pop();
    }

    /// Collects what `global` and `nonlocal` statements of a function name.
    fn outer_names(&self, node: Node<'t>, names: &mut (HashSet<&'t str>, HashSet<&'t str>)) {
        for child in named(node) {
            let all = || named(child).into_iter().map(|name| self.source.text_of(name));
            match child.kind() {
                "global_statement" => names.0.extend(all()),
                "nonlocal_statement" => names.1.extend(all()),
                "function_definition" | "lambda" | "class_definition" => {}
                _ => self.outer_names(child, names),
            }
        }
    }

    fn parameter(&mut self, node: Node<'t>, scope: usize, outside: Option<usize>) {
        let ty = field(node, "type");
        for evaluated in [field(node, "value"), ty].into_iter().flatten() {
            if let Some(outside) = outside {
                self.visit(evaluated, outside);
            }
        }
        let name = match node.kind() {
            "identifier" => Some(node),
            _ => field(node, "name").or_else(|| node.named_child(0)),
        };
        match name {
            Some(name) if name.kind() == "identifier" => {
                // The annotation of `*args` and `**kwargs` is that of their elements.
                let mut declaration = Declaration::new(name, Keyword::Parameter);
                declaration.ty = ty;
                self.scopes.declare(scope, self.source.text_of(name), 0, true, declaration);
            }
            Some(splat) if splat.kind().ends_with("splat_pattern") => {
                if let Some(name) = splat.named_child(0) {
                    let declaration = Declaration::new(name, Keyword::Parameter);
                    self.scopes.declare(scope, self.source.text_of(name), 0, true, declaration);
                }
            }
            _ => {}
        }
    }

    /// Notes an assignment to a name.
    fn assign(
        &mut self,
        name: Node<'t>,
        scope: usize,
        access: Access,
        in_loop: bool,
        ty: Option<Node<'t>>,
    ) {
        let text = self.source.text_of(name);
        let (global, nonlocal) = match self.outer.last() {
            Some((global, nonlocal)) => (global.contains(text), nonlocal.contains(text)),
            None => (false, false),
        };
        if global {
            self.scopes.outer_writes.push(name);
        } else if nonlocal {
            self.scopes.note_outer(scope, text, name, access);
        } else {
            let mut declaration = Declaration::new(name, Keyword::Var);
            declaration.in_loop = in_loop;
            declaration.ty = ty;
            self.scopes.declare(scope, text, 0, true, declaration);
            self.scopes.note(scope, text, name, access);
        }
    }

    fn target(&mut self, node: Node<'t>, scope: usize, in_loop: bool, ty: Option<Node<'t>>) {
        match node.kind() {
            "identifier" => self.assign(node, scope, Access::Write, in_loop, ty),
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "tuple"
            | "list"
            | "expression_list"
            | "parenthesized_expression"
            | "list_splat"
            | "as_pattern_target" => {
                named(node).into_iter().for_each(|part| self.target(part, scope, in_loop, None));
            }
            _ => self.visit(node, scope),
        }
    }

    fn visit_children(&mut self, node: Node<'t>, scope: usize) {
        named(node).into_iter().for_each(|child| self.visit(child, scope));
    }

    fn visit_field(&mut self, node: Node<'t>, name: &str, scope: usize) {
        field(node, name).into_iter().for_each(|child| self.visit(child, scope));
    }

    fn visit(&mut self, node: Node<'t>, scope: usize) {
        match node.kind() {
            "identifier" => {
                self.scopes.note(scope, self.source.text_of(node), node, Access::Read);
            }
            "function_definition" => {
                if let Some(name) = field(node, "name") {
                    self.assign(name, scope, Access::Write, false, None);
                }
                self.visit_field(node, "return_type", scope);
                self.function(node, Some(scope));
            }
            "lambda" => self.function(node, Some(scope)),
            "class_definition" => self.class(node, scope),
            "assignment" => {
                let ty = field(node, "type");
                self.visit_field(node, "right", scope);
                ty.into_iter().for_each(|ty| self.visit(ty, scope));
                // `x: int` alone declares the name without a value.
                if let (Some(left), Some(_)) = (field(node, "left"), field(node, "right")) {
                    self.target(left, scope, false, ty);
                }
            }
            "augmented_assignment" => {
                self.visit_field(node, "right", scope);
                match field(node, "left") {
                    Some(left) if left.kind() == "identifier" => {
                        self.assign(left, scope, Access::ReadWrite, false, None);
                    }
                    Some(left) => self.visit(left, scope),
                    None => {}
                }
            }
            "for_statement" => {
                self.visit_field(node, "right", scope);
                field(node, "left")
                    .into_iter()
                    .for_each(|left| self.target(left, scope, true, None));
                for part in [field(node, "body"), field(node, "alternative")].into_iter().flatten()
                {
                    self.visit(part, scope);
                }
            }
            "as_pattern_target" => self.target(node, scope, false, None),
            "named_expression" => {
                self.visit_field(node, "value", scope);
                if let Some(name) = field(node, "name") {
                    let function = self.scopes.function_scope(scope);
                    self.assign(name, function, Access::Write, false, None);
                }
            }
            "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => self.comprehension(node, scope),
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                self.imports(node, scope)
            }
            "case_pattern" => self.case_pattern(node, scope),
            "global_statement" | "nonlocal_statement" => {}
            "attribute" => self.visit_field(node, "object", scope),
            "keyword_argument" => {
                self.visit_field(node, "value", scope);
            }
            _ => self.visit_children(node, scope),
        }
    }

    fn imports(&mut self, node: Node<'t>, scope: usize) {
        for name in fields(node, "name") {
            let bound = match name.kind() {
                "aliased_import" => field(name, "alias"),
                _ => name.named_child(0),
            };
            bound.into_iter().for_each(|name| self.assign(name, scope, Access::Write, false, None));
        }
    }

    fn class(&mut self, node: Node<'t>, scope: usize) {
        if let Some(name) = field(node, "name") {
            self.assign(name, scope, Access::Write, false, None);
        }
        self.visit_field(node, "superclasses", scope);
        if let Some(body) = field(node, "body") {
            let inner = self.scopes.open_class(scope, body.byte_range());
            self.outer.push(Default::default());
            self.visit(body, inner);
            self.outer.pop();
        }
    }

    fn comprehension(&mut self, node: Node<'t>, scope: usize) {
        let inner = match node.kind() {
            // A generator runs when it is asked for elements.
            "generator_expression" => {
                self.outer.push(Default::default());
                self.scopes.open_function(Some(scope), node.byte_range())
            }
            _ => self.scopes.open(Some(scope), node.byte_range()),
        };
        let mut first = true;
        for clause in named(node) {
            if clause.kind() != "for_in_clause" {
                continue;
            }
            // The first iterable is evaluated outside.
            let of = if std::mem::take(&mut first) { scope } else { inner };
            fields(clause, "right").into_iter().for_each(|right| self.visit(right, of));
            for left in fields(clause, "left") {
                for name in crate::source::descendants(left) {
                    if name.kind() == "identifier" {
                        let mut declaration = Declaration::new(name, Keyword::Pattern);
                        declaration.in_loop = true;
                        self.scopes.declare(inner, self.source.text_of(name), 0, true, declaration);
                    }
                }
            }
        }
        for part in named(node) {
            if part.kind() != "for_in_clause" {
                self.visit(part, inner);
            }
        }
        if node.kind() == "generator_expression" {
            self.outer.pop();
        }
    }

    fn case_pattern(&mut self, node: Node<'t>, scope: usize) {
        for child in children(node) {
            match child.kind() {
                "dotted_name"
                    if child.named_child_count() == 1 && node.kind() != "class_pattern" =>
                {
                    self.target_of_dotted_name(child, scope);
                }
                "dotted_name" => {
                    child.named_child(0).into_iter().for_each(|first| self.visit(first, scope));
                }
                "identifier" if node.kind() == "keyword_pattern" => {}
                "identifier" => self.assign(child, scope, Access::Write, false, None),
                _ => self.case_pattern(child, scope),
            }
        }
    }

    fn target_of_dotted_name(&mut self, node: Node<'t>, scope: usize) {
        if let Some(name) = node.named_child(0) {
            self.assign(name, scope, Access::Write, false, None);
        }
    }
}
