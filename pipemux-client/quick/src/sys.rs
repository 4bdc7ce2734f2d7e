//! System calls of Linux on x86-64, with nothing between.

use core::arch::asm;
use core::ffi::CStr;

/// An error number of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

pub const EINTR: Errno = Errno(4);
pub const EPIPE: Errno = Errno(32);

/// A file descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fd(pub i32);

pub const STDIN: Fd = Fd(0);
pub const STDOUT: Fd = Fd(1);
pub const STDERR: Fd = Fd(2);

const READ: usize = 0;
const WRITE: usize = 1;
const CLOSE: usize = 3;
const STAT: usize = 4;
const FSTAT: usize = 5;
const LSTAT: usize = 6;
const POLL: usize = 7;
const RT_SIGACTION: usize = 13;
const IOCTL: usize = 16;
const SOCKET: usize = 41;
const CONNECT: usize = 42;
const GETCWD: usize = 79;
const GETUID: usize = 102;
const CLOCK_GETTIME: usize = 228;
const EXIT_GROUP: usize = 231;
const GETRANDOM: usize = 318;

/// # Safety
/// The arguments are what the call takes; pointers among them point to memory that is valid for
/// what the call reads and writes there, and their provenance is exposed.
#[allow(unsafe_code)]
unsafe fn call<const N: usize>(number: usize, arguments: [usize; N]) -> Result<usize, Errno> {
    let argument = |at: usize| arguments.get(at).copied().unwrap_or(0);
    let returned: isize;
    // SAFETY: the kernel changes these registers and what the arguments point to, nothing else.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => returned,
            in("rdi") argument(0), in("rsi") argument(1), in("rdx") argument(2), in("r10") argument(3),
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    usize::try_from(returned).map_err(|_| Errno(returned.unsigned_abs() as i32))
}

impl Fd {
    fn number(self) -> usize {
        self.0 as usize
    }
}

/// Reads once.
pub fn read(fd: Fd, room: &mut [u8]) -> Result<usize, Errno> {
    let (pointer, length) = (room.as_mut_ptr().expose_provenance(), room.len());
    // SAFETY: so many bytes may be written there.
    #[allow(unsafe_code)]
    unsafe {
        call(READ, [fd.number(), pointer, length])
    }
}

/// Writes once.
pub fn write(fd: Fd, bytes: &[u8]) -> Result<usize, Errno> {
    let (pointer, length) = (bytes.as_ptr().expose_provenance(), bytes.len());
    // SAFETY: so many bytes may be read there.
    #[allow(unsafe_code)]
    unsafe {
        call(WRITE, [fd.number(), pointer, length])
    }
}

/// Closes a file that nothing uses any more.
pub fn close(fd: Fd) {
    // SAFETY: takes a number.
    #[allow(unsafe_code)]
    let _ = unsafe { call(CLOSE, [fd.number()]) };
}

/// The metadata of a file.
#[derive(Debug, Default, Clone, Copy)]
#[repr(C)]
pub struct Stat {
    device: u64,
    inode: u64,
    pub links: u64,
    mode: u32,
    pub uid: u32,
    gid: u32,
    padding: u32,
    device_number: u64,
    pub size: i64,
    rest: [u64; 11],
}

// The kernel writes so many bytes.
const _: () = assert!(size_of::<Stat>() == 144);

impl Stat {
    /// Returns what kind of file it is.
    pub fn kind(&self) -> u32 {
        self.mode & 0o170_000
    }

    /// Returns what is permitted to whom.
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }
}

pub const DIRECTORY: u32 = 0o040_000;
pub const REGULAR: u32 = 0o100_000;
pub const PIPE: u32 = 0o010_000;

fn stat_by(number: usize, file: usize) -> Result<Stat, Errno> {
    let mut found = Stat::default();
    let pointer = core::ptr::from_mut(&mut found).expose_provenance();
    // SAFETY: `file` is a descriptor, or the path of a `CStr`; the kernel fills the structure.
    #[allow(unsafe_code)]
    unsafe { call(number, [file, pointer]) }.map(|_| found)
}

/// Looks at the file of a path; of a symbolic link, at what it leads to.
pub fn stat(path: &CStr) -> Result<Stat, Errno> {
    stat_by(STAT, path.as_ptr().expose_provenance())
}

/// Looks at the file of a path, which may be a symbolic link.
pub fn lstat(path: &CStr) -> Result<Stat, Errno> {
    stat_by(LSTAT, path.as_ptr().expose_provenance())
}

/// Looks at an open file.
pub fn fstat(fd: Fd) -> Result<Stat, Errno> {
    stat_by(FSTAT, fd.number())
}

pub const POLLIN: i16 = 1;
pub const POLLHUP: i16 = 16;

#[repr(C)]
struct Polled {
    fd: i32,
    events: i16,
    returned: i16,
}

/// Waits until there is something to read, or the time is over. Returns what there is: 0 for
/// nothing.
pub fn poll_readable(fd: Fd, milliseconds: u32) -> Result<i16, Errno> {
    let mut polled = Polled { fd: fd.0, events: POLLIN, returned: 0 };
    let pointer = core::ptr::from_mut(&mut polled).expose_provenance();
    // SAFETY: it is one structure, which the kernel reads and writes.
    #[allow(unsafe_code)]
    unsafe { call(POLL, [pointer, 1, milliseconds as usize]) }.map(|_| polled.returned)
}

