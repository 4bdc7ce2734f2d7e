//! Messages that can't be carried out, and the errors that answer them.
//!
//! A harness waits for the answer to each of its requests. So an error names the request wherever
//! its id can be found, also in a line that is too long, or no JSON. Where it can't, the error has
//! no id: so the Model Context Protocol says.

use std::mem;

use pipemux_client::proto::limits::CODE_MAX;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, CustomRequest, ErrorCode, InitializeRequestParams,
    JsonRpcMessage, ReadResourceRequestParams, RequestId, ServerJsonRpcMessage,
    SubscribeRequestParams, UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::limits::{MESSAGE_MAX, TOKEN_MAX};

/// The mark that editors and shells of Windows put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The result of parsing a text as a message.
#[derive(Debug)]
pub enum Parsed {
    Message(Box<ClientJsonRpcMessage>),
    /// The text needs no answer: an empty line, or a notification that isn't understood.
    Nothing,
    /// The text can't be carried out; this is the answer.
    Error(Box<ServerJsonRpcMessage>),
}

/// Reads a message.
pub fn parse(text: &[u8]) -> Parsed {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii();
    if text.is_empty() {
        return Parsed::Nothing;
    }
    match serde_json::from_slice(text) {
        Ok(message) => Parsed::Message(Box::new(message)),
        Err(error) => refuse(text, &error),
    }
}

/// Answers a message of which only the outline was kept.
pub fn too_long(outline: &Outline) -> Parsed {
    let (mib, kib) = (MESSAGE_MAX / 1024 / 1024, CODE_MAX / 1024);
    let why = format!(
        "the message has more than {mib} MiB; a call's code has at most {kib} KiB: write in parts"
    );
    outline.answer(ErrorData::invalid_request(why, None))
}

fn refuse(text: &[u8], error: &serde_json::Error) -> Parsed {
    let mut outline = Outline::default();
    outline.feed(text);
    if let Err(error) = std::str::from_utf8(text) {
        let at = error.valid_up_to() + 1;
        let why = format!("the message is not UTF-8: byte {at}");
        return outline.answer(ErrorData::parse_error(why, None));
    }
    let message = match serde_json::from_slice::<Value>(text) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            let why = "expected one message, not a list of them";
            return outline.answer(ErrorData::invalid_request(why, None));
        }
        Ok(_) => {
            let why = "expected an object: {\"jsonrpc\": \"2.0\", \"id\": …, \"method\": …}";
            return outline.answer(ErrorData::invalid_request(why, None));
        }
        Err(error) => {
            let why = format!("the message is not JSON: {error}");
            return outline.answer(ErrorData::parse_error(why, None));
        }
    };
    let is_notification = message.get("method").is_some_and(Value::is_string)
        && !message.contains_key("id")
        && message.get("jsonrpc").is_some_and(|version| version == "2.0");
    if is_notification {
        return Parsed::Nothing;
    }
    let is_id = |id: &Value| id.is_string() || id.is_i64();
    let why = if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
        "expected \"jsonrpc\": \"2.0\"".to_owned()
    } else if !message.get("id").is_some_and(is_id) {
        "expected as id a text or a whole number".to_owned()
    } else if !message.get("method").is_some_and(Value::is_string) {
        "expected as method a text".to_owned()
    } else if !message.get("params").is_none_or(Value::is_object) {
        let why = "expected as params an object";
        return outline.answer(ErrorData::invalid_params(why, None));
    } else {
        format!("the message is none of the protocol: {error}")
    };
    outline.answer(ErrorData::invalid_request(why, None))
}

/// Says what is wrong with a request that is none of the protocol's: its method, or its parameters.
pub fn unknown_request(request: &CustomRequest) -> ErrorData {
    let wrong = match request.method.as_str() {
        "initialize" => wrong_params::<InitializeRequestParams>(request),
        "tools/call" => wrong_params::<CallToolRequestParams>(request),
        "resources/read" => wrong_params::<ReadResourceRequestParams>(request),
        "resources/subscribe" => wrong_params::<SubscribeRequestParams>(request),
        "resources/unsubscribe" => wrong_params::<UnsubscribeRequestParams>(request),
        method => {
            let known = "tools/list, tools/call, resources/list, resources/read, …";
            let why = format!("there is no method {method}: expected {known}");
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None);
        }
    };
    ErrorData::invalid_params(format!("{}: {wrong}", request.method), None)
}

