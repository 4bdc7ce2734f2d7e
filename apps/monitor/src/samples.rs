//! The samples of one figure, when they are taken, and what is told of them.

use std::thread;
use std::time::{Duration, Instant};

use docui::Fault;

use crate::limits::{WATCH_EVERY_MIN, WATCH_SECONDS_MAX};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// The load average over a minute.
    Load,
    /// The CPU share of all cores together.
    Cpu,
    /// The memory in use.
    Mem,
}

/// The times of samples: one at the beginning, and then one after each interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The number of intervals, which is one less than the number of samples.
    pub intervals: u32,
    /// The time between two samples.
    pub every: Duration,
}

impl Schedule {
    /// Makes a schedule from the arguments of a call.
    ///
    /// # Errors
    /// They are out of their bounds.
    pub fn new(seconds: i64, every: i64) -> Result<Self, Fault> {
        if !(WATCH_EVERY_MIN..=WATCH_SECONDS_MAX).contains(&every) {
            let bounds = format!("{WATCH_EVERY_MIN} to {WATCH_SECONDS_MAX}");
            return Err(Fault::usage(format!("every: expected {bounds} seconds, not {every}")));
        }
        if !(every..=WATCH_SECONDS_MAX).contains(&seconds) {
            let message =
                format!("seconds: expected {every} to {WATCH_SECONDS_MAX}, not {seconds}");
            return Err(Fault::usage(message).hint("watch again for longer"));
        }
        let intervals = u32::try_from(seconds / every).unwrap_or(1);
        Ok(Self { intervals, every: Duration::from_secs(every.unsigned_abs()) })
    }

    pub(crate) fn total(self) -> Duration {
        self.every * self.intervals
    }

    /// Calls `take` at the time of each sample.
    pub(crate) fn each(self, mut take: impl FnMut() -> Result<(), Fault>) -> Result<(), Fault> {
        let began = Instant::now();
        for number in 0..=self.intervals {
            // Counted from the beginning, so that the intervals don't grow by what a sample takes.
            thread::sleep((self.every * number).saturating_sub(began.elapsed()));
            take()?;
        }
        Ok(())
    }
}

/// The description of the samples in an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// A summary in one line.
    pub brief: String,
    /// One line for each process that was watched.
    pub rows: String,
}

impl Told {
    pub(crate) fn line(brief: String) -> Self {
        Self { brief, rows: String::new() }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// The sampled figures, in order.
    pub values: Vec<f64>,
    /// The whole that the figures are part of, if any: the machine's memory.
    pub whole: f64,
}

const GB: f64 = (1u64 << 30) as f64;

impl Samples {
    /// Tells the samples and their trend in one line: `load every 3 s: 0.52 0.60 0.71 · rising`.
    pub fn tell(&self, figure: Figure, every: Duration) -> String {
        let name = match figure {
            Figure::Load => "load",
            Figure::Cpu => "CPU",
            Figure::Mem => "memory used",
        };
        format!("{name} every {} s: {}", every.as_secs(), self.figures_and_trend(figure))
    }

    /// `0.52 0.60 0.71 · rising`
    pub(crate) fn figures_and_trend(&self, figure: Figure) -> String {
        let unit = match figure {
            Figure::Load => String::new(),
            Figure::Cpu => "%".to_owned(),
            Figure::Mem => format!(" of {:.1} GB", self.whole / GB),
        };
        let value = |value: &f64| match figure {
            Figure::Load => format!("{:.2}", value.max(0.0)),
            Figure::Cpu => format!("{:.0}", value.max(0.0)),
            Figure::Mem => format!("{:.2}", value / GB),
        };
        let values: Vec<_> = self.values.iter().map(value).collect();
        format!("{}{unit} · {}", values.join(" "), self.trend(figure))
    }

    /// Says whether the later half is above or below the earlier one by more than figures vary by
    /// chance.
    fn trend(&self, figure: Figure) -> &'static str {
        let half = self.values.len().div_ceil(2);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let (Some(early), Some(late)) =
            (self.values.get(..half), self.values.get(self.values.len() - half..))
        else {
            return "steady";
        };
        let (early, late) = (mean(early), mean(late));
        let tolerance = match figure {
            Figure::Load => 0.02_f64.max(early * 0.03),
            Figure::Cpu => 5.0,
            Figure::Mem => self.whole * 0.005,
        };
        match late - early {
            change if change > tolerance => "rising",
            change if change < -tolerance => "falling",
            _ => "steady",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(figure: Figure, values: &[f64]) -> String {
        let samples = Samples { values: values.to_vec(), whole: 24.0 * GB };
        samples.tell(figure, Duration::from_secs(3))
    }

    #[test]
    fn samples_and_trend_are_told_in_one_line() {
        assert_eq!(
            told(Figure::Load, &[0.52, 0.6, 0.71]),
            "load every 3 s: 0.52 0.60 0.71 · rising"
        );
        assert_eq!(
            told(Figure::Load, &[2.0, 1.8, 1.7, 1.6]),
            "load every 3 s: 2.00 1.80 1.70 1.60 · falling"
        );
        assert_eq!(
            told(Figure::Load, &[0.5, 0.51, 0.5, 0.5]),
            "load every 3 s: 0.50 0.51 0.50 0.50 · steady"
        );
        assert_eq!(told(Figure::Cpu, &[12.4, 80.0]), "CPU every 3 s: 12 80% · rising");
        let memory = [5.0 * GB, 5.01 * GB, 5.0 * GB];
        assert_eq!(
            told(Figure::Mem, &memory),
            "memory used every 3 s: 5.00 5.01 5.00 of 24.0 GB · steady"
        );
        assert_eq!(told(Figure::Load, &[]), "load every 3 s:  · steady");
    }

    #[test]
    fn schedule_keeps_to_its_bounds() {
        let schedule = Schedule::new(9, 3).unwrap();
        assert_eq!((schedule.intervals, schedule.every), (3, Duration::from_secs(3)));
        assert_eq!(Schedule::new(WATCH_SECONDS_MAX, 1).unwrap().intervals, 25);
        for (seconds, every, part) in [
            (0, 1, "seconds: expected 1 to 25, not 0"),
            (2, 3, "seconds: expected 3 to 25, not 2"),
            (26, 1, "seconds: expected 1 to 25, not 26"),
            (9, 0, "every: expected 1 to 25 seconds, not 0"),
            (i64::MAX, i64::MIN, "every: "),
        ] {
            let fault = Schedule::new(seconds, every).unwrap_err();
            assert!(fault.message.starts_with(part), "{fault}");
        }
    }
}
