//! Runs commands, and acts on those that run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docui::{Ask, Blocking, Context, Done, Fault, FilePath, Reply, Started, View};

use crate::action::Action;
use crate::answer::Answer;
use crate::command_line::CommandLine;
use crate::job::{Ended, How, Job};
use crate::keys;
use crate::limits::{
    COMMAND_MAX, INPUT_PATIENCE, INPUT_SILENCE, SCREEN_SILENCE, STOP_PATIENCE, WAIT_MARGIN,
    WAIT_MAX,
};
use crate::model::{Terminal, shortened, titled};
use crate::permission::{Permission, Rules, Scope};
use crate::process::signal_named;
use crate::query::{newest_lines, screen_view};
use crate::start::Order;

/// What is done for an action.
pub enum Work {
    /// This, on another thread.
    Waits(Blocking<Terminal>),
    /// A question.
    Asks,
    /// It is a query.
    Looks,
}

/// Begins what an action asks for.
///
/// # Errors
/// It can't be done, or may not.
pub fn act(app: &mut Terminal, action: &Action, context: &Context) -> Result<Work, Fault> {
    let work = match action {
        Action::Run { command, cwd, env, timeout, wait } => {
            let order = order(app, command, cwd.clone(), env.clone(), context)?;
            if !is_permitted(app, &order, context)? {
                return Ok(Work::Asks);
            }
            let timeout =
                timeout.map(|seconds| duration("timeout", seconds, f64::MAX)).transpose()?;
            let wait = duration("wait", *wait, WAIT_MAX as f64)?;
            let job = app.start(order, timeout, &context.reader)?;
            await_end(job, wait, u64::from(context.budget))
        }
        Action::Restart { job, wait } => {
            let job = app.job(job.as_ref(), &context.reader)?;
            let wait = duration("wait", *wait, WAIT_MAX as f64)?;
            restart(job, wait, context)
        }
        Action::Stop { job } => {
            let job = app.job(job.as_ref(), &context.reader)?;
            stop(job, u64::from(context.budget))
        }
        Action::Signal { name, job } => {
            let signal = signal_named(name).ok_or_else(|| {
                Fault::usage(format!("there is no signal {name:?}: HUP, INT, QUIT, KILL, USR1, USR2, TERM, CONT, STOP"))
            })?;
            let job = running(app.job(job.as_ref(), &context.reader)?)?;
            job.signal(signal);
            await_answer(job, Vec::new(), context)
        }
        Action::Input { text, job, enter } => {
            let job = running(app.job(job.as_ref(), &context.reader)?)?;
            let end = if *enter { "\r" } else { "" };
            await_answer(job, format!("{text}{end}").into_bytes(), context)
        }
        Action::Keys { keys, job } => {
            let job = running(app.job(job.as_ref(), &context.reader)?)?;
            let bytes = keys::bytes(keys, job.with(|state| state.screen.has_application_cursor()))?;
            await_answer(job, bytes, context)
        }
        _ => return Ok(Work::Looks),
    };
    Ok(Work::Waits(work))
}

/// Asks whether a command may run.
///
/// # Errors
/// It may not in any case.
pub fn question(
    app: &Terminal,
    command: &str,
    cwd: Option<FilePath>,
    env: BTreeMap<String, String>,
    context: &Context,
) -> Result<Reply, Fault> {
    let order = order(app, command, cwd, env, context)?;
    let whole = order.whole();
    let file = Rules::path(&app.env).map_or_else(String::new, |path| in_home(&path, &app.env));
    let any = format!(
        "all commands in this workspace from now on (for all workspaces: allow = [\"*\"] in {file})"
    );
    let ask = match permission(app, &order)? {
        Permission::Ask(Some(Scope::Programs(programs))) => {
            let programs = programs.join(", ");
            Ask::pick_one(format!("may {programs} run? {}", shortened(&whole)))
                .option("always", format!("{programs} in this workspace"))
                .option("once", "this command")
                .option("any", any)
        }
        Permission::Ask(Some(Scope::Line | Scope::Any)) => {
            Ask::pick_one(format!("may this line run? {whole}"))
                .option("always", "this line in this workspace")
                .option("once", "now")
                .option("any", any)
        }
        Permission::Ask(None) | Permission::Allowed => {
            Ask::pick_one(format!("may this run? {whole}")).option("once", "it is asked each time")
        }
        Permission::Denied(pattern) => return Err(denied(app, &pattern)),
    };
    Ok(ask.token(whole).into())
}

