//! The structure of the sources: the core's components form layers, each uses only those below it;
//! and types, functions and files stay small enough to be seen. What exceeds a limit today is
//! listed in `structure.txt`, which only shrinks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pipemux_tests::structure::{self, Figures, ModuleGraph};

/// The modules that hold the components together and may therefore use all of them.
const TOP: &[&str] = &["core"];
/// The most methods that a type has in all its `impl` blocks, those of traits apart.
const METHODS: usize = 40;
/// The most fields that a struct has.
const FIELDS: usize = 20;
/// The most lines that a function has; a `match` at its end whose arms are short is a table, and
/// not counted.
const LINES: usize = 80;
const LIST: &str = "tests/tests/structure.txt";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn components_of_the_core_form_no_circle() {
    let src = root().join("pipemux-daemon/core/src");
    let graph = ModuleGraph::read(&src).expect("the sources of the core").components(TOP);
    assert!(graph.edges().count() > 5, "no components were found in {}", src.display());
    if let Some(circle) = graph.shortest_circle() {
        let edges: Vec<String> = graph
            .edges()
            .map(|(from, to)| {
                format!("{from} → {}", to.iter().cloned().collect::<Vec<_>>().join(", "))
            })
            .collect();
        panic!("components use each other: {}\n{}", circle.join(" → "), edges.join("\n"));
    }
}

/// What exceeds a limit, by what it is, with how much.
fn excesses() -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (package, src) in packages() {
        let mut add = |kind: &str, name: &str, count: usize| {
            found.insert(format!("{kind} {package} {name}"), count);
        };
        let sources = structure::read(&src).expect("sources");
        let figures = Figures::of(&sources);
        let over = |figures: &BTreeMap<String, usize>, limit: usize| {
            figures
                .iter()
                .filter(|(_, count)| **count > limit)
                .map(|(name, count)| (name.clone(), *count))
                .collect::<Vec<_>>()
        };
        over(&figures.methods, METHODS)
            .iter()
            .for_each(|(name, count)| add("methods", name, *count));
        over(&figures.fields, FIELDS).iter().for_each(|(name, count)| add("fields", name, *count));
        over(&figures.functions, LINES).iter().for_each(|(name, count)| add("lines", name, *count));
        let graph = ModuleGraph::of(&sources);
        for circle in graph.circles() {
            // A circle is known by its first file: more files in it are an excess, fewer are none.
            add("circle", circle.first().copied().unwrap_or_default(), circle.len());
        }
    }
    found
}

/// The crates whose sources count, by their folders: those below `tests` are no part of what users
/// run.
fn packages() -> Vec<(String, PathBuf)> {
    let root = root();
    let text = std::fs::read_to_string(root.join("Cargo.toml")).expect("the workspace's manifest");
    let manifest: toml::Table = text.parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("members");
    let folders = members.iter().filter_map(|member| member.as_str());
    folders
        .filter(|folder| folder.split('/').next() != Some("tests"))
        .map(|folder| (folder.to_owned(), root.join(folder).join("src")))
        .collect()
}

#[test]
fn types_functions_and_circles_of_files_only_shrink() {
    let list = root().join(LIST);
    let found = excesses();
    if std::env::var_os("PIPEMUX_STRUCTURE").is_some_and(|value| value == "write") {
        let mut text = String::new();
        for (name, count) in &found {
            let _ = writeln!(text, "{name} {count}");
        }
        std::fs::write(&list, text).expect("the list");
        return;
    }
    let listed = std::fs::read_to_string(&list).expect("the list");
    let listed: BTreeMap<&str, usize> = listed
        .lines()
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, count)| (name, count.parse().expect("a count")))
        .collect();
    let names: BTreeSet<&str> =
        found.keys().map(String::as_str).chain(listed.keys().copied()).collect();
    let mut faults = String::new();
    for name in names {
        let (now, known) = (found.get(name).copied(), listed.get(name).copied());
        let _ = match (now, known) {
            (Some(now), None) => writeln!(faults, "too large: {name} {now}"),
            (Some(now), Some(known)) if now > known => {
                writeln!(faults, "grew: {name} {known} → {now}")
            }
            (now, Some(known)) if now != Some(known) => {
                let now = now.map_or("nothing".to_owned(), |now| now.to_string());
                writeln!(faults, "shrank, so lower it in the list: {name} {known} → {now}")
            }
            _ => Ok(()),
        };
    }
    assert!(
        faults.is_empty(),
        "at most {METHODS} methods a type, {FIELDS} fields a struct, {LINES} lines a function, no circle of files:\n{faults}\
         The list is {LIST}; PIPEMUX_STRUCTURE=write cargo test -p pipemux-tests --test structure writes it."
    );
}
