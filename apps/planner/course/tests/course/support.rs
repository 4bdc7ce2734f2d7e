//! Plays courses.

use pipemux_planner_course::event::{By, Effect, Entry, Event, RULES, Refusal};
use pipemux_planner_course::turn::TurnKind;
use pipemux_planner_course::{Course, Role};
use serde_json::{Value, json};

/// A course with the entries that it took.
#[derive(Default)]
pub struct Play {
    pub course: Course,
    pub journal: Vec<Entry>,
}

impl Play {
    /// A course with a brief.
    pub fn begun() -> Self {
        let mut play = Self::default();
        let (topic, brief) = ("audit-log".into(), "add an audit log".into());
        play.ok(Event::Start {
            topic,
            brief,
            prior: None,
            history: Vec::new(),
            rules: RULES,
            parallel: false,
        });
        play
    }

    /// Takes an event.
    pub fn take(&mut self, reader: &str, event: Event) -> Result<Vec<Effect>, Refusal> {
        let by = By { reader: reader.into(), ..By::default() };
        let ts = format!("2026-01-01T00:00:00.{:06}Z", self.journal.len());
        let entry = Entry { ts, by, event };
        let effects = self.course.apply(&entry)?;
        self.journal.push(entry);
        Ok(effects)
    }

    #[track_caller]
    pub fn ok(&mut self, event: Event) -> Vec<Effect> {
        self.take("ann", event.clone()).unwrap_or_else(|refusal| panic!("{event:?}: {refusal:?}"))
    }

    #[track_caller]
    pub fn refused(&mut self, event: Event) -> Refusal {
        let before = self.course.clone();
        let refusal = self.take("ann", event).expect_err("it is refused");
        assert_eq!(self.course, before);
        refusal
    }

    /// Answers the open turn.
    #[track_caller]
    pub fn answer(&mut self, answer: Value) -> Vec<Effect> {
        let turn = self.turn();
        self.ok(Event::Answered { turn, answer, missing: Vec::new() })
    }

    /// All roles of the round say this.
    #[track_caller]
    pub fn round(&mut self, ok: [Option<bool>; 5]) {
        for (role, ok) in Role::ALL.into_iter().zip(ok) {
            assert!(matches!(self.kind(), TurnKind::Verdict(_, next) if next == role));
            self.answer(verdict(ok, &[]));
        }
    }

    /// The coach writes this of the roles, and each that it cites says yes.
    #[track_caller]
    pub fn signed(&mut self, answer: Value) {
        self.answer(answer);
        while let Some(TurnKind::Confirm(role)) = self.course.turns.first().map(|turn| turn.kind) {
            let points = self.course.cycle.signing.as_ref().map_or(0, |all| all.of(role).count());
            self.answer(json!({"answers": vec!["yes"; points]}));
        }
    }

    /// The number of the turn that was opened first.
    #[track_caller]
    pub fn turn(&self) -> u64 {
        self.course.turns.first().expect("an open turn").id
    }

    #[track_caller]
    pub fn kind(&self) -> TurnKind {
        self.course.turns.first().expect("an open turn").kind
    }

    #[track_caller]
    pub fn reply(&mut self, text: &str) {
        self.ok(Event::Reply { question: None, text: text.into() });
    }

    /// What the open turn is given.
    pub fn payload(&self) -> Value {
        self.course.payload_of(self.kind(), &Default::default())
    }
}

pub const YES: Option<bool> = Some(true);
pub const NO: Option<bool> = Some(false);

pub fn verdict(ok: Option<bool>, questions: &[&str]) -> Value {
    json!({"ok": ok, "reasons": ["because"], "suggestions": [], "blocking_open_questions": questions})
}

pub fn synthesis() -> Value {
    json!({"agreed_points": ["log it"], "reserved_points": [], "strong_disagreements": [], "summary": "all agree"})
}

pub fn extraction() -> Value {
    json!({"agreed_points": ["log it"], "conflicting_points": ["how long"]})
}

pub fn plan() -> Value {
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

/// A course that has gone through round 3 with these verdicts, up to the synthesis.
pub fn slow(third: [Option<bool>; 5]) -> Play {
    let mut play = Play::begun();
    play.round([YES, NO, None, YES, YES]);
    play.round([YES, NO, YES, YES, YES]);
    play.signed(extraction());
    play.reply("keep it for a year");
    play.round(third);
    play
}
