//! What everybody was shown, and the laws of ids and epochs.
//!
//! | law | what it holds |
//! |---|---|
//! | an id stands for one thing for ever | whatever workspace, reader, daemon; ids only rise |
//! | a thing keeps its id | things always, links while they are remembered |
//! | epochs never go back | not over a lost daemon either |
//! | one epoch shows one state | what an epoch showed under an id is what its pin means |

use std::collections::{BTreeMap, VecDeque};

use pipemux_core::limits::{DELIVERIES_MAX, VANISHED_EPOCHS};
use pipemux_core::saved::Record;
use pipemux_proto::client::{Answer, Body, DeliveryAck as SeenFrame, Verb};
use pipemux_proto::{Envelope, Incarnation, Method};

use crate::action::{Confirming, Pick, Who};
use crate::law::{Lawful, law};
use crate::places::{Place, READERS, WORKSPACES};
use crate::process::frame;
use crate::reading::{self, Heading, Shows, thing};
use crate::sim::Sim;

/// Something that a reader was shown, and confirmed.
#[derive(Debug, Clone)]
pub struct Confirmed<T> {
    /// When: a number that rises.
    pub at: u64,
    pub epoch: u64,
    pub what: T,
    /// True when it was confirmed at once, to the daemon that lives.
    pub firm: bool,
    pub daemon: u32,
}

/// What everybody was shown.
#[derive(Debug, Default)]
pub struct Seen {
    /// By workspace and id: what it stands for.
    stands_for: BTreeMap<(usize, u64), String>,
    /// By workspace and thing: its id and when it was last shown.
    ids: BTreeMap<(usize, String), (u64, u64)>,
    /// By workspace: the highest id that was shown or written down.
    highest: BTreeMap<usize, u64>,
    /// By workspace: the newest epoch, and epochs that were really issued.
    epochs: BTreeMap<usize, (u64, u64)>,
    /// By workspace, id and epoch: what was shown.
    pins: BTreeMap<(usize, u64), BTreeMap<u64, String>>,
    /// By reader and id: the newest label, and its epoch.
    shown: BTreeMap<(Who, u64), (String, u64)>,
    confirmed: BTreeMap<(Who, u64), Vec<Confirmed<String>>>,
    headings: BTreeMap<(Who, String), Vec<Confirmed<Heading>>>,
    /// By place: when its session was told to end for good, the last time.
    ended: BTreeMap<Place, u64>,
    /// Answers that wait to be confirmed.
    waiting: Vec<(Who, u64, Shows, u32)>,
    /// Those whose confirmation is on its way.
    confirming: Vec<(Who, u64, Shows, bool)>,
    /// By reader: its newest delivery, and those that can still be confirmed.
    deliveries: BTreeMap<Who, (u64, VecDeque<u64>)>,
    clock: u64,
    /// True once what was shown could not be written down, and the daemon was lost.
    pub lost: bool,
}

impl Seen {
    pub fn now(&self) -> u64 {
        self.clock
    }

    pub fn lose_daemon(&mut self) {
        self.waiting.clear();
        self.confirming.clear();
        self.deliveries.clear();
    }

    /// An answer was delivered: the oldest that wait to be confirmed make room.
    fn deliver(&mut self, who: Who, delivery: u64) {
        let (newest, wait) = self.deliveries.entry(who).or_default();
        if delivery > *newest {
            *newest = delivery;
            wait.push_back(delivery);
            if wait.len() > DELIVERIES_MAX {
                wait.pop_front();
            }
        }
    }

    /// A session ended for good: what comes back under its keys is something new.
    pub fn forget(&mut self, place: Place, name: &str) {
        self.ids.retain(|(_, thing), _| !thing.split(' ').any(|word| is_of(word, name)));
        // What runs under way mean by it was confirmed before.
        self.ended.insert(place, self.clock);
    }

    /// What was shown could not be written down, and the daemon is lost: numbers may come again.
    pub fn lose_all(&mut self) {
        *self = Self { clock: self.clock, lost: true, ..Self::default() };
    }

    /// The newest that a reader had confirmed of an id at a time, and all since.
    pub fn may_mean(&self, who: Who, id: u64, since: u64) -> Vec<&Confirmed<String>> {
        newest_and_since(self.confirmed.get(&(who, id)), since)
    }

    /// The same of a window; also what was seen of it before its session ended.
    pub fn windows(&self, who: Who, addr: &str, since: u64) -> Vec<&Confirmed<Heading>> {
        newest_and_since(self.headings.get(&(who, addr.to_owned())), since)
    }

