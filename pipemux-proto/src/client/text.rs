//! Answers of long text, which is neither copied when they are written nor when they are read.

use bytes::Bytes;
use serde::Deserialize;

use super::{Answer, Body};
use crate::codec::{DecodeError, EncodeError, decode, encode_into};

/// Length of a body, in bytes, from which on its text is left where it came: a new buffer of that size costs
/// more than what is copied to it.
const LONG: usize = 32 * 1024;

/// An answer of text where it lies.
#[derive(Deserialize)]
struct InPlace<'a> {
    exit: u8,
    #[serde(borrow)]
    body: TextOnly<'a>,
    #[serde(default)]
    delivery: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TextOnly<'a> {
    Text(&'a str),
}

impl Answer {
    /// Reads an answer from the body of a reply, whose buffer a long text takes over.
    ///
    /// # Errors
    /// Anything else than one answer.
    pub fn from_body(body: Bytes) -> Result<Self, DecodeError> {
        if body.len() < LONG {
            return decode(&body);
        }
        let Ok(InPlace { exit, body: TextOnly::Text(text), delivery }) = decode(&body) else {
            return decode(&body);
        };
        let text = body.slice_ref(text.as_bytes());
        drop(body);
        match String::from_utf8(text.into()) {
            Ok(text) => Ok(Self { exit, body: Body::Text(text), delivery }),
            Err(error) => Err(DecodeError::Body(error.to_string())),
        }
    }

    /// What stands before and behind a text of so many bytes in the body of an answer with it.
    ///
    /// # Errors
    /// None that these values lead to.
    pub fn around_text(
        exit: u8,
        delivery: u64,
        length: usize,
    ) -> Result<(Vec<u8>, Vec<u8>), EncodeError> {
        let (mut before, mut after) = (vec![0x83], Vec::new());
        encode_into(&mut before, "exit")?;
        encode_into(&mut before, &exit)?;
        encode_into(&mut before, "body")?;
        before.push(0x81);
        encode_into(&mut before, "text")?;
        match length {
            0..=0x1f => before.push(0xa0 | length as u8),
            0x20..=0xff => before.extend([0xd9, length as u8]),
            0x100..=0xffff => {
                before.push(0xda);
                before.extend((length as u16).to_be_bytes());
            }
            _ => {
                before.push(0xdb);
                before.extend((length as u32).to_be_bytes());
            }
        }
        encode_into(&mut after, "delivery")?;
        encode_into(&mut after, &delivery)?;
        Ok((before, after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encode;

    #[test]
    fn a_text_that_is_not_copied_is_the_same_on_the_wire_and_off_it() {
        for length in [0, 1, 31, 32, 255, 256, 32_700, 65_535, 65_536, 300_001] {
            for (exit, delivery) in [(0, 0), (7, 200), (130, 70_000), (255, u64::MAX)] {
                let text = "a 中 line\n".repeat(length / 11) + &"x".repeat(length % 11);
                let (before, after) = Answer::around_text(exit, delivery, text.len()).unwrap();
                let answer = Answer { exit, body: Body::Text(text.clone()), delivery };
                let body = encode(&answer).unwrap();
                assert!([&before, text.as_bytes(), &after].concat() == body, "{length} {delivery}");
                assert!(Answer::from_body(body.clone().into()).unwrap() == answer);
                // A buffer that someone else has, too, is left to them.
                let shared = Bytes::from(body);
                let other = shared.clone();
                assert!(Answer::from_body(shared).unwrap() == answer);
                assert!(decode::<Answer>(&other).unwrap() == answer);
            }
        }
    }

    #[test]
    fn other_answers_and_what_is_none_are_told_apart_as_ever() {
        let raw = Answer { exit: 0, body: Body::Raw(vec![7; 2 * LONG].into()), delivery: 1 };
        assert_eq!(Answer::from_body(encode(&raw).unwrap().into()), Ok(raw));
        let text = Answer { exit: 0, body: Body::Text("x".repeat(2 * LONG)), delivery: 1 };
        let body = encode(&text).unwrap();
        let cut_off = Bytes::from(body[..body.len() - 3].to_vec());
        assert!(Answer::from_body(cut_off).is_err());
        let more = Bytes::from([&body[..], &[0]].concat());
        assert_eq!(Answer::from_body(more), Err(DecodeError::Trailing(1)));
        let mut broken = body;
        broken[LONG] = 0xff;
        assert!(Answer::from_body(broken.into()).is_err());
    }
}
