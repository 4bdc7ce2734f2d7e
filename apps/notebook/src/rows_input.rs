//! Reads notes from rows: JSON lines, or TSV with a header.

use docui::{Fault, nearest};
use pipemux_notes::rows::{json_values, split_tags};
use serde_json::Value;

use crate::entry::{self, ADDED_MAX, Content};

/// The columns that a row may have.
const COLUMNS: [&str; 5] = ["title", "text", "tags", "gist", "summary"];

/// Reads the notes of all rows.
///
/// # Errors
/// A row is no note. The message names the row, counted from 1 without the header, and the column.
pub fn read(rows: &str) -> Result<Vec<Content>, Fault> {
    let rows = rows.strip_prefix('\u{feff}').unwrap_or(rows);
    let contents = match rows.trim_start().chars().next() {
        None => Err(Fault::usage("rows: no rows").hint(FORMS)),
        Some('{' | '[') => json(rows),
        Some(_) => tsv(rows),
    }?;
    for (index, content) in contents.iter().enumerate() {
        content.check().map_err(|fault| in_row(index, &fault))?;
    }
    Ok(contents)
}

const FORMS: &str = "one JSON object a line: {\"title\": \"…\", \"text\": \"…\", \"tags\": [\"…\"], \"gist\": \"…\"}; \
     or TSV whose first line is the header: title, text, tags, gist";

/// Names the row in a fault about its content.
fn in_row(index: usize, fault: &Fault) -> Fault {
    let message = format!("row {}, {}; nothing was added", index + 1, fault.message);
    let named = Fault::usage(message);
    fault.hints.iter().cloned().fold(named, Fault::hint)
}

fn wrong(index: usize, column: &str, message: &str) -> Fault {
    in_row(index, &Fault::usage(format!("{column}: {message}")))
}

fn json(rows: &str) -> Result<Vec<Content>, Fault> {
    let mut contents = Vec::new();
    for value in json_values(rows) {
        let value =
            value.map_err(|error| Fault::usage(error + "; nothing was added").hint(FORMS))?;
        let content = note(contents.len(), value)?;
        push(&mut contents, content)?;
    }
    Ok(contents)
}

fn note(index: usize, object: Value) -> Result<Content, Fault> {
    let Value::Object(fields) = object else {
        let message = format!("row {}: expected an object, not {}", index + 1, kind(&object));
        return Err(Fault::usage(message + "; nothing was added").hint(FORMS));
    };
    let mut content = Content::default();
    let mut titled = false;
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("tags" | "tag", Value::Array(tags)) => {
                for tag in tags {
                    let Value::String(tag) = tag else {
                        return Err(wrong(
                            index,
                            "tags",
                            &format!("expected strings, not {}", kind(&tag)),
                        ));
                    };
                    content.tags.push(tag);
                }
            }
            (column, Value::String(text)) => {
                titled |= column == "title";
                set(&mut content, index, column, text)?;
            }
            (_, Value::Null) => {}
            (column, other) => {
                let wanted = if column == "tags" { "a list of strings" } else { "a string" };
                return Err(wrong(
                    index,
                    column,
                    &format!("expected {wanted}, not {}", kind(&other)),
                ));
            }
        }
    }
    finish(content, index, titled)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Sets one column of a row.
fn set(content: &mut Content, index: usize, column: &str, text: String) -> Result<(), Fault> {
    match column {
        "title" => content.title = text.trim().to_owned(),
        "text" => content.text = text,
        "gist" => content.gist = text.trim().to_owned(),
        "summary" => content.summary = text.trim().to_owned(),
        "tags" | "tag" => content.tags.extend(split_tags(&text)),
        other => {
            let guess = nearest(other, COLUMNS)
                .map_or(String::new(), |guess| format!(", did you mean {guess}?"));
            let message = format!("a note has {}{guess}", COLUMNS.join(", "));
            return Err(wrong(index, &format!("unknown column {other:?}"), &message));
        }
    }
    Ok(())
}

fn finish(mut content: Content, index: usize, titled: bool) -> Result<Content, Fault> {
    if !titled {
        return Err(wrong(index, "title", "it is missing"));
    }
    content.tags = entry::clean_tags(&content.tags).map_err(|fault| in_row(index, &fault))?;
    Ok(content)
}

fn push(contents: &mut Vec<Content>, content: Content) -> Result<(), Fault> {
    contents.push(content);
    match contents.len() > ADDED_MAX {
        true => Err(Fault::refused(format!("rows: more than {ADDED_MAX}; nothing was added"))
            .hint("add them in several calls")),
        false => Ok(()),
    }
}

fn tsv(rows: &str) -> Result<Vec<Content>, Fault> {
    let mut records = Records { rest: rows };
    let header = records.next().unwrap_or_default();
    let columns: Vec<String> = header.iter().map(|name| name.trim().to_lowercase()).collect();
    for column in &columns {
        if !COLUMNS.contains(&column.as_str()) && column != "tag" {
            let message = format!("header, column {column:?}: expected {}", COLUMNS.join(", "));
            return Err(Fault::usage(message).hint(FORMS));
        }
    }
    if !columns.iter().any(|column| column == "title") {
        return Err(Fault::usage("header: it has no column title").hint(FORMS));
    }
    let mut contents = Vec::new();
    for cells in records {
        let index = contents.len();
        if cells.len() > columns.len() {
            let message =
                format!("{} cells, but the header has {} columns", cells.len(), columns.len());
            let hint = "in a cell write a tab as \\t and a line break as \\n";
            return Err(in_row(index, &Fault::usage(message).hint(hint)));
        }
        let mut content = Content::default();
        for (column, cell) in columns.iter().zip(cells) {
            set(&mut content, index, column, cell)?;
        }
        let content = finish(content, index, true)?;
        push(&mut contents, content)?;
    }
    match contents.is_empty() {
        true => Err(Fault::usage("rows: a header, but no rows").hint(FORMS)),
        false => Ok(contents),
    }
}

