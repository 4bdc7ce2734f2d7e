//! The imports of a file, and the names that they bind.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, children, descendants, field, fields, has_token, named};

use super::occurrences::{CRATES, segments};

/// The object of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Imported {
    /// A name in the module at the path.
    Name(String),
    /// The module at the path itself.
    Module,
    /// Every name of the module at the path.
    All,
    /// A name of the file itself that it exports under another name.
    Own(String),
    /// Something that can't be told.
    Unknown,
}

/// One name that is imported, or exported under another name.
#[derive(Debug, Clone)]
pub(super) struct Import {
    /// The name in the file; `*` for all names of a module.
    pub name: String,
    pub what: Imported,
    /// The module. Python's leading dots are parts of their own, a path of ECMAScript is one part.
    pub path: Vec<String>,
    /// The byte range in which the name can be used.
    pub extent: Range<usize>,
    /// The first byte of the name that the imported item has in its module.
    pub original_at: Option<usize>,
    /// The first byte of the alias that the import gives to the name.
    pub alias_at: Option<usize>,
    /// True for what the file hands on without using it.
    pub only_exported: bool,
    /// True if it depends on how the program is built.
    pub conditional: bool,
}

impl Import {
    fn new(name: &str, what: Imported, path: Vec<String>, extent: Range<usize>) -> Self {
        let name = name.to_owned();
        let (original_at, alias_at, only_exported, conditional) = (None, None, false, false);
        Self { name, what, path, extent, original_at, alias_at, only_exported, conditional }
    }
}

/// Returns the imports of a file.
pub(super) fn imports(source: &Source) -> Vec<Import> {
    let statements: &[&str] = match source.language() {
        Language::Rust => &["use_declaration", "extern_crate_declaration"],
        Language::Python => &["import_statement", "import_from_statement"],
        language if language.is_ecmascript() => &["import_statement", "export_statement"],
        _ => return Vec::new(),
    };
    let mut all = Vec::new();
    let found = descendants(source.root()).into_iter();
    for node in found.filter(|one| statements.contains(&one.kind())) {
        match source.language() {
            Language::Rust => rust(source, node, &mut all),
            Language::Python => python(source, node, &mut all),
            _ => ecmascript(source, node, &mut all),
        }
    }
    all
}

/// The byte range in which the names that a node declares can be used.
pub(super) fn extent(source: &Source, node: Node<'_>) -> Range<usize> {
    let around = ancestors(node).find(|one| match source.language() {
        Language::Rust => {
            let module = |parent: Node<'_>| parent.kind() == "mod_item";
            one.kind() == "block"
                || (one.kind() == "declaration_list" && one.parent().is_some_and(module))
        }
        Language::Python => matches!(one.kind(), "function_definition" | "class_definition"),
        _ => one.kind() == "statement_block",
    });
    around.map_or(0..source.text().len() + 1, |around| around.byte_range())
}

fn rust(source: &Source, node: Node<'_>, all: &mut Vec<Import>) {
    let extent = extent(source, node);
    if node.kind() == "extern_crate_declaration" {
        if let Some(name) = field(node, "name") {
            let alias = field(node, "alias");
            let text = source.text_of(alias.unwrap_or(name));
            let what = Imported::Name(source.text_of(name).to_owned());
            all.push(Import::new(text, what, vec![CRATES.to_owned()], extent));
        }
        return;
    }
    let from = all.len();
    if let Some(tree) = field(node, "argument") {
        use_tree(source, tree, &[], &extent, all);
    }
    let conditional = is_conditional(source, node);
    all.iter_mut().skip(from).for_each(|one| one.conditional = conditional);
}

/// True for an item of Rust that only some builds have.
pub(super) fn is_conditional(source: &Source, node: Node<'_>) -> bool {
    let mut before = node.prev_named_sibling();
    while let Some(one) =
        before.filter(|one| one.kind() == "attribute_item" || Language::is_comment(one.kind()))
    {
        if one.kind() == "attribute_item" && source.text_of(one).contains("cfg") {
            return true;
        }
        before = one.prev_named_sibling();
    }
    false
}

fn use_tree(
    source: &Source,
    tree: Node<'_>,
    before: &[String],
    extent: &Range<usize>,
    all: &mut Vec<Import>,
) {
    let with = |node: Option<Node<'_>>| {
        let mut path = before.to_vec();
        path.extend(node.map(|node| segments(source.text_of(node))).unwrap_or_default());
        path
    };
    let mut one = |node: Node<'_>, alias: Option<Node<'_>>| {
        let mut path = with(Some(node));
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let Some(last) = path.pop() else { return };
        let name = alias.map_or(last.as_str(), |alias| source.text_of(alias)).to_owned();
        let mut import = Import::new(&name, Imported::Name(last), path, extent.clone());
        import.alias_at = alias.map(|alias| alias.start_byte());
        all.push(import);
    };
    match tree.kind() {
        "use_as_clause" => {
            if let Some(path) = field(tree, "path") {
                one(path, field(tree, "alias"));
            }
        }
        "use_list" => {
            named(tree).into_iter().for_each(|part| use_tree(source, part, before, extent, all));
        }
        "scoped_use_list" => {
            let path = with(field(tree, "path"));
            if let Some(list) = field(tree, "list") {
                use_tree(source, list, &path, extent, all);
            }
        }
        "use_wildcard" => {
            let path = with(tree.named_child(0));
            all.push(Import::new("*", Imported::All, path, extent.clone()));
        }
        _ => one(tree, None),
    }
}

