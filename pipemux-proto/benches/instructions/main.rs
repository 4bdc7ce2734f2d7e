//! Counts the instructions of encoding and decoding messages, and of parsing refs and calls.

// Clippy doesn't treat benches as tests, and the macros generate code in another style.
#![allow(clippy::exit, clippy::unwrap_used, unused_qualifications)]

mod work;

use std::hint::black_box;

use gungraun::prelude::*;
use pipemux_proto::call::parse;
use pipemux_proto::client::{Answer, Body, Format, Verb, VerbRequest, Workspace};
use pipemux_proto::refs::Ref;
use pipemux_proto::{Envelope, Frame, FrameDecoder, Incarnation, Kind, Method, decode};
use work::{Work, config, ready};

#[library_benchmark]
#[bench::envelope_read(envelope_read())]
#[bench::call_encode(call_encode())]
#[bench::call_decode(call_decode())]
#[bench::answer_encode_4k(answer_encode())]
#[bench::answer_decode_4k(answer_decode())]
fn codec(mut work: Work) -> Work {
    work();
    work
}

#[library_benchmark]
#[bench::ref_short(reading("obj:23"))]
#[bench::ref_full(reading("obj:editor/main:enemy:深い%20key@e17"))]
fn refs(mut work: Work) -> Work {
    work();
    work
}

#[library_benchmark]
#[bench::run_one_call(parsing("editor.replace_lines(10, 12, text='new')".into()))]
#[bench::run_100_calls(parsing("attack(target='obj:enemy:23', mana=20); ".repeat(100)))]
#[bench::run_raw_block_64k(parsing(format!("add('x', text=<<END)\n{}END\n", "a line of it\n".repeat(5000))))]
fn calls(mut work: Work) -> Work {
    work();
    work
}

library_benchmark_group!(name = proto, benchmarks = [codec, refs, calls]);
main!(config = config(); library_benchmark_groups = proto);

fn envelope_read() -> Work {
    let mut bytes = Vec::new();
    envelope().write(&mut bytes);
    ready(move || {
        black_box(Envelope::read(black_box(&bytes)).unwrap());
    })
}

fn call_encode() -> Work {
    let (call, envelope) = (call(), envelope());
    ready(move || {
        black_box(Frame::encode(&envelope, black_box(&call)).unwrap());
    })
}

fn call_decode() -> Work {
    let bytes = Frame::encode(&envelope(), &call()).unwrap();
    ready(move || {
        black_box(decode::<VerbRequest>(&read(&bytes).body).unwrap());
    })
}

fn answer_encode() -> Work {
    let (answer, envelope) = (answer(), envelope().answer(Kind::Reply));
    ready(move || {
        black_box(Frame::encode(&envelope, black_box(&answer)).unwrap());
    })
}

fn answer_decode() -> Work {
    let bytes = Frame::encode(&envelope().answer(Kind::Reply), &answer()).unwrap();
    ready(move || {
        black_box(decode::<Answer>(&read(&bytes).body).unwrap());
    })
}

fn reading(text: &'static str) -> Work {
    ready(move || {
        black_box(black_box(text).parse::<Ref>().unwrap());
    })
}

fn parsing(code: String) -> Work {
    ready(move || {
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

fn call() -> VerbRequest {
    VerbRequest {
        workspace: Workspace { key: "/home/ann/parser".into(), name: "parser".into() },
        reader: "default".into(),
        reader_token: String::new(),
        run_id: "0123456789abcdef0123456789abcdef".into(),
        format: Format::Markdown,
        budget: None,
        lod: None,
        at: None,
        client: String::new(),
        hint_options: String::new(),
        diff: 0,
        wait_ms: 0,
        env: std::collections::BTreeMap::new(),
        titles: false,
        cwd: "/home/ann/parser/src".into(),
        verb: Verb::Run { code: "editor.save()".into(), stdin: None, only_queries: false },
    }
}

fn answer() -> Answer {
    Answer {
        exit: 0,
        body: Body::Text("a line of the answer\n".repeat(200)),
        delivery: 7,
        error: false,
    }
}
