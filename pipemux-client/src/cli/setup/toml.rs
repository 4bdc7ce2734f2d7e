//! Edits of Codex's configuration.

use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

/// The table of servers.
const SECTION: &str = "mcp_servers";

/// A server to start.
#[derive(Debug)]
pub struct Server {
    pub name: &'static str,
    pub command: String,
}

/// Sets the server. Comments, order and the server's other settings stay.
///
/// # Errors
/// The text isn't TOML, or something else stands where a table belongs.
pub fn set(text: &str, server: &Server) -> Result<String, String> {
    let mut document = parse(text)?;
    let section = document.entry(SECTION).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let section = section.as_table_like_mut().ok_or_else(|| format!("{SECTION} is no table"))?;
    let own = section.entry(server.name).or_insert_with(|| Item::Table(Table::new()));
    let own = own.as_table_like_mut().ok_or_else(|| format!("{} is no table", server.name))?;
    if own.get("command").and_then(Item::as_str) != Some(&server.command) {
        own.insert("command", value(&server.command));
    }
    let is_right =
        |args: &Array| args.len() == 1 && args.get(0).and_then(Value::as_str) == Some("mcp");
    if !own.get("args").and_then(Item::as_array).is_some_and(is_right) {
        own.insert("args", value(Array::from_iter(["mcp"])));
    }
    Ok(document.to_string())
}

/// Takes the server out, and the table of servers if it was the only one.
///
/// # Errors
/// The text isn't TOML.
pub fn remove(text: &str, server: &Server) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some(section) = document.get_mut(SECTION).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    if section.remove(server.name).is_none() {
        return Ok(text.to_owned());
    }
    if section.is_empty() {
        document.remove(SECTION);
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}
