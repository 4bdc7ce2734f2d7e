//! Values of the front matter.

/// Reads what follows `key:`, its lines included, as text.
pub(super) fn read(raw: &str) -> String {
    let mut lines = raw.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let first = lines.next().unwrap_or_default().trim();
    if matches!(first, "|" | "|-" | "|+" | ">" | ">-" | ">+") {
        return read_block(lines.collect(), first.starts_with('>'));
    }
    if first.is_empty() {
        let items = read_items(raw);
        if !items.is_empty() {
            return items.join(", ");
        }
    }
    // A value that goes on in further lines is one text.
    let more: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let whole = [&[first], &more[..]].concat().join(" ");
    unquote(whole.trim())
}

/// Reads what follows `key:` as a list.
pub(super) fn read_list(raw: &str) -> Vec<String> {
    let items = read_items(raw);
    if !items.is_empty() {
        return items;
    }
    let text = raw.trim();
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let items = split_items(inside.unwrap_or(text)).into_iter();
    items.map(|item| unquote(item.trim())).filter(|item| !item.is_empty()).collect()
}

/// Splits at commas that aren't in quotes.
fn split_items(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut quote) = (Vec::new(), 0, None);
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), c) if c == open && !escaped => quote = None,
            (None, '"' | '\'') if text[start..at].trim().is_empty() => quote = Some(c),
            (None, ',') => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        escaped = false;
    }
    items.push(&text[start..]);
    items
}

fn read_items(raw: &str) -> Vec<String> {
    let items = raw.split('\n').filter_map(|line| line.trim().strip_prefix('-'));
    let items = items.filter(|item| item.is_empty() || item.starts_with(' '));
    items.map(|item| unquote(item.trim())).filter(|item| !item.is_empty()).collect()
}

fn read_block(lines: Vec<&str>, folded: bool) -> String {
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let least = filled.map(indent).min().unwrap_or(0);
    let lines = lines.iter().map(|line| line.get(least..).unwrap_or(""));
    let lines: Vec<&str> = lines.collect();
    lines.join(if folded { " " } else { "\n" }).trim_end().to_owned()
}

fn unquote(text: &str) -> String {
    let quoted =
        |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|_| text.len() > 1);
    if let Some(inside) = quoted('\'') {
        return inside.replace("''", "'");
    }
    quoted('"').and_then(unescape).unwrap_or_else(|| text.to_owned())
}

/// Reads a string as JSON writes it; `None` if it isn't one.
fn unescape(inside: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return None,
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok()?;
                    out.push(char::from_u32(code)?);
                }
                c @ ('"' | '\\' | '/') => out.push(c),
                _ => return None,
            },
            c => out.push(c),
        }
    }
    Some(out)
}

/// Writes a value, with the space before it.
pub(super) fn write(text: &str) -> String {
    // Lines that YAML or a terminal would change, or that lose their indent, are escaped.
    let is_plain_line = |line: &str| {
        line.trim_end() == line && !line.chars().any(|c| c.is_control() || is_line_break(c))
    };
    let lines: Vec<&str> = text.split('\n').collect();
    let block = lines.len() > 1
        && lines.iter().all(|line| is_plain_line(line))
        && !lines[0].is_empty()
        && !lines[0].starts_with(' ');
    if block {
        let indented = lines.iter().map(|line| match *line {
            "" => "\n".to_owned(),
            line => format!("\n  {line}"),
        });
        return format!(" |{}", indented.collect::<String>());
    }
    write_item(text)
}

/// Writes a value in one line, with the space before it.
pub(super) fn write_item(text: &str) -> String {
    if is_plain(text) { format!(" {text}") } else { format!(" \"{}\"", escape(text)) }
}

/// Returns true for a text that needs no quotes, in YAML either.
fn is_plain(text: &str) -> bool {
    let special_start = |c: char| "-?:,[]{}#&*!|>'\"%@`=".contains(c);
    !text.is_empty()
        && text.trim() == text
        && !text.starts_with(special_start)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.contains([',', '[', ']'])
        && !matches!(text.to_lowercase().as_str(), "null" | "~" | "true" | "false" | "yes" | "no")
        && !text.chars().any(|c| c.is_control() || is_line_break(c))
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            c if c.is_control() || is_line_break(c) => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}
