//! Runs that wait for their reader: open questions, runs that `answer go` sends again, and what
//! failed runs left.

use std::collections::BTreeMap;

use pipemux_proto::Incarnation;

use crate::keys::{ReaderId, SessionKey, WorkspaceKey};
use crate::limits::{KEPT_BYTES_MAX, KEPT_RESTS_MAX};
use crate::runs::kept_run::KeptRun;
use crate::runs::kept_steps::KeptSteps;
use crate::runs::questions::question::OpenQuestion;

/// All runs that wait for their reader, by workspace.
#[derive(Debug, Default)]
pub struct OpenRuns {
    by_workspace: BTreeMap<WorkspaceKey, WorkspaceRuns>,
    /// True when something was added since that was asked.
    grown: bool,
}

#[derive(Debug, Default)]
struct WorkspaceRuns {
    /// Questions that wait for an answer, by number.
    questions: BTreeMap<u64, OpenQuestion>,
    /// For each reader, at most one run whose next step was refused as stale or has an unknown
    /// outcome.
    kept: BTreeMap<ReaderId, Box<KeptRun>>,
    /// The kept steps of failed runs, by number.
    rests: BTreeMap<u64, KeptSteps>,
}

impl OpenRuns {
    /// Adds a question to the workspace of its run.
    pub fn add_question(&mut self, number: u64, question: OpenQuestion) {
        self.grown = true;
        let at = question.suspended.caller.workspace.clone();
        self.by_workspace.entry(at).or_default().questions.insert(number, question);
    }

    /// Returns a question of a workspace.
    pub fn question(&self, at: &str, number: u64) -> Option<&OpenQuestion> {
        self.by_workspace.get(at)?.questions.get(&number)
    }

    /// Returns a question of a workspace, to fill in its form, or to put further steps behind its
    /// run.
    pub fn question_mut(&mut self, at: &str, number: u64) -> Option<&mut OpenQuestion> {
        self.grown = true;
        self.by_workspace.get_mut(at)?.questions.get_mut(&number)
    }

    /// Removes a question of a workspace, since it was answered or closed.
    pub fn remove_question(&mut self, at: &str, number: u64) -> Option<OpenQuestion> {
        self.by_workspace.get_mut(at)?.questions.remove(&number)
    }

    /// Removes a question that has expired, whatever workspace it is of. A question that was asked
    /// again since its timer was set expires later.
    pub fn expire_question(&mut self, number: u64, now: u64) -> Option<OpenQuestion> {
        let mut all = self.by_workspace.values_mut();
        all.find_map(|runs| match runs.questions.get(&number)?.expires <= now {
            true => runs.questions.remove(&number),
            false => None,
        })
    }

    /// Marks a question as shown to its reader. Returns it when it wasn't yet.
    pub fn note_shown(&mut self, at: &str, number: u64) -> Option<&OpenQuestion> {
        let question = self.by_workspace.get_mut(at)?.questions.get_mut(&number)?;
        let first = !std::mem::replace(&mut question.shown, true);
        first.then_some(question)
    }

    /// Removes the questions of a workspace whose step is for a session. Returns their numbers.
    pub fn close_questions_of(&mut self, at: &str, session: &SessionKey) -> Vec<u64> {
        let Some(runs) = self.by_workspace.get_mut(at) else { return Vec::new() };
        let closed =
            runs.questions.extract_if(.., |_, question| question.step().session == *session);
        closed.map(|(number, _)| number).collect()
    }

    /// Iterates over the questions of a workspace, by number.
    pub fn questions(&self, at: &str) -> impl Iterator<Item = (u64, &OpenQuestion)> {
        let runs = self.by_workspace.get(at).into_iter();
        runs.flat_map(|runs| runs.questions.iter().map(|(number, question)| (*number, question)))
    }

    /// Iterates over the questions that a reader has open: steps that run at once may each ask one.
    pub fn questions_of(
        &self,
        at: &str,
        reader: &str,
    ) -> impl Iterator<Item = (u64, &OpenQuestion)> {
        self.questions(at).filter(move |(_, question)| question.reader() == reader)
    }

    /// Iterates over the numbers of all questions.
    pub fn question_numbers(&self) -> impl Iterator<Item = u64> {
        self.by_workspace.values().flat_map(|runs| runs.questions.keys().copied())
    }

    /// Keeps a run, so that its reader can send it again. It takes the place of the one that was
    /// kept before.
    pub fn keep(&mut self, run: KeptRun) {
        let caller = &run.suspended.caller;
        let runs = self.by_workspace.entry(caller.workspace.clone()).or_default();
        runs.kept.insert(caller.reader.clone(), Box::new(run));
    }

