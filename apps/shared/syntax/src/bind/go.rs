//! Go: a name is known from the end of its declaration to the end of its block.

use tree_sitter::Node;

use crate::scopes::{Access, Declaration, Keyword, Scopes};
use crate::source::{Source, descendants, field, fields, has_token, named};

pub(super) fn bind<'t>(source: &'t Source, function: Node<'t>) -> Scopes<'t> {
    let mut binder = Binder { source, scopes: Scopes::default() };
    binder.function(function, None);
    binder.scopes
}

struct Binder<'t> {
    source: &'t Source,
    scopes: Scopes<'t>,
}

impl<'t> Binder<'t> {
    fn function(&mut self, node: Node<'t>, parent: Option<usize>) {
        let scope = self.scopes.open_function(parent, node.byte_range());
        for (part, keyword) in [
            ("receiver", Keyword::Parameter),
            ("parameters", Keyword::Parameter),
            ("result", Keyword::NamedResult),
        ] {
            let list = field(node, part).filter(|list| list.kind() == "parameter_list");
            for parameter in list.map(named).unwrap_or_default() {
                for name in fields(parameter, "name") {
                    let mut declaration = Declaration::new(name, keyword);
                    declaration.ty = field(parameter, "type");
                    self.declare(name, scope, 0, declaration);
                }
            }
        }
        // The body's names are in the same scope as the parameters.
        if let Some(body) = field(node, "body") {
            named(body).into_iter().for_each(|child| self.visit(child, scope));
        }
    }

    fn declare(&mut self, name: Node<'t>, scope: usize, from: usize, declaration: Declaration<'t>) {
        let text = self.source.text_of(name);
        if text != "_" && name.kind() == "identifier" {
            self.scopes.declare(scope, text, from, false, declaration);
        }
    }

    /// Declares or assigns the names left of `:=`.
    fn short_declaration(&mut self, node: Node<'t>, scope: usize, in_loop: bool) {
        let names = field(node, "left").map(named).unwrap_or_default();
        let values = field(node, "right").map(named).unwrap_or_default();
        for (index, name) in names.iter().enumerate() {
            let text = self.source.text_of(*name);
            if self.scopes.declares(scope, text, name.start_byte()) {
                self.scopes.note(scope, text, *name, Access::Write);
                continue;
            }
            let mut declaration = Declaration::new(*name, Keyword::Let);
            declaration.in_loop = in_loop;
            declaration.init = (names.len() == values.len() && !in_loop).then(|| values[index]);
            self.declare(*name, scope, node.end_byte(), declaration);
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
            "identifier" => self.note(node, scope, Access::Read),
            "func_literal" => self.function(node, Some(scope)),
            "block"
            | "if_statement"
            | "for_statement"
            | "expression_switch_statement"
            | "communication_case"
            | "expression_case"
            | "default_case"
            | "type_case" => {
                let inner = self.scopes.open(Some(scope), node.byte_range());
                self.visit_children(node, inner);
            }
            "type_switch_statement" => self.type_switch(node, scope),
            "short_var_declaration" => {
                self.visit_field(node, "right", scope);
                self.short_declaration(node, scope, false);
            }
            "range_clause" | "receive_statement" => {
                self.visit_field(node, "right", scope);
                match has_token(node, ":=") {
                    true => self.short_declaration(node, scope, node.kind() == "range_clause"),
                    false => {
                        field(node, "left").into_iter().for_each(|left| self.assign(left, scope))
                    }
                }
            }
            "var_spec" | "const_spec" => self.specification(node, scope),
            "type_spec" | "type_alias" => {
                if let Some(name) = field(node, "name") {
                    let text = self.source.text_of(name);
                    let declaration = Declaration::new(name, Keyword::Item);
                    self.scopes.declare(scope, text, name.start_byte(), false, declaration);
                }
                self.visit_field(node, "type", scope);
            }
            "type_identifier" => self.note(node, scope, Access::Read),
            "assignment_statement" => self.assignment(node, scope),
            "inc_statement" | "dec_statement" => self.update(node, scope),
            "selector_expression" => {
                self.visit_field(node, "operand", scope);
            }
            "composite_literal" => {
                self.visit_field(node, "type", scope);
                let fields_are_names = self.is_struct(field(node, "type"));
                field(node, "body")
                    .into_iter()
                    .for_each(|body| self.literal(body, scope, fields_are_names));
            }
            "literal_value" => self.literal(node, scope, false),
            _ => self.visit_children(node, scope),
        }
    }

