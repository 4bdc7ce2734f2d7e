//! Laws of the code in a model's message, for messages of any parts: another reader of CommonMark
//! sees the same blocks.

use pipemux_proto::call::blocks::{blocks, script};
use pipemux_proto::call::parse;
use proptest::prelude::*;
use proptest::sample::select;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

fn codes(message: &str) -> Vec<String> {
    match blocks(message) {
        Ok(found) => found.into_iter().map(|block| block.code).collect(),
        Err(error) => panic!("{message:?}: {}", error.to_fault(message).message),
    }
}

/// Parts of a message, each with the code in it that runs.
const PARTS: [(&str, Option<&str>); 17] = [
    ("Some prose with `docui` and `a()`.\n", None),
    ("## A heading\n", None),
    ("```docui\na()\n```\n", Some("a()\n")),
    ("~~~docui note\nb(1)\n\nb(2)\n~~~\n", Some("b(1)\n\nb(2)\n")),
    ("  ```docui\r\n  c()\r\n  ```\r\n", Some("c()\r\n")),
    (
        "````docui\nd(<<END)\n```docui\nno()\n````\n```\nEND\n````\n",
        Some("d(<<END)\n```docui\nno()\n````\n```\nEND\n"),
    ),
    ("```docui\n```\n", Some("")),
    ("```rust\nno();\n```\n", None),
    ("```\nno()\n```\n", None),
    ("````md\n```docui\nno()\n```\n````\n", None),
    ("~~~\n```docui\nno()\n```\n~~~\n", None),
    ("> ```docui\n> no()\n> ```\n", None),
    ("\n    ```docui\n    no()\n    ```\n", None),
    ("1. one\n   - two\n\n     ````\n     ```docui\n     no()\n     ```\n     ````\n", None),
    ("<!--\n```docui\nno()\n```\n-->\n", None),
    ("| a | `docui` |\n|---|---|\n| 笔记 | 🙂 |\n", None),
    ("---\n", None),
];

/// Lines that mean something to a reader of CommonMark.
const CORES: [&str; 43] = [
    "",
    "",
    "",
    "text",
    "```",
    "```",
    "```",
    "```",
    "```",
    "````",
    "~~~",
    "```docui",
    "```docui",
    "```docui",
    "```docui",
    "````docui x",
    "~~~docui",
    "``` docui",
    "```md",
    "# h",
    "---",
    "===",
    "***",
    "<div>",
    "</div>",
    "<!-- x",
    "x -->",
    "<pre>",
    "</pre>",
    "<a b=c>",
    "<b c='d' e>",
    "<?x",
    "?>",
    "<!D>",
    "a()",
    "```a`b",
    "``",
    "-",
    "1.",
    "*",
    "+ x",
    "2. x",
    "<p",
];
const PREFIXES: [&str; 19] = [
    "", "", "", "", "", "", "  ", "  ", "   ", " ", "  ", "   ", "    ", "> ", ">", "- ", "1. ",
    "2) ", "-\t",
];

/// The `docui` blocks outside of quotes, as another reader of CommonMark sees them.
fn pulldown_cmark_blocks(message: &str) -> Vec<String> {
    let mut quotes = 0;
    let mut open: Option<String> = None;
    let mut found = Vec::new();
    for event in Parser::new(message) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info)))
                if quotes == 0 && info.split([' ', '\t']).next() == Some("docui") =>
            {
                open = Some(String::new());
            }
            Event::Text(text) => {
                if let Some(code) = &mut open {
                    code.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => found.extend(open.take()),
            _ => {}
        }
    }
    found
}

/// Calls that open and close texts, with fences in them.
const CALLS: [&str; 12] = [
    "f('<<A', \"'''\", -1.5e3)",
    "f(<<A)\n```\n'''\nA",
    "f(\n<<'A', b=[<<\"B\", '''x'''])\r\n'''\nA\r\n```docui\r\n~~~\nA\nB",
    "f('''\n```\n\\''' <<A\n''', <<A)\nx\nA",
    "f(\"\"\"\\\\\"\"\", \"\"\"a\n   ```\n'''\"\"\"); g()",
    "f([[MT:View:<<A ''']], [[1], [2]])",
    "f(obj:a<<A, obj:7@e3)",
    "link:15; f(<<A, g(<<A))\nA\n```\nA",
    "f('it\\'s \\\\', \"<<A\")",
    "f(<<END\n\n```\nEND\n, 1)",
    "editor/b.replace_lines(1, x.y, text='''''')",
    "",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn only_docui_blocks_of_a_mixed_message_run(parts in prop::collection::vec(select(&PARTS[..]), 0..12)) {
        let message: String = parts.iter().flat_map(|(part, _)| ["\nText.\n\n", part, "\n"]).collect();
        let expected: Vec<_> = parts.iter().filter_map(|(_, code)| *code).collect();
        prop_assert_eq!(codes(&message), expected);
    }

    #[test]
    fn code_with_hidden_fences_is_returned_whole(
        calls in prop::collection::vec(select(&CALLS[..]), 1..8),
        indent in 0..4usize,
    ) {
        let code = format!("{}\nlast()\n", calls.join("\n"));
        prop_assert!(parse(&code, None).is_ok(), "{}", code);
        let message = format!("```docui\n{code}```\n");
        prop_assert_eq!(codes(&message), [code.as_str()]);

        let space = " ".repeat(indent);
        let lines = message.split_inclusive('\n').map(|line| format!("{space}{line}"));
        prop_assert_eq!(codes(&lines.collect::<String>()), [code.as_str()]);
    }

    #[test]
    fn blocks_without_hidden_fences_are_those_of_pulldown_cmark(
        lines in prop::collection::vec(
            (prop::collection::vec(select(&PREFIXES[..]), 0..3), select(&CORES[..])),
            0..14,
        ),
    ) {
        let lines = lines.iter().map(|(prefix, core)| prefix.concat() + core + "\n");
        let message: String = lines.collect();
        if let Ok(found) = blocks(&message) {
            let ours: Vec<_> = found.into_iter().map(|block| block.code).collect();
            prop_assert_eq!(ours, pulldown_cmark_blocks(&message), "{}", message);
        }
    }

    #[test]
    fn any_message_gives_blocks_or_an_error_with_a_valid_span(
        text in any::<String>(),
        pieces in prop::collection::vec(select(&CORES[..]), 0..12),
        glue in "[\n\r\t >`'<-]{0,3}",
    ) {
        for message in [text.clone() + &pieces.join(&glue), pieces.join(&glue) + &text] {
            match blocks(&message) {
                Ok(found) => {
                    for block in &found {
                        let line = message.split_inclusive('\n').nth(block.first_line - 1);
                        prop_assert!(line.is_some(), "{:?}", block);
                    }
                    script(&found);
                }
                Err(error) => {
                    prop_assert!(message.get(error.span.start..error.span.end).is_some());
                    error.to_fault(&message);
                }
            }
        }
    }
}
