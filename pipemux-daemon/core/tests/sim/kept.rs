//! Runs that are kept for `answer go`: what it sends again, and how often each step is sent.
//!
//! Every run has an id, and what `go` sends again has the id of that `go`. So a step is counted by its
//! mark and by the id that it was sent under, and what a `go` may send is known from the answer that
//! said that a run is kept.
//!
//! | law | what it holds |
//! |---|---|
//! | `go` sends what was kept | the steps of the run that its reader was told of last, and one `go` only |
//! | `go` does what was left | all that was not done, nothing that was |
//! | nothing is sent twice | each step once a run id, but for what is declared as good twice |
//! | nothing runs twice | the same of what came of it |

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::app::Invoke;
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, Fault};

use crate::action::Who;
use crate::law::{Lawful, law};
use crate::places::{Place, READERS};
use crate::sim::Sim;
use crate::truth::last_mark;

/// A run that its reader may send again.
#[derive(Debug, Clone, Default)]
struct Again {
    /// Which time that was said: 0, when nobody heard it.
    nth: u32,
    /// The requests whose steps it may be.
    of: BTreeSet<usize>,
    /// The marks of the steps that were not done, where the answer named them.
    left: Vec<u64>,
}

/// How often a step was sent under a run's id, answers to its questions aside, and took effect.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    sent: u32,
    effects: u32,
    /// Where it took effect the last time, and how often that store had changed then.
    at: Option<(Place, u64)>,
}

#[derive(Debug, Default)]
pub struct Kept {
    /// By mark and run id; steps without a mark are counted together.
    counts: BTreeMap<(Option<u64>, String), Count>,
    /// What each reader was told last.
    told: BTreeMap<Who, Again>,
    times: u32,
    /// Runs that asked, by reader: their answers may keep them.
    asking: BTreeMap<Who, BTreeSet<usize>>,
    /// Runs whose client went: whether they are kept is not seen from here.
    unheard: BTreeSet<(Who, usize)>,
    /// By the run id of a `go`.
    goes: BTreeMap<String, Again>,
    /// Steps that were said to be done; nested ones are done anew with their outer step.
    done: BTreeSet<u64>,
    /// Which `go` has sent what was kept that time.
    taken: BTreeMap<u32, String>,
}

impl Kept {
    /// What is kept is forgotten with the daemon.
    pub fn lose_daemon(&mut self) {
        self.told.clear();
        self.unheard.clear();
    }

    /// A `go` is about to be asked for.
    pub fn go(&mut self, who: Who, run_id: &str) {
        let told = self.told.get(&who).cloned().unwrap_or_default();
        let unheard = self.unheard.iter().filter(|(of, _)| *of == who).map(|(_, index)| *index);
        let again = self.goes.entry(run_id.to_owned()).or_default();
        if !told.of.is_empty() {
            (again.nth, again.left) = (told.nth, told.left);
        }
        again.of.extend(told.of.into_iter().chain(unheard));
    }

    /// An app asks about a run's step. Its reader may answer that, and the run be kept, before the
    /// answer that asks is there: that one waits for its windows.
    pub fn asks(&mut self, who: Who, index: usize) {
        self.asking.entry(who).or_default().insert(index);
    }

    /// The requests whose steps a reader's answer may go on with.
    fn goes_on(&self, who: Who, run_id: &str) -> BTreeSet<usize> {
        let went = self.goes.get(run_id).map(|again| again.of.clone()).unwrap_or_default();
        let asked = self.asking.get(&who).cloned().unwrap_or_default();
        went.into_iter().chain(asked).collect()
    }

    /// How often a step took effect under a run's id.
    pub fn effects(&self, mark: u64, run_id: &str) -> u32 {
        self.counts.get(&(Some(mark), run_id.to_owned())).map_or(0, |count| count.effects)
    }

    /// Where a step took effect under a run's id, and how often that store had changed then.
    pub fn took_effect_at(&self, mark: u64, run_id: &str) -> Option<(Place, u64)> {
        self.counts.get(&(Some(mark), run_id.to_owned()))?.at
    }

    /// True when a step was sent under a run's id.
    pub fn was_sent(&self, mark: u64, run_id: &str) -> bool {
        self.counts.get(&(Some(mark), run_id.to_owned())).is_some_and(|count| count.sent > 0)
    }

    /// True when a `go` has sent a step.
    pub fn was_sent_by_go(&self, mark: u64) -> bool {
        let own = (Some(mark), String::new())..(Some(mark + 1), String::new());
        let mut all = self.counts.range(own);
        all.any(|((_, run), count)| count.sent > 0 && self.goes.contains_key(run))
    }

