//! When the machine's processes are looked at, and when the apps' are counted.
//!
//! A look reads one line that tells how many processes and threads there are; counting reads about every
//! process. As long as that number stands still, no app can have grown: an idle desk is looked at once a
//! second and not counted. What starts or grows is looked at ten times a second at once.

use std::time::{Duration, Instant};

/// Between two looks while something goes on, and while nothing does.
const LOOK: Duration = Duration::from_millis(100);
const CALM_LOOK: Duration = Duration::from_secs(1);
/// Looks without growth after which nothing goes on.
const CALM: u32 = 5;
/// So many more of the machine's between two looks are growth.
const JUMP: u64 = 8;
/// So many more of the machine's since the apps' were counted, and they are counted at once.
const GROWTH: u64 = 16;
/// Fewer, but enough to take an app past its bound: counted at the latest after that time.
const COUNT: Duration = Duration::from_secs(2);
/// Counted at the latest after that time: as others end, an app can grow unseen.
const COUNT_ANYWAY: Duration = Duration::from_secs(60);

/// The last look and the last count.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    looked: Option<(Instant, u64)>,
    /// When apps' processes were counted, and the fewest of the machine's that there were since.
    counted: Option<(Instant, u64)>,
    /// How many more processes an app may have at least, as of the last count.
    slack: u64,
    calm: u32,
}

impl Looks {
    /// Takes note that something goes on: the next looks follow soon.
    pub(crate) fn stir(&mut self) {
        self.calm = 0;
    }

    /// Takes note of a new app that may have so many processes; the first one is counted, for nobody
    /// has looked before. The next look is a moment away, so that it isn't in the way of the start.
    pub(crate) fn app_starts(&mut self, most: u64, first: bool, now: Instant) {
        match &mut self.looked {
            // Not when looks are frequent already: many starts don't put them off.
            Some((at, _)) if self.calm >= CALM => *at = now,
            Some(_) => {}
            None => self.looked = Some((now, 0)),
        }
        self.stir();
        self.slack = self.slack.min(most.saturating_sub(1));
        if first {
            self.counted = None;
        }
    }

    /// How long until the next look.
    pub(crate) fn pause(&self, now: Instant) -> Duration {
        let every = if self.calm < CALM { LOOK } else { CALM_LOOK };
        match self.looked {
            Some((at, _)) => every.saturating_sub(now.saturating_duration_since(at)),
            None => LOOK,
        }
    }

    /// True when it is time for a look.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.looked.is_none() || self.pause(now).is_zero()
    }

    /// Takes how many processes and threads the machine has; true when those of the apps are to be
    /// counted.
    pub(crate) fn look(&mut self, total: u64, now: Instant) -> bool {
        let before = self.looked.replace((now, total)).map_or(total, |(_, before)| before);
        self.calm = if total >= before + JUMP { 0 } else { self.calm.saturating_add(1) };
        let Some((at, fewest)) = &mut self.counted else { return true };
        *fewest = total.min(*fewest);
        let (since, grown) = (now.saturating_duration_since(*at), total - *fewest);
        grown >= GROWTH || (grown > self.slack && since >= COUNT) || since >= COUNT_ANYWAY
    }

    /// Takes note of a count: the machine's processes when it began, and how many more an app may have
    /// at least; none: one had too many, and the next look counts again.
    pub(crate) fn count(&mut self, total: u64, slack: Option<u64>, now: Instant) {
        self.counted = slack.map(|_| (now, total));
        self.slack = slack.unwrap_or_default();
        if slack.is_none() {
            self.stir();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks when they are due, for that many milliseconds; how often, and how often apps were counted.
    struct Desk {
        looks: Looks,
        now: Instant,
        slack: Option<u64>,
    }

    impl Desk {
        fn new(most: u64) -> Self {
            let mut looks = Looks::default();
            let now = Instant::now();
            looks.app_starts(most, true, now);
            Self { looks, now, slack: Some(most - 1) }
        }

        fn run(&mut self, ms: u64, mut total: impl FnMut() -> u64) -> (u32, u32) {
            let until = self.now + Duration::from_millis(ms);
            let (mut looked, mut counted) = (0, 0);
            while self.now < until {
                if self.looks.is_due(self.now) {
                    looked += 1;
                    let total = total();
                    if self.looks.look(total, self.now) {
                        counted += 1;
                        self.looks.count(total, self.slack, self.now);
                    }
                }
                self.now += Duration::from_millis(10);
            }
            (looked, counted)
        }
    }

    #[test]
    fn an_idle_desk_is_looked_at_once_a_second_and_not_counted() {
        let mut desk = Desk::new(256);
        assert_eq!(desk.run(1_000, || 500).1, 1);
        let (looked, counted) = desk.run(40_000, || 500);
        assert!((38..=41).contains(&looked), "{looked}");
        assert_eq!(counted, 0);
        assert_eq!(desk.run(60_000, || 500).1, 1);
        // What comes and goes elsewhere is no growth.
        let mut wobble = 0;
        let (looked, counted) = desk.run(40_000, || {
            wobble += 3;
            500 + wobble % 7
        });
        assert!(looked <= 41 && counted <= 1, "{looked}, {counted}");
    }

    #[test]
    fn what_grows_is_counted_at_the_first_look_that_sees_it_and_looked_at_often_from_then_on() {
        let mut desk = Desk::new(256);
        desk.run(10_000, || 500);
        let mut total = 500;
        let (looked, counted) = desk.run(2_000, || {
            total += 100;
            total
        });
        assert!(looked >= 10 && counted == looked, "{looked}, {counted}");
        // Slow growth adds up.
        desk.run(10_000, || total);
        let (_, counted) = desk.run(40_000, || {
            total += 1;
            total
        });
        assert!((2..=4).contains(&counted), "{counted}");
    }

    #[test]
    fn an_app_near_its_bound_is_counted_as_soon_as_one_more_could_pass_it() {
        let mut desk = Desk::new(2);
        desk.run(10_000, || 500);
        assert_eq!(desk.run(4_000, || 501).1, 0, "it may have one more");
        assert_eq!(desk.run(2_000, || 502).1, 1);
        // Apps that start bring their own bound, and looks soon.
        let mut desk = Desk::new(256);
        desk.run(10_000, || 500);
        desk.looks.app_starts(1, false, desk.now);
        assert_eq!(desk.looks.pause(desk.now), LOOK);
        assert_eq!(desk.run(1_000, || 501).1, 1);
    }

    #[test]
    fn starts_in_a_row_do_not_put_looks_off() {
        let mut desk = Desk::new(256);
        desk.run(10_000, || 500);
        let mut looked = 0;
        for _ in 0..100 {
            desk.looks.app_starts(256, false, desk.now);
            looked += desk.run(50, || 500).0;
        }
        assert!((45..=50).contains(&looked), "{looked}");
    }

    #[test]
    fn an_app_that_has_too_many_is_counted_at_every_look_until_it_has_not() {
        let mut desk = Desk::new(256);
        desk.slack = None;
        assert_eq!(desk.run(2_000, || 500), (19, 19), "the first is a moment after the start");
        desk.slack = Some(9);
        assert_eq!(desk.run(2_000, || 500).1, 1);
    }

    #[test]
    fn what_ends_elsewhere_hides_growth_for_a_minute_at_most() {
        let mut desk = Desk::new(256);
        desk.run(1_000, || 500);
        desk.run(3_000, || 400);
        assert_eq!(desk.run(1_000, || 416).1, 1, "the fewest since the count are what counts");
        assert_eq!(desk.run(61_000, || 416).1, 1);
    }
}
