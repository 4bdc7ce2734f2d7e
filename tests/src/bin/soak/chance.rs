//! Seeded choices.

/// A row of numbers that looks random and is the same for the same seed.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The row of that seed, a different one for each of its users.
    pub fn new(seed: u64, user: u64) -> Self {
        let mut chance = Self(seed ^ user.wrapping_mul(0xa076_1d64_78bd_642f));
        chance.next();
        chance
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below that one; 0 when there is none.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        among.get(self.below(among.len()))
    }

    /// A time around the mean, none twice as long.
    pub fn around(&mut self, mean_s: f64) -> std::time::Duration {
        let share = self.below(2001) as f64 / 1000.0;
        std::time::Duration::from_secs_f64((mean_s * share).max(0.0))
    }
}
