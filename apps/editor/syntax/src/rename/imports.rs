//! What a file imports under which name.

use std::path::Path;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, children, descendants, field, fields, named};

use super::occurrences::{segments, texts};

/// The path of a name that an import only gives to something else.
const ALIAS: &str = "<alias>";

/// Something that is imported.
#[derive(Debug, Clone)]
pub(super) struct Import {
    /// The name that it has in the file.
    pub name: String,
    /// The name that it has where it is declared.
    pub original: String,
    /// The path before it. Python's leading dots are parts of their own, a path in JavaScript is one.
    pub path: Vec<String>,
    /// True if the two names differ.
    pub renamed: bool,
    /// The names of the inline modules around it.
    pub scope: Vec<String>,
}

/// The imports of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Imports {
    pub all: Vec<Import>,
    /// The paths of which everything is imported, with the inline modules around.
    pub globs: Vec<(Vec<String>, Vec<String>)>,
}

impl Imports {
    pub(super) fn of(source: &Source) -> Self {
        let mut imports = Self::default();
        for node in descendants(source.root()) {
            match (source.language(), node.kind()) {
                (Language::Rust, "use_declaration") => {
                    let scope = modules_around(source, node);
                    if let Some(tree) = field(node, "argument") {
                        imports.rust(source, tree, &[], &scope);
                    }
                }
                (Language::Python, "import_statement") => imports.python_modules(source, node),
                (Language::Python, "import_from_statement") => imports.python_names(source, node),
                (Language::Go, "import_spec") => imports.go(source, node),
                (Language::Java, "import_declaration") => imports.java(source, node),
                (language, "import_statement" | "export_statement") if language.is_ecmascript() => {
                    imports.ecmascript(source, node);
                }
                _ => {}
            }
        }
        imports
    }

    /// Returns what a name of the file's outermost scope is imported as.
    pub(super) fn of_name(&self, name: &str) -> Option<&Import> {
        self.all.iter().find(|one| one.name == name)
    }

    /// Returns what a name is imported as in an inline module.
    pub(super) fn in_scope(&self, name: &str, scope: &[String]) -> Option<&Import> {
        self.all.iter().find(|one| one.name == name && one.scope == scope)
    }

    fn add(&mut self, name: &str, original: &str, path: &[String], scope: &[String]) {
        let (name, original) = (name.to_owned(), original.to_owned());
        let renamed = name != original;
        let (path, scope) = (path.to_vec(), scope.to_vec());
        self.all.push(Import { name, original, path, renamed, scope });
    }