    fn assignment(&mut self, node: Node<'t>, scope: usize) {
        self.visit_field(node, "right", scope);
        let plain = field(node, "operator").is_some_and(|of| self.source.text_of(of) == "=");
        for left in field(node, "left").into_iter() {
            match plain {
                true => self.assign(left, scope),
                false => self.update(left, scope),
            }
        }
    }

    fn specification(&mut self, node: Node<'t>, scope: usize) {
        let (ty, values) = (field(node, "type"), field(node, "value").map(named));
        for part in [ty, field(node, "value")].into_iter().flatten() {
            self.visit(part, scope);
        }
        let (names, values) = (fields(node, "name"), values.unwrap_or_default());
        let names: Vec<_> = names.into_iter().filter(|one| one.kind() == "identifier").collect();
        for (index, name) in names.iter().enumerate() {
            let item = node.kind() == "const_spec";
            let keyword = if item { Keyword::Item } else { Keyword::Var };
            let mut declaration = Declaration::new(*name, keyword);
            declaration.ty = ty;
            declaration.init = (names.len() == values.len()).then(|| values[index]);
            self.declare(*name, scope, node.end_byte(), declaration);
        }
    }

    fn type_switch(&mut self, node: Node<'t>, scope: usize) {
        let inner = self.scopes.open(Some(scope), node.byte_range());
        let alias = field(node, "alias");
        for part in named(node) {
            if Some(part) != alias {
                continue;
            }
            for name in named(part) {
                let declaration = Declaration::new(name, Keyword::Pattern);
                self.declare(name, inner, part.end_byte(), declaration);
            }
        }
        let parts = named(node).into_iter().filter(|part| Some(*part) != alias);
        parts.for_each(|part| self.visit(part, inner));
    }

    fn literal(&mut self, body: Node<'t>, scope: usize, fields_are_names: bool) {
        for element in named(body) {
            let key = field(element, "key")
                .filter(|_| fields_are_names && element.kind() == "keyed_element");
            match key {
                Some(_) => self.visit_field(element, "value", scope),
                None => self.visit(element, scope),
            }
        }
    }

    /// True if the keys of a literal of this type are names of fields.
    fn is_struct(&self, ty: Option<Node<'t>>) -> bool {
        let Some(ty) = ty else { return false };
        match ty.kind() {
            "qualified_type" | "struct_type" => true,
            "type_identifier" | "generic_type" => {
                let name = self.source.text_of(field(ty, "type").unwrap_or(ty));
                descendants(self.source.root()).into_iter().any(|spec| {
                    spec.kind() == "type_spec"
                        && field(spec, "name").is_some_and(|of| self.source.text_of(of) == name)
                        && field(spec, "type").is_some_and(|of| of.kind() == "struct_type")
                })
            }
            _ => false,
        }
    }

    fn note(&mut self, node: Node<'t>, scope: usize, access: Access) {
        let text = self.source.text_of(node);
        if text != "_" {
            self.scopes.note(scope, text, node, access);
        }
    }

    fn assign(&mut self, left: Node<'t>, scope: usize) {
        for target in named(left) {
            match target.kind() {
                "identifier" => self.note(target, scope, Access::Write),
                _ => self.visit(target, scope),
            }
        }
    }

    fn update(&mut self, left: Node<'t>, scope: usize) {
        for target in named(left) {
            match target.kind() {
                "identifier" => self.note(target, scope, Access::ReadWrite),
                _ => self.visit(target, scope),
            }
        }
    }
}
