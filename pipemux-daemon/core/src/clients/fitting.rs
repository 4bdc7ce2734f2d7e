//! Answers that fit one message.
//!
//! **Invariant: an answer that is too long keeps its status.** It is replaced by a shorter answer,
//! never by a fault: what a run did stays told, and so does whether it took effect. Only a request
//! that changes nothing may be refused instead, where a part of its data would be taken for the
//! whole. [`encode`] is the only way from an [`Answer`] to the bytes of a reply.

use bytes::Bytes;
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::envelope::Envelope;
use pipemux_proto::limits::FRAME_MAX;
use pipemux_proto::report::{QuestionReport, Report, StepReport};
use pipemux_proto::watch::Events;
use pipemux_proto::{Fault, Frame, Kind};

use crate::limits::{BRIEF_CHARS, FAULT_CHARS, LONG_ANSWER_TOKENS, ROUND_ACTION_MAX};
use crate::text::clip;
use crate::views::truncate::cut_lines_with;

/// Encodes the reply to a request for a verb. Also returns the answer that was sent if it differs
/// from the given one: nothing in a shortened answer counts as seen.
pub fn encode(request: &Envelope, verb: &Verb, answer: &Answer) -> (Bytes, Option<Answer>) {
    let reply = request.answer(Kind::Reply);
    if let Ok(bytes) = Frame::encode(&reply, answer) {
        return (bytes, None);
    }
    for attempt in 0..=LAST_ATTEMPT {
        let Some(shorter) = shorten(verb, answer, attempt) else {
            return (encode_fault(&request.answer(Kind::Fault), &too_long(verb)), None);
        };
        if let Ok(bytes) = Frame::encode(&reply, &shorter) {
            return (bytes, Some(shorter));
        }
    }
    let bare = Answer { body: Body::Text(told(verb)), delivery: 0, ..*answer };
    (Frame::encode(&reply, &bare).unwrap_or_default(), Some(bare))
}

/// Encodes a fault. One that is too long keeps its code and the beginning of its message.
pub fn encode_fault(envelope: &Envelope, fault: &Fault) -> Bytes {
    if let Ok(bytes) = Frame::encode(envelope, fault) {
        return bytes;
    }
    let message = fault.message.chars().take(FAULT_CHARS).collect::<String>();
    let short = Fault::new(fault.code, message);
    Frame::encode(envelope, &short).unwrap_or_default()
}

/// The last attempt at shortening an answer that is too long; each leaves out more.
const LAST_ATTEMPT: u32 = 2;

/// Returns a shorter answer with the same status; `None` for data that would look complete if it
/// were cut.
fn shorten(verb: &Verb, answer: &Answer, attempt: u32) -> Option<Answer> {
    let body = match &answer.body {
        Body::Text(text) => {
            let tokens = LONG_ANSWER_TOKENS >> (attempt * 3);
            Body::Text(cut_lines_with(text, tokens, |lines| more_lines(verb, lines)))
        }
        Body::Report(report) => Body::Report(Box::new(shorter_report(verb, report, attempt))),
        Body::Events(events) => Body::Events(first_events(events, attempt)),
        // What has changed something can't be refused any more.
        Body::Data(_) | Body::Raw(_) | Body::Log(_) if verb.changes() => Body::Text(told(verb)),
        Body::Data(_) | Body::Raw(_) | Body::Log(_) => return None,
    };
    Some(Answer { exit: answer.exit, body, delivery: 0, error: answer.error })
}

fn more_lines(verb: &Verb, lines: usize) -> String {
    format!("… {lines} more lines are too much for one answer: {}\n", verb.kind().way_to_the_rest())
}

/// Tells that an answer is too long where nothing of it can be shown.
fn told(verb: &Verb) -> String {
    format!("the answer is longer than one message may be: {}\n", verb.kind().way_to_the_rest())
}

fn too_long(verb: &Verb) -> Fault {
    Fault::refused(format!("the answer is longer than {FRAME_MAX} bytes"))
        .hint(verb.kind().way_to_the_rest())
}

/// Returns a report of the same run or view with less in it. How each step ended always stays.
fn shorter_report(verb: &Verb, report: &Report, attempt: u32) -> Report {
    let few = if attempt == 0 { 1 } else { 4 };
    let step = |step: &StepReport| StepReport {
        call: cut(&step.call, ROUND_ACTION_MAX / few),
        clicked: step.clicked.as_ref().filter(|_| attempt == 0).map(|text| cut(text, BRIEF_CHARS)),
        status: step.status,
        brief: cut(&step.brief, BRIEF_CHARS / few),
        detail: None,
        content: String::new(),
        value: None,
        job: step.job,
        error: step.error.as_ref().map(|fault| short_fault(fault, few)),
    };
    let question = |question: &QuestionReport| QuestionReport {
        id: question.id,
        level: question.level,
        text: cut(&question.text, BRIEF_CHARS),
        options: if attempt == 0 { question.options.clone() } else { Vec::new() },
        unlisted: question.unlisted,
        fields: if attempt == 0 { question.fields.clone() } else { Vec::new() },
        secret: question.secret,
        hints: question.hints.iter().take(4).map(|hint| cut(hint, BRIEF_CHARS)).collect(),
    };
    let notices = report.notices.iter().take(16 / few).map(|notice| cut(notice, BRIEF_CHARS));
    Report {
        workspace: cut(&report.workspace, BRIEF_CHARS),
        epoch: report.epoch,
        steps: report.steps.iter().map(step).collect(),
        question: report.question.as_ref().map(question),
        questions: Vec::new(),
        kept: report.kept.clone().filter(|_| attempt == 0),
        windows: Vec::new(),
        held: Vec::new(),
        panels: Default::default(),
        jobs: Vec::new(),
        notices: [told(verb).trim_end().to_owned()].into_iter().chain(notices).collect(),
        error: report.error.as_ref().map(|fault| short_fault(fault, few)),
        receipt: report.receipt,
    }
}

