//! The daemon's part: one thread follows the window, another one sends what the person asks for.

use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Answer, Body, OpenArgs, Verb, ViewArgs};
use pipemux_client::proto::{Code, Fault, SessionAddr};

use super::event::Event;
use super::outcome;
use crate::requester::Requester;
use crate::streaming::{LONG_POLL_MS, SHUTDOWN_TIMEOUT, wait_for_daemon};

/// Pauses between views of a window that comes back unchanged at once, as one of an app that
/// crashed does: the first one, and the longest.
const SAME_PAUSE_MIN: Duration = Duration::from_millis(50);
const SAME_PAUSE_MAX: Duration = Duration::from_secs(1);

/// The time for which a daemon that is shutting down may keep the connection.
const ENDING: Duration = Duration::from_secs(2);

/// The next task of the thread that follows the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The window was drawn: confirm its delivery and wait for the next change.
    Confirm(u64),
    /// Open the window again.
    Reopen,
}

/// Follows a window.
pub struct Follower {
    pub requester: Requester,
    /// The connection to the daemon; `None` while it is lost.
    pub connection: Option<Connection>,
    pub session: SessionAddr,
    /// The arguments that open the window, also after another daemon was started.
    pub open: OpenArgs,
}

impl Follower {
    /// Follows the window on a thread of its own, which is abandoned at the end.
    pub fn start(mut self, events: SyncSender<Event>, next: Receiver<Next>) {
        thread::spawn(move || {
            let mut same = SamePause::default();
            // The first answer was handed over before this thread began.
            while let Ok(next) = next.recv() {
                let verb = match next {
                    Next::Confirm(delivery) => {
                        // Without the confirmation the reader is shown it again, which is no harm.
                        let _ = self.connection.as_mut().map(|found| found.seen(delivery));
                        self.wait()
                    }
                    Next::Reopen => Verb::Open(self.open.clone()),
                };
                let Some((text, event)) = self.follow(verb, &events) else { return };
                same.pause(text);
                if events.send(event).is_err() {
                    return;
                }
            }
        });
    }

    /// Returns the request for the next change.
    fn wait(&self) -> Verb {
        let session = Some(self.session.clone());
        Verb::View(ViewArgs { session, wait_ms: LONG_POLL_MS, ..ViewArgs::default() })
    }

    /// Waits for what a request shows; `None` when nobody wants to know of it any more. The text is
    /// what the window shows.
    fn follow(&mut self, mut verb: Verb, events: &SyncSender<Event>) -> Option<(String, Event)> {
        loop {
            match self.ask(verb) {
                Err(ClientError::Unreachable(_) | ClientError::OutcomeUnknown(_)) => {
                    events.send(Event::Lost).ok()?;
                    if let Some(lost) = self.connection.take() {
                        // A daemon that is ending accepts connections until it is gone.
                        lost.wait_closed(SHUTDOWN_TIMEOUT);
                    }
                    self.connection = Some(wait_for_daemon(&self.requester.options));
                    events.send(Event::Found).ok()?;
                    verb = Verb::Open(self.open.clone());
                }
                Err(error) => {
                    let why = outcome::fault(error.fault());
                    return Some((why.clone(), Event::Unshown(why)));
                }
                Ok(shown) => return Some(shown),
            }
        }
    }

    /// Asks the daemon for the window.
    fn ask(&mut self, verb: Verb) -> Result<(String, Event), ClientError> {
        let gone = || ClientError::Unreachable(Fault::unavailable("the daemon is gone"));
        let connection = self.connection.as_mut().ok_or_else(gone)?;
        let mut call = self.requester.call(verb);
        if matches!(call.verb, Verb::View(_)) {
            // The window has its own detail: a look at another one doesn't count as having seen it.
            (call.lod, call.budget) = (None, None);
        }
        let timeout = self.requester.timeout_for(&call.verb);
        let answer = connection.call(&call, timeout)?;
        let unavailable = answer.exit == Code::Unavailable.exit_status();
        let shown = shown(answer);
        // A daemon that is ending says so, and closes the connection; an app that can't be reached
        // leaves it open.
        if unavailable
            && matches!(shown, (_, Event::Unshown(_)))
            && let Some(connection) = self.connection.take()
            && !connection.wait_closed(ENDING)
        {
            self.connection = Connection::open_existing(&self.requester.options)?;
        }
        if self.connection.is_some() { Ok(shown) } else { Err(gone()) }
    }
}

