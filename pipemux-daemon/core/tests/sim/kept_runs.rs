//! Runs that are kept for `answer go`: which steps it sends, and how often each step is sent.
//!
//! Every run has an id, and the steps that a `go` sends carry the id of that `go`. So steps are
//! counted by their mark and the id that they were sent under. The answer that said that a run is
//! kept tells what a `go` may send.
//!
//! | law | why it must hold |
//! |---|---|
//! | `go` sends steps of the kept run only | its reader agreed to the run that it was told of last, and to one `go` |
//! | `go` sends the steps that were left | a done step must not be repeated, and a step left out would be lost |
//! | a step is sent once, also behind a corrected call | only a step that is declared idempotent may be sent again under the same run id |
//! | a step takes effect once | a repeated effect is one that nobody asked for |

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::Fault;
use pipemux_proto::app::Invoke;
use pipemux_proto::client::{Answer, Verb};
use pipemux_proto::report::StepStatus;

use crate::action::ReaderIndex;
use crate::kept_answers::{keeps, keeps_rest, steps};
use crate::law::{LawResult, law};
use crate::requests::Request;
use crate::sessions::{READERS, SessionKey};
use crate::sim::Sim;

/// More steps than any undo has.
const UNDOS_MAX: u32 = 1_000;

/// A run that its reader may continue with `go`.
#[derive(Debug, Clone, Default)]
pub struct KeptRun {
    /// The number of the answer that said so; 0 when no client received one.
    nth: u32,
    /// The requests whose steps it may hold.
    of: BTreeSet<usize>,
    /// The marks of the steps that were not done, as far as the answer named them.
    left: Vec<u64>,
}

/// How often a step was sent under a run's id, without answers to its questions, and how often it
/// took effect.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    sent: u32,
    effects: u32,
    /// The number of requests when its app refused it last.
    refused: Option<usize>,
    /// Where it last took effect, and how often that store had changed then.
    at: Option<(SessionKey, u64)>,
}

#[derive(Debug, Default)]
pub struct KeptRuns {
    /// By mark and run id; steps without a mark are counted together.
    counts: BTreeMap<(Option<u64>, String), Count>,
    /// The run that each reader was told of last.
    told: BTreeMap<ReaderIndex, KeptRun>,
    times: u32,
    /// Runs that asked a question, by reader: the answer may keep them.
    asking: BTreeMap<ReaderIndex, BTreeSet<usize>>,
    /// Runs whose client vanished: it is unknown whether they are kept.
    unheard: BTreeSet<(ReaderIndex, usize)>,
    /// What each `go` may send, by its run id.
    pub goes: BTreeMap<String, KeptRun>,
    /// Steps that an answer reported as done. Nested ones are left out, because they are repeated
    /// with their outer step.
    done: BTreeSet<u64>,
    /// The requests whose answers said that their further steps are kept: those may take effect
    /// later.
    pub rests: BTreeSet<usize>,
    /// The runs that went on with a corrected call, by id, with the sessions that steps were sent
    /// to since.
    pub corrected: BTreeMap<String, BTreeSet<SessionKey>>,
    /// The run id of the `go` that sent each kept run, by the number of the answer.
    taken: BTreeMap<u32, String>,
}

impl KeptRuns {
    /// The daemon was lost, and its kept runs with it.
    pub fn lose_daemon(&mut self) {
        self.told.clear();
        self.unheard.clear();
    }

    /// A `go` is about to be asked for.
    pub fn go(&mut self, who: ReaderIndex, run_id: &str) {
        let told = self.told.get(&who).cloned().unwrap_or_default();
        let unheard = self.unheard.iter().filter(|(of, _)| *of == who).map(|(_, index)| *index);
        let kept_run = self.goes.entry(run_id.to_owned()).or_default();
        if !told.of.is_empty() {
            (kept_run.nth, kept_run.left) = (told.nth, told.left);
        }
        kept_run.of.extend(told.of.into_iter().chain(unheard));
    }

    /// An app asks about a step. The reader may answer before the answer with the question arrives,
    /// because that one waits for its windows.
    pub fn asks(&mut self, who: ReaderIndex, index: usize) {
        self.asking.entry(who).or_default().insert(index);
    }

    /// Returns the requests whose steps a reader's answer may continue.
    pub fn goes_on(&self, who: ReaderIndex, run_id: &str) -> BTreeSet<usize> {
        let went = self.goes.get(run_id).map(|kept_run| kept_run.of.clone()).unwrap_or_default();
        let asked = self.asking.get(&who).cloned().unwrap_or_default();
        went.into_iter().chain(asked).collect()
    }

