//! Questions, and what comes back with their answers.

use std::path::PathBuf;

use docui::{Ask, Choice, Context, Fault, Reply};
use serde::{Deserialize, Serialize};

use super::asked::{
    AskedConflict, AskedFile, AskedMatches, AskedOccurrences, AskedPatch, AskedSymbol,
};

/// What was asked about, bound to the state at that time. The daemon keeps it with the question, so
/// it must stay readable for later editors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum QuestionToken {
    /// A choice of matches to replace, from editors that replaced in one file at a time.
    Matches(AskedMatches),
    /// A choice of matches to replace, in any number of files.
    FileMatches {
        /// The id of the process that counted the version.
        launch: String,
        /// The version of the open files.
        version: u64,
        /// The files and their matches.
        files: Vec<AskedFile>,
    },
    /// What to do about a file that has changed on disk; `disk` is its digest there. It was asked
    /// by editors that saved one file at a time.
    #[serde(rename = "OnDisk")]
    DiskConflict { path: PathBuf, disk: Option<u64> },
    /// The treatment of files that other programs wrote before they were saved.
    SaveConflict { files: Vec<AskedConflict> },
    /// A confirmation to overwrite a file; `disk` is its digest.
    Overwrite { path: PathBuf, disk: Option<u64> },
    /// A confirmation to overwrite files that others wrote; `answered` is an earlier answer.
    EditConflict { files: Vec<AskedConflict>, answered: Option<(Vec<u8>, Choice)> },
    /// The types of variables; `text` is the digest of the file's text.
    Types { path: PathBuf, text: u64 },
    /// The places in files to which the hunks of a patch apply.
    PatchPlaces(AskedPatch),
    /// A choice of occurrences to replace in a file; `text` is the digest of the file's text.
    Occurrences { path: PathBuf, text: u64, at: Vec<usize> },
    /// A choice among several symbols.
    Symbol(AskedSymbol),
    /// A choice of occurrences of a name to rename, besides the proven ones.
    Renaming(AskedOccurrences),
    /// The way to close a file with unsaved changes; `text` is the digest of its text.
    Close { path: PathBuf, text: u64 },
}

impl QuestionToken {
    /// Adds the token to a question.
    pub(super) fn attach_to(&self, ask: Ask) -> Result<Reply, Fault> {
        self.add_to(ask).map(Reply::from)
    }

    /// Adds the token to a question that is still to be completed.
    pub(super) fn add_to(&self, ask: Ask) -> Result<Ask, Fault> {
        let bytes = serde_json::to_vec(self);
        bytes.map(|bytes| ask.token(bytes)).map_err(|error| Fault::failed(error.to_string()))
    }

    /// Returns the token of the question that the action answers, with the answer; `None` if
    /// nothing was asked yet.
    ///
    /// # Errors
    /// The token can't be read.
    pub(super) fn answered(context: &Context) -> Result<Option<(Self, &Choice)>, Fault> {
        let Some((token, choice)) = &context.answer else { return Ok(None) };
        match serde_json::from_slice(token) {
            Ok(token) => Ok(Some((token, choice))),
            Err(_) => Err(Fault::stale("this editor doesn't know the question any more")
                .hint("run the call again")),
        }
    }
}

/// The options of a question that takes one of them: meaning, label and explanation, in the order
/// shown. The last one changes nothing; it is also what `none` means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choices<T: 'static>(pub &'static [(T, &'static str, &'static str)]);

impl<T: Copy> Choices<T> {
    /// Asks the question.
    pub(super) fn ask(self, question: String, token: &QuestionToken) -> Result<Reply, Fault> {
        let ask = Ask::pick_one(question);
        let ask = self.0.iter().fold(ask, |ask, (_, label, text)| ask.option(*label, *text));
        token.attach_to(ask)
    }

