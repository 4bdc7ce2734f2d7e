//! Finds the occurrences of a name in a file, each with its syntactic role.

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, children, field};

/// The first part of a Rust path that begins with `::`, where crate names are resolved.
pub(super) const CRATES: &str = "::";

/// The syntactic role of an occurrence of the name.
pub(crate) enum Role<'t> {
    /// Alone: a variable, a function, a type.
    Free,
    /// Behind a dot. `call` tells if it is called.
    Member { receiver: Node<'t>, call: bool },
    /// Behind a path: `a::b::` of `a::b::name`.
    Path { qualifier: Vec<String> },
    /// A name in an import.
    Import,
    /// A field's name in a literal or pattern, with its type if that is written.
    Field { ty: Option<String>, shorthand: bool },
    /// A label, a keyword argument or a key, which refers to no declaration.
    Label,
    /// A name in code that the grammar doesn't parse, such as a macro's definition.
    Unknown,
}

/// One occurrence of the name.
pub(crate) struct Name<'t> {
    pub node: Node<'t>,
    pub role: Role<'t>,
}

/// Returns the occurrences of a name in code, in the order of the text.
pub(crate) fn all<'t>(source: &'t Source, name: &str) -> Vec<Name<'t>> {
    nodes(source, name).into_iter().map(|node| Name { node, role: role(source, node) }).collect()
}

/// Returns the identifiers of a name.
pub(crate) fn nodes<'t>(source: &'t Source, name: &str) -> Vec<Node<'t>> {
    let (text, mut found) = (source.text(), Vec::new());
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    for (at, _) in text.match_indices(name) {
        let end = at + name.len();
        if text[..at].chars().next_back().is_some_and(part)
            || text[end..].chars().next().is_some_and(part)
        {
            continue;
        }
        let Some(node) = source.root().descendant_for_byte_range(at, end) else { continue };
        let identifier = node.kind().contains("identifier") || node.kind() == "name";
        if node.byte_range() == (at..end) && identifier && node.is_named() {
            found.push(node);
        }
    }
    found
}

fn role<'t>(source: &'t Source, node: Node<'t>) -> Role<'t> {
    let Some(parent) = node.parent() else { return Role::Unknown };
    if ancestors(node).any(|one| one.is_error()) {
        return Role::Unknown;
    }
    if is_in_import(node) {
        return Role::Import;
    }
    let is = |name: &str| field(parent, name) == Some(node);
    let called = |one: Node<'t>| {
        one.parent().is_some_and(|call| {
            matches!(call.kind(), "call_expression" | "call" | "invocation_expression")
                && field(call, "function") == Some(one)
        })
    };
    match (source.language(), parent.kind()) {
        (Language::Rust, _) => rust(source, node, parent),
        (_, "member_expression") if is("property") => member(parent, "object", called(parent)),
        (_, "attribute") if is("attribute") => member(parent, "object", called(parent)),
        (_, "selector_expression") if is("field") => member(parent, "operand", called(parent)),
        (_, "field_expression") if is("field") => member(parent, "argument", called(parent)),
        (_, "field_access") if is("field") => member(parent, "object", false),
        (_, "method_invocation") if is("name") && field(parent, "object").is_some() => {
            member(parent, "object", true)
        }
        (_, "member_access_expression") if is("name") => {
            member(parent, "expression", called(parent))
        }
        (_, "conditional_access_expression" | "member_binding_expression") => Role::Unknown,
        (_, "method_reference") => Role::Unknown,
        (_, "qualified_identifier") if is("name") => {
            let scope = field(parent, "scope").map(|scope| source.text_of(scope));
            Role::Path { qualifier: segments(scope.unwrap_or_default()) }
        }
        (_, "nested_type_identifier") if is("name") => {
            let module = field(parent, "module").map(|module| source.text_of(module));
            Role::Path { qualifier: segments(module.unwrap_or_default()) }
        }
        (_, "qualified_type") if is("name") => {
            let package = field(parent, "package").map(|package| source.text_of(package));
            Role::Path { qualifier: segments(package.unwrap_or_default()) }
        }
        (Language::Java, "scoped_type_identifier" | "scoped_identifier")
        | (Language::CSharp, "qualified_name")
            if parent.named_child(0) != Some(node) =>
        {
            let before = parent.named_child(0).map(|first| source.text_of(first));
            Role::Path { qualifier: segments(before.unwrap_or_default()) }
        }
        (_, "keyword_argument") if is("name") => Role::Label,
        (_, "labeled_statement" | "break_statement" | "continue_statement" | "goto_statement") => {
            Role::Label
        }
        (Language::CSharp, "argument" | "name_colon") if is("name") => Role::Label,
        (_, "pair" | "pair_pattern") if is("key") => Role::Field { ty: None, shorthand: false },
        (_, "property_signature" | "method_signature") if is("name") => {
            Role::Field { ty: None, shorthand: false }
        }
        (_, "method_definition") if is("name") => Role::Field { ty: None, shorthand: false },
        (_, "field_designator") => Role::Field { ty: None, shorthand: false },
        (Language::Go, "literal_element") => go_key(source, node, parent),
        (_, _) if node.kind().starts_with("shorthand_property_identifier") => {
            Role::Field { ty: None, shorthand: true }
        }
        (_, "jsx_attribute") => Role::Unknown,
        _ if matches!(node.kind(), "property_identifier" | "field_identifier") => Role::Unknown,
        _ if node.kind() == "statement_identifier" => Role::Label,
        _ => Role::Free,
    }
}

