//! Undo and redo for an app whose state, or the part of it that actions change, can be copied.
//!
//! ```
//! use docui::undo::Undo;
//!
//! let mut items = vec!["milk"];
//! let mut undo = Undo::new(100);
//! let change = undo.record("add", items.clone());
//! items.push("bread");
//!
//! let (what, _) = undo.undo(Some(change), &mut items).unwrap();
//! assert_eq!((what, items.as_slice()), ("add".to_owned(), &["milk"][..]));
//! assert!(undo.redo(None, &mut items).is_ok());
//! assert_eq!(items.len(), 2);
//! ```
//!
//! Give each outcome a link `undo` that names its change as a [`crate::Change`], so that the link
//! stays valid and `pipemux undo` works: `done.link("undo", &Action::Undo { change:
//! Some(Change(change)) })`.

use std::collections::VecDeque;

use pipemux_proto::Fault;

/// The states before the last changes.
///
/// With `serde`, it can be part of the state that an app saves, so that undo works after a sleep.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Undo<T> {
    /// The changes that can be undone, the newest last.
    done: VecDeque<Recorded<T>>,
    /// The changes that were undone, the last one last.
    undone: Vec<Recorded<T>>,
    /// The number of the last change; a number is never used again.
    last: u64,
    most: usize,
}

/// A change, and the state on its other side: before it while it is done, after it once it is
/// undone.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Recorded<T> {
    number: u64,
    what: String,
    state: T,
}

impl<T> Undo<T> {
    /// Keeps the states before the last `most` changes.
    pub fn new(most: usize) -> Self {
        Self { done: VecDeque::new(), undone: Vec::new(), last: 0, most: most.max(1) }
    }

    /// Records a change that is about to be made, with the state before it. Returns its number.
    /// Changes that were undone can't be redone any more.
    pub fn record(&mut self, what: impl Into<String>, before: T) -> u64 {
        self.last += 1;
        self.undone.clear();
        self.done.push_back(Recorded { number: self.last, what: what.into(), state: before });
        if self.done.len() > self.most {
            self.done.pop_front();
        }
        self.last
    }

    /// Takes back the last recording: its change wasn't made.
    pub fn forget_last(&mut self) {
        self.done.pop_back();
    }

    /// Returns the number of the change that is undone next, and what it was.
    pub fn next_undo(&self) -> Option<(u64, &str)> {
        self.done.back().map(|change| (change.number, change.what.as_str()))
    }

    /// Returns the number of the change that is redone next, and what it was.
    pub fn next_redo(&self) -> Option<(u64, &str)> {
        self.undone.last().map(|change| (change.number, change.what.as_str()))
    }

    /// Undoes the newest change. If `change` is given, it must be that one. Returns the change's
    /// description, and its number, which redoes it.
    ///
    /// # Errors
    /// There is nothing to undo, or the given change isn't the newest one any more. Nothing
    /// changed.
    pub fn undo(&mut self, change: Option<u64>, state: &mut T) -> Result<(String, u64), Fault> {
        let newest = self.next_undo().map(|(number, what)| (number, what.to_owned()));
        check(change, newest, "undo", self.last)?;
        let Some(mut recorded) = self.done.pop_back() else { return Err(nothing("undo")) };
        std::mem::swap(&mut recorded.state, state);
        let told = (recorded.what.clone(), recorded.number);
        self.undone.push(recorded);
        Ok(told)
    }

    /// Redoes the change that was undone last. If `change` is given, it must be that one. Returns
    /// the change's description, and its number, which undoes it.
    ///
    /// # Errors
    /// There is nothing to redo, or the given change isn't the one that was undone last. Nothing
    /// changed.
    pub fn redo(&mut self, change: Option<u64>, state: &mut T) -> Result<(String, u64), Fault> {
        let newest = self.next_redo().map(|(number, what)| (number, what.to_owned()));
        check(change, newest, "redo", self.last)?;
        let Some(mut recorded) = self.undone.pop() else { return Err(nothing("redo")) };
        std::mem::swap(&mut recorded.state, state);
        let told = (recorded.what.clone(), recorded.number);
        self.done.push_back(recorded);
        Ok(told)
    }
}

fn nothing(verb: &str) -> Fault {
    Fault::refused(format!("there is nothing to {verb}"))
}

/// Refuses a change that isn't the next one.
fn check(
    change: Option<u64>,
    next: Option<(u64, String)>,
    verb: &str,
    last: u64,
) -> Result<(), Fault> {
    let (Some(change), Some((next, what))) = (change, &next) else {
        return if next.is_some() { Ok(()) } else { Err(nothing(verb)) };
    };
    match change {
        _ if change == *next => Ok(()),
        _ if change > last => Err(Fault::not_found(format!("there is no change {change}"))),
        _ => Err(Fault::stale(format!(
            "change {change} can't be taken now: the next one to {verb} is {next}, {what}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::Code;

    #[test]
    fn changes_are_undone_and_redone_in_order() {
        let (mut state, mut undo) = (0, Undo::new(3));
        for step in 1..=5 {
            assert_eq!(undo.record(format!("to {step}"), state), step);
            state = step;
        }
        assert_eq!(undo.undo(None, &mut state).unwrap(), ("to 5".to_owned(), 5));
        assert_eq!(undo.undo(Some(4), &mut state).unwrap().1, 4);
        assert_eq!(state, 3);
        assert_eq!(undo.next_redo(), Some((4, "to 4")));
        assert_eq!(undo.redo(Some(4), &mut state).unwrap().1, 4);
        assert_eq!(state, 4);
        // A new change ends the redo, and only the last three changes are kept.
        undo.record("to 9", state);
        state = 9;
        assert_eq!(undo.redo(None, &mut state).unwrap_err().code, Code::Refused);
        for expected in [4, 3, 2] {
            undo.undo(None, &mut state).unwrap();
            assert_eq!(state, expected);
        }
        let fault = undo.undo(None, &mut state).unwrap_err();
        assert_eq!((fault.code, state), (Code::Refused, 2));
    }

    #[test]
    fn older_change_is_never_taken_back_in_place_of_a_later_one() {
        let (mut state, mut undo) = ('a', Undo::new(9));
        let first = undo.record("b", state);
        state = 'b';
        let second = undo.record("c", state);
        state = 'c';
        let stale = undo.undo(Some(first), &mut state).unwrap_err();
        assert_eq!((stale.code, state), (Code::Stale, 'c'));
        assert_eq!(undo.undo(Some(7), &mut state).unwrap_err().code, Code::NotFound);
        undo.undo(Some(second), &mut state).unwrap();
        undo.undo(Some(first), &mut state).unwrap();
        assert_eq!(state, 'a');
        // A change that failed leaves no trace.
        undo.record("never", state);
        undo.forget_last();
        assert_eq!(undo.next_undo(), None);
    }
}
