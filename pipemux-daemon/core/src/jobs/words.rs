//! Jobs in sentences, which quote apps: who shows them makes them inert.

use pipemux_proto::job::JobState;

use crate::foreign::quote;
use crate::jobs::Job;

impl Job {
    /// Describes how far it is: `40 % · compiling`. Empty if nothing is known.
    pub fn progress_words(&self) -> String {
        let share = match (self.progress.done, self.progress.total) {
            (0, 0) => String::new(),
            (done, 0) => done.to_string(),
            (done, total) => {
                format!("{} %", u128::from(done.min(total)) * 100 / u128::from(total))
            }
        };
        let parts = [share.as_str(), quote::in_sentence(&self.progress.text)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    }

    /// Describes its state: `job 3 done after 8.4 s: 12 passed`, `job 3 still runs after 8.4 s: 40
    /// %`.
    pub fn state_words(&self, unix_ms: u64) -> String {
        let time = duration(self.duration(unix_ms));
        let (state, told) = match self.state {
            JobState::Running => (format!("still runs after {time}"), self.progress_words()),
            ended => {
                let result = quote::in_sentence(&self.result).to_owned();
                (format!("{} after {time}", ended.word()), result)
            }
        };
        let colon = if told.is_empty() { "" } else { ": " };
        format!("job {} {state}{colon}{told}", self.name())
    }

    /// Describes its end in one line, with the way to its output.
    pub fn end_line(&self, unix_ms: u64) -> String {
        let output = match self.output.is_empty() {
            true => String::new(),
            false => format!(" · output: pipemux read job:{}", self.name()),
        };
        format!("{} · {}{output}", self.state_words(unix_ms), self.what())
    }

    /// Says what it does.
    pub fn what(&self) -> &str {
        quote::in_sentence(&self.brief)
    }
}

/// Describes a duration: `8.4 s`, `2 min 5 s`, `3 h 20 min`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds}.{} s", ms % 1000 / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
