//! Processes: what becomes of frames on their way, and what goes wrong with them.

use pipemux_core::{Event, Exit};
use pipemux_proto::app::{Busy, Changed, Done, Empty, Notify, Outcome, Progress};
use pipemux_proto::{Envelope, Frame, Hello, Incarnation, Kind, Method, Role};

use crate::action::{Manner, Rogue};
use crate::law::{Lawful, law};
use crate::places::Place;
use crate::process::{Process, frame, garbage};
use crate::sim::{Due, Sim};

impl Sim {
    /// What was on its way comes.
    pub fn happen(&mut self, due: Due) -> Lawful {
        match due {
            Due::Arrives(life, frame) => return self.arrives(life, frame),
            Due::Says(app, frame) => {
                let process = self.processes.get_mut(&app).filter(|process| !process.closed);
                if let Some(process) = process {
                    if matches!(frame.envelope.kind, Kind::Reply | Kind::Fault) {
                        process.owed.remove(&frame.envelope.id);
                        process.answered = Some(frame.envelope);
                        if frame.envelope.method == Method::AppClose {
                            process.left.push(frame.envelope.incarnation);
                        }
                        if frame.envelope.method == Method::Invoke {
                            // What is asked from now on is asked after it.
                            process.before.remove(&frame.envelope.incarnation);
                        }
                    }
                    self.queue.push_back(Event::AppFrame { app, frame });
                }
            }
            Due::Started(app) => {
                let Some(process) = self.processes.get_mut(&app) else { return Ok(()) };
                process.started = true;
                let place = process.place;
                if let Some(store) = self.stores.get_mut(&place).filter(|_| !process.shared) {
                    store.wake(place.forgets());
                }
                self.queue.push_back(Event::Started { app, pid: 1_000 + app.0 as u32 });
            }
            Due::StartFailed(app) => {
                self.queue.push_back(Event::StartFailed { app, why: "no such program".into() });
            }
            Due::Closed(app) => self.queue.push_back(Event::AppClosed { app }),
            Due::Broken(app) => {
                self.queue.push_back(Event::AppBroken { app, why: "no frames".into() });
            }
            Due::Exited(app, exit) => {
                let last_lines = vec!["the last line".to_owned()];
                self.queue.push_back(Event::Exited { app, exit, last_lines });
            }
            Due::LogRead(request) => self.queue.push_back(crate::effects::log_read(request)),
            Due::ClientGone(client) => self.queue.push_back(Event::ClientClosed { client }),
        }
        self.drain()
    }

    fn arrives(&mut self, life: Incarnation, frame: Frame) -> Lawful {
        let Some(process) = self.processes.get_mut(&life) else { return Ok(()) };
        if !process.alive || process.closed {
            return Ok(());
        }
        if !process.started {
            // The socket keeps it.
            self.send(1, Due::Arrives(life, frame));
            return Ok(());
        }
        self.react(life, &frame)
    }

    fn react(&mut self, life: Incarnation, frame: &Frame) -> Lawful {
        let Some(process) = self.processes.get_mut(&life) else { return Ok(()) };
        let session = frame.envelope.incarnation;
        if process.shared && session == life && frame.envelope.method == Method::AppClose {
            self.figures.count("shared process closed");
            self.dies(life, Exit::Code(0), 20);
            return Ok(());
        }
        // The greeting is for all, and goes by the session that the process was started for.
        let place = process.desk.get(&session).copied().unwrap_or(process.place);
        if process.shared
            && frame.envelope.method == Method::AppOpen
            && process.opened.insert(session)
            && let Some(store) = self.stores.get_mut(&place)
        {
            store.wake(place.forgets());
        }
        let manner = self.manner(place);
        let (Some(process), Some(store)) =
            (self.processes.get_mut(&life), self.stores.get_mut(&place))
        else {
            return Ok(());
        };
        let reaction = process.react(life, frame, manner, store);
        let (taken, places) = (reaction.opened, process.desk.get(&session).copied());
        if taken == Some(false) {
            process.refused.insert(session);
        }
        if let (Some(true), Some(place)) = (taken, places) {
            self.opens(place);
        }
        if let Some(how) = reaction.wrong_known {
            law!(false, "only what an app has shown is known of it", "{how}");
        }
        if reaction.woken {
            self.figures.count("woken");
        }
        if let Some((invoke, effect)) = &reaction.invoked {
            self.check_executed(place, invoke, *effect)?;
        }
        for frame in reaction.frames {
            let slow = match manner {
                Manner::Slow(ms) => u64::from(ms),
                _ => 0,
            };
            let after = slow + self.pace(place);
            self.say(life, after, (frame, manner));
        }
        if let Some(exit) = reaction.exit {
            // What it said before is heard before.
            let gap = if exit == Exit::Code(0) { 20 } else { 0 };
            self.dies(life, exit, gap);
        }
        Ok(())
    }