/// True for a name in an import, and in a list of what is handed on from another module.
fn is_in_import(node: Node<'_>) -> bool {
    ancestors(node).any(|one| {
        let handed_on = one.kind() == "export_clause"
            && one.parent().is_some_and(|of| field(of, "source").is_some());
        handed_on
            || matches!(
                one.kind(),
                "use_declaration"
                    | "extern_crate_declaration"
                    | "import_statement"
                    | "import_from_statement"
                    | "import_spec"
                    | "import_declaration"
                    | "namespace_export"
            )
    })
}

fn member<'t>(parent: Node<'t>, receiver: &str, call: bool) -> Role<'t> {
    match field(parent, receiver) {
        Some(receiver) => Role::Member { receiver, call },
        None => Role::Unknown,
    }
}

/// `T{name: 1}`: a field of a struct, or a key of a map.
fn go_key<'t>(source: &'t Source, node: Node<'t>, parent: Node<'t>) -> Role<'t> {
    let Some(keyed) = parent.parent().filter(|one| one.kind() == "keyed_element") else {
        return Role::Free;
    };
    if keyed.named_child(0) != Some(parent) {
        return Role::Free;
    }
    let literal = ancestors(node).find(|one| one.kind() == "composite_literal");
    let ty = literal.and_then(|literal| field(literal, "type"));
    match ty.map(|ty| ty.kind()) {
        Some("type_identifier" | "qualified_type") => {
            let ty = ty.map(|ty| source.text_of(ty).to_owned());
            // The literals in another one may leave their type out.
            let own = keyed.parent().and_then(|value| value.parent()) == literal;
            Role::Field { ty: ty.filter(|_| own), shorthand: false }
        }
        _ => Role::Unknown,
    }
}

