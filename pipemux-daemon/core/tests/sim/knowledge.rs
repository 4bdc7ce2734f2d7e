//! What each reader was shown and has confirmed, and the laws of ids and epochs.
//!
//! | law | why it must hold |
//! |---|---|
//! | an id never changes its meaning | an agent may use an id long after it was shown, also with a later daemon |
//! | ids only rise | an id below the highest one may have been used before |
//! | a thing keeps its id | what an agent learned must stay usable; links are forgotten after `VANISHED_EPOCHS` |
//! | epochs never go back | a pin to an epoch would mean another state, also after daemon loss |
//! | an epoch shows one state of a thing | a pinned ref means what its epoch showed |

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pipemux_core::limits::{DELIVERIES_MAX, VANISHED_EPOCHS};
use pipemux_core::saved::Record;
use pipemux_proto::client::Verb;

use crate::action::{Pick, ReaderIndex};
use crate::answer_content::{Heading, ShownContent, thing};
use crate::law::{LawResult, law};
use crate::sessions::{READERS, SessionKey, WORKSPACES};
use crate::sim::Sim;

/// Something that a reader was shown and has confirmed.
#[derive(Debug, Clone)]
pub struct Confirmed<T> {
    /// The clock of confirmations when it was confirmed.
    pub at: u64,
    pub epoch: u64,
    pub what: T,
    /// True when it was confirmed right after its answer, on the same connection.
    pub immediate: bool,
    pub daemon: u32,
}

/// What the readers of all workspaces were shown.
#[derive(Debug, Default)]
pub struct ReaderKnowledge {
    /// What each id stands for, by workspace and id.
    stands_for: BTreeMap<(usize, u64), String>,
    /// The id of each thing and when it was last shown, by workspace and thing.
    ids: BTreeMap<(usize, String), (u64, u64)>,
    /// The highest id that was shown or persisted, by workspace.
    highest: BTreeMap<usize, u64>,
    /// The newest epoch and the number of epochs that were issued, by workspace.
    epochs: BTreeMap<usize, (u64, u64)>,
    /// The label that an epoch showed for an id, by workspace, id and epoch.
    pins: BTreeMap<(usize, u64), BTreeMap<u64, String>>,
    /// The newest label and its epoch, by reader and id.
    pub shown: BTreeMap<(ReaderIndex, u64), (String, u64)>,
    confirmed: BTreeMap<(ReaderIndex, u64), Vec<Confirmed<String>>>,
    headings: BTreeMap<(ReaderIndex, String), Vec<Confirmed<Heading>>>,
    /// When each session was last ended for good.
    ended: BTreeMap<SessionKey, u64>,
    /// Answers that will be confirmed late.
    pub waiting: Vec<(ReaderIndex, u64, ShownContent, u32)>,
    /// Answers whose confirmation is in flight.
    pub confirming: Vec<(ReaderIndex, u64, ShownContent, bool)>,
    /// The newest delivery of each reader, and those that can still be confirmed.
    deliveries: BTreeMap<ReaderIndex, (u64, VecDeque<u64>)>,
    clock: u64,
    /// True once the daemon was lost while the disk was full: numbers that were shown may come
    /// again.
    pub lost: bool,
}

impl ReaderKnowledge {
    pub fn now(&self) -> u64 {
        self.clock
    }

    pub fn lose_daemon(&mut self) {
        self.waiting.clear();
        self.confirming.clear();
        self.deliveries.clear();
    }

    /// An answer was delivered. The daemon remembers a limited number of them for confirmation.
    pub fn deliver(&mut self, who: ReaderIndex, delivery: u64) {
        let (newest, wait) = self.deliveries.entry(who).or_default();
        if delivery > *newest {
            *newest = delivery;
            wait.push_back(delivery);
            if wait.len() > DELIVERIES_MAX {
                wait.pop_front();
            }
        }
    }