    /// The same of a window whose session has not ended since.
    pub fn live_windows(&self, who: Who, addr: &str, since: u64) -> Vec<&Confirmed<Heading>> {
        let place = Place::of(READERS[who].0, addr);
        let ended = place.and_then(|place| self.ended.get(&place)).copied().unwrap_or_default();
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

    /// A thing that a reader was shown: id, label, epoch.
    pub fn some_thing(&self, who: Who, pick: Pick) -> Option<(u64, String, u64)> {
        let things = self.shown.range((who, 0)..=(who, u64::MAX));
        let things = things.filter(|(_, (label, _))| thing(label).is_some());
        // The newest are more likely to be there.
        let mut all: Vec<_> =
            things.map(|((_, id), (label, epoch))| (*id, label, *epoch)).collect();
        all.sort_by_key(|(id, _, epoch)| (u64::MAX - epoch, *id));
        let within = if pick.is_multiple_of(4) { all.len() } else { all.len().min(8) };
        let (id, label, epoch) = all.get(usize::from(pick / 4).checked_rem(within)?)?;
        Some((*id, (*label).clone(), *epoch))
    }

    /// A link that a reader was shown.
    pub fn some_link(&self, who: Who, pick: Pick) -> Option<(u64, String)> {
        let links = self.shown.range((who, 0)..=(who, u64::MAX));
        let links = links.filter(|(_, (label, _))| thing(label).is_none());
        let mut all: Vec<_> = links.map(|((_, id), (label, epoch))| (*id, label, *epoch)).collect();
        all.sort_by_key(|(id, _, epoch)| (u64::MAX - epoch, *id));
        let within = if pick.is_multiple_of(4) { all.len() } else { all.len().min(10) };
        let (id, label, _) = all.get(usize::from(pick / 4).checked_rem(within)?)?;
        Some((*id, (*label).clone()))
    }

    /// An id of a thing that somebody was shown in a workspace.
    pub fn some_id(&self, workspace: usize, pick: Pick) -> Option<u64> {
        let all: Vec<u64> = self
            .stands_for
            .range((workspace, 0)..=(workspace, u64::MAX))
            .map(|((_, id), _)| *id)
            .collect();
        all.get(usize::from(pick).checked_rem(all.len())?).copied()
    }

    /// An epoch at or before a workspace's newest, sometimes one that was not issued yet.
    pub fn some_epoch(&self, workspace: usize, pick: Pick) -> Option<u64> {
        let (newest, _) = self.epochs.get(&workspace)?;
        Some((newest + 2).saturating_sub(u64::from(pick) % 12))
    }

    /// What is written down of ids: they only rise.
    pub fn record(&mut self, record: &Record) -> Lawful {
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

    /// The newest epoch, and how many were issued so far.
    fn epoch(&mut self, workspace: usize, epoch: u64) -> Lawful<u64> {
        let (newest, issued) = self.epochs.entry(workspace).or_default();
        law!(epoch >= *newest, "epochs never go back", "e{epoch} after e{newest}");
        // A new daemon goes on behind a gap.
        *issued += (epoch - *newest).min(8);
        *newest = epoch;
        Ok(*issued)
    }

    fn learn(&mut self, workspace: usize, shows: &Shows, asked: &str) -> Lawful {
        let issued = match shows.epoch {
            Some(epoch) => self.epoch(workspace, epoch)?,
            None => 0,
        };
        for (now, (kind, id, label)) in
            shows.anchors.iter().map(|a| (true, a)).chain(shows.gone.iter().map(|a| (false, a)))
        {
            let identity = match thing(label) {
                Some((thing, _)) if kind == "obj" => thing.to_owned(),
                _ if is_answer(label) => format!("{label} of {asked}"),
                _ => label.clone(),
            };
            let stood = self.stands_for.entry((workspace, *id)).or_insert_with(|| identity.clone());
            law!(
                *stood == identity,
                "an id stands for one thing for ever",
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
                let before = shown.entry(epoch).or_insert_with(|| label.clone());
                law!(
                    before == label,
                    "one epoch shows one state",
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

    /// A confirmation comes in: the answer counts as seen, unless others have taken its room meanwhile.
    pub fn confirmed(&mut self, delivery: u64, daemon: u32) {
        let Some(at) = self.confirming.iter().position(|(_, of, ..)| *of == delivery) else {
            return;
        };
        let (who, _, shows, firm) = self.confirming.remove(at);
        let Some((_, wait)) = self.deliveries.get_mut(&who) else { return };
        if wait.contains(&delivery) {
            wait.retain(|other| *other != delivery);
            self.confirm(who, &shows, firm, daemon);
        }
    }

    /// A reader has confirmed what an answer showed.
    fn confirm(&mut self, who: Who, shows: &Shows, firm: bool, daemon: u32) {
        self.clock += 1;
        let (at, epoch) = (self.clock, shows.epoch.unwrap_or(0));
        for (_, id, label) in &shows.anchors {
            let what = label.clone();
            let confirmed = Confirmed { at, epoch, what, firm, daemon };
            self.confirmed.entry((who, *id)).or_default().push(confirmed);
        }
        for heading in shows.headings.iter().filter(|heading| !heading.busy) {
            let what = heading.clone();
            let confirmed = Confirmed { at, epoch, what, firm, daemon };
            self.headings.entry((who, heading.addr.clone())).or_default().push(confirmed);
        }
    }
}

/// The newest of what was confirmed before a time, and all since.
fn newest_and_since<T>(all: Option<&Vec<Confirmed<T>>>, since: u64) -> Vec<&Confirmed<T>> {
    let all = all.map_or(&[][..], Vec::as_slice);
    let before = all.iter().filter(|one| one.at <= since);
    let newest = before.max_by_key(|one| (one.epoch, one.at));
    newest.into_iter().chain(all.iter().filter(|one| one.at > since)).collect()
}

/// True for a thing of that store.
fn is_of(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('k'))
}

/// True for what answers a question: these labels mean something with their question only.
fn is_answer(label: &str) -> bool {
    let verbs = ["edit ", "drop ", "pick ", "undo "];
    !verbs.iter().any(|verb| label.starts_with(verb))
}

impl Sim {
    /// A session is about to be ended for good.
    pub fn forget(&mut self, who: Who, addr: &str) {
        let Some(place) = Place::of(READERS[who].0, addr) else { return };
        if let Some(store) = self.stores.get(&place) {
            let name = store.name.clone();
            self.seen.forget(place, &name);
            self.windows.forget(addr);
        }
    }

    /// A session has ended for good: what was confirmed until now was of that one.
    pub fn note_gone(&mut self, index: usize) {
        let request = &self.requests[index];
        let (Verb::End { session } | Verb::Close { session, end: true }) = &request.call.verb
        else {
            return;
        };
        if let Some(place) = Place::of(READERS[request.who].0, &session.to_string()) {
            self.seen.ended.insert(place, self.seen.clock);
        }
    }

    /// A reader reads an answer, and confirms it or doesn't.
    pub fn read_answer(&mut self, index: usize, answer: &Answer) -> Lawful {
        let request = &self.requests[index];
        self.seen.deliver(request.who, answer.delivery);
        let shows_windows =
            request.acts() || matches!(request.call.verb, Verb::Open(_) | Verb::View(_));
        // What is told once more is as old as it was.
        if !shows_windows || request.repeats.is_some() {
            return Ok(());
        }
        // What changed since an epoch says nothing of the rest: the models don't take it for a look.
        let since = matches!(&request.call.verb, Verb::View(view) if view.since.is_some());
        let confirm = if since { Confirming::Never } else { request.confirm };
        let (who, client) = (request.who, request.client);
        let workspace = READERS[who].0;
        let shows = reading::read(answer);
        let asked = match &answer.body {
            Body::Text(said) => reading::question(said).map(str::to_owned),
            Body::Report(report) => report.question.as_ref().and_then(|asked| {
                reading::question(&format!("needs an answer {}", asked.text)).map(str::to_owned)
            }),
            _ => None,
        };
        let asked = asked.unwrap_or_else(|| request.call.run_id.clone());
        self.seen.learn(workspace, &shows, &asked)?;
        self.check_windows(index, answer)?;
        self.check_shown(index, &shows)?;
        for (_, id, label) in &shows.anchors {
            let epoch = shows.epoch.unwrap_or(0);
            self.seen.shown.insert((who, *id), (label.clone(), epoch));
        }
        if answer.delivery == 0 {
            return Ok(());
        }
        let daemon = self.daemon.nth;
        match confirm {
            Confirming::Now => {
                self.seen.confirming.push((who, answer.delivery, shows, true));
                self.confirm_on(client, answer.delivery);
            }
            Confirming::Late => self.seen.waiting.push((who, answer.delivery, shows, daemon)),
            Confirming::Never => {}
        }
        Ok(())
    }

    fn confirm_on(&mut self, client: pipemux_core::ClientId, delivery: u64) {
        let Some(conn) = self.clients.get_mut(&client) else { return };
        conn.next += 1;
        let envelope = Envelope::request(Method::Seen, conn.next, Incarnation(0));
        let frame = frame(&envelope, &SeenFrame { delivery });
        self.queue.push_back(pipemux_core::Event::ClientFrame { client, frame });
    }

    /// An answer is confirmed that was not at once: on another connection, as the command line does.
    pub fn confirm_late(&mut self, pick: Pick) -> Lawful<bool> {
        let count = self.seen.waiting.len();
        let Some(at) = usize::from(pick).checked_rem(count) else { return Ok(false) };
        let (who, delivery, shows, daemon) = self.seen.waiting.remove(at);
        let client = self.connect()?;
        if self.daemon.nth != daemon {
            return Ok(true);
        }
        self.seen.confirming.push((who, delivery, shows, false));
        self.confirm_on(client, delivery);
        self.drain()?;
        if self.daemon.nth == daemon {
            self.feed(pipemux_core::Event::ClientClosed { client })?;
        }
        Ok(true)
    }
}
