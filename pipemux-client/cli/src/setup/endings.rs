//! What editors put around lines: a byte order mark, and carriage returns.

use similar::{ChangeTag, TextDiff};

/// The byte order mark at the beginning of a file, which some editors write.
const MARK: char = '\u{feff}';

/// Edits a text as if it had neither a mark nor carriage returns. Each line that stays keeps its
/// ending; new ones end as most do.
///
/// # Errors
/// Those of `edit`.
pub fn keep(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<String, String> {
    let mark = if text.starts_with(MARK) { "\u{feff}" } else { "" };
    let body = &text[mark.len()..];
    let before = body.replace("\r\n", "\n");
    let after = edit(&before)?;
    if after == before {
        return Ok(text.to_owned());
    }
    if before.len() == body.len() {
        return Ok(format!("{mark}{after}"));
    }
    let old: Vec<&str> = body.split_inclusive('\n').collect();
    let returns = old.iter().filter(|line| line.ends_with("\r\n")).count();
    let new_ending = if returns * 2 >= old.len() { "\r\n" } else { "\n" };
    let mut out = mark.to_owned();
    let diff = TextDiff::from_lines(&before, &after);
    for change in diff.iter_all_changes() {
        match (change.tag(), change.old_index().and_then(|at| old.get(at))) {
            (ChangeTag::Delete, _) => {}
            (ChangeTag::Equal, Some(line)) => out += line,
            (_, _) => match change.value().strip_suffix('\n') {
                Some(line) => {
                    out += line;
                    out += new_ending;
                }
                None => out += change.value(),
            },
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_and_mark_stay_and_new_lines_follow_the_others() {
        let insert = |text: &str| Ok(text.replace("b\n", "b\nnew\n"));
        assert_eq!(keep("a\r\nb\r\nc", insert).unwrap(), "a\r\nb\r\nnew\r\nc");
        assert_eq!(keep("\u{feff}b\n", insert).unwrap(), "\u{feff}b\nnew\n");
        assert_eq!(keep("a\nb\nc\r\nd\n", insert).unwrap(), "a\nb\nnew\nc\r\nd\n");
        assert_eq!(keep("a\r\n\u{feff}", insert).unwrap(), "a\r\n\u{feff}");
        assert_eq!(keep("", |_| Ok("x\n".into())).unwrap(), "x\n");
    }
}
