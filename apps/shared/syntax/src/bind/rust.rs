//! Rust: a name is known from the end of its `let` to the end of its block. Names in macros count
//! as read.

use tree_sitter::Node;

use crate::scopes::{Access, Declaration, Keyword, Scopes};
use crate::source::{Source, children, field, has_token, named};

pub(super) fn bind<'t>(source: &'t Source, function: Node<'t>) -> Scopes<'t> {
    let mut binder = Binder { source, scopes: Scopes::default() };
    binder.function(function, None);
    binder.scopes
}

struct Binder<'t> {
    source: &'t Source,
    scopes: Scopes<'t>,
}

/// The properties that a pattern gives to its names.
#[derive(Clone, Copy)]
struct Bound<'t> {
    keyword: Keyword,
    ty: Option<Node<'t>>,
    init: Option<Node<'t>>,
    mutable: bool,
    in_loop: bool,
    visible_from: usize,
}

impl<'t> Bound<'t> {
    fn pattern(visible_from: usize) -> Self {
        let keyword = Keyword::Pattern;
        Self { keyword, ty: None, init: None, mutable: false, in_loop: false, visible_from }
    }
}

impl<'t> Binder<'t> {
    fn function(&mut self, node: Node<'t>, parent: Option<usize>) {
        let scope = self.scopes.open_function(parent, node.byte_range());
        for parameter in field(node, "parameters").map(named).unwrap_or_default() {
            let bound = Bound { keyword: Keyword::Parameter, ..Bound::pattern(0) };
            match parameter.kind() {
                "parameter" => {
                    let ty = field(parameter, "type");
                    let mutable = has_token(parameter, "mutable_specifier");
                    if let Some(pattern) = field(parameter, "pattern") {
                        let plain = pattern.kind() == "identifier";
                        let ty = ty.filter(|_| plain);
                        let keyword = if plain { bound.keyword } else { Keyword::Pattern };
                        self.pattern(pattern, scope, Bound { keyword, ty, mutable, ..bound });
                    }
                }
                "self_parameter" | "attribute_item" => {}
                _ => self.pattern(parameter, scope, bound),
            }
        }
        if let Some(body) = field(node, "body") {
            self.visit(body, scope);
        }
    }

    fn name(&mut self, name: Node<'t>, scope: usize, bound: Bound<'t>) {
        let text = self.source.text_of(name);
        // A constant or a variant without fields; a variable is never written like this.
        if bound.keyword == Keyword::Pattern && text.starts_with(char::is_uppercase) {
            return;
        }
        let declaration = Declaration {
            name,
            keyword: bound.keyword,
            ty: bound.ty,
            init: bound.init,
            mutable: bound.mutable,
            in_loop: bound.in_loop,
        };
        self.scopes.declare(scope, text, bound.visible_from, false, declaration);
    }

    fn pattern(&mut self, node: Node<'t>, scope: usize, bound: Bound<'t>) {
        match node.kind() {
            "identifier" | "shorthand_field_identifier" => self.name(node, scope, bound),
            "mut_pattern" => {
                let bound = Bound { mutable: true, ..bound };
                named(node).into_iter().for_each(|part| self.pattern(part, scope, bound));
            }
            "field_pattern" => match field(node, "pattern") {
                Some(pattern) => {
                    self.pattern(pattern, scope, Bound { ty: None, init: None, ..bound })
                }
                None => {
                    let mutable = has_token(node, "mutable_specifier");
                    let name = field(node, "name");
                    let bound = Bound { mutable, ty: None, init: None, ..bound };
                    name.into_iter().for_each(|name| self.name(name, scope, bound));
                }
            },
            "tuple_struct_pattern" | "struct_pattern" => {
                let of = field(node, "type");
                let parts = named(node).into_iter().filter(|part| Some(*part) != of);
                let bound = Bound { ty: None, init: None, ..bound };
                parts.for_each(|part| self.pattern(part, scope, bound));
            }
            "tuple_pattern" | "slice_pattern" | "or_pattern" | "captured_pattern"
            | "ref_pattern" | "reference_pattern" | "match_pattern" => {
                let bound = Bound { ty: None, init: None, ..bound };
                let condition = field(node, "condition");
                let parts = named(node).into_iter().filter(|part| Some(*part) != condition);
                parts.for_each(|part| self.pattern(part, scope, bound));
            }
            _ => {}
        }
    }

    fn visit_all(&mut self, nodes: impl IntoIterator<Item = Node<'t>>, scope: usize) {
        nodes.into_iter().for_each(|node| self.visit(node, scope));
    }

