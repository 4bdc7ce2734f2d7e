//! Files that use an item that moves to another file: their imports must be updated.

use std::ops::Range;
use std::path::Path;

use pipemux_syntax::{Occurrence, Unit};

use crate::limits::FILES_NAMED;

use super::occurrences::{occurrences, sources_with};
use super::resolved::{Resolved, Unresolved};
use super::resolver::Resolver;

/// Returns what the outcome of a move to the file `to` says of the files that use the item or may
/// use it, which lies at `bytes` of its own:
/// `; used in src/a.js, test/b.js: their imports stay as they are`. Members of a type are imported
/// with it, so nothing is said of them.
pub(super) fn users_note(
    resolver: &mut Resolver<'_>,
    moved: &Resolved,
    bytes: &Range<usize>,
    to: &Path,
) -> Result<String, Unresolved> {
    let Some(found) = moved.symbol.as_ref().filter(|found| found.path.len() == 1) else {
        return Ok(String::new());
    };
    if moved.source.is_plain() || !moved.source.language().is_name(&found.symbol.name) {
        return Ok(String::new());
    }
    let mut files = resolver.project_files()?;
    files.retain(|path| resolver.mentions(path, &found.symbol.name));
    let (sources, _) = sources_with(resolver, files, &found.symbol.name, vec![moved.path.clone()])?;
    let units: Vec<Unit<'_>> =
        sources.iter().map(|(_, relative, source)| Unit { path: relative, source }).collect();
    let own = sources.iter().position(|(path, ..)| *path == moved.path).unwrap_or_default();
    // What can't be looked up is left to the compiler.
    let Ok(all) = occurrences(resolver, &sources, &units, &[(own, found)]) else {
        return Ok(String::new());
    };
    let files = |all: &[Occurrence], known: &[String]| {
        let mut names: Vec<String> = Vec::new();
        for one in all {
            let (path, relative, _) = &sources[one.unit];
            let moves_along = one.unit == own && bytes.contains(&one.range.start);
            let name = relative.display().to_string();
            let is_new = !names.contains(&name) && !known.contains(&name);
            if path != to && !moves_along && is_new {
                names.push(name);
            }
        }
        names
    };
    let used = files(&all.proven, &[]);
    let possibly = files(&all.possible, &used);
    let note = |names: Vec<String>, verb: &str| match names.is_empty() {
        true => String::new(),
        false => format!("; {verb} in {}: their imports stay as they are", listed(names)),
    };
    Ok(note(used, "used") + &note(possibly, "perhaps used"))
}

fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(FILES_NAMED);
    names.truncate(FILES_NAMED);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
