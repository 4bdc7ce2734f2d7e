//! Runs commands, and acts on those that run.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docui::deadline;
use docui::{Anchor, Blocking, Context, Done, Fault, Reply, Started, View};
use pipemux_snapshots::Direction;

use crate::action::{Action, Command};
use crate::answer::Answer;
use crate::display::shortened;
use crate::file_changes::Span;
use crate::job::{Ended, How, Job, State};
use crate::job_table::JobTable;
use crate::keys;
use crate::limits::{
    BEFORE_PATIENCE, INPUT_PATIENCE, INPUT_SILENCE, PORTS_SPACING, SCREEN_SILENCE, SERVER_SHOWN,
    SERVER_SILENCE, STOP_PATIENCE, WAIT_MARGIN, WAIT_MAX,
};
use crate::model::Terminal;
use crate::orders;
use crate::permit::Permit;
use crate::process::signal_named;
use crate::query::{newest_lines, screen_view};
use crate::sequence::Sequence;
use crate::shell::Shell;
use crate::stop::{ended_by_stop, restart_shell, stop};
use crate::undo;

/// The remark on a line of a kept shell that has ended but left processes running.
const LEFT_RUNNING: &str = " · ended, its background goes on";

/// The work to be done for an action.
pub enum Work {
    /// This, on another thread.
    Waits(Blocking<Terminal>),
    /// The action is a query and needs no further work.
    Looks,
}

/// Begins what an action asks for.
///
/// # Errors
/// It can't be done, or may not.
pub fn act(app: &mut Terminal, action: &Action, context: &Context) -> Result<Work, Fault> {
    let work = match action {
        Action::Run { command, cwd, env, timeout, wait } => {
            let orders = orders::of_call(app, command, cwd.as_ref(), env, context)?;
            let mut permits = app.permits(orders, context)?;
            let timeout =
                timeout.map(|seconds| duration("timeout", seconds, f64::MAX)).transpose()?;
            let wait = duration("wait", *wait, WAIT_MAX as f64)?;
            match permits.len() {
                1 => run(app.jobs.clone(), permits.remove(0), (timeout, wait), context),
                _ => Sequence::run(app.jobs.clone(), permits, (timeout, wait), context),
            }
        }
        Action::Bash { restart: true, .. } => return Ok(Work::Waits(restart_shell(app, context))),
        Action::Bash { command, wait, .. } => {
            let none = BTreeMap::new();
            let orders = orders::of_call(app, std::slice::from_ref(command), None, &none, context)?;
            let wait = duration("wait", *wait, WAIT_MAX as f64)?;
            let mut permits = app.permits(orders, context)?;
            let permit = permits.remove(0).in_shell(&app.state_dir, &context.reader)?;
            run(app.jobs.clone(), permit, (None, wait), context)
        }
        Action::Shell { command, cwd, env, timeout, wait } => {
            let orders =
                orders::of_call(app, std::slice::from_ref(command), cwd.as_ref(), env, context)?;
            let timeout =
                timeout.map(|seconds| duration("timeout", seconds, f64::MAX)).transpose()?;
            let wait = duration("wait", *wait, WAIT_MAX as f64)?;
            let mut permits = app.permits(orders, context)?;
            run(app.jobs.clone(), permits.remove(0).told(), (timeout, wait), context)
        }
        Action::Restart { job, wait } => {
            let job = restartable(app, job.as_ref(), context)?;
            let wait = duration("wait", *wait, WAIT_MAX as f64)?;
            let permits = app.permits(vec![job.order.clone()], context)?;
            restart(app.jobs.clone(), job, permits, wait, context)
        }
        Action::Stop { job } => {
            let job = running(app.active_job(job.as_ref(), &context.reader)?, app)?;
            stop(job, u64::from(context.budget))
        }
        Action::Signal { name, job } => {
            let signal = signal_named(name).ok_or_else(|| {
                Fault::usage(format!("there is no signal {name:?}: HUP, INT, QUIT, KILL, USR1, USR2, TERM, CONT, STOP"))
            })?;
            let job = running(app.active_job(job.as_ref(), &context.reader)?, app)?;
            job.signal(signal);
            await_answer(job, Vec::new(), context)
        }
        Action::Input { text, job, enter } => {
            let job = running(app.active_job(job.as_ref(), &context.reader)?, app)?;
            let end = if *enter { "\r" } else { "" };
            await_answer(job, format!("{text}{end}").into_bytes(), context)
        }
        Action::Keys { keys, job } => {
            let job = running(app.active_job(job.as_ref(), &context.reader)?, app)?;
            let bytes = keys::bytes(keys, job.with(|state| state.screen.has_application_cursor()))?;
            await_answer(job, bytes, context)
        }
        Action::Undo { change, shared } => {
            undo::put(app, change.as_ref(), *shared, Direction::Back, context)?
        }
        Action::Redo { change } => {
            undo::put(app, change.as_ref(), false, Direction::Again, context)?
        }
        _ => return Ok(Work::Looks),
    };
    Ok(Work::Waits(work))
}

