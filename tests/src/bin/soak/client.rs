//! One client, which edits sessions and records the outcomes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pipemux_proto::client::{HistoryArgs, Verb};
use pipemux_tests::output::leading_id;
use pipemux_tests::{ClientReply, Signal, TestClient, kill};

use crate::Soak;
use crate::model::{Effect, Model};
use crate::plan::{Kind, SoakSession};
use pipemux_tests::random::SeededRandom;

/// How long the daemon may take for one request.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// Markers that a client keeps in one session; with more it only deletes.
const MARKERS_MAX: usize = 25;

/// A client, and what it knows about its edits.
pub struct Client {
    pub(crate) soak: Arc<Soak>,
    pub(crate) name: String,
    workspace: String,
    pub(crate) connection: TestClient,
    random: SeededRandom,
    pub(crate) sessions: Vec<SoakSession>,
    pub(crate) model: Model,
    /// The marker that each id was given to.
    markers: BTreeMap<u64, String>,
    ids: BTreeMap<String, u64>,
    epoch: u64,
    written: u64,
}

impl Client {
    /// Returns the client with that number.
    pub fn new(soak: Arc<Soak>, number: usize) -> Self {
        let workspace = number % soak.plan.workspaces();
        let name = format!("c{number:02}");
        let (sessions, workspace) = (soak.plan.sessions(workspace), format!("w{workspace}"));
        let connection = TestClient::new(&soak.env, Some(&workspace), &name);
        let random = SeededRandom::new(soak.plan.seed, number as u64 + 1);
        let (model, markers, ids) = Default::default();
        Self {
            soak,
            name,
            workspace,
            connection,
            random,
            sessions,
            model,
            markers,
            ids,
            epoch: 0,
            written: 0,
        }
    }

    /// Sends requests until the test is over.
    pub fn work(&mut self) {
        for session in self.sessions.clone() {
            self.open(&session);
        }
        let pace = self.soak.plan.pace_ms as f64 / 1000.0;
        loop {
            let pause = self.random.duration_around(pace);
            if !self.soak.pause(pause) {
                return;
            }
            let Some(session) = self.random.pick(&self.sessions).cloned() else { return };
            match self.random.below(100) {
                0 => drop(self.audit(&session)),
                1..5 => self.look_around(),
                5..15 => drop(
                    self.ask("view", |connection| connection.view(Some(&session.address), TIMEOUT)),
                ),
                _ => match session.kind {
                    Kind::Editor => self.edit(&session),
                    Kind::Notebook => self.note(&session),
                    Kind::Rogue => self.call_rogue(&session),
                },
            }
        }
    }

    /// Opens a session, and restarts it when it stays down.
    pub fn open(&mut self, session: &SoakSession) {
        if session.kind == Kind::Editor && !self.soak.env.path(&session.file).exists() {
            self.soak.env.write(&session.file, "the first line\n");
        }
        let file = [session.file.as_str()];
        let args = if session.kind == Kind::Editor { &file[..] } else { &[] };
        let opened =
            self.ask("open", |connection| connection.open(&session.address, args, TIMEOUT));
        if opened.exit == 6 {
            self.ask("restart", |connection| connection.restart(&session.address, TIMEOUT));
        }
    }

    fn look_around(&mut self) {
        let verbs = [
            Verb::Sessions,
            Verb::Status,
            Verb::Apps,
            Verb::View(Default::default()),
            Verb::History(HistoryArgs { rounds: Some(5), ..HistoryArgs::default() }),
        ];
        if let Some(verb) = self.random.pick(&verbs).cloned() {
            self.ask("list", |connection| connection.request(verb, TIMEOUT));
        }
    }

