//! The text of an answer to a form, cut into the texts of its fields.
//!
//! ```text
//! title="a task" column=todo due=2026-11-30       by name, with or without commas
//! "a task", todo                                  in order
//! ```
//! A bare text ends where the next name begins; one with a `=` in it stands in quotes.

use pipemux_proto::Fault;
use pipemux_proto::call::{self, nearest};

/// The text given for a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldText {
    pub name: String,
    /// The text that represents the field's value.
    pub text: String,
}

/// Cuts an answer into the texts of its fields. `order` has the fields that texts without names are
/// for, of which the first `needed` have to be given.
///
/// # Errors
/// There is no such field, or there are more texts than fields.
pub fn read(
    text: &str,
    names: &[&str],
    (order, needed): (&[&str], usize),
) -> Result<Vec<FieldText>, Fault> {
    let text = text.trim();
    if name_at(text, names).is_none() {
        return in_order(text, order, needed);
    }
    let mut fields: Vec<FieldText> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some((name, length)) = name_at(rest, names) else {
            let what: String = rest.chars().take(20).collect();
            return Err(Fault::usage(format!(
                "expected name=value, not `{what}`; a text with spaces or signs stands in quotes"
            )));
        };
        if !names.contains(&name) {
            return Err(unknown(name, names));
        }
        if fields.iter().any(|field| field.name == name) {
            return Err(Fault::usage(format!("{name} is given twice")));
        }
        let value = rest[length..].trim_start();
        // Nothing stands for an empty text.
        let next = name_at(value, names).filter(|(next, _)| names.contains(next));
        let is_empty = next.is_some() && value.len() < rest.len() - length;
        let end = if is_empty { 0 } else { value_end(value, names)? };
        fields.push(FieldText { name: name.to_owned(), text: value[..end].trim().to_owned() });
        rest = skip_separators(&value[end..]);
    }
    Ok(fields)
}

fn unknown(name: &str, names: &[&str]) -> Fault {
    let guess = nearest(name, names.iter().copied())
        .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
    let known = names.join(", ");
    Fault::usage(format!(
        "there is no field {name}, but {known}{guess} A text with `{name}=` in it stands in quotes"
    ))
}

/// Returns the name at the beginning of a text, with the length of it and its sign.
fn name_at<'t>(text: &'t str, names: &[&str]) -> Option<(&'t str, usize)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let sign = rest.trim_start_matches([' ', '\t']);
    let gap = rest.len() - sign.len();
    let known = names.contains(&name);
    // A known name may have a colon or a space; any other word before `=` was meant as a name.
    let is_sign = match sign.chars().next() {
        Some('=') => (known || gap == 0) && !sign.starts_with("=="),
        Some(':') => known,
        _ => false,
    };
    is_sign.then_some((name, end + gap + 1))
}

fn skip_separators(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';'))
}

/// Returns where a value ends that a text begins with.
fn value_end(text: &str, names: &[&str]) -> Result<usize, Fault> {
    if text.starts_with("<<") {
        // Its body goes on to the end, and so does the code behind it.
        return Ok(text.len());
    }
    if text.starts_with(['\'', '"', '[', '{']) {
        return call::value_end(text).map_err(|error| error.to_fault(text));
    }
    let begins_name = |at: usize| {
        let rest = skip_separators(&text[at..]);
        rest.len() < text.len() - at && name_at(rest, names).is_some()
    };
    let mut gaps = text.char_indices().filter(|(_, c)| c.is_whitespace() || matches!(c, ',' | ';'));
    Ok(gaps.find(|(at, _)| begins_name(*at)).map_or(text.len(), |(at, _)| at))
}

