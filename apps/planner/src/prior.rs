//! Reads the plan, the draft or the note that a brief comes with.

use std::path::Path;

use docui::{Fault, regular_file};
use pipemux_planner_course::event::Prior;
use pipemux_planner_course::schema;
use serde_json::Value;

use crate::limits::{AGREED_POINTS_MAX, KEY_POINTS_MAX, POINT_MAX, PRIOR_MAX};

/// Reads it.
///
/// # Errors
/// There is no such text file, or it is too long.
pub fn read(path: &Path, named: &str) -> Result<Prior, Fault> {
    let length = path.metadata().map_or(0, |found| found.len());
    if length > PRIOR_MAX {
        return Err(Fault::refused(format!("{named} has {length} bytes, at most {PRIOR_MAX}")));
    }
    let text = regular_file::read_to_string(path).map_err(|error| {
        Fault::not_found(format!("{named}: {error}"))
            .hint("plan('…', from='.planning/TOPIC/planning.ai.json')")
    })?;
    Ok(parse(&text, named))
}

/// Tells what a text is, and takes its points, each within its bound.
fn parse(text: &str, named: &str) -> Prior {
    let mut prior = parse_whole(text, named);
    for (points, most) in
        [(&mut prior.key_points, KEY_POINTS_MAX), (&mut prior.agreed_points, AGREED_POINTS_MAX)]
    {
        points.truncate(most);
        for point in points.iter_mut().filter(|point| point.len() > POINT_MAX) {
            *point = point.chars().take(POINT_MAX / 4).chain(['…']).collect();
        }
    }
    prior.title = prior.title.chars().take(200).collect();
    prior
}

fn parse_whole(text: &str, named: &str) -> Prior {
    let source = named.to_owned();
    match serde_json::from_str::<Value>(text) {
        Ok(plan) if plan["meta"]["task_id"].is_string() => {
            let list = |name: &str| plan[name].as_array().cloned().unwrap_or_default();
            let line = |item: &Value| {
                item["text"].as_str().or(item.as_str()).unwrap_or_default().to_owned()
            };
            let mut key_points: Vec<String> = ["why", "what"]
                .iter()
                .filter_map(|name| Some(format!("{name}: {}", plan[*name].as_str()?)))
                .collect();
            key_points.extend(list("requirements").iter().map(line));
            key_points.retain(|point| !point.is_empty());
            // A plan that another version wrote has other fields: its points are taken, and the title says so.
            let title = plan["meta"]["task_id"].as_str().unwrap_or_default().to_owned();
            let title = match schema::check("planning.ai", &plan) {
                Ok(()) => title,
                Err(why) => format!("{title} (of another form: {why})"),
            };
            let version = format!("version {}", plan["meta"]["version"]);
            let agreed_points =
                list("requirements").iter().map(line).filter(|point| !point.is_empty()).collect();
            Prior {
                source,
                kind: "plan".into(),
                title,
                version,
                key_points,
                agreed_points,
                topic: None,
            }
        }
        _ if text.starts_with("# Draft: ") || text.contains("\n# Draft: ") => {
            let title = text
                .lines()
                .find_map(|line| line.strip_prefix("# Draft: "))
                .unwrap_or(named)
                .to_owned();
            let found = text.lines().find_map(|line| line.strip_prefix("Version "));
            let version = found.and_then(|line| line.split(' ').next()).unwrap_or("?");
            let agreed = points(section(text, "What was agreed"));
            let mut key_points: Vec<String> =
                agreed.iter().map(|point| format!("agreed: {point}")).collect();
            key_points.extend(
                points(section(text, "What was not agreed"))
                    .iter()
                    .map(|point| format!("open: {point}")),
            );
            let agreed_points = agreed.into_iter().filter(|point| point != "nothing yet").collect();
            let version = format!("version {version}");
            Prior {
                source,
                kind: "draft".into(),
                title,
                version,
                key_points,
                agreed_points,
                topic: None,
            }
        }
        _ => {
            let heading = text.lines().find_map(|line| line.strip_prefix("# "));
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let key_points =
                lines.take(KEY_POINTS_MAX).map(|line| line.chars().take(400).collect()).collect();
            let title = heading.unwrap_or(named).to_owned();
            Prior {
                source,
                kind: "note".into(),
                title,
                version: String::new(),
                key_points,
                agreed_points: Vec::new(),
                topic: None,
            }
        }
    }
}

fn section<'a>(text: &'a str, name: &str) -> &'a str {
    let start = text.find(&format!("## {name}\n")).map_or(text.len(), |at| at + name.len() + 4);
    let rest = &text[start..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

fn points(section: &str) -> Vec<String> {
    section.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_told_by_content() {
        let plan = r#"{"meta": {"task_id": "rights", "version": 2}, "why": "w", "requirements": [{"id": "R1", "text": "roles"}]}"#;
        let prior = parse(plan, "p.json");
        assert_eq!((prior.kind.as_str(), prior.version.as_str()), ("plan", "version 2"));
        assert!(prior.title.starts_with("rights (of another form: "), "{}", prior.title);
        assert_eq!(prior.agreed_points, ["roles"]);
        let draft = "# Draft: log\n\nVersion 3 · x\n\n## What was not agreed\n\n- A: block\n\n## What was agreed\n\n- log it\n";
        let prior = parse(draft, "d.md");
        assert_eq!(
            (prior.kind.as_str(), prior.title.as_str(), prior.version.as_str()),
            ("draft", "log", "version 3")
        );
        assert_eq!(prior.key_points, ["agreed: log it", "open: A: block"]);
        assert_eq!(parse("{}", "n.txt").kind, "note");
        assert_eq!(parse("", "n.txt").key_points, Vec::<String>::new());
    }

    #[test]
    fn points_are_bounded() {
        let points = format!("- {}\n", "é".repeat(POINT_MAX)).repeat(AGREED_POINTS_MAX + 9);
        let prior = parse(&format!("# Draft: d\n\n## What was agreed\n\n{points}"), "d.md");
        assert_eq!(
            (prior.agreed_points.len(), prior.key_points.len()),
            (AGREED_POINTS_MAX, KEY_POINTS_MAX)
        );
        assert!(prior.agreed_points.iter().all(|point| point.len() <= POINT_MAX));
    }
}