    /// Returns the kept run of a reader, and keeps it no longer.
    pub fn take_kept(&mut self, at: &str, reader: &str) -> Option<KeptRun> {
        self.by_workspace.get_mut(at)?.kept.remove(reader).map(|run| *run)
    }

    /// Forgets the kept run of a reader; its questions stay open until they expire.
    pub fn forget_kept(&mut self, at: &str, reader: &str) {
        if let Some(runs) = self.by_workspace.get_mut(at) {
            runs.kept.remove(reader);
        }
    }

    /// Keeps the remaining steps of a failed run. Returns the numbers of the same reader's older
    /// kept steps that are dropped for them, oldest first.
    pub fn keep_rest(&mut self, number: u64, rest: KeptSteps) -> Vec<u64> {
        self.grown = true;
        let runs = self.by_workspace.entry(rest.caller.workspace.clone()).or_default();
        let reader = rest.caller.reader.clone();
        runs.rests.insert(number, rest);
        let own = runs.rests.iter().rev().filter(|(_, rest)| *rest.caller.reader == *reader);
        let (mut count, mut bytes) = (0, 0);
        let mut fits = |rest: &KeptSteps| {
            count += 1;
            bytes += rest.bytes();
            count <= KEPT_RESTS_MAX && bytes <= KEPT_BYTES_MAX
        };
        let beyond = own.filter(|(_, rest)| !fits(rest)).map(|(number, _)| *number);
        let mut beyond: Vec<u64> = beyond.collect();
        beyond.reverse();
        beyond.iter().for_each(|number| drop(runs.rests.remove(number)));
        beyond
    }

    /// Returns what a failed run left.
    pub fn rest(&self, at: &str, number: u64) -> Option<&KeptSteps> {
        self.by_workspace.get(at)?.rests.get(&number)
    }

    /// Returns what a failed run left, and keeps it no longer.
    pub fn remove_rest(&mut self, at: &str, number: u64) -> Option<KeptSteps> {
        let runs = self.by_workspace.get_mut(at)?;
        // The same steps could be sent by `go`, too.
        runs.kept.retain(|_, run| run.kept_steps != Some(number));
        runs.rests.remove(&number)
    }

    /// Removes what a failed run left and nobody took up in time, whatever workspace it is of.
    pub fn expire_rest(&mut self, number: u64, now: u64) -> Option<KeptSteps> {
        let lapsed =
            |runs: &WorkspaceRuns| runs.rests.get(&number).is_some_and(|r| r.expires <= now);
        let (at, _) = self.by_workspace.iter().find(|(_, runs)| lapsed(runs))?;
        let at = at.clone();
        self.remove_rest(&at, number)
    }

    /// Iterates over what the failed runs of a workspace left, by number.
    pub fn rests(&self, at: &str) -> impl Iterator<Item = (u64, &KeptSteps)> {
        let runs = self.by_workspace.get(at).into_iter();
        runs.flat_map(|runs| runs.rests.iter().map(|(number, rest)| (*number, rest)))
    }

    /// Iterates over what the failed runs of a reader left, by number.
    pub fn rests_of(&self, at: &str, reader: &str) -> impl Iterator<Item = (u64, &KeptSteps)> {
        self.rests(at).filter(move |(_, rest)| *rest.caller.reader == *reader)
    }

    /// Handles a failed run of a reader: an answer without a number no longer means the steps kept
    /// from an earlier run.
    pub fn outdate_rests(&mut self, at: &str, reader: &str) {
        let runs = self.by_workspace.get_mut(at).into_iter();
        let rests = runs.flat_map(|runs| runs.rests.values_mut());
        rests.filter(|rest| *rest.caller.reader == *reader).for_each(|rest| rest.newest = false);
    }

    /// Handles a reader dropping the steps kept from the newest failed run: an answer without a
    /// number now means those of the run before. Returns these, if there are any.
    pub fn renew_newest_rest(&mut self, at: &str, reader: &str) -> Option<(u64, &KeptSteps)> {
        let rests = &mut self.by_workspace.get_mut(at)?.rests;
        let of_reader = rests.iter_mut().filter(|(_, rest)| *rest.caller.reader == *reader);
        let (number, rest) = of_reader.max_by_key(|(number, _)| **number)?;
        rest.newest = true;
        Some((*number, rest))
    }

    /// Iterates over the numbers of all that failed runs left.
    pub fn rest_numbers(&self) -> impl Iterator<Item = u64> {
        self.by_workspace.values().flat_map(|runs| runs.rests.keys().copied())
    }