/// Pauses before a window is shown that came back unchanged at once.
#[derive(Default)]
struct SamePause {
    last: Option<(String, Instant)>,
    pause: Duration,
}

impl SamePause {
    fn pause(&mut self, text: String) {
        let same =
            |(before, at): &(String, Instant)| *before == text && at.elapsed() < 2 * SAME_PAUSE_MAX;
        match self.last.as_ref().is_some_and(same) {
            true => {
                self.pause = (self.pause * 2).clamp(SAME_PAUSE_MIN, SAME_PAUSE_MAX);
                thread::sleep(self.pause);
            }
            false => self.pause = Duration::ZERO,
        }
        self.last = Some((text, Instant::now()));
    }
}

/// Returns what an answer shows, and the event that tells it.
pub fn shown(answer: Answer) -> (String, Event) {
    match answer.body {
        Body::Report(report) if !report.windows.is_empty() => {
            let text = report.windows.first().map(|window| window.content.clone());
            let event = Event::Shown { report, delivery: answer.delivery };
            (text.unwrap_or_default(), event)
        }
        body => {
            let why = told(&body);
            (why.clone(), Event::Unshown(why))
        }
    }
}

/// Sends requests on a thread of its own, one after the other, and looks at the window after each.
pub fn send_requests(
    requester: Requester,
    session: SessionAddr,
    requests: Receiver<Verb>,
    events: SyncSender<Event>,
) {
    thread::spawn(move || {
        for verb in requests {
            if send_request(&requester, &session, verb, &events).is_none() {
                return;
            }
        }
    });
}

/// Reads the values of things on a thread of its own, one after the other.
pub fn load_values(requester: Requester, refs: Receiver<(String, u64)>, events: SyncSender<Event>) {
    thread::spawn(move || {
        for (name, epoch) in refs {
            let call = requester.call(Verb::Read { target: format!("{name}@e{epoch}") });
            let timeout = requester.timeout_for(&call.verb);
            let read = Connection::open_and_call(&requester.options, &call, timeout);
            // Without its picture a thing still has its words.
            let Ok((_, Answer { body: Body::Raw(bytes), .. })) = read else { continue };
            if events.send(Event::Loaded(name, bytes)).is_err() {
                return;
            }
        }
    });
}

/// Sends one request; `None` when nobody wants to know of its answer any more.
fn send_request(
    requester: &Requester,
    session: &SessionAddr,
    verb: Verb,
    events: &SyncSender<Event>,
) -> Option<()> {
    let mut call = requester.call(verb);
    (call.lod, call.budget) = (None, None);
    let timeout = requester.timeout_for(&call.verb);
    let sent = Connection::open_and_call(&requester.options, &call, timeout);
    let (mut connection, answer) = match sent {
        Ok(answered) => answered,
        Err(error) => return events.send(Event::Told(outcome::fault(error.fault()))).ok(),
    };
    let event = match answer.body {
        Body::Report(report) => Event::Answered(report),
        body => Event::Told(told(&body)),
    };
    events.send(event).ok()?;
    // What can't be undone is only confirmed by who was shown the question. That makes the window
    // count as seen, too, though the answer of an act has no more of it than what changed: so it is
    // looked at as a whole.
    let _ = connection.seen(answer.delivery);
    let view = ViewArgs { session: Some(session.clone()), ..ViewArgs::default() };
    call = requester.call(Verb::View(view));
    (call.lod, call.budget) = (None, None);
    // If it fails, the other thread finds out why.
    let Ok(answer) = connection.call(&call, requester.timeout_for(&call.verb)) else {
        return Some(());
    };
    let delivery = answer.delivery;
    if let (_, Event::Shown { report, .. }) = shown(answer) {
        events.send(Event::Looked(report)).ok()?;
        let _ = connection.seen(delivery);
    }
    Some(())
}

/// Returns what an answer without windows says.
fn told(body: &Body) -> String {
    match body {
        Body::Text(text) => text.trim_end().to_owned(),
        Body::Report(report) => outcome::text(report),
        Body::Data(value) => value.to_string(),
        Body::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Body::Events(_) | Body::Log(_) => String::new(),
    }
}
