//! Processes: how frames reach them and come back, and how they fail.

use pipemux_core::{Event, Exit};
use pipemux_proto::{Frame, Incarnation, Kind, Method};

use crate::action::Behaviour;
use crate::law::{LawResult, law};
use crate::sessions::SessionKey;
use crate::sim::{InFlight, Sim};

impl Sim {
    /// Delivers what was in flight.
    pub fn deliver(&mut self, due: InFlight) -> LawResult {
        match due {
            InFlight::ToApp(incarnation, frame) => return self.arrives(incarnation, frame),
            InFlight::FromApp(app, frame) => {
                let process = self.processes.get_mut(&app).filter(|process| !process.closed);
                if let Some(process) = process {
                    if matches!(frame.envelope.kind, Kind::Reply | Kind::Fault) {
                        process.unanswered.remove(&frame.envelope.id);
                        process.answered = Some(frame.envelope);
                        if frame.envelope.method == Method::AppClose {
                            process.closed_sessions.push(frame.envelope.incarnation);
                        }
                        if frame.envelope.method == Method::Invoke {
                            // Requests from now on see the state after the step.
                            process.before.remove(&frame.envelope.incarnation);
                        }
                    }
                    self.queue.push_back(Event::AppFrame { app, frame });
                }
            }
            InFlight::Started(app) => {
                let Some(process) = self.processes.get_mut(&app) else { return Ok(()) };
                process.started = true;
                let session_key = process.session_key;
                if let Some(store) = self.stores.get_mut(&session_key).filter(|_| !process.shared) {
                    store.wake(session_key.restarts_versions());
                }
                self.queue.push_back(Event::Started {
                    app,
                    pid: 1_000 + app.0 as u32,
                    left_out: Vec::new(),
                });
            }
            InFlight::StartFailed(app) => {
                self.queue.push_back(Event::StartFailed { app, why: "no such program".into() });
            }
            InFlight::Closed(app) => self.queue.push_back(Event::AppClosed { app }),
            InFlight::BrokenLaw(app) => {
                self.queue.push_back(Event::AppBroken { app, why: "no frames".into() });
            }
            InFlight::Exited(app, exit) => {
                let last_lines = vec!["the last line".to_owned()];
                self.queue.push_back(Event::Exited { app, exit, last_lines });
            }
            InFlight::LogRead(request) => self.queue.push_back(crate::effects::log_read(request)),
            InFlight::ClientGone(client) => self.queue.push_back(Event::ClientClosed { client }),
        }
        self.drain()
    }

    fn arrives(&mut self, incarnation: Incarnation, frame: Frame) -> LawResult {
        let Some(process) = self.processes.get_mut(&incarnation) else { return Ok(()) };
        if !process.alive || process.closed {
            return Ok(());
        }
        if !process.started {
            // The socket keeps the frame until the process runs.
            self.send(1, InFlight::ToApp(incarnation, frame));
            return Ok(());
        }
        self.react(incarnation, &frame)
    }

    /// Lets a process handle a frame, and sends what it answers.
    pub fn react(&mut self, incarnation: Incarnation, frame: &Frame) -> LawResult {
        let Some(process) = self.processes.get_mut(&incarnation) else { return Ok(()) };
        let session = frame.envelope.incarnation;
        if process.shared && session == incarnation && frame.envelope.method == Method::AppClose {
            self.statistics.count("shared process closed");
            self.end_process(incarnation, Exit::Code(0), 20);
            return Ok(());
        }
        // The process greets once for all its sessions, so the behaviour of its first session
        // counts.
        let session_key = process.sessions.get(&session).copied().unwrap_or(process.session_key);
        if process.shared
            && frame.envelope.method == Method::AppOpen
            && process.opened.insert(session)
            && let Some(store) = self.stores.get_mut(&session_key)
        {
            store.wake(session_key.restarts_versions());
        }
        let behaviour = self.behaviour(session_key);
        let (Some(process), Some(store)) =
            (self.processes.get_mut(&incarnation), self.stores.get_mut(&session_key))
        else {
            return Ok(());
        };
        let reaction = process.react(incarnation, frame, behaviour, store);
        let (taken, session_keys) = (reaction.opened, process.sessions.get(&session).copied());
        if taken == Some(false) {
            process.refused.insert(session);
        }
        if let (Some(true), Some(session_key)) = (taken, session_keys) {
            self.note_open(session_key);
        }
        if let Some(how) = reaction.wrong_known {
            law!(false, "a known version was sent in that window before", "{how}");
        }
        if reaction.woken {
            self.statistics.count("woken");
        }
        if let Some((mut invoke, effect)) = reaction.invoked {
            self.name_run(&mut invoke)?;
            self.check_executed(session_key, &invoke, effect)?;
        }
        for frame in reaction.frames {
            let slow = match behaviour {
                Behaviour::Slow(ms) => u64::from(ms),
                _ => 0,
            };
            let after = slow + self.pace(session_key);
            self.say(incarnation, after, (frame, behaviour));
        }
        if let Some(exit) = reaction.exit {
            // What it sent before is delivered first.
            let gap = if exit == Exit::Code(0) { 20 } else { 0 };
            self.end_process(incarnation, exit, gap);
        }
        Ok(())
    }

    /// Sends a frame of a process. Frames keep their order unless the behaviour is `Unordered`.
    pub fn say(
        &mut self,
        incarnation: Incarnation,
        after: u64,
        (frame, behaviour): (Frame, Behaviour),
    ) {
        let Some(process) = self.processes.get_mut(&incarnation) else { return };
        let ordered = frame.envelope.kind == Kind::Event || behaviour != Behaviour::Unordered;
        let jump = (process.last_sent_at.wrapping_mul(7) + frame.envelope.id * 13) % 40;
        let own = self.time + after + if ordered { 0 } else { jump };
        process.last_sent_at = process.last_sent_at.max(own);
        let at = if ordered { process.last_sent_at } else { own };
        self.send(at - self.time, InFlight::FromApp(incarnation, frame));
    }

    /// Ends a process; frames that it would send later are lost.
    pub fn end_process(&mut self, incarnation: Incarnation, exit: Exit, after: u64) {
        let Some(process) = self.processes.get_mut(&incarnation) else { return };
        if !std::mem::replace(&mut process.alive, false) {
            return;
        }
        let (closed, started) = (process.closed, process.started);
        let session_keys: Vec<SessionKey> = process.sessions.values().copied().collect();
        let last = self.time + after;
        self.in_flight.retain(|(at, _), due| match due {
            InFlight::FromApp(app, _) => *app != incarnation || *at <= last,
            InFlight::ToApp(app, _) => *app != incarnation,
            _ => true,
        });
        session_keys.into_iter().for_each(|session_key| self.note_close(session_key));
        if !started {
            return self.send(after + 8, InFlight::Exited(incarnation, exit));
        }
        if !closed {
            self.send(after, InFlight::Closed(incarnation));
        }
        self.send(
            after + u64::from(incarnation.0.is_multiple_of(3)) * 30,
            InFlight::Exited(incarnation, exit),
        );
    }
}
