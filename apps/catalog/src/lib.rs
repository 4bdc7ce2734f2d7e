//! What the built-in apps can do, known without running them: their prototypes as data, and the help that is made of
//! these.
//!
//! The daemon checks calls of an app that never ran, and the command line prints its help; neither starts a process for
//! it. `actions/*.jsonl` has each app's prototypes, one a line, as the app itself gives them: a test compares the two,
//! and writes the files with `INSTA_UPDATE=always`. `guides/*.txt` has what a person decides: the order, what stands on
//! one line, and a few words. Signatures come from the prototypes only, and what no prototype has is left out, so help
//! never shows an action that doesn't exist.
#![forbid(unsafe_code)]

mod guide;

use pipemux_proto::prototype::{Prominence, Prototype};

pub use guide::MissingFromPrototypes;

/// An app that comes with PipeMux.
#[derive(Debug)]
pub struct App {
    /// The provider.
    pub id: &'static str,
    /// One line for `pipemux apps`.
    pub description: &'static str,
    actions: &'static str,
    guide: &'static str,
}

/// The built-in apps, the one first that does most.
pub const APPS: [App; 6] = [
    App {
        id: "editor",
        description: "text files of a project: find, read, edit, undo",
        actions: include_str!("../actions/editor.jsonl"),
        guide: include_str!("../guides/editor.txt"),
    },
    App {
        id: "terminal",
        description: "commands, builds and tests: what matters of their output",
        actions: include_str!("../actions/terminal.jsonl"),
        guide: include_str!("../guides/terminal.txt"),
    },
    App {
        id: "notebook",
        description: "notes that last: write, find, quote",
        actions: include_str!("../actions/notebook.jsonl"),
        guide: include_str!("../guides/notebook.txt"),
    },
    App {
        id: "memotree",
        description: "a project's knowledge: a tree of Markdown files, shared through git",
        actions: include_str!("../actions/memotree.jsonl"),
        guide: include_str!("../guides/memotree.txt"),
    },
    App {
        id: "planner",
        description: "plans by consensus: five roles judge a brief, you answer, a plan or a draft comes of it",
        actions: include_str!("../actions/planner.jsonl"),
        guide: include_str!("../guides/planner.txt"),
    },
    App {
        id: "monitor",
        description: "this machine: load, memory, disks, processes",
        actions: include_str!("../actions/monitor.jsonl"),
        guide: include_str!("../guides/monitor.txt"),
    },
];

/// Returns the built-in app of that name.
pub fn app(id: &str) -> Option<&'static App> {
    APPS.iter().find(|app| app.id == id)
}

impl App {
    /// Returns the app's prototypes.
    pub fn prototypes(&self) -> Vec<Prototype> {
        // A test reads every line.
        self.actions.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns what `pipemux help` prints of the app.
    pub fn help(&self) -> String {
        let mut text = format!("## {} · {}\n", self.id, self.description);
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

    /// Returns the signatures of the aliases, a line each, with what each stands for. A preview is called like its action,
    /// and the guide tells of all of them at once.
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
