//! Answers of long text, which go out from where they lie.

use bytes::Bytes;
use pipemux_proto::client::{Answer, Body};
use pipemux_proto::{Envelope, Frame, Kind};

use crate::Core;
use crate::keys::RequestId;
use crate::views::answer_buffer::AnswerBuffer;

impl Core {
    /// Gives a request that only reads its one answer: a text of which windows keep the most.
    pub(super) fn answer_in_parts(
        &mut self,
        id: RequestId,
        exit: u8,
        delivery: u64,
        said: AnswerBuffer,
    ) {
        let Some(job) = self.clients.request(id) else { return };
        let parts = match in_parts(&job.envelope.answer(Kind::Reply), exit, delivery, &said) {
            Some(parts) if !job.call.verb.acts() => parts,
            // Too long: the refusal is the same as for any.
            _ => {
                let body = Body::Text(said.into_text());
                return self.answer(id, Answer { exit, body, delivery });
            }
        };
        self.end_task(id);
        self.clients.answer_in_parts(&mut self.turn, id, parts);
    }
}

fn in_parts(answer: &Envelope, exit: u8, delivery: u64, said: &AnswerBuffer) -> Option<Vec<Bytes>> {
    let (before, after) = Answer::encode_around_text(exit, delivery, said.len()).ok()?;
    let head = Frame::head(answer, before.len() + said.len() + after.len()).ok()?;
    let mut parts = said.parts([&head[..], &before].concat());
    parts.push(after.into());
    Some(parts)
}
