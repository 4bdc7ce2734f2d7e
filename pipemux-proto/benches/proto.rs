//! What crosses a process boundary: encoding, decoding, refs and calls.

// Benches are no tests to clippy.
#![allow(clippy::unwrap_used, missing_docs)]

mod harness;

use std::hint::black_box;

use pipemux_proto::call::parse;
use pipemux_proto::client::{Answer, Body, Call, Format, Verb, Workspace};
use pipemux_proto::refs::Ref;
use pipemux_proto::{Envelope, Frame, FrameDecoder, Incarnation, Kind, Method, decode};

fn main() {
    harness::main(&[
        ("call_encode", || {
            let (call, envelope) = (call(), envelope());
            Box::new(move || {
                black_box(Frame::encode(&envelope, black_box(&call)).unwrap());
            })
        }),
        ("call_decode", || {
            let bytes = Frame::encode(&envelope(), &call()).unwrap();
            Box::new(move || {
                black_box(decode::<Call>(&read(&bytes).body).unwrap());
            })
        }),
        ("answer_encode_4k", || {
            let (answer, envelope) = (answer(), envelope().answer(Kind::Reply));
            Box::new(move || {
                black_box(Frame::encode(&envelope, black_box(&answer)).unwrap());
            })
        }),
        ("answer_decode_4k", || {
            let bytes = Frame::encode(&envelope().answer(Kind::Reply), &answer()).unwrap();
            Box::new(move || {
                black_box(decode::<Answer>(&read(&bytes).body).unwrap());
            })
        }),
        ("envelope_read", || {
            let mut bytes = Vec::new();
            envelope().write(&mut bytes);
            Box::new(move || {
                black_box(Envelope::read(black_box(&bytes)).unwrap());
            })
        }),
        ("ref_short", || reading("obj:23")),
        ("ref_full", || reading("obj:editor/main:enemy:深い%20key@e17")),
        ("run_one_call", || parsing("editor.replace_lines(10, 12, text='new')".into())),
        ("run_100_calls", || parsing("attack(target='obj:enemy:23', mana=20); ".repeat(100))),
        ("run_raw_block_64k", || {
            parsing(format!(
                "notebook.add('x', text=<<END)\n{}END\n",
                "a line of it\n".repeat(5000)
            ))
        }),
    ]);
}

fn reading(text: &'static str) -> Box<dyn FnMut()> {
    Box::new(move || {
        black_box(black_box(text).parse::<Ref>().unwrap());
    })
}

fn parsing(code: String) -> Box<dyn FnMut()> {
    Box::new(move || {
        black_box(parse(black_box(&code), None).unwrap());
    })
}

fn read(bytes: &[u8]) -> Frame {
    let mut decoder = FrameDecoder::default();
    decoder.extend(black_box(bytes));
    decoder.next_frame().unwrap().unwrap()
}

fn envelope() -> Envelope {
    Envelope::request(Method::Verb, 1, Incarnation(0))
}

fn call() -> Call {
    Call {
        workspace: Workspace { key: "/home/ann/parser".into(), name: "parser".into() },
        reader: "default".into(),
        run_id: "0123456789abcdef0123456789abcdef".into(),
        format: Format::Markdown,
        budget: None,
        lod: None,
        at: None,
        titles: false,
        cwd: "/home/ann/parser/src".into(),
        verb: Verb::Run { code: "editor.save()".into(), stdin: None },
    }
}

fn answer() -> Answer {
    Answer { exit: 0, body: Body::Text("a line of the answer\n".repeat(200)), delivery: 7 }
}
