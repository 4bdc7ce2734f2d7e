//! Notices: what all readers of a workspace should know, each shown once to each of them.

use std::collections::VecDeque;

use crate::event::Now;
use crate::limits::NOTICES_MAX;

/// The text of a notice. Only the daemon's own sentences name the notice's age: nothing in an app's words
/// is ever replaced.
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

/// The newest notices of a workspace.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// Oldest first; the newest one's number is the count.
    kept: VecDeque<Notice>,
    count: u64,
}

#[derive(Debug)]
struct Notice {
    text: NoticeText,
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
}

impl From<String> for NoticeText {
    fn from(text: String) -> Self {
        NoticeText::Plain(text)
    }
}

impl Notices {
    /// Adds a notice; the oldest makes room.
    pub fn add(&mut self, text: NoticeText, at: Now) {
        self.count += 1;
        self.kept.push_back(Notice { text, at });
        if self.kept.len() > NOTICES_MAX {
            self.kept.pop_front();
        }
    }

    /// Returns the number of notices so far, which is also the newest one's number.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the notices that are newer than a number, as they read now.
    pub fn after(&self, number: u64, now: Now) -> Vec<String> {
        let newer = usize::try_from(self.count.saturating_sub(number)).unwrap_or(usize::MAX);
        let first = self.kept.len().saturating_sub(newer);
        let newer = self.kept.range(first..);
        let text =
            |notice: &Notice| notice.text.at_age(now.unix_ms.saturating_sub(notice.at.unix_ms));
        newer.map(text).collect()
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

    fn at(unix_ms: u64) -> Now {
        Now { mono_ms: 0, unix_ms }
    }

    #[test]
    fn age_is_named_where_the_daemon_says_so_and_nowhere_else() {
        let mut notices = Notices::default();
        notices.add(NoticeText::Plain("notes/main: done {ago}".into()), at(0));
        let (before, after) = ("restarted {ago} ".into(), ": {ago}".into());
        notices.add(NoticeText::WithAge { before, after }, at(0));
        let texts = notices.after(0, at(7_200_000));
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
        assert!(notices.after(0, at(0)).is_empty());
        let last = NOTICES_MAX as u64 + 3;
        for number in 1..=last {
            notices.add(NoticeText::Plain(number.to_string()), at(0));
        }
        assert_eq!(notices.count(), last);
        assert_eq!(notices.after(last - 2, at(0)), [(last - 1).to_string(), last.to_string()]);
        assert_eq!(notices.after(0, at(0)).len(), NOTICES_MAX);
        assert!(notices.after(last, at(0)).is_empty());
        assert!(notices.after(last + 5, at(0)).is_empty());
    }
}
