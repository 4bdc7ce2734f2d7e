//! What a hostile app tries in order to get out of its sandbox, each attempt with what came of it.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::errno::Errno;
use nix::libc;

/// Attempts to do everything that a sandbox is to prevent, and some things that it is not. Returns
/// a line for each: `attempt: outcome`.
///
/// `state_dir` is the session's own directory; the home directory and the project are told by the
/// environment.
pub fn all(state_dir: &Path) -> String {
    let lines = files(state_dir).into_iter().chain(processes()).chain(system_calls(state_dir));
    lines.map(|(attempt, outcome)| format!("{attempt}: {}\n", outcome_of(outcome))).collect()
}

type Attempts = Vec<(&'static str, io::Result<()>)>;

/// Attempts to use files.
fn files(state_dir: &Path) -> Attempts {
    let home = PathBuf::from(std::env::var("HOME").unwrap_or_default());
    let project = std::env::current_dir().unwrap_or_default();
    let daemon = state_dir.ancestors().nth(4).unwrap_or(state_dir).to_owned();
    let secret = home.join(".ssh/id");
    let manifests = home.join(".config/pipemux/apps");
    let own = |name: &str| state_dir.join(name);
    vec![
        ("write its own state", fs::write(own("own"), "x")),
        ("read its own state", read(&own("own"))),
        ("read the system's libraries", fs::read_dir("/usr/lib").map(drop)),
        ("read the opened folder", read(&project.join("a.txt"))),
        ("write in the opened folder", fs::write(project.join("new.txt"), "x")),
        ("read ~/.ssh/id", read(&secret)),
        ("list the home directory", fs::read_dir(&home).map(drop)),
        ("truncate ~/.ssh/id", truncate(&secret)),
        ("remove ~/.ssh/id", fs::remove_file(home.join(".ssh/gone"))),
        ("link ~/.ssh/id into its state", fs::hard_link(&secret, own("linked"))),
        ("rename ~/.ssh/id into its state", fs::rename(&secret, own("moved"))),
        ("read ~/.ssh/id by a symlink", read_by_symlink(&secret, &own("symlink"))),
        ("read ~/.ssh/id by /proc/self/root", read(&under("/proc/self/root", &secret))),
        ("chmod ~/.ssh/id", mode(&secret)),
        ("set an attribute of ~/.ssh/id", attribute(&secret, libc::SYS_setxattr)),
        ("set an attribute of ~/.ssh/id by setxattrat", attribute_at(&secret)),
        ("set the flags of ~/.ssh/id by file_setattr", flags_of(&secret)),
        ("read /etc/shadow", read(Path::new("/etc/shadow"))),
        ("write in /tmp", fs::write("/tmp/pipemux-rogue", "x")),
        ("read the daemon's state", read(&daemon.join("state.log"))),
        ("write the daemon's state", append(&daemon.join("state.log"))),
        ("list other sessions' state", fs::read_dir(daemon.join("sessions")).map(drop)),
        ("read its manifest", fs::read_dir(&manifests).map(drop)),
        ("register an app", fs::write(manifests.join("evil.toml"), "x")),
        ("read a disk's device", read(Path::new("/dev/vda"))),
        ("make a device", mknod(&own("device"))),
    ]
}

/// Attempts on other processes.
fn processes() -> Attempts {
    let parent = std::os::unix::process::parent_id();
    let pid = parent as usize;
    let proc = |name: &str| read(&PathBuf::from(format!("/proc/{parent}/{name}")));
    let vector = [libc::iovec { iov_base: 0x1000 as *mut libc::c_void, iov_len: 1 }];
    let vector = vector.as_ptr() as usize;
    // Were it allowed, it would change nothing.
    let generous = [u64::MAX; 2];
    let generous = generous.as_ptr() as usize;
    vec![
        ("read its own /proc", read(Path::new("/proc/self/status"))),
        ("read the launcher's environment", proc("environ")),
        ("read the launcher's memory map", proc("maps")),
        (
            "attach to the launcher",
            call(libc::SYS_ptrace, [libc::PTRACE_ATTACH as usize, pid, 0, 0]),
        ),
        ("read the launcher's memory", call(libc::SYS_process_vm_readv, [pid, vector, 1, vector])),
        ("signal the launcher", call(libc::SYS_kill, [pid, 0, 0, 0])),
        ("start a program", Command::new("/bin/true").status().map(drop)),
        ("start a program from memory", execute_memory()),
        ("start a program by the loader", loader().map_err(io::Error::from_raw_os_error)),
        ("start a program by its descriptor", execute_descriptor()),
        (
            "limit the processor time of the launcher",
            call(libc::SYS_prlimit64, [pid, libc::RLIMIT_CPU as usize, generous, 0]),
        ),
        ("read a limit of the launcher", limits_of(pid)),
        ("raise its priority", call(libc::SYS_setpriority, [0, 0, (-20_isize) as usize, 0])),
        ("become another user", call(libc::SYS_setuid, [4711, 0, 0, 0])),
    ]
}

/// Attempts with system calls.
fn system_calls(state_dir: &Path) -> Attempts {
    let locks = libc::RLIMIT_LOCKS as usize;
    let limit = [0x4000_0000_0000_0001_u64, u64::MAX];
    let limit = limit.as_ptr() as usize;
    let memory = [0_u8; 256];
    let memory = memory.as_ptr() as usize;
    let socket =
        |domain: i32, kind: i32| call(libc::SYS_socket, [domain as usize, kind as usize, 0, 0]);
    let pair = |kind: i32| {
        let mut fds = [0_i32; 2];
        call(
            libc::SYS_socketpair,
            [libc::AF_UNIX as usize, kind as usize, 0, fds.as_mut_ptr() as usize],
        )
    };
    let root = c"/".as_ptr() as usize;
    let own = CString::new(state_dir.as_os_str().as_bytes()).unwrap_or_default();
    vec![
        ("connect to the daemon", socket(libc::AF_UNIX, libc::SOCK_STREAM)),
        ("a pair of datagram sockets", pair(libc::SOCK_DGRAM)),
        ("a pair of raw sockets", pair(libc::SOCK_RAW | libc::SOCK_CLOEXEC)),
        ("a pair of stream sockets", pair(libc::SOCK_STREAM)),
        ("a TCP socket", socket(libc::AF_INET, libc::SOCK_STREAM)),
        ("a UDP socket", socket(libc::AF_INET6, libc::SOCK_DGRAM)),
        ("a socket of a virtual machine", socket(libc::AF_VSOCK, libc::SOCK_STREAM)),
        ("io_uring", call(libc::SYS_io_uring_setup, [1, memory, 0, 0])),
        ("set its mark", call(libc::SYS_setrlimit, [locks, limit, 0, 0])),
        ("set its mark by prlimit", call(libc::SYS_prlimit64, [0, locks, limit, 0])),
        ("read its mark", call(libc::SYS_prlimit64, [0, locks, 0, memory])),
        ("mount", call(libc::SYS_mount, [root, own.as_ptr() as usize, 0, libc::MS_BIND as usize])),
        ("change its root", call(libc::SYS_chroot, [root, 0, 0, 0])),
        ("a user namespace", call(libc::SYS_unshare, [libc::CLONE_NEWUSER as usize, 0, 0, 0])),
        ("a user namespace by clone3", call(libc::SYS_clone3, [0, 0, 0, 0])),
        ("another namespace", call(libc::SYS_setns, [0, 0, 0, 0])),
        ("a file by its handle", call(libc::SYS_open_by_handle_at, [0, memory, 0, 0])),
        ("the user's keys", call(libc::SYS_keyctl, [0, (-4_isize) as usize, 0, 0])),
        ("a BPF program", call(libc::SYS_bpf, [0, memory, 0, 0])),
        ("page faults", call(libc::SYS_userfaultfd, [0, 0, 0, 0])),
        ("a queue of events about files", call(libc::SYS_inotify_init1, [0; 4])),
        ("a queue of events about all files", call(libc::SYS_fanotify_init, [0; 4])),
        ("shared memory of System V", call(libc::SYS_shmget, [0, 4096, 0o1600, 0])),
        ("calls of x32", call(0x4000_0000 + 39, [0, 0, 0, 0])),
    ]
}

/// Starts a program from a file without a name.
fn execute_memory() -> io::Result<()> {
    // SAFETY: the name outlives the call; the descriptor is owned from here on.
    #[allow(unsafe_code)]
    let mut memory = unsafe {
        let opened = libc::syscall(libc::SYS_memfd_create, c"x".as_ptr(), 0);
        if opened < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(opened as i32)
    };
    io::copy(&mut File::open("/bin/true")?, &mut memory)?;
    execute(&memory)
}

/// Starts a program by a descriptor of its file.
fn execute_descriptor() -> io::Result<()> {
    execute(&File::open("/bin/true")?)
}

fn execute(file: &File) -> io::Result<()> {
    Command::new(format!("/proc/self/fd/{}", file.as_raw_fd())).status().map(drop)?;
    Ok(())
}

/// Starts a program by handing it to the loader of the system.
fn loader() -> Result<(), i32> {
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let Some(loader) = loaders.iter().find(|path| Path::new(path).exists()) else {
        return Err(libc::EPERM);
    };
    let started = Command::new(loader).arg("/bin/true").status();
    started.map(drop).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
}

fn limits_of(pid: usize) -> io::Result<()> {
    let found = [0_u64; 2];
    call(libc::SYS_prlimit64, [pid, libc::RLIMIT_CPU as usize, 0, found.as_ptr() as usize])
}

/// Sets an attribute of a file by its path.
fn attribute(path: &Path, number: libc::c_long) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    call(number, [path.as_ptr() as usize, c"user.x".as_ptr() as usize, c"1".as_ptr() as usize, 1])
}

