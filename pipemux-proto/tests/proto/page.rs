//! The page.

pub const PAGE: &str = include_str!("../../PROTOCOL.md");

/// What the page says of a type.
#[track_caller]
pub fn section(name: &str) -> &'static str {
    let heading = format!("\n#### `{name}`\n");
    let Some(start) = PAGE.find(&heading) else { panic!("PROTOCOL.md has no section {name}") };
    let rest = &PAGE[start + heading.len()..];
    &rest[..rest.find("\n#").unwrap_or(rest.len())]
}