/// Returns a path as a person writes it.
fn in_home(path: &Path, env: &BTreeMap<String, String>) -> String {
    let below = env.get("HOME").and_then(|home| path.strip_prefix(home).ok());
    below.map_or_else(|| path.display().to_string(), |below| format!("~/{}", below.display()))
}

fn order(
    app: &Terminal,
    command: &str,
    cwd: Option<FilePath>,
    env: BTreeMap<String, String>,
    context: &Context,
) -> Result<Order, Fault> {
    if command.trim().is_empty() || command.contains('\0') || command.len() > COMMAND_MAX {
        return Err(Fault::usage(format!("command: expected a line of 1 to {COMMAND_MAX} bytes")));
    }
    let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
    if !env.iter().all(|(name, value)| is_name(name) && !value.contains('\0')) {
        return Err(Fault::usage("env: expected names and values: env={\"RUST_LOG\": \"debug\"}"));
    }
    let directory = app.directory(context);
    let cwd: PathBuf = cwd.map_or_else(|| directory.clone(), |cwd| directory.join(cwd.0));
    if !cwd.is_dir() {
        return Err(Fault::not_found(format!("cwd: there is no folder {}", cwd.display())));
    }
    let order = Order::new(CommandLine::parse(command), cwd, env, &app.env);
    order.check()?;
    Ok(order)
}

fn permission(app: &Terminal, order: &Order) -> Result<Permission, Fault> {
    let rules = Rules::read(Rules::path(&app.env).as_deref())?;
    let is_plain = order.given.is_empty();
    Ok(rules.check(&order.line, &order.whole(), is_plain, &order.cwd, &app.allowed))
}

/// Returns whether a command may run, and notes what an answer allows.
fn is_permitted(app: &mut Terminal, order: &Order, context: &Context) -> Result<bool, Fault> {
    let scope = match permission(app, order)? {
        Permission::Allowed => return Ok(true),
        Permission::Denied(pattern) => return Err(denied(app, &pattern)),
        Permission::Ask(scope) => scope,
    };
    let Some((token, choice)) = &context.answer else { return Ok(false) };
    if *token != order.whole().into_bytes() {
        return Ok(false);
    }
    let docui::Choice::Picked(picked) = choice else { return Ok(false) };
    match (picked.as_slice(), scope) {
        ([1], Some(scope)) => {
            app.allowed.add(&scope, &order.whole(), &app.state_dir)?;
            Ok(true)
        }
        ([3], Some(_)) => {
            app.allowed.add(&Scope::Any, &order.whole(), &app.state_dir)?;
            Ok(true)
        }
        ([2], Some(_)) | ([1], None) => Ok(true),
        _ => Err(Fault::refused("it was not run")),
    }
}

fn denied(app: &Terminal, pattern: &str) -> Fault {
    let file = Rules::path(&app.env).map_or_else(String::new, |path| in_home(&path, &app.env));
    Fault::refused(format!("it may not run: deny = [{pattern:?}] in {file}"))
}

fn duration(name: &str, seconds: f64, most: f64) -> Result<Duration, Fault> {
    Duration::try_from_secs_f64(seconds.min(most).min(1e9))
        .map_err(|_| Fault::usage(format!("{name}: expected seconds, not {seconds}")))
}

fn running(job: Arc<Job>) -> Result<Arc<Job>, Fault> {
    match job.ended() {
        None => Ok(job),
        Some(ended) => {
            Err(Fault::refused(format!("{} has ended: {}", titled(&job), ended.verdict())))
        }
    }
}

/// Waits for the end of a command, and answers with it or with the job that goes on.
fn await_end(job: Arc<Job>, wait: Duration, budget: u64) -> Blocking<Terminal> {
    let what = titled(&job);
    let waited = job.clone();
    let work = move |commit: &docui::blocking::CommitPoint| {
        // It runs already.
        let _ = commit.begin();
        // A program that takes the screen waits for keys.
        waited.wait(Instant::now() + wait, |state| {
            state.screen.is_taken().then(|| SCREEN_SILENCE.saturating_sub(state.printed.elapsed()))
        })
    };
    Blocking::new(what, wait + WAIT_MARGIN, work, move |app: &mut Terminal, ended, _| {
        Ok(ended_or_started(app, &job, ended, budget))
    })
}

