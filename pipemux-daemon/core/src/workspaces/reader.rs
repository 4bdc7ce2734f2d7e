//! What a reader has seen of a workspace, and what is on its way to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use pipemux_proto::ids::Incarnation;
use rustc_hash::FxHashMap;

use crate::event::Now;
use crate::keys::SessionKey;
use crate::limits::{
    DELIVERIES_MAX, FAILURES_MAX, LINE_EPOCHS_MAX, READER_UNCONFIRMED_BYTES, SEEN_JOBS_MAX,
    SEEN_SESSIONS_MAX, UNHEARD_MAX,
};
use crate::workspaces::{Embeds, LineUpdate, Panel, Rank, Rendered, SeenLines, ShownVersion};

/// The epoch of the newest answer that showed an id, by id.
pub type KnownIds = FxHashMap<u64, u64>;

/// What is kept of one reader.
#[derive(Debug, Default)]
pub struct Reader {
    /// What it has seen, by session.
    pub seen: BTreeMap<SessionKey, SeenWindow>,
    /// The line numbers that it was shown, by session. They outlive windows and processes.
    lines: BTreeMap<SessionKey, Rc<SeenLines>>,
    /// What it knew of them once the answers up to an epoch were there: what numbers pinned to that epoch mean.
    earlier_lines: BTreeMap<SessionKey, EarlierLines>,
    /// True when it may have been shown something that isn't known any more.
    pub(super) forgotten: bool,
    /// The ids that it was shown.
    pub known: Rc<KnownIds>,
    /// The call that failed last, and how often in a row.
    failures: Failures,
    /// Answers that were sent but not confirmed yet, oldest first.
    deliveries: VecDeque<Delivery>,
    /// Notices up to this one were shown to it.
    pub(super) noticed: u64,
    /// The first token that its requests brought: all later ones need it.
    pub(super) token: Option<Box<str>>,
    /// How steps ended whose answers it didn't hear, until it has heard that.
    unheard: VecDeque<String>,
    /// When it last asked for something.
    pub(super) heard: Now,
    /// The running jobs that it was shown, each with how often what is shown of it had changed.
    jobs: BTreeMap<u64, u64>,
    /// The revision of the set of windows that it knows.
    pub(super) window_set_revision: u64,
    /// Windows that may have changed since it saw them; every window that did is among them.
    pub(super) dirty_windows: BTreeSet<Rank>,
    /// What it knows of the panels that it was shown, in a form that is only compared.
    pub panels: BTreeMap<Panel, Rc<str>>,
    /// The windows of which it was only told why there is nothing to show.
    pub unshown: BTreeMap<SessionKey, String>,
    /// The beginning of the whole context that it was shown last.
    pub context: Rc<str>,
}

/// What was known of a session's line numbers in some epochs.
#[derive(Debug, Default)]
struct EarlierLines {
    /// In ascending order of epochs.
    epochs: VecDeque<(u64, Rc<SeenLines>)>,
    /// True when an older one made room.
    truncated: bool,
}

#[derive(Debug, Default)]
struct Failures {
    call: String,
    count: u32,
}

/// What a reader has seen of one window.
#[derive(Debug, Clone)]
pub struct SeenWindow {
    /// The epoch of the answer that showed it.
    pub epoch: u64,
    /// The process that it showed.
    pub app: Incarnation,
    /// The app's version that it showed.
    pub version: u64,
    /// What it showed.
    pub rendered: Rc<Rendered>,
    /// The document that was shown last, also by an answer with which later windows aren't compared.
    pub document: Option<Rc<str>>,
    /// The process and version of `rendered`, which may be older than the newest that it showed.
    pub base: ShownVersion,
    /// True when the answer showed exactly that; false when later windows are only compared with it.
    pub complete: bool,
    /// What bound names stand for, by the last answer that showed them.
    pub names: Rc<Rendered>,
    /// The prototypes that were shown with it or before, as text.
    pub prototypes: Rc<str>,
}

