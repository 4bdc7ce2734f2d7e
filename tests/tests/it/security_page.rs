//! SECURITY.md promises nothing that no test holds.

use std::fs;
use std::path::Path;

fn sources(directory: &Path, all: &mut String) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *all += &fs::read_to_string(path).unwrap_or_default();
        }
    }
}

#[test]
fn every_promise_of_the_security_page_names_tests_that_exist() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let page = fs::read_to_string(root.join(".github/SECURITY.md")).expect("the page");
    let mut all = String::new();
    sources(root, &mut all);
    let (promises, _) = page.split_once("## What isn't promised").expect("both parts");
    let (_, promises) = promises.split_once("## What is promised").expect("both parts");
    let rows = promises.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<&str> = rows.filter(|row| !row.starts_with("| promise |")).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit_once("| ").expect("a last column").1;
        for test in tests.split(", ") {
            let name = test.trim_matches('`');
            assert!(all.contains(&format!("fn {name}(")), "no test {name} for: {row}");
        }
    }
}
