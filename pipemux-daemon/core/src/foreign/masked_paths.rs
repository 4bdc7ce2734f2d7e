//! Texts without absolute paths: what the daemon adds to a prompt by itself doesn't tell where
//! things lie on the machine, nor by that who works there.

use std::borrow::Cow;

/// Replaces each absolute path in a line by its last part: `…/name`; a home directory, whose last
/// part is its user's name, by `~`. Addresses of the network stay.
pub fn without_paths(line: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = line[from..].find('/').map(|at| from + at) {
        let before = line[..at].chars().next_back();
        let quote = before.filter(|before| matches!(before, '\'' | '"' | '`'));
        let ends = |c: char| match quote {
            Some(quote) => c == quote,
            None => {
                c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ',' | ';' | ')' | ']' | '>')
            }
        };
        let end = line[at..].find(ends).map_or(line.len(), |length| at + length);
        from = at + 1;
        let path = line[at..end].trim_end_matches([':', '.', '/']);
        let is_relative = before.is_some_and(|c| c.is_alphanumeric() || "._-~/…".contains(c));
        let name = path.trim_start_matches('/');
        // Two begin a comment, or what follows the scheme of an address.
        let is_path = path.len() - name.len() != 2 && !name.starts_with(char::is_whitespace);
        let is_address = before == Some(':') && !is_path;
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        if is_address {
            from = end;
        }
        let (Some(last), true) = (parts.last(), is_path && !is_relative) else { continue };
        from = end;
        out += &line[copied..at];
        copied = at + path.len();
        match &*parts {
            ["home" | "Users", _] | ["root"] => out.push('~'),
            // With a quote in the name nobody could tell where the text around it ends.
            _ if last.contains(['\'', '"', '`']) => out.push('…'),
            _ => {
                out += "…/";
                out += last;
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(line);
    }
    out += &line[copied..];
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn absolute_paths_are_replaced_by_their_last_part_and_nothing_else_is() {
        for (line, expected) in [
            ("notes/main · 1 note", "notes/main · 1 note"),
            ("open /home/ann/secret/a.rs: gone", "open …/a.rs: gone"),
            ("editor.open('/home/ann/My Files/a.rs', 3)", "editor.open('…/a.rs', 3)"),
            ("(/etc/hosts)", "(…/hosts)"),
            ("in /home/ann.", "in ~."),
            ("in /Users/ann/", "in ~/"),
            ("file:///home/ann/a.rs", "file:…/a.rs"),
            ("see https://example.org/a/b", "see https://example.org/a/b"),
            ("1 / 2 and a//b and ./x ../y ~/z", "1 / 2 and a//b and ./x ../y ~/z"),
            ("insert(1, '// by me') / '/ x'", "insert(1, '// by me') / '/ x'"),
            ("path=/var/lib/x", "path=…/x"),
            ("/a/é", "…/é"),
            ("\"/'/\"", "\"…/\""),
            ("a/b:/c/d", "a/b:…/d"),
            ("é/b /c/d", "é/b …/d"),
        ] {
            assert_eq!(without_paths(line), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn text_of_any_kind_is_masked_once(line in "[a-é/:. '\"`…~]{0,40}") {
            let once = without_paths(&line).into_owned();
            prop_assert_eq!(without_paths(&once), once.clone());
        }
    }
}
