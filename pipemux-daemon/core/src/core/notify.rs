//! Tells the readers of windows what happened to the sessions behind them, and publishes it in the feed.

use pipemux_proto::watch::EventKind;

use crate::Core;
use crate::feed::Audience;
use crate::foreign::{ForeignText, quote};
use crate::keys::SessionKey;
use crate::limits::{CRASH_WINDOW_MS, CRASHES_MAX};
use crate::processes::crash_history::Crash;
use crate::workspaces::NoticeText;

impl Core {
    /// Notifies every workspace that has a window of the session, and publishes the notice in the feed.
    pub(crate) fn notify_windows(
        &mut self,
        kind: EventKind,
        key: &SessionKey,
        text: impl Into<NoticeText>,
    ) {
        let text = text.into();
        self.workspaces.notify_windows(key, None, &text, self.turn.now);
        self.publish(kind, Audience::Session(key.clone()), None, &text.at_age(0));
    }

    /// Passes a notice of a session's app on to every workspace that has a window of it, and to the feed.
    pub(crate) fn pass_notice(&mut self, session: &SessionKey, text: &ForeignText) {
        let text = format!("{session}: {}", quote::in_sentence(text));
        self.publish(EventKind::Notice, Audience::Session(session.clone()), None, &text);
        let (text, by) = (NoticeText::Plain(text), Some(session));
        self.workspaces.notify_windows(session, by, &text, self.turn.now);
    }

    /// Notifies readers that a session was restarted after a crash, or of the notes of an app that started.
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
