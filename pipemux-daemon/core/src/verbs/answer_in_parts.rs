//! Sends answers of long text without copying the text.

use bytes::Bytes;
use pipemux_proto::client::{Answer, Body};
use pipemux_proto::{Envelope, Fault, Frame, Kind};

use crate::Core;
use crate::keys::RequestId;
use crate::verbs::require;
use crate::views::answer_buffer::AnswerBuffer;

impl Core {
    /// Answers a request with a long text, most of which windows keep. Only verbs that don't act are answered without
    /// a copy, because the answer of an acting one is also kept for when it is sent again.
    pub(super) fn answer_in_parts(
        &mut self,
        id: RequestId,
        exit: u8,
        delivery: u64,
        text: AnswerBuffer,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let envelope = request.envelope.answer(Kind::Reply);
        match encode_in_parts(&envelope, exit, delivery, &text) {
            Some(parts) if !request.call.verb.acts() => {
                self.end_task(id);
                self.clients.answer_in_parts(&mut self.turn, id, parts);
            }
            // A text that is too long for a frame gets the same refusal as any other answer.
            _ => {
                let body = Body::Text(text.into_text());
                self.answer(id, Answer { exit, body, delivery, error: false });
            }
        }
        Ok(())
    }
}

/// Encodes the frame of an answer as parts that share the memory of `text`; none when a frame can't hold it.
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
