//! Who waits for what: a table whose places are used again, each time under another number.

use std::task::Waker;

use tokio::time::Instant;

use super::Lost;
use crate::wire::Ended;

/// The requests that have no answer yet, or whose answer nobody took.
#[derive(Debug, Default)]
pub(super) struct Places {
    places: Vec<Place>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Place {
    /// Counts who was here, so that a late answer finds nobody.
    turn: u64,
    waits: Option<Waits>,
}

/// One request.
#[derive(Debug)]
pub(super) struct Waits {
    /// Where in the stream of written bytes it ends.
    pub(super) ends_at: u64,
    pub(super) deadline: Instant,
    pub(super) waker: Option<Waker>,
    pub(super) ended: Option<Result<Ended, Lost>>,
}

const PLACE_BITS: u32 = 12;
pub(crate) const PLACES_MAX: usize = 1 << PLACE_BITS;

impl Places {
    /// Takes a place; returns the request's id. It counts as not written until its end is known.
    pub(super) fn enter(&mut self, deadline: Instant) -> u64 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { turn: 0, waits: None });
            self.places.len() - 1
        });
        let place = &mut self.places[at];
        place.turn += 1;
        place.waits = Some(Waits { ends_at: u64::MAX, deadline, waker: None, ended: None });
        id_of(at, place)
    }

    /// The request of that id, if it is there.
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Waits> {
        let place = self.places.get_mut(at(id))?;
        if place.turn == id >> PLACE_BITS { place.waits.as_mut() } else { None }
    }

    /// Gives its place to others.
    pub(super) fn leave(&mut self, id: u64) -> Option<Waits> {
        self.get_mut(id)?;
        self.free.push(at(id));
        self.places[at(id)].waits.take()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Ends a request; an answer to a cancelled one has nobody to go to.
    pub(super) fn end(&mut self, id: u64, ended: Result<Ended, Lost>) -> Option<Waker> {
        let waits = self.get_mut(id)?;
        waits.ended = Some(ended);
        waits.waker.take()
    }

    /// Those without an end for which it is true.
    pub(super) fn open_where(&self, wanted: impl Fn(&Waits) -> bool) -> Vec<u64> {
        let wanted = |waits: &Waits| waits.ended.is_none() && wanted(waits);
        let wanted = |place: &Place| place.waits.as_ref().is_some_and(&wanted);
        let all = self.places.iter().enumerate().filter(|(_, place)| wanted(place));
        all.map(|(at, place)| id_of(at, place)).collect()
    }

    /// The first deadline of those without an end.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let all = self.places.iter().filter_map(|place| place.waits.as_ref());
        all.filter(|waits| waits.ended.is_none()).map(|waits| waits.deadline).min()
    }
}

fn at(id: u64) -> usize {
    (id as usize) & (PLACES_MAX - 1)
}

fn id_of(at: usize, place: &Place) -> u64 {
    place.turn << PLACE_BITS | at as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_finds_nobody_and_a_place_is_left_once() {
        let mut places = Places::default();
        let deadline = Instant::now();
        let first = places.enter(deadline);
        assert!(places.leave(first).is_some() && places.leave(first).is_none());
        let second = places.enter(deadline);
        assert_ne!(first, second);
        assert!(places.end(first, Err(Lost::Sent("late".into()))).is_none());
        assert_eq!((places.open_where(|_| true), places.len()), (vec![second], 1));
        places.end(second, Err(Lost::Sent("why".into())));
        assert_eq!((places.open_where(|_| true), places.next_deadline()), (vec![], None));
        assert!(places.leave(second).is_some_and(|waits| waits.ended.is_some()));
        assert_eq!((places.len(), places.free.len()), (0, 1));
    }
}
