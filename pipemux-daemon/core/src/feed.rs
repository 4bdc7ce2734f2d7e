//! What happens, for those who watch: a bounded memory of events.
//!
//! Telling something costs a line of text; who waits for it is looked after once at the end of a turn.
//! Of several changes of one session in a row the last one is kept, so that an app that changes all the
//! time drives nothing else out.

use std::collections::VecDeque;

use pipemux_proto::watch::{Occurrence, What};

use crate::Core;
use crate::event::Now;
use crate::keys::{SessionKey, WorkspaceKey};
use crate::limits::{EVENT_CHARS, FEED_MAX};
use crate::views::inert::line;
use crate::views::timestamp;

/// The newest events.
#[derive(Debug, Default)]
pub struct Feed {
    /// The newest number.
    pub last: u64,
    /// The newest event that made room for others.
    pub dropped: u64,
    kept: VecDeque<Box<FeedEntry>>,
    /// True when something was told since those who wait were looked after.
    pub fresh: bool,
}

/// Something that happened.
#[derive(Debug)]
pub struct FeedEntry {
    number: u64,
    at: Now,
    what: What,
    place: Audience,
    reader: Option<String>,
    text: String,
}

/// Whom an event is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// One workspace; with the session that it is about, if it is about one.
    Workspace(WorkspaceKey, Option<SessionKey>),
    /// The workspaces that the session is of.
    Session(SessionKey),
    /// All.
    Everywhere,
}

impl Audience {
    /// True when it is for that workspace.
    fn reaches(&self, at: &WorkspaceKey) -> bool {
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
    fn add(&mut self, mut told: FeedEntry) {
        if told.what == What::Notice
            && let Some(newest) = self.kept.back()
            && newest.what == What::Restarted
            && newest.place == told.place
            && told.text.starts_with(&newest.text)
        {
            // The same restart in more words: told once.
            told.what = What::Restarted;
            self.kept.pop_back();
        }
        if told.what == What::Changed {
            // Most often the newest one: whoever changes all the time changes now.
            let same = |had: &FeedEntry| had.what == What::Changed && had.place == told.place;
            if let Some(index) = self.kept.iter().rposition(|had| same(had)) {
                self.kept.remove(index);
            }
        }
        self.kept.push_back(Box::new(told));
        if self.kept.len() > FEED_MAX
            && let Some(oldest) = self.kept.pop_front()
        {
            self.dropped = oldest.number;
        }
    }

    /// Events after a number that are for a workspace, or all; the oldest first.
    pub fn after<'a>(
        &'a self,
        number: u64,
        at: Option<&'a WorkspaceKey>,
    ) -> impl Iterator<Item = &'a FeedEntry> {
        let first = self.kept.partition_point(|told| told.number <= number);
        let later = self.kept.range(first..).map(AsRef::as_ref);
        later.filter(move |told| at.is_none_or(|at| told.place.reaches(at)))
    }
}

impl Core {
    /// Tells those who watch. `text` is made one inert line.
    pub(crate) fn tell(&mut self, what: What, place: Audience, reader: Option<&str>, text: &str) {
        self.feed.last += 1;
        self.feed.fresh = true;
        let number = self.feed.last;
        let (at, reader) = (self.turn.now, reader.map(str::to_owned));
        let clipped = match text.char_indices().nth(EVENT_CHARS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        self.feed.add(FeedEntry { number, at, what, place, reader, text: line(&clipped) });
    }

    /// Tells of a session.
    pub(crate) fn tell_session(&mut self, what: What, key: &SessionKey, text: &str) {
        self.tell(what, Audience::Session(key.clone()), None, &format!("{key} {text}"));
    }

    /// An event as it is answered.
    pub(crate) fn occurrence(&self, told: &FeedEntry) -> Occurrence {
        let name = |key: &WorkspaceKey| match self.workspaces.get(key) {
            Some(workspace) => workspace.name.clone(),
            None => key.to_string(),
        };
        Occurrence {
            number: told.number,
            at: timestamp(told.at),
            what: told.what,
            workspace: told.place.workspace().map(name),
            session: told.place.session().map(ToString::to_string),
            reader: told.reader.clone(),
            text: told.text.clone(),
            process_exit: None,
            run_exit: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(number: u64, what: What, session: &str) -> FeedEntry {
        let key = SessionKey { workspace: None, addr: session.parse().unwrap() };
        let (place, at) = (Audience::Session(key), Now::default());
        FeedEntry { number, at, what, place, reader: None, text: String::new() }
    }

    fn numbers(feed: &Feed, after: u64) -> Vec<u64> {
        feed.after(after, None).map(|told| told.number).collect()
    }

    #[test]
    fn a_flood_of_changes_drives_nothing_out() {
        let mut feed = Feed::default();
        feed.add(told(1, What::Started, "a/main"));
        for number in 2..10_000 {
            feed.add(told(
                number,
                What::Changed,
                if number % 2 == 0 { "a/main" } else { "b/main" },
            ));
        }
        assert_eq!(numbers(&feed, 0), [1, 9_998, 9_999]);
        assert_eq!(numbers(&feed, 9_998), [9_999]);
        assert_eq!(feed.dropped, 0);
    }

    #[test]
    fn a_restart_and_what_is_said_of_it_are_told_once() {
        let mut feed = Feed::default();
        let say = |number, what, session: &str, text: &str| FeedEntry {
            text: text.into(),
            ..told(number, what, session)
        };
        feed.add(say(1, What::Restarted, "a/main", "a/main was restarted"));
        feed.add(say(2, What::Notice, "b/main", "a/main was restarted"));
        feed.add(say(3, What::Restarted, "a/main", "a/main was restarted"));
        feed.add(say(4, What::Notice, "a/main", "a/main was restarted just now: killed"));
        feed.add(say(5, What::Changed, "a/main", "a/main changed"));
        feed.add(say(6, What::Restarted, "a/main", "a/main was restarted"));
        feed.add(say(7, What::Notice, "a/main", "a/main: low on ink"));
        assert_eq!(numbers(&feed, 0), [1, 2, 4, 5, 6, 7]);
        assert_eq!(feed.after(3, None).next().map(|told| told.what), Some(What::Restarted));
    }

    #[test]
    fn the_oldest_make_room_and_it_is_known() {
        let mut feed = Feed::default();
        for number in 1..=FEED_MAX as u64 + 3 {
            feed.add(told(number, What::Notice, "a/main"));
        }
        assert_eq!((feed.kept.len(), feed.dropped), (FEED_MAX, 3));
        assert_eq!(numbers(&feed, 0).first(), Some(&4));
        assert!(numbers(&feed, u64::MAX).is_empty());
    }
}
