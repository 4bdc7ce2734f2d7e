//! Insertion points: before, after or inside a target.

use std::path::Path;
use std::rc::Rc;

use docui::{Context, Fault, Line};
use pipemux_syntax::{InsertionPoint, Language, Source};

use super::resolved::{Resolved, Unresolved};
use super::resolver::Resolver;
use super::target::Target;
use crate::model::open_files::OpenFiles;
use crate::update::symbols::target_argument::target;

/// The place to insert at: exactly one of the fields is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InsertPlace<'a> {
    pub before: Option<&'a Line>,
    pub after: Option<&'a Line>,
    pub at_start_of: Option<&'a Line>,
    pub at_end_of: Option<&'a Line>,
}

impl<'a> InsertPlace<'a> {
    pub(in crate::update) fn new(
        before: &'a Option<Line>,
        after: &'a Option<Line>,
        at_start_of: &'a Option<Line>,
        at_end_of: &'a Option<Line>,
    ) -> Self {
        let (before, after) = (before.as_ref(), after.as_ref());
        Self { before, after, at_start_of: at_start_of.as_ref(), at_end_of: at_end_of.as_ref() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
    StartOf,
    EndOf,
}

impl Side {
    pub fn word(self) -> &'static str {
        match self {
            Side::Before => "before",
            Side::After => "after",
            Side::StartOf => "at the start of",
            Side::EndOf => "at the end of",
        }
    }

    pub fn place(self, target: &Resolved) -> Result<InsertionPoint, Fault> {
        Ok(match self {
            Side::Before => InsertionPoint::Before(target.item()?),
            Side::After => InsertionPoint::After(target.item()?),
            Side::StartOf if target.is_file => InsertionPoint::Before(target.bytes.clone()),
            Side::EndOf if target.is_file => InsertionPoint::After(target.bytes.clone()),
            Side::StartOf | Side::EndOf => {
                let symbol = target.symbol.as_ref().filter(|found| found.symbol.interior.is_some());
                let symbol = symbol.ok_or_else(|| {
                    Fault::usage(format!("{} has no braces to go into", target.name()))
                        .hint("use before= or after=")
                })?;
                match self {
                    Side::StartOf => InsertionPoint::StartOf(symbol.symbol.clone()),
                    _ => InsertionPoint::EndOf(symbol.symbol.clone()),
                }
            }
        })
    }

    /// True if a text goes in as it is written, since there are no items to keep apart: beside
    /// lines, and at both ends of a file that is no code.
    pub fn takes_as_written(self, target: &Resolved) -> bool {
        match self.is_end_of_file(target) {
            true => target.source.language() == Language::Markdown,
            false => target.is_exact(),
        }
    }

    /// Keeps a section of Markdown apart from what it is put beside at an end of a file.
    pub fn apart(self, target: &Resolved, text: String) -> String {
        let (there, ending) = (target.source.text(), target.source.line_ending());
        let is_section = target.source.language() == Language::Markdown && text.starts_with('#');
        match self {
            _ if !is_section || there.is_empty() || !self.is_end_of_file(target) => text,
            Side::StartOf => text + ending,
            _ if there.ends_with("\n\n") || there.ends_with("\n\r\n") => text,
            _ => format!("{ending}{text}"),
        }
    }

    /// Returns what a target means. The end of a file of code that doesn't exist yet means that it
    /// is made.
    pub fn resolve(
        self,
        target: &Target,
        resolver: &mut Resolver<'_>,
    ) -> Result<Resolved, Unresolved> {
        let resolved = resolver.resolve(target).map(Resolved::into_items);
        let (Err(Unresolved::Fault(_)), Side::StartOf | Side::EndOf) = (&resolved, self) else {
            return resolved;
        };
        let Target::Written { text, body: false } = target else { return resolved };
        let path = resolver.documents.resolve(&resolver.scope.base.join(text));
        let (Some(language), Ok(path)) = (Language::of_path(Path::new(text)), path) else {
            return resolved;
        };
        let within = path.starts_with(&resolver.scope.root) && !text.contains('#');
        match Source::parse(language, "") {
            Ok(source) if within && is_new(resolver, &path) => {
                let source = Rc::new(source);
                Ok(Resolved {
                    path,
                    symbol: None,
                    is_file: true,
                    is_items: false,
                    bytes: 0..0,
                    source,
                })
            }
            _ => resolved,
        }
    }

    fn is_end_of_file(self, target: &Resolved) -> bool {
        target.is_file && matches!(self, Side::StartOf | Side::EndOf)
    }

    /// Returns the name of the target, to follow [`Side::word`].
    pub fn name_of(self, target: &Resolved) -> String {
        match self.is_end_of_file(target) {
            true => "the file".to_owned(),
            false => target.name(),
        }
    }
}

/// True for a file that is neither on disk nor open.
pub(super) fn is_new(resolver: &Resolver<'_>, path: &Path) -> bool {
    resolver.documents.is_missing(path) && resolver.documents.open_file(path).is_none()
}

/// Reads which side of what is meant.
pub(crate) fn place_of(
    open_files: &OpenFiles,
    place: InsertPlace<'_>,
    context: &Context,
) -> Result<(Side, Target), Fault> {
    let all = [
        (Side::Before, place.before),
        (Side::After, place.after),
        (Side::StartOf, place.at_start_of),
        (Side::EndOf, place.at_end_of),
    ];
    let mut given = all.into_iter().filter_map(|(side, line)| Some((side, line?)));
    match (given.next(), given.next()) {
        (Some((side, line)), None) => Ok((side, target(open_files, line, context)?)),
        _ => Err(Fault::usage("expected one of before, after, at_start_of, at_end_of")),
    }
}
