//! Symbols of open files, which are found without waiting for a disk.

use std::ops::Range;

use docui::{Context, Fault};

use crate::model::open_files::OpenFiles;

use super::resolver::Resolver;
use super::target::scope;

/// Returns what a text means in an open file: the current one, or the one that it names; `None` if
/// it is no symbol there.
///
/// # Errors
/// Several symbols have the name.
pub(crate) fn symbol_in_open_files(
    open_files: &OpenFiles,
    text: &str,
    context: &Context,
) -> Result<Option<(usize, Range<usize>)>, Fault> {
    let mut documents = open_files.documents();
    let mut resolver = Resolver::new(&mut documents, scope(open_files, context)?);
    let Some((path, found)) = resolver.open_symbol(text)? else { return Ok(None) };
    Ok(open_files.index(&path).map(|index| (index, found)))
}
