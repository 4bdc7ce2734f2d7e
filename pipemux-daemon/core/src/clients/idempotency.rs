//! Idempotency of acting requests: their answers are kept, so that a request sent again isn't carried out twice.

use std::collections::{HashMap, VecDeque};

use pipemux_proto::Code;
use pipemux_proto::client::{Answer, Body};

use crate::limits::{RECORDS_BYTES_MAX, RECORDS_MAX};
use crate::persist::records::Record;

/// The answers of the newest acting requests, by the id that the client gave each.
#[derive(Debug, Default)]
pub struct IdempotencyRecords {
    answers: HashMap<String, Option<Answer>>,
    order: VecDeque<String>,
    bytes: usize,
}

impl IdempotencyRecords {
    fn size(answer: &Option<Answer>) -> usize {
        match answer.as_ref().map(|answer| &answer.body) {
            Some(Body::Text(text)) => text.len(),
            Some(Body::Raw(bytes)) => bytes.len(),
            Some(Body::Report(report)) => report.windows.iter().map(|w| w.content.len()).sum(),
            Some(Body::Data(_) | Body::Events(_) | Body::Log(_)) | None => 64,
        }
    }

    /// Returns the answer to a request that was taken before; the inner value is none while it is being carried out.
    pub fn get(&self, run_id: &str) -> Option<&Option<Answer>> {
        self.answers.get(run_id)
    }

    /// Forgets a request that was refused before anything came of it.
    pub fn forget(&mut self, run_id: &str) {
        if let Some(answer) = self.answers.remove(run_id) {
            self.bytes -= Self::size(&answer);
            self.order.retain(|kept| kept != run_id);
        }
    }

    /// Takes in a request that an earlier daemon recorded. The text of its answer is gone, but it still isn't carried
    /// out twice.
    pub fn restore(&mut self, run_id: &str, exit: Option<u8>) {
        let (exit, text) = match exit {
            Some(exit) => {
                let text = format!("this was answered before (exit {exit}) · pipemux history\n");
                (exit, text)
            }
            None => {
                let text = "unknown · the daemon was lost while this was carried out; it may or may \
                            not have taken effect\nnext: pipemux view\n";
                (Code::Unknown.exit_status(), text.to_owned())
            }
        };
        self.keep(run_id, Some(Answer { exit, body: Body::Text(text), delivery: 0, error: false }));
    }

    /// Returns the records that restore these answers.
    pub fn to_saved(&self) -> Vec<Record> {
        let saved = |run_id: &String| {
            let begun = Record::Begun { run_id: run_id.clone() };
            let answer = self.answers.get(run_id).and_then(Option::as_ref);
            let answered = answer
                .filter(|answer| answer.exit != Code::Unknown.exit_status())
                .map(|answer| Record::Answered { run_id: run_id.clone(), exit: answer.exit });
            std::iter::once(begun).chain(answered)
        };
        self.order.iter().flat_map(saved).collect()
    }

    /// Remembers that a request was taken, or its answer; the oldest answers make room.
    pub fn keep(&mut self, run_id: &str, answer: Option<Answer>) {
        self.bytes += Self::size(&answer);
        match self.answers.insert(run_id.to_owned(), answer) {
            Some(before) => self.bytes -= Self::size(&before),
            None => self.order.push_back(run_id.to_owned()),
        }
        while self.order.len() > RECORDS_MAX || self.bytes > RECORDS_BYTES_MAX {
            // One that is still being carried out stays: sent again, it must not run again.
            let answered = |run_id: &String| self.answers.get(run_id).is_some_and(Option::is_some);
            let Some(oldest) = self.order.iter().position(answered) else { break };
            let Some(run_id) = self.order.remove(oldest) else { break };
            if let Some(answer) = self.answers.remove(&run_id) {
                self.bytes -= Self::size(&answer);
            }
        }
    }
}