fn wrong_params<T: DeserializeOwned>(request: &CustomRequest) -> String {
    match request.params_as::<T>() {
        Ok(None) => "params are missing".to_owned(),
        Ok(Some(_)) => "_meta is not as the protocol has it".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// What is known of a message that isn't kept: its members' names and its id. It is found without
/// understanding the rest, which may be megabytes, or no JSON.
#[derive(Debug, Default)]
pub struct Outline {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// The token being read: a member's name or value in the message itself.
    token: Vec<u8>,
    name: Vec<u8>,
    ids: Vec<Option<RequestId>>,
    is_request: bool,
    is_response: bool,
}

impl Outline {
    /// Reads on.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.is_in_string {
            self.is_in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return self.keep(byte);
        }
        match byte {
            b'{' | b'[' => {
                // What is nested makes the value no id.
                self.keep(byte);
                self.depth += 1;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => self.end_name(),
            b',' if self.depth == 1 => self.end_member(),
            byte if byte.is_ascii_whitespace() => {}
            byte => {
                self.is_in_string = byte == b'"';
                self.keep(byte);
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < TOKEN_MAX {
            self.token.push(byte);
        }
    }

    fn end_name(&mut self) {
        self.name = mem::take(&mut self.token);
        match self.name.as_slice() {
            b"\"method\"" => self.is_request = true,
            b"\"result\"" | b"\"error\"" => self.is_response = true,
            _ => {}
        }
    }

    fn end_member(&mut self) {
        let value = mem::take(&mut self.token);
        if mem::take(&mut self.name) == b"\"id\"" && self.ids.len() < 2 {
            self.ids.push(serde_json::from_slice(&value).ok());
        }
    }

    fn id(&self) -> Option<RequestId> {
        match self.ids.as_slice() {
            [id] => id.clone(),
            _ => None,
        }
    }

    /// Returns the id of the request that it is.
    pub fn request(&self) -> Option<RequestId> {
        self.id().filter(|_| self.is_request && !self.is_response)
    }

    /// Answers it with an error.
    fn answer(&self, error: ErrorData) -> Parsed {
        if self.is_response && !self.is_request {
            // Who waits for this response is told; a response itself is never answered.
            let told = self.id().map(|id| JsonRpcMessage::error(error, Some(id)));
            return told.map_or(Parsed::Nothing, |told| Parsed::Message(Box::new(told)));
        }
        Parsed::Error(Box::new(ServerJsonRpcMessage::error(error, self.request())))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(text: &[u8]) -> Value {
        match parse(text) {
            Parsed::Error(error) => serde_json::to_value(error).unwrap(),
            Parsed::Nothing => Value::Null,
            Parsed::Message(message) => serde_json::to_value(message).unwrap(),
        }
    }

    #[test]
    fn each_malformed_message_has_its_error_and_its_id() {
        for (text, code, id, why) in [
            (b"garbage".as_slice(), -32700, json!(null), "not JSON"),
            (br#"{"jsonrpc":"2.0","id":2,"method":"ping""#, -32700, json!(2), "not JSON: EOF"),
            (
                b"{\"id\":\"a\",\"method\":\"m\",\"params\":{\"id\":\"\xff\"}}",
                -32700,
                json!("a"),
                "byte 40",
            ),
            (br#"{"id":4,"method":"m","params":"\ud800"}"#, -32700, json!(4), "not JSON"),
            (br#"{"id":4,"id":5,"method":"m","params":"\ud800"}"#, -32700, json!(null), "not JSON"),
            (br#"{"id":[6],"method":"m""#, -32700, json!(null), "not JSON"),
            (br#"{"jsonrpc":"2.0","id":8}"#, -32600, json!(null), "method"),
            (br#"{"jsonrpc":"2.0","id":9,"method":5}"#, -32600, json!(9), "method"),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!(null), "id"),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(null), "id"),
            (br#"{"jsonrpc":"1.0","id":"\"","method":"ping"}"#, -32600, json!("\""), "2.0"),
            (br#"{"id":10,"method":"ping"}"#, -32600, json!(10), "2.0"),
            (br#"[{"jsonrpc":"2.0","id":11,"method":"ping"}]"#, -32600, json!(null), "one message"),
            (b"5", -32600, json!(null), "an object"),
            (
                br#"{"jsonrpc":"2.0","id":12,"method":"ping","params":[1]}"#,
                -32602,
                json!(12),
                "params",
            ),
        ] {
            let shown = String::from_utf8_lossy(text);
            let found = answer(text);
            let told = found["error"]["message"].as_str().unwrap_or_default();
            assert_eq!((&found["error"]["code"], &found["id"]), (&json!(code), &id), "{shown}");
            assert!(told.contains(why), "{shown}: {told}");
        }
    }

    #[test]
    fn notifications_and_responses_are_never_answered() {
        for text in
            ["", " \r", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#]
        {
            assert_eq!(answer(text.as_bytes()), Value::Null, "{text}");
        }
        // Who waits for the response is told that it was none.
        let told = answer(br#"{"jsonrpc":"2.0","id":9,"error":5}"#);
        assert_eq!((&told["id"], &told["error"]["code"]), (&json!(9), &json!(-32600)), "{told}");
        let read = answer(b"\xef\xbb\xbf {\"jsonrpc\":\"2.0\",\"id\":20,\"method\":\"ping\"} \r");
        assert_eq!((&read["id"], &read["method"]), (&json!(20), &json!("ping")));
    }

    #[test]
    fn wrong_params_are_told_apart_from_unknown_methods() {
        let of = |method: &str, params| unknown_request(&CustomRequest::new(method, params));
        let missing = of("tools/call", None);
        assert_eq!((missing.code.0, &*missing.message), (-32602, "tools/call: params are missing"));
        let list = of("tools/call", Some(json!({ "name": "ask", "arguments": [1] })));
        assert!(list.code.0 == -32602 && list.message.contains("map"), "{list:?}");
        let name = of("resources/read", Some(json!({})));
        assert!(name.code.0 == -32602 && name.message.contains("uri"), "{name:?}");
        let unknown = of("frob", None);
        assert!(
            unknown.code.0 == -32601 && unknown.message.contains("no method frob"),
            "{unknown:?}"
        );
    }
}
