//! A plan as a contract: the acceptance criteria of its requirements, and the commands that check
//! them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::plan_fields::{items, text, texts};
use crate::text::is_hidden;

/// An acceptance criterion or a test of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// The id of the criterion in the plan.
    pub id: String,
    /// The condition that must hold.
    pub text: String,
    /// The ids of the requirements that the criterion covers.
    pub requirements: Vec<String>,
    /// The `sh` command line that exits with status 0 if the criterion holds.
    pub command: Option<String>,
}

/// Returns the requirements of a plan, each with its id and text.
pub fn requirements(plan: &Value) -> Vec<(String, String)> {
    let shown = |item| (text(item, "id").to_owned(), text(item, "text").to_owned());
    items(plan, "requirements").map(shown).collect()
}

/// Returns the acceptance criteria and the tests of a plan. A test stands for the requirements that
/// it covers, and for those of the criteria that it covers.
pub fn criteria(plan: &Value) -> Vec<Criterion> {
    let of = |item: &Value, requirements| {
        let command = Some(text(item, "command")).filter(|line| !line.trim().is_empty());
        Criterion {
            id: text(item, "id").to_owned(),
            text: text(item, "text").to_owned(),
            requirements,
            command: command.map(str::to_owned),
        }
    };
    let accepted: BTreeMap<&str, &str> = items(plan, "acceptance")
        .map(|item| (text(item, "id"), text(item, "requirement")))
        .collect();
    let acceptance =
        items(plan, "acceptance").map(|item| of(item, vec![text(item, "requirement").to_owned()]));
    let tests = items(plan, "test_plan").map(|item| {
        let mut covered: Vec<String> = Vec::new();
        for id in texts(item, "covers") {
            let id = accepted.get(id).unwrap_or(&id);
            if !covered.iter().any(|known| known == id) {
                covered.push((*id).to_owned());
            }
        }
        of(item, covered)
    });
    acceptance.chain(tests).collect()
}

/// Returns true for a command that can be shown exactly as it is, on one line, to whoever allows
/// it.
pub fn is_showable(command: &str) -> bool {
    !command.chars().any(is_hidden)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tests_stand_for_the_requirements_of_what_they_cover() {
        let plan = json!({
            "requirements": [{"id": "R1", "text": "log"}, {"id": "R2", "text": "find"}],
            "acceptance": [{"id": "A1", "requirement": "R1", "text": "seen", "command": "grep x log"}],
            "test_plan": [{"id": "T1", "covers": ["A1", "R1", "R2"], "text": "all", "command": " "}],
        });
        let found = criteria(&plan);
        assert_eq!(found[0].command.as_deref(), Some("grep x log"));
        assert_eq!((found[1].requirements.join(" "), &found[1].command), ("R1 R2".into(), &None));
        assert_eq!(requirements(&plan)[1], ("R2".to_owned(), "find".to_owned()));
        assert_eq!(criteria(&json!([{"acceptance": 1}])), []);
    }

    #[test]
    fn command_that_could_hide_something_is_not_showable() {
        assert!(is_showable("cargo test && echo '写'"));
        for c in ["\n", "\r", "\t", "\u{2028}", "\u{202e}", "\u{1b}", "\u{200b}", "\u{e0041}"] {
            assert!(!is_showable(&format!("true{c}rm -rf x")), "{c:?}");
        }
    }
}
