//! Compares two versions section by section.

use std::collections::BTreeMap;

use crate::artifact::Artifact;
use crate::sections::{Sections, sections};

/// The difference in one section of two artifacts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    pub section: String,
    /// The items that only the later version has.
    pub added: Vec<String>,
    /// The items that only the earlier version has.
    pub gone: Vec<String>,
    /// The items that differ between the versions: text before and after.
    pub changed: Vec<(String, String)>,
}

/// Compares two artifacts, section by section; sections that are the same are left out.
pub fn compare(before: &Artifact, after: &Artifact) -> Vec<Difference> {
    let (before, after) = (sections(before), sections(after));
    let mut names: Vec<&String> = before.iter().map(|(name, _)| name).collect();
    names.extend(
        after
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !before.iter().any(|(other, _)| other == *name)),
    );
    let items = |of: &Sections, name: &str| -> BTreeMap<String, String> {
        of.iter().filter(|(other, _)| other == name).flat_map(|(_, items)| items.clone()).collect()
    };
    let mut all = Vec::new();
    for name in names {
        let (old, new) = (items(&before, name), items(&after, name));
        let mut found = Difference { section: name.clone(), ..Difference::default() };
        for (key, text) in &old {
            match new.get(key) {
                None => found.gone.push(text.clone()),
                Some(other) if other != text => found.changed.push((text.clone(), other.clone())),
                Some(_) => {}
            }
        }
        found.added = new
            .iter()
            .filter(|(key, _)| !old.contains_key(*key))
            .map(|(_, text)| text.clone())
            .collect();
        if !(found.added.is_empty() && found.gone.is_empty() && found.changed.is_empty()) {
            all.push(found);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plans_differ_by_section_and_id() {
        let plan = |text: &str, scope: &[&str]| {
            Artifact::Plan(json!({"meta": {"version": 1}, "why": "w", "scope": scope,
                "requirements": [{"id": "R1", "text": text}]}))
        };
        let found = compare(&plan("a", &["x", "y"]), &plan("b", &["y", "z"]));
        let requirements = Difference {
            section: "requirements".into(),
            changed: vec![("R1: a".into(), "R1: b".into())],
            ..Difference::default()
        };
        let scope = Difference {
            section: "scope".into(),
            added: vec!["z".into()],
            gone: vec!["x".into()],
            ..Difference::default()
        };
        assert_eq!(found, [requirements, scope]);
        assert_eq!(compare(&plan("a", &[]), &plan("a", &[])), []);
    }

    #[test]
    fn drafts_differ_by_heading_and_line() {
        let draft =
            |line: &str| Artifact::Draft(format!("# Draft\n## What was agreed\n- {line}\n"));
        let found = compare(&draft("one"), &draft("two"));
        assert_eq!(found[0].section, "What was agreed");
        assert_eq!(
            (found[0].added.clone(), found[0].gone.clone()),
            (vec!["- two".to_owned()], vec!["- one".to_owned()])
        );
    }
}
