//! Rust: modules are declared by their parents, beginning at the roots of crates that `Cargo.toml`
//! names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tree_sitter::Node;

use crate::language::Language;
use crate::rename::meaning::{Entity, FileId, Meaning, Space};
use crate::rename::occurrences::CRATES;
use crate::rename::project::{Project, normal};
use crate::source::{Source, ancestors, field};

use super::rules::{Names, Rules};

/// The directory of a Cargo manifest, and its parsed TOML.
struct Manifest {
    directory: PathBuf,
    table: toml::Table,
}

/// A declaration `mod name;`: the file and the byte of its module, and the module's file.
type Parent = (FileId, usize);

pub(super) struct Rust {
    /// The roots of all crates.
    roots: BTreeSet<FileId>,
    /// By file, the modules that declare it as a module of theirs.
    parents: BTreeMap<FileId, BTreeSet<Parent>>,
    /// By file and byte of the module's name, the file that it is.
    children: BTreeMap<(FileId, usize), Option<FileId>>,
}

impl Rust {
    pub(super) fn new(project: &Project<'_>) -> Self {
        let mut rust =
            Self { roots: roots(project), parents: BTreeMap::new(), children: BTreeMap::new() };
        let mut open: Vec<FileId> = rust.roots.iter().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(file) = open.pop() {
            if !seen.insert(file) {
                continue;
            }
            let Some(facts) = project.facts(file) else { continue };
            for item in facts.items.iter().filter(|one| one.space == Space::Type) {
                let Some(node) = facts.source.node_at(&item.at).parent() else { continue };
                if node.kind() != "mod_item" || field(node, "body").is_some() {
                    continue;
                }
                let child = rust.child(project, file, &facts.source, node, &item.name);
                rust.children.insert((file, item.at.start), child);
                if let Some(child) = child {
                    rust.parents.entry(child).or_default().insert((file, item.extent.start));
                    open.push(child);
                }
            }
        }
        rust
    }

    /// The file of a declaration `mod name;`.
    fn child(
        &self,
        project: &Project<'_>,
        file: FileId,
        source: &Source,
        node: Node<'_>,
        name: &str,
    ) -> Option<FileId> {
        let path = project.path(file);
        let directory = path.parent()?;
        if let Some(written) = path_attribute(source, node) {
            return project.file(&normal(&directory.join(written))?);
        }
        let stem = path.file_stem()?.to_str()?;
        let mut base = directory.to_owned();
        if !self.roots.contains(&file) && stem != "mod" {
            base.push(stem);
        }
        let mut around: Vec<&str> = ancestors(node)
            .filter(|one| one.kind() == "mod_item")
            .filter_map(|one| field(one, "name").map(|name| source.text_of(name)))
            .collect();
        around.reverse();
        base.extend(around);
        let own = project.file(&base.join(format!("{name}.rs")));
        own.or_else(|| project.file(&base.join(name).join("mod.rs")))
    }

    /// The roots of the crates that a file is in.
    fn roots_of(&self, file: FileId) -> BTreeSet<FileId> {
        let (mut found, mut open, mut seen) = (BTreeSet::new(), vec![file], BTreeSet::new());
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            if self.roots.contains(&next) {
                found.insert(next);
            }
            open.extend(self.parents.get(&next).into_iter().flatten().map(|(file, _)| *file));
        }
        found
    }

    /// The modules around a module.
    fn parents_of(&self, names: &dyn Names<'_>, module: &Entity) -> Meaning {
        let Entity::Module { file, scope } = module else { return Meaning::unknown() };
        if *scope > 0 {
            return Meaning::of(names.module_at(*file, scope.saturating_sub(1)));
        }
        let parents = self.parents.get(file).into_iter().flatten();
        let parents = parents.map(|(file, at)| names.module_at(*file, *at));
        Meaning(parents.collect()).or(Meaning::unknown)
    }

    /// The crate that a name means which no scope declares.
    fn extern_crate(&self, names: &dyn Names<'_>, file: FileId, name: &str) -> Meaning {
        let mut meaning = Meaning::default();
        for root in self.roots_of(file) {
            let Some(manifest) = manifest_of(names.project(), root) else {
                return Meaning::unknown();
            };
            meaning.extend(self.named_crate(names.project(), root, &manifest, name).0);
        }
        if meaning.is_empty() && matches!(name, "std" | "core" | "alloc" | "proc_macro" | "test") {
            return Meaning::outside();
        }
        meaning
    }

    fn named_crate(
        &self,
        project: &Project<'_>,
        root: FileId,
        manifest: &Manifest,
        name: &str,
    ) -> Meaning {
        if let Some(dependency) = dependency(&manifest.table, name) {
            let shared = || {
                let workspace = workspace_of(project, root)?;
                let table = workspace.table.get("workspace")?.get("dependencies")?;
                let one = entry(table.as_table()?, name)?.clone();
                Some((workspace.directory, one))
            };
            let inherits = dependency.get("workspace").is_some();
            let found = match inherits {
                true => shared(),
                false => Some((manifest.directory.clone(), dependency.clone())),
            };
            let Some((directory, dependency)) = found else { return Meaning::unknown() };
            let path = dependency.get("path").and_then(|path| path.as_str());
            return match path.and_then(|path| normal(&directory.join(path))) {
                Some(directory) => match library(project, &directory) {
                    Some(file) => Meaning::of(Entity::Module { file, scope: 0 }),
                    None => Meaning::unknown(),
                },
                None if path.is_some() => Meaning::outside(),
                None if is_patched(project, root) => Meaning::unknown(),
                None => Meaning::outside(),
            };
        }
        // Programs, tests and examples see their own package's library.
        let package = manifest.table.get("package").and_then(|one| one.get("name"));
        let library_name = manifest.table.get("lib").and_then(|one| one.get("name"));
        let own = library_name.or(package).and_then(|one| one.as_str()).unwrap_or_default();
        match own.replace('-', "_") == name {
            true => match library(project, &manifest.directory) {
                Some(file) => Meaning::of(Entity::Module { file, scope: 0 }),
                None => Meaning::default(),
            },
            false => Meaning::default(),
        }
    }
}

