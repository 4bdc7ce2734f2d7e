//! A program that a child is to become, prepared in advance, and `execveat`.
//!
//! The child uses the launcher's memory until `execve` replaces its program, while the launcher is
//! suspended. Nothing is copied, and the child reports a failure by writing a number to that
//! memory. Therefore everything here is prepared beforehand, and the child only makes system calls
//! with it.

use std::ffi::{CStr, CString, NulError};
use std::io;

use nix::errno::Errno;
use nix::libc;

use crate::confine::StartSecret;

/// Runs a script that doesn't name its interpreter, as `execvp` does.
const SHELL: &CStr = c"/bin/sh";

/// A program with its arguments, environment and working directories.
#[derive(Debug)]
pub(crate) struct Program {
    /// The candidate paths, each with the arguments for the case that the shell has to run it.
    files: Vec<(CString, CStringArray)>,
    args: CStringArray,
    env: CStringArray,
    /// Working directories, tried in this order; `/` is used when none of them works.
    pub(super) directories: Vec<CString>,
}

impl Program {
    /// Prepares a program. The `files` are tried in this order; `args` begin with the program's
    /// name.
    ///
    /// # Errors
    /// A string contains a zero byte.
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
            Ok((text(&file)?, CStringArray::new(script.collect::<io::Result<_>>()?)))
        };
        Ok(Self {
            files: files.into_iter().map(file).collect::<io::Result<_>>()?,
            args: CStringArray::new(args.iter().copied().map(text).collect::<io::Result<_>>()?),
            env: CStringArray::new(env.iter().map(|one| text(one)).collect::<io::Result<_>>()?),
            directories: directories.iter().copied().map(text).collect::<io::Result<_>>()?,
        })
    }

    /// Replaces this process's program; returns only when no candidate works, with the same error
    /// as `execvp`.
    pub(super) fn execute(&self, secret: StartSecret) -> Errno {
        let mut found = Errno::ENOENT;
        for (file, script) in &self.files {
            let mut error = execve(file, &self.args, &self.env, secret);
            if error == Errno::ENOEXEC {
                error = execve(SHELL, script, &self.env, secret);
            }
            match error {
                Errno::ENOENT | Errno::ENOTDIR => {}
                // A later candidate may be executable.
                Errno::EACCES => found = error,
                _ => return error,
            }
        }
        found
    }
}

/// Strings as the kernel takes them: an array of pointers that ends with null.
#[derive(Debug)]
struct CStringArray {
    /// Owns what the pointers point to, and is never changed.
    _texts: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

// SAFETY: the pointers lead to what the array owns, which never changes.
#[allow(unsafe_code)]
unsafe impl Send for CStringArray {}

impl CStringArray {
    fn new(texts: Vec<CString>) -> Self {
        let each = texts.iter().map(|text| text.as_ptr());
        let pointers = each.chain([std::ptr::null()]).collect();
        Self { _texts: texts, pointers }
    }
}

/// Replaces this process's program; returns only on failure, with the error. The kernel ignores the
/// last argument, by which the filter knows this call.
fn execve(file: &CStr, args: &CStringArray, env: &CStringArray, secret: StartSecret) -> Errno {
    // SAFETY: all strings end with zero, and both arrays end with null.
    #[allow(unsafe_code)]
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            libc::AT_FDCWD,
            file.as_ptr(),
            args.pointers.as_ptr(),
            env.pointers.as_ptr(),
            0,
            secret.0,
        );
    }
    Errno::last()
}
