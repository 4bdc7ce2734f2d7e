//! Whether a path leads to the module that declares the target.

use crate::language::Language;
use crate::lookup::module_names;

use super::Plan;
use super::imports::{Imports, module_of, modules_around};

impl Plan<'_> {
    /// True if a path names something of the project; `None` if that isn't known.
    pub(super) fn names_project(&self, unit: usize, path: &[String]) -> Option<bool> {
        let known = |name: &str| {
            self.packages.iter().any(|one| one == name)
                || self
                    .units
                    .iter()
                    .any(|one| module_names(one.path).iter().any(|part| part == name))
        };
        let head = path.first()?.as_str();
        match self.language() {
            Language::Rust => match head {
                "crate" | "self" | "super" => Some(true),
                "std" | "core" | "alloc" => Some(false),
                head => {
                    let module = self.units[unit].source.text().contains(&format!("mod {head}"));
                    match known(head) || module {
                        true => Some(true),
                        false if self.packages.is_empty() => None,
                        false => Some(false),
                    }
                }
            },
            Language::Python => match head {
                "." => Some(true),
                head => {
                    if known(head) {
                        Some(true)
                    } else {
                        Some(false)
                    }
                }
            },
            language if language.is_ecmascript() => match () {
                () if head.starts_with('.') => Some(true),
                () if head.starts_with(['@', '~', '#']) || head.starts_with("src/") => None,
                () if known(head.rsplit('/').next().unwrap_or(head)) => None,
                () => Some(false),
            },
            _ => None,
        }
    }

    /// [`Self::is_target_module_in`] for a name outside of inline modules.
    pub(super) fn is_target_module(&self, unit: usize, path: &[String]) -> Option<bool> {
        self.is_target_module_in(unit, path, &[])
    }

    /// True if a path means the module that declares the target; `None` if it can't be told.
    pub(super) fn is_target_module_in(
        &self,
        unit: usize,
        path: &[String],
        scope: &[String],
    ) -> Option<bool> {
        let target = self.target();
        let language = self.language();
        let (to_root, mut to) = module_of(language, self.units[target.unit].path);
        let (from_root, mut from) = module_of(language, self.units[unit].path);
        match language {
            Language::Rust => {
                let source = self.units[target.unit].source;
                to.extend(modules_around(source, source.node_at(&target.found.symbol.name_range)));
                from.extend_from_slice(scope);
                let mut rest = path;
                let mut same_root = from_root == to_root;
                match rest.first().map(String::as_str) {
                    Some("crate") => {
                        from.clear();
                        rest = &rest[1..];
                    }
                    Some("self" | "super") => {
                        while let Some(word) =
                            rest.first().filter(|word| matches!(word.as_str(), "self" | "super"))
                        {
                            if word == "super" {
                                from.pop()?;
                            }
                            rest = &rest[1..];
                        }
                    }
                    Some(package) if self.packages.iter().any(|one| one == package) => {
                        let folder = to_root.iter().rev().find(|part| *part != "src");
                        same_root = self.packages.len() == 1
                            || folder.is_some_and(|folder| folder.replace('-', "_") == *package);
                        from.clear();
                        rest = &rest[1..];
                    }
                    Some(head) => {
                        let child = self.units[unit].source.text().contains(&format!("mod {head}"));
                        if !child {
                            return self.internal(unit, path);
                        }
                    }
                    None => {}
                }
                from.extend_from_slice(rest);
                match same_root && from == to {
                    true => Some(true),
                    false => self.internal(unit, path),
                }
            }
            Language::Python => {
                let mut whole = to_root;
                whole.append(&mut to);
                if path.first().is_some_and(|part| part == ".") {
                    let dots = path.iter().take_while(|part| *part == ".").count();
                    let mut base: Vec<String> = self.units[unit]
                        .path
                        .parent()?
                        .iter()
                        .filter_map(|part| part.to_str())
                        .map(str::to_owned)
                        .collect();
                    for _ in 1..dots {
                        base.pop()?;
                    }
                    base.extend_from_slice(&path[dots..]);
                    return match base == whole {
                        true => Some(true),
                        false => self.internal(unit, path),
                    };
                }
                match !path.is_empty() && whole.ends_with(path) {
                    true => Some(true),
                    false => self.internal(unit, path),
                }
            }
            language if language.is_ecmascript() => {
                let spec = path.first()?;
                if !spec.starts_with('.') {
                    return self.internal(unit, path);
                }
                let mut base: Vec<&str> = self.units[unit]
                    .path
                    .parent()?
                    .iter()
                    .filter_map(|part| part.to_str())
                    .collect();
                for part in spec.split('/') {
                    match part {
                        "." | "" => {}
                        ".." => drop(base.pop()?),
                        part => base.push(part),
                    }
                }
                let file = self.units[target.unit].path.to_str()?;
                let joined = base.join("/");
                let plain = |text: &str| {
                    let text = text.trim_end_matches("/index");
                    let known =
                        [".d.ts", ".tsx", ".mts", ".cts", ".ts", ".jsx", ".mjs", ".cjs", ".js"];
                    let end = known.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
                    end.trim_end_matches("/index").to_owned()
                };
                match plain(&joined) == plain(file) {
                    true => Some(true),
                    false => self.internal(unit, path),
                }
            }
            Language::Go => {
                let folder: Vec<&str> = self.units[target.unit]
                    .path
                    .parent()?
                    .iter()
                    .filter_map(|part| part.to_str())
                    .collect();
                let last = path.last()?;
                match folder.last() {
                    Some(name) if name == last => {
                        let ends =
                            path.iter().map(String::as_str).collect::<Vec<_>>().ends_with(&folder);
                        if ends { Some(true) } else { None }
                    }
                    Some(_) => Some(false),
                    None => None,
                }
            }
            Language::Java => {
                let folder: Vec<&str> = self.units[target.unit]
                    .path
                    .parent()?
                    .iter()
                    .filter_map(|part| part.to_str())
                    .collect();
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                Some(folder.ends_with(&path))
            }
            _ => None,
        }
    }

    /// A path within the project that isn't the target's own leads to it if nothing else has the name: modules
    /// hand on what they import.
    fn internal(&self, unit: usize, path: &[String]) -> Option<bool> {
        match self.names_project(unit, path) {
            Some(true) if self.is_unique() && !self.is_imported_from_outside() => Some(true),
            Some(true) => None,
            other => other,
        }
    }

    /// True if some file imports the name from outside of the project.
    fn is_imported_from_outside(&self) -> bool {
        self.units.iter().enumerate().any(|(unit, one)| {
            let imports = Imports::of(one.source);
            imports.all.iter().any(|import| {
                import.original == self.name && self.names_project(unit, &import.path) != Some(true)
            })
        })
    }
}
