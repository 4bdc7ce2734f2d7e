//! Anthropic's `bash`: a shell that keeps its folder, variables and functions from one command to
//! the next.

use std::time::{Duration, Instant};

use super::arguments::Arguments;
use super::code::Code;
use super::daemon::{Daemon, Step};
use super::outcome::{Failure, Outcome, ToolAnswer};
use super::text::without_middle;

/// The time after which the tool answers even if the command is still running.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// The terminal's remark on a line that has ended but left something running.
const LEFT_RUNNING: &str = "its background goes on";
/// Lines of output that are asked for at the beginning, and at the end of a longer one.
const HEAD: usize = 2_000;
const TAIL: usize = 200;

/// Carries out a command, or begins a new shell.
///
/// # Errors
/// No daemon answers.
pub fn answer(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    if arguments.flag("restart") {
        daemon.act(Code::call("terminal.bash").plain("restart", true))?;
        return Ok(ToolAnswer::done("tool has been restarted."));
    }
    let Some(command) = arguments.optional_text("command")? else {
        return Err(ToolAnswer::failed("no command provided.").into());
    };
    let call = Code::call("terminal.bash").long_text("command", command);
    let Ran { output, exit, verdict, .. } = run(call, PATIENCE, daemon)?;
    let told = match exit {
        Some(0) => None,
        Some(status) => Some(format!("exit {status}")),
        None => Some(verdict),
    };
    let is_error = told.is_some();
    let parts = [Some(output).filter(|output| !output.is_empty()), told];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    Ok(ToolAnswer { is_error, ..ToolAnswer::done(text) })
}

/// The result of running a command.
#[derive(Debug)]
pub struct Ran {
    /// What it printed.
    pub output: String,
    /// The exit status if the command ended by itself, even if background processes remain.
    pub exit: Option<i64>,
    /// The description of the command's end, or that it is still running.
    pub verdict: String,
    /// How long it took.
    pub took: Duration,
}

/// Runs a command of the terminal, and waits for its end.
///
/// # Errors
/// It may not run, or no daemon answers.
pub fn run(code: Code, patience: Duration, daemon: &mut Daemon) -> Result<Ran, Failure> {
    let began = Instant::now();
    let started = daemon.act(code)?;
    let job = started.job.clone().or(started.value).unwrap_or_default();
    let goes_on = started.brief.contains(LEFT_RUNNING);
    let ended = match &started.job {
        None => Some(started.brief),
        Some(_) if goes_on => None,
        Some(job) => daemon.end_of(job, patience.saturating_sub(began.elapsed()))?,
    };
    let output = output(&job, daemon)?;
    let exit = ended.as_deref().and_then(exit_status).or(goes_on.then_some(0));
    let verdict = match ended {
        Some(how) => how.split(" · ").next().unwrap_or_default().to_owned(),
        None => format!(
            "timed out: bash has not returned in {} seconds and must be restarted; until then it goes on as {job}",
            patience.as_secs()
        ),
    };
    Ok(Ran { output, exit, verdict, took: began.elapsed() })
}

/// Returns the output of a command, without its middle if it is long.
fn output(job: &str, daemon: &mut Daemon) -> Result<String, Failure> {
    let query = |from: String, to: Option<usize>| {
        let call = Code::call("terminal.output").plain("from", from);
        let call = match to {
            Some(to) => call.plain("to", to),
            None => call,
        };
        call.text("job", job)
    };
    let Step { brief, value, .. } = daemon.show(query("1".into(), Some(HEAD)))?;
    let head = value.unwrap_or_default();
    // `lines 1-2000 of 5000`
    if !brief.contains(" of ") {
        return Ok(without_middle(&head));
    }
    let tail = daemon.show(query(format!("-{TAIL}"), None))?.value.unwrap_or_default();
    Ok(without_middle(&format!("{head}\n… ({brief}) …\n{tail}")))
}

/// Reads `exit 3 after 2 s · 4 lines`.
fn exit_status(verdict: &str) -> Option<i64> {
    let rest = verdict.strip_prefix("exit ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}
