//! The graph of which module of a crate names which other, read from the sources.
//!
//! An edge is a path that starts at `crate` or `super`, in an import or in code. Tests don't count: neither
//! items under `#[cfg(test)]` nor files named `tests.rs`. Two kinds of dependency leave no path and are not
//! seen: a call of a method, and a name that a glob import brings in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

mod source;

/// Modules, and the modules that each of them names. The root of the crate is not part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleGraph(BTreeMap<String, BTreeSet<String>>);

impl ModuleGraph {
    /// Reads the sources of a crate, where `lib.rs` is the root.
    ///
    /// # Errors
    /// The directory can't be read.
    pub fn read(src: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        collect(src, &mut Vec::new(), &mut files)?;
        let modules: BTreeSet<String> = files.iter().map(|(path, _)| path.join("::")).collect();
        let root = files.iter().find(|(path, _)| path.is_empty()).map_or("", |(_, text)| text);
        let exports = source::exports(root);
        let mut graph = Self::default();
        for (path, text) in files.iter().filter(|(path, _)| !path.is_empty()) {
            let from = path.join("::");
            let named = source::paths(path, text);
            let edges = named.iter().filter_map(|to| resolve(to, &modules, &exports));
            let edges = edges.filter(|to| *to != from).collect();
            graph.0.insert(from, edges);
        }
        Ok(graph)
    }

    /// Returns the graph of the top-level modules, each with all that is below it, without those in `except`.
    pub fn components(&self, except: &[&str]) -> Self {
        let top = |module: &str| module.split("::").next().unwrap_or_default().to_owned();
        let mut graph = Self::default();
        for (from, edges) in &self.0 {
            let from = top(from);
            if except.contains(&from.as_str()) {
                continue;
            }
            let known = graph.0.entry(from.clone()).or_default();
            let edges = edges.iter().map(|to| top(to));
            known.extend(edges.filter(|to| *to != from && !except.contains(&to.as_str())));
        }
        graph
    }

    /// Lists each module with the modules that it names.
    pub fn edges(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.0.iter().map(|(from, to)| (from.as_str(), to))
    }

    /// Lists the groups of modules that reach each other (strongly connected components of two or more).
    pub fn circles(&self) -> Vec<BTreeSet<&str>> {
        let reach: BTreeMap<&str, BTreeSet<&str>> =
            self.0.keys().map(|from| (from.as_str(), self.reachable(from))).collect();
        let mut circles: Vec<BTreeSet<&str>> = Vec::new();
        for (from, reached) in &reach {
            let back = |to: &&str| reach.get(to).is_some_and(|back| back.contains(from));
            let group: BTreeSet<&str> = reached.iter().copied().filter(back).collect();
            if group.len() > 1 && !circles.contains(&group) {
                circles.push(group);
            }
        }
        circles
    }

    /// Returns the shortest path that leads from one of its modules back to it; `None` without a circle.
    pub fn shortest_circle(&self) -> Option<Vec<&str>> {
        let circles = self.0.keys().filter_map(|start| self.path_back_to(start));
        circles.min_by_key(Vec::len)
    }

    fn path_back_to<'g>(&'g self, start: &'g str) -> Option<Vec<&'g str>> {
        let mut seen = BTreeSet::new();
        let mut paths = vec![vec![start]];
        while !paths.is_empty() {
            let mut longer = Vec::new();
            for path in paths {
                for next in path.last().and_then(|last| self.0.get(*last)).into_iter().flatten() {
                    let extended = [path.as_slice(), &[next.as_str()]].concat();
                    if next == start {
                        return Some(extended);
                    }
                    if seen.insert(next.as_str()) {
                        longer.push(extended);
                    }
                }
            }
            paths = longer;
        }
        None
    }

    fn reachable<'g>(&'g self, from: &'g str) -> BTreeSet<&'g str> {
        let mut reached = BTreeSet::new();
        let mut todo = vec![from];
        while let Some(module) = todo.pop() {
            for next in self.0.get(module).into_iter().flatten() {
                if reached.insert(next.as_str()) {
                    todo.push(next);
                }
            }
        }
        reached
    }
}

/// Finds the module that a path means: the longest prefix that is one, or where the root's export comes from.
fn resolve(
    path: &[String],
    modules: &BTreeSet<String>,
    exports: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let prefixes = (1..=path.len()).rev().map(|length| path[..length].join("::"));
    let mut found = prefixes.filter(|prefix| modules.contains(prefix));
    found.next().or_else(|| {
        let source = exports.get(path.first()?)?;
        resolve(source, modules, &BTreeMap::new())
    })
}

/// Reads the files below, with the path of the module that each of them is.
fn collect(
    directory: &Path,
    module: &mut Vec<String>,
    files: &mut Vec<(Vec<String>, String)>,
) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if name == "tests" {
            continue;
        }
        if path.is_dir() {
            module.push(name);
            collect(&path, module, files)?;
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_root = module.is_empty() && matches!(name.as_str(), "lib" | "main");
            let mut of_file = module.clone();
            if name != "mod" && !is_root {
                of_file.push(name);
            }
            files.push((of_file, fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: &[(&str, &str)]) -> ModuleGraph {
        let src = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = src.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        ModuleGraph::read(src.path()).expect("the sources")
    }

    #[test]
    fn imports_paths_and_root_exports_are_edges() {
        let graph = graph(&[
            ("lib.rs", "mod a; mod b; mod c; pub use c::deep::Thing;"),
            ("a.rs", "use crate::{b::{self, X}, Thing};"),
            ("b.rs", "fn f() { super::c::g() }"),
            ("c.rs", "mod deep;"),
            ("c/deep.rs", "fn f(_: super::super::a::Y) {}"),
        ]);
        let edges: Vec<String> = graph
            .edges()
            .flat_map(|(from, to)| to.iter().map(move |to| format!("{from} → {to}")))
            .collect();
        assert_eq!(edges, ["a → b", "a → c::deep", "b → c", "c::deep → a"]);
        assert_eq!(graph.circles(), [BTreeSet::from(["a", "c::deep"])]);
        assert_eq!(graph.components(&[]).shortest_circle(), Some(vec!["a", "c", "a"]));
        assert_eq!(graph.components(&["a"]).shortest_circle(), None);
    }

    #[test]
    fn comments_strings_and_tests_are_not_edges() {
        let graph = graph(&[
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "// crate::b\n/* crate::b /* */ crate::b */\nconst S: &str = \"crate::b\";\n\
                 const R: &str = r#\"\" crate::b\"#;\nconst C: char = '\"';\nfn f<'x>(_: &'x str) {}\n\
                 #[cfg(test)]\nmod tests { use crate::b; fn g() {} }\n#[cfg(test)]\nuse crate::b::X;\n",
            ),
            ("a/tests.rs", "use crate::b;"),
            ("b.rs", "use crate::a;"),
        ]);
        assert_eq!(graph.circles(), Vec::<BTreeSet<&str>>::new());
        assert_eq!(graph.edges().map(|(_, to)| to.len()).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn modules_that_reach_each_other_are_one_circle() {
        let graph = graph(&[
            ("lib.rs", ""),
            ("a.rs", "use crate::b;"),
            ("b.rs", "use crate::c;"),
            ("c.rs", "use crate::a; use crate::d;"),
            ("d.rs", ""),
        ]);
        assert_eq!(graph.circles(), [BTreeSet::from(["a", "b", "c"])]);
    }
}
