//! Pauses: a person holds what agents do, in a workspace, as a reader, or everywhere. Reading goes
//! on.
//!
//! What is refused is the first acting step of a run; a run that is under way fails with its next
//! one. As with consents, what keeps an agent from ending one is that this changes the daemon,
//! which a process that an app started may not, and that clients send it only for a person at a
//! terminal.

use pipemux_proto::client::ClockOffset;
use pipemux_proto::pause::PauseScope;
use pipemux_proto::{Fault, command};

use crate::keys::WorkspaceKey;
use crate::limits::{PAUSE_READER_MAX, PAUSES_MAX};
use crate::persist::records::Record;
use crate::turn::Turn;
use crate::views::LocalTime;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The scope of the pause.
    pub held: Held,
    /// The start of the pause, in milliseconds since 1970.
    pub unix_ms: u64,
    /// The offset of the user's clock from UTC, in seconds; `None` if unknown.
    pub ahead_s: Option<i32>,
}

/// The scope of a pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// Everybody.
    All,
    /// Everybody in a workspace.
    Workspace(WorkspaceKey),
    /// The reader with this name.
    Reader(String),
}

impl Held {
    /// Returns what a request's scope holds, which comes from a workspace.
    pub fn of(scope: &PauseScope, workspace: &WorkspaceKey) -> Self {
        match scope {
            PauseScope::All => Self::All,
            PauseScope::Workspace => Self::Workspace(workspace.clone()),
            PauseScope::Reader(name) => Self::Reader(name.clone()),
        }
    }

    fn holds(&self, workspace: &str, reader: &str) -> bool {
        match self {
            Self::All => true,
            Self::Workspace(held) => **held == *workspace,
            Self::Reader(name) => name == reader,
        }
    }

    /// Returns what it holds, in words: `all`.
    pub fn words(&self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Workspace(key) => format!("workspace {key}"),
            Self::Reader(name) => format!("reader {name}"),
        }
    }

    /// Returns the options that name it on a command line.
    fn options(&self) -> String {
        match self {
            Self::All => " --all".to_owned(),
            Self::Workspace(_) => String::new(),
            Self::Reader(name) => format!(" {}", command::join(&["--reader", name])),
        }
    }
}

impl Pause {
    /// Returns when it began, by the clock of the person: `14:02`, with the day if that isn't
    /// today.
    fn began(&self, now: u64) -> String {
        let clock = self.ahead_s.map(|ahead_s| ClockOffset { from_s: 0, ahead_s });
        let clock: Vec<ClockOffset> = clock.into_iter().collect();
        let (at, today) = (LocalTime::of(self.unix_ms, &clock), LocalTime::of(now, &clock).day);
        let minute = at.time.get(..5).unwrap_or(&at.time);
        let zone = if self.ahead_s.is_some() { "" } else { "Z" };
        if at.day == today {
            format!("{minute}{zone}")
        } else {
            format!("{} {minute}{zone}", at.day)
        }
    }
}

#[derive(Debug, Default)]
pub struct Pauses(Vec<Pause>);

impl Pauses {
    /// Begins a pause, which lasts until it is ended. Returns false if it lasts already.
    ///
    /// # Errors
    /// There are too many.
    pub fn begin(
        &mut self,
        turn: &mut Turn,
        held: Held,
        ahead_s: Option<i32>,
    ) -> Result<bool, Fault> {
        if self.0.iter().any(|pause| pause.held == held) {
            return Ok(false);
        }
        if self.0.len() >= PAUSES_MAX {
            let why = format!("{PAUSES_MAX} pauses last already");
            return Err(Fault::refused(why).hint("pipemux pause --all"));
        }
        if let Held::Reader(name) = &held
            && name.len() > PAUSE_READER_MAX
        {
            let said = format!("a name of {} bytes (limit {PAUSE_READER_MAX})", name.len());
            return Err(Fault::refused(said));
        }
        let pause = Pause { held, unix_ms: turn.now.unix_ms, ahead_s };
        turn.persist(saved(&pause, true));
        self.0.push(pause);
        Ok(true)
    }

    /// Ends a pause; with `All` each of them. Returns what was held.
    pub fn end(&mut self, turn: &mut Turn, held: &Held) -> Vec<Held> {
        let is_meant = |pause: &mut Pause| *held == Held::All || pause.held == *held;
        let ended: Vec<Pause> = self.0.extract_if(.., is_meant).collect();
        ended.iter().for_each(|pause| turn.persist(saved(pause, false)));
        ended.into_iter().map(|pause| pause.held).collect()
    }

    /// Takes over what an earlier daemon wrote down.
    pub fn restore(&mut self, pause: Pause, on: bool) {
        self.0.retain(|one| one.held != pause.held);
        if on && self.0.len() < PAUSES_MAX {
            self.0.push(pause);
        }
    }

    /// Returns the records that restore all pauses.
    pub fn snapshot(&self) -> impl Iterator<Item = Record> + '_ {
        self.0.iter().map(|pause| saved(pause, true))
    }

    /// Returns what is held and since when, in words.
    pub fn listed(&self, now: u64) -> Option<String> {
        let one = |pause: &Pause| format!("{} since {}", pause.held.words(), pause.began(now));
        (!self.0.is_empty()).then(|| self.0.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    /// Returns why a reader may not act in a workspace, if a pause holds it.
    pub fn refusal(&self, workspace: &str, reader: &str, now: u64) -> Option<Fault> {
        let pause = self.0.iter().find(|pause| pause.held.holds(workspace, reader))?;
        let (began, options) = (pause.began(now), pause.held.options());
        Some(Fault::refused(format!(
            "paused by a person at {began}: reading goes on; they end it with `pipemux resume{options}`"
        )))
    }
}

impl Pause {
    /// Restores a pause from its record: of a workspace or of a reader; with neither, of everybody.
    pub fn from_saved(
        workspace: Option<String>,
        reader: Option<String>,
        unix_ms: u64,
        ahead_s: Option<i32>,
    ) -> Self {
        let held = match (workspace, reader) {
            (Some(key), _) => Held::Workspace(key.into()),
            (None, Some(name)) => Held::Reader(name),
            (None, None) => Held::All,
        };
        Self { held, unix_ms, ahead_s }
    }
}

fn saved(pause: &Pause, on: bool) -> Record {
    let (workspace, reader) = match &pause.held {
        Held::All => (None, None),
        Held::Workspace(key) => (Some(key.to_string()), None),
        Held::Reader(name) => (None, Some(name.clone())),
    };
    Record::Pause { workspace, reader, unix_ms: pause.unix_ms, ahead_s: pause.ahead_s, on }
}
