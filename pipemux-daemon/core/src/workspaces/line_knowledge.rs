//! What the line numbers of each session mean to one reader: now, and once the answers up to an
//! epoch were there, for numbers that are pinned to that epoch.
//!
//! **Invariant: both outlive windows and processes.** What made room is remembered as forgotten,
//! never as unseen.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use pipemux_proto::ids::Incarnation;

use crate::keys::SessionKey;
use crate::limits::{LINE_EPOCHS_MAX, SEEN_SESSIONS_MAX};
use crate::workspaces::{LineUpdate, SeenLines};

/// The line numbers that a reader was shown, by session.
#[derive(Debug, Default)]
pub(super) struct LineKnowledge {
    newest: BTreeMap<SessionKey, Rc<SeenLines>>,
    /// The knowledge at the end of earlier epochs, by session.
    earlier: BTreeMap<SessionKey, EarlierLines>,
    /// True when numbers of any session may have been shown that aren't known any more.
    forgotten: bool,
}

/// The knowledge of a session's line numbers in some epochs.
#[derive(Debug, Default)]
struct EarlierLines {
    /// The epochs, in ascending order.
    epochs: VecDeque<(u64, Rc<SeenLines>)>,
    /// True when an older one made room.
    truncated: bool,
}

impl LineKnowledge {
    /// Makes the knowledge of a new reader. `forgotten` says that it may have been shown numbers
    /// before.
    pub fn new(forgotten: bool) -> Self {
        Self { forgotten, ..Self::default() }
    }

    /// Returns what the line numbers of a session mean now.
    pub fn of(&self, session: &SessionKey) -> Rc<SeenLines> {
        match self.newest.get(session) {
            Some(lines) => lines.clone(),
            None if self.forgotten => Rc::new(SeenLines::forgotten()),
            None => Rc::default(),
        }
    }

    /// Returns what the line numbers of a session meant once the answers up to an epoch were there.
    pub fn at(&self, session: &SessionKey, epoch: u64) -> Rc<SeenLines> {
        let earlier = self.earlier.get(session);
        let known = earlier.and_then(|earlier| earlier.at(epoch));
        let truncated = earlier.is_some_and(|earlier| earlier.truncated);
        match known {
            Some(lines) => lines.clone(),
            None if self.forgotten || truncated => Rc::new(SeenLines::forgotten()),
            None => Rc::default(),
        }
    }

    /// Applies the line number updates of an answer of an epoch. If there are too many sessions,
    /// one is forgotten: preferably one for which `seen` returns false, because the reader has no
    /// window of it.
    pub fn update(
        &mut self,
        updates: &[(SessionKey, LineUpdate)],
        epoch: u64,
        seen: impl Fn(&SessionKey) -> bool,
    ) {
        for (session, update) in updates {
            if let Some(earlier) = self.earlier.get_mut(session) {
                earlier.begin(epoch);
                earlier.update(epoch, update);
            }
            self.update_newest(session, update, &seen);
            // The first answer of a session begins with what it says.
            if !self.earlier.contains_key(session) {
                let lines = self.of(session);
                let epochs = VecDeque::from([(epoch, lines)]);
                let earlier = EarlierLines { epochs, truncated: self.forgotten };
                self.earlier.insert(session.clone(), earlier);
            }
        }
    }

    fn update_newest(
        &mut self,
        session: &SessionKey,
        update: &LineUpdate,
        seen: impl Fn(&SessionKey) -> bool,
    ) {
        if !self.newest.contains_key(session) && self.newest.len() >= SEEN_SESSIONS_MAX {
            let unseen = self.newest.keys().find(|key| !seen(key)).cloned();
            let oldest = unseen.or_else(|| self.newest.keys().next().cloned());
            self.newest.retain(|key, _| Some(key) != oldest.as_ref());
            self.earlier.retain(|key, _| Some(key) != oldest.as_ref());
            self.forgotten = true;
        }
        let mut lines = self.of(session);
        Rc::make_mut(&mut lines).update(update);
        self.newest.insert(session.clone(), lines);
    }

    /// Makes what was seen of one process of a session count as seen of the next one.
    pub fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        let newest = self.newest.get_mut(session).into_iter();
        let earlier = self.earlier.get_mut(session).into_iter();
        let earlier = earlier.flat_map(|earlier| &mut earlier.epochs).map(|(_, lines)| lines);
        newest.chain(earlier).for_each(|lines| Rc::make_mut(lines).hand_over(from, to));
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

    /// Applies what an answer of an epoch says, for it and for later ones: answers may be
    /// confirmed in another order than they were written in.
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
        let mut known = LineKnowledge::default();
        let session = SessionKey { workspace: None, addr: "notes/main".parse().unwrap() };
        let app = Incarnation(1);
        let shows = |first, last, version| {
            let seen = Some((app, version));
            let document = String::new();
            vec![(session.clone(), LineUpdate { document, first, last, seen, when: When::Always })]
        };
        let meant = |known: &LineKnowledge, number, epoch| {
            let lines = known.at(&session, epoch);
            (0..9).find(|version| {
                let base = (app, *version);
                lines.all_in("", number, number, base)
                    && !lines.all_in("", number, number, (app, 9))
            })
        };
        known.update(&shows(1, 40, 1), 1, |_| true);
        known.update(&shows(10, 12, 3), 3, |_| true);
        // An answer that is confirmed late.
        known.update(&shows(11, 20, 2), 2, |_| true);
        let versions = |epoch| [9, 10, 11, 13].map(|number| meant(&known, number, epoch));
        assert_eq!(versions(0), [None; 4]);
        assert_eq!(versions(1), [1, 1, 1, 1].map(Some));
        assert_eq!(versions(2), [1, 1, 2, 2].map(Some));
        assert_eq!(versions(9), [1, 3, 3, 2].map(Some));
        assert_eq!(known.of(&session), known.at(&session, 3));
        for epoch in 4..4 + LINE_EPOCHS_MAX as u64 {
            known.update(&shows(1, 1, 4), epoch, |_| true);
        }
        assert_eq!(*known.at(&session, 3), SeenLines::forgotten());
        assert_eq!(known.earlier[&session].epochs.len(), LINE_EPOCHS_MAX);
    }
}