    fn visit(&mut self, node: Node<'t>, scope: usize) {
        match node.kind() {
            "identifier" => {
                self.scopes.note(scope, self.source.text_of(node), node, Access::Read);
            }
            "block" | "while_expression" => {
                let inner = self.scopes.open(Some(scope), node.byte_range());
                self.visit_all(named(node), inner);
            }
            "let_declaration" => self.let_declaration(node, scope),
            "if_expression" => {
                let inner = self.scopes.open(Some(scope), node.byte_range());
                self.visit_all(field(node, "condition"), inner);
                self.visit_all(field(node, "consequence"), inner);
                self.visit_all(field(node, "alternative"), scope);
            }
            "let_condition" => {
                self.visit_all(field(node, "value"), scope);
                let bound = Bound::pattern(node.end_byte());
                field(node, "pattern").into_iter().for_each(|of| self.pattern(of, scope, bound));
            }
            "match_arm" => {
                let inner = self.scopes.open(Some(scope), node.byte_range());
                if let Some(pattern) = field(node, "pattern") {
                    self.pattern(pattern, inner, Bound::pattern(node.start_byte()));
                    self.visit_all(field(pattern, "condition"), inner);
                }
                self.visit_all(field(node, "value"), inner);
            }
            "for_expression" => {
                self.visit_all(field(node, "value"), scope);
                let inner = self.scopes.open(Some(scope), node.byte_range());
                let bound = Bound { in_loop: true, ..Bound::pattern(0) };
                field(node, "pattern").into_iter().for_each(|of| self.pattern(of, inner, bound));
                self.visit_all(field(node, "body"), inner);
            }
            "closure_expression" => self.function(node, Some(scope)),
            "async_block" | "gen_block" => {
                let inner = self.scopes.open_function(Some(scope), node.byte_range());
                self.visit_all(named(node), inner);
            }
            "function_item" | "struct_item" | "enum_item" | "union_item" | "const_item"
            | "static_item" | "type_item" | "trait_item" | "mod_item" | "macro_definition" => {
                // An item doesn't see variables. Itself it is known in all of its block.
                if let Some(name) = field(node, "name") {
                    let bound = Bound { keyword: Keyword::Item, ..Bound::pattern(0) };
                    self.name(name, scope, bound);
                }
            }
            "impl_item" | "attribute_item" | "label" | "lifetime" | "scoped_identifier" => {}
            "type_identifier" => {
                self.scopes.note(scope, self.source.text_of(node), node, Access::Read);
            }
            "use_declaration" => self.imports(node, scope),
            "assignment_expression" => {
                self.visit_all(field(node, "right"), scope);
                field(node, "left").into_iter().for_each(|left| self.assign(left, scope));
            }
            "compound_assignment_expr" => {
                self.visit_all(field(node, "right"), scope);
                match field(node, "left") {
                    Some(left) if left.kind() == "identifier" => {
                        let text = self.source.text_of(left);
                        self.scopes.note(scope, text, left, Access::ReadWrite);
                    }
                    left => self.visit_all(left, scope),
                }
            }
            "macro_invocation" => self.macro_invocation(node, scope),
            _ => self.visit_all(named(node), scope),
        }
    }

    fn macro_invocation(&mut self, node: Node<'t>, scope: usize) {
        self.visit_all(field(node, "macro").filter(|name| name.kind() == "identifier"), scope);
        let tokens = named(node).into_iter().filter(|part| part.kind() == "token_tree");
        tokens.for_each(|tokens| self.tokens(tokens, scope));
    }

    fn let_declaration(&mut self, node: Node<'t>, scope: usize) {
        let (ty, value) = (field(node, "type"), field(node, "value"));
        self.visit_all(value.into_iter().chain(field(node, "alternative")), scope);
        if let Some(pattern) = field(node, "pattern") {
            let plain = pattern.kind() == "identifier";
            let bound = Bound {
                // In `let None = x else` the name is a variant.
                keyword: match plain && field(node, "alternative").is_none() {
                    true => Keyword::Let,
                    false => Keyword::Pattern,
                },
                ty: ty.filter(|_| plain),
                init: value.filter(|_| plain),
                mutable: has_token(node, "mutable_specifier"),
                in_loop: false,
                visible_from: node.end_byte(),
            };
            self.pattern(pattern, scope, bound);
        }
    }

    fn assign(&mut self, left: Node<'t>, scope: usize) {
        match left.kind() {
            "identifier" => self.scopes.note(scope, self.source.text_of(left), left, Access::Write),
            "tuple_expression" | "array_expression" => {
                named(left).into_iter().for_each(|part| self.assign(part, scope));
            }
            _ => self.visit(left, scope),
        }
    }

    /// Declares what a `use` brings in as items.
    fn imports(&mut self, node: Node<'t>, scope: usize) {
        let all = crate::source::descendants(node);
        for name in all.into_iter().filter(|name| name.kind() == "identifier") {
            let bound = Bound { keyword: Keyword::Item, ..Bound::pattern(0) };
            self.name(name, scope, bound);
        }
    }

    /// Notes the names in the arguments of a macro, also those in format strings.
    fn tokens(&mut self, node: Node<'t>, scope: usize) {
        let all = children(node);
        for (index, token) in all.iter().enumerate() {
            let near = |index: Option<usize>| {
                index
                    .and_then(|index| all.get(index))
                    .map_or("", |token| self.source.text_of(*token))
            };
            let (before, after) = (near(index.checked_sub(1)), near(Some(index + 1)));
            match token.kind() {
                "token_tree" => self.tokens(*token, scope),
                "identifier" if before == "." || before == "::" || after == "::" => {}
                "identifier" => {
                    self.scopes.note(scope, self.source.text_of(*token), *token, Access::Read);
                }
                "string_literal" | "raw_string_literal" => {
                    for name in format_names(self.source.text_of(*token)) {
                        self.scopes.note(scope, name, *token, Access::Read);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the names in the braces of a format string: `{name}`, `{name:?}`, `{:>width$}`.
fn format_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        if let Some(escaped) = rest.strip_prefix('{') {
            rest = escaped;
            continue;
        }
        let inside = &rest[..rest.find('}').unwrap_or(0)];
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        let widths = format.split(['.', '<', '>', '^', '#', '+', '-', ' ']);
        let widths = widths.filter_map(|part| part.split_once('$').map(|(name, _)| name));
        let is_name = |name: &&str| {
            let starts = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
            starts && name.chars().all(|next| next.is_alphanumeric() || next == '_')
        };
        names.extend(std::iter::once(name).chain(widths).filter(is_name));
    }
    names
}
