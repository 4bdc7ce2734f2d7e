//! What a typed line means.

use clap::CommandFactory as _;
use pipemux_client::proto::client::Verb;

use super::line_target::LineTarget;
use super::look::Theme;
use super::numbers::{Numbered, Numbers};
use super::window::link_number;
use crate::args::Cli;

/// The meaning of a line.
#[derive(Debug, PartialEq)]
pub enum Typed {
    /// It is sent to the daemon.
    Request(Verb),
    /// It asks for this text.
    Told(String),
    Leave,
    /// It means nothing, for this reason.
    Nothing(String),
}

/// Returns what a line means now: a call after `/`, a link by its number on the screen, the answer
/// to the open question, or words for the action that the app declares as its input.
pub fn meaning(line: &str, target: &LineTarget, numbers: &Numbers, theme: Theme) -> Typed {
    let trimmed = line.trim();
    // A space first says that the line is words, whatever it looks like.
    if let Some(words) = line.strip_prefix(' ').filter(|_| !target.hides_line()) {
        return words_for_input(words, target);
    }
    if target.hides_line() {
        return answer(line, target).unwrap_or_else(|| words_for_input(line, target));
    }
    match trimmed {
        "?" => return Typed::Told(keys(target, theme)),
        "/help" => return Typed::Told(help(target)),
        "/quit" => return Typed::Leave,
        _ => {}
    }
    if let Some(call) = trimmed.strip_prefix('/') {
        // No call begins with a digit, so this is a link also while a question is open.
        if let Some(meaning) = numbered(call, numbers) {
            return meaning;
        }
        return Typed::Request(run(full_call(call, &target.callee), None));
    }
    if let Some(verb) = pasted_command(trimmed, target) {
        return Typed::Request(verb);
    }
    if let Some(command) = shell_command(trimmed) {
        return Typed::Nothing(format!(
            "pipemux {command} is for a shell: Ctrl-C leads there; with a space before it the line is words"
        ));
    }
    if let Some(link) = link_number(trimmed) {
        return Typed::Request(Verb::Click { link: link.to_string() });
    }
    if let Some(answer) = answer(line, target) {
        return answer;
    }
    numbered(trimmed, numbers).unwrap_or_else(|| words_for_input(line, target))
}

/// Returns what a number means that the terminal shows or showed behind a link.
fn numbered(number: &str, numbers: &Numbers) -> Option<Typed> {
    match numbers.get(number.parse().ok()?) {
        Numbered::Link(link) => Some(Typed::Request(Verb::Click { link })),
        Numbered::Moved => Some(Typed::Nothing(format!(
            "the window has changed while you typed, nothing was clicked: Enter follows {number} as it is now"
        ))),
        Numbered::Nothing => None,
    }
}

/// Returns what a command of a shell does that the window or an error shows, where it acts:
/// `pipemux run 'app.name()'`. Other words that begin like one are words.
fn pasted_command(line: &str, target: &LineTarget) -> Option<Verb> {
    let (verb, rest) = line.strip_prefix("pipemux ")?.trim_start().split_once(' ')?;
    let rest = rest.trim();
    let quoted = rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let unquoted = quoted.map(|code| code.replace("'\\''", "'"));
    match verb {
        "run" => Some(run(unquoted?, None)),
        "ask" => Some(Verb::Run { code: unquoted?, stdin: None, only_queries: true }),
        "click" => Some(Verb::Click { link: link_of(rest)?.to_string() }),
        "answer" => {
            let to = target.question.as_ref().map(|question| question.id);
            Some(Verb::Answer {
                text: unquoted.unwrap_or_else(|| rest.to_owned()),
                to,
                stdin: None,
            })
        }
        _ => None,
    }
}

/// Returns the verb of a command that a hint shows and that can't be carried out here. It isn't
/// what somebody says.
fn shell_command(line: &str) -> Option<&str> {
    let verb = line.strip_prefix("pipemux ")?.split_whitespace().next()?;
    let acts_here = matches!(verb, "run" | "ask" | "click" | "answer");
    let is_verb = || Cli::command().get_subcommands().any(|known| known.get_name() == verb);
    (!acts_here && is_verb()).then_some(verb)
}

/// Returns the number of a link that is written with or without its kind.
fn link_of(text: &str) -> Option<u64> {
    link_number(text).or_else(|| text.parse().ok())
}

/// Returns the answer to the open question, if there is one.
fn answer(line: &str, target: &LineTarget) -> Option<Typed> {
    let question = target.question.as_ref()?;
    let (text, stdin) = match question.secret {
        // Standard input is never shown or kept.
        true => ("-".to_owned(), Some(line.as_bytes().to_vec().into())),
        false => (line.trim().to_owned(), None),
    };
    Some(Typed::Request(Verb::Answer { text, to: Some(question.id), stdin }))
}

fn words_for_input(words: &str, target: &LineTarget) -> Typed {
    match &target.input {
        Some(input) => {
            let code = format!("{}({}=stdin)", input.call, input.param);
            Typed::Request(run(code, Some(words)))
        }
        None => Typed::Nothing(format!(
            "{} takes no words now: a number follows its link, /name() runs a call; /help tells more",
            target.callee
        )),
    }
}

fn run(code: String, stdin: Option<&str>) -> Verb {
    let stdin = stdin.map(|text| text.as_bytes().to_vec().into());
    Verb::Run { code, stdin, only_queries: false }
}

/// Completes a call: `accept` is `planner.accept()`.
fn full_call(call: &str, callee: &str) -> String {
    let call = call.trim();
    let name = call.split('(').next().unwrap_or(call);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let of_window = !name.is_empty() && name.chars().all(is_name);
    let parentheses = if of_window && name.len() == call.len() { "()" } else { "" };
    let of = if of_window { format!("{callee}.") } else { String::new() };
    format!("{of}{call}{parentheses}")
}

/// Returns what helps most, in one line.
pub fn keys(target: &LineTarget, theme: Theme) -> String {
    let number = theme.number(3);
    let leaves = if target.takes_words() { "Ctrl-C" } else { "q" };
    format!(
        "3 follows{number} · /name() runs a call · PageUp PageDown · {leaves} leaves · /help: more"
    )
}

/// Returns what the keys and lines mean.
pub fn help(target: &LineTarget) -> String {
    let words = match &target.input {
        Some(input) => format!("words             go to {}", input.call),
        None => "words             this app takes none now".to_owned(),
    };
    format!(
        "{words}; with a space first also what looks like something else
3                 follows the link with that number, or answers the open question; /3 is always the link,
                  and link:12 the one that agents see as link:12
/name(arguments)  runs a call of {}; of another app: /editor.save()
pipemux run '…'   does what it does in a shell; so do ask, click and answer
PageUp PageDown   scroll, as Up and Down do; Ctrl-Home and Ctrl-End: to an end
Tab               the news in the whole terminal, and back; Esc: away with them
Ctrl-P Ctrl-N     earlier and later lines
Ctrl-C            leaves; everything goes on; so does q where no words are taken; Ctrl-Z: stops until the shell's fg{}",
        target.callee,
        target.actions.as_ref().map(|actions| format!("\n\n{actions}")).unwrap_or_default()
    )
}

#[cfg(test)]
#[path = "typed_tests.rs"]
mod tests;