    /// True while a delivery can be confirmed: newer ones haven't pushed it out.
    pub fn is_remembered(&self, delivery: u64) -> bool {
        // Answers to clients that have vanished aren't seen here, but they have numbers and push
        // others out.
        let newest = self.deliveries.values().map(|(newest, _)| *newest).max().unwrap_or(0);
        let may_be_out = newest.saturating_sub(delivery) >= DELIVERIES_MAX as u64;
        !may_be_out && self.deliveries.values().any(|(_, wait)| wait.contains(&delivery))
    }

    /// A session is being ended for good: the same keys stand for new things afterwards.
    pub fn forget(&mut self, session_key: SessionKey, name: &str) {
        self.ids.retain(|(_, thing), _| {
            !thing.split(' ').any(|variant_name| is_of(variant_name, name))
        });
        // A run that is under way may still mean the old ones.
        self.ended.insert(session_key, self.clock);
    }

    /// The daemon was lost while the disk was full: numbers that were shown may come again.
    pub fn lose_all(&mut self) {
        *self = Self { clock: self.clock, lost: true, ..Self::default() };
    }

    /// Returns the newest state of an id that a reader had confirmed at a time, and all states
    /// confirmed since.
    pub fn may_mean(&self, who: ReaderIndex, id: u64, since: u64) -> Vec<&Confirmed<String>> {
        newest_and_since(self.confirmed.get(&(who, id)), since)
    }

    /// Returns the same of a window, including what was confirmed before its session ended.
    pub fn windows(&self, who: ReaderIndex, addr: &str, since: u64) -> Vec<&Confirmed<Heading>> {
        newest_and_since(self.headings.get(&(who, addr.to_owned())), since)
    }

    /// Returns the same of a window since its session last ended.
    pub fn live_windows(
        &self,
        who: ReaderIndex,
        addr: &str,
        since: u64,
    ) -> Vec<&Confirmed<Heading>> {
        let session_key = SessionKey::of(READERS[who].0, addr);
        let ended = session_key
            .and_then(|session_key| self.ended.get(&session_key))
            .copied()
            .unwrap_or_default();
        let mut saw = self.windows(who, addr, since);
        saw.retain(|saw| saw.at > ended);
        saw
    }

    pub fn pinned(&self, workspace: usize, id: u64, epoch: u64) -> Option<&String> {
        self.pins.get(&(workspace, id))?.get(&epoch)
    }

    pub fn identity(&self, workspace: usize, id: u64) -> Option<&String> {
        self.stands_for.get(&(workspace, id))
    }

    /// Chooses a thing that a reader was shown: its id, label and epoch.
    pub fn some_thing(&self, who: ReaderIndex, pick: Pick) -> Option<(u64, String, u64)> {
        let things = self.shown.range((who, 0)..=(who, u64::MAX));
        let things = things.filter(|(_, (label, _))| thing(label).is_some());
        // The newest things are more likely to exist still.
        let mut all: Vec<_> =
            things.map(|((_, id), (label, epoch))| (*id, label, *epoch)).collect();
        all.sort_by_key(|(id, _, epoch)| (u64::MAX - epoch, *id));
        let within = if pick.is_multiple_of(4) { all.len() } else { all.len().min(8) };
        let (id, label, epoch) = all.get(usize::from(pick / 4).checked_rem(within)?)?;
        Some((*id, (*label).clone(), *epoch))
    }

    /// Chooses a link that a reader was shown.
    pub fn some_link(&self, who: ReaderIndex, pick: Pick) -> Option<(u64, String)> {
        let links = self.shown.range((who, 0)..=(who, u64::MAX));
        let links = links.filter(|(_, (label, _))| thing(label).is_none());
        let mut all: Vec<_> = links.map(|((_, id), (label, epoch))| (*id, label, *epoch)).collect();
        all.sort_by_key(|(id, _, epoch)| (u64::MAX - epoch, *id));
        let within = if pick.is_multiple_of(4) { all.len() } else { all.len().min(10) };
        let (id, label, _) = all.get(usize::from(pick / 4).checked_rem(within)?)?;
        Some((*id, (*label).clone()))
    }