/// The records of a TSV text, without blank lines.
struct Records<'a> {
    rest: &'a str,
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let blank = self.rest.split('\n').next().is_some_and(|line| line.trim().is_empty());
            let mut cells = Vec::new();
            while self.cell(&mut cells) {}
            if !blank {
                return Some(cells);
            }
        }
    }
}

impl Records<'_> {
    /// Reads one cell. Returns whether another one follows in the record.
    fn cell(&mut self, cells: &mut Vec<String>) -> bool {
        let (cell, rest) = quoted(self.rest).unwrap_or_else(|| {
            let end = self.rest.find(['\t', '\n']).unwrap_or(self.rest.len());
            let cell = self.rest[..end].strip_suffix('\r').unwrap_or(&self.rest[..end]);
            (unescaped(cell), &self.rest[end..])
        });
        cells.push(cell);
        let follows = rest.starts_with('\t');
        self.rest = rest.get(1..).unwrap_or_default();
        follows
    }
}

/// Reads a cell in quotes, as spreadsheets write it: `"` is doubled, and it may have tabs and line
/// breaks. Returns it and what follows it, or `None` if these are no quotes around a whole cell.
fn quoted(rest: &str) -> Option<(String, &str)> {
    let mut left = rest.strip_prefix('"')?;
    let mut cell = String::new();
    loop {
        let (part, after) = left.split_once('"')?;
        cell += part;
        if let Some(more) = after.strip_prefix('"') {
            cell.push('"');
            left = more;
            continue;
        }
        let after = after.strip_prefix('\r').unwrap_or(after);
        let ends = after.is_empty() || after.starts_with(['\t', '\n']);
        return ends.then_some((cell, after));
    }
}

/// Puts what `\\t`, `\\n` and `\\\\` stand for in their place.
fn unescaped(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    let mut chars = cell.chars().peekable();
    while let Some(c) = chars.next() {
        let meant = match (c, chars.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('\\')) => '\\',
            _ => {
                out.push(c);
                continue;
            }
        };
        chars.next();
        out.push(meant);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &str) -> Vec<String> {
        let note = |c: Content| {
            format!("{}|{}|{}|{}|{}", c.title, c.text, c.tags.join(","), c.gist, c.summary)
        };
        read(rows).unwrap().into_iter().map(note).collect()
    }

    fn message(rows: &str) -> String {
        read(rows).unwrap_err().message
    }

    #[test]
    fn json_lines_and_arrays_are_read() {
        let lines = "{\"title\": \"a\", \"text\": \"1\\n2\", \"tags\": [\"y\", \"x\"], \"gist\": \"g\"}\n\n\
                     {\"title\": \"b\", \"tags\": \"p, q\", \"summary\": null}\n";
        assert_eq!(shown(lines), ["a|1\n2|x,y|g|", "b||p,q||"]);
        let array = "\u{feff} [\n {\"title\": \"数\"},\n {\"title\": \"b\", \"tag\": \"t\"}\n]";
        assert_eq!(shown(array), ["数||||", "b||t||"]);
    }

    #[test]
    fn tsv_is_read_with_escapes_and_quotes() {
        let rows = "Title\ttags\ttext\r\na\tx,y\tone\\ntwo \\\\n\r\n\nb\t\t\"say \"\"hi\"\"\tto\nall\"\nc\n\
                    d\tt\t\"half\" quoted\n";
        assert_eq!(
            shown(rows),
            ["a|one\ntwo \\n|x,y||", "b|say \"hi\"\tto\nall|||", "c||||", "d|\"half\" quoted|t||"]
        );
    }

    #[test]
    fn error_names_the_row_and_the_column() {
        assert_eq!(message(" \n"), "rows: no rows");
        for (rows, part) in [
            ("{\"title\": \"a\"}\n{\"title\": 7}", "row 2, title: expected a string, not a number"),
            ("{\"title\": \"a\"}\n{\"title\" 7}", "row 2, line 2, column "),
            ("{\"title\": \"a\"}\n[1]", "row 2: expected an object, not a number"),
            ("{\"text\": \"a\"}", "row 1, title: it is missing"),
            (
                "{\"title\": \"a\", \"texts\": \"x\"}",
                "unknown column \"texts\": a note has title, text, tags, gist, summary, did you mean text?",
            ),
            ("{\"title\": \"a\", \"tags\": [1]}", "row 1, tags: expected strings"),
            ("{\"title\": \"a\", \"gist\": \"two\\nlines\"}", "row 1, gist: expected one line"),
            ("title\ttxt\na\tb", "header, column \"txt\": expected title"),
            ("text\na", "header: it has no column title"),
            ("title\ttext\n", "a header, but no rows"),
            ("title\ttext\na\tb\tc", "row 1, 3 cells, but the header has 2 columns"),
            ("title\ttext\na\tb\n\tb", "row 2, title: "),
        ] {
            let message = message(rows);
            assert!(message.contains(part), "{rows:?}: {message}");
        }
        let many = "{\"title\": \"a\"}\n".repeat(ADDED_MAX + 1);
        assert!(message(&many).contains("more than 5000"));
    }
}
