//! `schema.json` describes the messages as the types, `PROTOCOL.md` and the golden messages have
//! them.

mod attributes;
mod by_hand;
mod check;
mod documented;
mod json;
mod messages;
mod source;
mod wire;

use std::path::Path;

use self::check::Schema;
use self::messages::{Content, FAULT, message, schema};
use crate::{page, samples};
use pipemux_proto::{Frame, Kind, Method, SessionAddr, Value, decode};

const CHECKED_IN: &str = include_str!("../../schema.json");
const REWRITE: &str = "PIPEMUX_SCHEMA=write cargo test -p pipemux-proto --test proto schema";

#[test]
fn schema_is_made_from_the_types() {
    let made = schema();
    if std::env::var("PIPEMUX_SCHEMA").is_ok_and(|what| what == "write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema.json");
        std::fs::write(path, made).expect("it is written");
        return;
    }
    let differs = made.lines().zip(CHECKED_IN.lines()).find(|(made, old)| made != old);
    let differs = differs.map(|(made, old)| format!("\n- {old}\n+ {made}")).unwrap_or_default();
    assert!(made == CHECKED_IN, "schema.json is not up to date; {REWRITE} rewrites it{differs}");
}

#[test]
fn every_golden_message_is_valid() {
    let schema = read();
    let mut checked = 0;
    for sample in samples::samples() {
        let Some((of, body)) = body(&sample) else { continue };
        let found = schema.check(schema.definition(of), &wire::to_json(&body));
        assert_eq!(found, Ok(()), "{} as {of}", sample.name);
        checked += 1;
    }
    assert!(checked > 150, "only {checked} messages were checked");
}

/// The schema allows a field to be absent, or null, exactly where the types do.
#[test]
fn types_and_schema_agree_on_each_field_that_is_left_out_or_null() {
    let schema = read();
    let mut checked = 0;
    for sample in samples::samples() {
        let Some((of, body)) = body(&sample) else { continue };
        let body = wire::with_smaller_integers(body);
        for variation in wire::variations(&schema, schema.definition(of), &body) {
            let bytes = Frame::encode(&sample.envelope, &variation.message).expect("it encodes");
            let frame = decode_frame(&bytes);
            let read = (sample.reencode)(&frame);
            assert_eq!(
                read.is_ok(),
                variation.allowed,
                "{} as {of}, {}: the type says {read:?}",
                sample.name,
                variation.what
            );
            checked += 1;
        }
    }
    assert!(checked > 2_000, "only {checked} messages were checked");
}

