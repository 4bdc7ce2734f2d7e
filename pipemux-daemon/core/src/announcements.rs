//! Tells readers and watchers what happens to sessions: notices in the workspaces that show one,
//! and entries in the feed.

use pipemux_proto::watch::EventKind;

use crate::event::{Exit, Now};
use crate::feed::{Audience, Feed, Happening, process_exit};
use crate::foreign::{ForeignText, quote};
use crate::keys::SessionKey;
use crate::limits::{CRASH_WINDOW_MS, CRASHES_MAX};
use crate::processes::ProcessEnd;
use crate::processes::crash_history::Crash;
use crate::workspaces::{NoticeText, Workspaces};

/// What an announcement goes to, and when it is made.
pub(crate) struct Announcements<'a> {
    pub feed: &'a mut Feed,
    pub workspaces: &'a mut Workspaces,
    pub now: Now,
}

impl Announcements<'_> {
    /// Publishes an event in the feed; `reader` caused it.
    pub(crate) fn publish(
        &mut self,
        kind: EventKind,
        audience: Audience,
        reader: Option<&str>,
        text: &str,
    ) {
        self.feed.publish(self.now, kind, audience, reader, text);
    }

    /// Publishes an event of a session in the feed.
    pub(crate) fn publish_session(&mut self, kind: EventKind, key: &SessionKey, text: &str) {
        let text = [key.addr.provider.as_str(), "/", key.addr.session.as_str(), " ", text].concat();
        self.publish(kind, Audience::Session(key.clone()), None, &text);
    }

    /// Publishes the end of a process, which `words` describe.
    pub(crate) fn publish_end(
        &mut self,
        session: &SessionKey,
        end: ProcessEnd,
        exit: Option<Exit>,
        words: &str,
    ) {
        let (kind, text) = match end {
            ProcessEnd::Failed => {
                (EventKind::Failed, format!("{words}; it stays down · pipemux restart {session}"))
            }
            ProcessEnd::Crashed => (EventKind::Crashed, words.to_owned()),
            ProcessEnd::Hibernated => {
                (EventKind::Hibernated, format!("{session} was put to sleep"))
            }
            ProcessEnd::Ended => (EventKind::Ended, words.to_owned()),
        };
        let audience = Audience::Session(session.clone());
        let happening = Happening::new(kind, audience, &text);
        let process_exit = exit.map(process_exit);
        self.feed.tell(self.now, Happening { process_exit, ..happening });
    }

    /// Notes that a session's state changed.
    pub(crate) fn session_changed(&mut self, key: &SessionKey) {
        // Many workspaces may show a shared session, which may change often: they check it
        // themselves.
        let owner = key.workspace.as_ref().and_then(|owner| self.workspaces.get_mut(owner));
        if let Some(workspace) = owner {
            workspace.session_changed(key);
        }
        self.publish_session(EventKind::Changed, key, "changed");
    }

    /// Notifies every workspace that has a window of the session, and publishes the notice.
    pub(crate) fn notify_windows(
        &mut self,
        kind: EventKind,
        key: &SessionKey,
        text: impl Into<NoticeText>,
    ) {
        let text = text.into();
        self.workspaces.notify_windows(key, None, &text, self.now);
        self.publish(kind, Audience::Session(key.clone()), None, &text.at_age(0));
    }

    /// Forwards a notice of a session's app to every workspace that shows it, and to the feed.
    pub(crate) fn pass_notice(&mut self, session: &SessionKey, text: &ForeignText) {
        let text = format!("{session}: {}", quote::in_sentence(text));
        self.publish(EventKind::Notice, Audience::Session(session.clone()), None, &text);
        let (text, by) = (NoticeText::Plain(text), Some(session));
        self.workspaces.notify_windows(session, by, &text, self.now);
    }

    /// Notifies readers that a session was restarted after a crash, or of the notes of an app that
    /// started.
    pub(crate) fn notify_start(
        &mut self,
        key: &SessionKey,
        crash: Option<&Crash>,
        notes: &[ForeignText],
    ) {
        let notes = quote::joined(notes);
        let Some(crash) = crash else {
            if !notes.is_empty() {
                self.pass_notice(key, &notes.into());
            }
            return;
        };
        let space = if notes.is_empty() { "" } else { " " };
        let nth = ordinal(crash.nth);
        // Beyond what is allowed it runs only because somebody asked for it.
        let of_allowed = match crash.nth <= CRASHES_MAX {
            true => format!(" of {CRASHES_MAX} allowed"),
            false => String::new(),
        };
        let seconds = CRASH_WINDOW_MS / 1000;
        let after = format!(
            ": {} ({nth}{of_allowed} in {seconds} s; why: pipemux logs {key}).{space}{notes}",
            crash.how,
        );
        let before = format!("{key} was restarted ");
        self.notify_windows(EventKind::Restarted, key, NoticeText::WithAge { before, after });
    }
}

fn ordinal(n: usize) -> String {
    let suffix = match (n % 10, n % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}
