//! Processes that fail: they die, hang, or send what nobody asked for.

use crate::action::{Behaviour, RogueMessage};
use crate::law::LawResult;
use crate::process::{Process, frame, garbage};
use crate::sessions::SessionKey;
use crate::sim::{InFlight, Sim};
use pipemux_core::Exit;
use pipemux_proto::app::{Busy, Changed, Done, Empty, Notify, Outcome, Progress};
use pipemux_proto::{Envelope, Hello, Incarnation, Kind, Method, Role};

impl Sim {
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
