//! Numbers that only rise, reserved on disk in blocks.

use crate::limits::BLOCK;
use crate::persist::records::Record;

/// Numbers of incarnations, windows and questions. A number is used once, also across daemons: a
/// block is reserved on disk before its first number goes out.
#[derive(Debug, Default)]
pub struct Numbers {
    last: u64,
    reserved: u64,
}

impl Numbers {
    /// Returns the next number and, if it begins a new block, the record that must be written
    /// before the number is used.
    pub fn take(&mut self) -> (u64, Option<Record>) {
        self.last += 1;
        if self.last < self.reserved {
            return (self.last, None);
        }
        self.reserved = self.last + BLOCK;
        (self.last, Some(Record::Reserved { numbers_below: self.reserved }))
    }

    /// Goes on where an earlier daemon may have been.
    pub fn restore(&mut self, numbers_below: u64) {
        (self.last, self.reserved) = (numbers_below, numbers_below);
    }

    /// A number while records are being restored: within what the earlier daemon had reserved.
    pub fn take_restored(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Passes over numbers that lost records may have reserved.
    pub fn skip(&mut self, leap: u64) {
        self.last = self.last.max(self.reserved).saturating_add(leap);
        self.reserved = self.last;
    }

    /// Goes on at that number at least.
    pub fn rise(&mut self, numbers_below: u64) {
        self.last = self.last.max(self.reserved).max(numbers_below);
        self.reserved = self.last;
    }

    /// The record of the highest number really used, for an orderly shutdown.
    pub fn used(&self) -> Record {
        Record::Reserved { numbers_below: self.last }
    }

    /// The record of the highest number possibly used, for a snapshot.
    pub fn reserved(&self) -> Record {
        Record::Reserved { numbers_below: self.last.max(self.reserved) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_reserved_before_its_first_number_is_used() {
        let mut numbers = Numbers::default();
        let (first, record) = numbers.take();
        assert_eq!((first, record), (1, Some(Record::Reserved { numbers_below: 1 + BLOCK })));
        for expected in 2..1 + BLOCK {
            assert_eq!(numbers.take(), (expected, None));
        }
        assert_eq!(numbers.take().1, Some(Record::Reserved { numbers_below: 1 + 2 * BLOCK }));
    }

    #[test]
    fn a_later_daemon_uses_no_number_of_an_earlier_one() {
        let mut numbers = Numbers::default();
        let (last, _) = numbers.take();
        let Record::Reserved { numbers_below } = numbers.reserved() else { panic!() };
        let mut later = Numbers::default();
        later.restore(numbers_below);
        assert!(later.take().0 > last);
        later.skip(100);
        assert!(later.take().0 > numbers_below + 100);
    }
}
