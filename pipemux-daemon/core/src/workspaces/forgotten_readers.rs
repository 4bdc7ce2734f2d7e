//! Remembers which readers were forgotten: a reader who comes back may have seen things that are no
//! longer known.

use std::collections::BTreeSet;

use crate::keys::ReaderId;
use crate::limits::FORGOTTEN_READERS_MAX;

/// The names of evicted readers.
#[derive(Debug, Default)]
pub(super) struct ForgottenReaders {
    names: BTreeSet<ReaderId>,
    /// True when every name may be one of them.
    all: bool,
}

impl ForgottenReaders {
    pub(super) fn add(&mut self, name: ReaderId) {
        if self.names.len() < FORGOTTEN_READERS_MAX {
            self.names.insert(name);
        } else if !self.names.contains(&name) {
            self.add_all();
        }
    }

    /// Makes every name count as one of them.
    pub(super) fn add_all(&mut self) {
        self.names.clear();
        self.all = true;
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.all || self.names.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_the_bound_every_reader_may_have_been_there() {
        let mut readers = ForgottenReaders::default();
        for number in 0..FORGOTTEN_READERS_MAX {
            readers.add(number.to_string().as_str().into());
        }
        readers.add("0".into());
        assert!(readers.contains("7") && !readers.contains("new"));
        readers.add("one more".into());
        assert!(readers.contains("new"));
    }
}