fn duration(name: &str, seconds: f64, most: f64) -> Result<Duration, Fault> {
    Duration::try_from_secs_f64(seconds.min(most).min(1e9))
        .map_err(|_| Fault::usage(format!("{name}: expected seconds, not {seconds}")))
}

/// Returns a command that runs.
///
/// # Errors
/// It has ended: what is meant is said, not guessed.
fn running(job: Arc<Job>, app: &Terminal) -> Result<Arc<Job>, Fault> {
    match job.ended() {
        None => Ok(job),
        Some(ended) => {
            let running: Vec<String> = app.running().iter().map(|job| job.titled()).collect();
            let running = match running.is_empty() {
                true => "no command runs".to_owned(),
                false => format!("running: {}", running.join(", ")),
            };
            let verdict = ended.verdict();
            Err(Fault::refused(format!("{} has ended: {verdict}; {running}", job.titled())))
        }
    }
}

/// Returns the command that is to be run again: one that has ended only if it is named.
fn restartable(
    app: &Terminal,
    named: Option<&Anchor<Command>>,
    context: &Context,
) -> Result<Arc<Job>, Fault> {
    let job = app.active_job(named, &context.reader)?;
    match named {
        Some(_) => Ok(job),
        None => running(job.clone(), app).map_err(|fault| {
            fault.hint(docui::command::run(&format!("{}.restart(\"{}\")", app.callee, job.name())))
        }),
    }
}

/// Runs a command, and answers with its end or with the job that goes on.
fn run(
    table: JobTable,
    permit: Permit,
    (timeout, wait): (Option<Duration>, Duration),
    context: &Context,
) -> Blocking<Terminal> {
    let (reader, budget) = (context.reader.clone(), u64::from(context.budget));
    let answer_by = context.answer_by;
    let what = shortened(&permit.order().whole());
    let work = move |commit: &docui::blocking::CommitPoint| {
        let span = table.file_changes().begin();
        if !commit.begin() {
            return Err(Fault::failed("it was called off"));
        }
        let job = table.start(permit, timeout, &reader, Some(span))?;
        let (ended, at) = end_or_start(&job, Context::wait_until(answer_by, wait));
        Ok((job, ended, at))
    };
    type Ran = Result<(Arc<Job>, Option<Arc<Ended>>, Vec<SocketAddr>), Fault>;
    Blocking::new(
        what,
        wait.saturating_add(BEFORE_PATIENCE).saturating_add(WAIT_MARGIN),
        work,
        move |app: &mut Terminal, ran: Ran, _| {
            let (job, ended, at) = ran?;
            let reply = ended_or_started(app, &job, ended, &at, budget);
            Ok(app.with_news(reply))
        },
    )
}

/// Waits until a command has ended, waits for keys, or serves: then it is silent and listens at
/// these addresses.
fn end_or_start(job: &Job, until: Instant) -> (Option<Arc<Ended>>, Vec<SocketAddr>) {
    // A program that takes the screen waits for keys.
    let is_shown = |state: &State| {
        state.screen.is_taken().then(|| SCREEN_SILENCE.saturating_sub(state.printed.elapsed()))
    };
    let (mut pause, longest) = PORTS_SPACING;
    loop {
        let look = (deadline::after(pause)).min(until);
        if let Some(ended) = job.wait(look, is_shown) {
            return (Some(ended), Vec::new());
        }
        let addresses = job.look_at_ports();
        if job.order.shell.as_ref().is_some_and(Shell::is_left) {
            return (None, addresses);
        }
        if !addresses.is_empty() {
            let silent =
                |state: &State| Some(SERVER_SILENCE.saturating_sub(state.printed.elapsed()));
            if let Some(ended) = job.wait(until, silent) {
                return (Some(ended), Vec::new());
            }
            // A test that listens for a moment is no server.
            let still = job.look_at_ports();
            if still == addresses || Instant::now() >= until {
                return (None, still);
            }
        }
        // The time is over, or the screen is to be shown.
        if Instant::now() < look || Instant::now() >= until {
            return (None, addresses);
        }
        pause = (pause * 2).min(longest);
    }
}

