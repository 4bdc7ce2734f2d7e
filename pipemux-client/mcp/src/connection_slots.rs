//! The room for HTTP connections. Every user of the machine can connect, so whoever has shown no
//! token makes room for newcomers: nobody without the token can lock those out who have it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::limits::CONNECTIONS_MAX;

/// The limited set of connections that are served.
#[derive(Debug, Default)]
pub struct ConnectionSlots {
    inside: Mutex<Inside>,
    has_left: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    next: u64,
    /// Connections that have shown no token, oldest first.
    strangers: VecDeque<(u64, CancellationToken)>,
    trusted: usize,
}

/// A connection's slot, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    slots: Arc<ConnectionSlots>,
    number: u64,
    /// Is cancelled when it has to make room.
    pub leave: CancellationToken,
}

impl ConnectionSlots {
    /// Takes a slot, if need be that of the oldest stranger; waits while all have shown the token.
    pub async fn enter(self: &Arc<Self>) -> Slot {
        loop {
            let has_left = self.has_left.notified();
            if let Some(slot) = self.try_enter() {
                return slot;
            }
            has_left.await;
        }
    }

    fn try_enter(self: &Arc<Self>) -> Option<Slot> {
        let mut inside = self.lock();
        if inside.strangers.len() + inside.trusted >= CONNECTIONS_MAX {
            inside.strangers.pop_front()?.1.cancel();
        }
        let (number, leave) = (inside.next, CancellationToken::new());
        inside.next += 1;
        inside.strangers.push_back((number, leave.clone()));
        Some(Slot { slots: self.clone(), number, leave })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Notes that the token was shown: from now on it needn't make room.
    pub fn trust(&self) {
        let mut inside = self.slots.lock();
        if let Some(at) = inside.strangers.iter().position(|(number, _)| *number == self.number) {
            inside.strangers.remove(at);
            inside.trusted += 1;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut inside = self.slots.lock();
        match inside.strangers.iter().position(|(number, _)| *number == self.number) {
            Some(at) => drop(inside.strangers.remove(at)),
            // One that made room is counted no more.
            None if self.leave.is_cancelled() => {}
            None => inside.trusted -= 1,
        }
        drop(inside);
        self.slots.has_left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn oldest_stranger_makes_room_and_trusted_connections_never_do() {
        let slots = Arc::new(ConnectionSlots::default());
        let mut taken = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            taken.push(slots.enter().await);
        }
        taken[0].trust();
        taken.push(slots.enter().await);
        let gone: Vec<usize> =
            (0..taken.len()).filter(|at| taken[*at].leave.is_cancelled()).collect();
        assert_eq!(gone, [1], "the trusted one stays, and the next has to go");
        // That it was late with its token changes nothing.
        taken[1].trust();
        drop(taken.remove(1));
        taken.iter().for_each(Slot::trust);
        assert!(slots.try_enter().is_none(), "all are taken by those who have the token");
        taken.pop();
        assert!(slots.try_enter().is_some());
        drop(taken);
        let inside = slots.lock();
        assert_eq!((inside.trusted, inside.strangers.len()), (0, 0));
    }
}