    /// How often a step was sent and took effect, under whatever id.
    pub fn whole(&self, mark: u64) -> (u32, u32) {
        let own = (Some(mark), String::new())..(Some(mark + 1), String::new());
        self.counts.range(own).fold((0, 0), |(sent, effects), (_, count)| {
            (sent + count.sent, effects + count.effects)
        })
    }
}

impl Sim {
    /// An acting request was answered: its run may be kept.
    pub fn note_kept(&mut self, index: usize, answer: &Result<Answer, Fault>) {
        let request = &self.requests[index];
        let Ok(answer) = answer else { return };
        if !request.acts() {
            return;
        }
        if let Some(first) = request.repeats {
            // It may be told from a record, or run only now.
            if keeps(answer) == Some(true) {
                let told = self.runs.kept.told.entry(request.who).or_default();
                told.nth = 0;
                told.of.insert(first);
            }
            return;
        }
        let (who, exit) = (request.who, answer.exit);
        let own = match &request.call.verb {
            Verb::Run { .. } => [index].into(),
            _ => self.runs.kept.goes_on(who, &request.call.run_id),
        };
        if exit == 5 {
            self.runs.kept.asking.entry(who).or_default().extend(own.clone());
        }
        let told = steps(answer);
        let nested = |mark: &u64| self.runs.marks.get(mark).is_some_and(|of| of.nested);
        let done =
            told.iter().filter(|(mark, status)| *status == StepStatus::Done && !nested(mark));
        let done: Vec<u64> = done.map(|(mark, _)| *mark).collect();
        self.runs.kept.done.extend(done);
        match keeps(answer) {
            Some(true) => {
                self.figures.count("kept");
                self.runs.kept.times += 1;
                let nth = self.runs.kept.times;
                let undone = told.into_iter().filter(|(_, status)| *status != StepStatus::Done);
                let mut left: Vec<u64> = undone.map(|(mark, _)| mark).collect();
                // A nested step comes right before its outer one, and goes with it.
                let inner = left.iter().map(|mark| mark - 1).filter(|mark| {
                    self.runs.marks.get(mark).is_some_and(|of| of.nested) && !left.contains(mark)
                });
                let inner: Vec<u64> = inner.collect();
                left.extend(inner);
                self.runs.kept.told.insert(who, Again { nth, of: own, left });
            }
            Some(false) => {
                self.runs.kept.told.remove(&who);
            }
            None => {}
        }
    }

    /// A `go` was answered: whether it did what was left.
    pub fn check_go(&mut self, index: usize) -> Lawful {
        let request = &self.requests[index];
        let (run, exit) = (request.call.run_id.as_str(), request.exit.unwrap_or_default());
        let Some(again) = self.runs.kept.goes.get(run) else { return Ok(()) };
        let heard = !self.runs.kept.unheard.iter().any(|(of, _)| *of == request.who);
        let went = self.runs.kept.taken.get(&again.nth).is_some_and(|by| by == run);
        if !heard || !went || again.nth == 0 || request.repeats.is_some() {
            return Ok(());
        }
        for mark in &again.left {
            let effects = self.runs.kept.effects(*mark, run);
            let (_, ever) = self.runs.kept.whole(*mark);
            match exit {
                0 => law!(effects > 0, "`go` does what was left", "t{mark} by {run}: {again:?}"),
                2 | 3 | 4 | 6 | 9 => {
                    law!(ever == 0, "no step took effect", "t{mark} did, {run} ended {exit}");
                }
                _ => {}
            }
        }
        self.figures.count("go went");
        Ok(())
    }

    /// A client is gone with a run.
    pub fn note_unheard(&mut self, index: usize) {
        let request = &self.requests[index];
        if !request.acts() {
            return;
        }
        let (who, first) = (request.who, request.repeats.unwrap_or(index));
        let of = self.runs.kept.goes_on(who, &request.call.run_id);
        self.runs.kept.unheard.extend(of.into_iter().chain([first]).map(|of| (who, of)));
    }

    /// A daemon is lost with a run: it may have asked, and its question is written down.
    pub fn note_lost(&mut self, index: usize) {
        let request = &self.requests[index];
        if request.acts() {
            let (who, first) = (request.who, request.repeats.unwrap_or(index));
            let of = self.runs.kept.goes_on(who, &request.call.run_id);
            self.runs.kept.asking.entry(who).or_default().extend(of.into_iter().chain([first]));
        }
    }