fn ended_or_started(
    app: &Terminal,
    job: &Arc<Job>,
    ended: Option<Arc<Ended>>,
    at: &[SocketAddr],
    budget: u64,
) -> Reply {
    if let Some(ended) = ended {
        let done = done_of(job, &ended, budget);
        return if job.order.is_told { done.value(job.name()).into() } else { done.into() };
    }
    let handle = app.handle.job(job.name());
    match job.follow(handle.clone()) {
        Ok(()) => {
            let screen =
                if job.with(|state| state.screen.is_taken()) { " · full screen" } else { "" };
            let left = job.order.shell.as_ref().is_some_and(Shell::is_left);
            let left = if left { LEFT_RUNNING } else { "" };
            let brief = shortened(&job.order.whole()) + screen + left + &serving(job, at);
            let started = Started::new(&handle, brief).named().complete().fails_alone();
            started.no_undo(undo::undo_of_job(app, job)).ran(job.began.elapsed()).into()
        }
        Err(ended) => done_of(job, &ended, budget).into(),
    }
}

fn done_of(job: &Job, ended: &Ended, budget: u64) -> Done {
    Answer::of(job, ended, budget).into_done_with(&ended.changed, job.order.commits())
}

/// Says where a server listens, unless its first lines tell, and these: ` · listening on
/// 127.0.0.1:8000 · Ready in 3 ms`.
fn serving(job: &Job, at: &[SocketAddr]) -> String {
    if at.is_empty() {
        return String::new();
    }
    let mut words = String::new();
    let (mut room, most) = (SERVER_SHOWN, 10);
    for (_, line) in job.lines(1, most).unwrap_or_default() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = line.chars().count();
        if length == 0 {
            continue;
        }
        if length > room {
            break;
        }
        room -= length;
        words += &format!(" · {line}");
    }
    let is_told = |address: &&SocketAddr| {
        let port = address.port().to_string();
        words.split(|c: char| !c.is_ascii_digit()).any(|number| number == port)
    };
    let shown = |address: &SocketAddr| match address {
        SocketAddr::V4(address) if !address.ip().is_unspecified() => address.to_string(),
        _ => format!("port {}", address.port()),
    };
    let mut untold: Vec<String> = at.iter().filter(|one| !is_told(one)).map(shown).collect();
    untold.dedup();
    match untold.is_empty() {
        true => words,
        false => format!(" · listening on {}{words}", untold.join(", ")),
    }
}

fn restart(
    table: JobTable,
    job: Arc<Job>,
    permits: Vec<Permit>,
    wait: Duration,
    context: &Context,
) -> Blocking<Terminal> {
    let (reader, budget) = (context.reader.clone(), u64::from(context.budget));
    let stopped = job.clone();
    Blocking::new(
        job.titled(),
        2 * STOP_PATIENCE.saturating_add(WAIT_MARGIN),
        move |commit| (ended_by_stop(&stopped, commit), table.file_changes().begin()),
        move |app: &mut Terminal, (ended, span): (Option<Arc<Ended>>, Span), completion| {
            let Some(before) = ended.filter(|_| !completion.late) else {
                return Err(Fault::failed(format!(
                    "{} did not end; it was not run again",
                    job.titled()
                )));
            };
            let permit = permits.into_iter().next();
            let permit = permit.ok_or_else(|| Fault::failed("nothing is to be run"))?;
            let new = app.jobs.start(permit, job.timeout, &reader, Some(span))?;
            let ended = new.wait(deadline::after(wait.min(Duration::from_millis(100))), |_| None);
            let reply = ended_or_started(app, &new, ended, &[], budget);
            // That it was stopped needs no telling: the call says so.
            Ok(match (reply, before.how == How::Stopped && job.is_followed()) {
                (Reply::Started(started), true) => started.ended_job(job.name()).into(),
                (Reply::Done(done), true) => done.ended_job(job.name()).into(),
                (reply, _) => reply,
            })
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
        let ended = typed.wait(deadline::behind(began, INPUT_PATIENCE), |state| {
            (state.printed > began).then(|| INPUT_SILENCE.saturating_sub(state.printed.elapsed()))
        });
        Ok((ended, before))
    };
    Blocking::new(
        job.titled(),
        INPUT_PATIENCE.saturating_add(WAIT_MARGIN),
        work,
        move |_, result: std::io::Result<(Option<Arc<Ended>>, u64)>, _| {
            let (ended, from) = result.map_err(|error| {
                Fault::failed(format!("{} takes no input: {error}", job.titled()))
            })?;
            if let Some(ended) = ended {
                return Ok(Answer::of(&job, &ended, budget).into_end_of(&job).into());
            }
            let view: View = match job.with(|state| state.screen.is_taken()) {
                true => screen_view(&job),
                false => newest_lines(&job, from, budget),
            };
            Ok(Done::new(job.name()).content(view).complete().into())
        },
    )
}
