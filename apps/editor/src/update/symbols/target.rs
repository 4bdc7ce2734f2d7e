//! What an argument for lines says, before any file is read.

use std::ops::Range;
use std::path::PathBuf;

use docui::{Context, Fault, Line};

use crate::model::Editor;

use super::resolver::Chosen;
use crate::update::question::Token;

/// What an argument for lines means.
#[derive(Debug, Clone)]
pub(in crate::update) enum Target {
    /// Lines of an open file as they are numbered now, from 0.
    Lines { path: PathBuf, lines: Range<usize> },
    /// Lines of a file that isn't open, as it is on disk.
    Closed { path: PathBuf, lines: Range<usize> },
    /// All lines of a file.
    File { path: PathBuf },
    /// A symbol.
    Symbol(SymbolName),
}

/// A symbol as it was written.
#[derive(Debug, Clone)]
pub(in crate::update) struct SymbolName {
    /// The file that it is in, if that was written.
    pub file: Option<PathBuf>,
    pub written: String,
    /// True for what stands between its braces.
    pub body: bool,
}

/// Where symbols are looked for, and which were chosen in answer to questions.
#[derive(Debug, Clone, Default)]
pub(in crate::update) struct Scope {
    /// The current file, which comes first.
    pub current: Option<PathBuf>,
    /// The folder of the project.
    pub root: PathBuf,
    pub chosen: Vec<Chosen>,
}

impl Editor {
    /// Reads an argument for lines: numbers, an anchor, a symbol, `body(symbol)`, or a file.
    pub(in crate::update) fn target(
        &self,
        line: &Line,
        context: &Context,
    ) -> Result<Target, Fault> {
        let Line::Text(text) = line else { return self.lines_target(line, line, context) };
        let text = text.trim();
        if let Some(inner) = text.strip_prefix("body(").and_then(|rest| rest.strip_suffix(')')) {
            let inner = inner.trim().trim_matches(['\'', '"']);
            return match self.target(&Line::Text(inner.to_owned()), context)? {
                Target::Symbol(name) => Ok(Target::Symbol(SymbolName { body: true, ..name })),
                _ => Err(Fault::usage(format!("body: {inner} is no symbol"))),
            };
        }
        let (file, numbers) = match text.rsplit_once(':') {
            Some((file, numbers)) if !file.ends_with(':') => (Some(file), numbers),
            _ => (None, text),
        };
        if let Some((first, last)) = line_numbers(numbers) {
            return self.numbered(file, first, last, context);
        }
        if let Some((file, symbol)) = text.split_once('#')
            && !file.is_empty()
            && !symbol.is_empty()
            && let Some(path) = self.known_file(file, context)
        {
            let written = symbol.to_owned();
            return Ok(Target::Symbol(SymbolName { file: Some(path), written, body: false }));
        }
        if text.is_empty() {
            return Err(Fault::usage("expected lines ('10-20', 'a.rs:10-20') or a symbol ('foo')"));
        }
        match self.known_file(text, context) {
            Some(path) => Ok(Target::File { path }),
            None => {
                let written = text.to_owned();
                Ok(Target::Symbol(SymbolName { file: None, written, body: false }))
            }
        }
    }

    /// Returns where symbols are looked for, with what was answered to questions about them.
    pub(in crate::update) fn scope(&self, context: &Context) -> Result<Scope, Fault> {
        let current = self.seen_file_index(context).ok();
        let current = current.map(|index| self.files[index].path().to_owned());
        let chosen = match Token::answered(context)? {
            Some((Token::Symbol(asked), choice)) => asked.chosen_by(choice)?,
            Some((Token::Renaming(asked), _)) => asked.chosen,
            _ => Vec::new(),
        };
        Ok(Scope { current, root: self.root().to_owned(), chosen })
    }

    fn numbered(
        &self,
        file: Option<&str>,
        first: i64,
        last: i64,
        context: &Context,
    ) -> Result<Target, Fault> {
        let line = |number: i64| match file {
            Some(file) => Line::Text(format!("{file}:{number}")),
            None => Line::Number(number),
        };
        if let Some(file) = file
            && let Some(path) = self.known_file(file, context)
            && self.file_index(&path).is_none()
        {
            if first < 1 || last < first {
                return Err(Fault::usage(format!("{first}-{last} are no lines")));
            }
            return Ok(Target::Closed { path, lines: first as usize - 1..last as usize });
        }
        self.lines_target(&line(first), &line(last), context)
    }

    fn lines_target(&self, first: &Line, last: &Line, context: &Context) -> Result<Target, Fault> {
        let found = self.resolve_lines(first, last, context)?;
        let path = self.files[found.file].path().to_owned();
        Ok(Target::Lines { path, lines: found.lines })
    }

    /// Returns the path without symlinks of a file that is open or on disk.
    pub(in crate::update) fn known_file(&self, name: &str, context: &Context) -> Option<PathBuf> {
        let path = self.caller_path(name, context);
        if path.is_file() {
            return path.canonicalize().ok();
        }
        // The end of an open file's path is enough.
        let tail = name.trim_start_matches("./");
        let mut open = self.files.iter().filter(|file| file.path().ends_with(tail));
        let file = open.next().filter(|_| !tail.is_empty())?;
        open.next().is_none().then(|| file.path().to_owned())
    }
}

/// Reads `10` and `10-20`.
fn line_numbers(text: &str) -> Option<(i64, i64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}
