//! Messages with file descriptors over a stream socket.
//!
//! A message is a `u32` big-endian length and that many bytes of MessagePack. Its descriptors are
//! sent with its first bytes. The kernel delivers both in order and never separates descriptors
//! from the bytes that they came with. So the receiver queues descriptors as they arrive, each
//! message takes its own from the front of the queue, and boundaries can't get lost. Unlike
//! datagrams, a stream works the same on Linux and macOS, has a visible end, and doesn't bound the
//! length of a message.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use nix::cmsg_space;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sys;

/// Longest message without its length, in bytes: far more than an environment and arguments need.
pub const MESSAGE_MAX: usize = 4 * 1024 * 1024;
/// Most descriptors that one message carries.
pub const FDS: usize = 2;

const PREFIX: usize = 4;

/// Encodes a message, ready to be sent.
///
/// # Errors
/// The message is longer than [`MESSAGE_MAX`].
pub fn encode<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut out = vec![0; PREFIX];
    rmp_serde::encode::write_named(&mut out, message).map_err(io::Error::other)?;
    let length = out.len() - PREFIX;
    if length > MESSAGE_MAX {
        return Err(invalid(format!("message too long: {length} bytes (limit {MESSAGE_MAX})")));
    }
    out[..PREFIX].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(out)
}

/// Sends bytes, and the descriptors with the first of them; returns how many bytes were sent. The
/// rest must be sent without descriptors.
///
/// # Errors
/// As `sendmsg`. A full non-blocking socket returns `WouldBlock`, and nothing was sent.
pub fn send(socket: &impl AsFd, bytes: &[u8], fds: &[OwnedFd]) -> io::Result<usize> {
    let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let control = if raw.is_empty() { &rights[..0] } else { &rights[..] };
    let parts = [IoSlice::new(bytes)];
    #[cfg(target_os = "linux")]
    let flags = MsgFlags::MSG_NOSIGNAL;
    #[cfg(not(target_os = "linux"))]
    let flags = MsgFlags::empty();
    Ok(sendmsg::<()>(socket.as_fd().as_raw_fd(), &parts, control, flags, None)?)
}

/// Bytes and descriptors that arrived and aren't consumed.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    fds: VecDeque<OwnedFd>,
}

impl Inbox {
    /// Receives once from the socket; returns how many bytes arrived, 0 at the end. The descriptors
    /// are closed on exec.
    ///
    /// # Errors
    /// As `recvmsg`; descriptors that got lost on the way.
    pub fn receive(&mut self, socket: &impl AsFd) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let mut control = cmsg_space!([RawFd; FDS * 8]);
        #[cfg(target_os = "linux")]
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        #[cfg(not(target_os = "linux"))]
        let flags = MsgFlags::empty();

        let mut parts = [IoSliceMut::new(&mut buffer)];
        let fd = socket.as_fd().as_raw_fd();
        let message = recvmsg::<()>(fd, &mut parts, Some(&mut control), flags)?;
        for part in message.cmsgs()? {
            if let ControlMessageOwned::ScmRights(raw) = part {
                self.fds.extend(raw.into_iter().map(sys::own));
            }
        }
        let length = message.bytes;
        #[cfg(not(target_os = "linux"))]
        for fd in &self.fds {
            use nix::fcntl::{FcntlArg, FdFlag, fcntl};
            fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        self.bytes.extend_from_slice(&buffer[..length]);
        Ok(length)
    }

    /// Returns the next complete message.
    ///
    /// # Errors
    /// The bytes are no message; nothing after them can be read.
    pub fn next_message<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(prefix) = self.bytes.first_chunk::<PREFIX>() else { return Ok(None) };
        let length = u32::from_be_bytes(*prefix) as usize;
        if length > MESSAGE_MAX {
            return Err(invalid(format!("message too long: {length} bytes (limit {MESSAGE_MAX})")));
        }
        let end = PREFIX + length;
        let Some(body) = self.bytes.get(PREFIX..end) else { return Ok(None) };
        let message = rmp_serde::from_slice(body).map_err(|error| invalid(error.to_string()));
        self.bytes.drain(..end);
        message.map(Some)
    }

    /// Returns the next descriptor that arrived.
    pub fn next_fd(&mut self) -> Option<OwnedFd> {
        self.fds.pop_front()
    }
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Order, StopSignal};
    use std::fs::File;
    use std::io::{Read, Seek, Write};
    use std::os::unix::net::UnixStream;

    fn signal(incarnation: u64) -> Order {
        Order::Signal { incarnation, signal: StopSignal::Kill }
    }

    #[test]
    fn descriptors_stay_with_their_messages_however_bytes_are_split() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut inbox = Inbox::default();
        let directory = std::env::temp_dir();
        let files: Vec<File> = (0..4)
            .map(|number| {
                let path = directory.join(format!("pipemux-fd-{}-{number}", std::process::id()));
                let options = File::options().read(true).write(true).create_new(true).open(&path);
                let mut file = options.unwrap();
                std::fs::remove_file(&path).unwrap();
                write!(file, "{number}").unwrap();
                file
            })
            .collect();

        // Two messages with two descriptors each among some without, all sent byte by byte.
        let with = |at: usize| {
            vec![files[at].try_clone().unwrap().into(), files[at + 1].try_clone().unwrap().into()]
        };
        let plan: [(u64, Vec<OwnedFd>); 5] =
            [(1, vec![]), (2, with(0)), (3, vec![]), (4, with(2)), (5, vec![])];
        for (number, fds) in &plan {
            for (at, byte) in encode(&signal(*number)).unwrap().iter().enumerate() {
                let fds = if at == 0 { &fds[..] } else { &[] };
                assert_eq!(send(&ours, &[*byte], fds).unwrap(), 1);
            }
        }
        drop(ours);
        while inbox.receive(&theirs).unwrap() > 0 {}
        let mut seen = Vec::new();
        while let Some(order) = inbox.next_message::<Order>().unwrap() {
            seen.push(order);
        }
        assert_eq!(seen, (1..=5).map(signal).collect::<Vec<_>>());
        for number in 0..4 {
            let mut file = File::from(inbox.next_fd().unwrap());
            let mut text = String::new();
            file.rewind().unwrap();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, number.to_string());
        }
        assert!(inbox.next_fd().is_none());
    }

    #[test]
    fn invalid_message_is_an_error_and_incomplete_one_is_none() {
        let feed = |bytes: &[u8]| {
            let inbox = &mut Inbox { bytes: bytes.to_vec(), fds: VecDeque::new() };
            inbox.next_message::<Order>()
        };
        assert!(feed(&u32::MAX.to_be_bytes()).is_err());
        assert!(feed(&[0, 0, 0, 1, 0xc1]).is_err());
        let whole = encode(&signal(7)).unwrap();
        for end in 0..whole.len() {
            assert_eq!(feed(&whole[..end]).unwrap(), None);
        }
        assert_eq!(feed(&whole).unwrap(), Some(signal(7)));
    }
}
