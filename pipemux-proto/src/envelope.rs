//! The envelope: everything that routing needs; routing reads nothing else.
//!
//! A MessagePack array of exactly five unsigned integers:
//! `[kind, method, id, incarnation, deadline]`.

use crate::ids::Incarnation;

/// The role of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Asks for exactly one [`Kind::Reply`] or [`Kind::Fault`] with the same id.
    Request = 0,
    /// Answers a request; its body is the method's reply.
    Reply = 1,
    /// Refuses a request; its body is a [`crate::Fault`].
    Fault = 2,
    /// Needs no answer; its id is 0.
    Event = 3,
    /// Tells that the sender no longer needs an answer to the request with this id.
    Cancel = 4,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $Name:ident = $number:literal,)*) => {
        /// The type of a body. Numbers are permanent: a removed method's number is never used
        /// again.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Method { $($(#[$doc])* $Name = $number,)* }

        impl Method {
            /// All methods in the order of their numbers.
            pub const ALL: &'static [Method] = &[$(Method::$Name,)*];

            fn from_number(number: u64) -> Option<Method> {
                match number { $($number => Some(Method::$Name),)* _ => None }
            }
        }
    };
}

methods! {
    /// The first message in each direction ([`crate::Hello`]).
    Hello = 0,
    /// Daemon → app: [`crate::app::OpenRequest`].
    AppOpen = 1,
    /// Daemon → app: [`crate::app::Project`].
    Project = 2,
    /// Daemon → app: [`crate::app::Invoke`].
    Invoke = 3,
    /// Daemon → app: [`crate::app::ReadRequest`].
    AppRead = 4,
    /// Daemon → app: [`crate::app::Locate`].
    Locate = 5,
    /// Both ways: empty body, empty reply.
    Ping = 6,
    /// Daemon → app: save the state before the process is put to sleep (empty body); replied to
    /// with [`crate::app::Saved`].
    Save = 7,
    /// Daemon → app: save, reply and exit ([`crate::app::Empty`]).
    AppClose = 8,
    /// Daemon → app: cancel a job ([`crate::job::CancelJob`]; empty reply).
    CancelJob = 9,
    /// App → daemon → client event: [`crate::app::Progress`].
    Progress = 16,
    /// App → daemon event: [`crate::app::Changed`].
    Changed = 17,
    /// App → daemon event: [`crate::app::Notify`].
    Notify = 18,
    /// App → daemon event: [`crate::app::Busy`].
    Busy = 19,
    /// App → daemon event: [`crate::job::JobReport`].
    JobReport = 20,
    /// Client → daemon: a verb ([`crate::client::VerbRequest`]), answered by
    /// [`crate::client::Answer`].
    Verb = 32,
    /// Client → daemon: the answer was written out ([`crate::client::DeliveryAck`]). As an event it
    /// is the last frame of the connection.
    Seen = 33,
    /// Client → daemon: prepares [`Method::Exchange`] with a session and wakes it
    /// ([`crate::client::Attach`]).
    Attach = 34,
    /// Client → daemon → app: bytes that the daemon doesn't read, answered by bytes of the same
    /// sort.
    Exchange = 40,
}

/// The part of a frame before its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope {
    /// The role of the frame, such as request, reply or event.
    pub kind: Kind,
    /// The type of the body.
    pub method: Method,
    /// Chosen by the requester, unique among its open requests; repeated in the reply.
    pub id: u64,
    /// The incarnation of the session that the frame is for; 0 in `Hello`, and between client and
    /// daemon except in a [`Method::Exchange`].
    pub incarnation: Incarnation,
    /// The time that the requester waits, in milliseconds from sending; 0 for no deadline.
    pub deadline_ms: u32,
}

/// The reason why an envelope can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The frame doesn't begin with an array of five unsigned integers.
    #[error("the frame does not begin with an array of five unsigned integers")]
    Shape,
    /// This version doesn't know the kind.
    #[error("unknown kind {0}")]
    Kind(u64),
    /// This version doesn't know the method; the request can still be answered.
    #[error("unknown method {number}")]
    Method {
        /// The method's number.
        number: u64,
        /// The request's id.
        id: u64,
        /// True when the sender waits for an answer.
        request: bool,
    },
}