    /// Returns the requests whose steps a `go` with this run id sends again.
    pub fn sent_again_by(&self, run_id: &str) -> BTreeSet<usize> {
        self.goes.get(run_id).map(|kept_run| kept_run.of.clone()).unwrap_or_default()
    }

    /// Returns how often steps without a mark took effect under a run's id.
    pub fn unmarked_effects(&self, run_id: &str) -> u32 {
        self.counts.get(&(None, run_id.to_owned())).map_or(0, |count| count.effects)
    }

    /// Returns how often a step took effect under a run's id.
    pub fn effects(&self, mark: u64, run_id: &str) -> u32 {
        self.counts.get(&(Some(mark), run_id.to_owned())).map_or(0, |count| count.effects)
    }

    /// Returns where a step took effect under a run's id, and how often that store had changed
    /// then.
    pub fn took_effect_at(&self, mark: u64, run_id: &str) -> Option<(SessionKey, u64)> {
        self.counts.get(&(Some(mark), run_id.to_owned()))?.at
    }

    /// True when a step was sent under a run's id.
    pub fn was_sent(&self, mark: u64, run_id: &str) -> bool {
        self.counts.get(&(Some(mark), run_id.to_owned())).is_some_and(|count| count.sent > 0)
    }

    /// Returns the marks of the steps that were sent under a run's id; `None` for steps without a
    /// mark.
    pub fn sent_under<'a>(&'a self, run_id: &'a str) -> impl Iterator<Item = Option<u64>> + 'a {
        let all = self.counts.iter();
        all.filter(move |((_, run), count)| run == run_id && count.sent > 0)
            .map(|((mark, _), _)| *mark)
    }

    /// True when a `go` has sent a step.
    pub fn was_sent_by_go(&self, mark: u64) -> bool {
        let own = (Some(mark), String::new())..(Some(mark + 1), String::new());
        let mut all = self.counts.range(own);
        all.any(|((_, run), count)| count.sent > 0 && self.goes.contains_key(run))
    }

    /// Returns how often a step was sent and took effect, under any id.
    pub fn whole(&self, mark: u64) -> (u32, u32) {
        let own = (Some(mark), String::new())..(Some(mark + 1), String::new());
        self.counts.range(own).fold((0, 0), |(sent, effects), (_, count)| {
            (sent + count.sent, effects + count.effects)
        })
    }
}

impl Sim {
    /// True when any step was sent under a run's id, apart from calls that only look.
    pub fn was_any_sent(&self, run_id: &str) -> bool {
        let nested = |mark: Option<u64>| {
            mark.and_then(|mark| self.runs.marks.get(&mark)).is_some_and(|of| of.only_looks)
        };
        let refused = |mark: Option<u64>| mark.is_some_and(|mark| self.may_be_rebased(mark));
        self.runs.kept.sent_under(run_id).any(|mark| !nested(mark) && !refused(mark))
    }

    /// Notes from the answer of an acting request whether its run is kept.
    pub fn note_kept(&mut self, index: usize, answer: &Result<Answer, Fault>) {
        let request = &self.requests[index];
        let Ok(answer) = answer else { return };
        // A click that ends a job carries out no run.
        let ends_job = request.clicked.as_ref().is_some_and(|label| label.starts_with("cancel "));
        if !request.acts() || ends_job {
            return;
        }
        if let Some(first) = request.repeats {
            // The answer may come from a record, or the run may only have happened now.
            if keeps(answer) == Some(true) {
                let told = self.runs.kept.told.entry(request.who).or_default();
                told.nth = 0;
                told.of.insert(first);
            }
            return;
        }
        let (who, exit) = (request.who, answer.exit);
        let own = self.may_hold(index);
        if keeps_rest(answer) {
            self.statistics.count("rest kept");
            self.runs.kept.rests.insert(index);
        }
        if self.corrects(index) && exit != 3 {
            self.statistics.count(format!("corrected, {exit}"));
        }
        if exit == 5 {
            self.runs.kept.asking.entry(who).or_default().extend(own.clone());
        }
        // The steps of an undo show the calls that they take back.
        let told = if self.reverts(index) { Vec::new() } else { steps(answer) };
        let nested = |mark: &u64| self.runs.marks.get(mark).is_some_and(|of| of.only_looks);
        let done =
            told.iter().filter(|(mark, status)| *status == StepStatus::Done && !nested(mark));
        let done: Vec<u64> = done.map(|(mark, _)| *mark).collect();
        self.runs.kept.done.extend(done);
        match keeps(answer) {
            Some(true) => {
                self.statistics.count("kept");
                self.runs.kept.times += 1;
                let nth = self.runs.kept.times;
                let undone = told.into_iter().filter(|(_, status)| *status != StepStatus::Done);
                let mut left: Vec<u64> = undone.map(|(mark, _)| mark).collect();
                // A nested step comes right before its outer step and is sent with it.
                let inner = left.iter().map(|mark| mark - 1).filter(|mark| {
                    self.runs.marks.get(mark).is_some_and(|of| of.nested) && !left.contains(mark)
                });
                let inner: Vec<u64> = inner.collect();
                left.extend(inner);
                self.runs.kept.told.insert(who, KeptRun { nth, of: own, left });
            }
            Some(false) => {
                self.runs.kept.told.remove(&who);
            }
            None => {}
        }
    }