    /// Chooses an id that any reader of a workspace was shown.
    pub fn some_id(&self, workspace: usize, pick: Pick) -> Option<u64> {
        let all: Vec<u64> = self
            .stands_for
            .range((workspace, 0)..=(workspace, u64::MAX))
            .map(|((_, id), _)| *id)
            .collect();
        all.get(usize::from(pick).checked_rem(all.len())?).copied()
    }

    /// Chooses an epoch near a workspace's newest one, sometimes one that was not issued yet.
    pub fn some_epoch(&self, workspace: usize, pick: Pick) -> Option<u64> {
        let (newest, _) = self.epochs.get(&workspace)?;
        Some((newest + 2).saturating_sub(u64::from(pick) % 12))
    }

    /// Checks the ids of a record that is being persisted.
    pub fn record(&mut self, record: &Record) -> LawResult {
        let Record::Anchors { workspace, anchors } = record else { return Ok(()) };
        let Some(workspace) = WORKSPACES.iter().position(|name| workspace[1..] == **name) else {
            return Ok(());
        };
        let highest = self.highest.entry(workspace).or_default();
        let lowest = anchors.iter().map(|anchor| anchor.id).min().unwrap_or(u64::MAX);
        law!(lowest > *highest, "ids only rise", "{lowest} is minted after {highest}");
        *highest = anchors.iter().map(|anchor| anchor.id).fold(*highest, u64::max);
        Ok(())
    }

    /// Takes in an epoch that was shown. Returns the number of epochs that were issued so far.
    fn epoch(&mut self, workspace: usize, epoch: u64) -> LawResult<u64> {
        let (newest, issued) = self.epochs.entry(workspace).or_default();
        law!(epoch >= *newest, "epochs never go back", "e{epoch} after e{newest}");
        // A new daemon leaves a gap, which doesn't count as issued.
        *issued += (epoch - *newest).min(8);
        *newest = epoch;
        Ok(*issued)
    }

    /// Takes in what an answer shows.
    pub fn learn(
        &mut self,
        workspace: usize,
        shows: &ShownContent,
        asked: Option<&str>,
    ) -> LawResult {
        let issued = match shows.epoch {
            Some(epoch) => self.epoch(workspace, epoch)?,
            None => 0,
        };
        let mut own = BTreeSet::new();
        for (now, (kind, id, label)) in
            shows.anchors.iter().map(|a| (true, a)).chain(shows.gone.iter().map(|a| (false, a)))
        {
            let identity = match thing(label) {
                Some((thing, _)) if kind == "obj" => thing.to_owned(),
                _ if is_answer(label) => match asked {
                    Some(asked) => format!("{label} of {asked}"),
                    None => continue,
                },
                _ => label.clone(),
            };
            let stood = self.stands_for.entry((workspace, *id)).or_insert_with(|| identity.clone());
            law!(
                *stood == identity,
                "an id never changes its meaning",
                "{kind}:{id} of {} was {stood:?}, is {identity:?}",
                WORKSPACES[workspace]
            );
            let highest = self.highest.entry(workspace).or_default();
            *highest = (*highest).max(*id);
            if !now {
                continue;
            }
            let kept = kind == "obj" || label.starts_with("edit ") || label.starts_with("drop ");
            if let Some(epoch) = shows.epoch {
                let shown = self.pins.entry((workspace, *id)).or_default();
                if !shown.contains_key(&epoch) {
                    own.insert(*id);
                }
                let before = shown.entry(epoch).or_insert_with(|| label.clone());
                // Between two steps of one answer another run may have changed the thing: the later
                // state counts.
                if own.contains(id)
                    && thing(before)
                        .zip(thing(label))
                        .is_some_and(|(a, b)| revision(a) < revision(b))
                {
                    before.clone_from(label);
                }
                law!(
                    before == label,
                    "an epoch shows one state of a thing",
                    "{before:?} and {label:?} in e{epoch}"
                );
            }
            let had = self.ids.entry((workspace, identity.clone())).or_insert((*id, issued));
            let remembered = kind == "obj" || issued < had.1 + VANISHED_EPOCHS - 8;
            law!(
                had.0 == *id || !kept || !remembered,
                "a thing keeps its id",
                "{identity:?} of {} was {}, is {id}",
                WORKSPACES[workspace],
                had.0
            );
            *had = (*id, issued);
        }
        Ok(())
    }