/// Reads texts without names: separated by commas or, if each needed field gets one, by spaces.
fn in_order(text: &str, order: &[&str], needed: usize) -> Result<Vec<FieldText>, Fault> {
    let mut parts = split(text, |c| c == ',')?;
    if parts.len() == 1 && needed > 1 {
        let words = split(text, char::is_whitespace)?;
        if words.len() == needed {
            parts = words;
        }
    }
    // One text for one field is all of it.
    if order.len() == 1 || needed == 1 && parts.len() > order.len() {
        parts = vec![text.to_owned()];
    }
    if parts.len() > order.len() {
        let (count, most) = (parts.len(), order.len());
        let message = format!("{count} values for {most} fields; give them by name");
        return Err(Fault::usage(message));
    }
    let fields = order.iter().zip(parts);
    Ok(fields.map(|(name, text)| FieldText { name: (*name).to_owned(), text }).collect())
}

/// Splits a text at signs that are in no quotes or brackets.
fn split(text: &str, separates: impl Fn(char) -> bool) -> Result<Vec<String>, Fault> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = match rest.starts_with(['\'', '"', '[', '{']) {
            true => call::value_end(rest).map_err(|error| error.to_fault(rest))?,
            false => 0,
        };
        let end = rest[end..].find(&separates).map_or(rest.len(), |at| end + at);
        parts.push(rest[..end].trim().to_owned());
        rest = rest[end..].trim_start_matches(|c| separates(c) || char::is_whitespace(c));
    }
    Ok(parts)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["title", "column", "due"];

    fn fields(text: &str) -> Vec<(String, String)> {
        let read = read(text, &NAMES, (&NAMES, 2)).unwrap_or_else(|fault| panic!("{fault}"));
        read.into_iter().map(|field| (field.name, field.text)).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect()
    }

    #[test]
    fn fields_are_given_by_name_in_any_writing() {
        for text in [
            "title=\"x y\" column=todo",
            "title=\"x y\", column=todo",
            " title = \"x y\" ; column: todo ",
            "title=\"x y\"\ncolumn=todo\n",
        ] {
            assert_eq!(fields(text), pairs(&[("title", "\"x y\""), ("column", "todo")]), "{text}");
        }
        assert_eq!(fields("title=x y column=todo"), pairs(&[("title", "x y"), ("column", "todo")]));
        assert_eq!(
            fields("title=a, b, column=todo"),
            pairs(&[("title", "a, b"), ("column", "todo")])
        );
        assert_eq!(
            fields("due=[1, {a: 'column=2'}] title=it's"),
            pairs(&[("due", "[1, {a: 'column=2'}]"), ("title", "it's")])
        );
        assert_eq!(
            fields("column=todo title=<<E\na=b\nE"),
            pairs(&[("column", "todo"), ("title", "<<E\na=b\nE")])
        );
        assert_eq!(fields("title= column=todo"), pairs(&[("title", ""), ("column", "todo")]));
    }

    #[test]
    fn fields_are_given_in_order() {
        let both = pairs(&[("title", "x"), ("column", "todo")]);
        assert_eq!(fields("x, todo"), both);
        assert_eq!(fields("x todo"), both);
        assert_eq!(fields("\"a, b\", todo"), pairs(&[("title", "\"a, b\""), ("column", "todo")]));
        assert_eq!(fields("a new task"), pairs(&[("title", "a new task")]));
        assert_eq!(fields("a new task, todo, 3").len(), 3);
        let one = read("a, b c", &["title", "due"], (&["title"], 1)).unwrap();
        assert_eq!(one, [FieldText { name: "title".into(), text: "a, b c".into() }]);
    }

    #[test]
    fn unknown_fields_are_refused() {
        let refused = |text: &str| read(text, &NAMES, (&NAMES, 2)).unwrap_err().message;
        assert!(
            refused("titel=x")
                .contains("no field titel, but title, column, due: did you mean title?")
        );
        assert!(refused("title=x colum=todo").contains("did you mean column?"));
        assert!(refused("title=x title=y").contains("title is given twice"));
        assert!(refused("title='x").contains("unclosed text"));
        assert!(refused("title='x' todo").contains("expected name=value, not `todo`"));
        assert!(refused("a,b,c,d").contains("4 values for 3 fields"));
    }
}
