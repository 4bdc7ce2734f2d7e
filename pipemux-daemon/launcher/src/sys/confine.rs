//! Confines this process, between its start and its program. Nothing here allocates, locks or
//! panics.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use seccompiler::sock_filter;

use crate::confine::Confinement;
use crate::sandbox::SandboxSupport;

/// `LANDLOCK_CREATE_RULESET_VERSION`
const VERSION: libc::c_uint = 1;
/// `LANDLOCK_RULE_PATH_BENEATH`
const PATH_BENEATH: libc::c_int = 1;
/// `LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR`
const READ: u64 = 1 << 2 | 1 << 3;
/// `_LINUX_CAPABILITY_VERSION_3`
const CAPABILITIES_3: u32 = 0x2008_0522;

/// `struct landlock_path_beneath_attr`
#[repr(C, packed)]
struct PathBeneathAttr {
    allowed_access: u64,
    parent_fd: i32,
}

/// `struct __user_cap_header_struct`
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

/// `struct __user_cap_data_struct`
#[repr(C)]
#[derive(Clone, Copy)]
struct CapabilityData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

impl SandboxSupport {
    /// Asks the kernel what it can hold a process to.
    pub fn of_this_system() -> Self {
        // SAFETY: with this flag the call reads no memory and returns a number.
        #[allow(unsafe_code)]
        let version = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<u8>(),
                0_usize,
                VERSION,
            )
        };
        let action = libc::SECCOMP_RET_ERRNO;
        // SAFETY: the call reads one number, which outlives it.
        #[allow(unsafe_code)]
        let filters = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action)
        };
        // Filters are written for these machines only.
        let known =
            cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"));
        Self { landlock: version.max(0) as u32, seccomp: filters == 0 && known }
    }
}

/// Confines this process for good, with all that it starts.
///
/// # Errors
/// The kernel refuses; then the program must not run.
pub(super) fn confine(confinement: &Confinement) -> io::Result<()> {
    set_no_new_privileges()?;
    if let Some(ruleset) = &confinement.ruleset {
        if confinement.own_proc {
            allow_own_proc(ruleset);
        }
        // SAFETY: takes plain numbers.
        #[allow(unsafe_code)]
        Errno::result(unsafe {
            libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0)
        })?;
    }
    keep_capabilities(confinement.capabilities)
}

/// Installs a filter of system calls for this thread and all that it starts.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn install_filter(filter: &[sock_filter]) -> io::Result<()> {
    seccompiler::apply_filter(filter).map_err(|error| match error {
        seccompiler::Error::Seccomp(error) | seccompiler::Error::Prctl(error) => error,
        other => io::Error::other(other),
    })
}

fn set_no_new_privileges() -> io::Result<()> {
    // SAFETY: takes plain numbers.
    #[allow(unsafe_code)]
    Errno::result(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    Ok(())
}

/// Lets the process read its own directory of `/proc`, which exists only now. Without a `/proc` it
/// goes on.
fn allow_own_proc(ruleset: &OwnedFd) {
    let flags = libc::O_PATH | libc::O_CLOEXEC | libc::O_DIRECTORY;
    // SAFETY: the path ends with zero. The descriptor, if there is one, is new and owned by nobody
    // else.
    #[allow(unsafe_code)]
    let own = unsafe {
        match libc::open(c"/proc/self".as_ptr(), flags) {
            -1 => return,
            fd => OwnedFd::from_raw_fd(fd),
        }
    };
    let _ = add_rule(ruleset, &own, READ);
}

/// Allows access to a directory with all that is in it, or to a file.
///
/// # Errors
/// The kernel knows not all of these rights, or they don't fit a file.
pub(crate) fn add_rule(ruleset: &OwnedFd, found: &OwnedFd, access: u64) -> io::Result<()> {
    let rule = PathBeneathAttr { allowed_access: access, parent_fd: found.as_raw_fd() };
    // SAFETY: the rule outlives the call, which only reads it.
    #[allow(unsafe_code)]
    Errno::result(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            PATH_BENEATH,
            &raw const rule,
            0,
        )
    })?;
    Ok(())
}

/// Gives up all capabilities but these, of those that the process has.
fn keep_capabilities(kept: u32) -> io::Result<()> {
    let header = CapabilityHeader { version: CAPABILITIES_3, pid: 0 };
    let none = CapabilityData { effective: 0, permitted: 0, inheritable: 0 };
    let mut data = [none; 2];
    // SAFETY: the header and both parts of the data outlive the calls and have the kernel's layout.
    #[allow(unsafe_code)]
    unsafe {
        Errno::result(libc::syscall(libc::SYS_capget, &raw const header, data.as_mut_ptr()))?;
        let permitted = data[0].permitted & kept;
        data = [CapabilityData { effective: permitted, permitted, inheritable: 0 }, none];
        Errno::result(libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()))?;
    }
    Ok(())
}

/// True if a file has an extended attribute of that name with the value `1`.
pub(crate) fn has_attribute(path: &Path, name: &str) -> bool {
    let (Ok(path), Ok(name)) = (CString::new(path.as_os_str().as_bytes()), CString::new(name))
    else {
        return false;
    };
    let mut value = [0_u8; 8];
    // SAFETY: both texts end with zero, and the kernel writes no more than the buffer has.
    #[allow(unsafe_code)]
    let length = unsafe {
        libc::getxattr(path.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), value.len())
    };
    length > 0 && value[0] == b'1'
}
