//! Messages of each minor version as they were encoded once. They must decode for ever and encode
//! the same.
//!
//! There is one file for each message and variant with a whole frame in hex. A file is never
//! changed; a new message or variant gets a new file: `PIPEMUX_GOLDEN=write` writes the missing
//! ones.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::samples::samples;
use pipemux_proto::FrameDecoder;

#[test]
fn golden_messages_decode_and_encode_unchanged() {
    for sample in samples() {
        let path = folder().join(format!("{}.hex", sample.name));
        let Ok(text) = std::fs::read_to_string(&path) else {
            assert!(
                std::env::var("PIPEMUX_GOLDEN").is_ok_and(|what| what == "write"),
                "{} is missing; PIPEMUX_GOLDEN=write writes it",
                path.display()
            );
            std::fs::write(&path, hex(&sample.bytes)).expect("it is written");
            continue;
        };
        let bytes = unhex(&text);
        let mut decoder = FrameDecoder::default();
        decoder.extend(&bytes);
        let frame = decoder.next_frame().expect("a frame").expect("a whole one");
        assert!(decoder.is_empty(), "{}: trailing bytes", sample.name);
        assert_eq!(frame.envelope, sample.envelope, "{}: the envelope", sample.name);
        let encoded =
            (sample.reencode)(&frame).unwrap_or_else(|why| panic!("{}: {why}", sample.name));
        assert_eq!(hex(&encoded), hex(&bytes), "{}: encoded again", sample.name);
        assert_eq!(hex(&sample.bytes), hex(&bytes), "{}: the content", sample.name);
    }
}

#[test]
fn every_golden_file_has_a_sample() {
    let known: BTreeSet<String> =
        samples().into_iter().map(|s| format!("{}.hex", s.name)).collect();
    for entry in std::fs::read_dir(folder()).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(known.contains(&name), "{name} belongs to no sample");
    }
}

#[test]
fn every_method_and_kind_has_a_golden_message() {
    let all = samples();
    for method in pipemux_proto::Method::ALL {
        assert!(
            all.iter().any(|s| s.envelope.method == *method),
            "{method:?} has no golden message"
        );
    }
    use pipemux_proto::Kind::{Cancel, Event, Fault, Reply, Request};
    for kind in [Request, Reply, Fault, Event, Cancel] {
        assert!(all.iter().any(|s| s.envelope.kind == kind), "{kind:?} has no golden message");
    }
}

#[test]
fn fields_of_1_2_are_absent_on_the_wire_unless_set() {
    let done = pipemux_proto::app::Done::default();
    let plain = pipemux_proto::encode(&done).expect("it encodes");
    assert!(!plain.windows(7).any(|part| part == b"reverts"));
    let old: pipemux_proto::app::Done = pipemux_proto::decode(&plain).expect("it reads");
    assert!(!old.reverts);
}

#[test]
fn new_fields_of_answers_are_absent_on_the_wire_unless_set() {
    use pipemux_proto::client::{Answer, Body};
    let plain = Answer { exit: 0, body: Body::Text("x".into()), delivery: 0, error: false };
    let plain = pipemux_proto::encode(&plain).expect("it encodes");
    assert!(!plain.windows(5).any(|part| part == b"error"));
    assert!(!pipemux_proto::decode::<Answer>(&plain).expect("it reads").error);
}

#[test]
fn fields_of_1_4_are_absent_on_the_wire_unless_set() {
    let encoded = [
        pipemux_proto::encode(&pipemux_proto::app::Done::default()),
        pipemux_proto::encode(&pipemux_proto::app::Invoke::default()),
        pipemux_proto::encode(&pipemux_proto::prototype::Prototype::default()),
    ];
    for plain in encoded.map(|plain| plain.expect("it encodes")) {
        for name in ["content", "complete", "budget", "called"] {
            let name = name.as_bytes();
            assert!(!plain.windows(name.len()).any(|part| part == name), "{name:?}");
        }
    }
}

#[test]
fn fields_of_1_3_are_absent_on_the_wire_unless_set() {
    let shown = pipemux_proto::projection::Projection::default();
    let plain = pipemux_proto::encode(&shown).expect("it encodes");
    assert!(!plain.windows(8).any(|part| part == b"document"));
    let old: pipemux_proto::projection::Projection =
        pipemux_proto::decode(&plain).expect("it reads");
    assert_eq!(old.document, None);
    let link = pipemux_proto::projection::LinkSlot {
        label: String::new(),
        action: String::new(),
        ..Default::default()
    };
    let plain = pipemux_proto::encode(&link).expect("it encodes");
    assert!(!plain.windows(7).any(|part| part == b"lasting"));
    assert!(!plain.windows(4).any(|part| part == b"code"));
    let object = pipemux_proto::projection::ObjectSlot::default();
    let plain = pipemux_proto::encode(&object).expect("it encodes");
    assert!(!plain.windows(8).any(|part| part == b"show_key"));
    let encoded = [
        pipemux_proto::encode(&pipemux_proto::prototype::Param::default()),
        pipemux_proto::encode(&pipemux_proto::app::ReadRequest::default()),
        pipemux_proto::encode(&pipemux_proto::app::Chunk::default()),
    ];
    for plain in encoded.map(|plain| plain.expect("it encodes")) {
        assert!(!plain.windows(4).any(|part| part == b"path"));
    }
    let done = pipemux_proto::app::Done::default();
    let plain = pipemux_proto::encode(&done).expect("it encodes");
    assert!(!plain.windows(7).any(|part| part == b"numbers"));
    let old: pipemux_proto::app::Done = pipemux_proto::decode(&plain).expect("it reads");
    assert!(old.numbers.is_empty());
}

#[test]
fn fields_and_codes_of_later_versions_are_ignored() {
    // {"version": 3, "news": [1]}
    let body = [
        0x82, 0xa7, b'v', b'e', b'r', b's', b'i', b'o', b'n', 3, 0xa4, b'n', b'e', b'w', b's',
        0x91, 1,
    ];
    let changed: pipemux_proto::app::Changed = pipemux_proto::decode(&body).expect("it reads");
    assert_eq!(changed.version, 3);
    // {"code": "tired", "message": "no"}
    let body = b"\x82\xa4code\xa5tired\xa7message\xa2no";
    let fault: pipemux_proto::Fault = pipemux_proto::decode(body).expect("it reads");
    assert_eq!(fault.code, pipemux_proto::Code::Other);
}

#[test]
fn trailing_and_missing_bodies_are_refused() {
    assert!(pipemux_proto::decode::<pipemux_proto::app::Empty>(&[0x80, 0x80]).is_err());
    assert!(pipemux_proto::decode::<pipemux_proto::app::Empty>(&[]).is_err());
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Writes sixteen bytes on each line.
fn hex(bytes: &[u8]) -> String {
    let line = |line: &[u8]| {
        let words: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        words.join(" ") + "\n"
    };
    bytes.chunks(16).map(line).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let word = |word: &str| u8::from_str_radix(word, 16).expect("hex");
    text.split_whitespace().map(word).collect()
}
