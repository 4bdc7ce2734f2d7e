//! Rows of input as JSON: one object a line, arrays of objects, or both.

use serde_json::Value;

/// Returns the values of a JSON text in order; those of arrays one by one.
///
/// After an error there is nothing more. It names the row, counted from 1, and where in the text
/// it is: `row 2, line 2, column 10: expected ':'`.
pub fn json_values(text: &str) -> impl Iterator<Item = Result<Value, String>> + '_ {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut array = Vec::new().into_iter();
    let mut row = 0_usize;
    std::iter::from_fn(move || {
        loop {
            if let Some(value) = array.next() {
                row += 1;
                return Some(Ok(value));
            }
            match values.next()? {
                Ok(Value::Array(items)) => array = items.into_iter(),
                Ok(value) => {
                    row += 1;
                    return Some(Ok(value));
                }
                Err(error) => return Some(Err(located(row + 1, &error))),
            }
        }
    })
}

fn located(row: usize, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    format!("row {row}, line {}, column {}: {message}", error.line(), error.column())
}

/// Splits tags that are written as one text: `a, b`. Empty ones are left out.
pub fn split_tags(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_lines_and_arrays_are_numbered_through() {
        let read = |text: &str| json_values(text).collect::<Vec<_>>();
        assert_eq!(read("1\n[2, 3]\n[]4"), [1, 2, 3, 4].map(|n| Ok(Value::from(n))));
        let broken = read("[1, 2]\n{\"a\" 7}");
        assert_eq!(broken[2], Err("row 3, line 2, column 6: expected `:`".to_owned()));
    }
}