/// Has writing to a pipe that nobody reads fail instead of ending the process.
pub fn ignore_broken_pipes() {
    const SIGPIPE: usize = 13;
    const IGNORE: usize = 1;
    // Handler, flags, restorer, mask.
    let action = [IGNORE, 0, 0, 0];
    let pointer = action.as_ptr().expose_provenance();
    // SAFETY: the kernel reads the structure of four words.
    #[allow(unsafe_code)]
    let _ = unsafe { call(RT_SIGACTION, [SIGPIPE, pointer, 0, size_of::<u64>()]) };
}

/// True if the file is a terminal.
pub fn is_terminal(fd: Fd) -> bool {
    const TCGETS: usize = 0x5401;
    let mut settings = [0_u64; 8];
    let pointer = settings.as_mut_ptr().expose_provenance();
    // SAFETY: the kernel writes 36 bytes.
    #[allow(unsafe_code)]
    unsafe { call(IOCTL, [fd.number(), TCGETS, pointer]) }.is_ok()
}

/// Length of the path in the address of a Unix socket, with the zero at its end.
const ADDRESS_PATH: usize = 108;

/// Makes a Unix socket that never waits, and connects it.
pub fn connect(path: &CStr) -> Result<Fd, Errno> {
    const UNIX: u16 = 1;
    const STREAM_NONBLOCKING_CLOSED_ON_EXEC: usize = 1 | 0o4000 | 0o2_000_000;
    const ENAMETOOLONG: Errno = Errno(36);
    let mut address = [0_u8; 2 + ADDRESS_PATH];
    let path = path.to_bytes_with_nul();
    let (family, room) = address.split_at_mut(2);
    family.copy_from_slice(&UNIX.to_ne_bytes());
    room.get_mut(..path.len()).ok_or(ENAMETOOLONG)?.copy_from_slice(path);
    // SAFETY: takes numbers.
    #[allow(unsafe_code)]
    let made = unsafe { call(SOCKET, [UNIX.into(), STREAM_NONBLOCKING_CLOSED_ON_EXEC, 0]) }?;
    let socket = Fd(made as i32);
    let pointer = address.as_ptr().expose_provenance();
    // SAFETY: the kernel reads family and path.
    #[allow(unsafe_code)]
    unsafe { call(CONNECT, [made, pointer, 2 + path.len()]) }
        .map(|_| socket)
        .inspect_err(|_| close(socket))
}

/// Puts the path of the current directory into the room, and returns its length without the zero at
/// its end.
pub fn current_directory(room: &mut [u8]) -> Result<usize, Errno> {
    let (pointer, length) = (room.as_mut_ptr().expose_provenance(), room.len());
    // SAFETY: so many bytes may be written there.
    #[allow(unsafe_code)]
    unsafe { call(GETCWD, [pointer, length]) }.map(|length| length.saturating_sub(1))
}

/// Returns the number of the user.
pub fn user() -> u32 {
    // SAFETY: takes nothing. It never fails.
    #[allow(unsafe_code)]
    unsafe { call(GETUID, []) }.map_or(u32::MAX, |user| user as u32)
}

/// Returns the milliseconds since 1970.
pub fn unix_ms() -> Result<u64, Errno> {
    const REALTIME: usize = 0;
    let mut time = [0_u64; 2];
    let pointer = time.as_mut_ptr().expose_provenance();
    // SAFETY: the kernel writes two words: seconds and nanoseconds.
    #[allow(unsafe_code)]
    unsafe { call(CLOCK_GETTIME, [REALTIME, pointer]) }?;
    let [seconds, nanoseconds] = time;
    Ok(seconds.wrapping_mul(1000).wrapping_add(nanoseconds / 1_000_000))
}

/// Fills the room with randomness, if there is enough without waiting.
pub fn random(room: &mut [u8]) -> Result<usize, Errno> {
    const NONBLOCKING: usize = 1;
    let (pointer, length) = (room.as_mut_ptr().expose_provenance(), room.len());
    // SAFETY: so many bytes may be written there.
    #[allow(unsafe_code)]
    unsafe {
        call(GETRANDOM, [pointer, length, NONBLOCKING])
    }
}

/// Ends the process.
pub fn exit(status: u8) {
    // SAFETY: takes a number, and doesn't return.
    #[allow(unsafe_code)]
    let _ = unsafe { call(EXIT_GROUP, [status.into()]) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn calls_do_what_the_standard_library_does() {
        let mut room = [0; 4096];
        let length = current_directory(&mut room).unwrap();
        let directory = std::env::current_dir().unwrap();
        assert_eq!(std::str::from_utf8(&room[..length]).ok(), directory.to_str());
        assert!(stat(c"/").unwrap().kind() == DIRECTORY && stat(c"/no/such").is_err());
        let since = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
        assert!(unix_ms().unwrap().abs_diff(since) < 60_000);
        let mut bytes = [0; 16];
        assert_eq!(random(&mut bytes), Ok(16));
        assert_ne!(bytes, [0; 16]);

        let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let fd = Fd(theirs.as_raw_fd());
        assert_eq!(poll_readable(fd, 0), Ok(0));
        std::io::Write::write_all(&mut ours, b"abc").unwrap();
        assert_eq!(poll_readable(fd, 1000), Ok(POLLIN));
        let mut read_bytes = [0; 8];
        assert_eq!(read(fd, &mut read_bytes), Ok(3));
        assert_eq!(&read_bytes[..3], b"abc");
        assert!(!is_terminal(fd) && fstat(fd).unwrap().kind() != PIPE);
        assert_eq!(connect(c"/no/such/socket"), Err(Errno(2)));
        ignore_broken_pipes();
        drop(ours);
        assert_eq!(write(fd, b"x"), Err(EPIPE));
    }
}
