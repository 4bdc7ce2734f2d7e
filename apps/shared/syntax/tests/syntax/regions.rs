//! Comments and strings of a file.

use crate::support::*;

/// Returns a text in which comments are between `⟨⟩` and strings between `«»`.
fn marked(language: Language, text: &str) -> String {
    let found = regions(&Source::parse(language, text).unwrap());
    assert_eq!(found, regions_of(Some(language), text));
    let mut marks: Vec<(usize, char)> = Vec::new();
    for (all, open, close) in [(&found.comments, '⟨', '⟩'), (&found.strings, '«', '»')] {
        marks.extend(all.iter().flat_map(|one| [(one.start, open), (one.end, close)]));
    }
    marks.sort_by_key(|(at, mark)| (*at, matches!(mark, '⟨' | '«')));
    let (mut out, mut from) = (String::new(), 0);
    for (at, mark) in marks {
        out += &text[from..at];
        out.push(mark);
        from = at;
    }
    out + &text[from..]
}

#[test]
fn comments_and_strings_are_told_from_code() {
    let mut all = String::new();
    for (language, text) in [
        (
            Language::Rust,
            "//! Of the file.\n/// Doc of `f`.\nfn f<'a>(x: &'a str) {\n    let c = 'x'; // trailing\n    \
             /* a /* nested */ one */\n    println!(\"{x} // no comment\", /* in a macro */ r#\"raw \"s\"\"#);\n}\n",
        ),
        (
            Language::Python,
            "#!/usr/bin/python\n\"\"\"Doc.\"\"\"\nx = f'a {y + \"in\"} b' # c\ns = 'it\\'s' 'two'\n",
        ),
        (
            Language::JavaScript,
            "const a = `x ${b + 'c' /* d */} y`; // e\nconst r = /\\/\\/[/]/g, d = 4 / 2; // f\n",
        ),
        (
            Language::Tsx,
            "const e = <p title=\"t\">don't {/* c */ 'n'}</p>;\ntype T = 'a' | `b${string}`;\n",
        ),
        (Language::Go, "// Doc.\nfunc f() { s := \"a//b\" + `raw` ; r := 'x' /* c */ }\n"),
        (
            Language::C,
            "#include <stdio.h>\n#include \"own.h\" // why\n#define A \"s\" /* c */\n#define B 'q' // c2\n\
             /** Doc. */\nint main(void) { char *s = \"a\\\"b\"; return 'x'; }\n",
        ),
        (Language::Cpp, "auto s = R\"x(a \")\" // b)x\"; // c\nchar c = '\\'';\n"),
        (
            Language::Java,
            "/** Doc. */\nclass A { String s = \"\"\"\n  t // no\n  \"\"\"; char c = '\"'; } // e\n",
        ),
        (
            Language::CSharp,
            "/// <summary>Doc.</summary>\nclass A { string s = @\"v\"\"w\", t = $\"a {b + \"c\"} d\"; char c = '\"'; } /* e */\n",
        ),
        (Language::Markdown, "# A \"b\" // c\n"),
    ] {
        all += &format!("=== {}\n{}", language.name(), marked(language, text));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn range_is_a_comment_or_a_string_if_it_lies_in_one() {
    let text = "ab(\"cd\") // ef\n";
    let found = regions_of(Some(Language::Rust), text);
    let of = |part: &str| {
        let at = text.find(part).unwrap();
        found.of(&(at..at + part.len()))
    };
    assert_eq!(of("ab"), Region::Code);
    assert_eq!(of("cd"), Region::String);
    assert_eq!(of("\"cd\""), Region::String);
    assert_eq!(of("(\"cd"), Region::Code);
    assert_eq!(of("ef"), Region::Comment);
    assert_eq!(of("// ef"), Region::Comment);
    assert_eq!(of(") //"), Region::Code);
}

#[test]
fn text_without_a_grammar_is_all_code() {
    assert!(regions_of(None, "# a \"b\"").is_empty());
    let long = "// a\n".repeat(limits::SOURCE_MAX / 5 + 1);
    assert!(regions_of(Some(Language::Rust), &long).is_empty());
}

#[test]
fn deep_and_broken_texts_have_regions() {
    let deep = format!("x = {}1{} # end", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(regions_of(Some(Language::Python), &deep).comments.len(), 1);
    for language in Language::ALL {
        for text in [
            "",
            "\u{feff}",
            "}}}}",
            "\"",
            "'",
            "`",
            "/*",
            "«深い» \"",
            "#define X \"\\",
            "f'{",
            "`${",
        ] {
            let found = regions_of(Some(language), text);
            for part in found.comments.iter().chain(&found.strings) {
                assert!(text.get(part.clone()).is_some(), "{text:?} {part:?}");
            }
        }
    }
}
