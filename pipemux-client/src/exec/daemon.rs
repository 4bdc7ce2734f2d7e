//! Runs calls of apps on the daemon and takes their results apart.

use std::time::Duration;

use pipemux_proto::client::{Answer, Body, Format, Verb, VerbRequest};
use pipemux_proto::report::{QuestionReport, Report, StepStatus};
use pipemux_proto::{Fault, Value};

use super::code::Code;
use crate::blocking::Connection;
use crate::error::ClientError;
use crate::options::Options;

/// Tokens that the answer of a query may take.
const QUERY_BUDGET: u32 = 60_000;
/// The remark on a step that waits behind a question that was already open.
const BEHIND: &str = "kept: your step runs behind";

/// The answer that confirms overwriting.
const OVERWRITE: &str = "overwrite";

/// A connection to the daemon for the calls of one reader.
#[derive(Debug)]
pub struct Daemon {
    options: Options,
    /// The options that commands in hints repeat.
    hint_options: String,
    connection: Option<Connection>,
    /// Deliveries to confirm once the answer is written out.
    shown: Vec<u64>,
}

/// The result of a step that took effect or answered.
#[derive(Debug, Default)]
pub struct Step {
    /// The result of the step in one line.
    pub brief: String,
    /// The content that the step shows besides the brief.
    pub content: String,
    /// The value that the step returns, if that is a text.
    pub value: Option<String>,
    /// The name of the job that the step started.
    pub job: Option<String>,
}

/// The reason why a step has no result.
#[derive(Debug)]
pub enum Stopped {
    /// The step failed, was refused or asks a question; the model is given this.
    Told(Box<Fault>),
    /// No daemon answers.
    Lost(ClientError),
}

impl Daemon {
    /// Makes one that connects with the first call.
    pub fn new(options: Options, hint_options: String) -> Self {
        Self { options, hint_options, connection: None, shown: Vec::new() }
    }

    /// Runs a query whose result the model is shown.
    ///
    /// # Errors
    /// See [`Stopped`].
    pub fn show(&mut self, code: Code) -> Result<Step, Stopped> {
        let (step, delivery) = self.step(code, true)?;
        self.shown.push(delivery);
        Ok(step)
    }

    /// Runs a query for the client's own use: the reader's line numbers go on to mean what they
    /// meant.
    ///
    /// # Errors
    /// See [`Stopped`].
    pub fn look(&mut self, code: Code) -> Result<Step, Stopped> {
        self.step(code, true).map(|(step, _)| step)
    }

    /// Runs an action. A question that it asks is declined, for the tools have none, and told.
    ///
    /// # Errors
    /// See [`Stopped`].
    pub fn act(&mut self, code: Code) -> Result<Step, Stopped> {
        let (step, delivery) = self.step(code, false)?;
        self.shown.push(delivery);
        Ok(step)
    }

    /// As [`Daemon::act`], but a question whether something is to be overwritten is answered so:
    /// what isn't there any more is what would be.
    ///
    /// # Errors
    /// See [`Stopped`].
    pub fn act_over(&mut self, code: Code) -> Result<Step, Stopped> {
        let (code, stdin) = code.finish();
        let stdin = stdin.map(|text| text.into_bytes().into());
        let mut verb = Verb::Run { code, stdin, only_queries: false };
        loop {
            let request = self.request(verb);
            let answer = self.send(&request, self.options.timeout)?;
            match &answer.body {
                Body::Report(report) if report.error.is_none() => match &report.question {
                    Some(asked) if asked.options.iter().any(|option| option.label == OVERWRITE) => {
                        let to = Some(asked.id);
                        verb = Verb::Answer { text: OVERWRITE.into(), to, stdin: None };
                    }
                    _ => return self.taken_apart(answer).map(|(step, _)| step),
                },
                _ => return self.taken_apart(answer).map(|(step, _)| step),
            }
        }
    }

