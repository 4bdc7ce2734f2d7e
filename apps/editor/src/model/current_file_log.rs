//! Records which file was current in each version.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits::CURRENT_FILE_CHANGES_MAX;

use super::history::Author;

/// The latest changes of the current file, oldest first. A number without a file name refers to the
/// file that was current when its reader last looked.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CurrentFileLog(VecDeque<CurrentFileChange>);

/// Another file became the current one.
#[derive(Debug, Serialize, Deserialize)]
pub struct CurrentFileChange {
    pub version: u64,
    /// The run that made the change; empty if no run did.
    pub run: String,
    /// The path of the new current file; `None` if there is none.
    pub to: Option<PathBuf>,
}

/// The file that was current in what a reader saw: their numbers without a file name refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenFile<'a> {
    Path(&'a Path),
    /// No file was open.
    None,
    /// It is no longer known which file the reader saw.
    Unknown,
}

impl CurrentFileLog {
    /// Records a change; past [`CURRENT_FILE_CHANGES_MAX`] the oldest one is forgotten.
    pub fn record(&mut self, to: Option<PathBuf>, author: &Author) {
        if self.0.len() >= CURRENT_FILE_CHANGES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(CurrentFileChange {
            version: author.version,
            run: author.run.clone(),
            to,
        });
    }

    pub fn latest(&self) -> Option<&CurrentFileChange> {
        self.0.back()
    }

    /// Returns the latest change that satisfies a condition.
    pub fn latest_where(
        &self,
        mut condition: impl FnMut(&CurrentFileChange) -> bool,
    ) -> Option<&CurrentFileChange> {
        self.0.iter().rev().find(|change| condition(change))
    }
}
