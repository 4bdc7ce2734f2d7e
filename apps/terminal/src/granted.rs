//! What an answer allowed to later calls of its run: each command as often as the question showed it.

use std::collections::VecDeque;

use crate::limits::GRANTED_RUNS_MAX;

/// Commands that were allowed to runs which haven't come to them yet. It isn't saved: after a restart they are asked for.
#[derive(Debug, Default)]
pub struct Granted {
    /// The runs, the newest last, each with the identities of its commands.
    runs: VecDeque<(String, Vec<String>)>,
}

impl Granted {
    /// Notes what a run may start later.
    pub fn add(&mut self, run_id: &str, identities: impl IntoIterator<Item = String>) {
        let identities: Vec<String> = identities.into_iter().collect();
        if identities.is_empty() {
            return;
        }
        let at = self.runs.iter().position(|(run, _)| run == run_id);
        let mut known = at.and_then(|at| self.runs.remove(at)).map_or_else(Vec::new, |run| run.1);
        known.extend(identities);
        self.runs.push_back((run_id.to_owned(), known));
        if self.runs.len() > GRANTED_RUNS_MAX {
            self.runs.pop_front();
        }
    }

    /// Returns how often a run may still start a command.
    pub fn times(&self, run_id: &str, identity: &str) -> usize {
        let of_run = self.runs.iter().filter(|(run, _)| run == run_id);
        of_run.flat_map(|(_, known)| known).filter(|known| *known == identity).count()
    }

    /// Takes commands away that a run starts now, each once.
    pub fn take(&mut self, run_id: &str, identities: &[String]) {
        let Some((_, known)) = self.runs.iter_mut().find(|(run, _)| run == run_id) else { return };
        for identity in identities {
            if let Some(at) = known.iter().position(|known| known == identity) {
                known.swap_remove(at);
            }
        }
        self.runs.retain(|(_, known)| !known.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_granted_to_its_run_as_often_as_it_was_shown() {
        let mut granted = Granted::default();
        granted.add("r1", ["a", "a", "b"].map(str::to_owned));
        assert_eq!((granted.times("r1", "a"), granted.times("r1", "b")), (2, 1));
        assert_eq!((granted.times("r1", "c"), granted.times("r2", "a")), (0, 0));
        granted.take("r2", &["a".to_owned()]);
        granted.take("r1", &["a".to_owned(), "b".to_owned()]);
        assert_eq!((granted.times("r1", "a"), granted.times("r1", "b")), (1, 0));
        granted.take("r1", &["a".to_owned()]);
        assert!(granted.runs.is_empty());
    }

    #[test]
    fn oldest_runs_are_forgotten() {
        let mut granted = Granted::default();
        for run in 0..=GRANTED_RUNS_MAX {
            granted.add(&run.to_string(), ["a".to_owned()]);
        }
        assert_eq!(granted.runs.len(), GRANTED_RUNS_MAX);
        assert_eq!((granted.times("0", "a"), granted.times("1", "a")), (0, 1));
    }
}