fn rust<'t>(source: &'t Source, node: Node<'t>, parent: Node<'t>) -> Role<'t> {
    let is = |name: &str| field(parent, name) == Some(node);
    match parent.kind() {
        "field_expression" if is("field") => {
            let call = parent.parent().is_some_and(|call| {
                call.kind() == "call_expression" && field(call, "function") == Some(parent)
                    || call.kind() == "generic_function"
            });
            member(parent, "value", call)
        }
        "scoped_identifier" | "scoped_type_identifier" if is("name") => {
            let path = field(parent, "path").map(|path| source.text_of(path));
            Role::Path { qualifier: segments(path.unwrap_or_default()) }
        }
        "field_initializer" if is("field") || is("name") => {
            let ty = ancestors(node).find(|one| one.kind() == "struct_expression");
            Role::Field { ty: type_name(source, ty, "name"), shorthand: false }
        }
        "shorthand_field_initializer" => {
            let ty = ancestors(node).find(|one| one.kind() == "struct_expression");
            Role::Field { ty: type_name(source, ty, "name"), shorthand: true }
        }
        "field_pattern" if is("name") => {
            let ty = ancestors(node).find(|one| one.kind() == "struct_pattern");
            let shorthand = field(parent, "pattern").is_none();
            Role::Field { ty: type_name(source, ty, "type"), shorthand }
        }
        "label" | "lifetime" => Role::Label,
        "token_tree" => tokens(source, node, parent),
        "macro_rule"
        | "token_tree_pattern"
        | "token_repetition"
        | "token_repetition_pattern"
        | "token_binding_pattern" => Role::Unknown,
        "attribute" => Role::Unknown,
        _ if node.kind() == "field_identifier" => Role::Unknown,
        _ => Role::Free,
    }
}

fn type_name(source: &Source, node: Option<Node<'_>>, name: &str) -> Option<String> {
    let text = source.text_of(field(node?, name)?);
    // `Self` is the type of the block around it.
    match text {
        "Self" => {
            let block = ancestors(node?).find(|one| one.kind() == "impl_item")?;
            field(block, "type").map(|ty| source.text_of(ty).to_owned())
        }
        text => Some(text.to_owned()),
    }
}

/// A name among the tokens of a macro's arguments.
fn tokens<'t>(source: &'t Source, node: Node<'t>, tree: Node<'t>) -> Role<'t> {
    let definition = |one: Node<'_>| matches!(one.kind(), "macro_definition" | "attribute");
    if ancestors(node).any(definition) {
        return Role::Unknown;
    }
    let all = children(tree);
    let Some(index) = all.iter().position(|one| *one == node) else { return Role::Unknown };
    let text = |index: usize| all.get(index).map_or("", |one| source.text_of(*one));
    let before = |back: usize| index.checked_sub(back).map_or("", text);
    match before(1) {
        "." => {
            let receiver = index.checked_sub(2).and_then(|at| all.get(at));
            // What stands before the receiver may belong to it.
            let alone = !matches!(before(3), "." | "::" | "?");
            let plain = receiver.is_some_and(|one| matches!(one.kind(), "identifier" | "self"));
            let call = text(index + 1).starts_with('(');
            match receiver.filter(|_| alone && plain) {
                Some(receiver) => Role::Member { receiver: *receiver, call },
                None => Role::Unknown,
            }
        }
        "::" => {
            let mut path = Vec::new();
            let mut at = index;
            while at >= 2 && text(at - 1) == "::" {
                let part = text(at - 2);
                if part.starts_with(['>', '<', '(']) || part.is_empty() {
                    return Role::Unknown;
                }
                path.insert(0, part.to_owned());
                at -= 2;
            }
            Role::Path { qualifier: path }
        }
        "$" | "'" => Role::Unknown,
        _ if text(index + 1) == ":" && text(index + 2) != ":" => Role::Unknown,
        _ if text(index + 1) == "=" => Role::Unknown,
        _ => Role::Free,
    }
}

/// Splits a path at `::` and `.`, without parameters. One that begins with `::` has [`CRATES`] as
/// its first part.
pub(super) fn segments(path: &str) -> Vec<String> {
    let (mut plain, mut depth) = (String::new(), 0usize);
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 && !c.is_whitespace() => plain.push(c),
            _ => {}
        }
    }
    let absolute = plain.starts_with("::").then(|| CRATES.to_owned());
    let parts = plain.split([':', '.']).filter(|part| !part.is_empty()).map(str::to_owned);
    absolute.into_iter().chain(parts).collect()
}

/// Returns where a name stands in a text as a whole word.
pub(crate) fn words(text: &str, name: &str) -> impl Iterator<Item = usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let whole = move |at: &usize| {
        !text[..*at].chars().next_back().is_some_and(part)
            && !text[at + name.len()..].chars().next().is_some_and(part)
    };
    text.match_indices(name).map(|(at, _)| at).filter(whole)
}
