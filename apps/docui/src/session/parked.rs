//! Requests whose work is under way on other threads: answered when it is done, or at their
//! deadline.

use std::time::{Duration, Instant};

use pipemux_proto::app::{Notify, Outcome};
use pipemux_proto::codec::EncodeError;
use pipemux_proto::deadline;
use pipemux_proto::{Envelope, Fault, Frame, Kind, Method};

use crate::blocking::{Blocking, Completion, Finish, Started};
use crate::limits::CLOSE_PATIENCE;
use crate::served::Served;

use super::Session;
use super::pending::{Finished, Parked, ParkedWork};

impl Session {
    /// When the next request is to be answered whose work isn't done.
    pub(super) fn next_parked_deadline(&self) -> Option<Instant> {
        let open = self.parked.iter().filter(|parked| !parked.answered);
        open.map(|parked| parked.deadline).min()
    }

    /// True while work of a request is under way.
    pub(crate) fn is_working(&self) -> bool {
        !self.parked.is_empty()
    }

    pub(super) fn park<R: 'static>(
        &mut self,
        request: &Envelope,
        blocking: Blocking<dyn Served, R>,
        wrap: impl FnOnce(Started<dyn Served, R>) -> ParkedWork,
    ) -> Result<Option<Finish<dyn Served, R>>, Fault> {
        let deadline = blocking.deadline;
        let mut started = blocking.start(&self.handle)?;
        // Nearly all work is done soon: then the answers keep their order, and the window that was
        // asked for together with the action shows its effect.
        match started.task.wait(self.patience) {
            Some(finish) => Ok(Some(finish)),
            None => {
                self.parked.push(Parked::new(request, self.received, deadline, wrap(started)));
                Ok(None)
            }
        }
    }

    /// Answers the requests whose work is done or whose deadline has passed. Returns the frames to
    /// send, and the version in the last of them, if it has one.
    pub(super) fn finish_parked(&mut self) -> Result<(Vec<u8>, Option<u64>), EncodeError> {
        let (mut frames, mut told) = (Vec::new(), None);
        for mut parked in std::mem::take(&mut self.parked) {
            match parked.wait(Duration::ZERO) {
                Some(finished) => {
                    frames.extend(self.finish(&parked, finished)?);
                    if !parked.answered {
                        told = Some(self.version);
                    }
                }
                None => self.parked.push(parked),
            }
        }
        let now = Instant::now();
        for parked in self.parked.iter_mut().filter(|parked| !parked.answered) {
            if parked.deadline <= now {
                parked.answered = true;
                frames.extend(refusal(&parked.request, parked.work.overdue())?);
            }
        }
        Ok((frames, told))
    }

    /// Has the deadlines of all requests come, for tests.
    pub(crate) fn expire_parked(&mut self) {
        let now = Instant::now();
        self.parked.iter_mut().for_each(|parked| parked.deadline = now);
    }

    /// Waits until all work of requests is done, for tests. Returns the frames to send.
    pub(crate) fn wait_for_parked(&mut self) -> Vec<u8> {
        let mut frames = Vec::new();
        for mut parked in std::mem::take(&mut self.parked) {
            if let Some(finished) = parked.wait(Duration::from_secs(60)) {
                frames.extend(self.finish(&parked, finished).unwrap_or_default());
            }
        }
        frames
    }

    /// Stops waiting for a request that nobody wants an answer to any more.
    pub(crate) fn cancel(&mut self, id: u64) {
        for parked in self.parked.iter_mut().filter(|parked| parked.request.id == id) {
            parked.answered = true;
            parked.work.call_off();
        }
    }

    /// Gives the work that is under way some time to be done before the session ends. Returns the
    /// frames to send.
    pub(super) fn drain_parked(&mut self) -> Result<Vec<u8>, EncodeError> {
        let end = deadline::after(CLOSE_PATIENCE);
        let mut frames = Vec::new();
        for mut parked in std::mem::take(&mut self.parked) {
            match parked.wait(end.saturating_duration_since(Instant::now())) {
                Some(finished) => frames.extend(self.finish(&parked, finished)?),
                None => {
                    if !parked.answered {
                        frames.extend(refusal(&parked.request, parked.work.overdue())?);
                    }
                    self.parked.push(parked);
                }
            }
        }
        Ok(frames)
    }

    /// Lets the app process the result of work. Returns the frames to send: the answer or, if the
    /// request was already answered at its deadline, a notice for all readers about the outcome.
    fn finish(&mut self, parked: &Parked, finished: Finished) -> Result<Vec<u8>, EncodeError> {
        let (request, late) = (&parked.request, parked.answered);
        let completion = Completion { version: self.version, late };
        match finished {
            Finished::Invoke(finish, pending) => {
                let name = pending.name;
                let reply = match self.app_mut() {
                    Ok(app) => finish(app, completion),
                    Err(fault) => Err(fault),
                };
                let outcome = match reply.map(|reply| self.replied(reply, &pending)) {
                    Ok(outcome) => outcome,
                    Err(fault) => Outcome::Failed(fault),
                };
                if !late {
                    return Frame::encode(&request.answer(Kind::Reply), &outcome)
                        .or_else(|error| Frame::fault(request, &Fault::refused(error.to_string())))
                        .map(|bytes| bytes.to_vec());
                }
                let became = match outcome {
                    _ if parked.is_called_off() => return Ok(Vec::new()),
                    Outcome::Done(done) => format!("{name} took effect after all: {}", done.brief),
                    Outcome::Started(started) => {
                        format!("{name} began a job after all: {}", started.brief)
                    }
                    Outcome::Failed(fault) => format!("{name} failed after all: {fault}"),
                    Outcome::Needs(_) => format!("{name} had no effect"),
                };
                self.event(Method::Notify, &Notify { text: became })
            }
            Finished::Open(finish) => {
                let opened = match self.app_mut() {
                    Ok(app) => finish(app, completion),
                    Err(fault) => Err(fault),
                };
                let opened = opened.map(|notes| {
                    self.version += 1;
                    self.opened(notes)
                });
                match late {
                    true => Ok(Vec::new()),
                    false => super::answer(request, opened).map(|bytes| bytes.to_vec()),
                }
            }
        }
    }
}

/// Refuses a request: an action by its outcome, so that it is told like any other failure.
fn refusal(request: &Envelope, fault: Fault) -> Result<Vec<u8>, EncodeError> {
    let bytes = match request.method {
        Method::Invoke => Frame::encode(&request.answer(Kind::Reply), &Outcome::Failed(fault))?,
        _ => Frame::fault(request, &fault)?,
    };
    Ok(bytes.to_vec())
}
