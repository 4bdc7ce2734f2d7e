//! The context of the editor's questions. The daemon stores it with the question, so later versions
//! of the editor must be able to read it.

use std::path::PathBuf;

use docui::{Choice, Fault};
use serde::{Deserialize, Serialize};

/// A file that another program wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedConflict {
    pub path: PathBuf,
    /// The digest of the file on disk.
    pub disk: Option<u64>,
    /// True when there is no file.
    pub deleted: bool,
}

/// A patch with hunks that fit in several places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedPatch {
    /// The digests of the texts that the patch was tried on.
    pub files: Vec<(PathBuf, u64)>,
    /// The hunks that are asked about: the line of the patch where each begins, and how many places
    /// it has. The options are numbered through.
    pub hunks: Vec<(usize, usize)>,
    /// The earlier choices: the line of the patch, and the indexes of places.
    pub chosen: Vec<(usize, Vec<usize>)>,
}

/// The matches that a question lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedMatches {
    pub path: PathBuf,
    /// The id of the process that counted the version.
    #[serde(rename = "launch")]
    pub launch_id: String,
    /// The version of the file.
    pub version: u64,
    /// The digest of the text, to validate answers after a restart.
    #[serde(rename = "text")]
    pub text_digest: u64,
    /// The start of each match: line from 0, and byte within the line.
    #[serde(rename = "places")]
    pub positions: Vec<(usize, usize)>,
}

/// The matches of one file that a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedFile {
    pub path: PathBuf,
    /// The digest of the file's text.
    pub text: u64,
    /// The start and length of each match: line from 0, byte in the line, number of lines.
    pub places: Vec<(usize, usize, usize)>,
}

/// The symbol chosen among several: the `nth` one of this name in its file, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChosenSymbol {
    pub written: String,
    pub path: PathBuf,
    pub qualified: String,
    pub nth: usize,
}

/// The symbols that a question lists, and the ones chosen before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedSymbol {
    pub candidates: Vec<ChosenSymbol>,
    pub chosen: Vec<ChosenSymbol>,
}

impl AskedSymbol {
    /// Returns all that was chosen by now.
    pub(crate) fn chosen_by(mut self, choice: &Choice) -> Result<Vec<ChosenSymbol>, Fault> {
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

/// The occurrences that a question lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedOccurrences {
    /// The file and the first byte of each occurrence.
    pub places: Vec<(PathBuf, usize)>,
    /// The symbols that were chosen before.
    pub chosen: Vec<ChosenSymbol>,
}
