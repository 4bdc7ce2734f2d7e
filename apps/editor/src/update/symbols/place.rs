//! Where something goes: before, after or inside a target.

use docui::{Context, Fault, Line};
use pipemux_syntax::Place;

use crate::model::Editor;

use super::resolver::Resolved;
use super::target::Target;

/// Where something goes: exactly one of these is given.
#[derive(Debug, Clone, Copy)]
pub(in crate::update) struct InsertPlace<'a> {
    pub before: Option<&'a Line>,
    pub after: Option<&'a Line>,
    pub at_start_of: Option<&'a Line>,
    pub at_end_of: Option<&'a Line>,
}

/// Which side of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
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

    pub fn place(self, target: &Resolved) -> Result<Place, Fault> {
        Ok(match self {
            Side::Before => Place::Before(target.item()?),
            Side::After => Place::After(target.item()?),
            Side::StartOf | Side::EndOf => {
                let symbol = target.symbol.as_ref().filter(|found| found.symbol.interior.is_some());
                let symbol = symbol.ok_or_else(|| {
                    Fault::usage(format!("{} has no braces to go into", target.name()))
                        .hint("use before= or after=")
                })?;
                match self {
                    Side::StartOf => Place::StartOf(symbol.symbol.clone()),
                    _ => Place::EndOf(symbol.symbol.clone()),
                }
            }
        })
    }
}

impl Editor {
    /// Reads which side of what is meant.
    pub(super) fn place_of(
        &self,
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
            (Some((side, line)), None) => Ok((side, self.target(line, context)?)),
            _ => Err(Fault::usage("expected one of before, after, at_start_of, at_end_of")),
        }
    }
}
