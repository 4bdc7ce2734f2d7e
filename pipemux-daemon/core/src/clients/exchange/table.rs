//! The table of exchanges that have no answer yet: a number is found in one step and without
//! allocation.

use pipemux_proto::ids::Incarnation;
use rustc_hash::FxHashMap;

use crate::event::ClientId;

/// This bit is set in the number of every exchange, and in that of no other request to an app.
const EXCHANGE_BIT: u64 = 1 << 63;
const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;

#[derive(Debug, Clone, Copy)]
pub struct OpenExchange {
    /// The client that sent the exchange; `None` once that client is gone.
    pub client: Option<ClientId>,
    /// The number that the client gave the exchange.
    pub request: u64,
    /// The process that carries out the exchange.
    pub app: Incarnation,
    /// The time at which the exchange is abandoned, on the monotonic clock.
    pub deadline: u64,
    /// Bytes of its body.
    pub length: usize,
}

/// The open exchanges of a process that takes exchanges.
#[derive(Debug, Clone, Copy, Default)]
pub struct PeerQuota {
    /// The number of open exchanges.
    pub open: usize,
    /// Bytes of their bodies.
    pub bytes: usize,
    /// The time of the last exchange, on the monotonic clock.
    pub used: u64,
}

#[derive(Debug, Default)]
struct Slot {
    /// The number of exchanges that have used this slot; it keeps a late answer from matching a
    /// later exchange.
    turn: u64,
    open: Option<OpenExchange>,
}

/// All open exchanges, and the processes that take exchanges.
#[derive(Debug, Default)]
pub struct ExchangeTable {
    slots: Vec<Slot>,
    free: Vec<usize>,
    quotas: FxHashMap<Incarnation, PeerQuota>,
    /// A lower bound on all deadlines.
    earliest: Option<u64>,
}

impl ExchangeTable {
    /// Starts to admit exchanges to a process.
    pub fn admit(&mut self, app: Incarnation) {
        self.quotas.insert(app, PeerQuota::default());
    }

    /// Stops admitting exchanges to a process; those that it has stay open.
    pub fn dismiss(&mut self, app: Incarnation) {
        self.quotas.remove(&app);
    }

    /// The open exchanges of a process, if it takes exchanges.
    pub fn quota(&self, app: Incarnation) -> Option<PeerQuota> {
        self.quotas.get(&app).copied()
    }

    /// Adds an exchange and returns its number.
    pub fn add(&mut self, open: OpenExchange, now: u64) -> u64 {
        if let Some(quota) = self.quotas.get_mut(&open.app) {
            quota.open += 1;
            quota.bytes += open.length;
            quota.used = now;
        }
        self.earliest = Some(self.earliest.map_or(open.deadline, |at| at.min(open.deadline)));
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        let slot = &mut self.slots[at];
        slot.turn += 1;
        slot.open = Some(open);
        number_of(at, slot)
    }

    /// Removes the exchange of that number, if that process has it.
    pub fn take(&mut self, number: u64, app: Incarnation) -> Option<OpenExchange> {
        let at = (number & SLOT_MASK) as usize;
        let slot = self.slots.get_mut(at)?;
        let open = slot.open?;
        if open.app != app || number_of(at, slot) != number {
            return None;
        }
        slot.open = None;
        self.free.push(at);
        if let Some(quota) = self.quotas.get_mut(&app) {
            quota.open -= 1;
            quota.bytes -= open.length;
        }
        if self.free.len() == self.slots.len() {
            self.earliest = None;
            // An idle daemon gives back the memory of its busiest time; the turns go on from the
            // highest one.
            if self.slots.len() > Self::KEPT {
                let turn = self.slots.iter().map(|slot| slot.turn).max().unwrap_or_default();
                self.slots = (0..Self::KEPT).map(|_| Slot { turn, open: None }).collect();
                self.free = (0..Self::KEPT).collect();
            }
        }
        Some(open)
    }

    const KEPT: usize = 1024;

    /// Finds exchanges, with their numbers, in the order of the clients' numbers.
    pub fn find(&self, wanted: impl Fn(&OpenExchange) -> bool) -> Vec<(u64, OpenExchange)> {
        let number = |at: usize, slot: &Slot| {
            let open = slot.open.filter(|open| wanted(open))?;
            Some((number_of(at, slot), open))
        };
        let all = self.slots.iter().enumerate();
        let mut found: Vec<_> = all.filter_map(|(at, slot)| number(at, slot)).collect();
        found.sort_by_key(|(_, open)| open.request);
        found
    }

    /// Drops the answers to a client's exchanges once the client is gone.
    pub fn orphan(&mut self, client: ClientId) {
        for open in self.slots.iter_mut().filter_map(|slot| slot.open.as_mut()) {
            if open.client == Some(client) {
                open.client = None;
            }
        }
    }

    /// Returns when to check what is due: never too late, and rarely too early.
    pub fn next_timeout(&self) -> Option<u64> {
        self.earliest
    }

    /// Finds the exchanges whose deadline has come.
    pub fn due(&mut self, now: u64) -> Vec<(u64, OpenExchange)> {
        if self.earliest.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let left = self.slots.iter().filter_map(|slot| slot.open.map(|open| open.deadline));
        self.earliest = left.filter(|deadline| *deadline > now).min();
        self.find(|open| open.deadline <= now)
    }
}

fn number_of(at: usize, slot: &Slot) -> u64 {
    EXCHANGE_BIT | (slot.turn << SLOT_BITS & !EXCHANGE_BIT) | at as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(app: u64, deadline: u64) -> OpenExchange {
        let app = Incarnation(app);
        OpenExchange { client: Some(ClientId(1)), request: 7, app, deadline, length: 10 }
    }

    #[test]
    fn a_number_finds_its_own_exchange_once_and_no_later_one_at_its_place() {
        let mut all = ExchangeTable::default();
        all.admit(Incarnation(1));
        let first = all.add(open(1, 50), 5);
        assert!(all.take(first, Incarnation(2)).is_none(), "another process's answer");
        assert!(all.take(first, Incarnation(1)).is_some());
        assert!(all.take(first, Incarnation(1)).is_none());
        let second = all.add(open(1, 50), 5);
        assert_ne!(first, second);
        assert!(all.take(first, Incarnation(1)).is_none());
        assert!(all.take(second & !EXCHANGE_BIT, Incarnation(1)).is_none());
        let quota = all.quota(Incarnation(1)).unwrap();
        assert_eq!((quota.open, quota.bytes, quota.used), (1, 10, 5));
    }

    #[test]
    fn an_idle_table_is_small_and_its_old_numbers_stay_void() {
        let mut all = ExchangeTable::default();
        let numbers: Vec<u64> = (0..5000).map(|_| all.add(open(1, 50), 5)).collect();
        for number in &numbers {
            assert!(all.take(*number, Incarnation(1)).is_some());
        }
        assert_eq!((all.slots.len(), all.next_timeout()), (ExchangeTable::KEPT, None));
        all.add(open(1, 50), 5);
        assert!(numbers.iter().all(|number| all.take(*number, Incarnation(1)).is_none()));
    }

    #[test]
    fn due_exchanges_are_found_after_others_came_and_went() {
        let mut all = ExchangeTable::default();
        let early = all.add(open(1, 10), 5);
        all.add(open(1, 20), 5);
        all.take(early, Incarnation(1));
        assert!(all.next_timeout().is_some_and(|at| at <= 20));
        assert!(all.due(15).is_empty());
        assert_eq!(all.next_timeout(), Some(20));
        assert_eq!(all.due(20).len(), 1);
    }
}
