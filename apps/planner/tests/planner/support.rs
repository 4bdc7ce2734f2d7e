//! Opens planners and makes calls.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use docui::testing::Host;
use docui::{Fault, FilePath, Lod, Text};
use pipemux_planner::Planner;
use pipemux_planner::action::{Action, IntentName, Json, Opinion};
use pipemux_proto::app::{Done, Outcome};
use serde_json::json;
use tempfile::TempDir;

/// A project with a planner.
pub struct Session {
    dir: Rc<TempDir>,
    pub host: Host<Planner>,
    trusts: bool,
}

impl Session {
    /// Opens a planner in a project whose `planner.toml` says this, and which a person trusts.
    pub fn new(config: &str) -> Self {
        let mut session = Self::strict(config);
        session.trusts = true;
        session.host.allow_consents();
        session
    }

    /// As [`Session::new`], of a project that nobody trusts.
    pub fn strict(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["proj/.git", "state"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("proj/planner.toml"), config).unwrap();
        let host = open(dir.path(), "state");
        Self { dir: Rc::new(dir), host, trusts: false }
    }

    /// Writes the user's own file, whose drivers need no trust.
    pub fn write_own(&self, text: &str) {
        std::fs::create_dir_all(self.dir.path().join(".config")).unwrap();
        std::fs::write(self.dir.path().join(".config/planner.toml"), text).unwrap();
    }

    /// Opens another session of the same project.
    pub fn beside(&self) -> Self {
        std::fs::create_dir_all(self.dir.path().join("state-2")).unwrap();
        let mut host = open(self.dir.path(), "state-2");
        host.allow_consents();
        Self { dir: self.dir.clone(), host, trusts: true }
    }

