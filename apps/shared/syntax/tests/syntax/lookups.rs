//! Symbols by the names that people write.

use std::path::Path;

use crate::outlines::EXAMPLES;
use crate::support::*;

fn find(language: Language, text: &str, written: &str) -> String {
    let source = Source::parse(language, text).unwrap();
    let found = Wanted::new(written).find(&source, Some(Path::new("src/shapes/point.rs")));
    let line = |one: &FoundSymbol| source.line_of(one.symbol.range.start) + 1;
    let all: Vec<_> = found.iter().map(|one| format!("{} {}", one.qualified, line(one))).collect();
    match all.is_empty() {
        true => format!("none; nearest: {}", source.nearest_names(written).join(", ")),
        false => all.join(" · "),
    }
}

#[test]
fn symbols_are_found_by_the_names_that_people_write() {
    let mut all = String::new();
    for (language, names) in [
        (
            Language::Rust,
            "Point|point::Point|shapes::point::Point|other::Point|new|Point::new|Point.new|Point<T>::new|\
             fn new()|impl Point|impl Display for Point|<Point as Display>::fmt|Display for Point::fmt|\
             impl fmt::Display for Point<T>|Point::fmt|fmt|m::deep|crate::shapes::point::m::deep|x|Point.x|\
             E::B|helper|Point::new::helper|area|Shape::area|mac!|S|nwe|Poynt|pub fn later|",
        ),
        (Language::Python, "f|g|f.g|C|C.m|C.kind|class C|late|LIMIT|C.n|"),
        (Language::JavaScript, "make|Thing.run|run|K.v|gen"),
        (Language::TypeScript, "f|C.m|C.n|C.#secret|N.g|I.k|E.A|k"),
        (Language::Go, "S|S.m|S::m|m|I.M|B|v|func Gen"),
        (Language::C, "point|point.x|node_t|add|MAX|color|RED|name_of"),
        (
            Language::Cpp,
            "List|List::get|a::b::List::get|get|Plain::f|a::b::Plain::f|~List|free_one|List::List",
        ),
        (Language::Java, "Shape|Shape.Shape|area|Shape.Kind.ONE|Visitor.visit|LIMIT"),
        (Language::CSharp, "Shape|P.Q.Shape|Shape.AreaAsync|Local|operator +|Size|Shape.Size|Go"),
        (
            Language::Markdown,
            "Install|## install|Title with `code`|title with code|深い見出し|Title with code > Install|Instal",
        ),
    ] {
        let (_, text) = EXAMPLES.iter().find(|(one, _)| *one == language).unwrap();
        all += &format!("=== {}\n", language.name());
        for name in names.split('|') {
            all += &format!("{name} → {}\n", find(language, text, name));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn any_written_name_is_read() {
    let source = Source::parse(Language::Rust, "fn f() {}\nimpl A for B { fn g() {} }\n").unwrap();
    for name in [
        "",
        ":",
        "::",
        ".",
        "a:::b",
        "<",
        "<<",
        "<a as b",
        "<a as b>::",
        " for ",
        "impl",
        "impl ",
        "()",
        "深::い",
        "a.b.c.d",
        "f()()",
        "x for y for z",
    ] {
        let _ = Wanted::new(name).find(&source, None);
        let _ = source.nearest_names(name);
    }
}
