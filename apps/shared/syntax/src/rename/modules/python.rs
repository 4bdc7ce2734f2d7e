//! Python: packages are directories, and an absolute import begins at a directory of the search
//! path.

use std::path::{Path, PathBuf};

use crate::rename::meaning::{Entity, FileId, Meaning};
use crate::rename::project::Project;

use super::rules::{Names, Rules};

/// The modules of the standard library, up to Python 3.14.
const STANDARD: &str = include_str!("python_modules.txt");
/// The members of the built-in types and of those that classes are often derived from, such as
/// `Enum`.
const MEMBERS: &str = include_str!("python_members.txt");

/// The types that `python_members.txt` has the members of, beside all errors and warnings.
const BASES: &str = include_str!("python_bases.txt");

pub(super) struct Python;

impl Rules for Python {
    fn module(
        &self,
        names: &dyn Names<'_>,
        (file, _): (FileId, usize),
        path: &[String],
    ) -> Meaning {
        let project = names.project();
        let dots = path.iter().take_while(|part| *part == ".").count();
        if dots > 0 {
            let package = project.path(file).ancestors().nth(dots);
            return match package {
                Some(package) => below(project, package, &path[dots..]),
                None => Meaning::outside(),
            };
        }
        let Some(head) = path.first() else { return Meaning::unknown() };
        let mut meaning = Meaning::default();
        for root in roots(project, file) {
            let found = below(project, &root, path);
            if !is_lost(&found) {
                meaning.extend(found.0);
            }
        }
        let elsewhere = STANDARD.split_whitespace().any(|one| one == head)
            || is_dependency(project, file, head);
        match (meaning.is_empty(), elsewhere) {
            (false, true) => {
                meaning.extend([Entity::Unknown]);
                meaning
            }
            (false, false) => meaning,
            (true, true) => Meaning::outside(),
            // A module of this name somewhere in the project may be on the search path.
            (true, false) if is_anywhere(project, head) => Meaning::unknown(),
            (true, false) => Meaning::outside(),
        }
    }

    fn submodule(&self, names: &dyn Names<'_>, directory: &str, name: &str) -> Meaning {
        let found = below(names.project(), Path::new(directory), &[name.to_owned()]);
        if is_lost(&found) { Meaning::default() } else { found }
    }

    fn twins(&self, project: &Project<'_>, file: FileId) -> Vec<FileId> {
        let path = project.path(file);
        let other = match path.extension().and_then(|end| end.to_str()) {
            Some("py") => path.with_extension("pyi"),
            _ => path.with_extension("py"),
        };
        project.file(&other).filter(|other| *other != file).into_iter().collect()
    }

    fn is_known_base(&self, name: &str) -> bool {
        let fault = ["Error", "Warning", "Exception"].iter().any(|end| name.ends_with(end));
        fault || BASES.split_whitespace().any(|one| one == name)
    }

    fn is_never_inherited(&self, name: &str) -> bool {
        !name.starts_with("__") && !MEMBERS.split_whitespace().any(|one| one == name)
    }

    fn is_reserved(&self, name: &str) -> bool {
        name.len() > 4 && name.starts_with("__") && name.ends_with("__")
    }
}

fn is_lost(meaning: &Meaning) -> bool {
    meaning.is_unknown()
}

/// The module at a path below a directory.
fn below(project: &Project<'_>, directory: &Path, path: &[String]) -> Meaning {
    let mut whole = directory.to_owned();
    whole.extend(path);
    let mut meaning = Meaning::default();
    let package = ["py", "pyi"].map(|end| whole.join("__init__").with_extension(end));
    // What a name ends in isn't an extension.
    let module = ["py", "pyi"].map(|end| {
        let name = whole.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        whole.with_file_name(format!("{name}.{end}"))
    });
    let files = |all: [PathBuf; 2]| all.into_iter().filter_map(|path| project.file(&path));
    meaning.extend(files(package).map(|file| Entity::Module { file, scope: 0 }));
    if meaning.is_empty() && !path.is_empty() {
        meaning.extend(files(module).map(|file| Entity::Module { file, scope: 0 }));
    }
    match whole.to_str() {
        Some(text) if meaning.is_empty() && project.has_directory(&whole) => {
            Meaning::of(Entity::Package(text.into()))
        }
        _ => meaning.or(Meaning::unknown),
    }
}

/// The directories that are likely on the search path of a file: the one of its outermost package,
/// which a script and a test runner put there, the project's own, and its `src`.
fn roots(project: &Project<'_>, file: FileId) -> Vec<PathBuf> {
    let mut package = project.path(file).parent().unwrap_or(Path::new("")).to_owned();
    while ["py", "pyi"]
        .iter()
        .any(|end| project.file(&package.join("__init__").with_extension(end)).is_some())
        && package.pop()
    {}
    let mut roots = vec![package, PathBuf::new(), PathBuf::from("src")];
    roots.extend(project.manifests(file, "pyproject.toml").into_iter().map(|(of, _)| of));
    roots.sort();
    roots.dedup();
    roots
}

/// True if some directory or file of the project has the name of a module.
fn is_anywhere(project: &Project<'_>, head: &str) -> bool {
    project.paths().any(|(_, path)| {
        let directory = path.parent().is_some_and(|of| of.iter().any(|part| part == head));
        directory || path.file_stem().is_some_and(|stem| stem == head)
    })
}

/// True if a manifest asks for a distribution of a module's name.
fn is_dependency(project: &Project<'_>, file: FileId, head: &str) -> bool {
    let same = |name: &str| {
        let plain = |text: &str| text.to_lowercase().replace(['-', '.'], "_");
        plain(name) == plain(head)
    };
    let name_of = |requirement: &str| -> String {
        let part = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        requirement.trim_start().chars().take_while(part).collect()
    };
    let lists = ["requirements.txt", "requirements-dev.txt", "requirements/dev.txt"];
    let listed = lists.iter().flat_map(|name| project.manifests(file, name));
    if listed.into_iter().any(|(_, text)| text.lines().any(|line| same(&name_of(line)))) {
        return true;
    }
    let manifests = project.manifests(file, "pyproject.toml").into_iter();
    for table in manifests.filter_map(|(_, text)| text.parse::<toml::Table>().ok()) {
        let own = table.get("project").and_then(|one| one.get("name"));
        if own.and_then(|own| own.as_str()).is_some_and(same) {
            continue;
        }
        let mut found = Vec::new();
        requirements(&toml::Value::Table(table), false, &mut found);
        if found.iter().any(|one| same(&name_of(one))) {
            return true;
        }
    }
    let older = ["setup.cfg", "setup.py"].iter().flat_map(|name| project.manifests(file, name));
    older.into_iter().any(|(_, text)| {
        let required = text.split_once("install_requires").map_or("", |(_, rest)| rest);
        let end = required.find(']').unwrap_or(required.len());
        let words = required[..end].split(['\'', '"', '\n']);
        words.into_iter().any(|word| same(&name_of(word)))
    })
}

/// Collects the strings of all lists, and the keys of all tables, that a manifest calls
/// dependencies.
fn requirements(value: &toml::Value, within: bool, found: &mut Vec<String>) {
    match value {
        toml::Value::String(text) if within => found.push(text.clone()),
        toml::Value::Array(all) => all.iter().for_each(|one| requirements(one, within, found)),
        toml::Value::Table(table) => {
            for (key, one) in table {
                if within {
                    found.push(key.clone());
                }
                let names = key.contains("dependenc") || key == "requires";
                requirements(one, within || names, found);
            }
        }
        _ => {}
    }
}