    /// Opens one whose roles are played by whoever reads.
    pub fn agent() -> Self {
        Self::new("driver = \"agent\"\n")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("proj").join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Ends the process without a word, and starts another one.
    pub fn kill(&mut self) {
        self.host = open(self.dir.path(), "state");
        if self.trusts {
            self.host.allow_consents();
        }
    }

    pub fn view(&mut self) -> String {
        self.view_of("default")
    }

    /// The window as one reader is shown it.
    pub fn view_of(&mut self, reader: &str) -> String {
        self.host.text_for(reader, Lod::Summary, 4000).unwrap()
    }

    #[track_caller]
    pub fn done(&mut self, action: Action) -> Done {
        match self.host.invoke(&action) {
            Outcome::Done(done) => done,
            other => panic!("{action:?}: {other:?}"),
        }
    }

    #[track_caller]
    pub fn fails(&mut self, action: Action) -> Fault {
        match self.host.invoke(&action) {
            Outcome::Failed(fault) => fault,
            other => panic!("{action:?}: {other:?}"),
        }
    }

    #[track_caller]
    pub fn plan(&mut self, brief: &str) -> Done {
        self.done(Action::Plan {
            brief: brief.into(),
            from: None,
            intent: None,
            topic: String::new(),
        })
    }

    pub fn plan_from(&mut self, brief: &str, from: &str, intent: Option<IntentName>) -> Done {
        let from = Some(FilePath(from.into()));
        self.done(Action::Plan { brief: brief.into(), from, intent, topic: String::new() })
    }

    #[track_caller]
    pub fn verdict(&mut self, role: &str, ok: Option<bool>, questions: &[&str]) -> Done {
        self.done(verdict(role, ok, questions))
    }

    #[track_caller]
    pub fn round(&mut self, ok: [Option<bool>; 5]) {
        for (role, ok) in ROLES.into_iter().zip(ok) {
            self.verdict(role, ok, &[]);
        }
    }

    #[track_caller]
    pub fn speak(&mut self, answer: serde_json::Value) -> Done {
        self.done(speak(answer, ""))
    }

    /// The coach writes this of the roles, and each that it cites says yes.
    #[track_caller]
    pub fn signed(&mut self, answer: serde_json::Value) {
        let taker = |session: &mut Self, role: &str, answer: serde_json::Value| {
            // Whoever took the role says it.
            let readers = ["default", role, "RiskPlanner"];
            let said = |reader: &&str| {
                let said = session.host.invoke_as(reader, 0, &speak(answer.clone(), role));
                matches!(said, Outcome::Done(_))
            };
            assert!(readers.iter().any(said), "{role}: {answer}");
        };
        taker(self, "Coach", answer);
        for role in ROLES {
            let asked = self.host.invoke(&Action::Payload { role: role.into() });
            let Outcome::Done(asked) = asked else { continue };
            let text = asked.value.unwrap().to_value().unwrap();
            let payload: serde_json::Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
            let Some(points) = payload["points"].as_array() else { continue };
            taker(self, role, json!({"answers": vec!["yes"; points.len()]}));
        }
    }

    #[track_caller]
    pub fn reply(&mut self, text: &str) -> Done {
        self.done(Action::Reply { text: text.into(), question: None, wait: false })
    }

    /// Looks until the window has a text.
    #[track_caller]
    pub fn wait_for(&mut self, wanted: &str) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let view = self.view();
            if view.contains(wanted) {
                return view;
            }
            assert!(Instant::now() < end, "no {wanted:?} in: {view}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A course that ends in a draft with one objection.
    pub fn draft(&mut self) {
        self.plan("add an audit log");
        self.round([YES, NO, YES, YES, YES]);
        self.round([YES, NO, YES, YES, YES]);
        self.signed(extraction());
        self.reply("keep it for a year");
        self.round([YES, NO, YES, YES, YES]);
        self.signed(synthesis());
    }

    /// A course that ends in a plan at once.
    pub fn fast(&mut self) {
        self.plan("add an audit log");
        self.round([YES; 5]);
        let mut both = synthesis();
        both["plan"] = plan();
        self.speak(both);
    }
}

fn open(dir: &Path, state: &str) -> Host<Planner> {
    // Its own home, so that nobody's own drivers play.
    let env = [("HOME", dir.to_str().unwrap())];
    Host::open_with_env("planner/main", &env, &dir.join("proj"), &dir.join(state)).unwrap()
}

pub const ROLES: [&str; 5] =
    ["ProductPlanner", "SystemDesigner", "SeniorDeveloper", "TestPlanner", "RiskPlanner"];
pub const YES: Option<bool> = Some(true);
pub const NO: Option<bool> = Some(false);

pub fn verdict(role: &str, ok: Option<bool>, questions: &[&str]) -> Action {
    let questions = questions.iter().map(|question| (*question).to_owned()).collect();
    let reasons = vec!["because".to_owned()];
    Action::Verdict {
        role: role.into(),
        ok: Opinion(ok),
        reasons,
        suggestions: Vec::new(),
        questions,
    }
}

pub fn speak(answer: serde_json::Value, role: &str) -> Action {
    Action::Speak { answer: Json(answer), role: role.into() }
}

pub fn extraction() -> serde_json::Value {
    json!({"agreed_points": ["log it"], "conflicting_points": ["storage"]})
}

pub fn text(text: &str) -> Text {
    text.into()
}

pub fn synthesis() -> serde_json::Value {
    json!({"agreed_points": ["log it"], "reserved_points": [], "strong_disagreements": [], "summary": "almost all agree"})
}

pub fn plan() -> serde_json::Value {
    json!({
        "why": "to know who did what", "what": "an audit log",
        "requirements": [{"id": "R1", "text": "each change is logged"}],
        "draft_files": [{"path": "src/audit.rs", "purpose": "writes it"}],
        "acceptance": [{"id": "A1", "requirement": "R1", "text": "a change shows up"}],
        "scope": ["changes"], "non_goals": ["reads"], "open_questions": [],
        "test_plan": [{"id": "T1", "covers": ["A1"], "text": "change and look"}],
        "risks": [{"id": "K1", "text": "size", "owner": "ann", "affects": ["R1"]}],
    })
}
