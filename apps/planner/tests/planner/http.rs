//! A chat endpoint plays the roles: a server of the test speaks the API's streaming format, and
//! plays faults.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::support::Session;
use pipemux_planner::action::Action;

/// What the server does with a request.
#[derive(Clone)]
enum Reply {
    /// Streams this text, in pieces.
    Stream(&'static str),
    /// Answers all at once, as servers do that don't stream.
    Whole(&'static str),
    /// Ends the stream in the middle.
    Break(&'static str),
    /// Refuses with this status and body.
    Status(u16, &'static str),
    /// Streams an error.
    Fails(&'static str),
    /// Sends what is no event.
    Garbage,
}

struct Server {
    url: String,
    /// The requests: their head and body.
    requests: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    /// Plays these replies, then agrees to everything.
    fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<(String, Value)>>>::default();
        let (seen, mut replies): (_, VecDeque<Reply>) =
            (requests.clone(), replies.into_iter().collect());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(request) = read(&stream) else { continue };
                seen.lock().unwrap().push(request);
                let agree = Reply::Stream("{\"ok\": true, \"reasons\": [\"streamed\"]}");
                answer(&mut stream, replies.pop_front().unwrap_or(agree));
            }
        });
        Self { url, requests }
    }

    fn session(&self, more: &str) -> Session {
        let url = &self.url;
        Session::new(&format!(
            "driver = \"local\"\n[drivers.local]\nbase_url = \"{url}\"\nmodel = \"m-1\"\n{more}"
        ))
    }

    fn requests(&self) -> Vec<(String, Value)> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let mut body = Vec::new();
    if let Some((_, rest)) = lower.split_once("content-length: ") {
        body = vec![0; rest.lines().next()?.trim().parse().ok()?];
        reader.read_exact(&mut body).ok()?;
    }
    Some((head, serde_json::from_slice(&body).ok()?))
}

fn answer(stream: &mut TcpStream, reply: Reply) {
    let head =
        |ty: &str| format!("HTTP/1.1 200 OK\r\ncontent-type: {ty}\r\nconnection: close\r\n\r\n");
    let event = |text: &str| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
    };
    let pieces = |text: &str| {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(7).map(|piece| event(&piece.iter().collect::<String>())).collect::<String>()
    };
    let events = "text/event-stream";
    let text = match reply {
        Reply::Stream(text) => {
            format!("{}: comment\n\n{}data: [DONE]\n\n", head(events), pieces(text))
        }
        Reply::Break(text) => head(events) + &pieces(text),
        Reply::Fails(why) => {
            format!("{}data: {}\n\n", head(events), json!({"error": {"message": why}}))
        }
        Reply::Garbage => head(events) + "data: {not json\n\n",
        Reply::Whole(text) => {
            head("application/json")
                + &json!({"choices": [{"message": {"content": text}}]}).to_string()
        }
        Reply::Status(status, body) => {
            // As long as there are numbers for it: nobody waits beyond the deadline.
            let wait = if status == 599 { u64::MAX } else { 0 };
            format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nretry-after: {wait}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
        }
    };
    // The client may have gone away.
    let _ = stream.write_all(text.as_bytes());
}

#[test]
fn endpoint_plays_the_roles_from_its_stream() {
    let server = Server::start([]);
    let mut session = server.session("");
    session.plan("add an audit log");
    session.wait_for("agree · streamed (by local)");
    let (head, body) = server.requests()[0].clone();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert_eq!((&body["model"], &body["stream"]), (&json!("m-1"), &json!(true)));
    let payload: Value =
        serde_json::from_str(body["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(payload["user_brief"], "add an audit log");
}

#[test]
fn faults_that_may_pass_are_tried_again() {
    let good = "```json\n{\"ok\": null, \"reasons\": [\"after faults\"]}\n```";
    let faults = [
        Reply::Status(503, "busy"),
        Reply::Break("{\"ok\": tr"),
        Reply::Fails("overloaded"),
        Reply::Stream(good),
    ];
    let server = Server::start(faults);
    let mut session = server.session("");
    session.plan("add an audit log");
    session.wait_for("concern · after faults");
    assert!(server.requests().len() >= 4);
    let server = Server::start([Reply::Garbage, Reply::Status(429, ""), Reply::Whole(good)]);
    let mut session = server.session("");
    session.plan("add an audit log");
    session.wait_for("concern · after faults");
}

#[test]
fn faults_that_last_leave_the_turn_open_with_the_reason() {
    let server = Server::start([Reply::Status(401, "{\"error\": \"bad key\"}")]);
    let mut session = server.session("");
    session.plan("add an audit log");
    let view = session.wait_for("gave no answer");
    assert!(view.contains("status 401: {\"error\": \"bad key\"}"), "{view}");
    assert!(server.requests().len() <= 5, "each role once");
    let server = Server::start([Reply::Status(599, "for ever")]);
    let mut session = server.session("");
    session.plan("add an audit log");
    session.wait_for("status 599: for ever");
    let server = Server::start(vec![Reply::Break("{"); 20]);
    let mut session = server.session("");
    session.plan("add an audit log");
    session.wait_for("the stream ended before the answer did (after 4 tries)");
    let mut session = Session::new(
        "driver = \"l\"\n[drivers.l]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\n",
    );
    session.plan("add an audit log");
    session.wait_for("(after 4 tries)");
}

#[test]
fn key_comes_from_the_environment_and_is_written_nowhere() {
    let server = Server::start([]);
    let url = &server.url;
    let own = |key: &str| {
        format!("[drivers.own]\nbase_url = \"{url}\"\nmodel = \"m-1\"\nkey_env = \"{key}\"\n")
    };
    let mut session = Session::new("driver = \"own\"\n");
    session.write_own(&own("PLANNER_TEST_NO_SUCH_KEY"));
    session.plan("add an audit log");
    session.wait_for("the variable PLANNER_TEST_NO_SUCH_KEY isn't passed to the planner");
    assert!(server.requests().is_empty());
    // `PATH` stands for a key, because a test can't set a variable.
    session.write_own(&own("PATH"));
    session.done(Action::Retry {});
    session.wait_for("agree · streamed");
    let path = std::env::var("PATH").unwrap();
    assert!(server.requests()[0].0.contains(&format!("authorization: Bearer {path}")));
    assert!(!session.read(".planning/add-an-audit-log/journal.jsonl").contains(&path));
}

#[test]
fn project_sends_no_key_anywhere() {
    let server = Server::start([]);
    let mut session = server.session("key_env = \"PATH\"\n");
    assert!(session.view().contains("key_env is taken only from"), "{}", session.view());
    // Nor does it take the place of a driver of the user's own.
    session.write(
        "planner.toml",
        &format!("driver = \"own\"\n[drivers.own]\nbase_url = \"{}\"\nmodel = \"m\"\n", server.url),
    );
    session.write_own(
        "[drivers.own]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\nkey_env = \"PATH\"\n",
    );
    session.plan("add an audit log");
    session.wait_for("(after 4 tries)");
    assert!(server.requests().is_empty());
}
