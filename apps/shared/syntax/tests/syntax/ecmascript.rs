//! Extractions in JavaScript and TypeScript.

use crate::support::*;

const JAVASCRIPT: &str = include_str!("cases/javascript.txt");

const TYPESCRIPT: &str = include_str!("cases/typescript.txt");

#[test]
fn extractions() {
    insta::assert_snapshot!("javascript", table(Language::JavaScript, JAVASCRIPT));
    insta::assert_snapshot!("typescript", table(Language::TypeScript, TYPESCRIPT));
    let given = extract(
        Language::TypeScript,
        "function f(a: number) {\n  const b = g(a);\n  «h(b, a);\n»}\n",
        "helper",
        &[("b", "Foo | null")],
    );
    assert!(given.contains("function helper(b: Foo | null, a: number) {"), "{given}");
}
