//! `pipemux bench`: what PipeMux costs on this machine, beside the least that a relay can cost.
//!
//! | module | holds |
//! |---|---|
//! | `home` | a daemon and a state of its own, gone in the end |
//! | `roles` | the small programs that are measured: this one, started for another purpose |
//! | `floor` | a relay that decides nothing, between processes, and a program that does nothing |
//! | `parts` | what is measured |
//! | `times` | many times as a few figures |
//! | `table` | how it is told |
//!
//! Floor and PipeMux take turns in short rounds, so that a machine that gets slower or faster meanwhile
//! does so for both; a ratio is the median of the rounds' ratios.

mod floor;
mod home;
mod parts;
mod roles;
mod table;
mod times;

use std::io::{IsTerminal, Write};

use pipemux_client::ClientError;

use super::ask::Asker;
use home::Home;
use parts::Bench;
pub use roles::role;

/// Measures and prints; returns the exit status.
///
/// # Errors
/// No daemon can be started for it, or it fails meanwhile.
pub fn carry_out(asker: &Asker, quick: bool) -> Result<u8, ClientError> {
    if !home::is_inside() {
        return Home::new()?.run_again();
    }
    let mut bench = Bench::new(&asker.options, quick)?;
    let mut rows = Vec::new();
    let mut bar = Bar::new(Bench::PARTS.len());
    for (name, part) in Bench::PARTS {
        bar.show(name);
        rows.extend(part(&mut bench)?);
    }
    bar.clear();
    Ok(asker.say(&table::text(&rows), &table::data(&rows)))
}

/// What failed of what was measured.
fn cannot(what: &str, why: impl std::fmt::Display) -> ClientError {
    ClientError::invalid(format!("{what}: {why}")).hint("look: pipemux doctor")
}

/// One line that says how far it is, on a terminal only.
struct Bar {
    shown: bool,
    done: usize,
    all: usize,
}

impl Bar {
    fn new(all: usize) -> Self {
        Self { shown: std::io::stderr().is_terminal(), done: 0, all }
    }

    fn show(&mut self, name: &str) {
        if self.shown {
            let full = "█".repeat(self.done * 2);
            let left = "░".repeat((self.all - self.done) * 2);
            self.write(&format!("\r\x1b[K{full}{left} {name}"));
        }
        self.done += 1;
    }

    fn clear(&self) {
        if self.shown {
            self.write("\r\x1b[K");
        }
    }

    fn write(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // Also when a part fails: what is printed next begins at the line's start.
        self.clear();
    }
}
