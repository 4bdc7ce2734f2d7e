//! The arguments of a call, by name. A wrong one is refused in the words of the tool.

use serde_json::{Map, Value};

use super::outcome::{Failure, ToolAnswer};

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arguments<'c> {
    pub tool: &'c str,
    pub map: &'c Map<String, Value>,
}

impl<'c> Arguments<'c> {
    pub fn wrong(&self, name: &str, expected: &str) -> Failure {
        let given = match self.map.get(name) {
            None => "is missing".to_owned(),
            Some(_) => format!("is not {expected}"),
        };
        ToolAnswer::failed(format!("{}: the parameter `{name}` {given}", self.tool)).into()
    }

    pub fn given(&self, name: &str) -> Option<&'c Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Result<&'c str, Failure> {
        self.optional_text(name)?.ok_or_else(|| self.wrong(name, "a text"))
    }

    pub fn optional_text(&self, name: &str) -> Result<Option<&'c str>, Failure> {
        let text = |value: &'c Value| value.as_str().ok_or_else(|| self.wrong(name, "a text"));
        self.given(name).map(text).transpose()
    }

    pub fn optional_number(&self, name: &str) -> Result<Option<i64>, Failure> {
        let number = |value: &Value| {
            let number = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok());
            number.ok_or_else(|| self.wrong(name, "an integer"))
        };
        self.given(name).map(number).transpose()
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.given(name), Some(Value::Bool(true)))
    }

    /// Returns integers; not given, or an empty list, is none.
    pub fn range(&self, name: &str) -> Result<Option<Vec<i64>>, Failure> {
        let Some(value) = self.given(name) else { return Ok(None) };
        let items = value.as_array().ok_or_else(|| self.wrong(name, "a list of integers"))?;
        let numbers: Option<Vec<i64>> = items.iter().map(Value::as_i64).collect();
        let numbers = numbers.ok_or_else(|| self.wrong(name, "a list of integers"))?;
        Ok(Some(numbers).filter(|numbers| !numbers.is_empty()))
    }
}
