//! The documents name what there is.

use std::fs;
use std::path::Path;

/// Fields of payloads that are named like tests.
const FIELDS: [&str; 2] = ["previous_ai_responses_in_r3", "consensus_from_r1_r2"];

#[test]
fn table_of_the_seed_names_tests_that_exist() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "tests/planner",
        "course/tests/course",
        "src",
        "course/src",
        "../../tests/tests/it",
        "../../tests/tests/it/attach",
    ];
    let mut sources = String::new();
    for entry in folders.iter().flat_map(|folder| fs::read_dir(home.join(folder)).unwrap()) {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "rs") {
            sources += &fs::read_to_string(path).unwrap();
        }
    }
    let table = fs::read_to_string(home.join("docs/seed-004.md")).unwrap();
    let mut count = 0;
    for quoted in table.split('`').skip(1).step_by(2) {
        // A name of two words may be a field's or a module's.
        let is_test = |name: &&str| name.matches('_').count() > 2 && !FIELDS.contains(name);
        let Some(name) = quoted.rsplit("::").next().filter(is_test) else { continue };
        if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            count += 1;
            assert!(sources.contains(&format!("fn {name}(")), "there is no test {name}");
        }
    }
    assert!(count > 20, "the table was read: {count}");
}