/// An answer on its way.
#[derive(Debug, Default)]
pub struct Delivery {
    /// Its number.
    pub number: u64,
    /// What its reader has seen once it is there.
    pub seen: Vec<(SessionKey, SeenWindow)>,
    /// What it says of line numbers, in order.
    pub lines: Vec<(SessionKey, LineUpdate)>,
    /// The newest notice that it shows.
    pub noticed: u64,
    /// The open questions that it shows.
    pub questions: Vec<u64>,
    /// The running jobs that it shows, each with how often what is shown of it had changed.
    pub running_jobs: Vec<(u64, u64)>,
    /// The jobs whose end it tells.
    pub told_jobs: Vec<u64>,
    /// Its epoch.
    pub epoch: u64,
    /// The ids that it offers beside its windows.
    pub ids: Vec<u64>,
    /// The windows in it, with all ids that they show.
    pub shown: Vec<(SessionKey, Rc<Rendered>)>,
    /// The revision of the set of windows, when it shows all of them.
    pub window_set_revision: Option<u64>,
    /// What its reader knows of panels by it.
    pub panels: Vec<(Panel, Rc<str>)>,
    /// The windows that it only says why it can't show, with that status.
    pub unshown: Vec<(SessionKey, String)>,
    /// The beginning of the whole context that it is.
    pub context: Option<Rc<str>>,
    /// How many ends of steps it tells whose answers its reader didn't hear.
    pub unheard: usize,
}

impl Reader {
    /// Makes a reader who has seen nothing but notices up to a number.
    pub(super) fn new(noticed: u64, heard: Now) -> Self {
        Self { noticed, heard, ..Self::default() }
    }

    /// Notes how steps ended whose answers it didn't hear. The oldest make room.
    pub(super) fn add_unheard(&mut self, lines: Vec<String>) {
        self.unheard.extend(lines);
        let more = self.unheard.len().saturating_sub(UNHEARD_MAX);
        self.unheard.drain(..more);
    }

    /// Returns how steps ended whose answers it didn't hear.
    pub(super) fn unheard(&self) -> Vec<String> {
        self.unheard.iter().cloned().collect()
    }

    /// Forgets the oldest of them, which it has heard now.
    pub(super) fn heard_ends(&mut self, told: usize) {
        self.unheard.drain(..told.min(self.unheard.len()));
    }

    /// Counts a failure of a call. Returns how often the call has failed in a row, once that is often
    /// enough to advise another way.
    pub fn count_failure(&mut self, call: &str) -> Option<u32> {
        if self.failures.call == call {
            self.failures.count += 1;
        } else {
            self.failures = Failures { call: call.to_owned(), count: 1 };
        }
        let count = self.failures.count;
        (count >= FAILURES_MAX).then_some(count)
    }

    /// Forgets the failures so far: a call succeeded.
    pub fn forget_failures(&mut self) {
        self.failures = Failures::default();
    }

    /// Returns what the line numbers of a session mean to it.
    pub fn lines_of(&self, session: &SessionKey) -> Rc<SeenLines> {
        match self.lines.get(session) {
            Some(lines) => lines.clone(),
            None if self.forgotten => Rc::new(SeenLines::forgotten()),
            None => Rc::default(),
        }
    }

    /// Returns what the line numbers of a session meant to it once the answers up to an epoch were there.
    pub fn lines_at(&self, session: &SessionKey, epoch: u64) -> Rc<SeenLines> {
        let earlier = self.earlier_lines.get(session);
        let known = earlier.and_then(|earlier| earlier.at(epoch));
        let truncated = earlier.is_some_and(|earlier| earlier.truncated);
        match known {
            Some(lines) => lines.clone(),
            None if self.forgotten || truncated => Rc::new(SeenLines::forgotten()),
            None => Rc::default(),
        }
    }

    /// Takes in what an answer of an epoch says of line numbers.
    pub(super) fn update_lines(&mut self, updates: &[(SessionKey, LineUpdate)], epoch: u64) {
        for (session, update) in updates {
            if let Some(earlier) = self.earlier_lines.get_mut(session) {
                earlier.begin(epoch);
                earlier.update(epoch, update);
            }
            self.update_newest_lines(session, update);
            // The first answer of a session begins with what it says.
            if !self.earlier_lines.contains_key(session) {
                let lines = self.lines_of(session);
                let epochs = VecDeque::from([(epoch, lines)]);
                let earlier = EarlierLines { epochs, truncated: self.forgotten };
                self.earlier_lines.insert(session.clone(), earlier);
            }
        }
    }

