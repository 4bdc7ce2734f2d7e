//! What a child needs from its beginning to its program, on Linux.
//!
//! The child borrows the launcher's memory until its program takes its place, and the launcher stands still
//! meanwhile: nothing is copied, and a failure is a number that the child leaves there. So all of this is made
//! before, and what the child does with it are plain system calls.

use std::ffi::{CString, NulError};
use std::io;
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::libc::c_char;

use crate::sys;

/// Bytes of the child's own stack.
pub(crate) const STACK: usize = 64 * 1024;

/// A descriptor, and the number that the child has it under.
pub(crate) type Place = (RawFd, RawFd);

/// What runs a script that doesn't say what runs it, as `execvp` does.
const SHELL: &std::ffi::CStr = c"/bin/sh";

/// What a child becomes.
#[derive(Debug)]
pub(crate) struct Program {
    /// Where it may be, each with the arguments for the shell if that is to run it.
    files: Vec<(CString, Strings)>,
    args: Strings,
    env: Strings,
    /// Tried in this order; the root when it can be in none.
    pub(crate) directories: Vec<CString>,
}

impl Program {
    /// `files` are tried in this order; `args` begin with the program's name.
    ///
    /// # Errors
    /// A text with a zero byte.
    pub(crate) fn new(
        files: Vec<String>,
        args: &[&str],
        env: Vec<String>,
        directories: &[&str],
    ) -> io::Result<Self> {
        let text = |text: &str| CString::new(text).map_err(|error: NulError| error.into());
        let file = |file: String| {
            let rest = args.iter().skip(1).copied();
            let script = [SHELL.into(), text(&file)?].into_iter().map(Ok).chain(rest.map(text));
            Ok((text(&file)?, Strings::new(script.collect::<io::Result<_>>()?)))
        };
        Ok(Self {
            files: files.into_iter().map(file).collect::<io::Result<_>>()?,
            args: Strings::new(args.iter().copied().map(text).collect::<io::Result<_>>()?),
            env: Strings::new(env.iter().map(|one| text(one)).collect::<io::Result<_>>()?),
            directories: directories.iter().copied().map(text).collect::<io::Result<_>>()?,
        })
    }

    /// Lets the program take this process's place; returns only when none does, with why: the same as
    /// `execvp` says.
    pub(crate) fn execute(&self) -> Errno {
        let mut found = Errno::ENOENT;
        for (file, script) in &self.files {
            let mut why = sys::execute(file, &self.args, &self.env);
            if why == Errno::ENOEXEC {
                why = sys::execute(SHELL, script, &self.env);
            }
            match why {
                Errno::ENOENT | Errno::ENOTDIR => {}
                // Another directory may have one that may be run.
                Errno::EACCES => found = why,
                _ => return why,
            }
        }
        found
    }
}

/// Texts as the kernel takes them: pointers to each, the last one null.
#[derive(Debug)]
pub(crate) struct Strings {
    /// What the pointers point to, and so never touched.
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Strings {
    fn new(texts: Vec<CString>) -> Self {
        let each = texts.iter().map(|text| text.as_ptr());
        let pointers = each.chain([std::ptr::null()]).collect();
        Self { _texts: texts, pointers }
    }

    /// Where the pointers are; valid for as long as this is.
    pub(crate) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}
