//! What `pipemux --help` and `pipemux skill` print.

use pipemux_catalog::APPS;
use pipemux_client::guide::of_shell;

use super::args::long_help;

/// The section of the guide for people.
const PEOPLE: &str = "
For people:
  pipemux sessions · history --all       what runs and costs · what was done
  pipemux who FILE · undo [<round>]      who changed a file · take a round back
  pipemux pause · resume · down          hold agents · let them go on · end everything
  pipemux consent · config               what agents ask you to allow · your rules
  pipemux doctor · logs <app>            find problems · what an app printed
  pipemux setup <harness> · tour         claude-code, codex, gemini, cursor, … · a guided tour
  pipemux help --all                     every verb and option
";

/// Returns the text of `pipemux --help`.
pub fn help() -> String {
    of_shell() + PEOPLE
}

/// Returns what a person is told who gives no arguments.
pub fn for_people() -> String {
    format!(
        "PipeMux gives LLM agents applications: an editor, commands, notes, and your own.\n{PEOPLE}  pipemux --help                         the guide that agents read\n"
    )
}

/// Returns the text of `pipemux help --all`.
pub fn help_of_all_verbs() -> String {
    long_help()
}

/// Returns the text of `pipemux skill`.
pub fn skill() -> String {
    let head = "---\nname: pipemux\ndescription: Find, read, edit, rename and move code in few calls, with undo; run tests; notes; watch the machine.\n---\n";
    head.to_owned() + &of_shell()
}

/// Returns what stands in a project's instructions for agents.
pub fn of_agents_md() -> String {
    "You have `pipemux`: an editor of projects, a terminal and a notebook. Run `pipemux --help` once; it teaches all of them.
Act with `pipemux run '<call>; <call>'`, look with `pipemux ask '<query>'`, answer questions with `pipemux answer …`.
"
    .to_owned()
}

/// Returns the aliases of all built-in apps.
pub fn aliases() -> String {
    let part = |text: String, id: &str| match text.is_empty() {
        true => text,
        false => format!("{id}:\n{text}"),
    };
    APPS.iter().map(|app| part(app.aliases(), app.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a text with its snapshot, and its size with what an agent is to read at most.
    fn assert_text(name: &str, text: &str, most: u64) {
        let tokens = pipemux_tokens::estimate(text);
        assert!(tokens <= most, "{name}: {tokens} tokens, at most {most}");
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, text));
    }

    #[test]
    fn help_alone_teaches_the_way_of_working() {
        assert_text("guide-help", &help(), 1_040);
    }

    #[test]
    fn people_are_shown_a_short_list() {
        assert_text("guide-people", &for_people(), 240);
    }

    #[test]
    fn skill_is_the_same_guide_with_front_matter() {
        let skill = skill();
        assert!(skill.starts_with("---\nname: pipemux\ndescription: "));
        assert_text("guide-skill", &skill, 940);
    }
}
