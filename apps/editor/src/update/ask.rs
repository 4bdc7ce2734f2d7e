//! What a question brings back with its answer.

use std::path::PathBuf;

use docui::{Ask, Choice, Context, Fault};
use serde::{Deserialize, Serialize};

/// What was asked, bound to the state it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Token {
    /// Which matches to replace.
    Matches(Matches),
    /// A file that is another one on disk: by its digest there.
    OnDisk { path: PathBuf, disk: Option<u64> },
    /// A file to be replaced by another: by its digest on disk.
    Overwrite { path: PathBuf, disk: Option<u64> },
    /// A file to be closed with unsaved changes: by the digest of its text.
    Close { path: PathBuf, text: u64 },
}

/// Matches, each by its line (from 0) and byte in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Matches {
    pub path: PathBuf,
    /// The life of the process that the version belongs to.
    pub launch: String,
    pub version: u64,
    /// The digest of the text, for an answer in another life.
    pub text: u64,
    pub places: Vec<(usize, usize)>,
}

impl Token {
    /// The question with this to bring back.
    pub(crate) fn with(&self, ask: Ask) -> Result<Ask, Fault> {
        let bytes = serde_json::to_vec(self);
        bytes.map(|bytes| ask.token(bytes)).map_err(|error| Fault::failed(error.to_string()))
    }

    /// The answered question; none when nothing was asked yet.
    pub(crate) fn answered(context: &Context) -> Result<Option<(Self, &Choice)>, Fault> {
        let Some((token, choice)) = &context.answer else { return Ok(None) };
        match serde_json::from_slice(token) {
            Ok(token) => Ok(Some((token, choice))),
            Err(_) => Err(Fault::stale("the question is not one of this editor's any more")
                .hint("run the call again")),
        }
    }
}

/// The one option chosen, from 1.
pub(crate) fn one(choice: &Choice, options: usize) -> Result<usize, Fault> {
    match choice {
        Choice::Picked(picked) => match picked.as_slice() {
            [] => Ok(options),
            [one] if (1..=options).contains(&(*one as usize)) => Ok(*one as usize),
            _ => Err(expected_one(options)),
        },
        _ => Err(expected_one(options)),
    }
}

/// The options chosen, from 0, in order.
pub(crate) fn many(choice: &Choice, options: usize) -> Result<Vec<usize>, Fault> {
    let check =
        |numbers: &[u32]| match numbers.iter().find(|n| !(1..=options).contains(&(**n as usize))) {
            Some(other) => {
                Err(Fault::usage(format!("there is no match {other}: expected 1-{options}"))
                    .hint("pipemux answer 1,3 · all · all but 2 · none"))
            }
            None => Ok(()),
        };
    let has = |numbers: &[u32], index: usize| numbers.iter().any(|n| *n as usize == index + 1);
    match choice {
        Choice::Picked(numbers) => {
            check(numbers)?;
            Ok((0..options).filter(|index| has(numbers, *index)).collect())
        }
        Choice::AllBut(numbers) => {
            check(numbers)?;
            Ok((0..options).filter(|index| !has(numbers, *index)).collect())
        }
        Choice::Yes | Choice::Text(_) => {
            Err(Fault::usage("expected which matches: 1,3 · all · all but 2 · none"))
        }
    }
}

fn expected_one(options: usize) -> Fault {
    Fault::usage(format!("expected one of the options, 1-{options}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    /// The daemon keeps tokens while a question is open, also across an update of the editor.
    #[test]
    fn tokens_are_written_as_they_were_read() {
        for text in [
            r#"{"Matches":{"path":"/a","launch":"1-2","version":3,"text":4,"places":[[5,6]]}}"#,
            r#"{"OnDisk":{"path":"/a","disk":7}}"#,
            r#"{"OnDisk":{"path":"/a","disk":null}}"#,
            r#"{"Overwrite":{"path":"/a","disk":7}}"#,
            r#"{"Close":{"path":"/a","text":8}}"#,
        ] {
            let token: Token = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&token).unwrap(), text);
        }
    }
}
