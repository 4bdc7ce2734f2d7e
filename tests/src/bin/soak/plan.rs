//! What the command line asks for.

use std::path::PathBuf;

/// Runs a daemon with many sessions under random acts and random kills, and checks that nothing that was
/// answered as done is lost, nothing that was refused is done, epochs never go back and memory stays
/// flat. Prints its figures; exit status 1 when a check failed.
///
/// The first half of the time also the daemon and the launcher are killed; in the second half only apps
/// and clients, so that the daemon's memory can be seen over a long life.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "soak")]
pub struct Plan {
    /// How long, in minutes.
    #[arg(long, default_value_t = 1.0)]
    pub minutes: f64,
    /// Sessions, of every ten: six editors, three notebooks, one misbehaving app.
    #[arg(long, default_value_t = 50)]
    pub sessions: usize,
    /// Clients, two to a workspace.
    #[arg(long, default_value_t = 10)]
    pub clients: usize,
    /// Milliseconds that a client waits between two acts, on average.
    #[arg(long, default_value_t = 60)]
    pub pace_ms: u64,
    /// Seconds between two kills of an app, on average.
    #[arg(long, default_value_t = 2.0)]
    pub kill_app_s: f64,
    /// Seconds between two kills of the daemon or the launcher, on average.
    #[arg(long, default_value_t = 60.0)]
    pub kill_daemon_s: f64,
    /// Seconds between two samples of memory.
    #[arg(long, default_value_t = 10.0)]
    pub sample_s: f64,
    /// Begins the same row of choices again.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where the samples are written, as CSV.
    #[arg(long)]
    pub csv: Option<PathBuf>,
    /// Where memory over time is drawn, as SVG.
    #[arg(long)]
    pub svg: Option<PathBuf>,
}

/// What runs in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An editor with one file.
    Editor,
    /// A notebook.
    Notebook,
    /// The app that may be told to fall.
    Rogue,
}

/// One session of the plan.
#[derive(Debug, Clone)]
pub struct Place {
    /// What runs there.
    pub kind: Kind,
    /// `editor/s7`
    pub session: String,
    /// The editor's file.
    pub file: String,
}

impl Plan {
    /// How many workspaces there are.
    pub fn workspaces(&self) -> usize {
        self.clients.div_ceil(2).max(1)
    }

    /// The sessions of a workspace.
    pub fn places(&self, workspace: usize) -> Vec<Place> {
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
                let (session, file) = (format!("{provider}/s{number}"), format!("s{number}.txt"));
                Place { kind, session, file }
            })
            .collect()
    }
}