    /// Sets when something that an earlier daemon kept lapses.
    pub fn renew_rests(&mut self, expires: u64) {
        let rests = self.by_workspace.values_mut().flat_map(|runs| runs.rests.values_mut());
        rests.for_each(|rest| rest.expires = expires);
    }

    /// Returns the numbers of the oldest questions and kept steps to drop so that the rest takes at
    /// most `most` bytes. The newest one always stays, since its reader is just being told of it.
    pub fn beyond(&mut self, most: usize) -> Vec<u64> {
        let mut bytes = if std::mem::take(&mut self.grown) { self.bytes() } else { 0 };
        if bytes <= most {
            return Vec::new();
        }
        let mut all: Vec<(u64, usize)> = self.sizes().collect();
        all.sort_unstable();
        all.pop();
        let mut goes = |of: usize| {
            let over = bytes > most;
            bytes -= of;
            over
        };
        all.into_iter().take_while(|(_, of)| goes(*of)).map(|(number, _)| number).collect()
    }

    /// Returns how many bytes all questions and kept steps take together.
    pub fn bytes(&self) -> usize {
        self.sizes().map(|(_, bytes)| bytes).sum()
    }

    fn sizes(&self) -> impl Iterator<Item = (u64, usize)> {
        self.by_workspace.values().flat_map(|runs| {
            let questions = runs.questions.iter().map(|(number, of)| (*number, of.bytes()));
            questions.chain(runs.rests.iter().map(|(number, of)| (*number, of.bytes())))
        })
    }

    /// Forgets all of a workspace that made room for another one.
    pub fn forget_workspace(&mut self, at: &str) {
        self.by_workspace.remove(at);
    }

