//! Decides when to count the apps' processes.
//!
//! A check reads one line, which tells how many processes and threads the machine has. A count
//! reads about every process. While that number doesn't grow, no app can have grown: an idle
//! machine is checked once a second and not counted. While apps start or the number grows, it is
//! checked ten times a second.

use std::time::{Duration, Instant};

/// Pause between two checks while processes come and go, and while none do.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Checks without growth after which the machine counts as idle.
const IDLE_AFTER_CHECKS: u32 = 5;
/// Growth of the machine's processes between two checks that counts as activity.
const ACTIVITY_GROWTH: u64 = 8;
/// Growth of the machine's processes since the last count after which the apps' processes are
/// counted at once.
const COUNT_GROWTH: u64 = 16;
/// How long a count is put off when the growth is smaller, but large enough to take an app past its
/// limit.
const COUNT_DELAY: Duration = Duration::from_secs(2);
/// Longest time between two counts: when other processes end, an app can grow without the machine's
/// growing.
const COUNT_INTERVAL_MAX: Duration = Duration::from_secs(60);

/// The times and results of the last check and the last count.
#[derive(Debug, Default)]
pub(crate) struct ProcessLimitSchedule {
    last_check: Option<(Instant, u64)>,
    /// The time of the last count, and the machine's lowest number of processes since.
    last_count: Option<(Instant, u64)>,
    /// The number of further processes that each app may have, according to the last count.
    slack: u64,
    quiet_checks: u32,
}

impl ProcessLimitSchedule {
    /// Notes activity: the next checks follow soon.
    pub(crate) fn record_activity(&mut self) {
        self.quiet_checks = 0;
    }

    /// Notes a new app that may have `max` processes. The `first` app with a limit causes a count,
    /// because nobody has counted before. The next check is a moment away, so that it doesn't delay
    /// the start.
    pub(crate) fn record_app_start(&mut self, max: u64, first: bool, now: Instant) {
        match &mut self.last_check {
            // Not while checks are frequent anyway, or many starts would put them off again and
            // again.
            Some((at, _)) if self.quiet_checks >= IDLE_AFTER_CHECKS => *at = now,
            Some(_) => {}
            None => self.last_check = Some((now, 0)),
        }
        self.record_activity();
        self.slack = self.slack.min(max.saturating_sub(1));
        if first {
            self.last_count = None;
        }
    }

    /// Returns how long until the next check.
    pub(crate) fn time_to_next_check(&self, now: Instant) -> Duration {
        let every = if self.quiet_checks < IDLE_AFTER_CHECKS {
            CHECK_INTERVAL
        } else {
            IDLE_CHECK_INTERVAL
        };
        match self.last_check {
            Some((at, _)) => every.saturating_sub(now.saturating_duration_since(at)),
            None => CHECK_INTERVAL,
        }
    }

