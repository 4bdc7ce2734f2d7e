//! `pipemux mcp --http`: the protocol over HTTP, with a token.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use pipemux_tests::{InteractiveCommand, TestEnv};
use serde_json::{Value, json};

struct HttpServer {
    _command: InteractiveCommand,
    address: String,
    token: String,
}

impl HttpServer {
    fn start(env: &TestEnv) -> Self {
        let command = InteractiveCommand::start(env, &["mcp", "--http", "127.0.0.1:0"]);
        let line = command.next_line().expect("its address");
        let (url, token) = line.split_once(" · Authorization: Bearer ").expect("a token");
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        Self { address, token: token.to_owned(), _command: command }
    }

    /// Sends a request and returns the status and the body of the answer.
    fn post(&self, path: &str, headers: &str, body: &Value) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(15))).expect("a timeout");
        let (body, address) = (body.to_string(), &self.address);
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        stream.write_all((head + &body).as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
        (status.unwrap_or_default(), body)
    }

    fn authorised(&self) -> String {
        format!("Authorization: Bearer {}\r\nMCP-Protocol-Version: 2025-11-25\r\n", self.token)
    }

    fn ask(&self, reader: &str, code: &str) -> String {
        let arguments = json!({ "code": code });
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "run_code_snippet", "arguments": arguments },
        });
        let (status, body) = self.post(&format!("/mcp?reader={reader}"), &self.authorised(), &call);
        assert_eq!(status, 200, "{body}");
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{body}"));
        answer["result"]["content"][0]["text"].as_str().unwrap_or(&body).to_owned()
    }
}

#[test]
fn requests_with_the_token_are_served_and_no_others() {
    let env = TestEnv::with_editor("one\n");
    let server = HttpServer::start(&env);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let wrong = format!("Authorization: Bearer {}0\r\n", &server.token[1..]);
    for headers in ["", "Authorization: Basic abc\r\n", &wrong, "Authorization: Bearer \r\n"] {
        assert_eq!(server.post("/mcp", headers, &list).0, 401, "{headers}");
    }
    assert_eq!(server.post("/", &server.authorised(), &list).0, 404);
    let page = server.authorised() + "Origin: https://example.org\r\n";
    assert_eq!(server.post("/mcp", &page, &list).0, 403);
    assert_eq!(server.post("/mcp?reader=a%0a", &server.authorised(), &list).0, 400);
    let (status, tools) = server.post("/mcp", &server.authorised(), &list);
    assert!(status == 200 && tools.contains("run_code_snippet"), "{status} {tools}");
}

#[test]
fn connections_without_the_token_lock_nobody_out() {
    let env = TestEnv::with_editor("one\n");
    let server = HttpServer::start(&env);
    let begin = || {
        let mut stream = TcpStream::connect(&server.address).expect("the server listens");
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: x\r\n").expect("a beginning");
        stream.set_read_timeout(Some(Duration::from_secs(15))).expect("a timeout");
        stream
    };
    let mut strangers: Vec<TcpStream> = (0..64).map(|_| begin()).collect();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(server.post("/mcp", &server.authorised(), &list).0, 200);
    // The oldest had to go.
    assert_eq!(strangers[0].read(&mut [0; 64]).unwrap_or_default(), 0);
    // A message that is none has the protocol's error here, too.
    let (status, body) = server.post("/mcp", &server.authorised(), &json!([list]));
    let answer: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{body}"));
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32600)), "{body}");
}

#[test]
fn readers_of_http_are_apart_and_have_seen_what_was_answered() {
    let env = TestEnv::with_editor("one\ntwo\n");
    let server = HttpServer::start(&env);
    assert!(server.ask("a", "open editor").contains("1\tone"));
    let done = server.ask("b", "editor.insert('zero', before='a.txt:1')");
    assert!(done.contains("1 done · insert"), "{done}");
    // The answer to `open` counts as seen: what changed since is news.
    let news = server.ask("a", "notebook.add('t', 'x')");
    assert!(news.contains("changed too: editor/main"), "{news}");
    let own = server.ask("b", "notebook.add('u', 'x')");
    assert!(!own.contains("changed too: editor/main"), "{own}");
}

#[test]
fn address_that_nobody_can_read_is_an_error_and_a_named_token_is_not_printed() {
    let env = TestEnv::new();
    let serve = "\"$PIPEMUX\" mcp --http 127.0.0.1:0";
    let ended = env.shell(&format!("{serve} > /dev/full")).output();
    ended.exits(2).has("standard output: ").lacks("panicked");
    let script = "mkfifo line; \"$PIPEMUX\" mcp --http 127.0.0.1:0 > line & read -r line < line; echo \"$line\"; kill $!";
    let named = env.shell(script).env("PIPEMUX_MCP_TOKEN", "hunter2").output();
    named.has("Authorization: Bearer $PIPEMUX_MCP_TOKEN").lacks("hunter2");
}
