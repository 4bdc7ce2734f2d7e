//! Extractions in Rust. Each case compiles before; what isn't refused compiles after.

use std::process::Command;

use crate::support::*;

const CASES: &str = include_str!("cases/rust.txt");

#[test]
fn extractions() {
    insta::assert_snapshot!(table(Language::Rust, CASES));
    let text = "pub fn f(a: &[u8]) -> usize {\n    let x = a.first().copied();\n    «println!(\"{x:?}\");\n»    a.len()\n}\n";
    let given = extract(Language::Rust, text, "helper", &[("x", "Option<u8>")]);
    assert!(given.contains("fn helper(x: &Option<u8>) {"), "{given}");
    assert!(given.contains("helper(&x);"), "{given}");
}

#[test]
fn extracted_rust_compiles() {
    let dir = tempfile::tempdir().unwrap();
    let mut failures = String::new();
    for (title, marked) in cases(CASES) {
        let before = marked.replace(['«', '»'], "");
        let after = extract(Language::Rust, &marked, "extracted", &[]);
        let mut texts = vec![("before", before)];
        if !after.starts_with("refused") && !after.starts_with("needs the types") {
            texts.push(("after", after));
        }
        for (when, text) in texts {
            if let Err(error) = compile(dir.path(), &text) {
                failures += &format!("=== {title}, {when}\n{text}\n{error}\n");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

fn compile(dir: &std::path::Path, text: &str) -> Result<(), String> {
    let file = dir.join("case.rs");
    std::fs::write(&file, text).unwrap();
    let output = Command::new("rustc")
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "--cap-lints",
            "allow",
        ])
        .arg("--out-dir")
        .arg(dir)
        .arg(&file)
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
