//! Finds citations in a verdict that don't exist: files of the project, and nodes of its memory
//! tree.

use std::path::Path;

use pipemux_planner_course::turn::TurnKind;
use serde_json::Value;

use crate::limits::CITES_MAX;

/// Returns the files and anchors that an answer cites and that don't exist. A plan names files that
/// are yet to be written.
pub fn missing(root: &Path, kind: TurnKind, answer: &Value) -> Vec<String> {
    if !matches!(kind, TurnKind::Verdict(..)) {
        return Vec::new();
    }
    let mut texts = Vec::new();
    collect(answer, &mut texts);
    let mut missing = Vec::new();
    let mut looked = 0;
    for word in texts.iter().flat_map(|text| text.split_whitespace()) {
        let Some((cited, path)) = cited(word) else { continue };
        looked += 1;
        if looked > CITES_MAX {
            break;
        }
        if !root.join(&path).exists() && !missing.contains(&cited) {
            missing.push(cited);
        }
    }
    missing
}

/// Returns what a word cites, and the path that has to exist for it.
fn cited(word: &str) -> Option<(String, String)> {
    if let Some((_, rest)) = word.split_once("[[MT:Node:") {
        let id = rest.split("]]").next()?;
        return Some((format!("[[MT:Node:{id}]]"), format!(".memotree/nodes/{id}.md")));
    }
    let path = word
        .trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '/')))
        .trim_end_matches('.');
    let path = path.split(':').next()?;
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '/' | '-'));
    let (_, name) = path.rsplit_once('/')?;
    let (stem, end) = name.rsplit_once('.')?;
    let is_file = !stem.is_empty()
        && (1..=5).contains(&end.len())
        && end.chars().all(|c| c.is_ascii_alphanumeric())
        && end.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_inside = !path.starts_with('/') && !path.contains("..") && !word.contains("://");
    (is_plain && is_file && is_inside).then(|| (path.to_owned(), path.to_owned()))
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_and_nodes_that_do_not_exist_are_found() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.rs"), "").unwrap();
        let answer = json!({"reasons": [
            "see `src/a.rs:20` and (src/b.rs:7), not and/or, 1.5/2.5, https://example.org/x.html or e.g. this/that.",
            "as [[MT:Node:wire]] says; ../secret/x.txt /etc/hosts.conf",
        ]});
        let of = |kind| missing(dir.path(), kind, &answer);
        let verdict = TurnKind::Verdict(1, pipemux_planner_course::Role::TestPlanner);
        assert_eq!(of(verdict), ["src/b.rs", "[[MT:Node:wire]]"]);
        assert_eq!(of(TurnKind::Plan), Vec::<String>::new());
    }
}
