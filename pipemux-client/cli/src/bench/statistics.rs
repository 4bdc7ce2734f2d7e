//! Medians of many times.

use std::time::Duration;

/// The times of paired rounds of the floor and of PipeMux, in microseconds.
#[derive(Debug, Default)]
pub struct PairedRounds {
    floor: Vec<f64>,
    ours: Vec<f64>,
    ratios: Vec<f64>,
}

impl PairedRounds {
    /// Adds a round of each. A round counts by its median.
    pub fn add(&mut self, floor: Vec<Duration>, ours: Vec<Duration>) {
        let (floor, ours) = (median(microseconds(floor)), median(microseconds(ours)));
        self.floor.push(floor);
        self.ours.push(ours);
        self.ratios.push(ours / floor);
    }

    /// Returns the medians over all rounds: of the floor, of PipeMux, and of their ratios.
    pub fn medians(self) -> (f64, f64, f64) {
        (median(self.floor), median(self.ours), median(self.ratios))
    }
}

/// Returns the median; not a number when there are no figures.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn microseconds(times: Vec<Duration>) -> Vec<f64> {
    times.into_iter().map(|time| time.as_secs_f64() * 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_the_median_of_the_rounds_ratios() {
        let times = |us: &[u64]| us.iter().map(|us| Duration::from_micros(*us)).collect::<Vec<_>>();
        let mut pairs = PairedRounds::default();
        // A machine that becomes ten times slower in between changes no ratio.
        pairs.add(times(&[9, 10, 11]), times(&[20, 20, 900]));
        pairs.add(times(&[90, 100, 110]), times(&[200, 200, 200]));
        pairs.add(times(&[100]), times(&[200]));
        assert_eq!(pairs.medians(), (100.0, 200.0, 2.0));
        assert!(median(Vec::new()).is_nan());
    }
}