    /// Makes what runs saw of one process of a session count as seen of the next one, which has the
    /// same state.
    pub fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        for runs in self.by_workspace.values_mut() {
            let asking = runs.questions.values_mut().map(|question| &mut question.suspended);
            let kept = runs.kept.values_mut().map(|kept| &mut kept.suspended);
            for run in asking.chain(kept) {
                run.hand_over(session, from, to);
            }
            let seen = runs.rests.values_mut().filter_map(|rest| rest.seen.as_mut());
            seen.for_each(|seen| seen.hand_over(session, from, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::foreign::{Needs, Question};
    use pipemux_proto::app::QuestionKind;
    use pipemux_proto::prototype::{Prominence, Prototype, Risk};

    use super::*;
    use crate::runs::caller::Caller;
    use crate::runs::questions::asker::Asker;
    use crate::runs::suspended::Suspended;
    use crate::scripts::step::{Step, StepOrigin};

    fn session(addr: &str) -> SessionKey {
        SessionKey { workspace: Some("w".into()), addr: addr.parse().unwrap() }
    }

    fn suspended(workspace: &str, reader: &str, addr: &str) -> Suspended {
        let prototype = Prototype {
            name: "add".into(),
            doc: String::new(),
            params: Vec::new(),
            returns: None,
            risk: Risk::Safe,
            idempotent: false,
            prominence: Prominence::Featured,
            ..Prototype::default()
        };
        let step = Step {
            session: session(addr),
            candidates: Vec::new(),
            prototype,
            args: Vec::new(),
            call: "add()".into(),
            origin: StepOrigin::Call,
            nested: false,
        };
        Suspended::restored(Caller::new(workspace.into(), reader, "id"), vec![step])
    }

    fn kept(suspended: Suspended) -> KeptRun {
        KeptRun { suspended, shown_again: None, kept_steps: None }
    }

    fn question(workspace: &str, reader: &str, addr: &str) -> OpenQuestion {
        let (text, kind, options, unlisted) = ("?".into(), QuestionKind::Text, Vec::new(), 0);
        let question = Question { text, kind, options, unlisted, ..Question::default() };
        let needs =
            Needs { question, token: pipemux_proto::Value::Null.to_blob(), numbers: Vec::new() };
        let suspended = suspended(workspace, reader, addr);
        OpenQuestion::new(suspended, needs, Asker::AmbiguousTarget(0), 0)
    }

    fn numbers_of(runs: &OpenRuns, at: &str, reader: &str) -> Vec<u64> {
        runs.questions_of(at, reader).map(|(number, _)| number).collect()
    }

    #[test]
    fn questions_are_found_by_workspace_and_reader() {
        let mut runs = OpenRuns::default();
        runs.add_question(3, question("w", "a", "notes/main"));
        runs.add_question(1, question("w", "a", "notes/main"));
        runs.add_question(2, question("w", "b", "notes/main"));
        runs.add_question(4, question("v", "a", "notes/main"));
        assert_eq!(numbers_of(&runs, "w", "a"), [1, 3]);
        assert!(runs.question("w", 2).is_some() && runs.question("v", 2).is_none());
        assert_eq!(runs.question_numbers().collect::<Vec<_>>(), [4, 1, 2, 3]);
        assert!(runs.remove_question("v", 1).is_none());
        assert!(runs.remove_question("w", 1).is_some());
        assert_eq!(numbers_of(&runs, "w", "a"), [3]);
    }

    #[test]
    fn closed_window_closes_the_questions_of_its_session_only() {
        let mut runs = OpenRuns::default();
        runs.add_question(1, question("w", "a", "notes/main"));
        runs.add_question(2, question("w", "b", "todo/main"));
        runs.add_question(3, question("v", "a", "notes/main"));
        assert_eq!(runs.close_questions_of("w", &session("notes/main")), [1]);
        assert_eq!(runs.question_numbers().collect::<Vec<_>>(), [3, 2]);
    }

    #[test]
    fn question_expires_once() {
        let mut runs = OpenRuns::default();
        runs.add_question(1, question("w", "a", "notes/main"));
        let expired = runs.expire_question(1, 0);
        assert_eq!(expired.map(|question| question.suspended.caller.workspace), Some("w".into()));
        assert!(runs.expire_question(1, 0).is_none());
    }

    #[test]
    fn newest_kept_run_of_a_reader_is_taken_once() {
        let mut runs = OpenRuns::default();
        runs.keep(kept(suspended("w", "a", "notes/main")));
        runs.keep(kept(suspended("w", "a", "todo/main")));
        runs.keep(kept(suspended("w", "b", "notes/main")));
        let kept = runs.take_kept("w", "a").unwrap();
        assert_eq!(kept.suspended.progress.steps[0].session, session("todo/main"));
        assert!(runs.take_kept("w", "a").is_none());
        runs.forget_kept("w", "b");
        assert!(runs.take_kept("w", "b").is_none());
    }

    #[test]
    fn retired_workspace_loses_its_runs_and_evicted_reader_keeps_its_questions() {
        let mut runs = OpenRuns::default();
        for workspace in ["v", "w"] {
            runs.keep(kept(suspended(workspace, "a", "notes/main")));
        }
        runs.add_question(1, question("v", "a", "notes/main"));
        runs.add_question(2, question("w", "a", "notes/main"));
        runs.forget_workspace("v");
        assert!(runs.take_kept("v", "a").is_none());
        runs.forget_kept("w", "a");
        assert_eq!(runs.question_numbers().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn state_that_a_new_process_took_over_counts_as_seen() {
        let (old, new, notes) = (Incarnation(1), Incarnation(2), session("notes/main"));
        let seen_by = |app| {
            let mut suspended = suspended("w", "a", "notes/main");
            suspended.baseline.now.versions.insert(session("notes/main"), (app, 5));
            suspended
        };
        let mut runs = OpenRuns::default();
        runs.keep(kept(seen_by(old)));
        runs.add_question(1, OpenQuestion { suspended: seen_by(old), ..question("w", "a", "x/y") });
        runs.add_question(
            2,
            OpenQuestion { suspended: seen_by(Incarnation(7)), ..question("w", "a", "x/y") },
        );
        runs.hand_over(&notes, old, new);
        let seen =
            |number| runs.question("w", number).unwrap().suspended.baseline.now.versions[&notes];
        assert_eq!((seen(1), seen(2)), ((new, 5), (Incarnation(7), 5)));
        assert_eq!(
            runs.take_kept("w", "a").unwrap().suspended.baseline.now.versions[&notes],
            (new, 5)
        );
    }

    #[test]
    fn oldest_questions_and_kept_steps_make_room_once_all_together_are_too_much() {
        let mut runs = OpenRuns::default();
        for number in [3, 1, 2] {
            let mut asked = question("w", &number.to_string(), "notes/main");
            asked.needs.token = pipemux_proto::Blob(vec![0; 100].into());
            runs.add_question(number, asked);
        }
        let mut beyond = |most: usize| {
            runs.grown = true;
            runs.beyond(most)
        };
        assert_eq!(beyond(300), [0; 0]);
        assert_eq!(beyond(299), [1]);
        assert_eq!(beyond(100), [1, 2]);
        assert_eq!(beyond(0), [1, 2], "the newest stays");
        assert_eq!(runs.beyond(0), [0; 0], "nothing was added");
    }
}
