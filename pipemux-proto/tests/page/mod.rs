//! The page, and the message types as the sources declare them.

pub const PAGE: &str = include_str!("../../PROTOCOL.md");

const SOURCES: &[(&str, &str)] = &[
    ("app", include_str!("../../src/app.rs")),
    ("job", include_str!("../../src/job.rs")),
    ("numbers", include_str!("../../src/numbers.rs")),
    ("projection", include_str!("../../src/projection.rs")),
    ("prototype", include_str!("../../src/prototype.rs")),
    ("prototype", include_str!("../../src/prototype/types.rs")),
    ("fault", include_str!("../../src/fault.rs")),
    ("value", include_str!("../../src/value.rs")),
    ("hello", include_str!("../../src/hello.rs")),
    ("client", include_str!("../../src/client.rs")),
    ("report", include_str!("../../src/report.rs")),
    ("watch", include_str!("../../src/watch.rs")),
];

/// A type and what it has on the wire: fields, or variants and their fields.
#[derive(Debug)]
pub struct Type {
    pub module: &'static str,
    pub name: String,
    pub members: Vec<String>,
}

#[derive(Debug)]
pub struct Types {
    pub all: Vec<Type>,
}

impl Types {
    /// Reads the declarations. It knows what these files are formatted like, no more.
    pub fn read() -> Self {
        let mut all = Vec::new();
        for &(module, source) in SOURCES {
            let mut lines = source.lines().peekable();
            let mut attributes = String::new();
            while let Some(line) = lines.next() {
                if line.starts_with("#[") || line.starts_with(")]") || line.starts_with("    Debug")
                {
                    attributes += line;
                    continue;
                }
                let declared = line.strip_prefix("pub struct ").or(line.strip_prefix("pub enum "));
                let Some(declared) = declared.filter(|_| line.ends_with('{')) else {
                    if !line.starts_with("///") {
                        attributes.clear();
                    }
                    continue;
                };
                let name = declared.split([' ', '<']).next().unwrap_or_default();
                // The page names the message, whatever type its texts have.
                let name = match declared.contains("Of<") {
                    true => name.strip_suffix("Of").unwrap_or(name),
                    false => name,
                }
                .to_owned();
                let mut members = Vec::new();
                let mut own = String::new();
                for line in lines.by_ref().take_while(|line| *line != "}") {
                    let trimmed = line.trim();
                    if trimmed.starts_with("#[") {
                        own += trimmed;
                    } else if own.contains("serde(skip)") {
                        // It never crosses the wire.
                        own.clear();
                    } else if let Some(member) = member(line, &attributes, &own, module == "value")
                    {
                        members.push(member);
                        own.clear();
                    }
                }
                // What isn't a message has no fields of its own to send.
                if !members.is_empty() || name == "Empty" {
                    all.push(Type { module, name, members });
                }
                attributes.clear();
            }
        }
        Self { all }
    }
}

/// The name of a field or variant on the wire.
fn member(line: &str, attributes: &str, own: &str, verbatim: bool) -> Option<String> {
    let trimmed = line.trim();
    if trimmed.starts_with("//") || trimmed.is_empty() {
        return None;
    }
    let name: String = trimmed
        .trim_start_matches("pub ")
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    if name.is_empty() {
        return None;
    }
    if let Some(at) = own.find("rename = \"") {
        return own[at + 10..].split('"').next().map(str::to_owned);
    }
    let variant = name.starts_with(|c: char| c.is_ascii_uppercase());
    Some(match variant {
        true if verbatim => name,
        true if attributes.contains("snake_case") => snake(&name),
        true => name.to_lowercase(),
        false => name,
    })
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// What the page says of a type.
#[track_caller]
pub fn section(name: &str) -> &'static str {
    let heading = format!("\n#### `{name}`\n");
    let Some(start) = PAGE.find(&heading) else { panic!("PROTOCOL.md has no section {name}") };
    let rest = &PAGE[start + heading.len()..];
    &rest[..rest.find("\n#").unwrap_or(rest.len())]
}
