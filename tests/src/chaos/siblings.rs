//! The well-behaved sessions, whose answers and times are compared.

use std::time::{Duration, Instant};

use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::projection::Lod;

use crate::{ClientReply, TestClient, TestEnv};

/// How long a sibling may take for one answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Well-behaved sessions, and their answers before the attack.
#[derive(Debug)]
pub struct Siblings {
    client: TestClient,
    calls: Vec<(String, Verb)>,
    /// The normalised answers of the last warm-up round.
    expected: Vec<String>,
}

/// The answers of some rounds.
#[derive(Debug, Clone, Default)]
pub struct Measurement {
    /// How long each answer took.
    pub times: Vec<Duration>,
    /// Rounds of all calls.
    pub rounds: usize,
    /// Answers that differ from the expected ones, with both texts.
    pub unexpected: Vec<String>,
}

impl Measurement {
    /// Returns the time within which this share of the answers came.
    pub fn percentile(&self, share: f64) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        let last = times.len().saturating_sub(1);
        let place = (times.len() as f64 * share) as usize;
        times.get(place.min(last)).copied().unwrap_or_default()
    }
}

impl Siblings {
    /// Opens an editor, a notebook, the monitor and a `rogue` that behaves.
    ///
    /// # Panics
    /// An app can't be opened.
    pub fn open(env: &TestEnv) -> Self {
        env.write("a.txt", "the first line\nsays zero\nthe third line\n");
        let mut client = TestClient::new(env, None, "sibling");
        let must = |reply: ClientReply| {
            assert_eq!(reply.exit, 0, "{}", reply.text);
            reply
        };
        must(client.open("editor", &["a.txt"], TIMEOUT));
        must(client.open("notebook", &[], TIMEOUT));
        must(client.open("monitor", &[], TIMEOUT));
        let thing = id_of(&must(client.open("honest", &[], TIMEOUT)), "the thing");
        let kept = must(client.run("notebook.add('kept', 'a text')", TIMEOUT));
        let kept = id_of(&kept, "kept");
        let run =
            |code: String| (code.clone(), Verb::Run { code, stdin: None, only_queries: false });
        let view = |session: &str| {
            let verb = ViewArgs { session: session.parse().ok(), ..ViewArgs::default() };
            (format!("view {session}"), Verb::View(verb))
        };
        let calls = vec![
            run("editor.replace('zero', 'one')".into()),
            run("editor.replace('one', 'zero')".into()),
            run(format!("notebook.edit(obj:{kept}, 'a first text')")),
            run(format!("notebook.edit(obj:{kept}, 'a second text')")),
            run(format!("honest.look(obj:{thing})")),
            view("editor/main"),
            view("notebook/main"),
            view("monitor/main"),
            (format!("read obj:{kept}"), Verb::Read { target: format!("obj:{kept}") }),
        ];
        Self { client, calls, expected: Vec::new() }
    }

    /// Sends every request once. The answers of the last warm-up are expected from then on.
    pub fn warm_up(&mut self) {
        self.expected.clear();
        let mut measured = Measurement::default();
        self.round(&mut measured);
    }

    /// Sends every request, round after round, until `stop` is true after a round.
    pub fn ask_until(&mut self, stop: impl Fn(Duration) -> bool) -> Measurement {
        let begun = Instant::now();
        let mut measured = Measurement::default();
        loop {
            self.round(&mut measured);
            measured.rounds += 1;
            if stop(begun.elapsed()) {
                return measured;
            }
        }
    }

    fn round(&mut self, measured: &mut Measurement) {
        for (number, (shown, verb)) in self.calls.iter().enumerate() {
            let mut call = self.client.call(verb.clone());
            if shown.ends_with("monitor/main") {
                call.lod = Some(Lod::Gist);
            }
            let begun = Instant::now();
            let reply = self.client.send(&call, TIMEOUT);
            measured.times.push(begun.elapsed());
            let plain = normalized(shown, &reply);
            match self.expected.get(number) {
                None => self.expected.push(plain),
                Some(expected) if *expected == plain => {}
                Some(expected) => {
                    measured.unexpected.push(format!("{shown}:\n{plain}\nexpected:\n{expected}"))
                }
            }
        }
    }
}

/// Returns an answer without what changes with every run: epochs, receipts and the ids of links. Of
/// the monitor's figures only the labels are kept.
fn normalized(shown: &str, reply: &ClientReply) -> String {
    let mut text = format!("exit {}\n", reply.exit);
    let figures = shown.ends_with("monitor/main");
    let footer = reply.text.lines().count().saturating_sub(1);
    for (number, line) in reply.text.lines().enumerate() {
        let line = match line.split_once(" · top: ") {
            // The list of the busiest processes changes by itself.
            Some((before, _)) if figures => &before.replace(" since boot", ""),
            _ => line,
        };
        text += &if number == footer || figures { masked(line) } else { without_links(line) };
        text.push('\n');
    }
    text
}

fn without_links(line: &str) -> String {
    let mut parts = line.split("link:");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += "link:#";
        text += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    text
}

/// Replaces every number, with its fraction, by one `#`. A monitor that was late says which time
/// its share of the processor is of; that is left out.
fn masked(line: &str) -> String {
    let mut text = String::new();
    for c in line.chars() {
        let number = c.is_ascii_digit() || c == '.' && text.ends_with('#');
        match number {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(c),
        }
    }
    ["s", "min", "h"].iter().fold(text, |text, unit| text.replace(&format!(" over # {unit}"), ""))
}

fn id_of(reply: &ClientReply, label: &str) -> u64 {
    let mark = format!("[{label}](obj:");
    let at = reply.text.find(&mark).map(|at| &reply.text[at + mark.len()..]);
    at.and_then(crate::output::leading_id).unwrap_or_else(|| panic!("no {label}: {reply:?}"))
}
