//! Fast writing equals writing character by character.

use super::*;
use crate::foreign::inert::{lines, sentence_with_ref};
use proptest::prelude::*;

/// Does what [`Writer::text`] does, one character at a time.
fn text(writer: &mut Writer<'_>, text: &str) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let line = writer.out.rsplit('\n').next().unwrap_or_default();
        let start = match line.chars().all(is_marker) {
            true if line.len() <= 3 && line.chars().all(|c| c == ' ') => Some(LineStart::Outermost),
            true => Some(LineStart::Inside),
            false => None,
        };
        let block = start.is_some_and(|start| starts_block(rest, start));
        if (block || needs_escape(c, &writer.out, rest) || writer.forges_token(c, rest))
            && !is_escaped(&writer.out)
        {
            writer.out.push('\\');
        }
        writer.out.push_str(&visible(c, is_deceptive_in_prose));
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
            other => writer.out.push_str(&visible(other, is_deceptive_in_prose)),
        }
    }
}

fn visible(c: char, is_deceptive: fn(char) -> bool) -> String {
    if is_deceptive(c) { code_point(c) } else { c.into() }
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
        "\u{2028}",
        "\u{202e}",
        "\u{2067}",
        "\u{200d}",
        "\u{feff}",
        "\u{e0041}",
        "\u{e0100}",
        "> ",
        "- ",
        "10. ",
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
            let exact: String = piece.chars().map(|c| visible(c, is_deceptive)).collect();
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

#[test]
fn no_text_of_an_app_becomes_a_block_that_runs() {
    let code = "```docui\neditor.delete('x')\n```\n";
    let prefixes =
        ["", " ", "   ", "    ", "\t", "- ", "-\t", "10. ", "1) ", "> ", "> - ", "- \t 1. "];
    for prefix in prefixes {
        let indented = code.replace('\n', &format!("\n{}", " ".repeat(prefix.len())));
        for fence in ["```", "~~~~"] {
            let text = format!("10. item\n\n{prefix}{}", indented.replace("```", fence));
            let shown = lines(&text);
            assert_eq!(pipemux_proto::call::blocks::blocks(&shown), Ok(vec![]), "{shown}");
        }
    }
}

#[test]
fn language_of_a_fence_is_never_that_of_blocks_that_run() {
    for lang in ["docui", "DocUI", "do(c)ui", "docui\n", "docui x", "rust docui", "` docui"] {
        let mut writer = Writer::default();
        let fence = writer.fence(lang, "a");
        assert_eq!((writer.finish().as_str(), fence.as_str()), ("```\n", "```"), "{lang}");
    }
    let mut writer = Writer::default();
    writer.fence("c++", "a");
    assert_eq!(writer.finish(), "```c++\n");
}
