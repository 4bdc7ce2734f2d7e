//! A random history: several readers edit two files of one editor session, which also change on
//! disk. Its process is killed and restarted, and so is the daemon.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use pipemux_proto::client::{Verb, VerbRequest, ViewArgs};
use pipemux_tests::{TestClient, TestEnv};

use super::knowledge::{Knowledge, Numbers};

const FILES: [&str; 2] = ["a.txt", "b.txt"];
const TIMEOUT: Duration = Duration::from_secs(20);

pub struct History {
    env: TestEnv,
    readers: Vec<(TestClient, Knowledge)>,
    truth: TestClient,
    ids: HashMap<&'static str, u64>,
    /// By a line's text what it is: a line that is altered in place stays the same line.
    lines: HashMap<String, u64>,
    /// How many acts were compared, without those that were pinned to an epoch.
    pub acts: usize,
    /// How many acts that were pinned to an epoch were compared.
    pub pinned_acts: usize,
    random: u64,
    marks: u64,
    log: String,
}

impl History {
    pub fn new(seed: u64) -> Self {
        let env = TestEnv::new();
        let mut lines = HashMap::new();
        for file in FILES {
            let rows: Vec<String> = (1..=90).map(|row| format!("{file} row {row}.")).collect();
            for row in &rows {
                lines.insert(row.clone(), lines.len() as u64);
            }
            env.write(file, rows.join("\n") + "\n");
        }
        let opened = env.as_reader("r0", &["open", "editor", "a.txt", "b.txt"]);
        let ids = FILES.map(|file| (file, opened.ok().obj(file))).into();
        let reader = |name: &str| (TestClient::new(&env, None, name), Knowledge::default());
        let readers = ["r0", "r1", "r2"].map(reader).into();
        let mut truth = TestClient::new(&env, None, "truth");
        truth.view(None, TIMEOUT);
        let random = mixed(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let log = format!("seed {seed}\n");
        Self { env, readers, truth, ids, lines, acts: 0, pinned_acts: 0, random, marks: 0, log }
    }

    /// Does one random thing.
    pub fn step(&mut self) {
        let reader = self.below(3);
        let file = FILES[self.below(2)];
        match self.below(24) {
            0..=1 => self.view(reader, false),
            2..=3 => self.view(reader, true),
            4..=5 => {
                let line = 1 + self.below(80);
                self.call(reader, file, &format!("editor.goto('{file}:{line}')"));
            }
            6..=7 => {
                let row = 1 + self.below(90);
                self.call(reader, file, &format!("editor.find('row {row}.')"));
            }
            8 => {
                let steps = 1 + self.below(3);
                self.call(reader, file, &format!("editor.undo({steps})"));
            }
            9 => self.call(reader, file, "editor.redo()"),
            10..=11 => self.edit(reader, file),
            12 => {
                let digit = self.below(9);
                let code =
                    format!("editor.replace('{digit}.\\n', '{digit}.\\nextra\\n', all=true)");
                self.call(reader, file, &code);
            }
            13 => self.call(reader, file, "editor.save()"),
            14 => self.change_on_disk(file),
            15 => match self.below(16) {
                0..=3 => self.crash(),
                4..=7 => self.restart(),
                8..=9 => self.kill_daemon(),
                _ => self.act(reader, file),
            },
            16 if self.below(4) == 0 => self.close_and_open(reader, file),
            17..=18 => self.act_on_earlier(reader, file),
            _ => self.act(reader, file),
        }
    }

    fn view(&mut self, reader: usize, since: bool) {
        let (client, known) = &mut self.readers[reader];
        let since = known.epoch.filter(|_| since);
        let view = ViewArgs { since, ..ViewArgs::default() };
        let answer = client.request(Verb::View(view), TIMEOUT);
        known.read(&answer.text, None, None, None);
        self.note(reader, &format!("view since {since:?}"), &answer.text);
    }

    fn call(&mut self, reader: usize, file: &str, code: &str) {
        let _ = self.run(reader, file, code, None);
    }

    /// Runs code, pinned to an epoch if one is given. Returns the exit status, and whether a step
    /// took effect.
    fn run(&mut self, reader: usize, file: &str, code: &str, at: Option<u64>) -> (u8, bool) {
        let client = &mut self.readers[reader].0;
        let call =
            client.call(Verb::Run { code: code.to_owned(), stdin: None, only_queries: false });
        let answer = client.send(&VerbRequest { at, ..call }, TIMEOUT);
        let acted = self.acted_file(reader, file, code, &answer.text);
        let truth = acted.clone().map(|file| self.truth(&file));
        let truth = truth.filter(|_| code.matches("editor.").count() == 1);
        let (_, known) = &mut self.readers[reader];
        let pinned = at.and_then(|epoch| known.at(epoch));
        known.read(&answer.text, acted.as_deref(), truth.as_deref(), pinned);
        let pinned = at.map_or(String::new(), |epoch| format!("--at e{epoch} "));
        self.note(reader, &format!("{pinned}{code}"), &answer.text);
        if answer.exit == 5 {
            let declined = self.readers[reader]
                .0
                .request(Verb::Answer { text: "none".into(), to: None, stdin: None }, TIMEOUT);
            let (_, known) = &mut self.readers[reader];
            known.read(&declined.text, acted.as_deref(), None, None);
            self.note(reader, "answer none", &declined.text);
        }
        (answer.exit, answer.text.contains(" done · "))
    }

    /// The file that a call without a file name was about: the one that its reader's window showed.
    fn acted_file(&self, reader: usize, file: &str, code: &str, answer: &str) -> Option<String> {
        if code.contains(".txt") {
            return Some(file.to_owned());
        }
        let brief = answer.lines().find(|line| line.contains(" done · ")).unwrap_or_default();
        let named = FILES.iter().find(|file| brief.contains(**file)).map(|file| (*file).to_owned());
        named.or_else(|| self.readers[reader].1.current.clone())
    }

    /// An edit with random numbers.
    fn edit(&mut self, reader: usize, file: &str) {
        let (first, length) = (1 + self.below(70), self.below(4));
        let last = first + length;
        let text = self.mark();
        let before = 1 + self.below(70);
        let at = |number| format!("'{file}:{number}'");
        let code = match self.below(4) {
            0 => format!("editor.delete_lines({}, {})", at(first), at(last)),
            1 => format!("editor.insert({}, '{text}')", at(first)),
            2 => format!("editor.move_lines({}, {}, {})", at(first), at(last), at(before)),
            _ => format!(
                "editor.delete_lines({}, {}); editor.insert({}, '{text}')",
                at(first),
                at(last),
                at(before + 5),
            ),
        };
        self.call(reader, file, &code);
    }

    /// Acts on a number that the reader knows, and compares the line that it touched.
    fn act(&mut self, reader: usize, file: &str) {
        let known = &self.readers[reader].1;
        let bare = known.current.as_deref() == Some(file);
        let picked = self.pick_number(file, &self.readers[reader].1.numbers.clone());
        let Some((number, text)) = picked else { return };
        let bare = bare && self.below(3) == 0;
        let at = if bare { number.to_string() } else { format!("'{file}:{number}'") };
        self.act_on(reader, file, &text, &at, None);
    }

    /// Acts on a number that the reader knew in an earlier epoch, to which the call is pinned.
    fn act_on_earlier(&mut self, reader: usize, file: &str) {
        let count = self.readers[reader].1.earlier.len();
        let at = self.below(count.max(1));
        let earlier = self.readers[reader].1.earlier.get(at).cloned();
        let Some((epoch, numbers)) = earlier else { return };
        let Some((number, text)) = self.pick_number(file, &numbers) else { return };
        self.act_on(reader, file, &text, &format!("'{file}:{number}'"), Some(epoch));
    }

    /// Returns one of the numbers of a file whose line is known, with its text.
    fn pick_number(&mut self, file: &str, numbers: &Numbers) -> Option<(usize, String)> {
        let known: Vec<(usize, String)> = numbers
            .iter()
            .filter(|((of, _), text)| of == file && self.lines.contains_key(*text))
            .map(|((_, number), text)| (*number, text.clone()))
            .collect();
        if known.is_empty() { None } else { Some(known[self.below(known.len())].clone()) }
    }

    fn act_on(&mut self, reader: usize, file: &str, text: &str, at: &str, epoch: Option<u64>) {
        let line = self.lines[text];
        let before = self.truth(file);
        let mark = self.mark();
        self.lines.insert(mark.clone(), line);
        let kind = self.below(3);
        let code = match kind {
            0 => format!("editor.delete_lines({at}, {at})"),
            1 => format!("editor.insert({at}, 'new {mark}')"),
            _ => format!("editor.replace_lines({at}, {at}, '{mark}')"),
        };
        let log = self.log.len();
        let (exit, done) = self.run(reader, file, &code, epoch);
        if exit != 0 || !done {
            return;
        }
        let after = self.truth(file);
        let touched = match kind {
            1 => {
                let at = after.iter().position(|line| *line == format!("new {mark}"));
                at.and_then(|at| after.get(at + 1))
            }
            _ => before.iter().find(|line| !after.contains(line)),
        };
        let touched = touched.and_then(|text| self.lines.get(text));
        match epoch {
            Some(_) => self.pinned_acts += 1,
            None => self.acts += 1,
        }
        assert!(
            touched == Some(&line),
            "{}\nr{reader} knew {at} as {text:?} (epoch {epoch:?}); {code} touched {touched:?}, not {line}:\n{}",
            self.log,
            &self.log[log..]
        );
    }

    fn change_on_disk(&mut self, file: &str) {
        let mut lines = self.truth(file);
        if self.env.read(file).lines().ne(lines.iter().map(String::as_str)) || lines.len() < 20 {
            return;
        }
        let at = self.below(lines.len() - 6);
        let length = 1 + self.below(4);
        lines.drain(at..at + length);
        self.env.write(file, lines.join("\n") + "\n");
        self.note(9, &format!("disk: {file} lost {length} lines from {}", at + 1), "");
    }

    fn crash(&mut self) {
        self.truth.view(None, TIMEOUT);
        self.env.kill_session("editor/main");
        self.note(9, "the editor was killed", "");
    }

    fn restart(&mut self) {
        self.truth.view(None, TIMEOUT);
        let restarted = self.truth.restart("editor/main", TIMEOUT);
        assert_eq!(restarted.exit, 0, "{}\n{}", self.log, restarted.text);
        self.note(9, "the editor was restarted", "");
    }

    fn kill_daemon(&mut self) {
        self.env.kill_daemon();
        // Connections to the one before are lost.
        self.env.pipemux(&["up"]).ok();
        for (reader, (client, _)) in self.readers.iter_mut().enumerate() {
            *client = TestClient::new(&self.env, None, &format!("r{reader}"));
        }
        self.truth = TestClient::new(&self.env, None, "truth");
        self.note(9, "the daemon was killed", "");
    }

    fn close_and_open(&mut self, reader: usize, file: &str) {
        let id = self.ids[file];
        self.call(reader, file, &format!("editor.close(obj:{id}); editor.open('{file}')"));
    }

    fn truth(&mut self, file: &str) -> Vec<String> {
        let target = format!("obj:{}", self.ids[file]);
        let mut read = self.truth.request(Verb::Read { target: target.clone() }, TIMEOUT);
        if read.exit != 0 {
            // The file is closed, or its session just died.
            self.truth.open("editor", &[file], TIMEOUT);
            read = self.truth.request(Verb::Read { target }, TIMEOUT);
        }
        assert_eq!(read.exit, 0, "{}\n{file}: {}", self.log, read.text);
        read.text.lines().map(str::to_owned).collect()
    }

    fn mark(&mut self) -> String {
        self.marks += 1;
        format!("mark {}.", self.marks)
    }

    fn note(&mut self, reader: usize, what: &str, answer: &str) {
        let shown: String = answer.lines().filter(|line| !line.starts_with("edit")).fold(
            String::new(),
            |mut all, line| {
                let _ = writeln!(all, "    {line}");
                all
            },
        );
        let _ = writeln!(self.log, "r{reader}: {what}\n{shown}");
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mixed(self.random) % limit as u64) as usize
    }
}

/// SplitMix64.
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
