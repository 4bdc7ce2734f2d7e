//! Parsers for the values of arguments. Each error says which values are expected.

use std::time::Duration;

use clap::ValueEnum;
use pipemux_client::proto::ids::IdError;
use pipemux_client::proto::limits::WAIT_MAX_MS;
use pipemux_client::proto::{ProviderId, SessionAddr, SessionId};

/// The app that `open` opens, and the session if one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTarget {
    pub provider: ProviderId,
    pub session: Option<SessionId>,
}

/// A harness of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Harness {
    ClaudeCode,
    Codex,
    Gemini,
    Cursor,
    Vscode,
    Zed,
    Opencode,
    QwenCode,
    Copilot,
    // Any that reads a project's AGENTS.md, and skills below `.agents`.
    AgentsMd,
}

/// What is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum With {
    /// The Model Context Protocol's server.
    Mcp,
    /// The command line: a skill, and hooks where the harness has them.
    Skill,
    Both,
}

/// Parses `editor` or `editor/draft`.
pub fn open_target(text: &str) -> Result<OpenTarget, IdError> {
    let (provider, session) = match text.split_once('/') {
        Some((provider, session)) => (provider, Some(session.parse()?)),
        None => (text, None),
    };
    Ok(OpenTarget { provider: provider.parse()?, session })
}

/// What `help` describes: an app, or one of its actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpTopic {
    pub provider: ProviderId,
    pub action: Option<String>,
}

/// Parses `editor` or `editor.find`, which may have parentheses: `editor.find(…)`.
pub fn help_topic(text: &str) -> Result<HelpTopic, IdError> {
    let (provider, action) = pipemux_client::tools::help_topic(text);
    Ok(HelpTopic { provider: provider.parse()?, action: action.map(str::to_owned) })
}

pub fn provider(text: &str) -> Result<ProviderId, IdError> {
    text.parse()
}

/// Parses a session. Without a session name, it is the one that `open` uses by default.
pub fn session(text: &str) -> Result<SessionAddr, IdError> {
    let OpenTarget { provider, session } = open_target(text)?;
    let session = session.map_or_else(|| SessionAddr::DEFAULT_SESSION.parse(), Ok)?;
    Ok(SessionAddr { provider, session })
}

/// Parses an epoch as answers show it, `e17`, or its bare number.
pub fn epoch(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('e').unwrap_or(text);
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    number.ok_or_else(|| "expected an epoch as answers show it: e17".to_owned())
}

/// Parses a window's part of a budget.
pub fn weight(text: &str) -> Result<u32, String> {
    let weight = text.parse().ok().filter(|weight| (1..=1000).contains(weight));
    weight.ok_or_else(|| "expected a whole number from 1 to 1000".to_owned())
}

/// Parses a window's place in a document.
pub fn priority(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| format!("expected a whole number from {} to {}", i32::MIN, i32::MAX))
}

/// Parses a time limit: more than zero, at most a day.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|n| (0.001..=86_400.0).contains(n));
    let found = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    found.ok_or_else(|| "expected seconds, from 0.001 to 86400".to_owned())
}

/// Parses a waiting time: more than zero, at most the daemon's own maximum.
pub fn wait(text: &str) -> Result<Duration, String> {
    let most = Duration::from_millis(WAIT_MAX_MS.into());
    let expected = || format!("expected seconds, from 0.001 to {}", most.as_secs());
    seconds(text).ok().filter(|wait| *wait <= most).ok_or_else(expected)
}

pub fn event(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected an event's number as watch prints it: --since 12".into())
}

pub fn tokens(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(tokens) if tokens > 0 => Ok(tokens),
        _ if is_digits(text) && text.bytes().any(|b| b != b'0') => {
            Err(format!("expected tokens, a whole number from 1 to {}", u32::MAX))
        }
        _ => Err("expected tokens, a whole number from 1: --budget 300".to_owned()),
    }
}

pub fn rounds(text: &str) -> Result<u32, String> {
    let rounds = text.parse().ok().filter(|rounds| *rounds > 0);
    rounds.ok_or_else(|| format!("expected a whole number from 1 to {}", u32::MAX))
}

pub fn lines(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u32::MAX))
}

pub fn question(text: &str) -> Result<u64, String> {
    let expected = |_| "expected a question's number: --to 4".to_owned();
    text.parse().map_err(expected)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
