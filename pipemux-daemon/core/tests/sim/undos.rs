//! `undo`: rounds that are taken back. What an app offers to take a step back with says which
//! change it is, so each step that an undo sends is compared with the effects that the steps of
//! runs had.
//!
//! | law | why it must hold |
//! |---|---|
//! | an undo takes back steps of one round | its reader named that round, or the newest one |
//! | an undo goes from the newest step to the oldest | a step may have used what an earlier one made |
//! | an undo leaves out no step between others | half of what was done together would stay |
//! | a step is undone once, unless its undo is undone | a second time it would take back something else |
//! | an undo that stops makes again all that it took back | a round is undone whole or not at all |
//! | what was taken back last is made again first | as for an undo |
//! | a refused undo changed nothing | exit statuses 2, 3, 4, 6 and 9 promise it |

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::Value;
use pipemux_proto::app::Invoke;
use pipemux_proto::client::Verb;
use pipemux_proto::projection::Arg;

use crate::law::{LawResult, law};
use crate::runs::mark_of;
use crate::sessions::SessionKey;
use crate::sim::Sim;
use crate::store::offers_undo;

/// A change that a step made.
#[derive(Debug)]
struct Effect {
    run_id: String,
    /// What its app offers to take it back with: `undo c1 at 7`.
    undo: String,
    /// The mark of the step, if it has one.
    mark: Option<u64>,
}

#[derive(Debug, Default)]
pub struct Undos {
    /// The changes of all steps, oldest first.
    effects: Vec<Effect>,
    /// The changes that each undo was sent for, in order, by its run id.
    sent: BTreeMap<String, Vec<usize>>,
    /// How many of them each undo made again, since it could not go on, and which of its own
    /// changes it took back last.
    made_again: BTreeMap<String, (usize, usize)>,
    /// The changes of steps that were carried out again.
    repeated: BTreeSet<usize>,
    /// The changes that are known to have been taken back.
    undone: BTreeSet<usize>,
}

impl Undos {
    /// Rounds that were shown may not be on disk, nor what was taken back.
    pub fn forget_all(&mut self) {
        self.undone.clear();
    }
}

impl Sim {
    /// True for an undo, and for a `go` that sends one again.
    pub fn reverts(&self, index: usize) -> bool {
        let undoes = |index: &usize| matches!(self.requests[*index].call.verb, Verb::Undo { .. });
        let run_id = &self.requests[index].call.run_id;
        undoes(&index) || self.runs.kept.sent_again_by(run_id).iter().any(undoes)
    }

    /// Notes a change that a step made.
    pub fn note_change(&mut self, session_key: SessionKey, invoke: &Invoke) {
        if matches!(invoke.action.as_str(), "text" | "list") {
            return;
        }
        let store = &self.stores[&session_key];
        let undo = format!("undo {} at {}", store.name, store.total);
        let mark = mark_of(invoke);
        // A step that may be repeated is sent again when its process was lost: of what the first
        // one did nobody knows.
        let is_same = |effect: &Effect| effect.run_id == invoke.run_id && effect.mark == mark;
        if mark.is_some() {
            let again = self.undos.effects.iter().enumerate().filter(|(_, effect)| is_same(effect));
            self.undos.repeated.extend(again.map(|(at, _)| at));
        }
        self.undos.effects.push(Effect { run_id: invoke.run_id.clone(), undo, mark });
    }

    /// Returns which of its own changes a step of an undo takes back, counted from 0: the undo
    /// can't go on.
    pub fn puts_back(&self, invoke: &Invoke) -> Option<usize> {
        let text = text_of(invoke)?;
        self.own_changes(&invoke.run_id).position(|effect| effect.undo == text)
    }

    fn own_changes(&self, run_id: &str) -> impl Iterator<Item = &Effect> {
        self.undos.effects.iter().filter(move |effect| effect.run_id == run_id)
    }

