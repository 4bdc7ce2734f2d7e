//! Whether answers tell the truth about what the apps did.
//!
//! | law | why it must hold |
//! |---|---|
//! | a successful run took effect | exit status 0 promises that every step was done |
//! | a refused run took no effect | exit statuses 2, 3, 4, 6 and 9 promise it, so that the run may be sent again |
//! | a refused run was not sent | statuses 2, 6 and 9 promise more: nothing reached an app but calls that only look |
//! | a run without an effect ends with its error's own status | 1 would say that a part of it was done |
//! | a run that was lost after it was sent is unknown | exit status 6 would promise that a retry is safe |
//! | a step's status is true | agents decide by it what is left to do |
//! | an answer shows what its steps did | its reader acts on that window next |
//! | a repeated request gets the same exit status | it was carried out once |
//! | an unchanged thing is not stale | an agent would refresh for nothing |

use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, Fault};

use crate::answer_content::{Heading, ShownContent, thing};
use crate::law::{LawResult, law};
use crate::sessions::READERS;
use crate::sim::Sim;

impl Sim {
    /// Checks the end of a request against what the apps did.
    pub fn check_end(&mut self, index: usize, answer: &Result<Answer, Fault>) -> LawResult {
        let request = &self.requests[index];
        let exit = request.exit.unwrap_or_default();
        if format!("{answer:?}").contains("in quarantine") {
            self.statistics.count("quarantined");
        }
        if let Some(first) = request.repeats {
            self.check_repeated(index, first)?;
            if format!("{answer:?}").contains("doesn't remember any more") {
                self.statistics.count("repeated when forgotten");
            }
        }
        let request = &self.requests[index];
        let outdated = self.is_outdated(index);
        let own = matches!(request.call.verb, Verb::Run { .. }) && !outdated;
        let run = request.call.run_id.as_str();
        let effects = |mark: &u64| self.runs.kept.effects(*mark, run);
        let trace = || format!("{:?} ended {exit}: {answer:?}", request.call.verb);
        if own {
            let reached = request.marks.iter().filter(|mark| effects(mark) > 0).count();
            // A call inside another call's arguments only looks, which is no effect.
            let nested = |mark: &&u64| self.runs.marks.get(mark).is_some_and(|of| of.only_looks);
            let changing = || request.marks.iter().filter(|mark| !nested(mark));
            let took = changing().filter(|mark| effects(mark) > 0).count();
            match exit {
                0 => law!(
                    reached == request.marks.len(),
                    "a successful run took effect",
                    "{reached} of {}",
                    trace()
                ),
                1 => law!(
                    took > 0
                        || self.runs.kept.sent_under(run).any(|mark| mark.is_none())
                        || first_error(answer).is_none_or(|code| code.exit_status() == 1),
                    "a run without an effect ends with its error's own status",
                    "{}",
                    trace()
                ),
                2 | 3 | 4 | 6 | 9 => {
                    law!(took == 0, "a refused run took no effect", "{took} of {}", trace())
                }
                _ => {}
            }
            let any = changing()
                .any(|mark| self.runs.kept.was_sent(*mark, run) && !self.may_be_rebased(*mark));
            law!(!any || !matches!(exit, 2 | 6 | 9), "a refused run was not sent", "{}", trace());
        }
        if exit == 6 && request.acts() && request.repeats.is_none() {
            law!(
                !self.was_any_sent(run),
                "a run that was lost after it was sent is unknown",
                "{}",
                trace()
            );
        }
        // A refused run may be sent again, so its steps must not take effect later.
        let kept = answer.as_ref().is_ok_and(crate::kept_answers::keeps_rest)
            || request.repeats.is_some_and(|first| self.runs.kept.rests.contains(&first));
        if own && matches!(exit, 2 | 3 | 4 | 6) && !kept {
            let said = format!("ended {exit}");
            let run = run.to_owned();
            let nested = |mark: &&u64| self.runs.marks.get(mark).is_some_and(|of| of.only_looks);
            let changing = request.marks.iter().filter(|mark| !nested(mark));
            let promises = changing.map(|mark| (*mark, run.clone(), said.clone()));
            self.runs.promises.extend(promises);
        }
        if let Ok(Answer { body: Body::Report(report), .. }) = answer
            && !outdated
            && !self.reverts(index)
        {
            for step in &report.steps {
                let Some(mark) = last_mark(&step.call) else { continue };
                let (sent, ever) = self.runs.kept.whole(mark);
                let Some(took) = self.took(index, mark) else { continue };
                // What only looks may be done again: by another daemon when the request comes
                // again, by a `go` once more.
                let again = request.repeats.is_some()
                    || !self.runs.kept.was_sent(mark, &request.call.run_id);
                let before = again && self.runs.marks.get(&mark).is_some_and(|of| of.only_looks);
                let true_to_life = match step.status {
                    // A continued run also reports the steps that it did before.
                    StepStatus::Done => ever > 0,
                    StepStatus::Failed => took == 0 || before,
                    StepStatus::Skipped => took == 0 || before || exit == 5,
                    // The daemon may ask before the step is sent, and another request may have
                    // answered.
                    StepStatus::Needs => true,
                    StepStatus::Unknown => sent > 0,
                };
                law!(
                    true_to_life,
                    "a step's status is true",
                    "{step:?}: {took} effects of {ever}, sent {sent}\n{}",
                    trace()
                );
            }
        }
        self.check_stale(index, answer)
    }

