//! A history as it is played, with what everybody was shown, and the laws.
//!
//! | law | where |
//! |---|---|
//! | an id never stands for another thing, and a thing keeps its id | [`Watch::learn`] |
//! | nothing is invoked but what its reader saw under that ref | [`Watch::check_invoked`] |
//! | stale is only what changed since its reader saw it | [`Watch::check_stale`] |
//! | one answer to each request, whatever the apps do | [`Watch::check_answers`], [`Watch::end`] |

use std::collections::{BTreeMap, BTreeSet};

use pipemux_core::{ClientId, Event, Exit};
use pipemux_proto::app::Invoke;
use pipemux_proto::client::{Call, Verb, View};
use pipemux_proto::projection::Arg;
use pipemux_proto::{Envelope, Method, Value};
use proptest::prelude::*;

use crate::history::{Id, Op};
use crate::world::{Asker, Said, World, garbage, open, run, text};

/// What answers tell that a history has had.
pub const SIGNS: [(&str, &str); 10] = [
    ("stale", " is stale"),
    ("hidden", " is out of view"),
    ("gone", " not found in current context"),
    ("question", "needs an answer"),
    ("answered", "done · pick: "),
    ("unknown", "unknown · "),
    ("restart", "was restarted"),
    ("busy", "busy"),
    ("changed", "\n+ ["),
    ("removed", "done · remove"),
];

type Outcome = Result<(), TestCaseError>;

/// A request on its way.
struct Open {
    client: ClientId,
    id: u64,
    who: Asker,
    /// What its reader knew when it was sent: label by id.
    knew: BTreeMap<u64, String>,
    /// True when it may answer a question: that run's refs mean what was seen when it began.
    answers: bool,
    done: bool,
}

