//! One client: acts, and hears what became of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pipemux_proto::client::Verb;
use pipemux_tests::{Desk, Said, Signal, kill};

use crate::Ground;
use crate::chance::Chance;
use crate::model::{Ended, Model};
use crate::plan::{Kind, Place};

/// How long the daemon may take for one act.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Marks that a client holds in one session before it only deletes.
const HELD_MAX: usize = 25;

/// A client with what it remembers.
pub struct Client {
    pub(crate) ground: Arc<Ground>,
    pub(crate) name: String,
    workspace: String,
    pub(crate) desk: Desk,
    chance: Chance,
    pub(crate) places: Vec<Place>,
    pub(crate) model: Model,
    /// The mark that an id was given to, and back.
    marks: BTreeMap<u64, String>,
    ids: BTreeMap<String, u64>,
    epoch: u64,
    written: u64,
}

impl Client {
    /// The client of that number.
    pub fn new(ground: Arc<Ground>, number: usize) -> Self {
        let workspace = number % ground.plan.workspaces();
        let name = format!("c{number:02}");
        let (places, workspace) = (ground.plan.places(workspace), format!("w{workspace}"));
        let desk = Desk::new(&ground.world, Some(&workspace), &name);
        let chance = Chance::new(ground.plan.seed, number as u64 + 1);
        let (model, marks, ids) = Default::default();
        Self {
            ground,
            name,
            workspace,
            desk,
            chance,
            places,
            model,
            marks,
            ids,
            epoch: 0,
            written: 0,
        }
    }

    /// Acts until the soak is over.
    pub fn work(&mut self) {
        for place in self.places.clone() {
            self.open(&place);
        }
        let pace = self.ground.plan.pace_ms as f64 / 1000.0;
        loop {
            let pause = self.chance.around(pace);
            if !self.ground.pause(pause) {
                return;
            }
            let Some(place) = self.chance.pick(&self.places).cloned() else { return };
            match self.chance.below(100) {
                0 => drop(self.audit(&place)),
                1..5 => self.look_around(),
                5..15 => drop(self.hear("view", |desk| desk.view(Some(&place.session), PATIENCE))),
                _ => match place.kind {
                    Kind::Editor => self.edit(&place),
                    Kind::Notebook => self.note(&place),
                    Kind::Rogue => self.provoke(&place),
                },
            }
        }
    }

    /// Opens a session, again and again if need be.
    pub fn open(&mut self, place: &Place) {
        if place.kind == Kind::Editor && !self.ground.world.path(&place.file).exists() {
            self.ground.world.write(&place.file, "the first line\n");
        }
        let file = [place.file.as_str()];
        let args = if place.kind == Kind::Editor { &file[..] } else { &[] };
        let opened = self.hear("open", |desk| desk.open(&place.session, args, PATIENCE));
        if opened.exit == 6 {
            self.hear("restart", |desk| desk.restart(&place.session, PATIENCE));
        }
    }

    fn look_around(&mut self) {
        let verbs = [
            Verb::Sessions,
            Verb::Status,
            Verb::Apps,
            Verb::View(Default::default()),
            Verb::History { detail: false, rounds: Some(5) },
        ];
        if let Some(verb) = self.chance.pick(&verbs).cloned() {
            self.hear("list", |desk| desk.ask(verb, PATIENCE));
        }
    }

