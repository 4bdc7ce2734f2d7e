//! JavaScript and TypeScript: `let` and `const` belong to a block, `var` to a function.

use tree_sitter::Node;

use crate::scopes::{Access, Declaration, Keyword, Scopes};
use crate::source::{Source, field, fields, has_token, named};

pub(super) fn bind<'t>(source: &'t Source, function: Node<'t>) -> Scopes<'t> {
    let mut binder = Binder { source, scopes: Scopes::default() };
    binder.function(function, None);
    binder.scopes
}

pub(super) fn bind_module(source: &Source) -> Scopes<'_> {
    let mut binder = Binder { source, scopes: Scopes::default() };
    let scope = binder.scopes.open_function(None, source.root().byte_range());
    named(source.root()).into_iter().for_each(|child| binder.visit(child, scope));
    binder.scopes
}

struct Binder<'t> {
    source: &'t Source,
    scopes: Scopes<'t>,
}

/// The effect of a pattern on the names in it.
#[derive(Clone, Copy)]
enum Target<'t> {
    Declare { keyword: Keyword, ty: Option<Node<'t>>, init: Option<Node<'t>>, in_loop: bool },
    Assign,
}

impl<'t> Target<'t> {
    fn declare(keyword: Keyword) -> Self {
        Self::Declare { keyword, ty: None, init: None, in_loop: false }
    }
}

impl<'t> Binder<'t> {
    fn function(&mut self, node: Node<'t>, parent: Option<usize>) {
        let scope = self.scopes.open_function(parent, node.byte_range());
        if node.kind().ends_with("function") || node.kind() == "function_expression" {
            // The name of a function expression is known within it only.
            if let Some(name) = field(node, "name") {
                self.name(name, scope, Target::declare(Keyword::Function));
            }
        }
        if let Some(parameter) = field(node, "parameter") {
            self.pattern(parameter, scope, Target::declare(Keyword::Parameter));
        }
        for parameter in field(node, "parameters").map(named).unwrap_or_default() {
            self.parameter(parameter, scope);
        }
        for part in [field(node, "body"), field(node, "value")].into_iter().flatten() {
            self.visit(part, scope);
        }
    }

    fn parameter(&mut self, node: Node<'t>, scope: usize) {
        let (pattern, ty, value) = match node.kind() {
            "required_parameter" | "optional_parameter" => {
                (field(node, "pattern"), field(node, "type"), field(node, "value"))
            }
            "assignment_pattern" => (field(node, "left"), None, field(node, "right")),
            _ => (Some(node), None, None),
        };
        value.into_iter().for_each(|value| self.visit(value, scope));
        if let Some(pattern) = pattern {
            let ty =
                ty.filter(|_| pattern.kind() == "identifier" || pattern.kind() == "rest_pattern");
            let init = value.filter(|_| pattern.kind() == "identifier");
            let target = Target::Declare { keyword: Keyword::Parameter, ty, init, in_loop: false };
            self.pattern(pattern, scope, target);
        }
    }

    fn name(&mut self, name: Node<'t>, scope: usize, target: Target<'t>) {
        let text = self.source.text_of(name);
        match target {
            Target::Assign => self.scopes.note(scope, text, name, Access::Write),
            Target::Declare { keyword, ty, init, in_loop } => {
                let of = match keyword {
                    Keyword::Var => self.scopes.function_scope(scope),
                    _ => scope,
                };
                let mut declaration = Declaration::new(name, keyword);
                (declaration.ty, declaration.init, declaration.in_loop) = (ty, init, in_loop);
                self.scopes.declare(of, text, 0, true, declaration);
            }
        }
    }