    fn edit(&mut self, session: &SoakSession) {
        let held = self.model.held(&session.address);
        let address = &session.address;
        let marker = self.next_marker();
        let old = self.random.pick(&held).cloned();
        match (self.random.below(100), old) {
            (0..15, Some(old)) => {
                let code = format!("{address}.replace('{old}', '{marker}')");
                let ended = self.act(session, "replace", &code);
                self.model.deleted(address, &old, ended);
                self.model.wrote(address, &marker, ended);
            }
            (15..20, _) => drop(self.act(session, "save", &format!("{address}.save()"))),
            (20..25, _) if held.len() < MARKERS_MAX => {
                let second = self.next_marker();
                let code = format!(
                    "{address}.insert(1, '{marker}'); {address}.insert(1, '{second}'); {address}.save()"
                );
                // After a failure, any of the steps may have been the last, so only all or none is
                // known.
                let reply = self.run_code(session, "run of 3", &code);
                let all = match reply.exit {
                    0 => Effect::Applied,
                    2 | 3 | 4 | 6 | 8 | 9 => Effect::NotApplied,
                    _ => Effect::Unknown,
                };
                self.model.wrote(address, &marker, all);
                self.model.wrote(address, &second, all);
            }
            (25..30, _) if held.len() < MARKERS_MAX => {
                let code = format!("{address}.insert(1, '{marker}')");
                let ended = self.act_in_killed_process(&code);
                self.model.wrote(address, &marker, ended);
            }
            (30..75, _) if held.len() < MARKERS_MAX => {
                let code = format!("{address}.insert(1, '{marker}')");
                let ended = self.act(session, "insert", &code);
                self.model.wrote(address, &marker, ended);
            }
            (_, Some(old)) => {
                let code = format!("{address}.replace('{old}\\n', '')");
                let ended = self.act(session, "delete", &code);
                self.model.deleted(address, &old, ended);
            }
            _ => {}
        }
    }

    fn note(&mut self, session: &SoakSession) {
        let address = &session.address;
        let held = self.model.held(address);
        let full = held.len() >= MARKERS_MAX / 2;
        let known: Vec<String> =
            held.into_iter().filter(|marker| self.ids.contains_key(marker)).collect();
        let old = self.random.pick(&known).cloned();
        match (self.random.below(100), old) {
            (0..45, _) if !full => {
                let marker = self.next_marker();
                let code = format!("{address}.add(title='{marker}', text='of {marker} 你好')");
                let ended = self.act(session, "add", &code);
                self.model.wrote(address, &marker, ended);
            }
            (45..55, _) if !full => {
                let marker = self.next_marker();
                let code = format!("{address}.add(title='{marker}', text='cut off')");
                let ended = self.act_in_killed_process(&code);
                self.model.wrote(address, &marker, ended);
            }
            (55..70, Some(old)) => {
                let Some(id) = self.ids.get(&old).copied() else { return };
                let code = format!("{address}.append(obj:{id}, 'one more line')");
                self.act(session, "append", &code);
            }
            (_, Some(old)) => {
                let Some(id) = self.ids.get(&old).copied() else { return };
                let asked =
                    self.run_code(session, "remove", &format!("{address}.remove([obj:{id}])"));
                if asked.exit == 0 {
                    self.soak.report_failure(format!("{}: {old} was removed unasked", self.name));
                }
                if asked.exit == 5 {
                    let yes = Verb::Answer { text: "yes".into(), to: None, stdin: None };
                    let reply = self.send_act(yes, "answer");
                    let ended = effect_of(&reply);
                    self.model.deleted(address, &old, ended);
                }
            }
            _ => drop(self.ask("view", |connection| connection.view(Some(address), TIMEOUT))),
        }
    }

    fn call_rogue(&mut self, session: &SoakSession) {
        let how = if self.random.one_in(15) { "misbehave('exit')" } else { "set()" };
        self.act(session, "rogue", &format!("{}.{how}", session.address));
    }

    fn act(&mut self, session: &SoakSession, name: &'static str, code: &str) -> Effect {
        let reply = self.run_code(session, name, code);
        effect_of(&reply)
    }

    /// Runs code, and clears an open question or a missing session for the next run.
    pub(crate) fn run_code(
        &mut self,
        session: &SoakSession,
        name: &'static str,
        code: &str,
    ) -> ClientReply {
        let reply = self
            .send_act(Verb::Run { code: code.to_owned(), stdin: None, only_queries: false }, name);
        match reply.exit {
            9 => {
                let no = Verb::Answer { text: "no".into(), to: None, stdin: None };
                self.ask("answer", |connection| connection.request(no, TIMEOUT));
            }
            3 if reply.text.contains("pipemux open") => self.open(session),
            6 if reply.text.contains("pipemux restart") => {
                self.ask("restart", |connection| connection.restart(&session.address, TIMEOUT));
            }
            _ => {}
        }
        reply
    }

