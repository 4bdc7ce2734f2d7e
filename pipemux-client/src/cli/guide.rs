//! What an agent reads first: `pipemux --help`, and `pipemux skill`. Both have the actions of the built-in apps, as the
//! apps themselves declare them.

use pipemux_catalog::{APPS, App, Extent};

use super::args::long_help;

/// How calls are written, for both texts.
const CALLS: &str = "\
Strings in '…' or \"…\", escapes \\n \\t \\\\ \\' \\\" ('\\d' stays); text=stdin takes a heredoc; text=<<END, lines, END is raw.
A query may stand as an argument: notebook.add('t', text=editor.lines('foo')). ? marks queries.
";

/// The verbs, for both texts.
const VERBS: &str = "  \
  pipemux run '<call>; <call>; …'   in order; the first failure stops, the rest is kept
  pipemux ask '<query>; …'          queries only: they change nothing
  pipemux answer <…>                a question: 1,3 · all · all but 2 · none; or '<corrected call>' for the failed one
";

/// Returns the text of `pipemux --help`.
pub fn help() -> String {
    let mut text = String::from(
        "PipeMux: applications, used by calls. A call opens what it needs. Edits are on disk at once; undo takes them back.\n\n",
    );
    text += VERBS;
    text += "  pipemux view · open <app> [files] · history · help <app> · help --all (every verb; --budget N, …)\n";
    text += CALLS;
    text + &apps(Extent::Program)
}

/// Returns the text of `pipemux help --all`.
pub fn help_of_all_verbs() -> String {
    long_help()
}

/// Returns the text of `pipemux skill`.
pub fn skill() -> String {
    let mut text = String::from(
        "---\nname: pipemux\ndescription: Find, read, edit, rename and move code in few calls, with undo; run tests; notes; watch the machine.\n---\n",
    );
    text += VERBS;
    text += CALLS;
    text + &apps(Extent::Skill)
        + "More: pipemux help editor|terminal|notebook|memotree|planner|monitor\n"
}

/// Returns the aliases of all built-in apps.
pub fn aliases() -> String {
    let part = |text: String, id: &str| match text.is_empty() {
        true => text,
        false => format!("{id}:\n{text}"),
    };
    APPS.iter().map(|app| part(app.aliases(), app.id)).collect()
}

fn apps(extent: Extent) -> String {
    let part = |app: &App| {
        let overview = app.overview(extent);
        let separator = if overview.lines().count() == 1 { " " } else { "\n" };
        format!("{}:{separator}{overview}", app.id)
    };
    APPS.iter().map(part).collect()
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
    fn help_alone_teaches_the_built_in_apps() {
        assert_text("guide-help", &help(), 700);
    }

    #[test]
    fn skill_is_a_short_guide_with_front_matter() {
        let skill = skill();
        assert!(skill.starts_with("---\nname: pipemux\ndescription: "));
        assert_text("guide-skill", &skill, 500);
    }
}
