//! Processes: how frames reach them and come back, and how they fail.

use pipemux_core::{Event, Exit};
use pipemux_proto::app::{Busy, Changed, Done, Empty, Notify, Outcome, Progress};
use pipemux_proto::{Envelope, Frame, Hello, Incarnation, Kind, Method, Role};

use crate::action::{Behaviour, RogueMessage};
use crate::law::{LawResult, law};
use crate::process::{Process, frame, garbage};
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
                self.queue.push_back(Event::Started { app, pid: 1_000 + app.0 as u32 });
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

    fn react(&mut self, incarnation: Incarnation, frame: &Frame) -> LawResult {
        let Some(process) = self.processes.get_mut(&incarnation) else { return Ok(()) };
        let session = frame.envelope.incarnation;
        if process.shared && session == incarnation && frame.envelope.method == Method::AppClose {
            self.statistics.count("shared process closed");
            self.end_process(incarnation, Exit::Code(0), 20);
            return Ok(());
        }
        // The process greets once for all its sessions, so the behaviour of its first session counts.
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
        if let Some((invoke, effect)) = &reaction.invoked {
            self.check_executed(session_key, invoke, *effect)?;
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
    fn say(
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

    pub fn behave(&mut self, session_key: SessionKey, behaviour: Behaviour) -> LawResult<bool> {
        self.behaviours.insert(session_key, behaviour);
        self.note_behaviour(session_key, behaviour);
        self.statistics.count(format!("behaviour {}", crate::coverage::behaviour(behaviour)));
        if let Some(incarnation) = self.process_of(session_key)
            && !matches!(behaviour, Behaviour::Hangs | Behaviour::Stopped)
        {
            // It handles now what it read while it hung.
            let held = self
                .processes
                .get_mut(&incarnation)
                .map(|process| std::mem::take(&mut process.held));
            for frame in held.unwrap_or_default() {
                // Frames for sessions that still hang are held again.
                self.react(incarnation, &frame)?;
            }
        }
        Ok(true)
    }

    pub fn kill(&mut self, session_key: SessionKey) -> LawResult<bool> {
        let Some(incarnation) = self.process_of(session_key) else { return Ok(false) };
        self.end_process(incarnation, Exit::Signal(9), 0);
        Ok(true)
    }

    pub fn half_open(&mut self, session_key: SessionKey) -> LawResult<bool> {
        let Some(incarnation) = self.process_of(session_key) else { return Ok(false) };
        let Some(process) = self.processes.get_mut(&incarnation) else { return Ok(false) };
        process.misbehaved = true;
        if !process.started || std::mem::replace(&mut process.closed, true) {
            return Ok(false);
        }
        self.send(0, InFlight::Closed(incarnation));
        Ok(true)
    }

    pub fn lose_launcher(&mut self) -> LawResult<bool> {
        let incarnations = self.live_processes();
        for incarnation in &incarnations {
            self.end_process(*incarnation, Exit::Lost, 0);
        }
        Ok(!incarnations.is_empty())
    }

    pub fn chatter(&mut self, session_key: SessionKey, times: u16, news: bool) -> LawResult<bool> {
        let Some((process, incarnation)) = self.running_process(session_key) else {
            return Ok(false);
        };
        let version = self.stores.get(&session_key).map_or(0, |store| store.version);
        for _ in 0..times {
            let said = if news {
                frame(
                    &Envelope::event(Method::Notify, incarnation),
                    &Notify { text: "news".into() },
                )
            } else {
                frame(&Envelope::event(Method::Changed, incarnation), &Changed { version })
            };
            self.send(0, InFlight::FromApp(process, said));
        }
        Ok(true)
    }

    /// Returns the process and the incarnation of a running session whose connection is open.
    fn running_process(&self, session_key: SessionKey) -> Option<(Incarnation, Incarnation)> {
        let app = self.process_of(session_key)?;
        let process = self.processes.get(&app)?;
        let (incarnation, _) = process.sessions.iter().find(|(_, of)| **of == session_key)?;
        (process.started && !process.closed).then_some((app, *incarnation))
    }

    /// A shared process sends frames for one of its sessions that was closed.
    fn speak_for_closed_session(&mut self) -> LawResult<bool> {
        let speaks = |process: &Process| process.alive && process.started && !process.closed;
        let mut all = self.processes.iter_mut().filter(|(_, process)| speaks(process));
        let Some((app, process)) = all.find(|(_, process)| !process.closed_sessions.is_empty())
        else {
            return Ok(false);
        };
        process.misbehaved = true;
        let Some(closed) = process.closed_sessions.last().copied() else { return Ok(false) };
        let asked =
            process.unanswered.keys().next_back().copied().or(process.answered.map(|of| of.id));
        let of = Envelope::request(Method::Project, asked.unwrap_or(1), closed);
        let done = Done { brief: "forged".into(), version: 9_999, ..Done::default() };
        let news = Notify { text: "after its close".into() };
        let said = [
            frame(&of.answer(Kind::Reply), &Outcome::Done(done)),
            frame(&Envelope::event(Method::Notify, closed), &news),
            frame(&Envelope::event(Method::Changed, closed), &Changed { version: 9_998 }),
        ];
        let app = *app;
        self.statistics.count("rogue ClosedLife");
        for frame in said {
            self.send(0, InFlight::FromApp(app, frame));
        }
        Ok(true)
    }

    pub fn rogue(&mut self, session_key: SessionKey, rogue: RogueMessage) -> LawResult<bool> {
        if rogue == RogueMessage::ClosedLife {
            return self.speak_for_closed_session();
        }
        let Some((app, incarnation)) = self.running_process(session_key) else { return Ok(false) };
        let Some(process) = self.processes.get_mut(&app) else { return Ok(false) };
        process.misbehaved = true;
        let unanswered = process
            .unanswered
            .values()
            .rfind(|unanswered| unanswered.incarnation == incarnation)
            .copied();
        let forged =
            Outcome::Done(Done { brief: "forged".into(), version: 9_999, ..Done::default() });
        let mut said = Vec::new();
        match rogue {
            RogueMessage::NeverAsked => {
                let never = Envelope::request(Method::Invoke, 999_999_999, incarnation);
                said.push(frame(&never.answer(Kind::Reply), &forged));
            }
            RogueMessage::AnsweredBefore => {
                let Some(before) = process.answered else { return Ok(false) };
                said.push(frame(&before.answer(Kind::Reply), &forged));
            }
            RogueMessage::AnotherLife => {
                let Some(unanswered) = unanswered else { return Ok(false) };
                for other in [incarnation.0.saturating_sub(1), incarnation.0 + 1] {
                    let of = Envelope { incarnation: Incarnation(other), ..unanswered };
                    said.push(frame(&of.answer(Kind::Reply), &forged));
                }
            }
            // Handled above, because any process with a closed session can send it.
            RogueMessage::ClosedLife => {}
            RogueMessage::Garbage => {
                process.closed = true;
                self.send(0, InFlight::BrokenLaw(app));
            }
            RogueMessage::BadReply => {
                let Some(unanswered) =
                    unanswered.filter(|unanswered| unanswered.method != Method::AppClose)
                else {
                    return Ok(false);
                };
                process.unanswered.remove(&unanswered.id);
                said.push(garbage(unanswered.answer(Kind::Reply)));
            }
            RogueMessage::Hello => {
                // A greeting before its own would count as its own.
                if process.last_sent_at == 0 {
                    return Ok(false);
                }
                let hello = Hello::new(Role::App, "another");
                let hello = frame(&Envelope::event(Method::Hello, incarnation), &hello);
                self.statistics.count("rogue Hello");
                self.say(app, 0, (hello, Behaviour::Normal));
                return Ok(true);
            }
            RogueMessage::Asks => {
                for method in [Method::Ping, Method::Verb, Method::Invoke, Method::AppClose] {
                    said.push(frame(&Envelope::request(method, 7, incarnation), &Empty {}));
                }
            }
            RogueMessage::Events => {
                for method in [Method::Changed, Method::Notify, Method::Busy, Method::Progress] {
                    said.push(garbage(Envelope::event(method, incarnation)));
                }
                let busy = Busy { what: "much".into(), for_ms: 5_000 };
                said.push(frame(&Envelope::event(Method::Busy, incarnation), &busy));
                let progress = Progress { done: 1, total: 2, text: "half".into() };
                said.push(frame(&Envelope::event(Method::Progress, incarnation), &progress));
            }
        }
        self.statistics.count(format!("rogue {rogue:?}"));
        for frame in said {
            self.send(0, InFlight::FromApp(app, frame));
        }
        Ok(true)
    }
}
