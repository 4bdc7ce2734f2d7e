//! The state of one reader of a workspace: what it has seen, and what is being delivered to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use pipemux_proto::ids::Incarnation;
use rustc_hash::FxHashMap;

use crate::event::Now;
use crate::keys::SessionKey;
use crate::limits::{
    DELIVERIES_MAX, FAILURES_MAX, READER_UNCONFIRMED_BYTES, SEEN_JOBS_MAX, UNHEARD_MAX,
};
use crate::workspaces::anchors::AnchorTable;
use crate::workspaces::line_knowledge::LineKnowledge;
use crate::workspaces::reader_token::ReaderToken;
use crate::workspaces::{Delivery, Embeds, Panel, Rank, Rendered, SeenLines, SeenWindow, Windows};

/// The epoch of the newest answer that showed each id.
pub type KnownIds = FxHashMap<u64, u64>;

/// The state that the daemon keeps of one reader.
#[derive(Debug, Default)]
pub struct Reader {
    /// The windows that the reader has seen, by session.
    pub seen: BTreeMap<SessionKey, SeenWindow>,
    /// The line numbers that the reader was shown, by session.
    lines: LineKnowledge,
    /// The ids that the reader was shown.
    pub known: Rc<KnownIds>,
    /// The last failed call, and the number of failures in a row.
    failures: Failures,
    /// Answers that were sent but not confirmed yet, oldest first.
    deliveries: VecDeque<Delivery>,
    /// Notices up to this one were shown to it.
    pub(super) noticed: u64,
    pub(super) token: ReaderToken,
    /// The ends of steps whose answers the reader didn't receive, until they are reported.
    unheard: VecDeque<String>,
    /// The time of the reader's last request.
    pub(super) heard: Now,
    /// The running jobs that it was shown, each with how often what is shown of it had changed.
    jobs: BTreeMap<u64, u64>,
    /// The revision of the set of windows that the reader knows.
    pub(super) window_set_revision: u64,
    /// Windows that may have changed since it saw them; every window that did is among them.
    pub(super) dirty_windows: BTreeSet<Rank>,
    /// The reader's knowledge of the panels, in a form that is only compared.
    pub panels: BTreeMap<Panel, Rc<str>>,
    /// The windows for which only the reason was reported why there is nothing to show.
    pub unshown: BTreeMap<SessionKey, String>,
    /// The beginning of the whole context that the reader was last shown.
    pub context: Rc<str>,
}

#[derive(Debug, Default)]
struct Failures {
    call: String,
    count: u32,
}

impl Reader {
    /// Makes a reader who has seen nothing but notices up to a number. `forgotten` says that it may
    /// have been shown something that isn't known any more.
    pub(super) fn new(noticed: u64, heard: Now, forgotten: bool) -> Self {
        Self { noticed, heard, lines: LineKnowledge::new(forgotten), ..Self::default() }
    }

    /// Returns what the line numbers of a session mean to it.
    pub fn lines_of(&self, session: &SessionKey) -> Rc<SeenLines> {
        self.lines.of(session)
    }

    /// Returns what the line numbers of a session meant to it once the answers up to an epoch were
    /// there.
    pub fn lines_at(&self, session: &SessionKey, epoch: u64) -> Rc<SeenLines> {
        self.lines.at(session, epoch)
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

    /// Counts a failure of a call. Returns how often the call has failed in a row, once that is
    /// often enough to advise another way.
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

    /// Returns how often the shown data of a job had changed when this reader last saw the job; 0
    /// if it never did.
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

    /// Notes that the answer of a number has come: what it showed is seen. Returns it.
    pub(super) fn confirm(
        &mut self,
        number: u64,
        windows: &Windows,
        anchors: &AnchorTable,
    ) -> Option<Delivery> {
        let mut delivery = self.take_delivery(number)?;
        self.noticed = self.noticed.max(delivery.noticed);
        self.heard_ends(delivery.unheard);
        if let Some(revision) = delivery.window_set_revision {
            self.window_set_revision = self.window_set_revision.max(revision);
        }
        self.note_ids(&delivery, anchors);
        self.panels.extend(std::mem::take(&mut delivery.panels));
        self.unshown.retain(|session, _| windows.get(session).is_some());
        self.unshown.extend(std::mem::take(&mut delivery.unshown));
        if let Some(context) = delivery.context.take() {
            self.context = context;
        }
        self.lines
            .update(&delivery.lines, delivery.epoch, |session| self.seen.contains_key(session));
        for (session, seen) in std::mem::take(&mut delivery.seen) {
            let newer = self.seen.get(&session).is_none_or(|had| had.epoch <= seen.epoch);
            if newer {
                // The session may have changed again while the answer was on its way.
                self.dirty_windows.extend(windows.rank(&session));
                self.unshown.remove(&session);
                self.seen.insert(session, seen);
            }
        }
        self.see_jobs(&delivery.running_jobs);
        Some(delivery)
    }

    /// Notes the ids that an answer showed, unless its reader knew them by the same epoch.
    fn note_ids(&mut self, delivery: &Delivery, anchors: &AnchorTable) {
        // The ids of a window that the reader has in this epoch already are known already.
        let had = |(session, rendered): &&(SessionKey, Rc<Rendered>)| {
            self.seen.get(session).is_some_and(|seen| {
                seen.complete
                    && seen.epoch == delivery.epoch
                    && Rc::ptr_eq(&seen.rendered, rendered)
            })
        };
        let new = delivery.shown.iter().filter(|shown| !had(shown));
        let shown = new.flat_map(|(_, rendered)| rendered.ids.iter().copied());
        let mut ids = delivery.ids.iter().copied().chain(shown).peekable();
        if ids.peek().is_some() {
            let known = Rc::make_mut(&mut self.known);
            for id in ids {
                let newest = known.entry(id).or_default();
                *newest = delivery.epoch.max(*newest);
            }
            if known.len() > anchors.len() * 2 {
                known.retain(|id, _| anchors.has(*id));
            }
        }
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
        self.lines.hand_over(session, from, to);
        let updates = self.deliveries.iter_mut().flat_map(|delivery| &mut delivery.lines);
        for (_, update) in updates.filter(|(own, _)| own == session) {
            update.hand_over(from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
