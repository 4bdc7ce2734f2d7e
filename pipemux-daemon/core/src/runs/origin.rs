//! The origin of a run: a script, a link, or a round to undo.

use std::rc::Rc;

use crate::runs::undone_round::UndoneRound;
use crate::scripts::source::Source;

/// The origin of a run.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A script that the reader wrote.
    Typed(Rc<Source>),
    /// A script that contains a secret and isn't kept.
    Secret,
    /// A link, or something else from which the daemon made the steps.
    Click,
    /// A round of history, which the steps undo.
    Undo(UndoneRound),
}

impl Origin {
    /// Returns the script that the steps were made from, if it is kept.
    pub fn source(&self) -> Option<&Rc<Source>> {
        match self {
            Self::Typed(source) => Some(source),
            Self::Secret | Self::Click | Self::Undo(_) => None,
        }
    }

    /// Returns the round that the steps take back.
    pub fn undone_round(&self) -> Option<&UndoneRound> {
        match self {
            Self::Undo(round) => Some(round),
            Self::Typed(_) | Self::Secret | Self::Click => None,
        }
    }

    /// Returns true while an undo that failed makes again what it had taken back.
    pub(super) fn is_rolling_back(&self) -> bool {
        self.undone_round().is_some_and(|round| round.failed.is_some())
    }

    /// Forgets the script, since it holds a secret.
    pub(super) fn forget_script(&mut self) {
        if let Self::Typed(_) = self {
            *self = Self::Secret;
        }
    }
}
