//! Whether a symbol is public, and the words that modify it.

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, children, descendants, field, named};

use super::declaration::Declared;
use super::symbol::{Symbol, SymbolKind};

/// The reported modifiers, in the order of reporting.
const FLAGS: [&str; 8] =
    ["abstract", "async", "const", "extern", "override", "static", "unsafe", "virtual"];

/// Returns the words of [`FLAGS`] that stand before a symbol's name.
pub(super) fn flags(source: &Source, one: &Declared<'_>) -> Vec<&'static str> {
    if one.kind.is_part() && source.language() == Language::Rust {
        return Vec::new();
    }
    let mut words: Vec<&str> = Vec::new();
    for node in [one.item, one.node] {
        for part in children(node) {
            if part.start_byte() >= one.name.start_byte() {
                continue;
            }
            match part.kind() {
                "function_modifiers"
                | "modifiers"
                | "modifier"
                | "storage_class_specifier"
                | "virtual"
                | "extern_modifier" => {
                    words.extend(source.text_of(part).split_whitespace());
                }
                kind if !part.is_named() => words.push(kind),
                _ => {}
            }
        }
    }
    // The word that declares a constant doesn't modify it.
    FLAGS.into_iter().filter(|flag| words.contains(flag) && *flag != one.keyword).collect()
}

/// Returns the names that `__all__` or `export { … }` list; `None` if the file has no such list.
pub(super) fn exported_names(source: &Source) -> Option<Vec<String>> {
    let mut names = None;
    for statement in named(source.root()) {
        match (source.language(), statement.kind()) {
            (Language::Python, "expression_statement") => {
                let Some(assignment) = statement.named_child(0) else { continue };
                let left = field(assignment, "left").map(|left| source.text_of(left));
                if left == Some("__all__") {
                    let all = descendants(assignment).into_iter();
                    let strings = all.filter(|one| one.kind() == "string_content");
                    let strings = strings.map(|one| source.text_of(one).to_owned());
                    names.get_or_insert_with(Vec::new).extend(strings);
                }
            }
            (language, "export_statement")
                if language.is_ecmascript() && field(statement, "source").is_none() =>
            {
                for one in descendants(statement) {
                    if let ("export_specifier", Some(name)) = (one.kind(), field(one, "name")) {
                        names.get_or_insert_with(Vec::new).push(source.text_of(name).to_owned());
                    }
                }
                if let Some(value) = field(statement, "value") {
                    names.get_or_insert_with(Vec::new).push(source.text_of(value).to_owned());
                }
            }
            _ => {}
        }
    }
    names
}

/// True if a symbol can be used from outside; [`Symbol::public`] says what that means.
pub(super) fn is_public(
    source: &Source,
    one: &Declared<'_>,
    parent: Option<&Symbol>,
    exported: Option<&[String]>,
) -> bool {
    let name = source.text_of(one.name);
    let listed = || exported.is_some_and(|all| all.iter().any(|other| other == name));
    let in_function =
        ancestors(one.node).any(|around| source.language().is_function(around.kind()));
    match source.language() {
        Language::Rust => children(one.node)
            .iter()
            .any(|part| part.kind() == "visibility_modifier" && source.text_of(*part) == "pub"),
        Language::Python => {
            let private =
                name.starts_with('_') && !(name.starts_with("__") && name.ends_with("__"));
            let visible = match (parent, exported) {
                (None, Some(_)) => listed(),
                _ => !private,
            };
            visible && !in_function && parent.is_none_or(|parent| parent.public)
        }
        Language::Go => name.starts_with(char::is_uppercase),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let own = ancestors(one.node).take(2).chain([one.item]);
            let own = own.into_iter().any(|one| one.kind() == "export_statement")
                || (parent.is_none() && (listed() || assigned_to_exports(source, one)));
            let hidden = name.starts_with('#') || {
                let modifier = children(one.node);
                modifier.iter().any(|part| {
                    part.kind() == "accessibility_modifier" && source.text_of(*part) != "public"
                })
            };
            let of_type =
                matches!(one.kind, SymbolKind::Method | SymbolKind::Field | SymbolKind::Variant);
            own || (of_type && !hidden && parent.is_some_and(|parent| parent.public))
        }
        Language::Java | Language::CSharp => {
            let words: Vec<&str> = [one.item, one.node]
                .into_iter()
                .flat_map(children)
                .filter(|part| matches!(part.kind(), "modifiers" | "modifier"))
                .flat_map(|part| source.text_of(part).split_whitespace())
                .collect();
            let implied = parent.is_some_and(|parent| {
                let interface = parent.kind == SymbolKind::Interface;
                parent.public && (interface || one.kind == SymbolKind::Variant)
            });
            let restricted = ["private", "protected", "internal"];
            words.contains(&"public")
                || one.kind == SymbolKind::Module
                || (implied && !words.iter().any(|word| restricted.contains(word)))
        }
        Language::C | Language::Cpp => {
            let is_static = children(one.item).into_iter().chain(children(one.node)).any(|part| {
                part.kind() == "storage_class_specifier" && source.text_of(part) == "static"
            });
            let member =
                one.item.parent().is_some_and(|list| list.kind() == "field_declaration_list");
            let anonymous = ancestors(one.node).any(|around| {
                around.kind() == "namespace_definition" && field(around, "name").is_none()
            });
            match member {
                true => access(source, one.item) && parent.is_none_or(|parent| parent.public),
                false => !is_static && !anonymous && !in_function,
            }
        }
        Language::Markdown => true,
    }
}

fn assigned_to_exports(source: &Source, one: &Declared<'_>) -> bool {
    one.node.kind() == "assignment_expression" && source.text_of(one.node).contains("exports.")
}

/// True if a member of a class or struct is public.
fn access(source: &Source, item: Node<'_>) -> bool {
    let mut before = item.prev_sibling();
    while let Some(one) = before {
        if one.kind() == "access_specifier" {
            return source.text_of(one).trim_end_matches(':').trim() == "public";
        }
        before = one.prev_sibling();
    }
    ancestors(item).nth(1).is_none_or(|class| class.kind() != "class_specifier")
}
