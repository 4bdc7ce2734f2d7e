//! A plan's requirements as nodes for the memory tree: Markdown, each heading of which names its
//! node, so that adding it again changes the node instead of adding another one.

use pipemux_planner_course::contract::{self, Criterion};
use pipemux_planner_course::text::{flat, gist};
use serde_json::Value;

/// Characters of an id of a node that come from the topic, and from the plan's id.
const TOPIC_CHARS: usize = 26;
const ID_CHARS: usize = 18;

/// Writes the nodes of a plan, those of the requirements below one of the plan, all with the topic
/// as their tag.
pub fn markdown(topic: &str, version: u32, plan: &Value) -> String {
    let topic = name(topic, TOPIC_CHARS);
    let text = |field: &str| flat(plan[field].as_str().unwrap_or_default());
    // A tag begins with a letter.
    let tag = match topic.starts_with(char::is_alphabetic) {
        true => format!(" #{topic}"),
        false => String::new(),
    };
    let mut all = format!(
        "# {}{tag} {{#{topic}-plan}}\n\n- why: {}\n- what: {}\n- version: {version}\n",
        title(&format!("Plan {topic}")),
        text("why"),
        text("what")
    );
    let criteria = contract::criteria(plan);
    for (id, text) in contract::requirements(plan) {
        let heading = title(&format!("{} {}", flat(&id), gist(&text)));
        let node = name(&id, ID_CHARS);
        all += &format!("\n## {heading}{tag} {{#{topic}-{node}}}\n\n- {}\n", flat(&text));
        for one in criteria.iter().filter(|one| one.requirements.contains(&id)) {
            all += &criterion(one);
        }
    }
    all
}

fn criterion(one: &Criterion) -> String {
    let command = match &one.command {
        Some(command) => format!(" · `{}`", flat(command).replace('`', "'")),
        None => String::new(),
    };
    format!("- {}: {}{command}\n", flat(&one.id), flat(&one.text))
}

/// Makes a part of a node's id.
fn name(text: &str, most: usize) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let made: String = text.to_lowercase().chars().map(plain).take(most).collect();
    made.trim_matches('-').to_owned()
}

/// Writes a title none of whose words is read as a tag.
fn title(text: &str) -> String {
    let escaped = |word: &str| match word.trim_start_matches('\\').starts_with('#') {
        true => format!("\\{word}"),
        false => word.to_owned(),
    };
    text.split(' ').map(escaped).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_requirement_is_a_node_with_what_stands_for_it() {
        let plan = json!({
            "why": "w", "what": "x",
            "requirements": [{"id": "R 1", "text": "log #all\n# no heading {#x}"}],
            "acceptance": [{"id": "A1", "requirement": "R 1", "text": "seen", "command": "grep `x` log"}],
            "test_plan": [{"id": "T1", "covers": ["A1"], "text": "look"}],
        });
        assert_eq!(
            markdown("审计-log", 3, &plan),
            "# Plan 审计-log #审计-log {#审计-log-plan}\n\n- why: w\n- what: x\n- version: 3\n\n\
             ## R 1 log \\#all \\# no heading {#x} #审计-log {#审计-log-r-1}\n\n- log #all # no heading {#x}\n\
             - A1: seen · `grep 'x' log`\n- T1: look\n"
        );
    }
}
