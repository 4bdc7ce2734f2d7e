//! Extractions in Python.

use crate::support::*;

const CASES: &str = include_str!("cases/python.txt");

#[test]
fn extractions() {
    insta::assert_snapshot!(table(Language::Python, CASES));
}

#[test]
fn line_endings_are_kept() {
    let text = "def f(a):\r\n    «b = a\r\n    c = b\r\n»    return c\r\n";
    assert_eq!(
        extract(Language::Python, text, "g", &[]),
        "def f(a):\r\n    c = g(a)\r\n    return c\r\n\r\n\r\ndef g(a):\r\n    b = a\r\n    c = b\r\n    return c\r\n"
    );
}