impl Rules for Rust {
    fn module(
        &self,
        names: &dyn Names<'_>,
        (file, at): (FileId, usize),
        path: &[String],
    ) -> Meaning {
        let own = names.module_at(file, at);
        let Some((head, mut rest)) = path.split_first() else { return Meaning::of(own) };
        let mut meaning = match head.as_str() {
            "crate" | "$crate" => {
                let roots = self.roots_of(file).into_iter();
                let roots: Meaning =
                    Meaning(roots.map(|file| Entity::Module { file, scope: 0 }).collect());
                roots.or(Meaning::unknown)
            }
            "self" => Meaning::of(own),
            "super" => self.parents_of(names, &own),
            "Self" => {
                let facts = names.project().facts(file);
                let entity = facts.and_then(|facts| names.self_type(file, &facts, at));
                entity.map_or(Meaning::unknown(), Meaning::of)
            }
            CRATES => {
                let Some((name, after)) = rest.split_first() else { return Meaning::unknown() };
                rest = after;
                self.extern_crate(names, file, name).or(Meaning::unknown)
            }
            head => self.head(names, (file, at), head),
        };
        while rest.first().is_some_and(|part| part == "super") {
            meaning = meaning.then(|module| self.parents_of(names, module));
            rest = &rest[1..];
        }
        for part in rest {
            meaning = meaning.then(|module| names.descend(module, part, Space::Type));
        }
        meaning
    }

    fn is_reserved(&self, name: &str) -> bool {
        name == "main"
    }

    fn module_of_item(&self, names: &dyn Names<'_>, item: &Entity) -> Option<Meaning> {
        let Entity::Item { file, scope, name, space: Space::Type } = item else { return None };
        let facts = names.project().facts(*file)?;
        let mut meaning = Meaning::default();
        for one in facts.items_of(*scope, name, Space::Type) {
            let node = facts.source.node_at(&one.at).parent()?;
            if node.kind() != "mod_item" {
                return None;
            }
            match (field(node, "body"), self.children.get(&(*file, one.at.start))) {
                (Some(body), _) => {
                    meaning.extend([Entity::Module { file: *file, scope: body.start_byte() }]);
                }
                (None, Some(Some(file))) => {
                    meaning.extend([Entity::Module { file: *file, scope: 0 }]);
                }
                _ => meaning.extend([Entity::Unknown]),
            }
        }
        Some(meaning)
    }
}

impl Rust {
    /// The first name of a path: what the scopes have, else a crate.
    fn head(&self, names: &dyn Names<'_>, (file, at): (FileId, usize), head: &str) -> Meaning {
        // Up to the edition of 2015 an import's path begins at the crate's root, another one
        // doesn't.
        let roots = self.roots_of(file);
        let old = roots.iter().any(|root| is_of_2015(names.project(), *root));
        let outermost = names.module_at(file, at) == Entity::Module { file, scope: 0 };
        if old && !(roots.contains(&file) && outermost) {
            return Meaning::unknown();
        }
        let explicit = names.explicit(file, at, head, Space::Type);
        if !explicit.is_empty() {
            return explicit;
        }
        let dependency = self.extern_crate(names, file, head);
        if !dependency.is_empty() {
            return dependency;
        }
        let globbed = names.visible(file, at, head, Space::Type);
        if !globbed.is_empty() {
            return globbed;
        }
        match roots.is_empty() || old || head.starts_with("r#") {
            true => Meaning::unknown(),
            false => Meaning::outside(),
        }
    }
}