#[test]
fn invalid_messages_are_refused() {
    let schema = read();
    for (of, message) in [
        ("app::Changed", r#"{}"#),
        ("app::Changed", r#"{"version": -1}"#),
        ("app::Changed", r#"{"version": 1.5}"#),
        ("app::Changed", r#"{"version": null}"#),
        ("app::Changed", r#"{"version": 1, "later": 1}"#),
        ("app::Resume", r#"{"token": "!", "choice": "yes"}"#),
        ("app::Choice", r#""no""#),
        ("app::Choice", r#"{"picked": [1], "text": "a"}"#),
        ("app::Choice", r#"{"picked": ["1"]}"#),
        ("fault::Fault", r#"{"code": 1, "message": ""}"#),
        ("fault::Level", r#""later""#),
        ("ids::SessionAddr", r#""Todo/main""#),
        ("hello::ProtocolVersion", r#"{"major": 1, "minor": 65536}"#),
    ] {
        let message = serde_json::from_str(message).expect("JSON");
        assert!(schema.check(schema.definition(of), &message).is_err(), "{of}: {message}");
    }
    let later = serde_json::Value::from("later");
    assert_eq!(schema.check(schema.definition("fault::Code"), &later), Ok(()));
}

#[test]
fn patterns_of_addresses_are_those_of_the_types() {
    let schema = read();
    let long = format!("{}/{}", "a".repeat(32), "Z".repeat(64));
    for text in ["a/b", "a-1/B._-9", "A/b", "1/b", "a/", "/b", "a", "a/b/c", "a/-b", "a/.b", "ä/b"]
        .into_iter()
        .chain([long.as_str(), &format!("a{long}"), &format!("{long}Z")])
    {
        let valid = schema.check(schema.definition("ids::SessionAddr"), &text.into()).is_ok();
        assert_eq!(valid, text.parse::<SessionAddr>().is_ok(), "{text}");
    }
}

#[test]
fn page_and_schema_have_the_same_messages() {
    for method in Method::ALL {
        let message = message(*method);
        let cell = |content: Content| match content {
            Content::Of(name) => documented::link(name),
            Content::Empty => "empty".to_owned(),
            Content::AnyBytes => "any bytes".to_owned(),
        };
        let body = match message.body {
            Content::AnyBytes => "[any bytes](#exchanges)".to_owned(),
            body => cell(body),
        };
        let reply = message.reply.map(cell).map(|reply| format!("{reply} |"));
        let (number, reply) = (*method as u8, reply.unwrap_or_else(|| "|".to_owned()));
        let row = format!("| `{method:?}` | {number} | {} | {body} | {reply}\n", message.direction);
        assert!(page::PAGE.contains(&row), "PROTOCOL.md lacks the row {row}");
    }
}

#[test]
fn page_and_schema_have_the_same_types_and_fields() {
    let differences = documented::differences(&read());
    assert!(differences.is_empty(), "PROTOCOL.md and schema.json:\n{}", differences.join("\n"));
}

#[test]
fn each_difference_between_page_and_schema_is_found() {
    let faults = [
        ("/app::Done/properties/brief", None, "app::Done.brief is only on the page"),
        ("/app::Done/properties/x", Some("{}"), "app::Done.x is only in the schema"),
        ("/app::Done/properties/brief/default", Some("1"), "app::Done.brief = None"),
        ("/app::Done/properties/reverts/default", None, "app::Done.reverts = Some"),
        ("/app::Done/properties/brief/type", Some("\"boolean\""), "app::Done.brief is bool"),
        ("/app::Done/required", None, "app::Done.brief is required only"),
        ("/app::Saved/required", Some("[\"version\"]"), "app::Saved.version is optional only"),
        ("/app::Saved", None, "app::Saved is only on the page"),
        ("/app::Later", Some("{}"), "app::Later is only in the schema"),
        ("/fault::Level/oneOf/0/const", Some("\"x\""), "fault::Level: \"x\" is only in"),
        ("/fault::Level/oneOf/0", None, "fault::Level: \"hint\" is only on the page"),
        ("/app::Choice/oneOf/0", None, "app::Choice: \"picked\" is only on the page"),
        (
            "/app::Choice/oneOf/0/properties/picked/items/type",
            Some("\"string\""),
            "app::Choice.picked is [str]",
        ),
        (
            "/client::Verb/oneOf/3/properties/run/properties/later",
            Some("{}"),
            "client::Verb.run.later is only in the schema",
        ),
        ("/context::Context/properties/later", Some("{}"), "context::Context.later is only"),
    ];
    for (at, value, expected) in faults {
        let mut schema = read();
        let (parent, name) = at.rsplit_once('/').expect("a path");
        let parent = schema.0.pointer_mut(&format!("/$defs{parent}")).expect(at);
        let value = value.map(|text| serde_json::from_str(text).expect("JSON"));
        match (parent, value) {
            (serde_json::Value::Object(all), Some(value)) => drop(all.insert(name.into(), value)),
            (serde_json::Value::Object(all), None) => drop(all.remove(name).expect(at)),
            (serde_json::Value::Array(all), _) => drop(all.remove(name.parse().expect(at))),
            _ => panic!("{at}"),
        }
        let found = documented::differences(&schema);
        assert!(found.iter().any(|line| line.starts_with(expected)), "{at}: {found:?}");
    }
}

fn read() -> Schema {
    Schema(serde_json::from_str(CHECKED_IN).expect("schema.json is JSON"))
}

/// The type and content of a sample's body; none where the body is any bytes.
fn body(sample: &samples::Sample) -> Option<(&'static str, Value)> {
    let message = message(sample.envelope.method);
    let content = match sample.envelope.kind {
        Kind::Request | Kind::Event => message.body,
        Kind::Reply => message.reply.expect("a method with replies"),
        Kind::Fault => Content::Of(FAULT),
        Kind::Cancel => Content::Empty,
    };
    let frame = decode_frame(&sample.bytes);
    let body = decode(&frame.body);
    content.type_name().map(|name| (name, body.expect("a body")))
}

fn decode_frame(bytes: &[u8]) -> Frame {
    let mut decoder = pipemux_proto::FrameDecoder::default();
    decoder.extend(bytes);
    decoder.next_frame().expect("a frame").expect("a whole one")
}
