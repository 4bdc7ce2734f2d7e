//! Frames, envelopes and values: any bytes, in any portions.

use bytes::Bytes;
use pipemux_proto::envelope::{EnvelopeError, Kind, Method};
use pipemux_proto::limits::{FRAME_MAX, VALUE_DEPTH_MAX};
use pipemux_proto::{
    Envelope, Frame, FrameDecoder, FrameError, Incarnation, Value, decode, encode,
};
use proptest::prelude::*;

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Request, Kind::Reply, Kind::Fault, Kind::Event, Kind::Cancel])
}

/// Numbers of every width.
fn numbers() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift)
}

fn envelopes() -> impl Strategy<Value = Envelope> {
    let methods = prop::sample::select(Method::ALL);
    (kinds(), methods, numbers(), numbers(), any::<u32>()).prop_map(
        |(kind, method, id, life, deadline_ms)| Envelope {
            kind,
            method,
            id,
            incarnation: Incarnation(life),
            deadline_ms,
        },
    )
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (any::<i64>(), 0..64_u32).prop_map(|(number, shift)| Value::Int(number >> shift)),
        any::<f64>().prop_filter("equals itself", |n| !n.is_nan()).prop_map(Value::Float),
        any::<String>().prop_map(Value::Str),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| Value::Bin(bytes.into())),
    ];
    leaf.prop_recursive(6, 64, 20, |inner| {
        let entry = (any::<String>(), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..20).prop_map(Value::List),
            prop::collection::vec(entry, 0..20).prop_map(Value::Map),
        ]
    })
}