    fn edit(&mut self, place: &Place) {
        let held = self.model.held(&place.session);
        let session = &place.session;
        let mark = self.fresh_mark();
        let old = self.chance.pick(&held).cloned();
        match (self.chance.below(100), old) {
            (0..15, Some(old)) => {
                let code = format!("{session}.replace('{old}', '{mark}')");
                let ended = self.act(place, "replace", &code);
                self.model.deleted(session, &old, ended);
                self.model.wrote(session, &mark, ended);
            }
            (15..20, _) => drop(self.act(place, "save", &format!("{session}.save()"))),
            (20..25, _) if held.len() < HELD_MAX => {
                let second = self.fresh_mark();
                let code = format!(
                    "{session}.insert(1, '{mark}'); {session}.insert(1, '{second}'); {session}.save()"
                );
                // One of several steps may have been the last, so only all or none is known.
                let said = self.say(place, "run of 3", &code);
                let all = match said.exit {
                    0 => Ended::Done,
                    2 | 3 | 4 | 6 | 8 | 9 => Ended::Not,
                    _ => Ended::Unknown,
                };
                self.model.wrote(session, &mark, all);
                self.model.wrote(session, &second, all);
            }
            (25..30, _) if held.len() < HELD_MAX => {
                let code = format!("{session}.insert(1, '{mark}')");
                let ended = self.act_and_die(&code);
                self.model.wrote(session, &mark, ended);
            }
            (30..75, _) if held.len() < HELD_MAX => {
                let code = format!("{session}.insert(1, '{mark}')");
                let ended = self.act(place, "insert", &code);
                self.model.wrote(session, &mark, ended);
            }
            (_, Some(old)) => {
                let code = format!("{session}.replace('{old}\\n', '')");
                let ended = self.act(place, "delete", &code);
                self.model.deleted(session, &old, ended);
            }
            _ => {}
        }
    }

    fn note(&mut self, place: &Place) {
        let session = &place.session;
        let held = self.model.held(session);
        let full = held.len() >= HELD_MAX / 2;
        let known: Vec<String> =
            held.into_iter().filter(|mark| self.ids.contains_key(mark)).collect();
        let old = self.chance.pick(&known).cloned();
        match (self.chance.below(100), old) {
            (0..45, _) if !full => {
                let mark = self.fresh_mark();
                let code = format!("{session}.add(title='{mark}', text='of {mark} 你好')");
                let ended = self.act(place, "add", &code);
                self.model.wrote(session, &mark, ended);
            }
            (45..55, _) if !full => {
                let mark = self.fresh_mark();
                let code = format!("{session}.add(title='{mark}', text='cut off')");
                let ended = self.act_and_die(&code);
                self.model.wrote(session, &mark, ended);
            }
            (55..70, Some(old)) => {
                let Some(id) = self.ids.get(&old).copied() else { return };
                let code = format!("{session}.append(obj:{id}, 'one more line')");
                self.act(place, "append", &code);
            }
            (_, Some(old)) => {
                let Some(id) = self.ids.get(&old).copied() else { return };
                let asked = self.say(place, "remove", &format!("{session}.remove([obj:{id}])"));
                if asked.exit == 0 {
                    self.ground.complain(format!("{}: {old} was removed unasked", self.name));
                }
                if asked.exit == 5 {
                    let yes = Verb::Answer { text: "yes".into(), to: None };
                    let said = self.acting(yes, "answer");
                    let ended = effect_of(&said);
                    self.model.deleted(session, &old, ended);
                }
            }
            _ => drop(self.hear("view", |desk| desk.view(Some(session), PATIENCE))),
        }
    }

    fn provoke(&mut self, place: &Place) {
        let how = if self.chance.one_in(15) { "misbehave('exit')" } else { "set()" };
        self.act(place, "rogue", &format!("{}.{how}", place.session));
    }

    fn act(&mut self, place: &Place, name: &'static str, code: &str) -> Ended {
        let said = self.say(place, name, code);
        effect_of(&said)
    }

    /// Runs calls; what stands in their way is cleared for the next ones.
    pub(crate) fn say(&mut self, place: &Place, name: &'static str, code: &str) -> Said {
        let said = self.acting(Verb::Run { code: code.to_owned(), stdin: None }, name);
        match said.exit {
            9 => {
                let no = Verb::Answer { text: "no".into(), to: None };
                self.hear("answer", |desk| desk.ask(no, PATIENCE));
            }
            3 if said.text.contains("pipemux open") => self.open(place),
            6 if said.text.contains("pipemux restart") => {
                self.hear("restart", |desk| desk.restart(&place.session, PATIENCE));
            }
            _ => {}
        }
        said
    }

