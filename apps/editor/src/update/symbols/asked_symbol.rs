//! The question which of several symbols of a name is meant.

use std::path::PathBuf;

use docui::{Ask, Fault};
use pipemux_syntax::FoundSymbol;

use crate::update::asked::{AskedSymbol, ChosenSymbol};
use crate::update::question::QuestionToken;

use super::resolved::{Ambiguous, Unresolved};
use super::resolver::Resolver;

impl Resolver<'_> {
    /// Asks which of several symbols is meant by what was written.
    pub(super) fn ask_which(
        &mut self,
        key: &str,
        all: &[(PathBuf, FoundSymbol)],
    ) -> Result<Unresolved, Fault> {
        let mut ask = Ask::pick_one(format!("{} symbols are called {key}", all.len()));
        let mut candidates: Vec<ChosenSymbol> = Vec::new();
        let mut meanings = Vec::new();
        for (path, found) in all {
            let source = self.source(path)?;
            let line = |at: usize| source.line_of(at) + 1;
            let whole = &found.symbol.whole;
            let (first, last) = (line(whole.start), line(whole.end.saturating_sub(1)));
            let shown = self.documents.display(path);
            let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
            ask = ask.option(found.qualified.clone(), format!("{shown}:{lines}"));
            meanings.push(format!("{shown}#{} ({lines})", found.qualified));
            let same = |one: &&ChosenSymbol| one.path == *path && one.qualified == found.qualified;
            let nth = candidates.iter().filter(same).count();
            let (written, qualified) = (key.to_owned(), found.qualified.clone());
            candidates.push(ChosenSymbol { written, path: path.clone(), qualified, nth });
        }
        let chosen = self.scope.chosen.clone();
        QuestionToken::Symbol(AskedSymbol { candidates, chosen })
            .attach_to(ask)
            .map(|reply| Unresolved::Ask(Box::new(reply), Ambiguous::new(key, meanings)))
    }
}
