//! Arguments and environment, as the system puts them on the stack of a new process.

use core::ffi::{CStr, c_char};

/// The first word on the stack: the number of arguments. Behind it are their addresses and a null,
/// and those of the environment and a null.
#[derive(Debug, Clone, Copy)]
pub struct Stack(*const usize);

impl Stack {
    /// # Safety
    /// This is the stack of a process as the system started it. It stays for as long as the process
    /// runs.
    #[allow(unsafe_code)]
    pub unsafe fn new(first: *const usize) -> Self {
        Self(first)
    }

    /// Returns the arguments; the first is the program.
    pub fn arguments(self) -> impl Iterator<Item = &'static [u8]> {
        Texts(self.0.wrapping_add(1).cast())
    }

    /// Returns the environment: `NAME=value`.
    pub fn environment(self) -> impl Iterator<Item = &'static [u8]> {
        // SAFETY: see `new`.
        #[allow(unsafe_code)]
        let count = unsafe { *self.0 };
        Texts(self.0.wrapping_add(count).wrapping_add(2).cast())
    }
}

/// Addresses of texts that end with zero, up to a null.
struct Texts(*const *const c_char);

impl Iterator for Texts {
    type Item = &'static [u8];

    fn next(&mut self) -> Option<&'static [u8]> {
        // SAFETY: it begins within such a list (see `Stack::new`), and never gets behind its end.
        #[allow(unsafe_code)]
        let text = unsafe { *self.0 };
        if text.is_null() {
            return None;
        }
        self.0 = self.0.wrapping_add(1);
        // SAFETY: the system ends each text with zero.
        #[allow(unsafe_code)]
        Some(unsafe { CStr::from_ptr(text) }.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn arguments_and_environment_are_told_apart() {
        let texts = [c"pipemux", c"view", c"A=1", c"B="];
        let address = |text: &CStr| text.as_ptr().expose_provenance();
        let [program, view, a, b] = texts.map(address);
        let words = [2, program, view, 0, a, b, 0];
        // SAFETY: it is laid out as a stack is, and static.
        #[allow(unsafe_code)]
        let stack = unsafe { Stack::new(words.as_ptr()) };
        let arguments: Vec<&[u8]> = stack.arguments().collect();
        assert_eq!(arguments, [&b"pipemux"[..], b"view"]);
        let environment: Vec<&[u8]> = stack.environment().collect();
        assert_eq!(environment, [&b"A=1"[..], b"B="]);
    }
}