fn ended_or_started(
    app: &Terminal,
    job: &Arc<Job>,
    ended: Option<Arc<Ended>>,
    budget: u64,
) -> Reply {
    if let Some(ended) = ended {
        return Answer::of(job, &ended, budget).into_done().into();
    }
    let handle = app.handle.job(job.name());
    match job.follow(handle.clone()) {
        Ok(()) => {
            let screen =
                if job.with(|state| state.screen.is_taken()) { " · full screen" } else { "" };
            Started::new(&handle, titled(job) + screen).into()
        }
        Err(ended) => Answer::of(job, &ended, budget).into_done().into(),
    }
}

fn stop(job: Arc<Job>, budget: u64) -> Blocking<Terminal> {
    let stopped = job.clone();
    Blocking::new(
        titled(&job),
        2 * STOP_PATIENCE + WAIT_MARGIN,
        move |commit| ended_by_stop(&stopped, commit),
        move |_, ended: Option<Arc<Ended>>, _| match ended {
            Some(ended) => Ok(Answer::of(&job, &ended, budget.min(200)).into_done().into()),
            None => {
                Err(Fault::failed(format!("{} was killed and hangs in the system", titled(&job))))
            }
        },
    )
}

/// Stops a command, unless the call was cancelled; `None` if it hangs in the system.
fn ended_by_stop(job: &Job, commit: &docui::blocking::CommitPoint) -> Option<Arc<Ended>> {
    commit.begin().then(|| job.stop(How::Stopped)).flatten()
}

fn restart(job: Arc<Job>, wait: Duration, context: &Context) -> Blocking<Terminal> {
    let (reader, budget) = (context.reader.clone(), u64::from(context.budget));
    let stopped = job.clone();
    Blocking::new(
        titled(&job),
        2 * STOP_PATIENCE + WAIT_MARGIN,
        move |commit| ended_by_stop(&stopped, commit),
        move |app: &mut Terminal, ended: Option<Arc<Ended>>, completion| {
            if ended.is_none() || completion.late {
                return Err(Fault::failed(format!(
                    "{} did not end; it was not run again",
                    titled(&job)
                )));
            }
            let new = app.start(job.order.clone(), job.timeout, &reader)?;
            let ended = new.wait(Instant::now() + wait.min(Duration::from_millis(100)), |_| None);
            Ok(ended_or_started(app, &new, ended, budget))
        },
    )
}

/// Types something, and shows what the program made of it.
fn await_answer(job: Arc<Job>, bytes: Vec<u8>, context: &Context) -> Blocking<Terminal> {
    let budget = u64::from(context.budget);
    let typed = job.clone();
    let work = move |commit: &docui::blocking::CommitPoint| {
        if !commit.begin() {
            return Ok((None, 0));
        }
        let (before, began) = (typed.with(|state| state.spill.lines()) + 1, Instant::now());
        if !bytes.is_empty() {
            typed.type_in(&bytes)?;
        }
        let ended = typed.wait(began + INPUT_PATIENCE, |state| {
            (state.printed > began).then(|| INPUT_SILENCE.saturating_sub(state.printed.elapsed()))
        });
        Ok((ended, before))
    };
    Blocking::new(
        titled(&job),
        INPUT_PATIENCE + WAIT_MARGIN,
        work,
        move |_, result: std::io::Result<(Option<Arc<Ended>>, u64)>, _| {
            let (ended, from) = result.map_err(|error| {
                Fault::failed(format!("{} takes no input: {error}", titled(&job)))
            })?;
            if let Some(ended) = ended {
                return Ok(Answer::of(&job, &ended, budget).into_done().into());
            }
            let view: View = match job.with(|state| state.screen.is_taken()) {
                true => screen_view(&job),
                false => newest_lines(&job, from, budget),
            };
            Ok(Done::new(job.name()).content(view).complete().into())
        },
    )
}
