use super::*;
use rustix::net::sockopt::socket_send_buffer_size;
use std::io::{self, IoSlice, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Wake;
use std::task::{Poll, Waker};

#[derive(Default)]
struct Count(AtomicU32);
impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn with_socket(test: impl AsyncFnOnce(Socket, UnixStream, Arc<Count>, Waker)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        test(Socket::new(ours).unwrap(), theirs, count, waker).await;
    });
}

async fn until(what: impl Fn() -> bool) {
    tokio::time::timeout(std::time::Duration::from_secs(20), async {
        while !what() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
}

#[test]
fn incoming_data_wakes_but_the_peers_reads_do_not() {
    with_socket(async |mut socket, mut theirs, count, waker| {
        let mut buffer = [0; 16];
        assert!(socket.read(&waker, &mut buffer).is_pending());
        let written = socket.write(&waker, &[IoSlice::new(b"ask")]);
        assert!(matches!(written, Poll::Ready(Ok(3))));
        theirs.read_exact(&mut [0; 3]).unwrap();
        theirs.write_all(b"answer").unwrap();
        until(|| count.0.load(Ordering::SeqCst) > 0).await;
        assert!(matches!(socket.read(&waker, &mut buffer), Poll::Ready(Ok(6))));
        assert!(socket.read(&waker, &mut buffer).is_pending());
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn accepted_connection_is_nonblocking_identified_and_wakes_once() {
    let name = format!("pipemux-acceptor-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let acceptor = Acceptor::new(listener).unwrap();
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        assert!(acceptor.accept(&waker).is_pending());
        let theirs = [UnixStream::connect(&path).unwrap(), UnixStream::connect(&path).unwrap()];
        until(|| count.0.load(Ordering::SeqCst) > 0).await;
        let Poll::Ready(Ok(mut first)) = acceptor.accept(&waker) else { panic!() };
        let Poll::Ready(Ok(_second)) = acceptor.accept(&waker) else { panic!() };
        assert!(acceptor.accept(&waker).is_pending());
        let waits = first.read(&mut [0]).unwrap_err();
        assert_eq!(waits.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(peer_uid(&first).unwrap(), rustix::process::getuid().as_raw());
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        drop(theirs);
    });
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn send_buffer_grows_and_returns_to_its_original_size() {
    with_socket(async |mut socket, _theirs, _, waker| {
        let fill = |socket: &mut Socket| {
            let chunk = [7; 4096];
            let mut written = 0;
            while let Poll::Ready(length) = socket.write(&waker, &[IoSlice::new(&chunk)]) {
                written += length.unwrap();
            }
            written
        };
        let size = |socket: &Socket| socket_send_buffer_size(socket.stream()).unwrap();
        let first = size(&socket);
        let at_first = fill(&mut socket);
        socket.set_send_buffer(None);
        assert_eq!(size(&socket), first);
        for _ in 0..2 {
            socket.set_send_buffer(Some(1024 * 1024));
        }
        assert!(size(&socket) > first && at_first > 0);
        // The waker tells when there is room again.
        let more = async {
            while fill(&mut socket) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), more).await.unwrap();
        socket.set_send_buffer(None);
        assert_eq!(size(&socket), first);
    });
}

#[test]
fn full_socket_wakes_when_there_is_room() {
    with_socket(async |mut socket, mut theirs, count, waker| {
        let chunk = [7; 4096];
        let mut written = 0;
        while let Poll::Ready(length) = socket.write(&waker, &[IoSlice::new(&chunk)]) {
            written += length.unwrap();
        }
        let before = count.0.load(Ordering::SeqCst);
        theirs.read_exact(&mut vec![0; written]).unwrap();
        until(|| count.0.load(Ordering::SeqCst) > before).await;
        assert!(matches!(socket.write(&waker, &[IoSlice::new(b"more")]), Poll::Ready(Ok(4))));
        socket.stop_watching_for_room();
        let mut rest = Vec::with_capacity(64);
        drop(theirs);
        while !matches!(socket.read_append(&waker, &mut rest), Poll::Ready(Ok(0) | Err(_))) {
            tokio::task::yield_now().await;
        }
    });
}