    /// A step is being sent, not as the answer to a question.
    pub fn count_sent(&mut self, index: usize, mark: Option<u64>, invoke: &Invoke) -> Lawful {
        let who = self.requests[index].who;
        let most = self.most(index, mark, invoke)?;
        let safe = mark.and_then(|mark| self.runs.marks.get(&mark)).is_some_and(|of| of.safe);
        let rebases = safe && self.runs.rebasing.contains(&READERS[who].0);
        if let Some(again) = self.runs.kept.goes.get(&invoke.run_id)
            && again.nth > 0
            && !self.runs.kept.unheard.iter().any(|(of, _)| *of == who)
        {
            let nth = again.nth;
            let taken = self.runs.kept.taken.entry(nth).or_insert_with(|| invoke.run_id.clone());
            law!(*taken == invoke.run_id, "`go` sends what was kept", "{taken} did: {invoke:?}");
        }
        if self.runs.kept.goes.contains_key(&invoke.run_id) {
            let done = mark.is_some_and(|mark| self.runs.kept.done.contains(&mark));
            law!(!done, "`go` does what was left", "{invoke:?} was done");
        }
        let count = self.runs.kept.counts.entry((mark, invoke.run_id.clone())).or_default();
        count.sent += 1;
        let sent = count.sent;
        law!(sent <= most + u32::from(rebases), "nothing is sent twice", "{sent}: {invoke:?}");
        Ok(())
    }

    /// A step took effect.
    pub fn count_effect(
        &mut self,
        (index, place): (usize, Place),
        mark: Option<u64>,
        invoke: &Invoke,
    ) -> Lawful {
        let most = self.most(index, mark, invoke)?;
        let count = self.runs.kept.counts.entry((mark, invoke.run_id.clone())).or_default();
        count.effects += 1;
        count.at = Some((place, self.stores[&place].total));
        let effects = count.effects;
        law!(effects <= most, "nothing runs twice", "{effects} times {invoke:?}");
        Ok(())
    }

    /// How often a step may be sent under its run's id.
    fn most(&mut self, index: usize, mark: Option<u64>, invoke: &Invoke) -> Lawful<u32> {
        // An action that is as good twice is sent once more to the next process.
        let idempotent = u32::from(invoke.action == "select");
        let of = match self.runs.kept.goes.get(&invoke.run_id) {
            Some(again) => again.of.clone(),
            None => {
                let own = self.requests[index].call.run_id == invoke.run_id;
                law!(own, "a step has its run's id", "{invoke:?}");
                [index].into()
            }
        };
        let Some(mark) = mark else {
            let unmarked = |index: &usize| match &self.requests[*index].call.verb {
                Verb::Run { code, .. } => code.matches("say('the same')").count() as u32,
                // What a click does is never kept.
                Verb::Click { .. } => u32::from(of.len() == 1),
                _ => 0,
            };
            let most = of.iter().map(unmarked).max().unwrap_or(0);
            law!(most > 0, "`go` sends what was kept", "{invoke:?} of {of:?}");
            return Ok(most + idempotent);
        };
        let asked = self.runs.marks.get(&mark).map(|marked| marked.request);
        let known = asked.is_some_and(|asked| of.contains(&asked));
        law!(known, "`go` sends what was kept", "{invoke:?} of {asked:?}, kept were {of:?}");
        Ok(1 + idempotent)
    }
}

/// Whether an answer says that its run is kept; none when it says nothing of a run.
fn keeps(answer: &Answer) -> Option<bool> {
    match &answer.body {
        Body::Text(said) if said.contains("pipemux answer go") => Some(true),
        // What is refused before it begins leaves things as they are.
        Body::Text(_) => matches!(answer.exit, 0 | 5).then_some(false),
        Body::Report(report) => {
            let last = report.steps.iter().rfind(|step| step.status != StepStatus::Skipped)?;
            let stale = last.error.as_ref().is_some_and(|error| error.code == Code::Stale);
            Some(stale || last.status == StepStatus::Unknown)
        }
        _ => None,
    }
}

/// How each step stands, by its mark, where an answer says that.
fn steps(answer: &Answer) -> Vec<(u64, StepStatus)> {
    let Body::Report(report) = &answer.body else { return Vec::new() };
    let step =
        |step: &pipemux_proto::report::StepReport| Some((last_mark(&step.call)?, step.status));
    report.steps.iter().filter_map(step).collect()
}
