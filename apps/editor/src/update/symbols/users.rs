//! The files that use an item which moves to another file: what they import has to come from there.

use std::ops::Range;
use std::path::Path;

use pipemux_syntax::{Unit, plan_rename};

use crate::limits::FILES_NAMED;

use super::rename::{packages, sources_with};
use super::resolver::{Resolved, Resolver, Stop};

/// Returns what the outcome of a move to the file `to` says of the files that are proven to use the item, which lies
/// at `bytes` of its own: `; used in src/a.js, test/b.js: their imports stay as they are`. Members of a type are
/// imported with it, so nothing is said of them.
pub(super) fn users_note(
    resolver: &mut Resolver<'_>,
    moved: &Resolved,
    bytes: &Range<usize>,
    to: &Path,
) -> Result<String, Stop> {
    let Some(found) = moved.symbol.as_ref().filter(|found| found.path.len() == 1) else {
        return Ok(String::new());
    };
    if moved.source.is_plain() || !moved.source.language().is_name(&found.symbol.name) {
        return Ok(String::new());
    }
    // A file that can't be read keeps nobody from moving an item of others.
    let mut files = resolver.project_files()?;
    files.retain(|path| resolver.mentions(path, &found.symbol.name));
    files.retain(|path| resolver.source(path).is_ok());
    let sources = sources_with(resolver, files, &found.symbol.name, vec![moved.path.clone()])?;
    let units: Vec<Unit<'_>> =
        sources.iter().map(|(_, relative, source)| Unit { path: relative, source }).collect();
    let own = sources.iter().position(|(path, ..)| *path == moved.path).unwrap_or_default();
    let packages = packages(&sources, &resolver.scope.root);
    // What can't be looked up is left to the compiler.
    let Ok(plan) = plan_rename(&units, (own, found), &packages) else { return Ok(String::new()) };
    let mut names: Vec<String> = Vec::new();
    for one in &plan.proven {
        let (path, relative, _) = &sources[one.unit];
        let moves_along = one.unit == own && bytes.contains(&one.range.start);
        let name = relative.display().to_string();
        if path != to && !moves_along && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Ok(String::new());
    }
    let more = match names.len().saturating_sub(FILES_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(FILES_NAMED);
    Ok(format!("; used in {}{more}: their imports stay as they are", names.join(", ")))
}
