//! Which of several symbols of a name is meant: the question, and what was chosen in answer to it.

use std::path::PathBuf;

use docui::{Ask, Choice, Fault};
use pipemux_syntax::Found;
use serde::{Deserialize, Serialize};

use crate::update::question::Token;

use super::resolver::{Ambiguous, Resolver, Stop};

/// A symbol that was chosen of several: the `nth` one of this name in its file, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    pub written: String,
    pub path: PathBuf,
    pub qualified: String,
    pub nth: usize,
}

/// The symbols that a question lists, and those that were chosen before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedSymbol {
    pub candidates: Vec<Chosen>,
    pub chosen: Vec<Chosen>,
}

impl AskedSymbol {
    /// Returns all that was chosen by now.
    pub(super) fn chosen_by(mut self, choice: &Choice) -> Result<Vec<Chosen>, Fault> {
        let most = self.candidates.len();
        let picked = match choice {
            Choice::Picked(picked) => picked.as_slice(),
            _ => &[],
        };
        match picked {
            [one] if (1..=most).contains(&(*one as usize)) => {
                self.chosen.push(self.candidates.swap_remove(*one as usize - 1));
                Ok(self.chosen)
            }
            [] if matches!(choice, Choice::Picked(_)) => {
                Err(Fault::failed("no symbol was chosen, nothing was changed"))
            }
            _ => Err(Fault::usage(format!("expected one of the options, 1-{most}"))),
        }
    }
}

impl Resolver<'_> {
    /// Asks which of several symbols is meant by what was written.
    pub(super) fn ask_which(&mut self, key: &str, all: &[(PathBuf, Found)]) -> Result<Stop, Fault> {
        let mut ask = Ask::pick_one(format!("{} symbols are called {key}", all.len()));
        let mut candidates: Vec<Chosen> = Vec::new();
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
            let same = |one: &&Chosen| one.path == *path && one.qualified == found.qualified;
            let nth = candidates.iter().filter(same).count();
            let (written, qualified) = (key.to_owned(), found.qualified.clone());
            candidates.push(Chosen { written, path: path.clone(), qualified, nth });
        }
        let chosen = self.scope.chosen.clone();
        Token::Symbol(AskedSymbol { candidates, chosen })
            .attach_to(ask)
            .map(|reply| Stop::Ask(Box::new(reply), Ambiguous::new(key, meanings)))
    }
}