fn short_fault(fault: &Fault, few: usize) -> Fault {
    let mut short = Fault::new(fault.code, cut(&fault.message, BRIEF_CHARS / few));
    short.level = fault.level;
    short.at = fault.at;
    short.hints = fault.hints.iter().take(4 / few).map(|hint| cut(hint, BRIEF_CHARS)).collect();
    short
}

/// Returns the first events: the next request tells of the others.
fn first_events(events: &Events, attempt: u32) -> Events {
    let count = (events.events.len() >> (attempt + 1)).max(1);
    let mut first: Vec<_> = events.events.iter().take(count).cloned().collect();
    first.iter_mut().for_each(|event| event.text = cut(&event.text, BRIEF_CHARS));
    let last = first.last().map_or(events.last, |event| event.number);
    Events { last, events: first, ..*events }
}

fn cut(text: &str, chars: usize) -> String {
    clip(text, chars).into_owned()
}

#[cfg(test)]
mod tests {
    use pipemux_proto::client::HistoryArgs;
    use pipemux_proto::report::StepStatus;
    use pipemux_proto::{FrameDecoder, Value, decode};
    use proptest::prelude::*;

    use super::*;

    fn verbs() -> Vec<Verb> {
        vec![
            Verb::Run { code: "a.b()".into(), stdin: None, only_queries: false },
            Verb::Answer { text: "yes".into(), to: None, stdin: None },
            Verb::Undo { round: None },
            Verb::View(Default::default()),
            Verb::History(HistoryArgs { detail: true, ..HistoryArgs::default() }),
            Verb::Restart { session: "a/b".parse().unwrap() },
            Verb::Status,
        ]
    }

    fn body() -> impl Strategy<Value = Body> {
        let text = prop_oneof![
            ("[a中\u{1}`]{1,9}", 1_usize..400_000).prop_map(|(text, n)| text.repeat(n)),
            ("[a`\n]{1,9}\n", 1_usize..300_000).prop_map(|(text, n)| text.repeat(n)),
        ];
        let text = text.prop_map(|mut text: String| {
            let end = (0..=text.len().min(3 << 20)).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or_default());
            text
        });
        (text, 0_u8..4, 0_usize..256).prop_map(|(text, kind, steps)| match kind {
            0 => Body::Text(text),
            1 => Body::Data(Value::from(text)),
            2 => Body::Raw(text.into_bytes().into()),
            _ => {
                let step = |_| StepReport {
                    call: cut(&text, 4_000),
                    clicked: None,
                    status: StepStatus::Done,
                    brief: cut(&text, 4_000),
                    detail: None,
                    content: cut(&text, 20_000),
                    value: None,
                    job: None,
                    error: Some(Fault::failed(cut(&text, 4_000)).hint(cut(&text, 4_000))),
                };
                let steps = (0..steps).map(step).collect();
                let notices = vec![text; 2];
                Body::Report(Box::new(Report { steps, notices, ..Report::default() }))
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn no_reply_promises_less_than_happened(
            body in body(),
            exit in 0_u8..10,
            error: bool,
            verb in 0_usize..7,
        ) {
            let verb = &verbs()[verb];
            let answer = Answer { exit, body, delivery: 7, error };
            let request = Envelope::request(pipemux_proto::Method::Verb, 3, Default::default());
            let (bytes, sent) = encode(&request, verb, &answer);
            let mut decoder = FrameDecoder::default();
            decoder.extend(&bytes);
            let frame = decoder.next_frame().unwrap().unwrap();
            prop_assert_eq!(frame.envelope.id, 3);
            if frame.envelope.kind == Kind::Fault {
                // Exit 9: nothing took effect, which is true of what changes nothing only.
                prop_assert!(!verb.changes());
                return Ok(());
            }
            let read: Answer = decode(&frame.body).unwrap();
            prop_assert_eq!((read.exit, read.error), (exit, error));
            match (&sent, &read.body) {
                (None, _) => prop_assert_eq!(&read, &answer),
                (Some(sent), Body::Report(report)) => {
                    prop_assert_eq!(&read, sent);
                    let Body::Report(before) = &answer.body else { panic!("{sent:?}") };
                    let status = |report: &Report| -> Vec<StepStatus> {
                        report.steps.iter().map(|step| step.status).collect()
                    };
                    prop_assert_eq!(status(report), status(before));
                    prop_assert!(report.notices[0].contains(verb.kind().way_to_the_rest()), "{}", report.notices[0]);
                    prop_assert_eq!(read.delivery, 0);
                }
                (Some(sent), other) => {
                    prop_assert_eq!(&read, sent);
                    prop_assert_eq!(read.delivery, 0, "nothing of it counts as seen");
                    let Body::Text(text) = other else { panic!("{other:?}") };
                    prop_assert!(text.len() < 100_000, "a summary of {} bytes", text.len());
                    prop_assert!(text.contains(verb.kind().way_to_the_rest()), "the way to the rest: {text}");
                }
            }
        }
    }
}
