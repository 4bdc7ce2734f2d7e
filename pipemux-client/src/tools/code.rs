//! The code of a tool's call: calls of apps, or one command.

use pipemux_catalog::{APPS, App};
use pipemux_proto::call::stdin_at;
use pipemux_proto::client::{HistoryArgs, OpenArgs, ToolUse, Verb, VerbKind, ViewArgs};
use pipemux_proto::projection::Lod;
use pipemux_proto::{ProviderId, SessionAddr, SessionId};

use super::definitions::RUN;
use super::options::{CommandOptions, number_of, unquoted, words};
use super::request::{CallerEnv, ToolRequest, ToolVerb};
use crate::error::ClientError;
use crate::guide;

/// The effects that a tool's code may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// The code changes nothing.
    OnlyLooks,
    /// The code may act.
    Any,
}

/// Decides what code asks.
///
/// # Errors
/// A command has wrong arguments, acts where only looking is allowed, or needs what a tool's call
/// doesn't have.
pub fn to_request(
    text: &str,
    kind: CodeKind,
    env: &dyn CallerEnv,
) -> Result<ToolRequest, ClientError> {
    let mut settings = CommandOptions::default();
    let text = text.trim_matches(['\n', '\r']).trim_end();
    let text = text.strip_prefix("$ ").unwrap_or(text);
    let named = text.trim_start().strip_prefix("pipemux ");
    let rest = settings.take_leading(named.unwrap_or(text))?;
    let Some((verb, rest)) = command(rest) else {
        return script(rest, kind, settings);
    };
    // An answer leads on to a query with `run`.
    let acts = verb.tool_use() == ToolUse::Acts && verb != VerbKind::Run;
    if acts && kind == CodeKind::OnlyLooks {
        let why = format!("`{}` is no query: ask only looks, and nothing ran", verb.name());
        return Err(ClientError::invalid(why).hint(format!("use the tool {RUN}")));
    }
    let rest = settings.take_leading(rest)?;
    match verb {
        VerbKind::Run => script(&settings.take_quoted(rest)?, kind, settings),
        VerbKind::Ask => script(&settings.take_quoted(rest)?, CodeKind::OnlyLooks, settings),
        VerbKind::Answer => {
            let (to, rest) = match rest.strip_prefix("--to ") {
                Some(rest) => {
                    let (number, rest) = rest.trim_start().split_once(' ').unwrap_or((rest, ""));
                    (Some(number_of("--to", number)?), rest)
                }
                None => (None, rest),
            };
            let text = unquoted(rest.trim());
            Ok(settings.verb(Verb::Answer { text, to, stdin: None }))
        }
        verb => {
            let words = words(rest)?;
            let words = settings.take_all(words)?;
            plain_command(verb, words, settings, env)
        }
    }
}

/// Opens a window of `app`, or of `app/session`.
pub fn open(app: &str, args: Vec<String>, env: &dyn CallerEnv) -> Result<ToolRequest, ClientError> {
    let (provider, session) = match app.split_once('/') {
        Some((provider, session)) => (provider, Some(parse::<SessionId>("a session", session)?)),
        None => (app, None),
    };
    let provider = parse::<ProviderId>("an app", provider)?;
    let open = OpenArgs {
        provider,
        session,
        args,
        cwd: env.directory()?,
        env: env.variables(),
        pin: None,
        priority: None,
        weight: None,
    };
    Ok(ToolRequest::Verb(Box::new(ToolVerb::new(Verb::Open(open)))))
}

/// Closes a window, and ends its session if `end` is true.
pub fn close(window: &str, end: bool) -> Result<ToolRequest, ClientError> {
    let verb = Verb::Close { session: session(window)?, end };
    Ok(ToolRequest::Verb(Box::new(ToolVerb::new(verb))))
}

/// Splits off a command's verb; `None` for calls.
fn command(text: &str) -> Option<(VerbKind, &str)> {
    let end = text.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(text.len());
    let (verb, rest) = text.split_at(end);
    let is_command = |kind: &&VerbKind| kind.name() == verb && kind.tool_use() != ToolUse::Nobody;
    let verb = *VerbKind::ALL.iter().find(is_command)?;
    // A call may have a space before its bracket.
    let follows = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let is_call = rest.trim_start().starts_with(['(', '.', '=']);
    (follows && !is_call).then(|| (verb, rest.trim_start()))
}

fn script(
    code: &str,
    kind: CodeKind,
    settings: CommandOptions,
) -> Result<ToolRequest, ClientError> {
    if let Some(link) =
        code.strip_prefix("link:").filter(|id| id.bytes().all(|b| b.is_ascii_digit()))
        && kind == CodeKind::Any
    {
        return Ok(settings.verb(Verb::Click { link: format!("link:{link}") }));
    }
    if stdin_at(code).is_some() {
        return Err(ClientError::invalid("a tool's call has no standard input: nothing ran").hint(
            "give the text as a raw block: text=<<END, the text on the next lines, END alone",
        ));
    }
    let only_queries = kind == CodeKind::OnlyLooks;
    Ok(settings.verb(Verb::Run { code: code.to_owned(), stdin: None, only_queries }))
}