    /// Checks that the windows in an answer show the effects of its steps, or something newer.
    pub fn check_shown(&self, index: usize, shows: &ShownContent) -> LawResult {
        let request = &self.requests[index];
        if request.exit != Some(0) || !matches!(request.call.verb, Verb::Run { .. }) {
            return Ok(());
        }
        for mark in &request.marks {
            let at = self.runs.kept.took_effect_at(*mark, &request.call.run_id);
            let Some((session_key, total)) = at else { continue };
            let name = &self.stores[&session_key].name;
            let of_it = |shown: &&Heading| shown.name == *name && !shown.busy;
            for shown in shows.headings.iter().filter(of_it) {
                law!(
                    shown.total >= total,
                    "an answer shows what its steps did",
                    "t{mark} was change {total} of {session_key:?}, {shown:?}"
                );
            }
        }
        Ok(())
    }

    /// Returns how often a step took effect for the run that a request reports; `None` when the
    /// step was sent several times and it is unknown which one is meant.
    fn took(&self, index: usize, mark: u64) -> Option<u32> {
        let run = self.requests[index].call.run_id.as_str();
        let asked = &self.requests[self.runs.marks.get(&mark)?.request].call.run_id;
        let (sent, effects) = self.runs.kept.whole(mark);
        match self.runs.kept.was_sent(mark, run) || run == asked {
            true => Some(self.runs.kept.effects(mark, run)),
            // The answer to a question continues the run that asked; steps of a later `go` don't
            // belong to it.
            false => (sent <= 1 && !self.runs.kept.was_sent_by_go(mark)).then_some(effects),
        }
    }

    /// Checks that a repeated request got the same exit status.
    fn check_repeated(&self, index: usize, first: usize) -> LawResult {
        let (again, before) = (&self.requests[index], &self.requests[first]);
        let (Some(exit), Some(was)) = (again.exit, before.exit) else { return Ok(()) };
        // A request that was refused for lack of room was not begun, so it may have another end
        // when it is repeated.
        let excused =
            was == 9 || before.refused || again.refused || self.lossy || self.daemon.disk_full;
        // Queries alone leave nothing on disk, so that a later daemon carries them out again.
        let looks = |mark: &u64| self.runs.marks.get(mark).is_some_and(|marked| marked.only_looks);
        let only_looks = !before.marks.is_empty() && before.marks.iter().all(looks);
        let excused = excused || (only_looks && before.daemon != again.daemon);
        law!(
            exit == was || excused,
            "a repeated request gets the same exit status",
            "{was}, then {exit}: {:?}",
            again.call
        );
        Ok(())
    }

    /// Checks that no ref was called stale whose thing is still as its reader saw it.
    fn check_stale(&self, index: usize, answer: &Result<Answer, Fault>) -> LawResult {
        let request = &self.requests[index];
        let Ok(Answer { body: Body::Text(said), .. }) = answer else { return Ok(()) };
        let own = matches!(request.call.verb, Verb::Run { .. } | Verb::Read { .. });
        let read_pinned =
            matches!(&request.call.verb, Verb::Read { target } if target.contains('@'));
        if !own || read_pinned || request.repeats.is_some() || request.call.at.is_some() {
            return Ok(());
        }
        let mark = "Anchor obj:";
        for (at, _) in said.match_indices(mark) {
            let rest = &said[at + mark.len()..];
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let Ok(id) = rest[..digits].parse::<u64>() else { continue };
            let pinned =
                request.marks.iter().filter_map(|mark| self.runs.marks.get(mark)).any(|marked| {
                    marked.refs.iter().any(|(_, means)| means.id == Some(id) && means.pin.is_some())
                });
            let strict = self.runs.strict.contains(&READERS[request.who].0);
            if !rest[digits..].starts_with(" is stale") || pinned || strict {
                continue;
            }
            let saw = self.knowledge.may_mean(request.who, id, request.since);
            let Some(saw) = saw.first().filter(|saw| saw.at <= request.since) else { continue };
            let Some((of, rev)) =
                thing(&saw.what).filter(|_| saw.immediate && saw.daemon == self.daemon.nth)
            else {
                continue;
            };
            let Some(session_key) = self.session_key_of(of) else { continue };
            let store = &self.stores[&session_key];
            let now = of.strip_prefix(store.name.as_str()).and_then(|key| store.note(key));
            let same = now.is_some_and(|note| format!("r{}", note.rev) == rev);
            law!(!same, "an unchanged thing is not stale", "obj:{id} is {:?} still", saw.what);
        }
        Ok(())
    }

    /// Checks, at the end, that steps which were reported as not done never took effect.
    pub fn check_promises(&self) -> LawResult {
        // A refusal that no disk has is forgotten with its daemon: the same request is a new one to
        // the next.
        let comes_again = |run: &str| {
            let mut again = self.requests.iter().filter(|r| r.repeats.is_some());
            again.any(|request| request.call.run_id == run)
        };
        for (mark, run, said) in &self.runs.promises {
            if self.lossy && comes_again(run) {
                continue;
            }
            let effects = self.runs.kept.effects(*mark, run);
            law!(effects == 0, "a refused run took no effect", "t{mark} of {run} {said}, then did");
        }
        Ok(())
    }
}

/// Returns the mark at the end of a call.
pub fn last_mark(call: &str) -> Option<u64> {
    call.strip_suffix("')")?.rsplit_once("mark='t")?.1.parse().ok()
}

/// Returns the code of the first error among the steps of an answer with data.
fn first_error(answer: &Result<Answer, Fault>) -> Option<Code> {
    let Ok(Answer { body: Body::Report(report), .. }) = answer else { return None };
    report.steps.iter().find_map(|step| Some(step.error.as_ref()?.code))
}