    /// Returns the meaning of the option that was chosen.
    ///
    /// # Errors
    /// The answer isn't one of the options.
    pub(super) fn chosen(self, choice: &Choice) -> Result<T, Fault> {
        let option = match choice {
            Choice::Picked(picked) => match picked.as_slice() {
                [] => self.0.last(),
                [one] => (*one as usize).checked_sub(1).and_then(|index| self.0.get(index)),
                _ => None,
            },
            _ => None,
        };
        option
            .map(|(meaning, _, _)| *meaning)
            .ok_or_else(|| Fault::usage(format!("expected one of the options, 1-{}", self.0.len())))
    }
}

/// Returns the indexes of the matches that were chosen, in ascending order.
///
/// # Errors
/// The answer names a match that doesn't exist, or doesn't name matches.
pub(super) fn chosen_matches(choice: &Choice, matches: usize) -> Result<Vec<usize>, Fault> {
    let (numbers, listed_are_chosen) = match choice {
        Choice::Picked(numbers) => (numbers, true),
        Choice::AllBut(numbers) => (numbers, false),
        Choice::Yes | Choice::Text(_) | Choice::Fields(_) => {
            return Err(Fault::usage("expected which matches: 1,3 · all · all but 2 · none"));
        }
    };
    if let Some(other) = numbers.iter().find(|number| !(1..=matches).contains(&(**number as usize)))
    {
        return Err(Fault::usage(format!("there is no match {other}: expected 1-{matches}"))
            .hint("pipemux answer 1,3 · all · all but 2 · none"));
    }
    let listed = |index: usize| numbers.iter().any(|number| *number as usize == index + 1);
    Ok((0..matches).filter(|index| listed(*index) == listed_are_chosen).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    const CHOICES: Choices<char> = Choices(&[
        ('a', "first", "does it"),
        ('b', "second", "does it too"),
        ('k', "keep", "nothing"),
    ]);

    #[test]
    fn answer_none_means_the_last_option() {
        let chosen = |picked: &[u32]| CHOICES.chosen(&Choice::Picked(picked.to_vec()));
        assert_eq!(chosen(&[1]), Ok('a'));
        assert_eq!(chosen(&[3]), Ok('k'));
        assert_eq!(chosen(&[]), Ok('k'));
    }

    #[test]
    fn answer_that_is_no_option_is_refused() {
        let picked = [vec![0], vec![4], vec![1, 2]].map(Choice::Picked);
        for choice in picked.iter().chain(&[Choice::Yes, Choice::AllBut(vec![1])]) {
            let message = CHOICES.chosen(choice).unwrap_err().message;
            assert_eq!(message, "expected one of the options, 1-3", "{choice:?}");
        }
    }

    /// The daemon keeps tokens while a question is open, also across an update of the editor.
    #[test]
    fn question_tokens_are_written_as_they_were_read() {
        for text in [
            r#"{"Matches":{"path":"/a","launch":"1-2","version":3,"text":4,"places":[[5,6]]}}"#,
            r#"{"FileMatches":{"launch":"1-2","version":3,"files":[{"path":"/a","text":4,"places":[[5,6,1]]}]}}"#,
            r#"{"OnDisk":{"path":"/a","disk":7}}"#,
            r#"{"OnDisk":{"path":"/a","disk":null}}"#,
            r#"{"Overwrite":{"path":"/a","disk":7}}"#,
            r#"{"Close":{"path":"/a","text":8}}"#,
            r#"{"SaveConflict":{"files":[{"path":"/a","disk":null,"deleted":true}]}}"#,
            r#"{"EditConflict":{"files":[{"path":"/a","disk":7,"deleted":false}],"answered":null}}"#,
            r#"{"Types":{"path":"/a","text":9}}"#,
            r#"{"PatchPlaces":{"files":[["/a",7]],"hunks":[[3,2]],"chosen":[[9,[0,1]]]}}"#,
            r#"{"Occurrences":{"path":"/a","text":9,"at":[1,5]}}"#,
        ] {
            let token: QuestionToken = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&token).unwrap(), text);
        }
    }
}
