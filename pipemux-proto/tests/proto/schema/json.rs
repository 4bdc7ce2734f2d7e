//! JSON text whose members keep their order, with short values on one line, so that people can read
//! and compare it.

use std::fmt::Write;

/// The width up to which a value stands on one line.
const WIDTH: usize = 120;

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Bool(bool),
    Number(i128),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_owned())
    }
}
impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::Text(text)
    }
}

pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub fn reference(to: &str) -> Json {
    object([("$ref", format!("#/$defs/{to}").into())])
}

impl Json {
    /// Adds a member at the end of an object.
    pub fn with(self, name: &str, value: impl Into<Json>) -> Self {
        let Json::Object(mut members) = self else { panic!("{self:?} is no object") };
        members.push((name.to_owned(), value.into()));
        Json::Object(members)
    }

    /// Adds what describes it, if there is anything to say.
    pub fn described(self, text: &str) -> Self {
        if text.is_empty() { self } else { self.with("description", text) }
    }

    /// Writes the whole text with a line break at its end.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0, 0);
        out + "\n"
    }

    fn write(&self, out: &mut String, depth: usize, before: usize) {
        let short = self.on_one_line();
        let (open, close, items) = match self {
            Json::List(items) => {
                ('[', ']', items.iter().map(|item| (String::new(), item)).collect::<Vec<_>>())
            }
            Json::Object(members) => {
                let named = |(name, value)| (format!("{}: ", quoted(name)), value);
                ('{', '}', members.iter().map(|(name, value)| named((name, value))).collect())
            }
            _ => return out.push_str(&short),
        };
        if before + short.len() <= WIDTH {
            return out.push_str(&short);
        }
        out.push(open);
        let indent = "  ".repeat(depth + 1);
        for (index, (name, value)) in items.into_iter().enumerate() {
            out.push_str(if index > 0 { ",\n" } else { "\n" });
            let _ = write!(out, "{indent}{name}");
            value.write(out, depth + 1, indent.len() + name.len());
        }
        let _ = write!(out, "\n{}{close}", "  ".repeat(depth));
    }

    fn on_one_line(&self) -> String {
        match self {
            Json::Bool(value) => value.to_string(),
            Json::Number(value) => value.to_string(),
            Json::Text(text) => quoted(text),
            Json::List(items) => {
                let items: Vec<String> = items.iter().map(Json::on_one_line).collect();
                format!("[{}]", items.join(", "))
            }
            Json::Object(members) => {
                let member = |(name, value): &(String, Json)| {
                    format!("{}: {}", quoted(name), value.on_one_line())
                };
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}
