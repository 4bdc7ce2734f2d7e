use super::*;
use pipemux_proto::app::Notify;
use pipemux_proto::{Envelope, Incarnation, Method};
use std::io::Write as _;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use tokio::net::UnixStream;

use crate::limits::{READ_TURN, WRITE_TURN};
use crate::ready_queue::{Peer, ReadyQueue, ReadySource};

fn with_connection(test: impl FnOnce(Connection, StdStream)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (ours, theirs) = StdStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let token = ReadySource::Peer(Peer::App(Incarnation(1)));
        let waker = Arc::new(ReadyQueue::default()).waker(token);
        let stream = UnixStream::from_std(ours).unwrap();
        // The readiness of a new registration is known once the runtime has polled the system.
        stream.writable().await.unwrap();
        test(Connection::new(stream.into_std().unwrap(), waker, true).unwrap(), theirs);
    });
}

fn notify(text: &str) -> Bytes {
    let envelope = Envelope::event(Method::Notify, Incarnation(1));
    Frame::encode(&envelope, &Notify { text: text.into() }).unwrap()
}

#[test]
fn flush_writes_one_share_per_turn_and_keeps_the_order() {
    with_connection(|mut connection, mut theirs| {
        let frames: Vec<Bytes> =
            (0..600).map(|number| notify(&format!("{number}").repeat(number))).collect();
        let total: usize = frames.iter().map(Bytes::len).sum();
        let mut spares = SpareBuffers::default();
        for frame in &frames {
            connection.push(frame.clone(), &mut spares);
        }
        assert_eq!(connection.push(Bytes::new(), &mut spares), total);
        let mut read = vec![0; total];
        let (mut at, mut turns) = (0, 0);
        while connection.has_output() {
            let before = connection.queued();
            assert_ne!(connection.flush(&mut spares, WRITE_TURN), WriteOutcome::Failed);
            let went = before - connection.queued();
            assert!((1..=WRITE_TURN).contains(&went), "{went}");
            theirs.read_exact(&mut read[at..at + went]).unwrap();
            at += went;
            turns += 1;
        }
        assert!(turns >= total / WRITE_TURN);
        assert_eq!((at, connection.queued()), (total, 0));
        assert_eq!(read, frames.concat());
    });
}

#[test]
fn writing_to_a_closed_peer_fails() {
    with_connection(|mut connection, theirs| {
        drop(theirs);
        let mut spares = SpareBuffers::default();
        connection.push(notify("x"), &mut spares);
        assert_eq!(connection.flush(&mut spares, WRITE_TURN), WriteOutcome::Failed);
    });
}

#[test]
fn unknown_method_is_reported_and_the_stream_continues() {
    with_connection(|mut connection, _theirs| {
        let frame =
            |kind: u8, method: u8, id: u8| vec![0, 0, 0, 7, 0x95, kind, method, id, 1, 0, 0x80];
        let all = [frame(0, 99, 7), frame(3, 98, 0), notify("still here").to_vec()].concat();
        connection.decoder.extend(&all);
        let mut pool = BufferPool::default();
        let unknown = |incoming| match incoming {
            Some(Inbound::UnknownMethod { number, request }) => (number, request),
            other => panic!("{other:?}"),
        };
        assert_eq!(unknown(connection.next_inbound(&mut pool)), (99, Some(7)));
        assert_eq!(unknown(connection.next_inbound(&mut pool)), (98, None));
        assert!(matches!(connection.next_inbound(&mut pool), Some(Inbound::Frame(_))));
        assert!(connection.next_inbound(&mut pool).is_none());
        connection.decoder.extend(&u32::MAX.to_be_bytes());
        assert!(matches!(connection.next_inbound(&mut pool), Some(Inbound::Invalid(_))));
    });
}