    /// A process answers in order, however long each takes, unless that is its manner.
    fn say(&mut self, life: Incarnation, after: u64, (frame, manner): (Frame, Manner)) {
        let Some(process) = self.processes.get_mut(&life) else { return };
        let ordered = frame.envelope.kind == Kind::Event || manner != Manner::Unordered;
        let jump = (process.said.wrapping_mul(7) + frame.envelope.id * 13) % 40;
        let own = self.time + after + if ordered { 0 } else { jump };
        process.said = process.said.max(own);
        let at = if ordered { process.said } else { own };
        self.send(at - self.time, Due::Says(life, frame));
    }

    /// A process ends: what it has not said by then is never said.
    pub fn dies(&mut self, life: Incarnation, exit: Exit, after: u64) {
        let Some(process) = self.processes.get_mut(&life) else { return };
        if !std::mem::replace(&mut process.alive, false) {
            return;
        }
        let (closed, started) = (process.closed, process.started);
        let places: Vec<Place> = process.desk.values().copied().collect();
        let last = self.time + after;
        self.on_its_way.retain(|(at, _), due| match due {
            Due::Says(app, _) => *app != life || *at <= last,
            Due::Arrives(app, _) => *app != life,
            _ => true,
        });
        places.into_iter().for_each(|place| self.closes(place));
        if !started {
            return self.send(after + 8, Due::Exited(life, exit));
        }
        if !closed {
            self.send(after, Due::Closed(life));
        }
        self.send(after + u64::from(life.0.is_multiple_of(3)) * 30, Due::Exited(life, exit));
    }

    pub fn behave(&mut self, place: Place, manner: Manner) -> Lawful<bool> {
        self.manners.insert(place, manner);
        self.note_manner(place, manner);
        self.figures.count(format!("manner {}", crate::names::manner(manner)));
        if let Some(life) = self.life(place)
            && !matches!(manner, Manner::Hangs | Manner::Stopped)
        {
            // What it took in while it hung is looked at now: late.
            let held =
                self.processes.get_mut(&life).map(|process| std::mem::take(&mut process.held));
            for frame in held.unwrap_or_default() {
                // Those of its neighbours that hang are held once more.
                self.react(life, &frame)?;
            }
        }
        Ok(true)
    }

    pub fn kill(&mut self, place: Place) -> Lawful<bool> {
        let Some(life) = self.life(place) else { return Ok(false) };
        self.dies(life, Exit::Signal(9), 0);
        Ok(true)
    }

    pub fn half_open(&mut self, place: Place) -> Lawful<bool> {
        let Some(life) = self.life(place) else { return Ok(false) };
        let Some(process) = self.processes.get_mut(&life) else { return Ok(false) };
        process.wild = true;
        if !process.started || std::mem::replace(&mut process.closed, true) {
            return Ok(false);
        }
        self.send(0, Due::Closed(life));
        Ok(true)
    }

    pub fn lose_launcher(&mut self) -> Lawful<bool> {
        let lives = self.lives();
        for life in &lives {
            self.dies(*life, Exit::Lost, 0);
        }
        Ok(!lives.is_empty())
    }

    pub fn chatter(&mut self, place: Place, times: u16, news: bool) -> Lawful<bool> {
        let Some((process, life)) = self.spoken_to(place) else { return Ok(false) };
        let version = self.stores.get(&place).map_or(0, |store| store.version);
        for _ in 0..times {
            let said = if news {
                frame(&Envelope::event(Method::Notify, life), &Notify { text: "news".into() })
            } else {
                frame(&Envelope::event(Method::Changed, life), &Changed { version })
            };
            self.send(0, Due::Says(process, said));
        }
        Ok(true)
    }

    /// The process and the life of a place's session that runs and is listened to.
    fn spoken_to(&self, place: Place) -> Option<(Incarnation, Incarnation)> {
        let app = self.life(place)?;
        let process = self.processes.get(&app)?;
        let (life, _) = process.desk.iter().find(|(_, of)| **of == place)?;
        (process.started && !process.closed).then_some((app, *life))
    }