fn python(source: &Source, node: Node<'_>, all: &mut Vec<Import>) {
    let extent = extent(source, node);
    if node.kind() == "import_statement" {
        for name in fields(node, "name") {
            let module = field(name, "name").unwrap_or(name);
            let path = segments(source.text_of(module));
            let import = match field(name, "alias") {
                Some(alias) => {
                    let text = source.text_of(alias);
                    let mut one = Import::new(text, Imported::Module, path, extent.clone());
                    one.alias_at = Some(alias.start_byte());
                    one
                }
                // `import a.b` binds `a`.
                None => {
                    let first = path.into_iter().next().unwrap_or_default();
                    Import::new(&first, Imported::Module, vec![first.clone()], extent.clone())
                }
            };
            all.push(import);
        }
        return;
    }
    let module = field(node, "module_name").map_or("", |module| source.text_of(module));
    let rest = module.trim_start_matches('.');
    let mut path = vec![".".to_owned(); module.len() - rest.len()];
    path.extend(segments(rest));
    if named(node).iter().any(|one| one.kind() == "wildcard_import") {
        all.push(Import::new("*", Imported::All, path.clone(), extent.clone()));
    }
    for name in fields(node, "name") {
        let original = field(name, "name").unwrap_or(name);
        let alias = field(name, "alias");
        let what = Imported::Name(source.text_of(original).to_owned());
        let text = source.text_of(alias.unwrap_or(original));
        let mut one = Import::new(text, what, path.clone(), extent.clone());
        one.original_at = Some(original.start_byte());
        one.alias_at = alias.map(|alias| alias.start_byte());
        all.push(one);
    }
}

fn ecmascript(source: &Source, node: Node<'_>, all: &mut Vec<Import>) {
    let extent = extent(source, node);
    let from = field(node, "source");
    let path = from.map(|from| source.text_of(from).trim_matches(['"', '\'', '`']).to_owned());
    let path: Vec<String> = path.into_iter().collect();
    let exported = node.kind() == "export_statement";
    let mut push = |name: &str, what, original: Option<Node<'_>>, alias: Option<Node<'_>>| {
        let mut one = Import::new(name, what, path.clone(), extent.clone());
        one.original_at = original.map(|node| node.start_byte());
        one.alias_at = alias.map(|node| node.start_byte());
        one.only_exported = exported;
        all.push(one);
    };
    if exported && has_token(node, "default") {
        let value = field(node, "value").or_else(|| {
            field(node, "declaration").and_then(|declaration| field(declaration, "name"))
        });
        let what = match value.filter(|value| value.kind().contains("identifier")) {
            Some(value) => Imported::Own(source.text_of(value).to_owned()),
            None => Imported::Unknown,
        };
        push("default", what, None, None);
        return;
    }
    if exported && from.is_some() && children(node).iter().any(|one| one.kind() == "*") {
        push("*", Imported::All, None, None);
    }
    // What a declaration or a function within the statement holds isn't part of its list.
    let parts = named(node).into_iter().filter(|part| {
        matches!(
            part.kind(),
            "import_clause" | "export_clause" | "namespace_export" | "import_require_clause"
        )
    });
    for one in parts.flat_map(descendants) {
        match one.kind() {
            "import_specifier" | "export_specifier" => {
                let Some(name) = field(one, "name") else { continue };
                let alias = field(one, "alias");
                let original = source.text_of(name).trim_matches(['"', '\'']).to_owned();
                let own = exported && from.is_none();
                let text = alias.map_or(original.as_str(), |alias| source.text_of(alias));
                let text = text.trim_matches(['"', '\'']).to_owned();
                let what = if own { Imported::Own(original) } else { Imported::Name(original) };
                push(&text, what, Some(name), alias);
            }
            "namespace_import" | "namespace_export" => {
                if let Some(name) = one.named_child(0) {
                    push(source.text_of(name), Imported::Module, None, Some(name));
                }
            }
            "import_require_clause" => {
                if let Some(name) = one.named_child(0) {
                    push(source.text_of(name), Imported::Unknown, None, Some(name));
                }
            }
            "identifier" if one.parent().is_some_and(|up| up.kind() == "import_clause") => {
                let what = Imported::Name("default".to_owned());
                push(source.text_of(one), what, None, Some(one));
            }
            _ => {}
        }
    }
}

/// Returns the path before a name within a `use` of Rust; `None` if it isn't in one.
pub(super) fn path_before(source: &Source, node: Node<'_>) -> Option<Vec<String>> {
    let around = ancestors(node).find(|one| one.kind() == "use_declaration")?;
    let mut path = Vec::new();
    let mut from = node;
    for up in ancestors(node).take_while(|one| *one != around) {
        let scoped = matches!(up.kind(), "scoped_identifier" | "scoped_use_list");
        let before = field(up, "path").filter(|path| scoped && *path != from);
        if let Some(before) = before {
            let mut outer = segments(source.text_of(before));
            outer.append(&mut path);
            path = outer;
        }
        from = up;
    }
    Some(path)
}
