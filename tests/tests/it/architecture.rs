//! ARCHITECTURE.md is a map of what is there: each package and each part of the core stands on it,
//! and what it names exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

fn map() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map")
}

/// The text between two lines of the page.
fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).expect(from);
    rest.split_once(to).expect(to).0
}

/// The inline code of a text.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The folders of the workspace's packages, as `cargo metadata` has them.
fn packages() -> BTreeSet<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output().expect("cargo");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = found["packages"].as_array().expect("packages").iter();
    let manifests = packages.map(|one| one["manifest_path"].as_str().expect("a path").to_owned());
    let folder = |path: String| {
        let folder = Path::new(&path).parent().expect("a folder").canonicalize().expect("a folder");
        folder
            .strip_prefix(root().canonicalize().expect("the repository"))
            .expect("inside")
            .display()
            .to_string()
    };
    manifests.map(folder).collect()
}

#[test]
fn code_map_has_every_package_and_no_other() {
    let map = map();
    let rows = part(&map, "\n## Code map\n", "\n## The core\n")
        .lines()
        .filter(|line| line.starts_with("| `"));
    let mapped: BTreeSet<String> = rows
        .flat_map(|row| {
            code(row.split(" | ").next().unwrap_or_default()).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    // The kits for other languages and the book aren't packages of Cargo.
    let others = ["apps/kits/python", "apps/kits/typescript", "docs"].map(str::to_owned);
    let expected: BTreeSet<String> = packages().into_iter().chain(others).collect();
    assert_eq!(mapped, expected);
}

#[test]
fn map_of_the_core_has_every_part_and_no_other() {
    let map = map();
    let block = part(&map, "pipemux-daemon/core/src/\n", "\n```");
    // A module's file, and the folder beside it with its parts, are one line.
    let module = |name: &str| name.trim_end_matches('/').trim_end_matches(".rs").to_owned();
    let mapped: BTreeSet<String> =
        block.lines().filter_map(|line| line.split_whitespace().next()).map(module).collect();
    let entries = fs::read_dir(root().join("pipemux-daemon/core/src")).expect("the core");
    let names =
        entries.map(|one| one.expect("an entry").file_name().into_string().expect("a name"));
    let there: BTreeSet<String> = names.map(|name| module(&name)).collect();
    assert_eq!(mapped, there);
}

#[test]
fn client_library_brings_no_command_line() {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = "tree -p pipemux-client -e normal --prefix none --offline --locked";
    let output =
        Command::new(cargo).args(arguments.split(' ')).current_dir(root()).output().expect("cargo");
    let tree = String::from_utf8(output.stdout).expect("text");
    let crates: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(crates.contains("pipemux-client") && crates.contains("tokio"), "{tree}");
    for unwanted in ["clap", "crossterm", "docui", "ratatui-core", "indicatif", "toml_edit"] {
        assert!(!crates.contains(unwanted), "{unwanted}");
    }
}

#[test]
fn every_file_that_the_page_names_exists() {
    let map = map();
    let roots = [
        "",
        "pipemux-daemon/core/src",
        "pipemux-daemon/core",
        "pipemux-client/src",
        "pipemux-client",
        "pipemux-daemon/src",
        "pipemux-daemon",
    ];
    let mut names = BTreeSet::new();
    sources(&root(), &mut |path, _| {
        names.insert(file_name(path));
    });
    let mut checked = 0;
    for name in code(&map).filter(|one| !one.contains(char::is_whitespace) && !one.contains("::<"))
    {
        let path = name.split("::").next().unwrap_or_default();
        // A session's name has a slash, too.
        let is_path = path.contains('/')
            && !path.ends_with("/main")
            && !path.starts_with('<')
            && !path.contains('…');
        if is_path || path.ends_with(".rs") {
            // A module goes by its path without the ending, too.
            let in_a_root = roots.iter().any(|folder| {
                let file = root().join(folder).join(path);
                file.exists() || file.with_extension("rs").exists()
            });
            // A file beside one that was just named goes by its name.
            let there = in_a_root || (!path.contains('/') && names.contains(path));
            assert!(there, "ARCHITECTURE.md names {path}, which isn't there");
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn every_identifier_in_the_table_of_places_exists() {
    let map = map();
    let mut all = String::new();
    sources(&root(), &mut |path, text| {
        all += if path.ends_with("architecture.rs") { "" } else { text }
    });
    let mut checked = 0;
    let table = part(&map, "\n## Where to add things\n", "\n## Glossary\n");
    for name in code(table) {
        let identifier = name.rsplit("::").next().unwrap_or_default();
        let is_identifier = identifier.len() > 3
            && identifier.chars().all(|one| one.is_alphanumeric() || one == '_')
            && identifier.chars().any(|one| one.is_uppercase() || one == '_');
        if is_identifier {
            assert!(
                all.contains(identifier),
                "ARCHITECTURE.md names {identifier}, which isn't there"
            );
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
}

/// What a verb costs: the files that name each verb, as a new one has to be named there. What else
/// a verb does stands in files of its own. The table in the first of them brings all that depends
/// on the verb alone.
#[test]
fn new_verb_touches_six_files() {
    let table =
        fs::read_to_string(root().join("pipemux-proto/src/client/verb.rs")).expect("a file");
    let (_, rows) = table.split_once("\nverb_kinds! {").expect("the table");
    let rows = rows.split_once("\n}").expect("its end").0.lines().filter(|row| row.ends_with(';'));
    // Kinds that only differ in their arguments share a verb, and some verbs are of programs only.
    let names: BTreeSet<&str> = rows.filter_map(|row| row.split('"').nth(1)).collect();
    assert!(names.len() > 20, "{names:?}");
    let variant = |name: &str| {
        let (first, rest) = name.split_at(1);
        [name.to_owned(), first.to_uppercase() + rest]
    };
    let mut naming = BTreeSet::new();
    for folder in ["pipemux-proto", "pipemux-daemon", "pipemux-client"] {
        sources(&root().join(folder), &mut |path, text| {
            let path = path.strip_prefix(root()).expect("inside").to_string_lossy().into_owned();
            if path.contains("tests") || path.contains("/benches/") {
                return;
            }
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let code: Vec<&str> =
                code.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
            let joined = code.join("\n");
            let words: BTreeSet<&str> =
                joined.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            // A text of the help names them as they are typed, code by their variants.
            let most = [0, 1].map(|form| {
                names.iter().filter(|name| words.contains(variant(name)[form].as_str())).count()
            });
            if most[1] * 4 > names.len() * 3 || (most[0] * 10 > names.len() * 9) {
                naming.insert(path);
            }
        });
    }
    let expected = [
        "pipemux-client/cli/src/args/overview.rs",
        "pipemux-client/cli/src/args/verbs.rs",
        "pipemux-client/cli/src/to_request.rs",
        "pipemux-daemon/core/src/audit.rs",
        "pipemux-daemon/core/src/core/dispatch.rs",
        "pipemux-proto/src/client/verb.rs",
    ];
    assert_eq!(naming.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Calls `each` with the path and the text of every Rust file below a folder.
fn sources(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            sources(&path, each);
        } else if path.extension().is_some_and(|end| end == "rs") {
            each(&path, &fs::read_to_string(&path).unwrap_or_default());
        }
    }
}
