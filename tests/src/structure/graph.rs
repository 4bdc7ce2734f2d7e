//! The graph of which module of a crate names which other.
//!
//! An edge is a path that is written, in an import or in code. What a module re-exports leads to
//! where it comes from. Two kinds of dependency leave no path and are not seen: a call of a method,
//! and a name that a glob import brings in.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::paths::Named;
use super::{Source, read};

/// Modules, and the modules that each of them names. The root of the crate is not part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleGraph(BTreeMap<String, BTreeSet<String>>);

impl ModuleGraph {
    /// Reads the sources of a crate, where `lib.rs` is the root.
    ///
    /// # Errors
    /// As of [`read`].
    pub fn read(src: &Path) -> io::Result<Self> {
        Ok(Self::of(&read(src)?))
    }

    /// Returns the graph of a crate's sources.
    pub fn of(sources: &[Source]) -> Self {
        let modules: BTreeSet<&[String]> =
            sources.iter().map(|source| source.module.as_slice()).collect();
        let is_module = |path: &[String]| modules.contains(path);
        let named: BTreeMap<&[String], Named> = sources
            .iter()
            .map(|source| (source.module.as_slice(), Named::of(source, &is_module)))
            .collect();
        let mut graph = Self::default();
        for (from, names) in named.iter().filter(|(path, _)| !path.is_empty()) {
            let to = names.paths.iter().filter_map(|path| resolve(path, &named, 0));
            let to = to.filter(|to| to.as_slice() != *from).map(|to| to.join("::")).collect();
            graph.0.insert(from.join("::"), to);
        }
        graph
    }

    /// Returns the graph of the top-level modules, each with all that is below it, without those in
    /// `except`.
    pub fn components(&self, except: &[&str]) -> Self {
        let mut graph = Self::default();
        for (from, edges) in &self.0 {
            let from = top(from);
            if except.contains(&from) {
                continue;
            }
            let known = graph.0.entry(from.to_owned()).or_default();
            let edges = edges.iter().map(|to| top(to));
            known.extend(edges.filter(|to| *to != from && !except.contains(to)).map(str::to_owned));
        }
        graph
    }

    /// Lists each module with the modules that it names.
    pub fn edges(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.0.iter().map(|(from, to)| (from.as_str(), to))
    }

    /// Lists the groups of modules that reach each other (strongly connected components of two or
    /// more). A module and one below it that only name each other are left out: the upper one is
    /// made of the lower one.
    pub fn circles(&self) -> Vec<BTreeSet<&str>> {
        let reach: BTreeMap<&str, BTreeSet<&str>> =
            self.0.keys().map(|from| (from.as_str(), self.reachable(from))).collect();
        let mut circles: Vec<BTreeSet<&str>> = Vec::new();
        for (from, reached) in &reach {
            let back = |to: &&str| reach.get(to).is_some_and(|back| back.contains(from));
            let group: BTreeSet<&str> = reached.iter().copied().filter(back).collect();
            if group.len() > 1 && !is_parent_and_child(&group) && !circles.contains(&group) {
                circles.push(group);
            }
        }
        circles
    }

    /// Returns the shortest path that leads from one of its modules back to it; `None` without a
    /// circle.
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

fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or_default()
}

fn is_parent_and_child(group: &BTreeSet<&str>) -> bool {
    let mut modules = group.iter();
    let (Some(upper), Some(lower), None) = (modules.next(), modules.next(), modules.next()) else {
        return false;
    };
    lower.strip_prefix(upper).is_some_and(|rest| rest.starts_with("::"))
}

/// Finds the module that a path means: where an import of the longest prefix that is a module comes
/// from, or that module.
fn resolve(
    path: &[String],
    named: &BTreeMap<&[String], Named>,
    depth: usize,
) -> Option<Vec<String>> {
    // No chain of re-exports is that long: it would be a circle.
    const MAX_DEPTH: usize = 16;
    let (module, names) = (0..=path.len())
        .rev()
        .find_map(|length| Some((&path[..length], named.get(&path[..length])?)))?;
    let source = path.get(module.len()).and_then(|name| names.imports.get(name));
    match source {
        Some(source) if depth < MAX_DEPTH => {
            let whole: Vec<String> =
                source.iter().chain(&path[module.len() + 1..]).cloned().collect();
            resolve(&whole, named, depth + 1)
        }
        _ => (!module.is_empty()).then(|| module.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
    fn imports_paths_and_exports_are_edges() {
        let graph = graph(&[
            ("lib.rs", "mod a; mod b; mod c; pub use c::Thing;"),
            ("a.rs", "use crate::{b::{self, X}, Thing};"),
            ("b.rs", "fn f() { println!(\"{}\", super::c::g()) }"),
            ("c.rs", "mod deep; pub use deep::Thing; fn g() {}"),
            ("c/deep.rs", "fn f(_: super::super::a::Y) {}"),
        ]);
        let edges: Vec<String> = graph
            .edges()
            .flat_map(|(from, to)| to.iter().map(move |to| format!("{from} → {to}")))
            .collect();
        assert_eq!(edges, ["a → b", "a → c::deep", "b → c", "c → c::deep", "c::deep → a"]);
        assert_eq!(graph.circles(), [BTreeSet::from(["a", "b", "c", "c::deep"])]);
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
            ("d.rs", "use crate::d::low::X;"),
            ("d/low.rs", "use super::Y;"),
        ]);
        assert_eq!(graph.circles(), [BTreeSet::from(["a", "b", "c"])]);
    }
}