    fn rust(&mut self, source: &Source, tree: Node<'_>, before: &[String], scope: &[String]) {
        let with = |node: Option<Node<'_>>| {
            let mut path = before.to_vec();
            path.extend(node.map(|node| segments(source.text_of(node))).unwrap_or_default());
            path
        };
        let mut one = |node: Node<'_>, alias: Option<&str>| {
            let mut path = with(Some(node));
            let Some(mut last) = path.pop() else { return };
            if last == "self" {
                last = match path.pop() {
                    Some(last) => last,
                    None => return,
                };
            }
            self.add(alias.unwrap_or(&last), &last, &path, scope);
        };
        match tree.kind() {
            "use_as_clause" => {
                if let (Some(path), Some(alias)) = (field(tree, "path"), field(tree, "alias")) {
                    one(path, Some(source.text_of(alias)));
                }
            }
            "use_list" => {
                for part in named(tree) {
                    self.rust(source, part, before, scope);
                }
            }
            "scoped_use_list" => {
                let path = with(field(tree, "path"));
                if let Some(list) = field(tree, "list") {
                    self.rust(source, list, &path, scope);
                }
            }
            "use_wildcard" => {
                self.globs.push((with(tree.named_child(0)), scope.to_vec()));
            }
            _ => one(tree, None),
        }
    }

    fn python_modules(&mut self, source: &Source, node: Node<'_>) {
        for name in fields(node, "name") {
            let aliased = name.kind() == "aliased_import";
            let module = if aliased { field(name, "name") } else { Some(name) };
            let mut path = segments(module.map_or("", |module| source.text_of(module)));
            let alias = field(name, "alias").map(|alias| source.text_of(alias));
            match alias {
                Some(alias) => {
                    let last = path.pop().unwrap_or_default();
                    self.add(alias, &last, &path, &[]);
                }
                // `import a.b` binds `a`.
                None => {
                    let first = path.first().cloned().unwrap_or_default();
                    self.add(&first, &first, &[], &[]);
                }
            }
        }
    }

    fn python_names(&mut self, source: &Source, node: Node<'_>) {
        let path = python_path(source, node);
        if named(node).iter().any(|one| one.kind() == "wildcard_import") {
            self.globs.push((path.clone(), Vec::new()));
        }
        for name in fields(node, "name") {
            let original = match name.kind() {
                "aliased_import" => texts(source, name, "name").first().copied(),
                _ => Some(source.text_of(name)),
            };
            let alias = texts(source, name, "alias").first().copied();
            if let Some(original) = original {
                self.add(alias.unwrap_or(original), original, &path, &[]);
            }
        }
    }

    fn go(&mut self, source: &Source, node: Node<'_>) {
        let path =
            texts(source, node, "path").first().map_or("", |path| path.trim_matches(['"', '`']));
        let mut path: Vec<String> = path.split('/').map(str::to_owned).collect();
        let last = path.pop().unwrap_or_default();
        match texts(source, node, "name").first() {
            Some(&".") => {
                path.push(last);
                self.globs.push((path, Vec::new()));
            }
            Some(name) => self.add(name, &last, &path, &[]),
            None => self.add(&last, &last, &path, &[]),
        }
    }

    fn java(&mut self, source: &Source, node: Node<'_>) {
        let path = named(node).into_iter().find(|one| one.kind() != "asterisk");
        let mut path = segments(path.map_or("", |path| source.text_of(path)));
        if named(node).iter().any(|one| one.kind() == "asterisk") {
            self.globs.push((path, Vec::new()));
        } else if let Some(last) = path.pop() {
            self.add(&last, &last, &path, &[]);
        }
    }

    fn ecmascript(&mut self, source: &Source, node: Node<'_>) {
        let Some(from) = field(node, "source") else { return };
        let path = vec![source.text_of(from).trim_matches(['"', '\'', '`']).to_owned()];
        for one in descendants(node) {
            match one.kind() {
                "import_specifier" => {
                    let name = texts(source, one, "name").first().copied().unwrap_or_default();
                    let alias = texts(source, one, "alias").first().copied();
                    self.add(alias.unwrap_or(name), name, &path, &[]);
                }
                "namespace_import" => {
                    if let Some(name) = one.named_child(0) {
                        self.add(source.text_of(name), "*", &path, &[]);
                    }
                }
                "identifier"
                    if one.parent().is_some_and(|parent| parent.kind() == "import_clause") =>
                {
                    self.add(source.text_of(one), "default", &path, &[]);
                }
                _ => {}
            }
        }
        if node.kind() == "export_statement" && children(node).iter().any(|one| one.kind() == "*") {
            self.globs.push((path, Vec::new()));
        }
    }
}

/// The module that `from … import` names; each leading dot is a part.
fn python_path(source: &Source, node: Node<'_>) -> Vec<String> {
    let module = texts(source, node, "module_name").first().copied().unwrap_or_default();
    let rest = module.trim_start_matches('.');
    let dots = module.len() - rest.len();
    let mut path = vec![".".to_owned(); dots];
    path.extend(segments(rest));
    path
}

/// The names of the inline modules around a node, the outermost first.
pub(super) fn modules_around(source: &Source, node: Node<'_>) -> Vec<String> {
    let mut names: Vec<String> = ancestors(node)
        .filter(|one| one.kind() == "mod_item")
        .filter_map(|one| field(one, "name").map(|name| source.text_of(name).to_owned()))
        .collect();
    names.reverse();
    names
}

