//! What the built-in apps can do, known without running them: their prototypes as data, and the
//! help that is made of these.
//!
//! The daemon checks calls of an app that never ran, and the command line prints its help; neither
//! starts a process for it. What is known lies in the app's own folder and is read from there when
//! this crate is built:
//!
//! | file | what it has |
//! |---|---|
//! | `manifest.toml` | the program, what it may do and use, and one line that describes it, as any author writes it |
//! | `actions.jsonl` | the prototypes, one a line, as the app itself gives them: a test compares the two, and writes the file with `INSTA_UPDATE=always` |
//! | `guide.txt` | what a person decides about the help: the order, what stands on one line, and a few words |
//!
//! Signatures in the help come from the prototypes only, and what no prototype has is left out, so
//! help never shows an action that doesn't exist. ARCHITECTURE.md lists what a new app touches.
#![forbid(unsafe_code)]

mod guide;

use pipemux_proto::prototype::{Prominence, Prototype};

pub use guide::MissingFromPrototypes;

/// A built-in app of PipeMux.
#[derive(Debug)]
pub struct App {
    /// The app's provider id.
    pub id: &'static str,
    pub manifest: &'static str,
    actions: &'static str,
    guide: &'static str,
}

/// Reads what the folder of an app says of it.
macro_rules! app {
    ($folder:literal) => {
        App {
            id: $folder,
            manifest: include_str!(concat!("../../", $folder, "/manifest.toml")),
            actions: include_str!(concat!("../../", $folder, "/actions.jsonl")),
            guide: include_str!(concat!("../../", $folder, "/guide.txt")),
        }
    };
}

/// The built-in apps; the first is [`default_app`].
pub const APPS: [App; 6] = [
    app!("editor"),
    app!("terminal"),
    app!("notebook"),
    app!("memotree"),
    app!("planner"),
    app!("monitor"),
];

/// Returns the app that hints name when the user named none: the one that opens files.
pub fn default_app() -> &'static App {
    let [first, ..] = &APPS;
    first
}

/// Returns the built-in app of that name.
pub fn app(id: &str) -> Option<&'static App> {
    APPS.iter().find(|app| app.id == id)
}

impl App {
    /// Returns the line for `pipemux apps`. A test compares it with what a parser of TOML reads:
    /// the command line has none.
    pub fn description(&self) -> &'static str {
        let value = |line: &'static str| line.strip_prefix("description = \"")?.strip_suffix('"');
        self.manifest.lines().find_map(value).unwrap_or_default()
    }

    /// Returns the app's prototypes.
    pub fn prototypes(&self) -> Vec<Prototype> {
        // A test reads every line.
        self.actions.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns what `pipemux help` prints of the app.
    pub fn help(&self) -> String {
        let mut text = format!("## {} · {}\n", self.id, self.description());
        text += &guide::write(self.guide, &self.prototypes());
        // One action stands for any of them, so that the command works as it is printed.
        let actions = self.prototypes();
        let first = actions.iter().find(|one| one.prominence != Prominence::Alias);
        let first = first.map_or(String::new(), |one| format!(".{}", one.written_name()));
        text += &format!("in full: pipemux help {}{first} · all: --full", self.id);
        if !self.aliases().is_empty() {
            text += " · names of other tools: --aliases";
        }
        text + "\n"
    }

    /// Returns the signatures of the aliases, a line each, with what each stands for. A preview is
    /// called like its action, and the guide tells of all of them at once.
    pub fn aliases(&self) -> String {
        let is_preview =
            |one: &Prototype| one.called.as_ref().is_some_and(|_| one.name.starts_with("preview_"));
        let is_alias = |one: &Prototype| one.prominence == Prominence::Alias && !is_preview(one);
        let line = |one: Prototype| {
            format!("{}   {}", one.short(), one.doc.trim()).trim_end().to_owned() + "\n"
        };
        self.prototypes().into_iter().filter(is_alias).map(line).collect()
    }

    /// Returns what the guide names and no prototype has, and the actions that it leaves out.
    pub fn check_guide(&self) -> MissingFromPrototypes {
        guide::check(self.guide, &self.prototypes())
    }
}
