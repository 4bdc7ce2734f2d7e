use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use pipemux_proto::client::{Body, VerbRequest, Verb};
use pipemux_proto::{Kind, decode};

use super::fake_daemon::{TestHome, run, view};
use crate::{Client, ClientError};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    runtime().block_on(async {
        tokio::time::timeout(Duration::from_secs(20), future).await.expect("in time")
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn text(answer: Result<pipemux_proto::client::Answer, ClientError>) -> String {
    match answer.unwrap().body {
        Body::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn replies_match_their_calls_in_any_order() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        peer.greet(1);
        let mut requests: Vec<_> = (0..50).map(|_| peer.receive().unwrap()).collect();
        requests.reverse();
        for request in requests {
            let call: VerbRequest = decode(&request.body).unwrap();
            let Verb::Run { code, .. } = call.verb else { panic!() };
            peer.answer(&request.envelope, 0, &format!("answer to {code}"));
        }
        peer.receive().is_none()
    });
    block_on(async {
        let client = Client::connect(&home.options()).await.unwrap();
        let calls: Vec<_> = (0..50)
            .map(|n| {
                let client = client.clone();
                tokio::spawn(async move { client.call(run(&format!("step({n})"))).await })
            })
            .collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(text(call.await.unwrap()), format!("answer to step({n})"));
        }
    });
    assert_eq!(daemon.join().unwrap(), [true], "dropping the last clone closes the connection");
}

#[test]
fn dropped_call_is_cancelled_and_later_calls_succeed() {
    let home = TestHome::new();
    let (came, request_came) = mpsc::channel();
    let daemon = home.listen(1, move |mut peer| {
        peer.greet(1);
        let dropped = peer.receive().unwrap().envelope;
        came.send(()).unwrap();
        let cancel = peer.receive().unwrap().envelope;
        assert_eq!((cancel.kind, cancel.id), (Kind::Cancel, dropped.id));
        // Nobody takes the answer to a cancelled request.
        peer.answer(&dropped, 0, "too late");
        let other = peer.receive().unwrap().envelope;
        peer.answer(&other, 0, "here");
    });
    block_on(async {
        let client = Client::connect(&home.options()).await.unwrap();
        let asking = client.clone();
        let call = tokio::spawn(async move { asking.call(run("slow()")).await });
        tokio::task::spawn_blocking(move || request_came.recv().unwrap()).await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        assert_eq!(text(client.call(view()).await), "here");
    });
    daemon.join().unwrap();
}

#[test]
fn lost_daemon_ends_each_call_once_with_the_right_status() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        peer.greet(1);
        peer.receive().unwrap();
        peer.receive().unwrap();
    });
    block_on(async {
        let client = Client::connect(&home.options()).await.unwrap();
        let (acting, viewing) = tokio::join!(client.call(run("a()")), client.call(view()));
        assert_eq!(acting.unwrap_err().exit_status(), 7);
        assert_eq!(viewing.unwrap_err().exit_status(), 8);
        // This one is not sent, so its outcome is known.
        let later = client.call(run("b()")).await.unwrap_err();
        assert!(matches!(later, ClientError::Unreachable(_)), "{later:?}");
        assert!(client.seen(0).await.is_ok());
    });
    daemon.join().unwrap();
}

#[test]
fn invalid_frame_closes_the_connection() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        use std::io::Write;
        peer.greet(1);
        peer.receive().unwrap();
        peer.stream.write_all(b"\x7f\xff\xff\xffgarbage").unwrap();
        peer.receive().is_none()
    });
    block_on(async {
        let client = Client::connect(&home.options()).await.unwrap();
        let error = client.call(run("a()")).await.unwrap_err();
        assert_eq!(error.exit_status(), 7);
        assert!(error.to_string().contains("can't be read"), "{error}");
    });
    assert_eq!(daemon.join().unwrap(), [true]);
}

#[test]
fn call_past_its_deadline_is_unknown_and_cancelled() {
    let home = TestHome::new();
    let daemon = home.listen(1, |mut peer| {
        peer.greet(1);
        let asked = peer.receive().unwrap().envelope;
        let cancel = peer.receive().unwrap().envelope;
        assert_eq!((cancel.kind, cancel.id), (Kind::Cancel, asked.id));
    });
    runtime().block_on(async {
        let client = Client::connect(&home.options()).await.unwrap();
        // From here on the clock advances only when no task can run.
        tokio::time::pause();
        let error = client.call(run("hang()")).await.unwrap_err();
        assert_eq!(error.exit_status(), 7);
        assert!(error.to_string().contains("in time"), "{error}");
        tokio::time::resume();
        tokio::task::spawn_blocking(move || daemon.join().unwrap()).await.unwrap();
    });
}
