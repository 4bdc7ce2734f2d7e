//! Edits of Codex's configuration.

use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

/// The name of the table of servers.
const SECTION: &str = "mcp_servers";

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
    if let Some(appended) = append(text, server)? {
        return Ok(appended);
    }
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

/// Writes the server behind everything else, which so stays byte for byte. `None` where that isn't
/// possible: the server is there already, or its table is written inline.
fn append(text: &str, server: &Server) -> Result<Option<String>, String> {
    let document = parse(text)?;
    let section = document.get(SECTION);
    let is_there = section.is_some_and(|section| section.get(server.name).is_some());
    if is_there || section.is_some_and(|section| !section.is_table()) {
        return Ok(None);
    }
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let own = format!(
        "[{SECTION}.{}]\ncommand = {}\nargs = [\"mcp\"]\n",
        server.name,
        Value::from(server.command.as_str())
    );
    let appended = format!("{text}{gap}{own}");
    // A table that was written with dots can't be added to.
    Ok(parse(&appended).is_ok().then_some(appended))
}

/// Takes the server out.
///
/// # Errors
/// The text isn't TOML.
pub fn remove(text: &str, server: &Server) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some(section) = document.get_mut(SECTION).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let Some(removed) = section.remove(server.name) else { return Ok(text.to_owned()) };
    // Comments above it may be about something else.
    let above = removed.as_table().and_then(|table| table.decor().prefix()?.as_str());
    let comments = above.filter(|text| !text.trim().is_empty()).map(str::to_owned);
    if let Some(comments) = comments {
        let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
        document.set_trailing(comments + &trailing);
    }
    Ok(document.to_string())
}

/// Returns what a file says, without tables that say nothing.
pub fn meaning(text: &str) -> Option<Vec<String>> {
    fn collect(name: &str, item: &Item, lines: &mut Vec<String>) {
        match item.as_table_like() {
            Some(table) => {
                table.iter().for_each(|(key, item)| collect(&format!("{name}.{key}"), item, lines));
            }
            None => lines.push(format!("{name} = {}", item.to_string().trim())),
        }
    }
    let mut lines = Vec::new();
    collect("", parse(text).ok()?.as_item(), &mut lines);
    lines.sort();
    Some(lines)
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}
