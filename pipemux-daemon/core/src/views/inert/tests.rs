//! What is skipped is what needs no look.

use super::*;
use proptest::prelude::*;

/// [`Writer::text`], a character at a time.
fn text(writer: &mut Writer, text: &str) {
    let mut indent = writer.indent();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let block = indent.is_some_and(|spaces| spaces <= 3) && starts_block(rest);
        if (block || needs_escape(c, &writer.out, rest) || writer.forges_token(c, rest))
            && !is_escaped(&writer.out)
        {
            writer.out.push('\\');
        }
        writer.out.push(visible(c));
        indent = match (c, indent) {
            ('\n', _) => Some(0),
            (' ', Some(spaces)) => Some(spaces + 1),
            _ => None,
        };
        rest = &rest[c.len_utf8()..];
    }
}

/// [`Writer::label`], a character at a time.
fn label(writer: &mut Writer, label: &str) {
    for c in label.chars() {
        match c {
            '[' | ']' | '\\' | '`' | '<' => writer.out.extend(['\\', c]),
            '(' if writer.out.ends_with(']') => writer.out.push_str("\\("),
            '\n' | '\r' | '\t' => writer.out.push(' '),
            other => writer.out.push(visible(other)),
        }
    }
}

/// What is special somewhere, what is beside it, and what is neither.
fn pieces() -> impl Strategy<Value = Vec<(String, bool)>> {
    let special = prop::sample::select(vec![
        "#",
        "##",
        "###",
        "# ",
        "`",
        "```",
        "~~~",
        "~",
        "(",
        ")",
        "[",
        "[[",
        "]",
        "](",
        "]:",
        "<",
        "<obj:",
        "obj:7",
        "link:7",
        "\\",
        " ",
        "   ",
        "    ",
        "\n",
        "\r",
        "\t",
        "\0",
        "\u{1b}",
        "\u{7f}",
        "\u{80}",
        "\u{9b}",
        "\u{9f}",
        "\u{a0}",
        "¢",
        "é",
        "中文",
        "🚀",
        "a",
        "MT:Node:7]]",
        "XY:",
        "http:",
        "https:",
        "./",
        "/",
        ":",
    ]);
    let dense = prop::collection::vec(special, 0..12).prop_map(|parts| parts.concat());
    prop::collection::vec((prop_oneof![3 => dense, 1 => any::<String>()], any::<bool>()), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn what_is_skipped_needs_no_look(
        pieces in pieces(),
        tokens in prop::sample::select(vec![
            Tokens::Inert, Tokens::Of("MT".into()), Tokens::Live,
        ]),
    ) {
        let (mut quick, mut slow) = (Writer::with(tokens.clone()), Writer::with(tokens));
        for (piece, is_label) in pieces {
            if is_label {
                quick.label(&piece);
                label(&mut slow, &piece);
            } else {
                quick.text(&piece);
                text(&mut slow, &piece);
            }
            prop_assert_eq!(&quick.out, &slow.out);
            let exact: String = piece.chars().map(visible).collect();
            prop_assert_eq!(printable(&piece), exact);
        }
    }
}
