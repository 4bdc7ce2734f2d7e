//! The room for HTTP connections. Every user of the machine can connect, so whoever has shown no token makes room for
//! newcomers: nobody without the token can lock those out who have it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::limits::CONNECTIONS_MAX;

/// The connections that are served.
#[derive(Debug, Default)]
pub struct Room {
    inside: Mutex<Inside>,
    has_left: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    next: u64,
    /// Those that have shown no token, the oldest first.
    strangers: VecDeque<(u64, CancellationToken)>,
    trusted: usize,
}

/// A connection's place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    room: Arc<Room>,
    number: u64,
    /// Is cancelled when it has to make room.
    pub leave: CancellationToken,
}

impl Room {
    /// Takes a place, if need be that of the oldest stranger; waits while all have shown the token.
    pub async fn enter(self: &Arc<Self>) -> Place {
        loop {
            let has_left = self.has_left.notified();
            if let Some(place) = self.try_enter() {
                return place;
            }
            has_left.await;
        }
    }

    fn try_enter(self: &Arc<Self>) -> Option<Place> {
        let mut inside = self.lock();
        if inside.strangers.len() + inside.trusted >= CONNECTIONS_MAX {
            inside.strangers.pop_front()?.1.cancel();
        }
        let (number, leave) = (inside.next, CancellationToken::new());
        inside.next += 1;
        inside.strangers.push_back((number, leave.clone()));
        Some(Place { room: self.clone(), number, leave })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Notes that the token was shown: from now on it needn't make room.
    pub fn trust(&self) {
        let mut inside = self.room.lock();
        if let Some(at) = inside.strangers.iter().position(|(number, _)| *number == self.number) {
            inside.strangers.remove(at);
            inside.trusted += 1;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inside = self.room.lock();
        match inside.strangers.iter().position(|(number, _)| *number == self.number) {
            Some(at) => drop(inside.strangers.remove(at)),
            // One that made room is counted no more.
            None if self.leave.is_cancelled() => {}
            None => inside.trusted -= 1,
        }
        drop(inside);
        self.room.has_left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn oldest_stranger_makes_room_and_trusted_connections_never_do() {
        let room = Arc::new(Room::default());
        let mut places = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            places.push(room.enter().await);
        }
        places[0].trust();
        places.push(room.enter().await);
        let gone: Vec<usize> =
            (0..places.len()).filter(|at| places[*at].leave.is_cancelled()).collect();
        assert_eq!(gone, [1], "the trusted one stays, and the next has to go");
        // That it was late with its token changes nothing.
        places[1].trust();
        drop(places.remove(1));
        places.iter().for_each(Place::trust);
        assert!(room.try_enter().is_none(), "all places are taken by those who have the token");
        places.pop();
        assert!(room.try_enter().is_some());
        drop(places);
        let inside = room.lock();
        assert_eq!((inside.trusted, inside.strangers.len()), (0, 0));
    }
}
