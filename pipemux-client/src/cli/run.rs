//! `pipemux run`

use std::time::Duration;

use pipemux_client::ClientError;
use pipemux_client::proto::client::Verb;
use pipemux_client::proto::limits::{CODE_MAX, STDIN_MAX};

use super::slips::in_shell_quotes;
use super::stdin;

/// What is asked of the daemon: the code, and standard input if the code speaks of it.
///
/// # Errors
/// Code that the shell took apart; standard input that can't be had.
pub fn wanted(words: Vec<String>, timeout: Duration) -> Result<Verb, ClientError> {
    let [code] = words.as_slice() else {
        let whole = in_shell_quotes(&words.join(" "));
        return Err(ClientError::invalid("the code came in several words: expected one, quoted")
            .hint(format!("pipemux run {whole}")));
    };
    if code == "-" {
        // Standard input is the code, so it isn't text besides.
        return Ok(Verb::Run { code: stdin::text(CODE_MAX, timeout)?, stdin: None });
    }
    let text = if mentions_stdin(code) {
        Some(stdin::text(STDIN_MAX, timeout)?.into_bytes().into())
    } else {
        None
    };
    Ok(Verb::Run { code: code.clone(), stdin: text })
}

/// Whether the code has the bare name `stdin`, outside of strings and raw blocks. The daemon reads the
/// code properly; here it only decides whether to read standard input, which may have no end.
fn mentions_stdin(code: &str) -> bool {
    let mut rest = code;
    let mut before = ' ';
    // Words that end raw blocks whose bodies begin with the next line.
    let mut blocks: Vec<&str> = Vec::new();
    while let Some(first) = rest.chars().next() {
        if let Some((word, after)) = raw_block(rest) {
            blocks.push(word);
            rest = after;
        } else if first == '\n' {
            rest = &rest[1..];
            for word in blocks.drain(..) {
                rest = after_block(rest, word);
            }
        } else if first == '"' || first == '\'' {
            rest = after_string(rest, first);
        } else if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if &rest[..end] == "stdin" && before != '.' {
                return true;
            }
            rest = &rest[end..];
        } else {
            rest = &rest[first.len_utf8()..];
        }
        before = first;
    }
    false
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `<<WORD` or `<<'WORD'` at the front: the word, and what follows.
fn raw_block(code: &str) -> Option<(&str, &str)> {
    let rest = code.strip_prefix("<<")?;
    let quoted = rest.strip_prefix('\'');
    let name = quoted.unwrap_or(rest);
    let end = name.find(|c| !is_word(c)).unwrap_or(name.len());
    let after = if quoted.is_some() { name[end..].strip_prefix('\'')? } else { &name[end..] };
    (end > 0).then_some((&name[..end], after))
}

/// What follows the line that ends a raw block.
fn after_block<'a>(body: &'a str, word: &str) -> &'a str {
    let mut rest = body;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if line.strip_suffix('\r').unwrap_or(line) == word {
            return after;
        }
        rest = after;
    }
    rest
}

fn after_string(code: &str, quote: char) -> &str {
    let long = [quote; 3].iter().collect::<String>();
    let closing = if code.starts_with(&long) { long.as_str() } else { &long[..1] };
    let mut rest = &code[closing.len()..];
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(closing) {
            return after;
        }
        rest = &rest[first.len_utf8()..];
        if first == '\\' {
            rest = rest.chars().next().map_or(rest, |escaped| &rest[escaped.len_utf8()..]);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bare_name_counts() {
        for code in [
            "editor.insert(3, text=stdin)",
            "editor.insert(3, stdin)",
            "a('x\\'y', stdin)",
            "a(\"it's\"); b(stdin)",
            "a('''it's \"quoted\" ''', stdin)",
            "a(<<END, stdin)\nbody\nEND\n",
            "a(<<END)\nstdin's body\r\nEND\r\nb(stdin)",
            "a(<<'A', <<B)\nx\nA\ny\nB\nb(stdin)",
            "日本(stdin)",
        ] {
            assert!(mentions_stdin(code), "{code}");
        }
    }

    #[test]
    fn the_word_in_a_text_or_another_name_does_not() {
        for code in [
            "",
            "editor.insert(3, 'stdin')",
            "editor.insert(3, \"read stdin\")",
            "a('''stdin''')",
            "a('x\\' stdin')",
            "a(my_stdin, stdin2)",
            "editor.stdin",
            "a(<<END)\nstdin\nEND",
            "a(<<'END')\nb(stdin)\n",
            "a('unclosed stdin",
            "a(<<",
        ] {
            assert!(!mentions_stdin(code), "{code}");
        }
    }

    #[test]
    fn code_in_several_words_is_answered_with_the_quoted_call() {
        let words = ["editor.replace(a,", "it's)"].map(str::to_owned).to_vec();
        let error = wanted(words, Duration::from_secs(1)).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert_eq!(error.fault().hints, ["pipemux run 'editor.replace(a, it'\\''s)'"]);
    }

    proptest! {
        #[test]
        fn no_code_is_too_odd(code in "[a-z'\"\\\\<\n\r();=. 日stdin]{0,60}") {
            mentions_stdin(&code);
        }
    }
}
