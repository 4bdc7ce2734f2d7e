//! Plans the changes of a whole patch: all of it or nothing.

mod changes;
mod files;
pub(crate) mod outcome;
mod section;
mod source;

use std::path::{Path, PathBuf};

use crate::limits::WORK_MAX;
use crate::matching::Work;
use crate::model::{Name, Patch, SectionChange};
use crate::scope::PathScope;

pub use outcome::{
    Candidate, FileChange, HunkOutcome, HunkState, Obstacle, Plan, Problem, ProblemKind, Question,
};
pub use source::{Choice, FileSource};

impl Patch<'_> {
    /// Which files have to be looked at, in the order in which they are looked for.
    ///
    /// # Errors
    /// Names that can't be used, or lead out of the project.
    pub fn paths(&self, scope: &PathScope) -> Result<Vec<PathBuf>, Vec<Problem>> {
        let mut paths = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut problems = Vec::new();
        for section in &self.sections {
            for name in names(&section.change) {
                match scope.resolve(name) {
                    Ok(found) => {
                        paths.extend(found.into_iter().filter(|path| seen.insert(path.clone())));
                    }
                    Err(error) => problems.push(Problem::of_name(section.at, name, error)),
                }
            }
        }
        if problems.is_empty() { Ok(paths) } else { Err(problems) }
    }

    /// What the patch changes. `file` is asked for each of [`Self::paths`] as often as needed and
    /// must give the same answers.
    ///
    /// # Errors
    /// If a hunk fits in several places, or anything can't be applied.
    pub fn plan<'a>(
        &'a self,
        scope: &PathScope,
        file: &dyn Fn(&Path) -> FileSource<'a>,
        choices: &[Choice],
    ) -> Result<Plan, Obstacle> {
        let mut files = files::Files::new(self, scope, file);
        let mut work = Work(WORK_MAX);
        let mut found = section::Findings::default();
        for section in &self.sections {
            section::apply(self.format, section, &mut files, choices, &mut work, &mut found);
        }
        if !found.problems.is_empty() {
            return Err(Obstacle::Refused(found.problems));
        }
        if !found.questions.is_empty() {
            return Err(Obstacle::Ask(found.questions));
        }
        Ok(Plan { files: files.changes() })
    }
}

fn names<'s>(change: &'s SectionChange<'_>) -> impl Iterator<Item = &'s Name> {
    let (path, to) = match change {
        SectionChange::Create { path, .. } | SectionChange::Delete { path, .. } => (path, None),
        SectionChange::Update { path, moved, .. } => (path, moved.as_ref().map(|moved| &moved.to)),
    };
    std::iter::once(path).chain(to)
}
