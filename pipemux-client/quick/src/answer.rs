//! The daemon's greeting and its answer.

use crate::limits::BUFFER;
use crate::pack::Reader;
use crate::request::{EVENT, HELLO, ID, MAJOR, REPLY, VERB};

/// An answer in the form of a text.
#[derive(Debug, PartialEq)]
pub struct Answer<'a> {
    pub exit: u8,
    pub text: &'a str,
    /// The number of the delivery to confirm, or 0.
    pub delivery: u64,
    /// True if it goes to standard error.
    pub is_error: bool,
}

/// The meaning of the bytes received so far.
#[derive(Debug, PartialEq)]
pub enum Received<'a> {
    /// The answer is still incomplete.
    Part,
    Answer(Answer<'a>),
    /// Something else, which the ordinary program understands, or refuses.
    Other,
}

/// Reads what the daemon sent from the beginning of the connection.
pub fn read(bytes: &[u8]) -> Received<'_> {
    let (hello, rest) = match frame(bytes) {
        Ok(Some(found)) => found,
        Ok(None) => return Received::Part,
        Err(()) => return Received::Other,
    };
    if greeting(hello).is_none() {
        return Received::Other;
    }
    match frame(rest) {
        Ok(None) => Received::Part,
        Ok(Some((reply, []))) => answer(reply).map_or(Received::Other, Received::Answer),
        _ => Received::Other,
    }
}

/// A frame without its prefix, and the bytes after it.
type Split<'a> = (&'a [u8], &'a [u8]);

/// Splits off the first frame; `Ok(None)` if it isn't whole, an error if it is too long.
fn frame(bytes: &[u8]) -> Result<Option<Split<'_>>, ()> {
    let Some((prefix, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(*prefix) as usize;
    if length > BUFFER {
        return Err(());
    }
    Ok(rest.split_at_checked(length))
}

/// Reads an envelope: kind, method, id, incarnation and deadline.
fn envelope(reader: &mut Reader<'_>) -> Option<[u64; 5]> {
    let mut numbers = [0; 5];
    if reader.array()? != numbers.len() {
        return None;
    }
    for number in &mut numbers {
        *number = reader.number()?;
    }
    Some(numbers)
}

/// Checks that this is the greeting of a daemon that takes a confirmation as the last frame.
fn greeting(frame: &[u8]) -> Option<()> {
    let mut reader = Reader::new(frame);
    let [kind, method, ..] = envelope(&mut reader)?;
    if (kind, method) != (EVENT, HELLO) {
        return None;
    }
    let (mut is_daemon, mut is_version, mut takes_seen) = (false, false, false);
    for _ in 0..reader.map()? {
        match reader.text()? {
            "protocol" => {
                for _ in 0..reader.map()? {
                    match reader.text()? {
                        "major" => is_version = reader.number()? == MAJOR,
                        _ => reader.skip()?,
                    }
                }
            }
            "features" => {
                for _ in 0..reader.array()? {
                    takes_seen |= reader.text()? == "seen-event";
                }
            }
            "role" => is_daemon = reader.text()? == "daemon",
            _ => reader.skip()?,
        }
    }
    (is_daemon && is_version && takes_seen && reader.is_empty()).then_some(())
}

fn answer(frame: &[u8]) -> Option<Answer<'_>> {
    let mut reader = Reader::new(frame);
    let [kind, method, id, ..] = envelope(&mut reader)?;
    if (kind, method, id) != (REPLY, VERB, ID) {
        return None;
    }
    let (mut exit, mut text, mut delivery, mut is_error) = (None, None, 0, false);
    for _ in 0..reader.map()? {
        match reader.text()? {
            "exit" => exit = Some(u8::try_from(reader.number()?).ok()?),
            "body" => {
                if (reader.map()?, reader.text()?) != (1, "text") {
                    return None;
                }
                text = Some(reader.text()?);
            }
            "delivery" => delivery = reader.number()?,
            "error" => is_error = reader.is_true()?,
            _ => reader.skip()?,
        }
    }
    reader.is_empty().then_some(Answer { exit: exit?, text: text?, delivery, is_error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::client::{Answer as WireAnswer, Body};
    use pipemux_proto::envelope::{Envelope, Kind, Method};
    use pipemux_proto::hello::{EMBED, SEEN_EVENT};
    use pipemux_proto::{Fault, Frame, Hello, Incarnation, Role};
    use std::string::String;
    use std::vec::Vec;

    fn hello(features: &[&str]) -> Vec<u8> {
        let features = features.iter().copied().map(String::from).collect();
        let hello = Hello { features, ..Hello::new(Role::Daemon, "pipemuxd 9.9.9") };
        Frame::encode(&Envelope::event(Method::Hello, Incarnation(0)), &hello).unwrap().to_vec()
    }

    fn reply(body: Body, error: bool) -> Vec<u8> {
        let envelope = Envelope::request(Method::Verb, 1, Incarnation(0)).answer(Kind::Reply);
        let answer = WireAnswer { exit: 4, body, delivery: 70_000, error };
        Frame::encode(&envelope, &answer).unwrap().to_vec()
    }

    #[test]
    fn answer_is_read_once_it_is_whole() {
        let text = "a 深 line\n".repeat(40);
        for error in [false, true] {
            let sent =
                [hello(&[EMBED, SEEN_EVENT]), reply(Body::Text(text.clone()), error)].concat();
            for end in 0..sent.len() {
                assert_eq!(read(&sent[..end]), Received::Part, "{end}");
            }
            let answer = Answer { exit: 4, text: &text, delivery: 70_000, is_error: error };
            assert_eq!(read(&sent), Received::Answer(answer));
            assert_eq!(read(&[&sent[..], &[0]].concat()), Received::Other);
        }
    }

    #[test]
    fn anything_else_is_left_to_the_ordinary_program() {
        let text = reply(Body::Text("x\n".into()), false);
        let request = Envelope::request(Method::Verb, 1, Incarnation(0));
        let fault = Frame::fault(&request, &Fault::refused("full")).unwrap();
        let greeted = hello(&[SEEN_EVENT]);
        for (first, then) in [
            (&hello(&[])[..], &text[..]),
            (&text, &[]),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", &[]),
            (&greeted, &fault),
            (&greeted, &reply(Body::Raw(b"x".to_vec().into()), false)),
            (&greeted, b"\0\0\0\x01x"),
            (&greeted, b"\x00\x10\x00\x00"),
        ] {
            assert_eq!(read(&[first, then].concat()), Received::Other, "{then:?}");
        }
        let app = Frame::encode(
            &Envelope::event(Method::Hello, Incarnation(0)),
            &Hello::new(Role::App, "x"),
        );
        assert_eq!(read(&app.unwrap()), Received::Other);
    }
}