    /// Checks that an answered `go` did what was left.
    pub fn check_go(&mut self, index: usize) -> LawResult {
        let request = &self.requests[index];
        let (run, exit) = (request.call.run_id.as_str(), request.exit.unwrap_or_default());
        let Some(kept_run) = self.runs.kept.goes.get(run) else { return Ok(()) };
        let heard = !self.runs.kept.unheard.iter().any(|(of, _)| *of == request.who);
        let went = self.runs.kept.taken.get(&kept_run.nth).is_some_and(|by| by == run);
        if !heard || !went || kept_run.nth == 0 || request.repeats.is_some() {
            return Ok(());
        }
        for mark in &kept_run.left {
            let effects = self.runs.kept.effects(*mark, run);
            let looks = self.runs.marks.get(mark).is_some_and(|of| of.only_looks);
            let (_, ever) = self.runs.kept.whole(*mark);
            match exit {
                0 => law!(
                    effects > 0,
                    "`go` sends the steps that were left",
                    "t{mark} by {run}: {kept_run:?}"
                ),
                2 | 3 | 4 | 6 | 9 => {
                    law!(
                        ever == 0 || looks,
                        "a refused run took no effect",
                        "t{mark} did, {run} ended {exit}"
                    );
                }
                _ => {}
            }
        }
        self.statistics.count("go went");
        Ok(())
    }

    /// A client vanished while its run was under way.
    pub fn note_unheard(&mut self, index: usize) {
        let request = &self.requests[index];
        if !request.acts() {
            return;
        }
        let (who, first) = (request.who, request.repeats.unwrap_or(index));
        let of = self.may_hold(first);
        self.runs.kept.unheard.extend(of.into_iter().chain([first]).map(|of| (who, of)));
    }

    /// The daemon was lost while a run was under way: the run may have asked a question, which is
    /// on disk.
    pub fn note_lost(&mut self, index: usize) {
        let request = &self.requests[index];
        if request.acts() {
            let (who, first) = (request.who, request.repeats.unwrap_or(index));
            let of = self.may_hold(first);
            self.runs.kept.asking.entry(who).or_default().extend(of.into_iter().chain([first]));
        }
    }

    /// Counts a step that is sent other than as the answer to a question.
    pub fn count_sent(
        &mut self,
        (index, session_key): (usize, SessionKey),
        mark: Option<u64>,
        invoke: &Invoke,
    ) -> LawResult {
        let who = self.requests[index].who;
        // Steps of a run that has ended are sent behind a corrected call, or in front of it.
        if self.corrects(index) || !self.requests[index].is_open() {
            let sessions = self.runs.kept.corrected.entry(invoke.run_id.clone()).or_default();
            sessions.insert(session_key);
        }
        let most = self.most(index, mark, invoke)?;
        let safe = mark.and_then(|mark| self.runs.marks.get(&mark)).is_some_and(|of| of.safe);
        let rebases = safe && self.runs.rebasing.contains(&READERS[who].0);
        if let Some(kept_run) = self.runs.kept.goes.get(&invoke.run_id)
            && kept_run.nth > 0
            && !self.runs.kept.unheard.iter().any(|(of, _)| *of == who)
        {
            let nth = kept_run.nth;
            let taken = self.runs.kept.taken.entry(nth).or_insert_with(|| invoke.run_id.clone());
            law!(
                *taken == invoke.run_id,
                "`go` sends steps of the kept run only",
                "{taken} did: {invoke:?}"
            );
        }
        if self.runs.kept.goes.contains_key(&invoke.run_id) {
            let done = mark.is_some_and(|mark| self.runs.kept.done.contains(&mark));
            law!(!done, "`go` sends the steps that were left", "{invoke:?} was done");
        }
        let count = self.runs.kept.counts.entry((mark, invoke.run_id.clone())).or_default();
        // A wrong answer to the daemon's question leaves it open, so that the step is sent with the
        // next one.
        let answers = |request: &Request| request.who == who && request.may_answer();
        if count.refused.take().is_some_and(|since| self.requests[since..].iter().any(answers)) {
            count.sent -= 1;
        }
        count.sent += 1;
        let sent = count.sent;
        let most = most + u32::from(rebases);
        law!(sent <= most, "a step is sent once", "{sent}: {invoke:?}");
        Ok(())
    }