    /// Sends an acting call. One whose daemon was lost is now and then sent again under the same id.
    fn acting(&mut self, verb: Verb, name: &'static str) -> Said {
        let call = self.desk.call(verb);
        let said = self.hear(name, |desk| desk.send(&call, PATIENCE));
        if said.answered || said.exit != 7 {
            return said;
        }
        self.ground.count(|tally| tally.lost += 1);
        self.ground.world.pipemux(&["up"]);
        if self.chance.one_in(3) {
            return said;
        }
        let again = self.hear("sent again", |desk| desk.send(&call, PATIENCE));
        // Not delivered the second time says nothing about the first.
        if again.exit == 8 { said } else { again }
    }

    /// Runs a call by a process that is killed in the middle of it.
    fn act_and_die(&mut self, code: &str) -> Ended {
        let command = self.ground.world.command(&["run", code]);
        let running = command.workspace(&self.workspace).reader(&self.name).start();
        thread::sleep(self.chance.around(0.004));
        if running.is_running() {
            kill(running.pid, Signal::SIGKILL);
        }
        let output = running.finish();
        let exit = u8::try_from(output.exit).unwrap_or(u8::MAX);
        self.ground.count(|tally| tally.cut_clients += u64::from(exit >= 128));
        self.ground.count(|tally| tally.heard("run, killed", exit, Duration::ZERO));
        if exit >= 128 { Ended::Unknown } else { effect(exit) }
    }

    /// Asks, and checks what every answer has to keep.
    pub(crate) fn hear(&mut self, name: &'static str, ask: impl FnOnce(&mut Desk) -> Said) -> Said {
        let begun = Instant::now();
        let said = ask(&mut self.desk);
        let took = begun.elapsed();
        self.ground.count(|tally| tally.heard(name, said.exit, took));
        if took > PATIENCE + Duration::from_secs(5) {
            self.ground.complain(format!("{}: {name} took {} s", self.name, took.as_secs()));
        }
        if let Some(epoch) = said.epoch().filter(|_| said.answered) {
            if epoch < self.epoch {
                let (name, before) = (&self.name, self.epoch);
                self.ground.complain(format!("{name}: epoch {epoch} after {before}"));
            }
            self.epoch = self.epoch.max(epoch);
        }
        self.learn_ids(&said.text);
        if said.exit == 8 {
            let up = self.ground.world.pipemux(&["up"]);
            if up.exit != 0 {
                self.ground.complain(format!("{}: {up}", self.name));
            }
        }
        said
    }

    /// An id is never given to another thing.
    fn learn_ids(&mut self, text: &str) {
        for (at, _) in text.match_indices("](obj:") {
            let Some(start) = text[..at].rfind('[') else { continue };
            let mark = &text[start + 1..at];
            let digits = text[at + 6..].split(|c: char| !c.is_ascii_digit()).next();
            let Some(Ok(id)) = digits.map(str::parse) else { continue };
            if !mark.starts_with('c') || !mark.ends_with('z') || mark.len() != 12 {
                continue;
            }
            if let Some(before) = self.marks.insert(id, mark.to_owned())
                && before != mark
            {
                self.ground.complain(format!("obj:{id} was {before} and is {mark} now"));
            }
            self.ids.insert(mark.to_owned(), id);
        }
    }

    fn fresh_mark(&mut self) -> String {
        self.written += 1;
        format!("{}n{:07}z", self.name, self.written)
    }
}

fn effect_of(said: &Said) -> Ended {
    effect(said.exit)
}

/// What an exit status promises of a single step.
fn effect(exit: u8) -> Ended {
    match exit {
        0 => Ended::Done,
        7 => Ended::Unknown,
        _ => Ended::Not,
    }
}
