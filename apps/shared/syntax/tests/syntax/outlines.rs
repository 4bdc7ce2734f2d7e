//! The symbols of a file.

use std::path::Path;

use crate::support::*;

fn span(source: &Source, range: &std::ops::Range<usize>) -> String {
    let last = range.end.max(range.start + 1) - 1;
    format!("{}-{}", source.line_of(range.start) + 1, source.line_of(last) + 1)
}

/// Returns each symbol with its lines, those with what belongs to it, and those between its braces.
fn lines(source: &Source, symbols: &[Symbol], depth: usize) -> String {
    let (mut all, text) = (String::new(), source.text());
    for symbol in symbols {
        let name = &text[symbol.name_range.clone()];
        assert!(symbol.name.contains(name) || symbol.kind == SymbolKind::Heading, "{symbol:?}");
        assert!(symbol.range.start <= symbol.name_range.start);
        assert!(symbol.whole.start <= symbol.range.start);
        assert!(symbol.range.end <= symbol.whole.end || symbol.kind == SymbolKind::Heading);
        assert!(symbol.body.as_ref().is_none_or(|body| body.end <= symbol.range.end), "{symbol:?}");
        let public = if symbol.public { "public " } else { "" };
        let flags: String = symbol.flags.iter().map(|flag| format!("{flag} ")).collect();
        let owner = symbol.owner.as_ref().map(|owner| format!("{owner}'s ")).unwrap_or_default();
        let indent = "  ".repeat(depth);
        all += &format!("{indent}{public}{flags}{} {owner}{}", symbol.kind.word(), symbol.name);
        all += &format!(" {}", span(source, &symbol.range));
        match symbol.is_whole_lines(text) {
            true if span(source, &symbol.whole) != span(source, &symbol.range) => {
                all += &format!(", whole {}", span(source, &symbol.whole));
            }
            true => {}
            false => all += &format!(", {:?}", &text[symbol.whole.clone()]),
        }
        if let Some(inside) = &symbol.interior {
            let inside_text = &text[inside.clone()];
            all += &match inside_text.ends_with('\n') || inside_text.contains('\n') {
                true => format!(", body {}", span(source, inside)),
                false => format!(", body {inside_text:?}"),
            };
        }
        if let Some(summary) = &symbol.summary {
            all += &format!(", says {summary:?}");
        }
        all += "\n";
        all += &lines(source, &symbol.children, depth + 1);
    }
    all
}

fn outline(language: Language, text: &str) -> String {
    let source = Source::parse(language, text).unwrap();
    lines(&source, &source.declarations(), 0)
}

/// The example of each language.
pub const EXAMPLES: [(Language, &str); 10] = [
    (Language::Rust, include_str!("cases/outline/rust.txt")),
    (Language::Python, include_str!("cases/outline/python.txt")),
    (Language::JavaScript, include_str!("cases/outline/javascript.txt")),
    (Language::TypeScript, include_str!("cases/outline/typescript.txt")),
    (Language::Go, include_str!("cases/outline/go.txt")),
    (Language::C, include_str!("cases/outline/c.txt")),
    (Language::Cpp, include_str!("cases/outline/cpp.txt")),
    (Language::Java, include_str!("cases/outline/java.txt")),
    (Language::CSharp, include_str!("cases/outline/csharp.txt")),
    (Language::Markdown, include_str!("cases/outline/markdown.txt")),
];

#[test]
fn symbols_are_listed_with_those_in_them() {
    let mut all = String::new();
    for (language, text) in EXAMPLES {
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
    assert_eq!(source.enclosing(&(end..end + 1)).len(), 1);
    assert!(source.enclosing(&(end - 1..end)).is_empty());
}

#[test]
fn languages_are_told_by_the_extension() {
    for (path, language) in [
        ("a.rs", Some(Language::Rust)),
        ("b/c.PY", Some(Language::Python)),
        ("d.mjs", Some(Language::JavaScript)),
        ("e.tsx", Some(Language::Tsx)),
        ("f.go", Some(Language::Go)),
        ("a/b.h", Some(Language::C)),
        ("a.cc", Some(Language::Cpp)),
        ("A.java", Some(Language::Java)),
        ("A.cs", Some(Language::CSharp)),
        ("README.md", Some(Language::Markdown)),
        ("README", None),
        ("g.txt", None),
    ] {
        assert_eq!(Language::of_path(Path::new(path)), language, "{path}");
    }
}

/// What a Markdown text is about: its title and the first sentences.
fn lead(text: &str) -> (Option<String>, Option<String>) {
    let lead = Source::parse(Language::Markdown, text).unwrap().lead().unwrap();
    (lead.title, lead.prose)
}

#[test]
fn lead_of_markdown_is_its_title_and_first_prose() {
    let badges = "[![CI](https://ci/x.svg)](https://ci)\n[![v](https://v.svg)][crate]\n\n\
                  [crate]: https://crates.io/x\n\n";
    let some = |text: &str| Some(text.to_owned());
    for (text, title, prose) in [
        (
            format!("# Fast\n\n{badges}<!-- a\ncomment -->\n\nA *fast* [hash](https://x.y/z) of `u8`.\n\n## Use\n\nDo.\n"),
            some("Fast"),
            some("A fast hash of u8."),
        ),
        // Where nothing stands below the title, an introduction says more than the first section.
        (
            "# P\n\n## Book\n\nThe book is elsewhere, and long.\n\n## Introduction\n\nP tests properties.\n".into(),
            some("P"),
            some("P tests properties."),
        ),
        // A list of links is no prose, nor is an address.
        (
            "# L\n\n[Docs](https://d) | [Crate](https://c)\n\nhttps://docs.rs/l\n\nParses text.\n".into(),
            some("L"),
            some("Parses text."),
        ),
        // A short sentence says too little.
        ("# S\n\nFast. Small. It maps keys to values in order, without unsafe code. More.\n".into(), some("S"),
         some("Fast. Small. It maps keys to values in order, without unsafe code.")),
        // HTML in place of a heading.
        (
            "<div align=\"center\">\n<h1>Tool &amp; Co</h1>\n<img src=\"a.png\">\n</div>\n\nIt does it.\n\n## Install\n\nRun it.\n".into(),
            some("Tool & Co"),
            some("It does it."),
        ),
        ("<p align=\"center\"><b>Only</b> HTML here.</p>\n\n```sh\nrun\n```\n".into(), None, some("Only HTML here.")),
        ("---\ntitle: x\n---\n\nNo heading at all.\n".into(), None, some("No heading at all.")),
        ("```\ncode\n```\n".into(), None, None),
        (String::new(), None, None),
    ] {
        assert_eq!(lead(&text), (title, prose), "{text}");
    }
    let long = format!("# T\n\n{}.\n", "word ".repeat(200).trim());
    let prose = lead(&long).1.unwrap();
    assert!(prose.ends_with("word…") && prose.chars().count() <= 241, "{prose}");
}