fn attribute_at(path: &Path) -> io::Result<()> {
    const SETXATTRAT: libc::c_long = 463;
    let path = CString::new(path.as_os_str().as_bytes())?;
    let at = libc::AT_FDCWD as isize as usize;
    // `struct xattr_args`
    let args = [c"1".as_ptr() as u64, 1];
    let args = [path.as_ptr() as usize, 0, c"user.x".as_ptr() as usize, args.as_ptr() as usize];
    // SAFETY: all pointers lead to what outlives the call.
    #[allow(unsafe_code)]
    let result =
        unsafe { libc::syscall(SETXATTRAT, at, args[0], args[1], args[2], args[3], 16_usize) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn flags_of(path: &Path) -> io::Result<()> {
    const FILE_SETATTR: libc::c_long = 469;
    let path = CString::new(path.as_os_str().as_bytes())?;
    let at = libc::AT_FDCWD as isize as usize;
    // `struct file_attr`: no flag is set.
    let attributes = [0_u8; 24];
    call(FILE_SETATTR, [at, path.as_ptr() as usize, attributes.as_ptr() as usize, 24])
}

fn outcome_of(outcome: io::Result<()>) -> String {
    match outcome {
        Ok(()) => "allowed".to_owned(),
        Err(error) => match error.raw_os_error() {
            Some(number) => format!("{:?}", Errno::from_raw(number)),
            None => error.to_string(),
        },
    }
}

fn read(path: &Path) -> io::Result<()> {
    let mut byte = [0];
    io::Read::read(&mut File::open(path)?, &mut byte).map(drop)
}

fn truncate(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).truncate(true).open(path).map(drop)
}

fn append(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path).map(drop)
}

fn read_by_symlink(path: &Path, link: &Path) -> io::Result<()> {
    let _ = fs::remove_file(link);
    std::os::unix::fs::symlink(path, link)?;
    read(link)
}

fn under(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}

fn mode(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

/// Makes the device of `/dev/mem`.
fn mknod(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let at = libc::AT_FDCWD as isize as usize;
    let device = libc::makedev(1, 1) as usize;
    call(libc::SYS_mknodat, [at, path.as_ptr() as usize, (libc::S_IFCHR | 0o600) as usize, device])
}

/// Makes a system call.
fn call(number: libc::c_long, args: [usize; 4]) -> io::Result<()> {
    // SAFETY: the pointers among the arguments are null or lead to memory that outlives the call,
    // and no call here writes more than there is.
    #[allow(unsafe_code)]
    let result = unsafe { libc::syscall(number, args[0], args[1], args[2], args[3]) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
