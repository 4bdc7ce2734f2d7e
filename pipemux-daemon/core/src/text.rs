//! Shortening texts.

use std::borrow::Cow;

/// Returns the first characters of a text, with an ellipsis if there are more.
pub fn clip(text: &str, most: usize) -> Cow<'_, str> {
    // A text has no more characters than bytes, so that most texts needn't be counted.
    let beyond = (text.len() > most).then(|| text.char_indices().nth(most)).flatten();
    match beyond {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        for (text, expected) in [("", ""), ("äöü", "äöü"), ("äöüß", "äöü…"), ("abcd", "abc…")]
        {
            assert_eq!(clip(text, 3), expected);
        }
    }
}