fn path_attribute(source: &Source, node: Node<'_>) -> Option<String> {
    let mut before = node.prev_named_sibling();
    while let Some(one) =
        before.filter(|one| one.kind() == "attribute_item" || Language::is_comment(one.kind()))
    {
        let text = source.text_of(one);
        if one.kind() == "attribute_item" && text.contains("path") {
            return text.split('"').nth(1).map(str::to_owned);
        }
        before = one.prev_named_sibling();
    }
    None
}

fn manifest_of(project: &Project<'_>, root: FileId) -> Option<Manifest> {
    let all = project.manifests(root, "Cargo.toml").into_iter();
    let mut parsed =
        all.filter_map(|(directory, text)| Some(Manifest { directory, table: text.parse().ok()? }));
    parsed.find(|one| one.table.contains_key("package"))
}

fn workspace_of(project: &Project<'_>, root: FileId) -> Option<Manifest> {
    let all = project.manifests(root, "Cargo.toml").into_iter();
    let mut parsed =
        all.filter_map(|(directory, text)| Some(Manifest { directory, table: text.parse().ok()? }));
    parsed.find(|one| one.table.contains_key("workspace"))
}

fn is_patched(project: &Project<'_>, root: FileId) -> bool {
    let all = project.manifests(root, "Cargo.toml");
    all.iter().any(|(_, text)| text.contains("[patch") || text.contains("[replace"))
}

fn is_of_2015(project: &Project<'_>, root: FileId) -> bool {
    let edition = |table: &toml::Table| -> Option<String> {
        let edition = table.get("package")?.get("edition")?;
        Some(edition.as_str().unwrap_or("inherited").to_owned())
    };
    match manifest_of(project, root) {
        Some(manifest) => edition(&manifest.table).is_none_or(|edition| edition == "2015"),
        None => false,
    }
}

fn entry<'t>(table: &'t toml::Table, name: &str) -> Option<&'t toml::Value> {
    table.iter().find(|(key, _)| key.replace('-', "_") == name).map(|(_, one)| one)
}

/// The dependency that a package has under a name.
fn dependency<'t>(table: &'t toml::Table, name: &str) -> Option<&'t toml::Value> {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let of = |table: &'t toml::Table| {
        tables.iter().find_map(|one| entry(table.get(*one)?.as_table()?, name))
    };
    of(table).or_else(|| {
        let targets = table.get("target")?.as_table()?;
        targets.values().find_map(|one| of(one.as_table()?))
    })
}

/// The root of the library of the package in a directory.
fn library(project: &Project<'_>, directory: &Path) -> Option<FileId> {
    let text = project.text(&directory.join("Cargo.toml"))?;
    let table: toml::Table = text.parse().ok()?;
    let named = table.get("lib").and_then(|lib| lib.get("path")).and_then(|path| path.as_str());
    project.file(&normal(&directory.join(named.unwrap_or("src/lib.rs")))?)
}

/// The files that Cargo builds crates from.
fn roots(project: &Project<'_>) -> BTreeSet<FileId> {
    let mut packages: BTreeMap<PathBuf, Option<toml::Table>> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (file, path) in project.paths() {
        if Language::of_path(path) != Some(Language::Rust) {
            continue;
        }
        for directory in path.ancestors().skip(1) {
            let known = packages.entry(directory.to_owned()).or_insert_with(|| {
                let text = project.text(&directory.join("Cargo.toml"))?;
                text.parse::<toml::Table>().ok().filter(|table| table.contains_key("package"))
            });
            let Some(table) = known else { continue };
            let below = path.strip_prefix(directory).unwrap_or(path);
            if is_root(below, table) {
                found.insert(file);
            }
            break;
        }
    }
    found
}

fn is_root(path: &Path, table: &toml::Table) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let usual = matches!(
        parts.as_slice(),
        ["build.rs"]
            | ["src", "lib.rs" | "main.rs"]
            | ["src", "bin", _]
            | ["src", "bin", _, "main.rs"]
            | ["tests" | "examples" | "benches", _]
            | ["tests" | "examples" | "benches", _, "main.rs"]
    );
    let written = |one: &toml::Value| {
        let path = one.get("path").and_then(|path| path.as_str());
        path.and_then(|path| normal(Path::new(path)))
    };
    let named =
        ["lib", "bin", "test", "example", "bench"].iter().any(|kind| match table.get(*kind) {
            Some(toml::Value::Array(all)) => {
                all.iter().any(|one| written(one).as_deref() == Some(path))
            }
            Some(one) => written(one).as_deref() == Some(path),
            None => false,
        });
    usual || named
}