    /// Waits for the end of a job, and returns how it ended: `exit 3`; `None` if it goes on.
    ///
    /// # Errors
    /// See [`Stopped`].
    pub fn end_of(&mut self, job: &str, wait: Duration) -> Result<Option<String>, Stopped> {
        let mut request = self.request(Verb::Read { target: format!("job:{job}") });
        request.wait_ms = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX);
        let timeout = self.options.timeout.saturating_add(wait);
        let answer = self.send(&request, timeout)?;
        let Body::Data(status) = answer.body else { return Ok(None) };
        let text = |name: &str| match status.get(name) {
            Some(Value::Str(text)) => Some(text.clone()),
            _ => None,
        };
        let runs = text("state").is_none_or(|state| state == "running");
        Ok((!runs).then(|| text("result").unwrap_or_default()))
    }

    /// Sends a request of another kind, and returns its answer.
    ///
    /// # Errors
    /// See [`Stopped`].
    pub fn call(&mut self, request: &VerbRequest, waits: Duration) -> Result<Answer, Stopped> {
        let answer = self.send(request, self.options.timeout.saturating_add(waits))?;
        self.shown.push(answer.delivery);
        Ok(answer)
    }

    /// Returns the settings of its requests.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Confirms what was shown, after the answer was written out.
    pub fn confirm(&mut self) {
        for delivery in std::mem::take(&mut self.shown) {
            // Without the confirmation the reader is shown some things again, which is no reason to
            // fail.
            let _ = self.connection.as_mut().map(|daemon| daemon.seen(delivery));
        }
    }

    fn step(&mut self, code: Code, only_queries: bool) -> Result<(Step, u64), Stopped> {
        let (code, stdin) = code.finish();
        let stdin = stdin.map(|text| text.into_bytes().into());
        let mut request = self.request(Verb::Run { code, stdin, only_queries });
        request.budget = only_queries.then_some(QUERY_BUDGET);
        let answer = self.send(&request, self.options.timeout)?;
        self.taken_apart(answer)
    }

    fn taken_apart(&mut self, answer: Answer) -> Result<(Step, u64), Stopped> {
        let Body::Report(report) = answer.body else { return Ok((Step::default(), 0)) };
        let Report { steps, question, kept, jobs, notices, error, .. } = *report;
        if let Some(question) = question {
            let fault = asked(&question);
            if !notices.iter().any(|notice| notice.starts_with(BEHIND)) {
                self.decline(question.id)?;
            }
            return Err(Stopped::Told(Box::new(error.unwrap_or(fault))));
        }
        if let Some(kept) = kept {
            self.decline(kept.id)?;
        }
        let step = steps.into_iter().next_back();
        let failed = error.or_else(|| step.as_ref()?.error.clone());
        match (step, failed) {
            (_, Some(fault)) => Err(Stopped::Told(Box::new(fault))),
            (Some(step), None) if step.status == StepStatus::Done => {
                let value = match step.value {
                    Some(Value::Str(text)) => Some(text),
                    _ => None,
                };
                let named = |number| jobs.iter().find(|job| job.number == number)?.name.clone();
                let job = step.job.and_then(|number| named(number).or(Some(number.to_string())));
                let done = Step { brief: step.brief, content: step.content, value, job };
                Ok((done, answer.delivery))
            }
            (Some(step), None) => Err(Stopped::Told(Box::new(Fault::failed(step.brief)))),
            (None, None) => Err(Stopped::Told(Box::new(Fault::failed("nothing ran")))),
        }
    }

    /// Drops what a question or a failed step keeps.
    fn decline(&mut self, id: u64) -> Result<(), Stopped> {
        let verb = Verb::Answer { text: "none".into(), to: Some(id), stdin: None };
        let request = self.request(verb);
        self.send(&request, self.options.timeout).map(drop)
    }

    fn request(&self, verb: Verb) -> VerbRequest {
        let mut request = self.options.call(verb);
        request.format = Format::Json;
        request.hint_options.clone_from(&self.hint_options);
        request
    }

    fn send(&mut self, request: &VerbRequest, timeout: Duration) -> Result<Answer, Stopped> {
        let answered = match &mut self.connection {
            Some(connection) => connection.call(request, timeout),
            none => Connection::open_and_call(&self.options, request, timeout).map(
                |(connection, answer)| {
                    *none = Some(connection);
                    answer
                },
            ),
        };
        answered.map_err(|error| match error {
            ClientError::Refused(fault) | ClientError::Invalid(fault) => {
                Stopped::Told(Box::new(fault))
            }
            lost => {
                // The next call finds the daemon that is there then.
                self.connection = None;
                Stopped::Lost(lost)
            }
        })
    }
}

fn asked(question: &QuestionReport) -> Fault {
    let options: Vec<_> = question.options.iter().map(|option| option.label.as_str()).collect();
    let options =
        if options.is_empty() { String::new() } else { format!(": {}", options.join(" · ")) };
    Fault::failed(format!("{}{options}; nothing was changed", question.text))
}
