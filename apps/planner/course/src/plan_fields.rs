//! Reads the fields of a plan, which may have any form after a manual edit. Missing fields are
//! empty.

use serde_json::Value;

/// Returns the items of a list.
pub(crate) fn items<'a>(of: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    of[name].as_array().into_iter().flatten()
}

/// Returns the texts of a list.
pub(crate) fn texts<'a>(of: &'a Value, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    items(of, name).filter_map(Value::as_str)
}

/// Returns a text.
pub(crate) fn text<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_default()
}
