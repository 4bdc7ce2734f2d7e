//! The arguments.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;
use pipemux_client::ClientError;

/// With less than that, an answer couldn't even say how to go on.
const BUDGET_MIN: u32 = 100;
/// Tokens for what an act changed in files: none, since the call had it.
const DIFF: u32 = 0;

/// Serve PipeMux to an agent harness over the Model Context Protocol
///
/// The harness starts this as a command and talks to it on standard input and output. Each
/// connection is a reader of its own. With --http it serves streamable HTTP instead, at /mcp, on
/// the loopback interface unless told otherwise. Requests must carry the token in
/// PIPEMUX_MCP_TOKEN, or else the one that is made and printed; the header PipeMux-Reader or
/// ?reader=NAME names the reader.
///
///   pipemux setup claude-code      writes a harness's configuration
#[derive(Debug, Parser)]
#[command(name = "pipemux mcp", version, verbatim_doc_comment)]
pub struct Args {
    /// The reader's name, for an agent that is to see what it saw before
    #[arg(long, value_name = "NAME")]
    pub reader: Option<String>,
    /// The workspace; by default the project around the current directory
    #[arg(long, value_name = "NAME")]
    pub workspace: Option<String>,
    /// Tokens that an answer may take, unless a call says otherwise; by default what the client
    /// takes
    #[arg(long, value_name = "TOKENS", value_parser = budget)]
    pub budget: Option<u32>,
    /// Tokens that the differences in files may take in the answer of an act; 0 for none
    #[arg(long, value_name = "TOKENS", default_value_t = DIFF)]
    pub diff: u32,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Serve HTTP on this address instead of standard input and output
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7357")]
    pub http: Option<SocketAddr>,
}

/// Says what is wrong with a command line.
pub fn wrong(error: &clap::Error) -> ClientError {
    let whole = error.render().to_string();
    let line = whole.lines().next().unwrap_or_default();
    let why = line.strip_prefix("error: ").unwrap_or(line);
    ClientError::invalid(format!("refused, nothing ran · {why}")).hint("pipemux mcp --help")
}

/// Parses the tokens of an answer.
fn budget(text: &str) -> Result<u32, String> {
    let tokens = text.parse().ok().filter(|tokens| *tokens >= BUDGET_MIN);
    tokens
        .ok_or_else(|| format!("expected tokens, a whole number from {BUDGET_MIN}: --budget 6500"))
}

/// Parses a time limit: more than zero, at most a day.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|n| (0.001..=86_400.0).contains(n));
    let found = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    found.ok_or_else(|| "expected seconds, from 0.001 to 86400".to_owned())
}