/// Everything that a decoder gives until it needs more.
fn drain(decoder: &mut FrameDecoder) -> Vec<Result<Frame, FrameError>> {
    let mut all = Vec::new();
    loop {
        match decoder.next_frame() {
            Ok(Some(frame)) => all.push(Ok(frame)),
            Ok(None) => return all,
            Err(error @ FrameError::TooLong(_)) => {
                all.push(Err(error));
                return all;
            }
            Err(error) => all.push(Err(error)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn envelopes_round_trip_and_refuse_every_cut(envelope in envelopes(), behind in any::<[u8; 3]>()) {
        let mut bytes = Vec::new();
        envelope.write(&mut bytes);
        prop_assert!(bytes.len() <= Envelope::MAX);
        let length = bytes.len();
        bytes.extend(behind);
        prop_assert_eq!(Envelope::read(&bytes), Ok((envelope, length)));
        for cut in 0..length {
            prop_assert_eq!(Envelope::read(&bytes[..cut]), Err(EnvelopeError::Shape));
        }
    }

    #[test]
    fn decoding_any_bytes_as_an_envelope_stays_in_bounds(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = Envelope::read(&bytes);
        let mut like = vec![0x95];
        like.extend(bytes);
        if let Ok((_, length)) = Envelope::read(&like) {
            prop_assert!(length <= like.len());
        }
    }

    #[test]
    fn frames_do_not_depend_on_how_the_stream_is_cut(
        messages in prop::collection::vec((envelopes(), prop::collection::vec(any::<u8>(), 0..200)), 0..8),
        cuts in prop::collection::vec(1..40_usize, 1..60),
    ) {
        let mut stream = Vec::new();
        let mut wanted = Vec::new();
        for (envelope, body) in messages {
            let bytes = Frame::forward(&envelope, &body).expect("it fits");
            stream.extend_from_slice(&bytes);
            wanted.push(Ok(Frame { envelope, body: Bytes::from(body) }));
        }
        let mut decoder = FrameDecoder::default();
        let mut got = Vec::new();
        let mut rest = &stream[..];
        for cut in cuts.iter().cycle() {
            let (portion, left) = rest.split_at((*cut).min(rest.len()));
            decoder.extend(portion);
            got.extend(drain(&mut decoder));
            rest = left;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert!(decoder.is_empty());
        prop_assert_eq!(got, wanted);
    }

    #[test]
    fn decoding_any_stream_never_panics(portions in prop::collection::vec(
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            // Short lengths, so that frames come about.
            prop::collection::vec(any::<u8>(), 0..12).prop_map(|bytes| {
                [&[0, 0, 0, bytes.len() as u8][..], &bytes].concat()
            }),
        ], 0..20)
    ) {
        let mut decoder = FrameDecoder::default();
        for portion in portions {
            decoder.extend(&portion);
            drain(&mut decoder);
        }
    }

    #[test]
    fn values_round_trip(value in values()) {
        let bytes = encode(&value).expect("it encodes");
        prop_assert_eq!(&decode::<Value>(&bytes).expect("it reads"), &value);
        prop_assert_eq!(value.to_blob().to_value().expect("it reads"), value);
    }

    #[test]
    fn decoding_any_bytes_as_a_message_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = decode::<Value>(&bytes);
        let _ = decode::<pipemux_proto::projection::Projection>(&bytes);
        let _ = decode::<pipemux_proto::client::VerbRequest>(&bytes);
    }
}

#[test]
fn length_above_the_bound_is_refused_before_the_frame_arrives() {
    for length in [FRAME_MAX as u32 + 1, u32::MAX] {
        let mut decoder = FrameDecoder::default();
        // The prefix alone: nothing of the frame was awaited, nothing allocated for it.
        decoder.extend(&length.to_be_bytes());
        assert_eq!(decoder.next_frame(), Err(FrameError::TooLong(u64::from(length))));
    }
    let mut decoder = FrameDecoder::default();
    decoder.extend(&(FRAME_MAX as u32).to_be_bytes());
    assert_eq!(decoder.next_frame(), Ok(None));
}

#[test]
fn frame_bound_is_exact() {
    let envelope = Envelope::request(Method::Verb, 1, Incarnation(0));
    let mut head = Vec::new();
    envelope.write(&mut head);
    let body = vec![0; FRAME_MAX - head.len()];
    let bytes = Frame::forward(&envelope, &body).expect("it fits");
    let mut decoder = FrameDecoder::default();
    decoder.extend(&bytes);
    assert_eq!(decoder.next_frame().expect("a frame").expect("whole").body.len(), body.len());
    assert!(Frame::forward(&envelope, &vec![0; body.len() + 1]).is_err());
}

#[test]
fn unknown_method_consumes_only_its_frame() {
    let mut decoder = FrameDecoder::default();
    decoder.extend(&[0, 0, 0, 7, 0x95, 0, 99, 5, 0, 0, 0x80]);
    decoder.extend(
        &Frame::forward(&Envelope::event(Method::Ping, Incarnation(0)), &[0x80]).expect("fits"),
    );
    let unknown = EnvelopeError::Method { number: 99, id: 5, request: true };
    assert_eq!(decoder.next_frame(), Err(FrameError::Envelope(unknown)));
    assert!(matches!(decoder.next_frame(), Ok(Some(_))));
}

#[test]
fn frame_shorter_than_an_envelope_is_refused() {
    for bytes in [&[0, 0, 0, 0][..], &[0, 0, 0, 1, 0x95], &[0, 0, 0, 2, 0x95, 0xcf]] {
        let mut decoder = FrameDecoder::default();
        decoder.extend(bytes);
        assert_eq!(decoder.next_frame(), Err(FrameError::Envelope(EnvelopeError::Shape)));
    }
}

#[test]
fn value_nesting_bound_is_exact() {
    let nested = |levels: usize, open: &[u8]| {
        let mut bytes = open.repeat(levels);
        bytes.push(0xc0);
        decode::<Value>(&bytes)
    };
    for open in [&[0x91][..], &[0x81, 0xa1, b'k']] {
        assert!(nested(VALUE_DEPTH_MAX, open).is_ok());
        let error = nested(VALUE_DEPTH_MAX + 1, open).expect_err("too deep").to_string();
        assert!(error.contains(&VALUE_DEPTH_MAX.to_string()), "{error}");
        assert!(nested(100_000, open).is_err(), "and no stack is used up");
    }
}

#[test]
fn oversized_collection_length_is_refused_without_allocation() {
    // Arrays, maps, strings and bytes of four thousand millions.
    for first in [0xdd, 0xdf, 0xdb, 0xc6] {
        assert!(decode::<Value>(&[first, 0xff, 0xff, 0xff, 0xff, 0x00]).is_err());
    }
}