    /// A confirmation arrives: the answer counts as seen, unless newer deliveries have pushed it
    /// out.
    pub fn confirmed(&mut self, delivery: u64, daemon: u32) {
        let Some(at) = self.confirming.iter().position(|(_, of, ..)| *of == delivery) else {
            return;
        };
        let (who, _, shows, immediate) = self.confirming.remove(at);
        let Some((_, wait)) = self.deliveries.get_mut(&who) else { return };
        if wait.contains(&delivery) {
            wait.retain(|other| *other != delivery);
            self.confirm(who, &shows, immediate, daemon);
        }
    }

    /// Adds what an answer showed to what a reader has confirmed.
    fn confirm(&mut self, who: ReaderIndex, shows: &ShownContent, immediate: bool, daemon: u32) {
        self.clock += 1;
        let (at, epoch) = (self.clock, shows.epoch.unwrap_or(0));
        for (_, id, label) in &shows.anchors {
            let what = label.clone();
            let confirmed = Confirmed { at, epoch, what, immediate, daemon };
            self.confirmed.entry((who, *id)).or_default().push(confirmed);
        }
        for heading in shows.headings.iter().filter(|heading| !heading.busy) {
            let what = heading.clone();
            let confirmed = Confirmed { at, epoch, what, immediate, daemon };
            self.headings.entry((who, heading.addr.clone())).or_default().push(confirmed);
        }
    }
}

/// Returns the newest of what was confirmed up to a time, and all that was confirmed since.
fn newest_and_since<T>(all: Option<&Vec<Confirmed<T>>>, since: u64) -> Vec<&Confirmed<T>> {
    let all = all.map_or(&[][..], Vec::as_slice);
    let before = all.iter().filter(|one| one.at <= since);
    let newest = before.max_by_key(|one| (one.epoch, one.at));
    newest.into_iter().chain(all.iter().filter(|one| one.at > since)).collect()
}

/// True when a word of a label names the store or one of its things.
fn is_of(variant_name: &str, name: &str) -> bool {
    variant_name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('k'))
}

/// True for the label of an option: it has a meaning only together with its question.
fn is_answer(label: &str) -> bool {
    let verbs = ["edit ", "drop ", "pick ", "undo ", "cancel job "];
    !verbs.iter().any(|verb| label.starts_with(verb))
}

impl Sim {
    /// Notes that a session is about to be ended for good.
    pub fn forget(&mut self, who: ReaderIndex, addr: &str) {
        let Some(session_key) = SessionKey::of(READERS[who].0, addr) else { return };
        if let Some(store) = self.stores.get(&session_key) {
            let name = store.name.clone();
            self.knowledge.forget(session_key, &name);
            self.windows.forget(addr);
        }
    }

    /// Notes that a session has ended for good: what was confirmed until now belonged to the old
    /// one.
    pub fn note_gone(&mut self, index: usize) {
        let request = &self.requests[index];
        let (Verb::End { session } | Verb::Close { session, end: true }) = &request.call.verb
        else {
            return;
        };
        if let Some(session_key) = SessionKey::of(READERS[request.who].0, &session.to_string()) {
            self.knowledge.ended.insert(session_key, self.knowledge.clock);
        }
    }
}

/// The revision of a thing: 2 of `r2`.
fn revision((_, rev): (&str, &str)) -> u64 {
    rev.trim_start_matches('r').parse().unwrap_or(0)
}
