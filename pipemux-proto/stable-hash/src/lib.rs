//! A 64-bit hash that gives the same value in every release and on every machine.
//!
//! The socket's name, the directories of workspaces, the editor's journals and the marks of
//! processes are made with it. If a value changed, a new release would not find what an older one
//! left, so the values are pinned in `tests/golden.rs`. The standard library's hashers make no such
//! promise.
//!
//! There are two functions, and neither can replace the other, because each one's values are on
//! disk:
//!
//! | function | is | names |
//! |---|---|---|
//! | [`hash`] | FNV-1a, 64 bits | the socket, workspace directories, process marks |
//! | [`hash_with_length`] | FNV-1a with the input's length mixed in at the end | the editor's journals and saved state |
//!
//! **Invariant: not for security.** Whoever chooses the input can make two inputs collide.
#![no_std]
#![forbid(unsafe_code)]

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the FNV-1a hash of `bytes`.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = StableHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Returns the FNV-1a hash of `bytes` with their number mixed in at the end.
pub fn hash_with_length(bytes: &[u8]) -> u64 {
    let mut hasher = StableHasher::new();
    hasher.write(bytes);
    hasher.finish_with_length()
}

/// Hashes bytes that arrive in pieces; where the pieces are cut makes no difference.
#[derive(Debug, Clone)]
pub struct StableHasher {
    state: u64,
    length: u64,
}

impl StableHasher {
    /// Starts with no input.
    pub fn new() -> Self {
        Self { state: OFFSET_BASIS, length: 0 }
    }

    /// Appends `bytes` to the input.
    pub fn write(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        for byte in bytes {
            self.state = (self.state ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    }

    /// Returns the [`hash`] of the input so far.
    pub fn finish(&self) -> u64 {
        self.state
    }

    /// Returns the [`hash_with_length`] of the input so far.
    pub fn finish_with_length(&self) -> u64 {
        (self.state ^ self.length).wrapping_mul(PRIME)
    }
}

impl Default for StableHasher {
    fn default() -> Self {
        Self::new()
    }
}
