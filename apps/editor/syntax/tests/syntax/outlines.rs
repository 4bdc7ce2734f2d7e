//! The symbols of a file.

use std::path::Path;

use crate::support::*;

fn lines(source: &Source, symbols: &[Symbol], depth: usize) -> String {
    let mut all = String::new();
    for symbol in symbols {
        let first = source.line_of(symbol.range.start) + 1;
        let last = source.line_of(symbol.range.end) + 1;
        let name = &source.text()[symbol.name_range.clone()];
        assert!(symbol.name.contains(name), "{symbol:?}");
        assert!(symbol.range.start <= symbol.name_range.start);
        assert!(symbol.body.as_ref().is_none_or(|body| body.end <= symbol.range.end), "{symbol:?}");
        let indent = "  ".repeat(depth);
        all += &format!("{indent}{} {} {first}-{last}\n", symbol.kind.word(), symbol.name);
        all += &lines(source, &symbol.children, depth + 1);
    }
    all
}

fn outline(language: Language, text: &str) -> String {
    let source = Source::parse(language, text).unwrap();
    lines(&source, &source.outline(), 0)
}

#[test]
fn symbols_are_listed_with_those_in_them() {
    let mut all = String::new();
    for (language, text) in [
        (
            Language::Rust,
            "mod m {\n    pub const A: u8 = 1;\n    pub struct S<T>(T);\n    impl<T> Clone for S<T> {\n        \
             fn clone(&self) -> Self {\n            fn inner() {}\n            todo!()\n        }\n    }\n}\n\
             trait T {\n    fn one(&self);\n}\nenum E { A }\nmacro_rules! x { () => {} }\ntype U = u8;\n",
        ),
        (
            Language::Python,
            "import a\n\n@a.b\ndef f():\n    def g():\n        pass\n\nclass C(D):\n    x = 1\n    \
             @property\n    def m(self):\n        return 1\n",
        ),
        (
            Language::TypeScript,
            "export const f = (a: number) => a;\nexport default class C<T> {\n  n = 1;\n  m(): void {\n    \
             const local = 1;\n  }\n}\ninterface I { m(): void }\nenum E { A }\ntype U = number;\n\
             namespace N {\n  export function g() {}\n}\nconst k = 1;\n",
        ),
        (
            Language::Go,
            "package p\n\nconst A = 1\n\ntype S struct{ a int }\n\ntype I interface{ m() }\n\n\
             func (s *S) m() {\n\tvar local int\n}\n\nfunc f() {}\n\nvar v = 2\n",
        ),
    ] {
        all += &format!("=== {}\n{}", language.name(), outline(language, text));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn enclosing_symbols_are_those_around_a_range() {
    let text = "class C:\n    def m(self):\n        return 1\n\nx = 1\n";
    let source = Source::parse(Language::Python, text).unwrap();
    let at = text.find("return").unwrap();
    let names: Vec<_> = source.enclosing(&(at..at + 6)).into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["C", "m"]);
    let end = text.find("x =").unwrap();
    assert!(source.enclosing(&(end..end + 1)).is_empty());
}

#[test]
fn languages_are_told_by_the_extension() {
    for (path, language) in [
        ("a.rs", Some(Language::Rust)),
        ("b/c.PY", Some(Language::Python)),
        ("d.mjs", Some(Language::JavaScript)),
        ("e.tsx", Some(Language::Tsx)),
        ("f.go", Some(Language::Go)),
        ("README", None),
        ("g.txt", None),
    ] {
        assert_eq!(Language::of_path(Path::new(path)), language, "{path}");
    }
}
