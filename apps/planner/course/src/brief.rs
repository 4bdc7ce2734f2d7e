//! The brief of a topic, with what was added to it and the earlier plan that it builds on.

use crate::answers::Intent;
use crate::event::{Prior, Refusal};
use crate::lang::Lang;
use crate::limits::TEXT_MAX;

/// What is to be planned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Brief {
    /// What the user wants, as it was given first.
    pub text: String,
    /// What came later, in order.
    pub additions: Vec<Addition>,
    /// Changes with the brief, so that a verdict tells which one it judges.
    pub revision: u32,
    /// The plan or draft that came with it.
    pub prior: Option<Prior>,
    /// What the earlier plan is for, and the user's own words for it.
    pub intent: Option<(Intent, String)>,
    /// What the user did before, in short.
    pub history: Vec<String>,
}

/// A later addition to the brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The origin of the addition: `added by the user`, `inherited from …`.
    pub from: String,
    pub text: String,
}

impl Brief {
    /// Returns the brief with all that was added, each part marked.
    pub fn whole(&self) -> String {
        let mut text = self.text.clone();
        for addition in &self.additions {
            text += &format!("\n\n[{}]\n{}", addition.from, addition.text);
        }
        text
    }

    /// Returns the language of its first text.
    pub(crate) fn lang(&self) -> Lang {
        Lang::of(&self.text)
    }

    pub(crate) fn add(&mut self, from: impl Into<String>, text: impl Into<String>) {
        self.additions.push(Addition { from: from.into(), text: text.into() });
    }

    /// Refuses a further addition where those of the user are too long. By earlier rules what was
    /// agreed on or inherited counts, too.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn check_room(&self, is_signed: bool) -> Result<(), Refusal> {
        let of_user = self.additions.iter().filter(|one| {
            !is_signed
                || !(one.from.starts_with("agreed in ") || one.from.starts_with("inherited from "))
        });
        let length = of_user.map(|one| one.text.chars().count()).sum::<usize>();
        match length > 4 * TEXT_MAX {
            true => Err(Refusal::new(
                format!("the additions have {length} characters: begin a new topic"),
                "plan('…')",
            )),
            false => Ok(()),
        }
    }
}

/// Returns a text that the user gave, without the space around it.
///
/// # Errors
/// It is empty or too long.
pub(crate) fn within(text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    let length = text.chars().count();
    match length {
        0 => Err(Refusal::new("the text is empty", "")),
        length if length > TEXT_MAX => Err(Refusal::new(
            format!(
                "the text has {length} characters, at most {TEXT_MAX}: write it to a file and name that"
            ),
            "",
        )),
        _ => Ok(text.to_owned()),
    }
}
