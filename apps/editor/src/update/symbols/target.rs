//! The parsed form of an argument for lines, before any file is read.

use std::ops::Range;
use std::path::PathBuf;

use docui::{Context, Fault};

use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::seen_file_index;
use crate::update::asked::ChosenSymbol;
use crate::update::question::QuestionToken;

/// The meaning of an argument for lines.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// Lines of an open file as they are numbered now, from 0.
    Lines { path: PathBuf, lines: Range<usize> },
    /// Text that is read when files can be: `foo`, `body(foo)`, `src/a.rs#foo`, `src/a.rs`, and
    /// `src/a.rs:10-20` of a file that isn't open. `body` means what stands between the braces.
    Written { text: String, body: bool },
}

/// The name of a symbol as written.
#[derive(Debug, Clone)]
pub(crate) struct SymbolName {
    /// The file of the symbol, if it was written.
    pub file: Option<PathBuf>,
    pub written: String,
    /// True for what stands between its braces.
    pub body: bool,
}

/// The scope of symbol lookups, and the symbols chosen in answer to questions.
#[derive(Debug, Clone, Default)]
pub(crate) struct SymbolScope {
    /// The path of the current file, which is searched first.
    pub current: Option<PathBuf>,
    /// The project's root folder.
    pub root: PathBuf,
    /// The caller's folder, against which paths are resolved.
    pub base: PathBuf,
    pub chosen: Vec<ChosenSymbol>,
}

/// Returns where symbols are looked for, with what was answered to questions about them.
pub(crate) fn scope(open_files: &OpenFiles, context: &Context) -> Result<SymbolScope, Fault> {
    let current = seen_file_index(open_files, context).ok();
    let current = current.map(|index| open_files[index].path().to_owned());
    let chosen = match QuestionToken::answered(context)? {
        Some((QuestionToken::Symbol(asked), choice)) => asked.chosen_by(choice)?,
        Some((QuestionToken::Renaming(asked), _)) => asked.chosen,
        _ => Vec::new(),
    };
    let (root, base) =
        (open_files.paths.root.to_owned(), open_files.paths.caller_path("", context));
    Ok(SymbolScope { current, root, base, chosen })
}

/// Reads `10`, `10-20`, `a.rs:10` and `a.rs:10-20`.
pub(in crate::update) fn numbered(text: &str) -> Option<(Option<&str>, i64, i64)> {
    let (file, numbers) = match text.rsplit_once(':') {
        Some((file, numbers)) if !file.ends_with(':') => (Some(file), numbers),
        _ => (None, text),
    };
    line_numbers(numbers).map(|(first, last)| (file, first, last))
}

/// Reads `10` and `10-20`.
fn line_numbers(text: &str) -> Option<(i64, i64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}
