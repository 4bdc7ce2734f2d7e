use super::*;
use crate::attach::rows::{columns_of, rows, text_of};
use pipemux_client::proto::text::is_deceptive_in_prose;
use proptest::prelude::*;

const WIDE: u16 = 200;

/// Returns the rows of a text on a terminal, and its links.
fn shown(text: &str, width: u16) -> (Vec<String>, Vec<u64>) {
    let page = read(text, 1, Theme::default());
    let all = page.lines.iter().flat_map(|line| rows(line, width));
    (all.map(|row| text_of(&row).trim_end().to_owned()).collect(), page.links)
}

fn texts(text: &str) -> Vec<String> {
    shown(text, WIDE).0
}

/// Returns the words of a text that look so.
fn words(text: &str, look: Look) -> Vec<String> {
    let spans = read(text, 1, Theme::default()).lines.into_iter().flat_map(|line| line.body);
    spans.filter(|span| span.look.has(look)).map(|span| span.text).collect()
}

#[test]
fn links_are_words_with_numbers_in_reading_order() {
    let text = "## monitor/main\nCPU [12%](obj:state:cpu) [expand](link:12 \"expand(items=['cpu'])\")\n\
        [refresh](link:3), [a\\]b](link:7) [expand](link:12)[](link:9)\n";
    let (rows, links) = shown(text, WIDE);
    assert_eq!(rows, ["monitor/main", "CPU 12% expand ⟨1⟩", "refresh ⟨2⟩, a]b ⟨3⟩ expand ⟨1⟩ ⟨4⟩"]);
    assert_eq!(links, [12, 3, 7, 9]);
    assert_eq!(words(text, Look::LINK), ["expand", "refresh", "a]b", "expand"]);
    assert_eq!(words(text, Look::OBJECT), ["12%"]);
    assert_eq!(words(text, Look::STRONG), ["monitor/main"]);
}

#[test]
fn links_are_found_wherever_an_app_puts_them() {
    for text in [
        "- one\n  - [x](link:5)\n",
        "one\n\n        [x](link:5)\n",
        "<div>\n[x](link:5)\n</div>\n",
        "> [x](link:5)\n",
        "| a | b |\n|---|---|\n| 1 | [x](link:5) |\n",
        "**bold [x](link:5)**\n",
        "# [x](link:5)\n",
        "```\ncode\n```\n[x](link:5)\n",
    ] {
        let (rows, links) = shown(text, WIDE);
        assert_eq!(links, [5], "{text}");
        assert!(rows.iter().any(|row| row.contains("x ⟨1⟩")), "{rows:?}");
    }
    // In a fence it is text.
    assert_eq!(shown("```\n[x](link:5)\n```\n", WIDE), (vec!["│ [x](link:5)".into()], vec![]));
}

#[test]
fn another_destination_is_shown() {
    let text = "[your bank](https://example.org) <https://a.b> ![x](y.png) [see]: link:3";
    assert_eq!(texts(text), [text]);
}

#[test]
fn emphasis_is_drawn_and_no_name_loses_a_letter() {
    let text = "**Now**: *soon*, `a*b*c`, 2*3*4, __init__ and \\*not\\* \\[x\\](link:3)";
    assert_eq!(texts(text), ["Now: soon, a*b*c, 2*3*4, __init__ and *not* [x](link:3)"]);
    assert_eq!(words(text, Look::CODE), ["a*b*c"]);
    assert_eq!(words(text, Look::EMPHASIS)[0], "soon");
}

#[test]
fn layout_of_the_app_is_kept() {
    let text = "one\n  two\n\n\n   three\n- a\n  - b\n[note]: it is\n---\n";
    let expected = ["one", "  two", "", "", "   three", "- a", "  - b", "[note]: it is", "---"];
    assert_eq!(texts(text), expected);
    assert_eq!(words("x [[MT:Node:7]]", Look::DIM), ["[[MT:Node:7]]"]);
    // A number stays with its link.
    assert_eq!(shown("ab cd [ef](link:1)", 10).0, ["ab cd", "ef ⟨1⟩"]);
    // Further rows stand below the words.
    assert_eq!(
        shown("- one two three\n12. four five", 10).0,
        ["- one two", "  three", "12. four", "    five"]
    );
}

#[test]
fn code_has_a_bar_and_its_numbers_a_column() {
    let text =
        "```rust\n9\tfn main() {\n10\t\tf(\"[x](link:1)\");\n```\nbehind\n~~~~\n# *no*\n~~~~\n";
    assert_eq!(
        texts(text),
        ["│  9 fn main() {", "│ 10     f(\"[x](link:1)\");", "behind", "│ # *no*"]
    );
    let narrow = shown("```\n9\tone two three\n```\n", 14).0;
    assert_eq!(narrow, ["│ 9 one two", "│   three"]);
    assert_eq!(texts("- ```\n  a\n    b\n  ```\n> ~~~\n> c\n"), ["│ a", "│   b", "│ c"]);
    assert_eq!(texts("x\n\n    ```\n    # no\n"), ["x", "", "    ```", "    # no"]);
    assert_eq!(texts("    a\n\n```\nb\n```\n"), ["    a", "", "│ b"]);
    assert_eq!(texts("```\n```\nx"), ["x"]);
    assert_eq!(texts("```\nnever closed"), ["│ never closed"]);
}

