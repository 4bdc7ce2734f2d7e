//! Extractions in Go.

use crate::support::*;

const CASES: &str = include_str!("cases/go.txt");

#[test]
fn extractions() {
    insta::assert_snapshot!(table(Language::Go, CASES));
    let text = "func f(a string) int {\n\tx := g(a)\n\t«h(x)\n»\treturn 0\n}\n";
    let given = extract(Language::Go, text, "helper", &[("x", "*Foo")]);
    assert!(given.contains("func helper(x *Foo) {\n\th(x)\n}"), "{given}");
}