    /// Sends a call with effects. If the daemon is lost, the call is sometimes sent again under the
    /// same id.
    fn send_act(&mut self, verb: Verb, name: &'static str) -> ClientReply {
        let call = self.connection.call(verb);
        let reply = self.ask(name, |connection| connection.send(&call, TIMEOUT));
        if reply.from_daemon || reply.exit != 7 {
            return reply;
        }
        self.soak.count(|counters| counters.lost += 1);
        let _ = self.soak.env.pipemux(&["up"]);
        if self.random.one_in(3) {
            return reply;
        }
        let again = self.ask("sent again", |connection| connection.send(&call, TIMEOUT));
        // A second attempt that was not delivered says nothing about the first one.
        if again.exit == 8 { reply } else { again }
    }

    /// Runs a call in a client process that is killed meanwhile.
    fn act_in_killed_process(&mut self, code: &str) -> Effect {
        let command = self.soak.env.command(&["run", code]);
        let running = command.workspace(&self.workspace).reader(&self.name).start();
        thread::sleep(self.random.duration_around(0.004));
        if running.is_running() {
            kill(running.pid, Signal::SIGKILL);
        }
        let output = running.finish();
        let exit = u8::try_from(output.exit).unwrap_or(u8::MAX);
        self.soak.count(|counters| counters.killed_clients += u64::from(exit >= 128));
        self.soak.count(|counters| counters.record_answer("run, killed", exit, Duration::ZERO));
        if exit >= 128 { Effect::Unknown } else { effect(exit) }
    }

    /// Sends a request, and checks what holds for every answer.
    pub(crate) fn ask(
        &mut self,
        name: &'static str,
        ask: impl FnOnce(&mut TestClient) -> ClientReply,
    ) -> ClientReply {
        let begun = Instant::now();
        let reply = ask(&mut self.connection);
        let took = begun.elapsed();
        self.soak.count(|counters| counters.record_answer(name, reply.exit, took));
        if took > TIMEOUT + Duration::from_secs(5) {
            self.soak.report_failure(format!("{}: {name} took {} s", self.name, took.as_secs()));
        }
        if let Some(epoch) = reply.epoch().filter(|_| reply.from_daemon) {
            if epoch < self.epoch {
                let (name, before) = (&self.name, self.epoch);
                self.soak.report_failure(format!("{name}: epoch {epoch} after {before}"));
            }
            self.epoch = self.epoch.max(epoch);
        }
        self.check_ids(&reply.text);
        if reply.exit == 8 {
            let up = self.soak.env.pipemux(&["up"]);
            if up.exit != 0 {
                self.soak.report_failure(format!("{}: {up}", self.name));
            }
        }
        reply
    }

    /// Checks that no id is given to another object.
    fn check_ids(&mut self, text: &str) {
        for (at, _) in text.match_indices("](obj:") {
            let Some(start) = text[..at].rfind('[') else { continue };
            let marker = &text[start + 1..at];
            let Some(id) = leading_id(&text[at + "](obj:".len()..]) else { continue };
            if !marker.starts_with('c') || !marker.ends_with('z') || marker.len() != 12 {
                continue;
            }
            if let Some(before) = self.markers.insert(id, marker.to_owned())
                && before != marker
            {
                self.soak.report_failure(format!("obj:{id} was {before} and is {marker} now"));
            }
            self.ids.insert(marker.to_owned(), id);
        }
    }

    fn next_marker(&mut self) -> String {
        self.written += 1;
        format!("{}n{:07}z", self.name, self.written)
    }
}

fn effect_of(reply: &ClientReply) -> Effect {
    effect(reply.exit)
}

/// Returns what an exit status says about the effect of a single step.
fn effect(exit: u8) -> Effect {
    match exit {
        0 => Effect::Applied,
        7 => Effect::Unknown,
        _ => Effect::NotApplied,
    }
}