#[test]
fn columns_of_tables_are_aligned_by_what_terminals_show() {
    let text = "  | name | 数量 | x |\n  |:--|--:|:-:|\n  | 规划研讨 | 5 | a |\n  | 👨‍👩‍👧 é | 1234 | `b` |\n  | [go](link:4) | | a\\|b |\n";
    assert_eq!(
        texts(text),
        [
            "  name     │ 数量 │  x",
            "  规划研讨 │    5 │  a",
            "  👨‍👩‍👧 é     │ 1234 │  b",
            "  go ⟨1⟩   │      │ a|b"
        ]
    );
    // A row may have more cells than the header.
    assert_eq!(texts("|a|\n|-|\n|1|two|three\n")[1], "1 │ two|three");
    let theme = Theme { unicode: false, ..Theme::default() };
    let page = read("|a|b|\n|-|-|\n|[x](link:1)|2|", 1, theme);
    assert_eq!(
        rows(&page.lines[1], WIDE).iter().map(|row| text_of(row)).collect::<Vec<_>>(),
        ["x <1> | 2"]
    );
}

/// Widths as `unicodedata` of Python tells them: W and F are two columns, a combining mark none.
#[test]
fn widths_are_those_of_the_unicode_data() {
    for (text, columns) in [
        ("规", 2),
        ("ｱ", 1),
        ("ア", 2),
        ("Ａ", 2),
        ("한", 2),
        ("é", 1),
        ("e\u{301}", 1),
        ("😀", 2),
        ("…", 1),
        ("│", 1),
        ("⟨", 1),
        ("\u{200b}", 0),
    ] {
        assert_eq!(columns_of(text), columns, "{text:?}");
    }
}

#[test]
fn text_that_looks_like_the_number_of_a_link_differs_from_one() {
    let text = "delete ⟨1⟩ ⟨**2**⟩ Vec<3> [go](link:7)";
    assert_eq!(texts(text), ["delete \\⟨1⟩ \\⟨2⟩ Vec<3> go ⟨1⟩"]);
    let ascii = Theme { unicode: false, ..Theme::default() };
    let page = read("a <1> <`2`> <b> [go](link:7)", 1, ascii);
    let shown: String = page.lines[0].body.iter().map(|span| &*span.text).collect();
    assert_eq!(shown, "a \\<1> \\<2> <b> go <1>");
}

#[test]
fn terminal_sequences_in_labels_are_shown_and_not_obeyed() {
    let text = "[a\u{1b}\\[2J\u{202e}b](link:1) `\u{9b}31m` **\u{7}**\n| \u{1b}c |\n|-|\n";
    let shown = texts(text).concat();
    assert!(shown.contains("a\\u{001b}[2J\\u{202e}b ⟨1⟩"), "{shown}");
    assert!(!shown.chars().any(is_deceptive_in_prose), "{shown}");
}

#[test]
fn hostile_markdown_costs_no_more_than_its_length_is_worth() {
    let cells = format!("|{}\n|{}\n{}", "a|".repeat(300), "-|".repeat(300), "|x\n".repeat(5000));
    let wide = format!("|a|b|\n|-|-|\n|{}|1|\n{}", "x".repeat(200_000), "|1|2|\n".repeat(2000));
    let nested = "-     ".repeat(20_000);
    let deep = format!("{}[x](link:1)", "> ".repeat(20_000));
    for text in [cells, wide, nested, deep, "[".repeat(50_000), "*_".repeat(50_000)] {
        let page = read(&text, 1, Theme::default());
        let spans = page.lines.iter().flat_map(|line| &line.body);
        let bytes: usize = spans.map(|span| span.text.len()).sum();
        assert!(bytes < text.len() * 20 + 10_000_000, "{bytes} of {}", text.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_text_is_shown_within_the_terminal(
        text in "(\\[x\\]\\(link:[0-9]\\)|[a-c规👍*_`~|>#+\\-\\[\\]()\\\\<> \t\n\u{1b}\u{202e}]|\n\\|[-|]*\n|obj:1|```|1\t){0,40}",
        width in 1u16..40,
    ) {
        let (rows, links) = shown(&text, width);
        for row in &rows {
            prop_assert!(columns_of(row) <= usize::from(width), "{row:?}");
            prop_assert!(!row.chars().any(is_deceptive_in_prose));
        }
        // Each link has its number, and none is invented.
        let all = texts(&text).concat();
        for number in 1..=links.len() {
            let written = format!("⟨{number}⟩");
            prop_assert!(all.contains(&written), "{written} is not in {all:?}");
        }
    }

    #[test]
    fn no_word_is_lost_whatever_stands_around_it(
        text in "(\n\\|[-|]{1,5}\n|[a-c规é]|[|*_`~>#+\\-\\[\\]()\\\\<>&;:!=. \t\n]){0,60}",
    ) {
        // What is behind a fence isn't shown.
        prop_assume!(!text.contains("```") && !text.contains("~~~"));
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        prop_assert_eq!(letters(&texts(&text).concat()), letters(&text));
    }

    #[test]
    fn plain_words_are_shown_as_they_are(text in "[a-z规👍 .,:;!?/=()\"'{}%$@^-]{1,30}(\n[a-z]{1,9}[ a-z.,:/=()]{0,20}){0,4}") {
        let lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        prop_assert_eq!(texts(&text), lines);
    }
}
