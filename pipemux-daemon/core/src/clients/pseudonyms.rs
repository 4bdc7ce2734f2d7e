//! The ids of runs that apps are given. A client's own id would let an app send a request in the
//! client's name, or learn which runs of different apps belong together with what else the client
//! does.

use std::hash::Hasher as _;

use bytes::Bytes;
use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// Makes pseudonyms with a secret key. The same run has the same pseudonym as long as the key is
/// kept, also for a later daemon: apps remember whose changes are whose.
#[derive(Debug, Default)]
pub struct Pseudonyms {
    key: [u8; 16],
}

impl Pseudonyms {
    /// Makes pseudonyms with this key.
    pub fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    pub fn key(&self) -> Bytes {
        Bytes::copy_from_slice(&self.key)
    }

    /// Returns the pseudonym of a reader's run: 32 hexadecimal digits.
    pub fn of(&self, workspace: &str, reader: &str, run_id: &str) -> String {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        for part in [workspace, reader, run_id] {
            hasher.write(&(part.len() as u64).to_le_bytes());
            hasher.write(part.as_bytes());
        }
        format!("{:032x}", hasher.finish128().as_u128())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudonym_depends_on_all_that_names_the_run_and_on_the_key() {
        let of =
            |key: u8, parts: [&str; 3]| Pseudonyms::new([key; 16]).of(parts[0], parts[1], parts[2]);
        let one = of(1, ["/a", "b", "c"]);
        assert_eq!(one, of(1, ["/a", "b", "c"]));
        assert_eq!(one.len(), 32);
        let others = [
            of(2, ["/a", "b", "c"]),
            of(1, ["/a", "bc", ""]),
            of(1, ["/ab", "", "c"]),
            of(1, ["/a", "", "bc"]),
        ];
        for other in others {
            assert_ne!(one, other);
        }
    }
}
