//! Measures the completeness of a plan from its links.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::plan_fields::{items, text, texts};

/// A quality score and its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quality {
    /// Checks that hold, of `total`.
    pub held: u32,
    /// The number of checks.
    pub total: u32,
    /// The failed checks, one line each.
    pub reasons: Vec<String>,
}

impl Quality {
    /// Returns the score in percent.
    pub fn percent(&self) -> u32 {
        (self.held * 100).checked_div(self.total).unwrap_or(100)
    }

    fn check(&mut self, holds: bool, reason: impl FnOnce() -> String) {
        self.total += 1;
        match holds {
            true => self.held += 1,
            false => self.reasons.push(reason()),
        }
    }
}

fn id(item: &Value) -> &str {
    text(item, "id")
}

/// Checks that the ids of a plan are unique and that links name ids that there are.
///
/// # Errors
/// The first link or id that is wrong.
pub fn check_links(plan: &Value) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    for part in ["requirements", "acceptance", "test_plan", "risks"] {
        for item in items(plan, part) {
            if !ids.insert(id(item)) {
                return Err(format!("{part}: the id {:?} is used twice", id(item)));
            }
        }
    }
    let requirements: BTreeSet<&str> = items(plan, "requirements").map(id).collect();
    for item in items(plan, "acceptance") {
        let requirement = text(item, "requirement");
        if !requirements.contains(requirement) {
            return Err(format!(
                "acceptance {}: there is no requirement {requirement:?}",
                id(item)
            ));
        }
    }
    for (part, field) in [("test_plan", "covers"), ("risks", "affects")] {
        for item in items(plan, part) {
            if let Some(unknown) = texts(item, field).find(|wanted| !ids.contains(wanted)) {
                return Err(format!("{part} {}: nothing has the id {unknown:?}", id(item)));
            }
        }
    }
    Ok(())
}

/// Computes how complete a plan is: every requirement has acceptance and a test, every risk an
/// owner, no question is open, and what is in scope is no non-goal.
pub fn quality(plan: &Value) -> Quality {
    let mut quality = Quality { held: 0, total: 0, reasons: Vec::new() };
    let covered: BTreeSet<&str> =
        items(plan, "test_plan").flat_map(|test| texts(test, "covers")).collect();
    for requirement in items(plan, "requirements") {
        let name = id(requirement);
        let accepted: Vec<&Value> =
            items(plan, "acceptance").filter(|item| item["requirement"] == name).collect();
        quality.check(!accepted.is_empty(), || format!("requirement {name} has no acceptance"));
        let tested =
            covered.contains(name) || accepted.iter().any(|item| covered.contains(id(item)));
        quality.check(tested, || format!("requirement {name} has no test"));
    }
    for risk in items(plan, "risks") {
        let owned = !text(risk, "owner").trim().is_empty();
        quality.check(owned, || format!("risk {} has no owner", id(risk)));
    }
    let open = items(plan, "open_questions").count();
    quality.check(open == 0, || match open {
        1 => "1 question is open".into(),
        _ => format!("{open} questions are open"),
    });
    let plain = |text: &str| text.trim().to_lowercase();
    let scope: BTreeSet<String> = texts(plan, "scope").map(plain).collect();
    let both: Vec<String> =
        texts(plan, "non_goals").map(plain).filter(|goal| scope.contains(goal)).collect();
    quality.check(both.is_empty(), || format!("in scope and a non-goal: {}", both.join("; ")));
    quality
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan() -> Value {
        json!({
            "requirements": [{"id": "R1", "text": "log"}, {"id": "R2", "text": "find"}],
            "acceptance": [{"id": "A1", "requirement": "R1", "text": "seen"}],
            "test_plan": [{"id": "T1", "covers": ["A1"], "text": "write one"}],
            "risks": [{"id": "K1", "text": "size", "owner": "", "affects": ["R1"]}],
            "scope": ["Log"], "non_goals": ["log "], "open_questions": ["how long?"],
        })
    }

    #[test]
    fn score_has_a_reason_for_each_missing_link() {
        let quality = quality(&plan());
        assert_eq!((quality.held, quality.total, quality.percent()), (2, 7, 28));
        assert_eq!(
            quality.reasons,
            [
                "requirement R2 has no acceptance",
                "requirement R2 has no test",
                "risk K1 has no owner",
                "1 question is open",
                "in scope and a non-goal: log",
            ]
        );
    }

    #[test]
    fn links_name_ids_that_there_are_and_ids_are_unique() {
        assert_eq!(check_links(&plan()), Ok(()));
        let mut wrong = plan();
        wrong["acceptance"][0]["requirement"] = "R9".into();
        assert_eq!(
            check_links(&wrong).unwrap_err(),
            "acceptance A1: there is no requirement \"R9\""
        );
        let mut wrong = plan();
        wrong["test_plan"][0]["covers"][0] = "X".into();
        assert_eq!(check_links(&wrong).unwrap_err(), "test_plan T1: nothing has the id \"X\"");
        let mut wrong = plan();
        wrong["risks"][0]["id"] = "R1".into();
        assert_eq!(check_links(&wrong).unwrap_err(), "risks: the id \"R1\" is used twice");
    }
}