/// Returns the path before a name within an import; `None` if it isn't in one.
pub(super) fn path_before(source: &Source, node: Node<'_>) -> Option<Vec<String>> {
    let around = ancestors(node).find(|one| {
        matches!(
            one.kind(),
            "use_declaration"
                | "import_statement"
                | "import_from_statement"
                | "import_spec"
                | "import_declaration"
        ) || (one.kind() == "export_statement" && field(*one, "source").is_some())
    })?;
    let parent = node.parent()?;
    let alias = || Some(vec![ALIAS.to_owned()]);
    match (source.language(), around.kind()) {
        (Language::Rust, _) => {
            if parent.kind() == "use_as_clause" && field(parent, "alias") == Some(node) {
                return alias();
            }
            let mut path = Vec::new();
            let mut from = node;
            // The names before it, from the inside to the outside.
            for up in ancestors(node).take_while(|one| *one != around) {
                let before = match up.kind() {
                    "scoped_identifier" if field(up, "path") != Some(from) => field(up, "path"),
                    "scoped_use_list" if field(up, "path") != Some(from) => field(up, "path"),
                    _ => None,
                };
                if let Some(before) = before {
                    let mut outer = segments(source.text_of(before));
                    outer.append(&mut path);
                    path = outer;
                }
                from = up;
            }
            Some(path)
        }
        (Language::Python, "import_from_statement") => {
            if field(parent, "alias") == Some(node) {
                return alias();
            }
            let module = field(around, "module_name");
            if module.is_some_and(|module| module.byte_range().contains(&node.start_byte())) {
                return Some(vec![ALIAS.to_owned()]).filter(|_| false).or_else(|| {
                    let before = &source.text()[module?.start_byte()..node.start_byte()];
                    let rest = before.trim_start_matches('.');
                    let mut path = vec![".".to_owned(); before.len() - rest.len()];
                    path.extend(segments(rest));
                    Some(path)
                });
            }
            Some(python_path(source, around))
        }
        (Language::Python, _) => {
            if field(parent, "alias") == Some(node) {
                return alias();
            }
            let before = parent.kind() == "dotted_name";
            let text = &source.text()[parent.start_byte()..node.start_byte()];
            Some(if before { segments(text) } else { Vec::new() })
        }
        (Language::Go, _) => alias(),
        (Language::Java, _) => {
            let from = named(around).into_iter().next()?;
            Some(segments(&source.text()[from.start_byte()..node.start_byte()]))
        }
        (language, _) if language.is_ecmascript() => {
            let specifier =
                parent.kind() == "import_specifier" || parent.kind() == "export_specifier";
            if !specifier || (field(parent, "alias") == Some(node)) {
                return alias();
            }
            let from = field(around, "source")?;
            Some(vec![source.text_of(from).trim_matches(['"', '\'', '`']).to_owned()])
        }
        _ => None,
    }
}

/// True for the path of a name that an import only gives to something else.
pub(super) fn is_alias(path: &[String]) -> bool {
    path == [ALIAS]
}

/// The folder and the modules that a file is, without its extension: `src/a/mod.rs` is `a` below `src`.
pub(super) fn module_of(language: Language, path: &Path) -> (Vec<String>, Vec<String>) {
    let mut parts: Vec<String> =
        path.iter().filter_map(|part| part.to_str()).map(str::to_owned).collect();
    let stem = parts.pop().unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or_default().to_owned();
    let root = match language {
        Language::Rust => {
            let src = parts.iter().rposition(|part| part == "src");
            // Each file of tests, examples and benchmarks is a crate of its own.
            let own = parts
                .iter()
                .rposition(|part| matches!(part.as_str(), "tests" | "examples" | "benches"));
            match (src, own) {
                (Some(src), own) if own.is_none_or(|own| own < src) => src + 1,
                _ => parts.len(),
            }
        }
        _ => 0,
    };
    let mut modules = parts.split_off(root);
    let is_root = match language {
        Language::Rust => matches!(stem.as_str(), "mod" | "lib" | "main"),
        Language::Python => stem == "__init__",
        _ => stem == "index",
    };
    if !is_root {
        modules.push(stem);
    }
    (parts, modules)
}