pub struct Watch {
    pub world: World,
    requests: Vec<Open>,
    /// What an id stands for, by workspace: without the rev, for a thing keeps its id when it changes.
    stands_for: BTreeMap<(&'static str, u64), String>,
    /// The id of what an anchor stands for.
    id_of: BTreeMap<(&'static str, String), u64>,
    /// What each reader was last shown under an id, once it confirmed that.
    known: BTreeMap<(Asker, u64), String>,
    /// What may be invoked under a run: everything that its reader knew when it began or since.
    runs: BTreeMap<String, (Asker, BTreeSet<String>)>,
    confirming: bool,
    last: Option<(ClientId, Call)>,
    checked: usize,
    /// How often something happened that a law is about.
    pub met: BTreeMap<&'static str, usize>,
}

impl Watch {
    /// With a few windows open and notes in them.
    pub fn new() -> Self {
        let mut watch = Self {
            world: World::new(),
            requests: Vec::new(),
            stands_for: BTreeMap::new(),
            id_of: BTreeMap::new(),
            known: BTreeMap::new(),
            runs: BTreeMap::new(),
            confirming: true,
            last: None,
            checked: 0,
            met: BTreeMap::new(),
        };
        for session in ["notes/main", "other/main", "shared/main"] {
            for text in ["one", "two", "three"] {
                watch.world.model(session).add(text);
            }
        }
        let windows = [("demo", "a", "notes/main"), ("demo", "b", "notes/main")];
        let others = [("demo", "a", "shared/main"), ("else", "a", "shared/main")];
        for (workspace, reader, session) in windows.into_iter().chain(others) {
            watch.send(Asker { workspace, reader }, open(session));
            watch.check().expect("windows open");
        }
        watch
    }

    pub fn play(&mut self, op: &Op) -> Outcome {
        self.happen(op);
        self.check()
    }

    /// All timers run out: every request has its one answer, and nothing is left to wait for.
    pub fn end(&mut self) -> Outcome {
        self.world.run_out();
        self.check()?;
        for request in &self.requests {
            if self.world.clients.contains_key(&request.client) {
                let got = self.world.terminals(request.client, request.id).len();
                prop_assert_eq!(got, 1, "answers of a request of {:?}", request.who);
            }
        }
        Ok(())
    }

    fn happen(&mut self, op: &Op) {
        let world = &mut self.world;
        match op {
            Op::Open(who, session) => self.send(*who, open(session)),
            Op::View(who, lod) => {
                let call = self.world.call(*who, Verb::View(View::default()));
                self.send_call(*who, Call { lod: *lod, ..call });
            }
            Op::ViewOne(who, session, lod) => {
                let verb = Verb::View(View { session: session.parse().ok(), ..View::default() });
                let call = self.world.call(*who, verb);
                self.send_call(*who, Call { lod: Some(*lod), ..call });
            }
            Op::Act(who, session, action, id) => {
                let id = self.choose(*who, *id, "obj");
                let session = self.owner(*who, id).unwrap_or((*session).to_owned());
                let text = if *action == "edit" { ", 'edited'" } else { "" };
                self.send(*who, run(&format!("{session}.{action}(obj:{id}{text})")));
            }
            Op::Two(who, session, one, two) => {
                let (one, two) = (self.choose(*who, *one, "obj"), self.choose(*who, *two, "obj"));
                let session = self.owner(*who, two).unwrap_or((*session).to_owned());
                let code =
                    format!("{session}.edit(obj:{one}, 'x'); {session}.edit(obj:{two}, 'y')");
                self.send(*who, run(&code));
            }
            Op::Say(who, session) => self.send(*who, run(&format!("{session}.say('hello')"))),
            Op::Pick(who, session) => {
                self.send(*who, run(&format!("{session}.pick(); {session}.say('after')")));
            }
            Op::Click(who, id) => {
                let link = format!("link:{}", self.choose(*who, *id, "link"));
                self.send(*who, Verb::Click { link });
            }
            Op::Answer(who, text) => {
                self.send(*who, Verb::Answer { text: (*text).into(), to: None });
            }
            Op::Read(who, id) => {
                let target = format!("obj:{}", self.choose(*who, *id, "obj"));
                self.send(*who, Verb::Read { target });
            }
            Op::Close(who, session, end) => {
                if *end {
                    // What was ended for good comes back as something new.
                    let of = format!("{session} ");
                    self.id_of.retain(|(_, thing), _| !thing.starts_with(&of));
                }
                let session = session.parse().expect("a session");
                self.send(*who, Verb::Close { session, end: *end });
            }
            Op::Restart(who, session) => {
                let session = session.parse().expect("a session");
                self.send(*who, Verb::Restart { session });
            }
            Op::Help(who) => {
                self.send(*who, Verb::Help { provider: "notes".parse().expect("a provider") });
            }
            Op::Again => {
                if let Some((client, call)) = self.last.clone() {
                    world.send(client, &call);
                }
            }
            Op::Vanish(which) => {
                if let Some(request) = pick(&self.requests, *which) {
                    world.vanish(request.client);
                }
            }
            Op::Cancel(which) => {
                if let Some(request) = pick(&self.requests, *which) {
                    world.cancel(request.client, request.id);
                }
            }
            Op::Confirming(on) => self.confirming = *on,
            Op::Add(session) => {
                world.model(session).add("text");
            }
            Op::Change(session, index) => world.model(session).change(*index, "changed"),
            Op::Remove(session, index) => world.model(session).remove(*index),
            Op::Hide(session, index, hide) => world.model(session).hide(*index, *hide),
            Op::Manner(session, manner) => world.manner(session, manner.clone()),
            Op::Release(session) => world.release(session),
            Op::Kill(session) => {
                if let Some(app) = world.process(session) {
                    world.kill(app, Exit::Signal(9), &["killed"]);
                }
            }
            Op::Garbage(session) => {
                if let Some(app) = world.process(session) {
                    let frame = garbage(Envelope::event(Method::Hello, app));
                    world.event(Event::AppFrame { app, frame });
                    world.event(Event::AppBroken { app, why: "no frames".into() });
                }
            }
            Op::Pass(ms) => world.pass(*ms),
            Op::LoseDaemon => {
                world.lose_daemon();
                self.requests.clear();
                self.known.clear();
                self.id_of.clear();
                self.last = None;
            }
        }
    }

    /// Sends a request on a connection of its own.
    fn send(&mut self, who: Asker, verb: Verb) {
        let call = self.world.call(who, verb);
        self.send_call(who, call);
    }

    fn send_call(&mut self, who: Asker, call: Call) {
        let client = self.world.connect();
        let knew: BTreeMap<u64, String> = self
            .known
            .iter()
            .filter(|((whose, _), _)| *whose == who)
            .map(|((_, id), label)| (*id, label.clone()))
            .collect();
        let labels = knew.values().cloned().collect();
        self.runs.insert(call.run_id.clone(), (who, labels));
        let id = self.world.send(client, &call);
        let answers = matches!(call.verb, Verb::Answer { .. } | Verb::Click { .. });
        self.requests.push(Open { client, id, who, knew, answers, done: false });
        self.last = Some((client, call));
    }

    /// Whose a thing is, as its reader knows it.
    fn owner(&self, who: Asker, id: u64) -> Option<String> {
        let label = self.known.get(&(who, id))?;
        let (session, _) = label.split_once(' ')?;
        (!session.is_empty()).then(|| session.to_owned())
    }

    fn choose(&self, who: Asker, id: Id, kind: &str) -> u64 {
        let of_kind = |label: &String| (kind == "obj") == is_thing(label);
        let (all, which): (Vec<u64>, usize) = match id {
            Id::Number(number) => return number,
            Id::Known(which) => {
                let known = self.known.iter().filter(|((whose, _), _)| *whose == who);
                (known.filter(|(_, label)| of_kind(label)).map(|((_, id), _)| *id).collect(), which)
            }
            Id::Anyones(which) => {
                let minted = self.stands_for.iter().filter(|(_, label)| of_kind(label));
                (minted.map(|((_, id), _)| *id).collect(), which)
            }
        };
        pick(&all, which).copied().unwrap_or(3)
    }

    fn check(&mut self) -> Outcome {
        self.check_invoked()?;
        // Confirming an answer lets more happen.
        loop {
            let ready = self.requests.iter().position(|request| {
                let terminals = self.world.terminals(request.client, request.id);
                !request.done && !terminals.is_empty()
            });
            let Some(index) = ready else { break };
            self.requests[index].done = true;
            self.check_answer(index)?;
            self.check_invoked()?;
        }
        self.check_answers()
    }

    fn check_answers(&self) -> Outcome {
        for (client, found) in &self.world.clients {
            for (id, terminals) in &found.terminals {
                prop_assert!(terminals.len() <= 1, "two answers to {id} of {client:?}");
            }
        }
        Ok(())
    }

    fn check_answer(&mut self, index: usize) -> Outcome {
        let request = &self.requests[index];
        let (client, who) = (request.client, request.who);
        let Some(said) = self.world.said(client, request.id) else { return Ok(()) };
        let knew = request.knew.clone();
        for (what, sign) in SIGNS {
            *self.met.entry(what).or_default() += usize::from(said.text.contains(sign));
        }
        if !request.answers {
            self.check_stale(who, &knew, &said)?;
        }
        let fresh = self.learn(who.workspace, &said)?;
        if said.delivery > 0 && self.confirming {
            self.world.confirm(client, said.delivery);
            for (id, label) in fresh {
                for (whose, labels) in self.runs.values_mut() {
                    if *whose == who {
                        labels.insert(label.clone());
                    }
                }
                self.known.insert((who, id), label);
            }
        }
        Ok(())
    }

    /// An id stands for one thing for ever; a thing has one id while it is remembered.
    fn learn(
        &mut self,
        workspace: &'static str,
        said: &Said,
    ) -> Result<Vec<(u64, String)>, TestCaseError> {
        let mut fresh = Vec::new();
        let mut section = String::new();
        for line in said.text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                section = heading.split(" · ").next().unwrap_or_default().to_owned();
            }
            for anchor in text::anchors(line) {
                let gone = line.starts_with("- ");
                let (id, label) = (anchor.id, anchor.label);
                let thing = match label.split_once(" r") {
                    // A thing keeps its id when its rev changes; a link to a rev doesn't.
                    Some((key, _)) if anchor.kind == "obj" => format!("{section} {key}"),
                    Some(_) => format!("{section} {label}"),
                    // Outcomes and questions stand before any heading.
                    None => format!("{label} of {}", anchor.kind),
                };
                let stood = self.stands_for.entry((workspace, id)).or_insert_with(|| thing.clone());
                prop_assert_eq!(&*stood, &thing, "what {}:{} stands for", anchor.kind, id);
                if anchor.kind == "obj" {
                    let had = *self.id_of.entry((workspace, thing.clone())).or_insert(id);
                    prop_assert_eq!(had, id, "the id of {}", thing);
                }
                if !gone {
                    fresh.push((id, format!("{section} {label}")));
                }
            }
        }
        Ok(fresh)
    }

