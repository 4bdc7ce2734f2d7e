//! Idempotency of acting requests: each is remembered with its answer, so that one sent again isn't
//! carried out twice.
//!
//! A request is known by its workspace, its reader and the id that the client gave it, so no reader
//! forgets one because another is busy. It is remembered for [`RECORDS_MS`], unless its reader
//! sends more than [`READER_RECORDS_MAX`] or all readers more than [`RECORDS_MAX`] in that time.
//! Then the oldest make room, by the times in their ids.
//!
//! **Invariant: a request whose id has a time is never carried out twice.** It is known, or its id
//! is newer than all that was forgotten; otherwise it isn't carried out, and its outcome is
//! unknown.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use pipemux_proto::Code;
use pipemux_proto::client::{Answer, Body, VerbRequest};
use pipemux_proto::run_id::time_of;

use crate::keys::WorkspaceKey;
use crate::limits::{
    CLOCK_AHEAD_MS, READER_RECORDS_MAX, RECORDS_BYTES_MAX, RECORDS_MAX, RECORDS_MS,
};
use crate::persist::records::{Record, SavedAct, SavedRound};

/// A workspace and one of its readers; `None` for requests that an earlier release recorded without
/// them.
type Owner = Option<(WorkspaceKey, Rc<str>)>;
/// The position of an answered request in chronological order: its time, and a number that makes it
/// unique.
type Age = (u64, u64);

/// The key by which an acting request is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActKey {
    owner: Owner,
    run_id: Rc<str>,
}

impl ActKey {
    /// Returns what a request is known by.
    pub fn of(call: &VerbRequest) -> Self {
        Self::in_workspace(call.workspace.key.as_str().into(), call)
    }

    /// Returns the same, with the key of the request's workspace as the core has it.
    pub fn in_workspace(workspace: WorkspaceKey, call: &VerbRequest) -> Self {
        let owner = Some((workspace, call.reader.as_str().into()));
        Self { owner, run_id: call.run_id.as_str().into() }
    }

    /// Returns the key of a record; one without a workspace is of an earlier release.
    pub fn saved(workspace: Option<String>, reader: Option<String>, run_id: &str) -> Self {
        let owner = workspace.map(|key| (key.into(), reader.unwrap_or_default().into()));
        Self { owner, run_id: run_id.into() }
    }

    /// Returns the record of a started request. `at` is the present in milliseconds since 1970,
    /// `round` is the round that the run becomes if the daemon crashes.
    pub fn begun(&self, at: u64, round: Option<SavedRound>) -> Record {
        let (workspace, reader) = names(&self.owner);
        let unix_ms = time_of(&self.run_id).unwrap_or(at);
        let (run_id, round) = ((*self.run_id).to_owned(), round.map(Box::new));
        Record::Begun { run_id, workspace, reader, unix_ms, round }
    }

    /// The record of the steps that the request's run did since the last record.
    pub fn progressed(&self, round: SavedRound) -> Record {
        let (workspace, reader) = names(&self.owner);
        let (run_id, round) = ((*self.run_id).to_owned(), Box::new(round));
        Record::Progressed { run_id, workspace, reader, round }
    }

    /// The record of the request's answer.
    pub fn answered(&self, exit: u8) -> Record {
        let (workspace, reader) = names(&self.owner);
        Record::Answered { run_id: (*self.run_id).to_owned(), workspace, reader, exit }
    }
}

fn names(owner: &Owner) -> (Option<String>, Option<String>) {
    let name = |name: &Rc<str>| (**name).to_owned();
    (owner.as_ref().map(|(key, _)| name(key)), owner.as_ref().map(|(_, reader)| name(reader)))
}

/// The state of a request that arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// The request was never started.
    New,
    Running,
    /// The request was already answered with this.
    Answered(Answer),
    /// The request's id is this many milliseconds old, no newer than ids that were forgotten: the
    /// request may have been carried out already.
    Forgotten(u64),
    /// The id is this many milliseconds ahead of the daemon's clock.
    Ahead(u64),
}

/// The progress of a request.
#[derive(Debug)]
enum Progress {
    Running,
    /// The daemon crashed while the request ran.
    Lost,
    /// The exit status, and the answer as long as there is space for it.
    Ended(u8, Option<Box<Answer>>),
}

#[derive(Debug)]
struct Act {
    age: Age,
    progress: Progress,
}

/// The acting requests of one reader of a workspace.
#[derive(Debug, Default)]
struct ReaderActs {
    acts: HashMap<Rc<str>, Act>,
    /// The requests that aren't running, oldest first.
    order: BTreeMap<Age, Rc<str>>,
    /// The newest time in the ids of forgotten requests.
    forgotten_to: u64,
}

/// The acting requests of the last hour.
#[derive(Debug, Default)]
pub struct IdempotencyRecords {
    readers: HashMap<Owner, ReaderActs>,
    /// All requests that aren't running, oldest first.
    order: BTreeMap<Age, Owner>,
    /// The requests in `order` whose answers are kept.
    with_answers: BTreeSet<Age>,
    bytes: usize,
    /// As in `ReaderActs`, for readers that no longer have an entry.
    forgotten_to: u64,
    last_number: u64,
}