    /// Notes that an app refused a step.
    pub fn count_refusal(&mut self, mark: Option<u64>, run_id: &str) {
        if let Some(count) = self.runs.kept.counts.get_mut(&(mark, run_id.to_owned())) {
            count.refused = Some(self.requests.len());
        }
    }

    /// Counts a step that took effect.
    pub fn count_effect(
        &mut self,
        (index, session_key): (usize, SessionKey),
        mark: Option<u64>,
        invoke: &Invoke,
    ) -> LawResult {
        let most = self.most(index, mark, invoke)?;
        let count = self.runs.kept.counts.entry((mark, invoke.run_id.clone())).or_default();
        count.effects += 1;
        count.at = Some((session_key, self.stores[&session_key].total));
        let effects = count.effects;
        self.note_change(session_key, invoke);
        law!(effects <= most, "a step takes effect once", "{effects} times {invoke:?}");
        Ok(())
    }

    /// Returns how often a step may be sent under its run's id.
    fn most(&mut self, index: usize, mark: Option<u64>, invoke: &Invoke) -> LawResult<u32> {
        // An idempotent action is sent again to the next process.
        let idempotent = u32::from(invoke.action == "select");
        let of = match self.runs.kept.goes.get(&invoke.run_id) {
            Some(kept_run) => kept_run.of.clone(),
            None => {
                // A corrected call continues the run that it corrects, and a run that came while a
                // question was open the one that asked.
                let request = &self.requests[index];
                let asked = |other: &Request| {
                    other.call.run_id == invoke.run_id && other.who == request.who
                };
                let own = request.call.run_id == invoke.run_id
                    || self.corrects(index)
                    || self.requests.iter().any(asked);
                law!(own, "a step carries the id of its run", "{invoke:?}");
                [index].into()
            }
        };
        let who = self.requests[index].who;
        let waits = |index: &usize| {
            let request = &self.requests[*index];
            request.who == who && request.may_wait_behind() && !of.contains(index)
        };
        let Some(mark) = mark else {
            let unmarked = |index: &usize| match &self.requests[*index].call.verb {
                Verb::Run { code, .. } => code.matches("say('the same')").count() as u32,
                // A click is never kept.
                Verb::Click { .. } => u32::from(of.len() == 1),
                Verb::Undo { .. } => UNDOS_MAX,
                _ => 0,
            };
            let behind: u32 =
                (0..self.requests.len()).filter(waits).map(|index| unmarked(&index)).sum();
            let most = of.iter().map(unmarked).max().unwrap_or(0) + behind;
            law!(most > 0, "`go` sends steps of the kept run only", "{invoke:?} of {of:?}");
            return Ok(most + idempotent);
        };
        let asked = self.runs.marks.get(&mark).map(|marked| marked.request);
        let known =
            asked.is_some_and(|asked| of.contains(&asked) || self.corrects(asked) || waits(&asked));
        law!(
            known,
            "`go` sends steps of the kept run only",
            "{invoke:?} of {asked:?}, kept were {of:?}"
        );
        // What only looks leaves nothing on disk: it may be sent again when the request comes
        // again.
        let looks = self.runs.marks.get(&mark).is_some_and(|marked| marked.only_looks);
        let comes_again =
            |request: &&Request| request.call.run_id == invoke.run_id && request.repeats.is_some();
        let again = self.requests.iter().filter(comes_again).count() as u32;
        Ok(1 + idempotent + if looks { again } else { 0 })
    }
}
