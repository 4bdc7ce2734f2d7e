//! System calls that need `unsafe`, each with the reason why it is sound.
//!
//! | module | contents |
//! |---|---|
//! | `sys::process` | this process: its descriptors, priority and signal mask |
//! | `sys::wait` | children that ended: found, reaped, their resource usage |
//! | `sys::marked` | a process's handle and its mark; processes killed by it (Linux) |
//! | `sys::confine` | a child confines itself (Linux) |
//! | `sys::exec` | a prepared program, and `execve` (Linux) |
//! | `sys::child` | what a child does between its start and its program |

mod child;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod exec;
#[cfg(target_os = "linux")]
mod marked;
mod process;
mod wait;

#[cfg(not(target_os = "linux"))]
pub(crate) use child::prepare;
#[cfg(target_os = "linux")]
pub(crate) use child::{ChildSetup, FdMapping, STACK_SIZE, start, with_mark};
#[cfg(target_os = "linux")]
pub(crate) use confine::{add_rule, has_attribute, install_filter};
#[cfg(target_os = "linux")]
pub(crate) use exec::Program;
#[cfg(target_os = "linux")]
pub(crate) use marked::kill_if;
#[cfg(target_os = "linux")]
pub use marked::{mark_of, process_handle};
pub(crate) use process::{own, set_priority, unblock_signals};
pub(crate) use wait::{Usage, next_dead, reap};

#[cfg(not(target_os = "linux"))]
impl crate::sandbox::SandboxSupport {
    /// Nothing can be confined here.
    pub fn of_this_system() -> Self {
        Self::default()
    }
}
