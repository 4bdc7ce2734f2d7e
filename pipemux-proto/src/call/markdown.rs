//! Links as windows print them: `[label](obj:7)`.

use crate::limits::REF_MAX;

/// Returns the target of the link with which a text begins, `obj:7` or `link:15`, and the length of
/// the whole link. Its label has no brackets and no quotes, so that it is no list.
pub fn markdown_link(text: &str) -> Option<(&str, usize)> {
    let inside = text.strip_prefix('[')?;
    let ends_label = |byte: u8| matches!(byte, b'[' | b']' | b'\'' | b'"' | b'\n');
    let end = pipemux_tokens::work::position_within(inside, inside.len(), ends_label)?;
    let behind = inside[end..].strip_prefix("](")?;
    // No ref is longer: the rest of the text isn't looked at for each bracket.
    let ends_target = |byte: u8| matches!(byte, b')' | b'\n');
    let closing = pipemux_tokens::work::position_within(behind, REF_MAX, ends_target)
        .filter(|at| behind[*at..].starts_with(')'))?;
    let target = behind[..closing].split(' ').next().unwrap_or_default();
    let is_ref = target.starts_with("obj:") || target.starts_with("link:");
    let whole = text.len() - behind.len() + closing + 1;
    (is_ref && behind[..closing].len() == target.len()).then_some((target, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_is_told_from_a_list() {
        assert_eq!(markdown_link("[old parser](obj:note:31), x"), Some(("obj:note:31", 25)));
        assert_eq!(markdown_link("[undo](link:14)"), Some(("link:14", 15)));
        for text in ["[obj:7]", "['a](obj:7)']", "[a](b)", "[a]", "[[a](obj:7)]", "[a](obj:7"] {
            assert_eq!(markdown_link(text), None, "{text}");
        }
    }
}