    /// A process that others are still in speaks for a session of it that was closed.
    fn speak_from_beyond(&mut self) -> Lawful<bool> {
        let speaks = |process: &Process| process.alive && process.started && !process.closed;
        let mut all = self.processes.iter_mut().filter(|(_, process)| speaks(process));
        let Some((app, process)) = all.find(|(_, process)| !process.left.is_empty()) else {
            return Ok(false);
        };
        process.wild = true;
        let Some(closed) = process.left.last().copied() else { return Ok(false) };
        let asked = process.owed.keys().next_back().copied().or(process.answered.map(|of| of.id));
        let of = Envelope::request(Method::Project, asked.unwrap_or(1), closed);
        let done = Done { brief: "forged".into(), version: 9_999, ..Done::default() };
        let news = Notify { text: "from beyond".into() };
        let said = [
            frame(&of.answer(Kind::Reply), &Outcome::Done(done)),
            frame(&Envelope::event(Method::Notify, closed), &news),
            frame(&Envelope::event(Method::Changed, closed), &Changed { version: 9_998 }),
        ];
        let app = *app;
        self.figures.count("rogue ClosedLife");
        for frame in said {
            self.send(0, Due::Says(app, frame));
        }
        Ok(true)
    }

    pub fn rogue(&mut self, place: Place, rogue: Rogue) -> Lawful<bool> {
        if rogue == Rogue::ClosedLife {
            return self.speak_from_beyond();
        }
        let Some((app, life)) = self.spoken_to(place) else { return Ok(false) };
        let Some(process) = self.processes.get_mut(&app) else { return Ok(false) };
        process.wild = true;
        let owed = process.owed.values().rfind(|owed| owed.incarnation == life).copied();
        let forged =
            Outcome::Done(Done { brief: "forged".into(), version: 9_999, ..Done::default() });
        let mut said = Vec::new();
        match rogue {
            Rogue::NeverAsked => {
                let never = Envelope::request(Method::Invoke, 999_999_999, life);
                said.push(frame(&never.answer(Kind::Reply), &forged));
            }
            Rogue::AnsweredBefore => {
                let Some(before) = process.answered else { return Ok(false) };
                said.push(frame(&before.answer(Kind::Reply), &forged));
            }
            Rogue::AnotherLife => {
                let Some(owed) = owed else { return Ok(false) };
                for other in [life.0.saturating_sub(1), life.0 + 1] {
                    let of = Envelope { incarnation: Incarnation(other), ..owed };
                    said.push(frame(&of.answer(Kind::Reply), &forged));
                }
            }
            // It is said by whatever process had one.
            Rogue::ClosedLife => {}
            Rogue::Garbage => {
                process.closed = true;
                self.send(0, Due::Broken(app));
            }
            Rogue::BadReply => {
                let Some(owed) = owed.filter(|owed| owed.method != Method::AppClose) else {
                    return Ok(false);
                };
                process.owed.remove(&owed.id);
                said.push(garbage(owed.answer(Kind::Reply)));
            }
            Rogue::Hello => {
                // Its first greeting would count, whatever it says.
                if process.said == 0 {
                    return Ok(false);
                }
                let hello = Hello::new(Role::App, "another");
                let hello = frame(&Envelope::event(Method::Hello, life), &hello);
                self.figures.count("rogue Hello");
                self.say(app, 0, (hello, Manner::Normal));
                return Ok(true);
            }
            Rogue::Asks => {
                for method in [Method::Ping, Method::Verb, Method::Invoke, Method::AppClose] {
                    said.push(frame(&Envelope::request(method, 7, life), &Empty {}));
                }
            }
            Rogue::Events => {
                for method in [Method::Changed, Method::Notify, Method::Busy, Method::Progress] {
                    said.push(garbage(Envelope::event(method, life)));
                }
                let busy = Busy { what: "much".into(), for_ms: 5_000 };
                said.push(frame(&Envelope::event(Method::Busy, life), &busy));
                let progress = Progress { done: 1, total: 2, text: "half".into() };
                said.push(frame(&Envelope::event(Method::Progress, life), &progress));
            }
        }
        self.figures.count(format!("rogue {rogue:?}"));
        for frame in said {
            self.send(0, Due::Says(app, frame));
        }
        Ok(true)
    }
}
