//! Notices: what all readers of a workspace should know, each shown once to each of them.

use std::collections::{BTreeMap, VecDeque};

use crate::event::Now;
use crate::keys::SessionKey;
use crate::limits::{APP_NOTICES_MAX, NOTICES_MAX, WINDOWS_MAX};

/// The text of a notice. Only the daemon's own sentences name the notice's age: nothing in an app's
/// words is ever replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeText {
    /// Reads the same at any time.
    Plain(String),
    /// Names the notice's age (`5 s ago`) between the two parts.
    WithAge {
        /// The text before the age.
        before: String,
        /// The text after the age.
        after: String,
    },
}

/// The newest notices of a workspace: the daemon's own and those of apps, each with a bound of
/// their own, so that no app pushes out what the daemon says.
#[derive(Debug, Default)]
pub struct Notices {
    own: Shelf,
    of_apps: Shelf,
    /// The number of the newest notice.
    count: u64,
}

/// Notices that share a bound, oldest first.
#[derive(Debug, Default)]
struct Shelf {
    kept: VecDeque<Notice>,
    /// For each session, or none for the daemon, the newest notice that made room, and how many
    /// did.
    left_out: BTreeMap<Option<SessionKey>, (u64, u64)>,
}

#[derive(Debug)]
struct Notice {
    number: u64,
    text: NoticeText,
    /// The session whose app gave the notice; `None` for the daemon's own.
    by: Option<SessionKey>,
    at: Now,
}

impl NoticeText {
    /// Returns the text as it reads so long after the notice.
    pub fn at_age(&self, age_ms: u64) -> String {
        match self {
            NoticeText::Plain(text) => text.clone(),
            NoticeText::WithAge { before, after } => format!("{before}{}{after}", age(age_ms)),
        }
    }

    /// Returns the text without its age.
    fn without_age(&self) -> String {
        match self {
            NoticeText::Plain(text) => text.clone(),
            NoticeText::WithAge { before, after } => format!("{}{after}", before.trim_end()),
        }
    }
}

impl From<String> for NoticeText {
    fn from(text: String) -> Self {
        NoticeText::Plain(text)
    }
}

impl Notices {
    /// Adds a notice of the daemon, or of a session's app. Beyond the bound, the oldest notice of
    /// the session with the most notices is removed.
    pub fn add(&mut self, text: NoticeText, by: Option<SessionKey>, at: Now) {
        self.count += 1;
        let number = self.count;
        let (shelf, most) = match by {
            None => (&mut self.own, NOTICES_MAX),
            Some(_) => (&mut self.of_apps, APP_NOTICES_MAX),
        };
        shelf.kept.push_back(Notice { number, text, by, at });
        if shelf.kept.len() > most {
            shelf.make_room();
        }
    }

    /// Returns the number of notices so far, which is also the newest one's number.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the newest notices, oldest first, without their ages: they read the same until there
    /// is another one.
    pub fn newest(&self, most: usize) -> Vec<String> {
        let mut all: Vec<&Notice> = self.own.kept.iter().chain(&self.of_apps.kept).collect();
        all.sort_by_key(|notice| notice.number);
        let newest = all.iter().skip(all.len().saturating_sub(most));
        newest.map(|notice| notice.text.without_age()).collect()
    }

    /// Returns the notices that are newer than a number, as they read now: the daemon's own, and
    /// those of apps. Each begins with what was left out since. The `newest` ones of all aren't
    /// among them.
    pub fn after(&self, number: u64, newest: usize, now: Now) -> (Vec<String>, Vec<String>) {
        if number >= self.count {
            return (Vec::new(), Vec::new());
        }
        let mut numbers: Vec<u64> =
            self.own.kept.iter().chain(&self.of_apps.kept).map(|notice| notice.number).collect();
        numbers.sort_unstable();
        let first = numbers.len().saturating_sub(newest);
        let before = numbers.get(first).copied().unwrap_or(u64::MAX);
        (self.own.between(number, before, now), self.of_apps.between(number, before, now))
    }
}

impl Shelf {
    fn make_room(&mut self) {
        let mut counts: BTreeMap<&Option<SessionKey>, usize> = BTreeMap::new();
        for notice in &self.kept {
            *counts.entry(&notice.by).or_default() += 1;
        }
        let Some(most) = counts.values().max().copied() else { return };
        let talkative = |notice: &Notice| counts.get(&notice.by) == Some(&most);
        let Some(oldest) = self.kept.iter().position(talkative) else { return };
        let Some(gone) = self.kept.remove(oldest) else { return };
        let left_out = self.left_out.entry(gone.by).or_default();
        *left_out = (gone.number, left_out.1 + 1);
        if self.left_out.len() > WINDOWS_MAX {
            self.left_out.pop_first();
        }
    }

