//! The code of a tool's call: calls of apps, or one command.

use pipemux_catalog::{APPS, App};
use pipemux_proto::call::stdin_at;
use pipemux_proto::client::{HeldWindow, HistoryArgs, OpenArgs, ToolUse, Verb, VerbKind, ViewArgs};
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::projection::Lod;
use pipemux_proto::{ProviderId, SessionAddr, SessionId};

use super::{CallerEnv, RUN, ToolRequest, ToolVerb};
use crate::error::ClientError;
use crate::guide;

/// What a tool's code may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// It changes nothing.
    OnlyLooks,
    /// It may act.
    Any,
}

/// Decides what code asks.
///
/// # Errors
/// A command has wrong arguments, acts where only looking is allowed, or needs what a tool's call doesn't have.
pub fn to_request(
    text: &str,
    kind: CodeKind,
    env: &dyn CallerEnv,
) -> Result<ToolRequest, ClientError> {
    let mut settings = Settings::default();
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

fn script(code: &str, kind: CodeKind, settings: Settings) -> Result<ToolRequest, ClientError> {
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
    mut settings: Settings,
    env: &dyn CallerEnv,
) -> Result<ToolRequest, ClientError> {
    let mut words = words.into_iter();
    let first = words.next();
    let needs = |what: &str| {
        let name = verb.name();
        ClientError::invalid(format!("{name} needs {what}"))
            .hint(format!("{name} {}", example(verb)))
    };
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
        VerbKind::History => Verb::History(HistoryArgs {
            detail: settings.detail,
            rounds: settings.rounds,
            ..HistoryArgs::default()
        }),
        VerbKind::Apps => Verb::Apps,
        VerbKind::Sessions => Verb::Sessions,
        VerbKind::Status => Verb::Status,
        VerbKind::Logs => {
            let session = session(&first.ok_or_else(|| needs("a session"))?)?;
            Verb::Logs { session, lines: settings.lines.unwrap_or(50), after: None, wait_ms: 0 }
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
        VerbKind::End => Verb::End { session: session(&first.ok_or_else(|| needs("a session"))?)? },
        VerbKind::Restart => {
            Verb::Restart { session: session(&first.ok_or_else(|| needs("a session"))?)? }
        }
        VerbKind::Set => Verb::Set { option: first, value: words.next() },
        VerbKind::Run
        | VerbKind::Ask
        | VerbKind::Answer
        | VerbKind::ShowQuestion
        | VerbKind::Inject
        | VerbKind::Resolve
        | VerbKind::ResolveAndRun
        | VerbKind::Trace
        | VerbKind::Limits
        | VerbKind::Watch
        | VerbKind::Providers
        | VerbKind::Consents
        | VerbKind::Consent
        | VerbKind::Pause
        | VerbKind::Resume
        | VerbKind::Down => {
            return Err(ClientError::invalid(format!("{} is no command here", verb.name())));
        }
    };
    Ok(settings.verb(verb))
}

/// Splits what `help` is asked about, `editor` or `editor.find`, into the app and the action. Parentheses behind the
/// action are left out. A name that no app can have, `replace_lines`, is an action of a built-in app, if one has it.
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

/// What `help` says: the whole guide.
fn guide() -> String {
    [guide::instructions(), guide::of_looking(), guide::of_acting()].concat()
        + "more: help <app> · apps\n"
}

/// The options of commands.
#[derive(Debug, Default)]
struct Settings {
    budget: Option<u32>,
    lod: Option<Lod>,
    at: Option<u64>,
    since: Option<u64>,
    rounds: Option<u32>,
    lines: Option<u32>,
    wait_ms: u32,
    detail: bool,
    full: bool,
    aliases: bool,
    end: bool,
    held: Vec<HeldWindow>,
}

impl Settings {
    fn verb(self, verb: Verb) -> ToolRequest {
        let Settings { budget, lod, at, wait_ms, .. } = self;
        ToolRequest::Verb(Box::new(ToolVerb { verb, budget, lod, at, wait_ms }))
    }

    /// Takes the options that a text begins with, and returns what follows.
    fn take_leading<'t>(&mut self, mut text: &'t str) -> Result<&'t str, ClientError> {
        loop {
            text = text.trim_start_matches(' ');
            if !text.starts_with("--") || text.starts_with("--to ") {
                return Ok(text);
            }
            let (word, rest) = split_word(text);
            let (name, given) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            if self.switch(name) {
                text = rest;
                continue;
            }
            let (value, rest) = match given {
                Some(value) => (value, rest),
                None => split_word(rest.trim_start()),
            };
            self.set(name, value)?;
            text = rest;
        }
    }

    /// Takes the options among a command's words, and returns the others.
    fn take_all(&mut self, words: Vec<String>) -> Result<Vec<String>, ClientError> {
        let (mut others, mut words) = (Vec::new(), words.into_iter());
        while let Some(word) = words.next() {
            let (name, given) = match word.split_once('=').filter(|_| word.starts_with("--")) {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            if word == "--" {
                others.push(word);
                others.extend(words.by_ref());
            } else if !word.starts_with("--") {
                others.push(word);
            } else if !self.switch(name) {
                let value = given.or_else(|| words.next()).unwrap_or_default();
                self.set(name, &value)?;
            }
        }
        Ok(others)
    }

    /// Takes the quotes off code that is one word of a shell, and the options behind it.
    fn take_quoted(&mut self, text: &str) -> Result<String, ClientError> {
        let Some(parts) = text.starts_with(['\'', '"']).then(|| words(text).ok()).flatten() else {
            return Ok(text.to_owned());
        };
        let mut code = self.take_all(parts)?;
        Ok(if code.len() == 1 { code.remove(0) } else { text.to_owned() })
    }

    fn switch(&mut self, name: &str) -> bool {
        match name {
            "--detail" | "--diff" => self.detail = true,
            "--full" => self.full = true,
            "--aliases" => self.aliases = true,
            "--end" => self.end = true,
            "--all" | "--help" => {}
            _ => return false,
        }
        true
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), ClientError> {
        match name {
            "--budget" => self.budget = Some(number_of(name, value)?),
            "--rounds" => self.rounds = Some(number_of(name, value)?),
            "--lines" => self.lines = Some(number_of(name, value)?),
            "--since" => self.since = Some(number_of(name, value.trim_start_matches('e'))?),
            "--at" => self.at = Some(number_of(name, value.trim_start_matches('e'))?),
            "--have" => self.held.extend(value.parse()),
            "--wait" => {
                let seconds: Option<f64> = value.parse().ok();
                let found =
                    seconds.filter(|n| (0.001..=f64::from(WAIT_MAX_MS) / 1000.0).contains(n));
                let seconds = found.ok_or_else(|| expected(name, value, "seconds"))?;
                self.wait_ms = (seconds * 1000.0) as u32;
            }
            "--lod" => {
                self.lod = Some(match value.to_ascii_lowercase().as_str() {
                    "gist" => Lod::Gist,
                    "summary" => Lod::Summary,
                    "full" => Lod::Full,
                    _ => return Err(expected(name, value, "gist, summary or full")),
                });
            }
            _ => {
                return Err(ClientError::invalid(format!("there is no option {name} here")).hint(
                    "options: --budget N, --lod gist|summary|full, --at eN, --wait SECONDS, --have WINDOW=VERSION",
                ));
            }
        }
        Ok(())
    }
}

fn expected(name: &str, value: &str, what: &str) -> ClientError {
    ClientError::invalid(format!("{name} is `{value}`: expected {what}"))
}

fn number_of<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, ClientError> {
    value.trim().parse().map_err(|_| expected(name, value, "a whole number"))
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

fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

/// Takes the quotes off a text that is one word of a shell as a whole.
fn unquoted(text: &str) -> String {
    let quoted = text.starts_with('\'') || (text.starts_with('"') && text.ends_with('"'));
    match words(text) {
        Ok(words) if quoted && words.len() == 1 => words.into_iter().next().unwrap_or_default(),
        _ => text.to_owned(),
    }
}

/// Splits a command as a shell does: at spaces outside of quotes.
fn words(text: &str) -> Result<Vec<String>, ClientError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => word.extend(chars.next()),
                        Some(other) => word.push(other),
                        None => {
                            return Err(ClientError::invalid(format!("the quote {c} has no end")));
                        }
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
