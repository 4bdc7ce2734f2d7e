//! The launcher: the parent process of every app, deliberately small.
//!
//! It is a process of its own (`pipemuxd launcher`) and blocking: one thread of it works at a time.
//! The daemon sends it [`Order`]s and receives [`Report`]s over a socket, which is the launcher's
//! standard input. When that socket closes, for whatever reason, the launcher kills every
//! descendant until none is left, and exits.
//!
//! | module | contents |
//! |---|---|
//! | [`message`] | orders and reports |
//! | [`channel`] | how messages and file descriptors are sent |
//! | `run` | the loop |
//! | `spawn` | starts one process: its program, descriptors, environment |
//! | [`sandbox`] | what a process is confined to |
//! | `confine` | prepares what confines a process (Linux) |
//! | `filter_threads` | threads under a filter of system calls, which what they start inherits (Linux) |
//! | `app_table` | the running apps; the end of each, with all that it started |
//! | [`cgroup`] | control groups: what the kernel holds a session to |
//! | `tree_usage`, `disk_usage` | what an app and all that it started use; what its directory takes |
//! | `process_usage` | what processes use, for people who ask |
//! | `process_limit` | when to count the apps' processes |
//! | `limit_levels` | which level holds which limit, in words |
//! | [`mark`] | marks: which incarnation a process belongs to |
//! | `processes` | the machine's processes, by mark and parent |
//! | [`orphans`] | kills descendants until none is left |
//! | [`leftovers`] | what is left when daemon and launcher were both killed |
//! | [`fds`] | closes inherited descriptors |
//! | `sys` | system calls that need `unsafe` |
//!
//! **Invariant: no process is signalled by a process id that another process may have.** A process
//! id is used only while its process is a child that isn't reaped, and only the launcher reaps. Any
//! other process is held by a handle while its mark is read, and is signalled through that handle.
//!
//! **Invariant: no runtime; one thread works at a time.** A child uses its parent's memory until
//! its program replaces it, so nothing else may run in the launcher then. Besides the first thread
//! there are only those of `filter_threads`, for which the first one waits.
//!
//! **Invariant: a thread that starts processes ends with the launcher.** A parent-death signal is
//! bound to the thread that forked.

mod app_table;
#[cfg(target_os = "linux")]
pub mod cgroup;
#[cfg(not(target_os = "linux"))]
#[path = "cgroup_fallback.rs"]
pub mod cgroup;
pub mod channel;
#[cfg(target_os = "linux")]
mod confine;
mod disk_usage;
pub mod fds;
#[cfg(target_os = "linux")]
mod filter_threads;
pub mod leftovers;
mod limit_levels;
pub mod mark;
pub mod message;
pub mod orphans;
mod process_limit;
#[cfg(target_os = "linux")]
mod process_usage;
#[cfg(not(target_os = "linux"))]
#[path = "process_usage_fallback.rs"]
mod process_usage;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(not(target_os = "linux"))]
#[path = "processes_fallback.rs"]
mod processes;
mod run;
pub mod sandbox;
#[cfg(target_os = "linux")]
mod spawn;
#[cfg(not(target_os = "linux"))]
#[path = "spawn_fallback.rs"]
mod spawn;
mod sys;
#[cfg(target_os = "linux")]
mod tree_usage;
#[cfg(not(target_os = "linux"))]
#[path = "tree_usage_fallback.rs"]
mod tree_usage;

pub use channel::{Inbox, encode, send};
pub use disk_usage::disk_usage;
pub use leftovers::Leftover;
pub use limit_levels::describe_limits;
pub use mark::{MarkOrigin, ProcessMark};
pub use message::{ExceededLimit, Limits, Order, Report, Spawn, StopSignal, Termination};
pub use process_usage::{ProcessUsage, usage_of_marks, usage_of_self};
pub use run::run;
pub use sandbox::{Clash, Grant, Sandbox, SandboxSupport};
#[cfg(target_os = "linux")]
pub use sys::{mark_of, process_handle};
