//! The arguments, and the sessions that follow from them.

use std::path::PathBuf;

/// Runs a daemon with many sessions under random edits and random kills. Checks that no edit that
/// was answered as done is lost, that none that was refused is done and that epochs never go back,
/// and prints how memory develops. The exit status is 1 if a check fails.
///
/// The daemon and the launcher are killed only in the first half of the time, so that the daemon's
/// memory can be watched over a long run.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "soak")]
pub struct Plan {
    /// How long the test lasts, in minutes.
    #[arg(long, default_value_t = 1.0)]
    pub minutes: f64,
    /// Number of sessions: of every ten, six editors, three notebooks and one misbehaving app.
    #[arg(long, default_value_t = 50)]
    pub sessions: usize,
    /// Number of clients, two in each workspace.
    #[arg(long, default_value_t = 10)]
    pub clients: usize,
    /// Average pause of a client between two requests, in milliseconds.
    #[arg(long, default_value_t = 60)]
    pub pace_ms: u64,
    /// Average time between two kills of an app, in seconds.
    #[arg(long, default_value_t = 2.0)]
    pub kill_app_s: f64,
    /// Average time between two kills of the daemon or the launcher, in seconds.
    #[arg(long, default_value_t = 60.0)]
    pub kill_daemon_s: f64,
    /// Time between two samples of memory, in seconds.
    #[arg(long, default_value_t = 10.0)]
    pub sample_s: f64,
    /// Seed of the random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Writes the samples to this file as CSV.
    #[arg(long)]
    pub csv: Option<PathBuf>,
    /// Draws memory over time in this file as SVG.
    #[arg(long)]
    pub svg: Option<PathBuf>,
}

/// The app of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An editor with one file.
    Editor,
    /// A notebook.
    Notebook,
    /// `rogue`, which is told to crash.
    Rogue,
}

/// One session of the plan.
#[derive(Debug, Clone)]
pub struct SoakSession {
    /// Its app.
    pub kind: Kind,
    /// Its address, such as `editor/s7`.
    pub address: String,
    /// The editor's file.
    pub file: String,
}

impl Plan {
    /// Returns the number of workspaces.
    pub fn workspaces(&self) -> usize {
        self.clients.div_ceil(2).max(1)
    }

    /// Returns the sessions of a workspace.
    pub fn sessions(&self, workspace: usize) -> Vec<SoakSession> {
        let number = |index: usize| index * self.workspaces() + workspace;
        let here = (0..).map(number).take_while(|number| *number < self.sessions);
        here.enumerate()
            .map(|(index, number)| {
                let kind = match index % 10 {
                    2 | 5 | 8 => Kind::Notebook,
                    9 => Kind::Rogue,
                    _ => Kind::Editor,
                };
                let provider = match kind {
                    Kind::Editor => "editor",
                    Kind::Notebook => "notebook",
                    Kind::Rogue => "rogue",
                };
                let (address, file) = (format!("{provider}/s{number}"), format!("s{number}.txt"));
                SoakSession { kind, address, file }
            })
            .collect()
    }
}