    fn update_newest_lines(&mut self, session: &SessionKey, update: &LineUpdate) {
        if !self.lines.contains_key(session) && self.lines.len() >= SEEN_SESSIONS_MAX {
            let unseen = self.lines.keys().find(|key| !self.seen.contains_key(*key)).cloned();
            let oldest = unseen.or_else(|| self.lines.keys().next().cloned());
            self.lines.retain(|key, _| Some(key) != oldest.as_ref());
            self.earlier_lines.retain(|key, _| Some(key) != oldest.as_ref());
            self.forgotten = true;
        }
        let mut lines = self.lines_of(session);
        Rc::make_mut(&mut lines).update(update);
        self.lines.insert(session.clone(), lines);
    }

    /// Returns how often what is shown of a job had changed when it was shown the job last; 0: it never was.
    pub fn seen_job(&self, number: u64) -> u64 {
        self.jobs.get(&number).copied().unwrap_or(0)
    }

    /// Notes that it was shown running jobs.
    pub(super) fn see_jobs(&mut self, shown: &[(u64, u64)]) {
        for (number, rev) in shown {
            let seen = self.jobs.entry(*number).or_default();
            *seen = (*seen).max(*rev);
        }
        while self.jobs.len() > SEEN_JOBS_MAX {
            self.jobs.pop_first();
        }
    }

    /// Keeps a delivery until it is confirmed; the oldest make room. Returns the numbers of these.
    pub(super) fn deliver(&mut self, delivery: Delivery) -> Vec<u64> {
        self.deliveries.push_back(delivery);
        let mut bytes: usize = self.deliveries.iter().map(Delivery::bytes).sum();
        let mut gone = Vec::new();
        while self.deliveries.len() > DELIVERIES_MAX
            || (bytes > READER_UNCONFIRMED_BYTES && self.deliveries.len() > 1)
        {
            let Some(oldest) = self.deliveries.pop_front() else { break };
            bytes -= oldest.bytes();
            gone.push(oldest.number);
        }
        gone
    }

    /// Returns a delivery that is confirmed now, and forgets it.
    pub(super) fn take_delivery(&mut self, number: u64) -> Option<Delivery> {
        let at = self.deliveries.iter().position(|delivery| delivery.number == number)?;
        self.deliveries.remove(at)
    }

    /// Makes what was seen of one process of a session count as seen of the next one.
    pub(super) fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        let delivered = self.deliveries.iter_mut().flat_map(|delivery| &mut delivery.seen);
        let seen = self.seen.values_mut().chain(delivered.map(|(_, seen)| seen));
        seen.for_each(|seen| Embeds::hand_over(&mut seen.rendered, session, (from, to)));
        let seen = self.seen.get_mut(session).into_iter();
        let delivered = self.deliveries.iter_mut().flat_map(|delivery| &mut delivery.seen);
        let delivered = delivered.filter(|(own, _)| own == session).map(|(_, seen)| seen);
        for seen in seen.chain(delivered).filter(|seen| seen.app == from) {
            seen.app = to;
        }
        let bases = self.seen.get_mut(session).into_iter().map(|seen| &mut seen.base);
        let delivered = self.deliveries.iter_mut().flat_map(|delivery| &mut delivery.seen);
        let delivered = delivered.filter(|(own, _)| own == session).map(|(_, seen)| &mut seen.base);
        for (app, _) in bases.chain(delivered).filter(|(app, _)| *app == from) {
            *app = to;
        }
        if let Some(lines) = self.lines.get_mut(session) {
            Rc::make_mut(lines).hand_over(from, to);
        }
        let earlier = self.earlier_lines.get_mut(session).into_iter();
        for (_, lines) in earlier.flat_map(|earlier| &mut earlier.epochs) {
            Rc::make_mut(lines).hand_over(from, to);
        }
        let updates = self.deliveries.iter_mut().flat_map(|delivery| &mut delivery.lines);
        for (_, update) in updates.filter(|(own, _)| own == session) {
            update.hand_over(from, to);
        }
    }
}

