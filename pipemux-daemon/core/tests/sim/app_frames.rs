//! Frames to apps: each goes to a process that runs, can be decoded, and is counted by the models.
//!
//! | law | why it must hold |
//! |---|---|
//! | a frame goes to the process of its incarnation | another session would carry out what was meant for this one |
//! | no frame goes to an ended process | its sender would wait for an answer that can't come |
//! | an app's open requests are bounded | a slow app must not fill the daemon's memory |

use crate::law::{LawResult, law};
use crate::process::frames;
use crate::sessions::SessionKey;
use crate::sim::{InFlight, Sim};
use pipemux_proto::app::{Invoke, Locate, OpenRequest, Project, ReadRequest};
use pipemux_proto::job::CancelJob;
use pipemux_proto::{Fault, Frame, Hello, Incarnation, Kind, Method, decode};

impl Sim {
    /// Checks the frames of an effect, and puts them in flight.
    pub fn send_app(&mut self, app: Incarnation, bytes: &[u8]) -> LawResult {
        let frames = frames(bytes);
        law!(frames.is_ok(), "an effect holds whole frames", "{frames:?}");
        law!(self.begun.contains(&app), "a frame goes to a process that was started", "{app}");
        law!(!self.ended.contains(&app), "no frame goes to an ended process", "{app}");
        for frame in frames.unwrap_or_default() {
            let envelope = frame.envelope;
            self.check_incarnation(app, &frame)?;
            if let Err(why) = app_frame(&frame) {
                law!(false, "a frame to an app can be decoded", "{envelope:?}: {why}");
            }
            if envelope.kind == Kind::Request {
                self.statistics.count(format!("asked {:?}", envelope.method));
                crate::play::trace(|| describe_request(&frame));
            }
            if envelope.kind == Kind::Request {
                self.check_lifecycle(app, &frame)?;
            }
            if (envelope.kind, envelope.method) == (Kind::Request, Method::Invoke) {
                let mut invoke: Invoke = decode(&frame.body).expect("it was read already");
                self.name_run(&mut invoke)?;
                self.rounds.sent(envelope, &invoke);
                self.check_invoke(app, envelope.incarnation, &invoke)?;
            }
            if (envelope.kind, envelope.method) == (Kind::Request, Method::Save) {
                let process = self.processes.get(&app);
                let session_key =
                    process.and_then(|process| process.sessions.get(&envelope.incarnation));
                session_key.copied().map_or(Ok(()), |session_key| self.check_sleep(session_key))?;
            }
            // The socket keeps the frame while the process starts.
            self.send(0, InFlight::ToApp(app, frame));
        }
        let open = self.open_at(app);
        let incarnations =
            self.processes.get(&app).map_or(1, |process| process.sessions.len().max(1));
        law!(
            open <= (pipemux_core::limits::APP_REQUESTS_MAX + 8) * incarnations,
            "an app's open requests are bounded",
            "{open} at {app}"
        );
        Ok(())
    }

    /// Checks that a frame goes to the process of the incarnation that it names.
    fn check_incarnation(&mut self, app: Incarnation, frame: &Frame) -> LawResult {
        let (envelope, incarnation) = (frame.envelope, frame.envelope.incarnation);
        // A process that could not be started: the daemon doesn't know yet, and nothing arrives
        // there.
        let Some(process) = self.processes.get_mut(&app) else { return Ok(()) };
        if !process.shared {
            law!(
                incarnation == app,
                "a frame goes to the process of its incarnation",
                "{envelope:?} to {app}"
            );
            return Ok(());
        }
        if incarnation == app {
            let own = matches!(envelope.method, Method::Hello | Method::AppClose);
            law!(own, "a shared process gets only Hello and AppClose itself", "{envelope:?}");
            return Ok(());
        }
        if envelope.method == Method::AppOpen && !process.sessions.contains_key(&incarnation) {
            let open: OpenRequest = decode(&frame.body).expect("an OpenRequest");
            let session_key = SessionKey::of_dir(&open.state_dir);
            let Some(session_key) =
                session_key.filter(|session_key| self.prepared.contains(session_key))
            else {
                law!(false, "a session has its own directory", "{open:?}");
                return Ok(());
            };
            let fits = session_key.provider() == process.session_key.provider()
                && !process.has(session_key);
            law!(fits, "a session has one incarnation", "{session_key:?} in {process:?}");
            process.sessions.insert(incarnation, session_key);
            if process.sessions.len() > 1 {
                self.statistics.count("process shared");
            }
            let fresh = self.begun.insert(incarnation) && incarnation > self.last_before;
            law!(fresh, "an incarnation is never used again", "{incarnation}");
        }
        let process = self.processes.get(&app);
        // A session that ends before it was opened is only closed.
        let there = envelope.method == Method::AppClose
            || envelope.kind == Kind::Cancel
            || process.is_some_and(|process| process.sessions.contains_key(&incarnation));
        law!(there, "a frame goes to the process of its incarnation", "{envelope:?} to {app}");
        Ok(())
    }

    /// Counts the requests that a process has or is about to get.
    fn open_at(&self, app: Incarnation) -> usize {
        let unanswered = self.processes.get(&app).map_or(0, |process| process.unanswered.len());
        if unanswered < pipemux_core::limits::APP_REQUESTS_MAX / 2 {
            return unanswered;
        }
        let coming = self.in_flight.values().filter(|due| match due {
            InFlight::ToApp(incarnation, frame) => {
                *incarnation == app && frame.envelope.kind == Kind::Request
            }
            _ => false,
        });
        unanswered + coming.count()
    }
}

/// Describes a request to an app in one line.
fn describe_request(frame: &Frame) -> String {
    let envelope = frame.envelope;
    let body = match envelope.method {
        Method::AppOpen => format!("{:?}", decode::<OpenRequest>(&frame.body)),
        Method::Project => format!("{:?}", decode::<Project>(&frame.body)),
        _ => String::new(),
    };
    format!("→ incarnation {}: {:?} {body}", envelope.incarnation, envelope.method)
}

/// Decodes a frame to an app as an app would.
fn app_frame(frame: &Frame) -> Result<(), String> {
    let envelope = frame.envelope;
    fn read<T: serde::de::DeserializeOwned>(frame: &Frame) -> Result<(), String> {
        decode::<T>(&frame.body).map(|_| ()).map_err(|error| error.to_string())
    }
    match (envelope.kind, envelope.method) {
        (Kind::Event, Method::Hello) => read::<Hello>(frame),
        (Kind::Request, method) if envelope.id == 0 && method != Method::AppClose => {
            Err("a request without an id".into())
        }
        (Kind::Request, Method::AppOpen) => read::<OpenRequest>(frame),
        (Kind::Request, Method::Project) => read::<Project>(frame),
        (Kind::Request, Method::Invoke) => read::<Invoke>(frame),
        (Kind::Request, Method::AppRead) => read::<ReadRequest>(frame),
        (Kind::Request, Method::Locate) => read::<Locate>(frame),
        (Kind::Request, Method::CancelJob) => read::<CancelJob>(frame),
        (Kind::Request, Method::Ping | Method::Save | Method::AppClose) => Ok(()),
        (Kind::Cancel, _) => Ok(()),
        (Kind::Reply, Method::Ping) => Ok(()),
        (Kind::Fault, _) => read::<Fault>(frame),
        _ => Err("not for an app".into()),
    }
}
