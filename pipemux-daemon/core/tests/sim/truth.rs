//! Whether answers tell the truth about what the apps really did.

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::report::StepStatus;

use crate::law::{Lawful, law};
use crate::places::READERS;
use crate::reading::{Heading, Shows, thing};
use crate::sim::Sim;

impl Sim {
    /// Whether an answer tells the truth.
    pub fn check_end(&mut self, index: usize, answer: &Result<Answer, Fault>) -> Lawful {
        let request = &self.requests[index];
        let exit = request.exit.unwrap_or_default();
        if format!("{answer:?}").contains("in quarantine") {
            self.figures.count("quarantined");
        }
        if let Some(first) = request.repeats {
            self.check_repeated(index, first)?;
        }
        let request = &self.requests[index];
        let own = matches!(request.call.verb, Verb::Run { .. });
        let run = request.call.run_id.as_str();
        let effects = |mark: &u64| self.runs.kept.effects(*mark, run);
        let tell = || format!("{:?} ended {exit}: {answer:?}", request.call.verb);
        if own {
            let took = request.marks.iter().filter(|mark| effects(mark) > 0).count();
            match exit {
                0 => law!(took == request.marks.len(), "done is done", "{took} of {}", tell()),
                2 | 3 | 4 | 6 | 9 => law!(took == 0, "no step took effect", "{took} of {}", tell()),
                _ => {}
            }
            let any = request.marks.iter().any(|mark| self.runs.kept.was_sent(*mark, run));
            law!(!any || !matches!(exit, 2 | 6 | 9), "nothing reached an app", "{}", tell());
        }
        // What was refused may be sent again.
        if own && matches!(exit, 2 | 3 | 4 | 6) {
            let said = format!("ended {exit}");
            let run = run.to_owned();
            let promises = request.marks.iter().map(|mark| (*mark, run.clone(), said.clone()));
            self.runs.promises.extend(promises);
        }
        if let Ok(Answer { body: Body::Report(report), .. }) = answer {
            for step in &report.steps {
                let Some(mark) = last_mark(&step.call) else { continue };
                let (sent, ever) = self.runs.kept.whole(mark);
                let Some(took) = self.took(index, mark) else { continue };
                let true_to_life = match step.status {
                    // A run that goes on tells what it did before, too.
                    StepStatus::Done => ever > 0,
                    StepStatus::Failed => took == 0,
                    StepStatus::Skipped => took == 0 || exit == 5,
                    // The daemon may ask before it is sent, and another request may have answered.
                    StepStatus::Needs => true,
                    StepStatus::Unknown => sent > 0,
                };
                law!(
                    true_to_life,
                    "a step's status is true",
                    "{step:?}: {took} effects of {ever}, sent {sent}\n{}",
                    tell()
                );
            }
        }
        self.check_stale(index, answer)
    }

    /// The windows under what was done show that, or something newer.
    pub fn check_shown(&self, index: usize, shows: &Shows) -> Lawful {
        let request = &self.requests[index];
        if request.exit != Some(0) || !matches!(request.call.verb, Verb::Run { .. }) {
            return Ok(());
        }
        for mark in &request.marks {
            let at = self.runs.kept.took_effect_at(*mark, &request.call.run_id);
            let Some((place, total)) = at else { continue };
            let name = &self.stores[&place].name;
            let of_it = |shown: &&Heading| shown.name == *name && !shown.busy;
            for shown in shows.headings.iter().filter(of_it) {
                law!(
                    shown.total >= total,
                    "an answer shows what its steps did",
                    "t{mark} was change {total} of {place:?}, {shown:?}"
                );
            }
        }
        Ok(())
    }

    /// How often a step took effect for the run that a request tells of; none when it isn't known which
    /// of several times that it was sent is meant.
    fn took(&self, index: usize, mark: u64) -> Option<u32> {
        let run = self.requests[index].call.run_id.as_str();
        let asked = &self.requests[self.runs.marks.get(&mark)?.request].call.run_id;
        let (sent, effects) = self.runs.kept.whole(mark);
        match self.runs.kept.was_sent(mark, run) || run == asked {
            true => Some(self.runs.kept.effects(mark, run)),
            // An answer goes on with the run that asked.
            // What another `go` has sent since is not of this one.
            false => (sent <= 1 && !self.runs.kept.was_sent_by_go(mark)).then_some(effects),
        }
    }

    /// What was answered is answered so again.
    fn check_repeated(&self, index: usize, first: usize) -> Lawful {
        let (again, before) = (&self.requests[index], &self.requests[first]);
        let (Some(exit), Some(was)) = (again.exit, before.exit) else { return Ok(()) };
        // Refused for want of room, nothing was begun, and it may be sent again.
        let excused =
            was == 9 || before.refused || again.refused || self.lossy || self.daemon.disk_full;
        law!(
            exit == was || excused,
            "what was answered is answered so again",
            "{was}, then {exit}: {:?}",
            again.call
        );
        Ok(())
    }

    /// A thing that is as its reader saw it is never stale.
    fn check_stale(&self, index: usize, answer: &Result<Answer, Fault>) -> Lawful {
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
            let saw = self.seen.may_mean(request.who, id, request.since);
            let Some(saw) = saw.first().filter(|saw| saw.at <= request.since) else { continue };
            let Some((of, rev)) =
                thing(&saw.what).filter(|_| saw.firm && saw.daemon == self.daemon.nth)
            else {
                continue;
            };
            let Some(place) = self.place_of(of) else { continue };
            let store = &self.stores[&place];
            let now = of.strip_prefix(store.name.as_str()).and_then(|key| store.note(key));
            let same = now.is_some_and(|note| format!("r{}", note.rev) == rev);
            law!(!same, "only what changed is stale", "obj:{id} is {:?} still", saw.what);
        }
        Ok(())
    }

    /// What was said not to have taken effect never did.
    pub fn check_promises(&self) -> Lawful {
        for (mark, run, said) in &self.runs.promises {
            let effects = self.runs.kept.effects(*mark, run);
            law!(effects == 0, "no step took effect", "t{mark} of {run} {said}, then did");
        }
        Ok(())
    }
}

/// The mark at the end of a call as it was written.
pub fn last_mark(call: &str) -> Option<u64> {
    call.strip_suffix("')")?.rsplit_once("mark='t")?.1.parse().ok()
}