    fn between(&self, number: u64, before: u64, now: Now) -> Vec<String> {
        let gaps = self.left_out.iter().filter(|(_, (newest, _))| *newest > number);
        let gap = |(by, (_, count)): (&Option<SessionKey>, &(u64, u64))| match by {
            None => format!("{count} earlier notices were left out: pipemux history"),
            Some(session) => {
                format!("{session}: {count} earlier notices were left out: pipemux logs {session}")
            }
        };
        let newer = self.kept.iter();
        let newer = newer.filter(|notice| notice.number > number && notice.number < before);
        let text =
            |notice: &Notice| notice.text.at_age(now.unix_ms.saturating_sub(notice.at.unix_ms));
        gaps.map(gap).chain(newer.map(text)).collect()
    }
}

fn age(ms: u64) -> String {
    match ms / 1000 {
        0 => "just now".into(),
        seconds @ 1..=119 => format!("{seconds} s ago"),
        seconds @ 120..=7199 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_after(notices: &Notices, number: u64, now: Now) -> Vec<String> {
        let (own, of_apps) = notices.after(number, 0, now);
        own.into_iter().chain(of_apps).collect()
    }

    fn at(unix_ms: u64) -> Now {
        Now { mono_ms: 0, unix_ms }
    }

    #[test]
    fn age_is_named_where_the_daemon_says_so_and_nowhere_else() {
        let mut notices = Notices::default();
        notices.add(NoticeText::Plain("notes/main: done {ago}".into()), None, at(0));
        let (before, after) = ("restarted {ago} ".into(), ": {ago}".into());
        notices.add(NoticeText::WithAge { before, after }, None, at(0));
        let texts = all_after(&notices, 0, at(7_200_000));
        assert_eq!(texts, ["notes/main: done {ago}", "restarted {ago} 2 h ago: {ago}"]);
    }

    #[test]
    fn ages_are_in_the_unit_that_reads_best() {
        for (ms, expected) in [
            (999, "just now"),
            (1_000, "1 s ago"),
            (119_999, "119 s ago"),
            (120_000, "2 min ago"),
            (7_199_999, "119 min ago"),
            (7_200_000, "2 h ago"),
        ] {
            assert_eq!(age(ms), expected);
        }
    }

    #[test]
    fn only_newer_notices_are_returned_and_the_oldest_make_room() {
        let mut notices = Notices::default();
        assert!(all_after(&notices, 0, at(0)).is_empty());
        let last = NOTICES_MAX as u64 + 3;
        for number in 1..=last {
            notices.add(NoticeText::Plain(number.to_string()), None, at(0));
        }
        assert_eq!(notices.count(), last);
        assert_eq!(
            all_after(&notices, last - 2, at(0)),
            [(last - 1).to_string(), last.to_string()]
        );
        let all = all_after(&notices, 0, at(0));
        assert_eq!(all.len(), NOTICES_MAX + 1);
        assert_eq!(all[0], "3 earlier notices were left out: pipemux history");
        assert_eq!(all_after(&notices, 4, at(0)).len(), NOTICES_MAX - 1, "without the gap");
        assert!(all_after(&notices, last, at(0)).is_empty());
        assert!(all_after(&notices, last + 5, at(0)).is_empty());
    }

    #[test]
    fn newest_notices_have_no_age_and_are_left_out_of_those_that_are_told() {
        let mut notices = Notices::default();
        let session = |name: &str| SessionKey { workspace: None, addr: name.parse().unwrap() };
        let with_age = |before: &str| NoticeText::WithAge {
            before: format!("{before} was restarted "),
            after: ": it crashed".into(),
        };
        notices.add("first".to_owned().into(), None, at(0));
        notices.add("second".to_owned().into(), Some(session("notes/main")), at(0));
        notices.add(with_age("a"), None, at(0));
        assert_eq!(notices.newest(2), ["second", "a was restarted: it crashed"]);
        let told = |newest: usize| {
            let (own, of_apps) = notices.after(0, newest, at(5_000));
            [own, of_apps].concat()
        };
        assert_eq!(told(2), ["first"]);
        assert_eq!(told(0), ["first", "a was restarted 5 s ago: it crashed", "second"]);
        assert!(told(9).is_empty());
    }

    #[test]
    fn talkative_app_pushes_out_only_its_own_notices_and_the_gap_is_told() {
        let session = |name: &str| SessionKey { workspace: None, addr: name.parse().unwrap() };
        let mut notices = Notices::default();
        let mut say = |by: Option<&str>, text: String| {
            notices.add(NoticeText::Plain(text), by.map(session), at(0));
        };
        say(None, "tame/main was restarted".into());
        say(Some("quiet/main"), "quiet/main: done".into());
        for number in 0..4 * APP_NOTICES_MAX {
            say(Some("loud/main"), format!("loud/main: {number}"));
        }
        let told = all_after(&notices, 0, at(0));
        assert_eq!(told[0], "tame/main was restarted");
        assert!(told.contains(&"quiet/main: done".to_owned()), "{told:?}");
        let gap = format!("loud/main: {} earlier notices were left out", 3 * APP_NOTICES_MAX + 1);
        assert!(told[1].starts_with(&gap), "{told:?}");
        assert_eq!(told.len(), APP_NOTICES_MAX + 2);
        assert_eq!(told.last(), Some(&format!("loud/main: {}", 4 * APP_NOTICES_MAX - 1)));
    }
}
