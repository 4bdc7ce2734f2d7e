//! The run: what is done in which order.

use std::path::{Path, PathBuf};

use pipemux_proto::SessionAddr;

use crate::checker::Checker;
use crate::launch::Launch;
use crate::report::Report;

/// The app that is checked, and where.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The session that is opened, of the name that the app is registered under.
    pub main: SessionAddr,
    /// True for an app whose sessions share a process.
    pub shares_process: bool,
    /// The arguments of its open.
    pub args: Vec<String>,
    /// Its environment.
    pub env: Vec<(String, String)>,
    /// An empty directory, which the caller removes.
    pub root: PathBuf,
    /// True to confirm destructive actions also on things that the app shows before the run made any.
    pub destructive: bool,
}

/// Names of the files that the working directory has.
pub const FILES: [(&str, &str); 2] =
    [("notes.md", "# Notes\n\nA first line.\nA second line.\n"), ("data.txt", "one\ntwo\nthree\n")];

/// Checks an app. What goes wrong is in the report.
pub fn check(subject: &Subject, launch: &mut dyn Launch) -> Report {
    let mut checker = Checker::new(subject, launch);
    if let Err(error) = furnish(&subject.root) {
        checker.report.add("setup", "directory", format!("{}: {error}", subject.root.display()));
        return checker.report;
    }
    if checker.start("start", false, None).is_some() {
        checker.windows();
        checker.all_actions(0);
        checker.further_opens();
        checker.sleep_and_wake();
        checker.all_actions(1);
        checker.kill_and_restart();
        checker.all_actions(2);
        checker.wake_when_due();
        checker.garbage();
        checker.close();
        checker.lose_daemon();
    }
    checker.end_process();
    // It may be right to refuse what the run makes up: the author sees by the reason.
    for (name, why) in checker.failing {
        if let Some(why) = why {
            checker.report.note(format!("{name}, which failed each time: {}", first_line(&why)));
        }
    }
    for name in checker.tried.into_iter().filter(|(_, tried)| !tried).map(|(name, _)| name) {
        let text = "since it could destroy what the run didn't make; --destructive allows it";
        checker.report.note(format!("{name}, {text}"));
    }
    checker.report
}

/// The first line of an app's text, without characters that control a terminal.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().filter(|one| !one.is_control()).collect()
}

/// Makes the directories that the app gets.
fn furnish(root: &Path) -> std::io::Result<()> {
    for name in ["home", "state", "work", "tmp"] {
        std::fs::create_dir_all(root.join(name))?;
    }
    for (name, text) in FILES {
        std::fs::write(root.join("work").join(name), text)?;
    }
    Ok(())
}