fn plain_command(
    verb: VerbKind,
    words: Vec<String>,
    mut settings: CommandOptions,
    env: &dyn CallerEnv,
) -> Result<ToolRequest, ClientError> {
    let mut words = words.into_iter();
    let first = words.next();
    let needs = |what: &str| {
        let name = verb.name();
        ClientError::invalid(format!("{name} needs {what}"))
            .hint(format!("{name} {}", example(verb)))
    };
    let needed_session = |word: Option<String>| session(&word.ok_or_else(|| needs("a session"))?);
    let verb = match verb {
        VerbKind::View => {
            let session = first.map(|window| session(&window)).transpose()?;
            let wait_ms = std::mem::take(&mut settings.wait_ms);
            let (open, since) = (session.is_some(), settings.since);
            let held = std::mem::take(&mut settings.held);
            Verb::View(ViewArgs { session, since, wait_ms, inject: None, held, open })
        }
        VerbKind::Read => Verb::Read { target: first.ok_or_else(|| needs("a ref"))? },
        VerbKind::Help => match first {
            None => return Ok(ToolRequest::Text(guide())),
            Some(app) => {
                if settings.full {
                    settings.lod = Some(Lod::Full);
                }
                let (provider, action) = help_topic(&app);
                let provider = parse("an app", provider)?;
                let action = action.map(str::to_owned);
                Verb::Help { provider, aliases: settings.aliases, action }
            }
        },
        VerbKind::History => {
            let (detail, rounds) = (settings.detail, settings.rounds);
            Verb::History(HistoryArgs { detail, rounds, ..HistoryArgs::default() })
        }
        VerbKind::Apps => Verb::Apps,
        VerbKind::Sessions => Verb::Sessions,
        VerbKind::Status => Verb::Status,
        VerbKind::Logs => {
            let lines = settings.lines.unwrap_or(50);
            Verb::Logs { session: needed_session(first)?, lines, after: None, wait_ms: 0 }
        }
        VerbKind::Click => Verb::Click { link: first.ok_or_else(|| needs("a link"))? },
        VerbKind::Undo => {
            Verb::Undo { round: first.map(|round| number_of("undo", &round)).transpose()? }
        }
        VerbKind::Open => {
            let app = first.ok_or_else(|| needs("an app"))?;
            return open(&app, words.filter(|word| word != "--").collect(), env);
        }
        VerbKind::Close => return close(&first.ok_or_else(|| needs("a window"))?, settings.end),
        VerbKind::End => Verb::End { session: needed_session(first)? },
        VerbKind::Restart => Verb::Restart { session: needed_session(first)? },
        VerbKind::Set => Verb::Set { option: first, value: words.next() },
        // The table of verbs says which are commands, and a test that each of these is here.
        _ => {
            return Err(ClientError::invalid(format!("{} is no command here", verb.name())));
        }
    };
    Ok(settings.verb(verb))
}

/// Splits what `help` is asked about, `editor` or `editor.find`, into the app and the action.
/// Parentheses behind the action are left out. A name that no app can have, `replace_lines`, is an
/// action of a built-in app, if one has it.
pub fn help_topic(text: &str) -> (&str, Option<&str>) {
    let name = text.split_once('(').map_or(text, |(name, _)| name);
    if let Some((app, action)) = name.split_once('.') {
        return (app, Some(action));
    }
    let has = |app: &&App| app.prototypes().iter().any(|one| one.written_name() == name);
    match name.contains('_').then(|| APPS.iter().find(has)).flatten() {
        Some(app) => (app.id, Some(name)),
        None => (name, None),
    }
}

fn example(verb: VerbKind) -> &'static str {
    match verb {
        VerbKind::Read => "obj:7",
        VerbKind::Click => "link:4",
        VerbKind::Open => pipemux_catalog::default_app().id,
        _ => "editor/main",
    }
}

/// The answer to `help`: the whole guide.
fn guide() -> String {
    [guide::instructions(), guide::of_looking(), guide::of_acting()].concat()
        + "more: help <app> · apps\n"
}

fn parse<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, ClientError>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| ClientError::invalid(format!("`{text}` is not {what}: {error}")))
}

/// Parses a session. Without a session name, it is the one that `open` uses by default.
fn session(text: &str) -> Result<SessionAddr, ClientError> {
    match text.contains('/') {
        true => parse("a window", text),
        false => parse("a window", &format!("{text}/{}", SessionAddr::DEFAULT_SESSION)),
    }
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
