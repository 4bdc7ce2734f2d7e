//! Sends a written answer. Long texts, most of which windows keep, aren't copied.

use bytes::Bytes;
use pipemux_proto::client::{Answer, Body};
use pipemux_proto::{Envelope, Frame, Kind};

use crate::answers::commit::OutgoingAnswer;
use crate::answers::compose::AnswerBody;
use crate::clients::Clients;
use crate::keys::RequestId;
use crate::turn::Turn;
use crate::views::answer_buffer::AnswerBuffer;

impl OutgoingAnswer {
    /// Answers a request, whose task must have ended.
    pub(crate) fn send(self, id: RequestId, clients: &mut Clients, turn: &mut Turn) {
        let Self { exit, error, delivery, body } = self;
        let body = match body {
            AnswerBody::Whole(body) => body,
            AnswerBody::Long(text) => {
                // The answer of an acting verb is also kept for when it is sent again.
                let request = clients.request(id).filter(|request| !request.call.verb.acts());
                let parts = request.and_then(|request| {
                    let envelope = request.envelope.answer(Kind::Reply);
                    encode_in_parts(&envelope, exit, delivery, &text)
                });
                if let Some(parts) = parts {
                    return clients.answer_in_parts(turn, id, parts);
                }
                // A text that is too long for a frame gets the same refusal as any other answer.
                Body::Text(text.into_text())
            }
        };
        clients.answer(turn, id, Answer { exit, body, delivery, error });
    }
}

/// Encodes the frame of an answer as parts that share the memory of `text`; none when a frame can't
/// hold it.
fn encode_in_parts(
    envelope: &Envelope,
    exit: u8,
    delivery: u64,
    text: &AnswerBuffer,
) -> Option<Vec<Bytes>> {
    let (before, after) = Answer::encode_around_text(exit, delivery, text.len()).ok()?;
    let head = Frame::head(envelope, before.len() + text.len() + after.len()).ok()?;
    let mut parts = text.parts([&head[..], &before].concat());
    parts.push(after.into());
    Some(parts)
}
