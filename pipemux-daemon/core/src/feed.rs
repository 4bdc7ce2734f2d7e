//! A bounded log of events for clients that watch.
//!
//! Telling something costs a line of text; those who wait for it are checked once at the end of a
//! turn. Of several changes of one session, or of the progress of one job, the last one is kept, so
//! that an app that changes all the time drives nothing else out.

use std::collections::VecDeque;

use pipemux_proto::job::JobStatus;
use pipemux_proto::watch::{EventKind, ProcessExit, ProcessLimit, WorkspaceEvent};

use crate::event::{Exit, Limit, Now};
use crate::keys::{SessionKey, WorkspaceKey};
use crate::limits::{EVENT_CHARS, FEED_MAX};
use crate::text::clip;
use crate::views::inert::line;
use crate::views::timestamp;

#[derive(Debug, Default)]
pub struct Feed {
    last: u64,
    dropped: u64,
    kept: VecDeque<Box<FeedEntry>>,
    /// True when something was told since those who wait were last checked.
    fresh: bool,
}

/// Something that happened, as it is told.
#[derive(Debug)]
pub struct Happening<'a> {
    /// The kind of the event.
    pub what: EventKind,
    /// Whom it is for.
    pub audience: Audience,
    /// The text, which is made a single inert line.
    pub text: &'a str,
    /// The reader who caused the event.
    pub reader: Option<&'a str>,
    /// The way in which a process ended, if that is the event.
    pub process_exit: Option<ProcessExit>,
    /// The exit status of a run, if the end of a run is the event.
    pub run_exit: Option<u8>,
    /// The job that the event concerns.
    pub job: Option<Box<JobStatus>>,
    /// True for the progress of a job: of several only the last one is kept.
    pub progress: bool,
}

impl<'a> Happening<'a> {
    /// Something that nobody in particular did.
    pub fn new(what: EventKind, audience: Audience, text: &'a str) -> Self {
        let (reader, process_exit, run_exit, job) = (None, None, None, None);
        Self { what, audience, text, reader, process_exit, run_exit, job, progress: false }
    }

    /// Something that a reader did.
    pub fn by(self, reader: &'a str) -> Self {
        Self { reader: Some(reader), ..self }
    }
}

/// Something that happened, as it is kept.
#[derive(Debug)]
pub struct FeedEntry {
    number: u64,
    at: Now,
    what: EventKind,
    audience: Audience,
    reader: Option<String>,
    text: String,
    process_exit: Option<ProcessExit>,
    run_exit: Option<u8>,
    job: Option<Box<JobStatus>>,
    progress: bool,
}

/// Whom an event is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// One workspace, and the session that the event concerns, if there is one.
    Workspace(WorkspaceKey, Option<SessionKey>),
    /// The workspaces that the session belongs to.
    Session(SessionKey),
    /// All workspaces.
    Everywhere,
}

impl Audience {
    /// True when it includes that workspace.
    fn includes(&self, at: &WorkspaceKey) -> bool {
        match self {
            Audience::Workspace(workspace, _) => workspace == at,
            Audience::Session(session) => {
                session.workspace.as_ref().is_none_or(|owner| owner == at)
            }
            Audience::Everywhere => true,
        }
    }

    fn session(&self) -> Option<&SessionKey> {
        match self {
            Audience::Workspace(_, session) => session.as_ref(),
            Audience::Session(session) => Some(session),
            Audience::Everywhere => None,
        }
    }

    fn workspace(&self) -> Option<&WorkspaceKey> {
        match self {
            Audience::Workspace(workspace, _) => Some(workspace),
            Audience::Session(session) => session.workspace.as_ref(),
            Audience::Everywhere => None,
        }
    }
}