#[test]
fn single_bytes_assemble_into_a_frame() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (ours, mut theirs) = StdStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let stream = UnixStream::from_std(ours).unwrap();
        let mut scratch = [0; 3];
        let bytes = notify("你好 🦀");
        // The task's own waker lets the test wait.
        let waker = std::future::poll_fn(|context| Poll::Ready(context.waker().clone())).await;
        let mut connection = Connection::new(stream.into_std().unwrap(), waker, true).unwrap();
        let (mut frame, mut pool) = (None, BufferPool::default());
        for byte in &bytes {
            theirs.write_all(&[*byte]).unwrap();
            assert!(frame.is_none());
            match read_some(&mut connection, &mut scratch).await {
                ReadOutcome::InScratch(1) => connection.buffer_partial(&scratch[..1], &mut pool),
                read => assert_eq!(read, ReadOutcome::Buffered(1)),
            }
            frame = connection.next_inbound(&mut pool);
        }
        assert!(matches!(frame, Some(Inbound::Frame(_))));
        drop(theirs);
        assert_eq!(read_some(&mut connection, &mut scratch).await, ReadOutcome::Closed);
    });
}

async fn read_some(connection: &mut Connection, scratch: &mut [u8]) -> ReadOutcome {
    std::future::poll_fn(|_| {
        match connection.read(scratch, &mut BufferPool::default(), READ_TURN) {
            ReadOutcome::Pending => Poll::Pending,
            read => Poll::Ready(read),
        }
    })
    .await
}

#[test]
fn large_body_is_written_in_shares_and_completely() {
    with_connection(|mut connection, mut theirs| {
        let mut spares = SpareBuffers::default();
        let body: Vec<u8> = (0..WRITE_TURN * 3 + 5).map(|at| (at % 251) as u8).collect();
        let held = ExchangeBody::Owned(body.clone().into());
        assert_eq!(
            connection.forward(b"head", held, &mut spares, WRITE_TURN),
            WriteOutcome::TurnUsed
        );
        assert_eq!(connection.queued(), body.len() - WRITE_TURN);
        assert!(connection.is_bulky());
        let mut read = vec![0; 4 + WRITE_TURN];
        theirs.read_exact(&mut read).unwrap();
        while connection.has_output() {
            let before = connection.queued();
            assert_ne!(connection.flush(&mut spares, WRITE_TURN), WriteOutcome::Failed);
            let start = read.len();
            read.resize(start + before - connection.queued(), 0);
            theirs.read_exact(&mut read[start..]).unwrap();
        }
        assert!(read == [b"head", &body[..]].concat() && !connection.is_bulky());
    });
}

#[test]
fn large_frame_is_read_in_shares_and_the_next_frame_follows() {
    with_connection(|mut connection, mut theirs| {
        let (large, small) = (notify(&"🦀".repeat(READ_TURN)), notify("next"));
        let (mut pool, mut shared) = (BufferPool::default(), vec![0; 100]);
        let sent = [&large[..], &small[..]].concat();
        let (mut at, mut frames) = (0, Vec::new());
        connection.buffer_partial(&sent[..3], &mut pool);
        connection.buffer_partial(&sent[3..20], &mut pool);
        assert!(connection.next_inbound(&mut pool).is_none() && connection.is_bulky());
        at += 20;
        // The last part arrives by another way, with the next frame behind it.
        while large.len() - at > READ_TURN {
            theirs.write_all(&sent[at..at + READ_TURN]).unwrap();
            let mut length = 0;
            while length < READ_TURN {
                let room = connection.read_unpolled(&mut shared);
                connection.buffer_partial(&shared[..room], &mut pool);
                length += room;
            }
            at += length;
            assert!(connection.next_inbound(&mut pool).is_none());
        }
        connection.buffer_partial(&sent[at..], &mut pool);
        while let Some(Inbound::Frame(frame)) = connection.next_inbound(&mut pool) {
            frames.push(frame);
        }
        assert_eq!(frames.len(), 2);
        assert!(large.ends_with(&frames[0].body) && small.ends_with(&frames[1].body));
        assert!(!connection.is_bulky());
    });
}
