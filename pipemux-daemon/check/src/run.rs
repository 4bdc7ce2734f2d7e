//! Runs all checks in order.

use crate::actions::ActionChecks;
use crate::launch::Launch;
use crate::observer::Observer;
use crate::report::Report;
use crate::session::Session;
use crate::subject::{Opening, Subject};
use crate::{garbage, lifecycle};

/// Checks an app. What goes wrong is in the report.
pub fn check(subject: &Subject, launch: &mut dyn Launch) -> Report {
    let mut session = Session::new(subject, launch);
    if let Err(error) = subject.create_directories() {
        let text = format!("{}: {error}", subject.root.display());
        session.report.add("setup", "directory", text);
        return session.report;
    }
    let opened = session.start("start", Opening::default());
    let mut checks = ActionChecks::new(Observer::new(session));
    if opened.is_some() {
        checks.observer.windows();
        checks.all_actions(0);
        lifecycle::further_opens(&mut checks.observer);
        let names_wake_time = lifecycle::sleep_and_wake(&mut checks.observer);
        checks.all_actions(1);
        lifecycle::kill_and_restart(&mut checks.observer);
        checks.all_actions(2);
        if names_wake_time {
            lifecycle::wake_when_due(&mut checks.observer);
        }
        let session = &mut checks.observer.session;
        garbage::garbage(session);
        lifecycle::close(session);
        lifecycle::lose_daemon(session);
    }
    let ActionChecks { observer: Observer { mut session, .. }, failing, tried, .. } = checks;
    session.end_process();
    // It may be right to refuse what the run makes up: the author sees by the reason.
    for (name, why) in failing {
        if let Some(why) = why {
            let why = first_line(&why);
            session.report.note(format!("{name}, which failed each time: {why}"));
        }
    }
    for name in tried.into_iter().filter(|(_, tried)| !tried).map(|(name, _)| name) {
        let text = "since it could destroy what the run didn't make; --destructive allows it";
        session.report.note(format!("{name}, {text}"));
    }
    session.report
}

/// The first line of an app's text, without characters that control a terminal.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().filter(|one| !one.is_control()).collect()
}