impl Feed {
    /// The number of the newest event.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The number of the newest event that was dropped for lack of space; 0 if none was.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// True when something was told since this was last asked.
    pub fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.fresh)
    }

    /// Tells those who watch.
    pub fn tell(&mut self, at: Now, happening: Happening<'_>) {
        self.last += 1;
        self.fresh = true;
        let text = line(&*clip(happening.text, EVENT_CHARS));
        self.add(FeedEntry {
            number: self.last,
            at,
            what: happening.what,
            audience: happening.audience,
            reader: happening.reader.map(str::to_owned),
            text,
            process_exit: happening.process_exit,
            run_exit: happening.run_exit,
            job: happening.job,
            progress: happening.progress,
        });
    }

    /// Tells those who watch of something that has no more to it than a text; `reader` caused it.
    pub fn publish(
        &mut self,
        at: Now,
        kind: EventKind,
        audience: Audience,
        reader: Option<&str>,
        text: &str,
    ) {
        self.tell(at, Happening { reader, ..Happening::new(kind, audience, text) });
    }

    fn add(&mut self, entry: FeedEntry) {
        if entry.what == EventKind::Changed || entry.progress {
            // Most often the newest one: a session that changes all the time changes now.
            let number = |entry: &FeedEntry| entry.job.as_ref().map(|job| job.number);
            let same = |had: &FeedEntry| {
                let alike = had.what == entry.what && had.progress == entry.progress;
                alike && had.audience == entry.audience && number(had) == number(&entry)
            };
            if let Some(index) = self.kept.iter().rposition(|had| same(had)) {
                self.kept.remove(index);
            }
        }
        self.kept.push_back(Box::new(entry));
        if self.kept.len() > FEED_MAX
            && let Some(oldest) = self.kept.pop_front()
        {
            self.dropped = oldest.number;
        }
    }

    /// Events after a number that are for a workspace, or for any; the oldest first.
    pub fn after<'a>(
        &'a self,
        number: u64,
        at: Option<&'a WorkspaceKey>,
    ) -> impl Iterator<Item = &'a FeedEntry> {
        let first = self.kept.partition_point(|entry| entry.number <= number);
        let later = self.kept.range(first..).map(AsRef::as_ref);
        later.filter(move |entry| at.is_none_or(|at| entry.audience.includes(at)))
    }
}

impl FeedEntry {
    /// The event in the form of the protocol; `name` gives the shown name of a workspace.
    pub fn to_occurrence(&self, name: impl Fn(&WorkspaceKey) -> String) -> WorkspaceEvent {
        WorkspaceEvent {
            number: self.number,
            at: timestamp(self.at),
            what: self.what,
            workspace: self.audience.workspace().map(name),
            session: self.audience.session().map(ToString::to_string),
            reader: self.reader.clone(),
            text: self.text.clone(),
            process_exit: self.process_exit,
            run_exit: self.run_exit,
            job: self.job.as_deref().cloned(),
        }
    }
}

/// The exit of a process in the form of the protocol; empty if the launcher was lost.
pub fn process_exit(exit: Exit) -> ProcessExit {
    let none = ProcessExit::default();
    match exit {
        Exit::Code(code) => ProcessExit { code: Some(code), ..none },
        Exit::Signal(signal) => ProcessExit { signal: Some(signal), ..none },
        Exit::OverLimit(Limit::Cpu(_)) => ProcessExit { limit: Some(ProcessLimit::Cpu), ..none },
        Exit::OverLimit(Limit::Processes(_) | Limit::Threads(_)) => {
            ProcessExit { limit: Some(ProcessLimit::Processes), ..none }
        }
        Exit::OverLimit(Limit::Memory(_)) => {
            ProcessExit { limit: Some(ProcessLimit::Memory), ..none }
        }
        // The wire has no name for it; the text says it.
        Exit::OverLimit(Limit::Disk(_)) => none,
        Exit::NearMemoryLimit { status, .. } => ProcessExit {
            code: (status >= 0).then_some(status),
            signal: (status < 0).then_some(-status),
            limit: Some(ProcessLimit::Memory),
        },
        Exit::Lost => none,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64, what: EventKind, session: &str) -> FeedEntry {
        let key = SessionKey { workspace: None, addr: session.parse().unwrap() };
        let (audience, at) = (Audience::Session(key), Now::default());
        let (reader, text, process_exit, run_exit) = (None, String::new(), None, None);
        let (job, progress) = (None, false);
        FeedEntry {
            number,
            at,
            what,
            audience,
            reader,
            text,
            process_exit,
            run_exit,
            job,
            progress,
        }
    }

    fn numbers(feed: &Feed, after: u64) -> Vec<u64> {
        feed.after(after, None).map(|entry| entry.number).collect()
    }

    #[test]
    fn a_flood_of_changes_drives_nothing_out() {
        let mut feed = Feed::default();
        feed.add(entry(1, EventKind::Started, "a/main"));
        for number in 2..10_000 {
            feed.add(entry(
                number,
                EventKind::Changed,
                if number % 2 == 0 { "a/main" } else { "b/main" },
            ));
        }
        assert_eq!(numbers(&feed, 0), [1, 9_998, 9_999]);
        assert_eq!(numbers(&feed, 9_998), [9_999]);
        assert_eq!(feed.dropped, 0);
    }

    #[test]
    fn the_oldest_events_make_room_and_their_last_number_is_known() {
        let mut feed = Feed::default();
        for number in 1..=FEED_MAX as u64 + 3 {
            feed.add(entry(number, EventKind::Notice, "a/main"));
        }
        assert_eq!((feed.kept.len(), feed.dropped), (FEED_MAX, 3));
        assert_eq!(numbers(&feed, 0).first(), Some(&4));
        assert!(numbers(&feed, u64::MAX).is_empty());
    }
}