    /// Only what its reader saw is invoked.
    fn check_invoked(&mut self) -> Outcome {
        while let Some((session, invoke)) = self.world.invoked.get(self.checked) {
            self.checked += 1;
            let Some(Arg::Ref(found)) = invoke.args.get("note") else { continue };
            let label = format!("{session} {} r{}", found.key, found.rev);
            let link = format!("{session} edit {} r{}", found.key, found.rev);
            *self.met.entry("ref").or_default() += 1;
            let (_, labels) = &self.runs[&invoke.run_id];
            let saw = if is_link(invoke) { &link } else { &label };
            prop_assert!(labels.contains(saw), "{saw:?} was invoked, its reader saw {labels:?}");
        }
        Ok(())
    }

    /// A thing that is as its reader saw it is never stale.
    fn check_stale(&self, who: Asker, knew: &BTreeMap<u64, String>, said: &Said) -> Outcome {
        let mark = "Anchor obj:";
        for (at, _) in said.text.match_indices(mark) {
            let rest = &said.text[at + mark.len()..];
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let Ok(id) = rest[..digits].parse::<u64>() else { continue };
            if !rest[digits..].starts_with(" is stale") {
                continue;
            }
            let Some(label) = knew.get(&id) else { continue };
            let Some((session, thing)) = label.split_once(' ') else { continue };
            let Some((key, rev)) = thing.split_once(" r") else { continue };
            let model = self.world.model_of(who.workspace, session);
            let now = model.and_then(|model| model.note(key)).map(|note| note.rev.to_string());
            prop_assert!(now.as_deref() != Some(rev), "obj:{id} is {label}, and not stale");
        }
        Ok(())
    }
}

/// True for what the fake app's links do.
fn is_link(invoke: &Invoke) -> bool {
    let Some(Arg::Value(blob)) = invoke.args.get("text") else { return false };
    blob.to_value().ok() == Some(Value::from("by link"))
}

/// True for what is known of a thing: `notes/main k1 r2`; links begin with what they do.
fn is_thing(label: &str) -> bool {
    label
        .split_once(' ')
        .is_some_and(|(session, thing)| !session.is_empty() && thing.starts_with('k'))
}

fn pick<T>(all: &[T], which: usize) -> Option<&T> {
    if all.is_empty() { None } else { all.get(which % all.len()) }
}
