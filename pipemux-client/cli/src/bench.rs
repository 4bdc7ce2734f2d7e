//! `pipemux bench`: measures what PipeMux costs on this machine, compared with a minimal relay.
//!
//! | module | holds |
//! |---|---|
//! | `temp_home` | a daemon and a state directory for the measurement, removed afterwards |
//! | `roles` | the small programs that take part: this program, started for another purpose |
//! | `floor` | the floor: a relay between processes that makes no decisions, and a program that does nothing |
//! | `measurements` | what is measured |
//! | `memory` | memory of processes, as the system reports it |
//! | `statistics` | medians of rounds |
//! | `table` | how the results are printed |
//!
//! The floor and PipeMux are measured in turn, in short rounds, so that both are affected alike
//! when the machine becomes slower or faster. A ratio is the median of the rounds' ratios.

mod error;
mod floor;
mod measurements;
mod memory;
mod roles;
mod statistics;
mod table;
mod temp_home;

use std::io::{IsTerminal, Write};

use pipemux_client::ClientError;

use super::requester::Requester;
use measurements::Bench;
pub use roles::play_role;
use temp_home::TempHome;

/// Measures and prints the results. Returns the exit status.
///
/// # Errors
/// No daemon can be started for it, or a measurement fails.
pub fn execute(requester: &Requester, quick: bool) -> Result<u8, ClientError> {
    if !temp_home::is_inside() {
        return TempHome::new()?.run_again();
    }
    let mut bench = Bench::new(&requester.options, quick)?;
    let mut rows = Vec::new();
    let mut progress = ProgressBar::new(Bench::MEASUREMENTS.len());
    for (name, measure) in Bench::MEASUREMENTS {
        progress.advance(name);
        rows.extend(measure(&mut bench)?);
    }
    progress.clear();
    Ok(requester.print_own(&table::markdown(&rows), &table::data(&rows)))
}

/// A progress bar on standard error, shown only on a terminal.
struct ProgressBar {
    visible: bool,
    done: usize,
    all: usize,
}

impl ProgressBar {
    fn new(all: usize) -> Self {
        Self { visible: std::io::stderr().is_terminal(), done: 0, all }
    }

    fn advance(&mut self, name: &str) {
        if self.visible {
            let full = "█".repeat(self.done * 2);
            let left = "░".repeat((self.all - self.done) * 2);
            self.write(&format!("\r\x1b[K{full}{left} {name}"));
        }
        self.done += 1;
    }

    fn clear(&self) {
        if self.visible {
            self.write("\r\x1b[K");
        }
    }

    fn write(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        // Also when a measurement fails, so that its error begins at the start of the line.
        self.clear();
    }
}
