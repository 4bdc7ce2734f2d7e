//! Texts that the program has itself, without a daemon.

use pipemux_client::Options;

use super::args::{self, HelpTopic, Verb};
use super::{guide, shell_files, suggestions, tool_schema};

/// Returns the text of a verb that needs no daemon: `help` without an app, `skill`.
pub fn local_text(verb: &Verb) -> Option<String> {
    match verb {
        Verb::Skill => Some(guide::skill()),
        Verb::ToolSchema { format } => Some(tool_schema::text(*format)),
        Verb::Completions { shell } => Some(shell_files::completions(*shell)),
        Verb::Help { all: true, .. } => Some(guide::help_of_all_verbs()),
        Verb::Help { of: None, aliases: true, .. } => Some(guide::aliases()),
        Verb::Help { of: None, .. } => Some(guide::help()),
        _ => None,
    }
}

/// Returns the help of a verb for `help attach`, unless an app, or an action of one, has that name.
pub fn help_of_verb(verb: &Verb, options: &Options) -> Option<String> {
    let Verb::Help { of: Some(HelpTopic { provider, action: None }), .. } = verb else {
        return None;
    };
    let text = args::help_of_verb(provider.as_str())?;
    (!suggestions::is_app_or_action(provider.as_str(), options)).then_some(text)
}
