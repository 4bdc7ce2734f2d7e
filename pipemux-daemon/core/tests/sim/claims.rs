//! What answers claim about what their readers have seen.
//!
//! | law | why it must hold |
//! |---|---|
//! | an unchanged view is the one that was seen | a reader who is told that nothing changed doesn't look |
//! | a difference is of the document that was shown | a reader takes it for changes of what it saw last |

use pipemux_proto::client::{Answer, Body, Verb};

use crate::answer_content::{self, Heading, ShownContent};
use crate::law::{LawResult, law};
use crate::sim::Sim;

impl Sim {
    pub fn check_claims(
        &mut self,
        index: usize,
        answer: &Answer,
        shows: &ShownContent,
    ) -> LawResult {
        self.check_unchanged(index, answer, shows)?;
        if let Body::Text(said) = &answer.body {
            self.check_differences(index, said)?;
        }
        Ok(())
    }

    /// Checks a view that says that nothing has changed since its reader saw it.
    fn check_unchanged(
        &mut self,
        index: usize,
        answer: &Answer,
        shows: &ShownContent,
    ) -> LawResult {
        let claims = |line: &str| line.starts_with("unchanged for ");
        let claimed = match &answer.body {
            Body::Text(said) => said.lines().any(claims),
            Body::Report(report) => report.notices.iter().any(|notice| claims(notice)),
            _ => false,
        };
        let request = &self.requests[index];
        let Verb::View(view) = &request.call.verb else { return Ok(()) };
        if !claimed || view.since.is_some() {
            return Ok(());
        }
        self.statistics.count("unchanged told");
        for shown in &shows.headings {
            let saw = self.knowledge.windows(request.who, &shown.addr, request.since);
            law!(
                !shown.busy && saw.iter().any(|saw| saw.what == *shown),
                "an unchanged view is the one that was seen",
                "{shown:?}, of {saw:?}"
            );
        }
        Ok(())
    }

    /// Checks that each difference is of the document that its reader was shown last.
    fn check_differences(&mut self, index: usize, said: &str) -> LawResult {
        let request = &self.requests[index];
        if !request.acts() {
            return Ok(());
        }
        for shown in differences(said) {
            let saw = self.knowledge.windows(request.who, &shown.addr, request.since);
            self.statistics.count("difference shown");
            law!(
                saw.iter().any(|saw| document(&saw.what) == document(&shown)),
                "a difference is of the document that was shown",
                "{shown:?}, of {saw:?} in:\n{said}"
            );
        }
        Ok(())
    }
}

/// The document of a window: its app names the selected thing, whatever its revision.
fn document(heading: &Heading) -> Option<&str> {
    heading.selection.as_deref().and_then(|label| label.split(' ').next())
}

/// Returns the headings of the windows that a text shows as differences.
fn differences(said: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut current = None;
    for line in said.lines() {
        if let Some(heading) = answer_content::heading(line) {
            current = Some(heading);
        } else if line.starts_with("+ ") || line.starts_with("- ") {
            found.extend(current.take());
        }
    }
    found
}
