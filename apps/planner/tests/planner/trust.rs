//! A project is data until a person trusts it.

use docui::testing::Host;
use docui::{ConsentRequest, Fault};
use pipemux_planner::Planner;
use pipemux_planner::action::Action;
use pipemux_proto::app::Outcome;

use crate::support::Session;

/// A driver that leaves a trace in the project when it is started.
const HOSTILE: &str = "driver = \"evil\"\ncodegen = \"touch AT/pwned\"\n[drivers.evil]\ncommand = [\"sh\", \"-c\", \"touch AT/pwned; . AT/judge.sh\"]\n";

/// The same, in a session's project.
fn hostile_in(session: &Session) -> String {
    HOSTILE.replace("AT", session.path("").to_str().unwrap().trim_end_matches('/'))
}

fn hostile() -> Session {
    let session = Session::strict("");
    session.write("planner.toml", &hostile_in(&session));
    session.write("judge.sh", "echo '{\"ok\": true, \"reasons\": [\"x\"]}'\n");
    session
}

fn plan() -> Action {
    Action::Plan { brief: "add a log".into(), from: None, intent: None, topic: String::new() }
}

fn asks(host: &mut Host<Planner>, action: &Action) -> ConsentRequest {
    match host.invoke(action) {
        Outcome::Failed(Fault { consent: Some(request), .. }) => *request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_that_a_project_names_is_started_before_a_person_trusts_it() {
    let mut session = hostile();
    let request = asks(&mut session.host, &plan());
    let at = session.path("").display().to_string();
    let at = at.trim_end_matches('/');
    assert_eq!(request.what, "trust planner.toml of this project");
    assert_eq!(
        request.shows,
        [
            format!("evil starts: sh -c 'touch {at}/pwned; . {at}/judge.sh'"),
            format!("plans are handed to: touch {at}/pwned"),
            "covers the file judge.sh".to_owned(),
        ]
    );
    // Nothing took effect, and nobody is held up who plays the roles.
    assert!(!session.path(".planning").exists() && !session.path("pwned").exists());
    session.done(Action::Driver { role: "all".into(), driver: "agent".into() });
    session.plan("add a log");
    session.verdict("ProductPlanner", Some(true), &[]);
    // A turn that is open, as a clone may bring it, is played by nobody who looks.
    session.kill();
    for _ in 0..3 {
        session.view();
        session.done(Action::Topics {});
    }
    assert!(!session.path("pwned").exists());
}

#[test]
fn trust_is_of_what_the_files_say_now() {
    let mut session = hostile();
    let first = asks(&mut session.host, &plan());
    session.write("judge.sh", "echo '{\"ok\": true, \"reasons\": [\"y\"]}'\n");
    let second = asks(&mut session.host, &plan());
    assert_ne!(first.key, second.key);
    session.write("planner.toml", &format!("{}# more\n", hostile_in(&session)));
    assert_ne!(second.key, asks(&mut session.host, &plan()).key);
    // A file that is new, and that a command names, changes it, too.
    let named = hostile_in(&session).replace("/pwned; .", "/pwned; : later.sh; .");
    session.write("planner.toml", &named);
    let before = asks(&mut session.host, &plan());
    session.write("later.sh", "");
    assert_ne!(before.key, asks(&mut session.host, &plan()).key);
    session.host.allow_consents();
    session.plan("add a log");
    session.wait_for("agree ·");
    assert!(session.path("pwned").exists());
}

#[test]
fn restart_waits_for_somebody_who_acts() {
    let mut session = Session::new("");
    // What the driver makes is no file that its command names, since then it would have to be
    // trusted again.
    let trace = format!("touch {}; ", session.path("pwned").display());
    session.write("planner.toml", &hostile_in(&session).replace(&trace, ""));
    let asked = session.path("asked");
    session.write("judge.sh", &format!("echo x >> '{}'; sleep 1000\n", asked.display()));
    // A file that the first driver makes, and that the command names, would end the trust before
    // the others start.
    session.write("pwned", "");
    session.plan("add a log");
    // What is posted by a thread counts once the session is asked for something.
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while std::fs::read_to_string(&asked).unwrap_or_default().lines().count() < 5 {
        assert!(std::time::Instant::now() < limit, "{}", session.view());
        session.view();
        std::thread::yield_now();
    }
    session.kill();
    std::fs::remove_file(&asked).unwrap();
    let view = session.view();
    assert!(view.contains("planner.go()"), "{view}");
    assert!(!asked.exists());
    session.write("judge.sh", "echo '{\"ok\": true, \"reasons\": [\"x\"]}'\n");
    session.done(Action::Go {});
    session.wait_for("agree ·");
}
