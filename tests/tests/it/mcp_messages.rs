//! `pipemux mcp`: messages that can't be carried out are answered, so that no harness waits for
//! ever.

use pipemux_tests::{McpClient, TestEnv};
use serde_json::{Value, json};

#[test]
fn every_request_that_cannot_be_read_gets_its_error() {
    let env = TestEnv::new();
    let mut agent = McpClient::connect(&env);
    let long = "x".repeat(17 * 1024 * 1024);
    for (line, id, code, why) in [
        (b"garbage".to_vec(), Value::Null, -32700, "not JSON"),
        (br#"{"jsonrpc":"2.0","id":"a","method":"ping""#.to_vec(), json!("a"), -32700, "not JSON"),
        (b"{\"id\":3,\"method\":\"ping\",\"params\":\"\xff\"}".to_vec(), json!(3), -32700, "UTF-8"),
        (
            br#"{"jsonrpc":"2.0","id":4,"method":"tools/call"}"#.to_vec(),
            json!(4),
            -32602,
            "missing",
        ),
        (br#"{"jsonrpc":"2.0","id":5,"method":"frob"}"#.to_vec(), json!(5), -32601, "frob"),
        (
            br#"[{"jsonrpc":"2.0","id":6,"method":"ping"}]"#.to_vec(),
            Value::Null,
            -32600,
            "one message",
        ),
        // The id stands behind what is too long.
        (
            format!(r#"{{"method":"tools/call","params":"{long}","id":7}}"#).into(),
            json!(7),
            -32600,
            "16 MiB",
        ),
    ] {
        agent.send_bytes(&line);
        let answer = agent.next_message();
        let told = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
        assert!(told.contains(why), "{answer}");
    }
    // What is no request has no answer, and the connection goes on.
    agent.send_bytes(b"");
    agent.send_bytes(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#);
    agent.send_bytes(br#"{"jsonrpc":"2.0","id":99,"error":5}"#);
    agent.ask("monitor.top()").ok();
    assert_eq!(agent.close(), 0);
}
