//! The records of open questions and kept steps. A run that waits for its reader in another way
//! isn't saved.

use crate::keys::WorkspaceKey;
use crate::persist::records::{Record, SavedQuestion, SavedRest};
use crate::runs::kept_steps::KeptSteps;
use crate::runs::open_runs::OpenRuns;
use crate::runs::questions::saved_question;

impl OpenRuns {
    /// Returns the records of a workspace's open questions and kept steps.
    pub fn snapshot(&self, at: &str) -> Vec<Record> {
        let questions = self.questions(at).filter_map(|(number, question)| {
            let question = saved_question::save(question)?;
            Some(Record::Question { workspace: at.to_owned(), number, question })
        });
        let rests = self.rests(at).map(|(number, rest)| Record::Kept {
            workspace: at.to_owned(),
            number,
            rest: rest.to_saved(),
        });
        questions.chain(rests).collect()
    }

    /// Opens a saved question again. Returns false when it can't be read: another version saved it.
    #[must_use]
    pub fn restore_question(
        &mut self,
        at: &WorkspaceKey,
        number: u64,
        saved: &SavedQuestion,
    ) -> bool {
        let question = saved_question::restore(saved, at);
        let is_read = question.is_some();
        question.into_iter().for_each(|question| self.add_question(number, question));
        is_read
    }

    /// Keeps steps again that an earlier daemon kept for their reader.
    pub fn restore_kept(&mut self, at: &WorkspaceKey, number: u64, saved: SavedRest) {
        self.outdate_rests(at, &saved.reader);
        self.keep_rest(number, KeptSteps::from_saved(saved, at.clone()));
    }
}
