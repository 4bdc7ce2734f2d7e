//! The calls whose answers and times are compared.

use std::time::{Duration, Instant};

use pipemux_proto::client::{Verb, View};
use pipemux_proto::projection::Lod;

use crate::{Desk, Said, World};

/// How long a sibling may take for one answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sessions that do what they are asked, and what they answer in quiet.
#[derive(Debug)]
pub struct Siblings {
    desk: Desk,
    calls: Vec<(String, Verb)>,
    /// The answers of the first round that was measured.
    known: Vec<String>,
}

/// What some rounds showed.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// How long each answer took.
    pub times: Vec<Duration>,
    /// Rounds of all calls.
    pub rounds: usize,
    /// Answers that were not those of the quiet, with what was expected.
    pub strange: Vec<String>,
}

impl Asked {
    /// The time that this share of the answers did not pass.
    pub fn within(&self, share: f64) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        let last = times.len().saturating_sub(1);
        let place = (times.len() as f64 * share) as usize;
        times.get(place.min(last)).copied().unwrap_or_default()
    }
}

impl Siblings {
    /// Opens an editor, a notebook, the monitor and an app that could misbehave.
    ///
    /// # Panics
    /// One can't be opened.
    pub fn open(world: &World) -> Self {
        world.write("a.txt", "the first line\nsays zero\nthe third line\n");
        let mut desk = Desk::new(world, None, "sibling");
        let must = |said: Said| {
            assert_eq!(said.exit, 0, "{}", said.text);
            said
        };
        must(desk.open("editor", &["a.txt"], PATIENCE));
        must(desk.open("notebook", &[], PATIENCE));
        must(desk.open("monitor", &[], PATIENCE));
        let thing = id_of(&must(desk.open("honest", &[], PATIENCE)), "the thing");
        let kept = must(desk.run("notebook.add('kept', 'a text')", PATIENCE));
        let kept = id_of(&kept, "kept");
        let run = |code: String| (code.clone(), Verb::Run { code, stdin: None });
        let view = |session: &str| {
            let verb = View { session: session.parse().ok(), ..View::default() };
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
        Self { desk, calls, known: Vec::new() }
    }

    /// Asks everything once; the last answers of this are the ones to come again.
    pub fn warm_up(&mut self) {
        self.known.clear();
        let mut asked = Asked::default();
        self.round(&mut asked);
    }

    /// Asks everything, again and again until told to stop after a round; at least once.
    pub fn ask_until(&mut self, stop: impl Fn(Duration) -> bool) -> Asked {
        let begun = Instant::now();
        let mut asked = Asked::default();
        loop {
            self.round(&mut asked);
            asked.rounds += 1;
            if stop(begun.elapsed()) {
                return asked;
            }
        }
    }

    fn round(&mut self, asked: &mut Asked) {
        for (number, (shown, verb)) in self.calls.iter().enumerate() {
            let mut call = self.desk.call(verb.clone());
            if shown.ends_with("monitor/main") {
                call.lod = Some(Lod::Gist);
            }
            let begun = Instant::now();
            let said = self.desk.send(&call, PATIENCE);
            asked.times.push(begun.elapsed());
            let plain = plain(shown, &said);
            match self.known.get(number) {
                None => self.known.push(plain),
                Some(known) if *known == plain => {}
                Some(known) => asked.strange.push(format!("{shown}:\n{plain}\nwas:\n{known}")),
            }
        }
    }
}

/// An answer without what rises with every act: epochs, receipts and the ids of links. Of the monitor's
/// figures only which they are.
fn plain(shown: &str, said: &Said) -> String {
    let mut text = format!("exit {}\n", said.exit);
    let figures = shown.ends_with("monitor/main");
    let footer = said.text.lines().count().saturating_sub(1);
    for (number, line) in said.text.lines().enumerate() {
        let line = match line.split_once(" · top: ") {
            // Who uses the processor most is anybody's.
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

/// Every number is one `#`, also with its fraction.
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
    text
}

fn id_of(said: &Said, label: &str) -> u64 {
    let mark = format!("[{label}](obj:");
    let at = said.text.find(&mark).map(|at| &said.text[at + mark.len()..]);
    at.and_then(crate::output::leading_number).unwrap_or_else(|| panic!("no {label}: {said:?}"))
}