    fn pattern(&mut self, node: Node<'t>, scope: usize, target: Target<'t>) {
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                self.name(node, scope, target)
            }
            "pair_pattern" => {
                self.visit_field(node, "key", scope);
                field(node, "value")
                    .into_iter()
                    .for_each(|value| self.pattern(value, scope, target));
            }
            "assignment_pattern" | "object_assignment_pattern" => {
                self.visit_field(node, "right", scope);
                field(node, "left").into_iter().for_each(|left| self.pattern(left, scope, target));
            }
            "object_pattern"
            | "array_pattern"
            | "rest_pattern"
            | "parenthesized_expression"
            | "required_parameter" => {
                named(node).into_iter().for_each(|part| self.pattern(part, scope, target));
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
            "identifier" | "shorthand_property_identifier" | "type_identifier" => {
                self.scopes.note(scope, self.source.text_of(node), node, Access::Read);
            }
            "function_declaration" | "generator_function_declaration" => {
                if let Some(name) = field(node, "name") {
                    self.name(name, scope, Target::declare(Keyword::Function));
                }
                self.function(node, Some(scope));
            }
            // Each signature of an overloaded function declares it.
            "function_signature" => {
                if let Some(name) = field(node, "name") {
                    self.name(name, scope, Target::declare(Keyword::Function));
                }
            }
            "function_expression"
            | "generator_function"
            | "arrow_function"
            | "class_static_block" => {
                self.function(node, Some(scope));
            }
            "method_definition" | "field_definition" | "public_field_definition" => {
                self.visit_field(node, "name", scope);
                self.function(node, Some(scope));
            }
            "class_declaration" | "abstract_class_declaration" => {
                if let Some(name) = field(node, "name") {
                    self.name(name, scope, Target::declare(Keyword::Function));
                }
                self.visit_parts(node, scope, "name");
            }
            "class" => self.visit_parts(node, scope, "name"),
            "enum_declaration"
            | "internal_module"
            | "module"
            | "interface_declaration"
            | "type_alias_declaration" => {
                if let Some(name) = field(node, "name") {
                    self.name(name, scope, Target::declare(Keyword::Item));
                }
                self.visit_parts(node, scope, "name");
            }
            "lexical_declaration" | "variable_declaration" | "using_declaration" => {
                self.declarators(node, scope)
            }
            "statement_block" | "switch_body" | "class_body" | "for_statement" => {
                let inner = self.scopes.open(Some(scope), node.byte_range());
                self.visit_children(node, inner);
            }
            "for_in_statement" => self.for_in(node, scope),
            "catch_clause" => self.catch(node, scope),
            "assignment_expression" => {
                self.visit_field(node, "right", scope);
                field(node, "left")
                    .into_iter()
                    .for_each(|left| self.pattern(left, scope, Target::Assign));
            }
            "augmented_assignment_expression" => {
                self.visit_field(node, "right", scope);
                field(node, "left").into_iter().for_each(|left| self.update(left, scope));
            }
            "update_expression" => {
                field(node, "argument").into_iter().for_each(|of| self.update(of, scope));
            }
            // Names in a type of a function or an object are not variables.
            "function_type" | "constructor_type" | "object_type" | "interface_body"
            | "index_signature" => {}
            _ => self.visit_children(node, scope),
        }
    }

    fn declarators(&mut self, node: Node<'t>, scope: usize) {
        let keyword = match node.child(0).map(|first| first.kind()) {
            Some("const") => Keyword::Const,
            Some("var") => Keyword::Var,
            _ => Keyword::Let,
        };
        for declarator in named(node) {
            self.declarator(declarator, scope, keyword);
        }
    }

    fn catch(&mut self, node: Node<'t>, scope: usize) {
        let inner = self.scopes.open(Some(scope), node.byte_range());
        if let Some(parameter) = field(node, "parameter") {
            self.pattern(parameter, inner, Target::declare(Keyword::Pattern));
        }
        self.visit_field(node, "body", inner);
    }

    fn visit_parts(&mut self, node: Node<'t>, scope: usize, except: &str) {
        let skipped = field(node, except);
        let parts = named(node).into_iter().filter(|part| Some(*part) != skipped);
        parts.for_each(|part| self.visit(part, scope));
    }

    fn declarator(&mut self, node: Node<'t>, scope: usize, keyword: Keyword) {
        let (ty, init) = (field(node, "type"), field(node, "value"));
        for part in [ty, init].into_iter().flatten() {
            self.visit(part, scope);
        }
        if let Some(name) = field(node, "name") {
            let own = |part: Option<Node<'t>>| part.filter(|_| name.kind() == "identifier");
            let target = Target::Declare { keyword, ty: own(ty), init: own(init), in_loop: false };
            self.pattern(name, scope, target);
        }
    }

    fn update(&mut self, node: Node<'t>, scope: usize) {
        match node.kind() {
            "identifier" => {
                self.scopes.note(scope, self.source.text_of(node), node, Access::ReadWrite);
            }
            _ => self.visit(node, scope),
        }
    }

    fn for_in(&mut self, node: Node<'t>, scope: usize) {
        let inner = self.scopes.open(Some(scope), node.byte_range());
        self.visit_field(node, "right", scope);
        let keyword = match field(node, "kind").map(|kind| kind.kind()) {
            Some("var") => Some(Keyword::Var),
            Some("const") => Some(Keyword::Const),
            Some(_) => Some(Keyword::Let),
            None => None,
        };
        let target = match keyword {
            // `let` and `const` make a new variable each time.
            Some(keyword) => {
                let in_loop = keyword == Keyword::Var;
                Target::Declare { keyword, ty: None, init: None, in_loop }
            }
            None => Target::Assign,
        };
        for left in fields(node, "left") {
            self.pattern(left, inner, target);
        }
        self.visit_field(node, "body", inner);
        debug_assert!(has_token(node, "of") || has_token(node, "in") || node.has_error());
    }
}
