//! Fast writing equals writing character by character.

use super::*;
use proptest::prelude::*;

/// Does what [`Writer::text`] does, one character at a time.
fn text(writer: &mut Writer<'_>, text: &str) {
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

/// Does what [`Writer::label`] does, one character at a time.
fn label(writer: &mut Writer<'_>, label: &str) {
    for c in label.chars() {
        match c {
            '[' | ']' | '\\' | '`' | '<' => writer.out.extend(['\\', c]),
            '(' if writer.out.ends_with(']') => writer.out.push_str("\\("),
            '\n' | '\r' | '\t' => writer.out.push(' '),
            other => writer.out.push(visible(other)),
        }
    }
}

/// Generates pieces of special characters, their neighbours and others; each is a text or a label.
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
    fn skipped_bytes_need_no_escape(
        pieces in pieces(),
        tokens in prop::sample::select(vec![
            RefTokens::None, RefTokens::WithPrefix("MT"), RefTokens::All,
        ]),
    ) {
        let (mut quick, mut slow) = (Writer::expecting(None, tokens), Writer::expecting(None, tokens));
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

#[test]
fn only_the_named_ref_passes_in_a_sentence() {
    let written = "[[MT:Node:7]]";
    let sentence = sentence_with_ref("Anchor ", written, " not found. See [[XY:Node:8]].\n");
    assert_eq!(sentence, r"Anchor [[MT:Node:7]] not found. See [\[XY:Node:8]].");
}
