//! Many times as a few figures.

use std::time::Duration;

/// Microseconds of rounds, of the floor and of PipeMux.
#[derive(Debug, Default)]
pub struct Pairs {
    floor: Vec<f64>,
    ours: Vec<f64>,
    ratios: Vec<f64>,
}

impl Pairs {
    /// Takes a round of each; of a round the median counts.
    pub fn add(&mut self, floor: Vec<Duration>, ours: Vec<Duration>) {
        let (floor, ours) = (middle(micros(floor)), middle(micros(ours)));
        self.floor.push(floor);
        self.ours.push(ours);
        self.ratios.push(ours / floor);
    }

    /// The medians over all rounds: of the floor, of PipeMux, and of their ratios.
    pub fn medians(self) -> (f64, f64, f64) {
        (middle(self.floor), middle(self.ours), middle(self.ratios))
    }
}

/// The median; of nothing it is no number.
pub fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn micros(times: Vec<Duration>) -> Vec<f64> {
    times.into_iter().map(|time| time.as_secs_f64() * 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_that_of_its_round() {
        let times = |us: &[u64]| us.iter().map(|us| Duration::from_micros(*us)).collect::<Vec<_>>();
        let mut pairs = Pairs::default();
        // A machine that gets ten times slower meanwhile changes no ratio.
        pairs.add(times(&[9, 10, 11]), times(&[20, 20, 900]));
        pairs.add(times(&[90, 100, 110]), times(&[200, 200, 200]));
        pairs.add(times(&[100]), times(&[200]));
        assert_eq!(pairs.medians(), (100.0, 200.0, 2.0));
        assert!(middle(Vec::new()).is_nan());
    }
}