impl IdempotencyRecords {
    fn size(answer: &Answer) -> usize {
        match &answer.body {
            Body::Text(text) => text.len(),
            Body::Raw(bytes) => bytes.len(),
            Body::Report(report) => report.windows.iter().map(|w| w.content.len()).sum(),
            Body::Data(_) | Body::Events(_) | Body::Log(_) => 64,
        }
    }

    /// Returns what is known of a request; `now` is the present in milliseconds since 1970.
    pub fn get(&self, key: &ActKey, now: u64) -> Known {
        let reader = self.readers.get(&key.owner);
        let own = reader.and_then(|reader| reader.acts.get(&key.run_id));
        let early = || self.readers.get(&None)?.acts.get(&key.run_id);
        if let Some(act) = own.or_else(early) {
            return match &act.progress {
                Progress::Running => Known::Running,
                Progress::Lost => Known::Answered(lost_answer()),
                Progress::Ended(_, Some(answer)) => Known::Answered((**answer).clone()),
                Progress::Ended(exit, None) => Known::Answered(answered_before(*exit)),
            };
        }
        let Some(time) = time_of(&key.run_id) else { return Known::New };
        let forgotten_to = reader.map_or(0, |reader| reader.forgotten_to).max(self.forgotten_to);
        match time {
            _ if time <= forgotten_to => Known::Forgotten(now.saturating_sub(time)),
            _ if time > now.saturating_add(CLOCK_AHEAD_MS) => Known::Ahead(time - now),
            _ => Known::New,
        }
    }

    /// Remembers that a request runs.
    pub fn begin(&mut self, key: &ActKey, now: u64) {
        self.put(key, time_of(&key.run_id).unwrap_or(now), Progress::Running);
    }

    /// Remembers a request's answer, and makes room.
    pub fn end(&mut self, key: &ActKey, answer: Answer, now: u64) {
        let time = time_of(&key.run_id).unwrap_or(now);
        self.put(key, time, Progress::Ended(answer.exit, Some(Box::new(answer))));
        self.make_room(&key.owner, now.saturating_sub(RECORDS_MS));
    }

    /// Forgets a request that was refused before anything came of it.
    pub fn forget(&mut self, key: &ActKey) {
        self.take(key);
    }

    /// Refuses unknown requests whose id is this old or older, because their records may be lost.
    /// Known records stay.
    pub fn lost_to(&mut self, unix_ms: u64) {
        self.forgotten_to = self.forgotten_to.max(unix_ms);
    }

    /// Gives requests that an earlier release recorded without a time the present one.
    pub fn date_undated(&mut self, now: u64) {
        let undated: Vec<Age> = self.order.range(..(1, 0)).map(|(age, _)| *age).collect();
        for age in undated {
            let Some(owner) = self.order.remove(&age) else { continue };
            let Some(reader) = self.readers.get_mut(&owner) else { continue };
            let Some(run_id) = reader.order.remove(&age) else { continue };
            let dated = (now, age.1);
            if let Some(act) = reader.acts.get_mut(&run_id) {
                act.age = dated;
            }
            reader.order.insert(dated, run_id);
            self.order.insert(dated, owner);
        }
    }

    /// Restores a request that an earlier daemon recorded, so that it isn't carried out twice. The
    /// text of its answer is lost. `exit` is `None` if it had no answer.
    pub fn restore(&mut self, key: &ActKey, unix_ms: u64, exit: Option<u8>) {
        let known = self.readers.get(&key.owner).and_then(|reader| reader.acts.get(&key.run_id));
        let time = known.map_or(unix_ms, |act| act.age.0);
        let progress = exit.map_or(Progress::Lost, |exit| Progress::Ended(exit, None));
        self.put(key, time, progress);
        self.make_room(&key.owner, 0);
    }

    /// Takes in how far requests of a reader, or with none of any reader, were forgotten.
    pub fn restore_forgotten(&mut self, owner: Option<(String, String)>, forgotten_to: u64) {
        let own = match owner {
            None => &mut self.forgotten_to,
            Some((workspace, reader)) => {
                let owner = Some((workspace.into(), reader.into()));
                &mut self.readers.entry(owner).or_default().forgotten_to
            }
        };
        *own = forgotten_to.max(*own);
    }

    /// Returns the records that restore these requests.
    pub fn to_saved(&self) -> Vec<Record> {
        let mut owners: Vec<_> = self.readers.iter().collect();
        owners.sort_unstable_by_key(|(owner, _)| *owner);
        let mut saved = Vec::new();
        if self.forgotten_to > 0 {
            saved.push(acts_record(&None, self.forgotten_to, Vec::new()));
        }
        for (owner, reader) in owners {
            let mut acts: Vec<_> = reader.acts.iter().collect();
            acts.sort_unstable_by_key(|(_, act)| act.age);
            let mut acts: Vec<SavedAct> = acts.into_iter().map(saved_act).collect();
            let mut first = true;
            while std::mem::take(&mut first) || !acts.is_empty() {
                let rest = acts.split_off(acts.len().min(ACTS_A_RECORD));
                saved.push(acts_record(owner, reader.forgotten_to, acts));
                acts = rest;
            }
        }
        saved
    }

