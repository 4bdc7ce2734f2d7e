//! Answers with a long text, which is copied neither when the answer is written nor when it is
//! read.

use bytes::Bytes;
use serde::Deserialize;

use super::{Answer, Body};
use crate::codec::{DecodeError, EncodeError, decode, encode_into};

/// Length in bytes of the shortest body whose text keeps the buffer it arrived in: from this size
/// on, a new buffer costs more than copying its content.
const LONG_BODY: usize = 32 * 1024;

/// An answer whose text is borrowed from the message.
#[derive(Deserialize)]
struct BorrowedAnswer<'a> {
    exit: u8,
    #[serde(borrow)]
    body: BorrowedText<'a>,
    #[serde(default)]
    delivery: u64,
    #[serde(default)]
    error: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum BorrowedText<'a> {
    Text(&'a str),
}

impl Answer {
    /// Decodes an answer from the body of a reply. A long text takes over the body's buffer.
    ///
    /// # Errors
    /// The body is not exactly one answer.
    pub fn from_body(body: Bytes) -> Result<Self, DecodeError> {
        if body.len() < LONG_BODY {
            return decode(&body);
        }
        let Ok(BorrowedAnswer { exit, body: BorrowedText::Text(text), delivery, error }) =
            decode(&body)
        else {
            return decode(&body);
        };
        let text = body.slice_ref(text.as_bytes());
        drop(body);
        match String::from_utf8(text.into()) {
            Ok(text) => Ok(Self { exit, body: Body::Text(text), delivery, error }),
            Err(error) => Err(DecodeError::Body(error.to_string())),
        }
    }

    /// Encodes the body of an answer with a text of `length` bytes: the bytes before the text and
    /// those after it.
    ///
    /// # Errors
    /// None for these values; encoding them can't fail.
    pub fn encode_around_text(
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
    fn uncopied_text_is_encoded_and_decoded_like_any_other() {
        for length in [0, 1, 31, 32, 255, 256, 32_700, 65_535, 65_536, 300_001] {
            for (exit, delivery) in [(0, 0), (7, 200), (130, 70_000), (255, u64::MAX)] {
                let text = "a 中 line\n".repeat(length / 11) + &"x".repeat(length % 11);
                let (before, after) =
                    Answer::encode_around_text(exit, delivery, text.len()).unwrap();
                let (body, error) = (Body::Text(text.clone()), false);
                let answer = Answer { exit, body, delivery, error };
                let body = encode(&answer).unwrap();
                assert!([&before, text.as_bytes(), &after].concat() == body, "{length} {delivery}");
                assert!(Answer::from_body(body.clone().into()).unwrap() == answer);
                // A buffer that is shared stays valid for its other owner.
                let shared = Bytes::from(body);
                let other = shared.clone();
                assert!(Answer::from_body(shared).unwrap() == answer);
                assert!(decode::<Answer>(&other).unwrap() == answer);
            }
        }
    }

    #[test]
    fn from_body_refuses_what_decode_refuses() {
        let body = Body::Raw(vec![7; 2 * LONG_BODY].into());
        let raw = Answer { exit: 0, body, delivery: 1, error: false };
        assert_eq!(Answer::from_body(encode(&raw).unwrap().into()), Ok(raw));
        let body = Body::Text("x".repeat(2 * LONG_BODY));
        let text = Answer { exit: 3, body, delivery: 1, error: true };
        let body = encode(&text).unwrap();
        let cut_off = Bytes::from(body[..body.len() - 3].to_vec());
        assert!(Answer::from_body(cut_off).is_err());
        let more = Bytes::from([&body[..], &[0]].concat());
        assert_eq!(Answer::from_body(more), Err(DecodeError::Trailing(1)));
        let mut broken = body;
        broken[LONG_BODY] = 0xff;
        assert!(Answer::from_body(broken.into()).is_err());
    }
}