impl EarlierLines {
    /// Returns what was known once the answers up to an epoch were there.
    fn at(&self, epoch: u64) -> Option<&Rc<SeenLines>> {
        self.epochs.iter().rev().find(|(at, _)| *at <= epoch).map(|(_, lines)| lines)
    }

    /// Makes an epoch begin with what the one before it ended with; the oldest makes room.
    fn begin(&mut self, epoch: u64) {
        let at = self.epochs.partition_point(|(at, _)| *at < epoch);
        if self.epochs.get(at).is_some_and(|(at, _)| *at == epoch) {
            return;
        }
        let before = self.at(epoch).cloned();
        let lines = before.unwrap_or_else(|| match self.truncated {
            true => Rc::new(SeenLines::forgotten()),
            false => Rc::default(),
        });
        self.epochs.insert(at, (epoch, lines));
        if self.epochs.len() > LINE_EPOCHS_MAX {
            self.epochs.pop_front();
            self.truncated = true;
        }
    }

    /// Takes in what an answer of an epoch says, for it and for later ones: answers may be confirmed in another order
    /// than they were written in.
    fn update(&mut self, epoch: u64, update: &LineUpdate) {
        for (_, lines) in self.epochs.iter_mut().filter(|(at, _)| *at >= epoch) {
            Rc::make_mut(lines).update(update);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspaces::When;

    #[test]
    fn pinned_numbers_mean_what_was_shown_by_their_epoch() {
        let mut reader = Reader::default();
        let session = SessionKey { workspace: None, addr: "notes/main".parse().unwrap() };
        let app = Incarnation(1);
        let shows = |first, last, version| {
            let seen = Some((app, version));
            let document = String::new();
            vec![(session.clone(), LineUpdate { document, first, last, seen, when: When::Always })]
        };
        let meant = |reader: &Reader, number, epoch| {
            let lines = reader.lines_at(&session, epoch);
            (0..9).find(|version| {
                let base = (app, *version);
                lines.all_in("", number, number, base)
                    && !lines.all_in("", number, number, (app, 9))
            })
        };
        reader.update_lines(&shows(1, 40, 1), 1);
        reader.update_lines(&shows(10, 12, 3), 3);
        // An answer that is confirmed late.
        reader.update_lines(&shows(11, 20, 2), 2);
        let versions = |epoch| [9, 10, 11, 13].map(|number| meant(&reader, number, epoch));
        assert_eq!(versions(0), [None; 4]);
        assert_eq!(versions(1), [1, 1, 1, 1].map(Some));
        assert_eq!(versions(2), [1, 1, 2, 2].map(Some));
        assert_eq!(versions(9), [1, 3, 3, 2].map(Some));
        assert_eq!(reader.lines_of(&session), reader.lines_at(&session, 3));
        for epoch in 4..4 + LINE_EPOCHS_MAX as u64 {
            reader.update_lines(&shows(1, 1, 4), epoch);
        }
        assert_eq!(*reader.lines_at(&session, 3), SeenLines::forgotten());
        assert_eq!(reader.earlier_lines[&session].epochs.len(), LINE_EPOCHS_MAX);
    }

    #[test]
    fn advice_comes_after_enough_failures_of_the_same_call_in_a_row() {
        let mut reader = Reader::default();
        for _ in 1..FAILURES_MAX {
            assert_eq!(reader.count_failure("notes.add()"), None);
        }
        assert_eq!(reader.count_failure("notes.add()"), Some(FAILURES_MAX));
        assert_eq!(reader.count_failure("notes.add()"), Some(FAILURES_MAX + 1));
        assert_eq!(reader.count_failure("notes.save()"), None);
        reader.forget_failures();
        assert_eq!(reader.count_failure("notes.save()"), None);
    }
}