    /// True when a check is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.last_check.is_none() || self.time_to_next_check(now).is_zero()
    }

    /// Records a check, which found that many processes and threads on the machine; returns whether
    /// the apps' processes must be counted.
    pub(crate) fn record_check(&mut self, total: u64, now: Instant) -> bool {
        let before = self.last_check.replace((now, total)).map_or(total, |(_, before)| before);
        self.quiet_checks =
            if total >= before + ACTIVITY_GROWTH { 0 } else { self.quiet_checks.saturating_add(1) };
        let Some((at, fewest)) = &mut self.last_count else { return true };
        *fewest = total.min(*fewest);
        let (since, grown) = (now.saturating_duration_since(*at), total - *fewest);
        grown >= COUNT_GROWTH
            || (grown > self.slack && since >= COUNT_DELAY)
            || since >= COUNT_INTERVAL_MAX
    }

    /// Records a count: the machine's processes when it began, and how many more each app may have.
    /// With `None` an app had too many, and the next check counts again.
    pub(crate) fn record_count(&mut self, total: u64, slack: Option<u64>, now: Instant) {
        self.last_count = slack.map(|_| (now, total));
        self.slack = slack.unwrap_or_default();
        if slack.is_none() {
            self.record_activity();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks when that is due, for so many milliseconds; returns how often it checked and how
    /// often it counted.
    struct Machine {
        schedule: ProcessLimitSchedule,
        now: Instant,
        slack: Option<u64>,
    }

    impl Machine {
        fn new(max: u64) -> Self {
            let mut schedule = ProcessLimitSchedule::default();
            let now = Instant::now();
            schedule.record_app_start(max, true, now);
            Self { schedule, now, slack: Some(max - 1) }
        }

        fn run(&mut self, ms: u64, mut total: impl FnMut() -> u64) -> (u32, u32) {
            let until = self.now + Duration::from_millis(ms);
            let (mut looked, mut counted) = (0, 0);
            while self.now < until {
                if self.schedule.is_due(self.now) {
                    looked += 1;
                    let total = total();
                    if self.schedule.record_check(total, self.now) {
                        counted += 1;
                        self.schedule.record_count(total, self.slack, self.now);
                    }
                }
                self.now += Duration::from_millis(10);
            }
            (looked, counted)
        }
    }

    #[test]
    fn idle_machine_is_checked_once_a_second_and_not_counted() {
        let mut machine = Machine::new(256);
        assert_eq!(machine.run(1_000, || 500).1, 1);
        let (looked, counted) = machine.run(40_000, || 500);
        assert!((38..=41).contains(&looked), "{looked}");
        assert_eq!(counted, 0);
        assert_eq!(machine.run(60_000, || 500).1, 1);
        // Other programs that come and go are no growth.
        let mut wobble = 0;
        let (looked, counted) = machine.run(40_000, || {
            wobble += 3;
            500 + wobble % 7
        });
        assert!(looked <= 41 && counted <= 1, "{looked}, {counted}");
    }

    #[test]
    fn growth_is_counted_at_once_and_checked_often() {
        let mut machine = Machine::new(256);
        machine.run(10_000, || 500);
        let mut total = 500;
        let (looked, counted) = machine.run(2_000, || {
            total += 100;
            total
        });
        assert!(looked >= 10 && counted == looked, "{looked}, {counted}");
        // Slow growth adds up.
        machine.run(10_000, || total);
        let (_, counted) = machine.run(40_000, || {
            total += 1;
            total
        });
        assert!((2..=4).contains(&counted), "{counted}");
    }

    #[test]
    fn app_near_its_limit_is_counted_as_soon_as_it_could_exceed_it() {
        let mut machine = Machine::new(2);
        machine.run(10_000, || 500);
        assert_eq!(machine.run(4_000, || 501).1, 0, "it may have one more");
        assert_eq!(machine.run(2_000, || 502).1, 1);
        // A new app brings its own limit, and checks follow soon.
        let mut machine = Machine::new(256);
        machine.run(10_000, || 500);
        machine.schedule.record_app_start(1, false, machine.now);
        assert_eq!(machine.schedule.time_to_next_check(machine.now), CHECK_INTERVAL);
        assert_eq!(machine.run(1_000, || 501).1, 1);
    }

    #[test]
    fn repeated_starts_do_not_delay_checks() {
        let mut machine = Machine::new(256);
        machine.run(10_000, || 500);
        let mut looked = 0;
        for _ in 0..100 {
            machine.schedule.record_app_start(256, false, machine.now);
            looked += machine.run(50, || 500).0;
        }
        assert!((45..=50).contains(&looked), "{looked}");
    }

    #[test]
    fn app_over_its_limit_is_counted_at_every_check() {
        let mut machine = Machine::new(256);
        machine.slack = None;
        assert_eq!(machine.run(2_000, || 500), (19, 19), "the first is a moment after the start");
        machine.slack = Some(9);
        assert_eq!(machine.run(2_000, || 500).1, 1);
    }

    #[test]
    fn ending_processes_hide_growth_for_a_minute_at_most() {
        let mut machine = Machine::new(256);
        machine.run(1_000, || 500);
        machine.run(3_000, || 400);
        assert_eq!(machine.run(1_000, || 416).1, 1, "the fewest since the count are what counts");
        assert_eq!(machine.run(61_000, || 416).1, 1);
    }
}