    /// Checks a step that an undo sends.
    pub fn check_undo(&mut self, index: usize, invoke: &Invoke) -> LawResult {
        if !self.reverts(index) {
            return Ok(());
        }
        if let Some(which) = self.puts_back(invoke) {
            let sent = self.undos.sent.get(&invoke.run_id).map_or(0, Vec::len);
            // The step that could not be taken back was sent, or its session could not be reached.
            let again = self.undos.made_again.entry(invoke.run_id.clone()).or_insert((0, sent));
            law!(
                which < again.1,
                "what was taken back last is made again first",
                "{which} behind {again:?} of {sent}, by {invoke:?}"
            );
            *again = (again.0 + 1, which);
            self.statistics.count("undo put back");
            return Ok(());
        }
        let text = text_of(invoke);
        // It isn't known which run a `go` sends again when a client vanished: it may be another
        // than the undo.
        let undoes = text.as_ref().is_some_and(|text| text.starts_with("undo "));
        if !undoes && !matches!(self.requests[index].call.verb, Verb::Undo { .. }) {
            return Ok(());
        }
        let undos = &mut self.undos;
        let change = undos.effects.iter().rposition(|effect| text.as_ref() == Some(&effect.undo));
        let Some(change) = change else {
            law!(false, "an undo takes back steps of one round", "{invoke:?}");
            return Ok(());
        };
        law!(!undos.undone.contains(&change), "a step is undone once", "{text:?} by {invoke:?}");
        let sent = undos.sent.entry(invoke.run_id.clone()).or_default();
        if let Some(before) = sent.last().copied() {
            let (one, other) = (&undos.effects[before], &undos.effects[change]);
            law!(
                one.run_id == other.run_id,
                "an undo takes back steps of one round",
                "{one:?} and {other:?} by {invoke:?}"
            );
            law!(
                change < before,
                "an undo goes from the newest step to the oldest",
                "{one:?} and then {other:?} by {invoke:?}"
            );
            let between = change + 1..before;
            let left_out = between.into_iter().find(|at| {
                let effect = &undos.effects[*at];
                effect.run_id == one.run_id
                    && is_offered(&effect.undo)
                    && !undos.undone.contains(at)
                    && !undos.repeated.contains(at)
            });
            law!(
                left_out.is_none(),
                "an undo leaves out no step between others",
                "{:?} by {invoke:?}",
                left_out.map(|at| &undos.effects[at])
            );
        }
        if !sent.is_empty() {
            self.statistics.count("undo went on");
        }
        sent.push(change);
        self.statistics.count("undo sent");
        Ok(())
    }

    /// Takes in the end of an undo.
    pub fn check_undone(&mut self, index: usize) -> LawResult {
        if !self.reverts(index) {
            return Ok(());
        }
        let request = &self.requests[index];
        let (run_id, exit) = (&request.call.run_id, request.exit.unwrap_or_default());
        let effects = self.runs.kept.unmarked_effects(run_id);
        if matches!(exit, 2 | 3 | 4 | 6 | 9) {
            law!(
                effects == 0,
                "a refused undo changed nothing",
                "{run_id} ended {exit}: {effects}"
            );
        }
        let sent = self.undos.sent.get(run_id).map_or(&[][..], Vec::as_slice);
        // A step was done when the next one was sent.
        let done =
            if exit == 0 { sent } else { sent.split_last().map_or(&[][..], |(_, done)| done) };
        // A daemon that ends sends no app another step: what was taken back stays so, and the
        // answer names it.
        let lost = self.lossy || self.daemon.disk_full || self.daemon.stopping;
        let again = self.undos.made_again.get(run_id).map(|(count, _)| *count);
        let offered = self.own_changes(run_id).all(|effect| is_offered(&effect.undo));
        // One of which a process is lost ends it.
        law!(
            exit != 1 || lost || done.is_empty() || again.is_some() || !offered,
            "an undo that stops makes again all that it took back",
            "{run_id}: {done:?}"
        );
        let left = done.len().saturating_sub(again.unwrap_or(0));
        let done: Vec<usize> = done.iter().copied().take(left).filter(|_| !lost).collect();
        // What an undo took back is made again once the undo is taken back, and can be taken back
        // again.
        for change in &done {
            let made_again = self.undos.sent.get(&self.undos.effects[*change].run_id);
            for change in made_again.into_iter().flatten() {
                self.undos.undone.remove(change);
            }
        }
        self.undos.undone.extend(done);
        self.statistics.count(format!("undone, {exit}"));
        Ok(())
    }
}

/// True for a change that its app offered to take back.
fn is_offered(undo: &str) -> bool {
    let total = undo.rsplit(' ').next().and_then(|total| total.parse::<u64>().ok());
    total.is_some_and(offers_undo)
}

/// Returns the text that is said.
pub fn text_of(invoke: &Invoke) -> Option<String> {
    let Some(Arg::Value(text)) = invoke.args.get("text") else { return None };
    text.to_value().ok().as_ref().and_then(Value::as_str).map(str::to_owned)
}