const ARRAY_OF_FIVE: u8 = 0x95;

impl Envelope {
    /// Length of the longest encoding, in bytes.
    pub const MAX: usize = 1 + 5 * 9;

    /// Makes the envelope of a request without a deadline.
    pub fn request(method: Method, id: u64, incarnation: Incarnation) -> Self {
        Self { kind: Kind::Request, method, id, incarnation, deadline_ms: 0 }
    }

    /// Makes the envelope of an event.
    pub fn event(method: Method, incarnation: Incarnation) -> Self {
        Self { kind: Kind::Event, method, id: 0, incarnation, deadline_ms: 0 }
    }

    /// Makes the envelope of the answer to this request, of kind [`Kind::Reply`] or
    /// [`Kind::Fault`].
    pub fn answer(&self, kind: Kind) -> Self {
        Self { kind, deadline_ms: 0, ..*self }
    }

    /// Appends the encoding to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; Self::MAX];
        let length = self.write_at(&mut bytes, 0);
        out.extend_from_slice(&bytes[..length]);
    }

    /// Writes the encoding into `out` from index `at`, where there is room for [`Envelope::MAX`]
    /// bytes. Returns the index behind it.
    pub(crate) fn write_at(&self, out: &mut [u8], mut at: usize) -> usize {
        out[at] = ARRAY_OF_FIVE;
        at += 1;
        let deadline = u64::from(self.deadline_ms);
        for number in [self.kind as u64, self.method as u64, self.id, self.incarnation.0, deadline]
        {
            at = write_uint(out, at, number);
        }
        at
    }

    /// Reads an envelope from the front of `bytes`. Returns it and its length.
    pub fn read(bytes: &[u8]) -> Result<(Self, usize), EnvelopeError> {
        if bytes.first() != Some(&ARRAY_OF_FIVE) {
            return Err(EnvelopeError::Shape);
        }
        let mut at = 1;
        let mut next = || -> Result<u64, EnvelopeError> {
            let (number, length) = read_uint(&bytes[at..]).ok_or(EnvelopeError::Shape)?;
            at += length;
            Ok(number)
        };
        let (kind, method, id) = (next()?, next()?, next()?);
        let (incarnation, deadline) = (next()?, next()?);
        let kind = match kind {
            0 => Kind::Request,
            1 => Kind::Reply,
            2 => Kind::Fault,
            3 => Kind::Event,
            4 => Kind::Cancel,
            other => return Err(EnvelopeError::Kind(other)),
        };
        let method = Method::from_number(method).ok_or(EnvelopeError::Method {
            number: method,
            id,
            request: kind == Kind::Request,
        })?;
        let deadline_ms = u32::try_from(deadline).map_err(|_| EnvelopeError::Shape)?;
        let envelope =
            Self { kind, method, id, incarnation: Incarnation(incarnation), deadline_ms };
        Ok((envelope, at))
    }
}

fn write_uint(out: &mut [u8], at: usize, number: u64) -> usize {
    let (mark, width) = match number {
        0..=0x7f => {
            out[at] = number as u8;
            return at + 1;
        }
        0x80..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        _ => (0xcf, 8),
    };
    out[at] = mark;
    out[at + 1..=at + width].copy_from_slice(&number.to_be_bytes()[8 - width..]);
    at + 1 + width
}

/// Reads any of MessagePack's unsigned forms, even if a shorter one would do.
fn read_uint(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let width = match first {
        0..=0x7f => return Some((u64::from(first), 1)),
        0xcc => 1,
        0xcd => 2,
        0xce => 4,
        0xcf => 8,
        _ => return None,
    };
    let digits = bytes.get(1..1 + width)?;
    Some((digits.iter().fold(0, |n, digit| n << 8 | u64::from(*digit)), 1 + width))
}
