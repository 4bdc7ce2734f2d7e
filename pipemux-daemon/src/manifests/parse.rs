//! Parses one manifest, and says where in its file a mistake is.

use std::path::Path;

use pipemux_core::Manifest;

use super::text;
use crate::limits::{APP_FILES_MIN, APP_MEMORY_MIN, LOG_MIN, MANIFEST_MAX};

/// Reads one manifest.
///
/// # Errors
/// What is wrong with it, and where.
pub fn read(path: &Path) -> Result<Manifest, String> {
    let text =
        text::read(path, MANIFEST_MAX).map_err(|why| format!("{}: {why}", path.display()))?;
    parse(path, &text)
}

/// Parses a manifest as if its text stood at that path.
pub(super) fn parse(path: &Path, text: &str) -> Result<Manifest, String> {
    let shown = path.display();
    let mut manifest: Manifest = toml::from_str(text).map_err(|error| {
        let location = error.span().map(|span| location(text, span.start)).unwrap_or_default();
        format!("{shown}{location}: {}", error.message().replace('\n', "; "))
    })?;
    manifest.file = path.to_string_lossy().into_owned();
    if manifest.command.is_empty() {
        return Err(format!("{shown}: `command` is empty: expected a program"));
    }
    if let Some((field, why)) = too_small(&manifest) {
        let location = text.find(field).map(|at| location(text, at)).unwrap_or_default();
        return Err(format!("{shown}{location}: {why}"));
    }
    let listed = [("read", &manifest.read), ("write", &manifest.write)];
    let is_valid = |path: &str| path.starts_with("~/") || Path::new(path).is_absolute();
    for (field, paths) in listed {
        if let Some(wrong) = paths.iter().find(|path| !is_valid(path)) {
            let location = text.find(field).map(|at| location(text, at)).unwrap_or_default();
            return Err(format!(
                "{shown}{location}: `{wrong}`: expected an absolute path, or one that begins with ~/"
            ));
        }
    }
    // A bare name is looked up in PATH; a relative path starts beside the manifest.
    if manifest.command.contains('/') && !Path::new(&manifest.command).is_absolute() {
        let beside = path.parent().unwrap_or(Path::new("/")).join(&manifest.command);
        manifest.command = beside.to_string_lossy().into_owned();
    }
    Ok(manifest)
}

/// Returns the first limit that no process could work with: its field, and what was expected.
fn too_small(manifest: &Manifest) -> Option<(&'static str, String)> {
    let limits = manifest.limits;
    let (memory, log) = (limits.memory.map(|size| size.0), limits.log.map(|size| size.0));
    let least = [
        ("memory", memory, APP_MEMORY_MIN, "bytes"),
        ("cpu", limits.cpu, 1, "second"),
        ("files", limits.files, APP_FILES_MIN, "descriptors"),
        ("processes", limits.processes, 1, "process: the app itself"),
        ("log", log, LOG_MIN, "bytes"),
    ];
    let (field, value, least, unit) =
        least.into_iter().find(|(_, value, least, _)| value.is_some_and(|value| value < *least))?;
    let value = value.unwrap_or_default();
    Some((field, format!("`limits.{field}` is {value}: expected at least {least} {unit}")))
}

/// Returns the line and the field that stands there or began before it, as `:3 (limits.cpu)`.
pub(super) fn location(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let number = before.matches('\n').count() + 1;
    let above: Vec<&str> = text.lines().take(number).map(str::trim).collect();
    let table = above.iter().rev().find_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
    let Some(field) = above.iter().rev().find_map(|line| field_of(line)) else {
        return format!(":{number}");
    };
    match table {
        Some(table) if !field.starts_with(table) => format!(":{number} ({}.{field})", table.trim()),
        _ => format!(":{number} ({field})"),
    }
}

/// Returns the field that a line assigns.
fn field_of(line: &str) -> Option<&str> {
    let field = line.split_once('=')?.0.trim();
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!field.is_empty() && field.chars().all(is_key)).then_some(field)
}