    fn put(&mut self, key: &ActKey, time: u64, progress: Progress) {
        self.last_number += 1;
        let age = (time, self.last_number);
        if let Progress::Ended(_, Some(answer)) = &progress {
            self.bytes += Self::size(answer);
            self.with_answers.insert(age);
        }
        let reader = self.readers.entry(key.owner.clone()).or_default();
        if !matches!(progress, Progress::Running) {
            self.order.insert(age, key.owner.clone());
            reader.order.insert(age, key.run_id.clone());
        }
        if let Some(before) = reader.acts.insert(key.run_id.clone(), Act { age, progress }) {
            reader.order.remove(&before.age);
            self.drop_order(&before);
        }
    }

    fn take(&mut self, key: &ActKey) {
        let Some(reader) = self.readers.get_mut(&key.owner) else { return };
        let Some(act) = reader.acts.remove(&key.run_id) else { return };
        reader.order.remove(&act.age);
        if reader.acts.is_empty() {
            self.forgotten_to = self.forgotten_to.max(reader.forgotten_to);
            self.readers.remove(&key.owner);
        }
        self.drop_order(&act);
    }

    /// Drops what is kept of a request beside its reader's requests.
    fn drop_order(&mut self, act: &Act) {
        self.order.remove(&act.age);
        self.with_answers.remove(&act.age);
        if let Progress::Ended(_, Some(answer)) = &act.progress {
            self.bytes -= Self::size(answer);
        }
    }

    /// Forgets requests older than `expired`, and the oldest ones beyond a bound. Running requests
    /// stay, since a retry must not run them again.
    fn make_room(&mut self, newest: &Owner, expired: u64) {
        while self.bytes > RECORDS_BYTES_MAX
            && let Some(age) = self.with_answers.pop_first()
        {
            self.drop_answer(age);
        }
        while let Some((age, owner)) = self.order.first_key_value()
            && (age.0 < expired || self.order.len() > RECORDS_MAX)
        {
            let (age, owner) = (*age, owner.clone());
            if !self.forget_oldest(&owner) {
                self.order.remove(&age);
            }
        }
        let count = |all: &Self| all.readers.get(newest).map_or(0, |reader| reader.order.len());
        while count(self) > READER_RECORDS_MAX && self.forget_oldest(newest) {}
    }

    /// Forgets the oldest request of a reader; false when it has none.
    fn forget_oldest(&mut self, owner: &Owner) -> bool {
        let Some(reader) = self.readers.get_mut(owner) else { return false };
        let Some(run_id) = reader.order.first_key_value().map(|(_, id)| id.clone()) else {
            return false;
        };
        let time = time_of(&run_id).unwrap_or(0);
        let forgotten_to = match owner {
            Some(_) => &mut reader.forgotten_to,
            None => &mut self.forgotten_to,
        };
        *forgotten_to = time.max(*forgotten_to);
        self.take(&ActKey { owner: owner.clone(), run_id });
        true
    }

    fn drop_answer(&mut self, age: Age) {
        let owner = self.order.get(&age);
        let Some(reader) = owner.and_then(|owner| self.readers.get_mut(owner)) else { return };
        let run_id = reader.order.get(&age);
        let Some(act) = run_id.and_then(|id| reader.acts.get_mut(id)) else { return };
        if let Progress::Ended(_, answer) = &mut act.progress
            && let Some(answer) = answer.take()
        {
            self.bytes -= Self::size(&answer);
        }
    }
}

/// The most requests in one record of a snapshot, which keeps records small.
const ACTS_A_RECORD: usize = 256;

fn acts_record(owner: &Owner, forgotten_to: u64, acts: Vec<SavedAct>) -> Record {
    let (workspace, reader) = names(owner);
    Record::Acts { workspace, reader, forgotten_to, acts }
}

fn saved_act((run_id, act): (&Rc<str>, &Act)) -> SavedAct {
    let exit = match &act.progress {
        Progress::Ended(exit, _) if *exit != Code::Unknown.exit_status() => Some(*exit),
        Progress::Running | Progress::Lost | Progress::Ended(..) => None,
    };
    SavedAct { run_id: run_id.to_string(), unix_ms: act.age.0, exit }
}

fn answered_before(exit: u8) -> Answer {
    let text = format!("this was answered before (exit {exit}) · pipemux history\n");
    Answer { exit, body: Body::Text(text), delivery: 0, error: false }
}

fn lost_answer() -> Answer {
    let text = "unknown · the daemon was lost while this was carried out; it may or may not have \
                taken effect\nnext: pipemux view\n";
    let exit = Code::Unknown.exit_status();
    Answer { exit, body: Body::Text(text.to_owned()), delivery: 0, error: false }
}

#[cfg(test)]
mod tests;
