//! Timers that ring while nobody asks: into a waiting `pipemux view --wait`, while the app sleeps,
//! and after the daemon was lost.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use docui::{Anchor, App, Context, Done, Fault, Found, Handle, Object, Opening, Reply};
use docui::{View, ViewRequest, regular_file, state_file};
use serde::{Deserialize, Serialize};

/// Longest time of a timer, in seconds: a year.
const SECONDS_MAX: i64 = 366 * 24 * 3600;
/// Most timers at once.
const TIMERS_MAX: usize = 100;
/// Timers that rang and are still shown.
const RANG_SHOWN: usize = 5;

docui::kind!(/** A timer. */ pub Timer = "timer");
docui::actions! {
    /// The actions on timers.
    pub enum Action {
        /// Starts a timer. When it rings, every reader is told.
        changes featured Start = start(label: String, seconds: i64);
        /// Stops a timer before it rings.
        changes listed Stop = stop(timer: Anchor<Timer>);
    }
}

/// Everything that must survive the process.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Timers {
    /// How many timers were ever started: a key is never used again.
    started: u64,
    running: Vec<Running>,
    /// What rang last, newest first.
    rang: Vec<Running>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Running {
    key: String,
    label: String,
    /// Milliseconds since 1970. A clock goes on while the app sleeps.
    rings_at: u64,
}

impl Running {
    fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.rings_at)
    }

    /// Returns the time of day: `14:32:05 UTC`.
    fn clock(&self) -> String {
        let seconds = self.rings_at / 1000 % 86_400;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        format!("{hours:02}:{minutes:02}:{:02} UTC", seconds % 60)
    }
}

struct Clock {
    timers: Timers,
    file: PathBuf,
    handle: Handle,
}

impl Clock {
    /// Changes the timers and writes them down: what isn't on disk did not happen.
    fn change(&mut self, change: impl FnOnce(&mut Timers)) -> Result<(), Fault> {
        let mut timers = self.timers.clone();
        change(&mut timers);
        let bytes =
            pipemux_proto::encode(&timers).map_err(|error| Fault::failed(error.to_string()))?;
        state_file::replace(&self.file, &bytes)?;
        self.timers = timers;
        Ok(())
    }
}

impl App for Clock {
    type Action = Action;
    // All that views show is in the file.
    const RESUMES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let file = opening.state_dir.join("timers");
        let saved = regular_file::read(&file).ok();
        let timers = match saved {
            Some(bytes) => pipemux_proto::decode(&bytes)
                .map_err(|error| Fault::failed(format!("{}: {error}", file.display())))?,
            None => Timers::default(),
        };
        Ok(Self { timers, file, handle: opening.handle.clone() })
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        match action {
            Action::Start { label, seconds } => {
                if !(1..=SECONDS_MAX).contains(&seconds) {
                    let bounds = format!("seconds: expected 1 to {SECONDS_MAX}, not {seconds}");
                    return Err(Fault::usage(bounds));
                }
                if self.timers.running.len() >= TIMERS_MAX {
                    return Err(Fault::refused(format!("{TIMERS_MAX} timers run already")));
                }
                let at = SystemTime::now() + Duration::from_secs(seconds.unsigned_abs());
                let since = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
                let rings_at = u64::try_from(since).unwrap_or(u64::MAX);
                let key = format!("t{}", self.timers.started + 1);
                let timer = Running { key, label, rings_at };
                let brief = format!("{} rings at {}", timer.label, timer.clock());
                self.change(|timers| {
                    timers.started += 1;
                    timers.running.push(timer);
                })?;
                Ok(Done::new(brief).into())
            }
            Action::Stop { timer } => {
                self.change(|timers| timers.running.retain(|running| running.key != timer.key))?;
                Ok(Done::new("stopped").into())
            }
        }
    }

    fn next_wake(&self) -> Option<SystemTime> {
        self.timers.running.iter().map(Running::time).min()
    }

    fn refresh(&mut self) -> bool {
        let now = SystemTime::now();
        let is_due = |timer: &Running| timer.time() <= now;
        let due: Vec<Running> =
            self.timers.running.iter().filter(|timer| is_due(timer)).cloned().collect();
        if due.is_empty() {
            return false;
        }
        let changed = self.change(|timers| {
            timers.running.retain(|timer| !is_due(timer));
            timers.rang.splice(0..0, due.iter().rev().cloned());
            timers.rang.truncate(RANG_SHOWN);
        });
        // With the disk full they ring at the next try.
        if changed.is_err() {
            return false;
        }
        for timer in due {
            let late = now.duration_since(timer.time()).unwrap_or_default().as_secs();
            self.handle.notify(match late {
                0..=9 => format!("{} rings", timer.label),
                late => format!("{} rang {late} s ago, while nothing ran", timer.label),
            });
        }
        true
    }

    fn view(&self, _: &ViewRequest) -> View {
        let running = self.timers.running.len();
        let mut view = View::new(match running {
            1 => "1 timer".to_owned(),
            running => format!("{running} timers"),
        });
        for timer in &self.timers.running {
            view.text("- ").object(Object::new(&timer.key, &timer.label));
            view.text(format!(" rings at {} ", timer.clock()));
            let stop = Action::Stop { timer: Anchor::new(&timer.key, 0) };
            view.link("stop", &stop).text("\n");
        }
        for timer in &self.timers.rang {
            view.text(format!("- {} rang at {}\n", timer.label, timer.clock()));
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        let is_it = |timer: &&Running| timer.key == key;
        match self.timers.running.iter().find(is_it) {
            Some(_) => Found::Here(0),
            None => Found::Gone(
                self.timers.rang.iter().find(is_it).map(|timer| format!("{} rang", timer.label)),
            ),
        }
    }
}

fn main() -> std::process::ExitCode {
    docui::run::<Clock>()
}
