//! Looks at commands and their output.

use std::sync::Arc;
use std::time::{Duration, Instant};

use docui::blocking::CommitPoint;
use docui::deadline;
use docui::{Blocking, Context, Done, Fault, Object, View, tokens};
use pipemux_problems::visible;
use regex_lite::Regex;

use crate::action::Action;
use crate::answer::{all_problems, output_command};
use crate::job::{Ended, Job};
use crate::limits::{
    FIND_PATIENCE, FOUND_MAX, LINE_MAX, LINE_SHOWN, LINES_MAX, LOOK, WAIT_MARGIN, WAIT_MAX,
};
use crate::line_reader::{LineReader, RawLine};
use crate::model::Terminal;
use crate::ports;

/// Bytes of an output that are its value.
const VALUE_MAX: usize = 1024 * 1024;

/// Answers a query, on another thread.
///
/// # Errors
/// Nothing is there that it could look at.
pub fn query(
    app: &Terminal,
    action: &Action,
    context: &Context,
) -> Result<Blocking<Terminal>, Fault> {
    let (budget, nested) = (u64::from(context.budget), context.nested);
    let job_of = |named: &Option<_>| app.job(named.as_ref(), &context.reader);
    match action {
        Action::Output { from, to, job, first, last } => {
            let job = job_of(job)?;
            let (from, to) = match (*first, *last) {
                (Some(first), Some(last)) => (first, Some(last)),
                (Some(count), None) => (1, Some(count)),
                (None, Some(count)) => (count.saturating_abs().saturating_neg(), None),
                (None, None) => (*from, *to),
            };
            Ok(look(&job.clone(), move |_| output(&job, from, to, budget, nested)))
        }
        Action::Find { text, job, regex } => {
            let job = job_of(job)?;
            let pattern = match regex {
                true => Regex::new(&text.0),
                false => Regex::new(&regex_lite::escape(&text.0)),
            };
            let pattern =
                pattern.map_err(|error| Fault::usage(format!("text: {error}")).field("text"))?;
            Ok(look(&job.clone(), move |commit| find(&job, &pattern, budget, commit)))
        }
        Action::Problems { job } => {
            let job = job_of(job)?;
            Ok(look(&job.clone(), move |_| {
                let ended = job.ended();
                let report = match &ended {
                    Some(ended) => ended.report.clone(),
                    // It may take a while, which the command must not wait for.
                    None => Arc::new(job.with(|state| state.output.clone()).finish()),
                };
                let answer = all_problems(&job, ended.as_deref(), &report, budget);
                // Only an output that is complete has things that keep their numbers.
                match ended {
                    Some(_) => Ok(answer.into_done()),
                    None => {
                        let mut view = View::default();
                        view.code("", answer.text());
                        Ok(Done::new(answer.brief).content(view))
                    }
                }
            }))
        }
        Action::Screen { job } => {
            let job = app.active_job(job.as_ref(), &context.reader)?;
            Ok(look(
                &job.clone(),
                move |_| Ok(Done::new(state_of(&job)).content(screen_view(&job))),
            ))
        }
        Action::WaitFor { text, seconds, job } => {
            let job = app.active_job(job.as_ref(), &context.reader)?;
            let seconds = seconds.clamp(0.0, WAIT_MAX as f64);
            let text = text.clone();
            Ok(wait_for(job, text, Duration::from_secs_f64(seconds), context))
        }
        other => Err(Fault::failed(format!("{} is no query", docui::Actions::name(other)))),
    }
}

fn look(
    job: &Job,
    work: impl FnOnce(&CommitPoint) -> Result<Done, Fault> + Send + 'static,
) -> Blocking<Terminal> {
    Blocking::new(
        format!("the output of {}", job.titled()),
        LOOK,
        move |commit| work(commit),
        |_, done: Result<Done, Fault>, _| done.map(Into::into),
    )
}

fn disk(error: std::io::Error) -> Fault {
    Fault::failed(format!("the output can't be read: {error}"))
}

fn output(job: &Job, from: i64, to: Option<i64>, budget: u64, nested: bool) -> Result<Done, Fault> {
    let all = job.with(|state| {
        let is_open = !state.tail().is_empty() && !state.tail().ends_with(b"\n");
        state.spill.lines() + u64::from(is_open)
    });
    // Negative numbers count from the end.
    let absolute = |number: i64| match u64::try_from(number) {
        Ok(number) => number.max(1),
        Err(_) => (all + 1).saturating_sub(number.unsigned_abs()).max(1),
    };
    let from = absolute(from);
    let to = to.map_or(u64::MAX, absolute).min(all).min(from.saturating_add(LINES_MAX - 1));
    let (mut text, mut cost, mut last) = (String::new(), 0, from.saturating_sub(1));
    job.each_line(from, &mut |number, line| {
        if number > to {
            return false;
        }
        let line = match nested || line.len() <= LINE_SHOWN * 4 {
            true => line,
            false => format!("{}…", &line[..line.floor_char_boundary(LINE_SHOWN * 4)]),
        };
        cost += if nested { 0 } else { tokens::estimate(&line) + 1 };
        if cost > budget.saturating_sub(40) || text.len() > VALUE_MAX {
            return false;
        }
        if number > last + 1 {
            text += &format!("… {} lines are not kept\n", number - last - 1);
        }
        last = number;
        text += line.trim_end();
        text.push('\n');
        true
    })
    .map_err(disk)?;
    if last < from {
        return Ok(Done::new(format!("no lines: there are {all}")).value(""));
    }
    let mut view = View::default();
    view.code("", text.as_str());
    if last < to {
        view.text(format!("… lines {}-{to}: {}\n", last + 1, output_command(job, last + 1, to)));
    }
    let brief = if from == 1 && last == all {
        plural(all, "line")
    } else {
        format!("lines {from}-{last} of {all}")
    };
    Ok(Done::new(brief).content(view).value(text.trim_end_matches('\n')))
}

fn find(job: &Job, pattern: &Regex, budget: u64, commit: &CommitPoint) -> Result<Done, Fault> {
    let (mut text, mut cost, mut found, mut shown, mut cut) = (String::new(), 0, 0, 0, 0);
    let until = deadline::after(FIND_PATIENCE);
    let stop = || commit.is_called_off() || Instant::now() >= until;
    let mut reader = LineReader::new(1);
    let mut is_stopped = false;
    let is_read = reader.read_all(&job.kept(1), &stop, &mut |raw: RawLine| {
        cut += u64::from(raw.cut);
        let line = visible(&raw.bytes);
        if pattern.is_match(&line) {
            found += 1;
            let line = line.trim_end();
            let line = &line[..line.floor_char_boundary(LINE_SHOWN)];
            cost += tokens::estimate(line) + 2;
            if shown < FOUND_MAX && cost + 40 <= budget {
                shown += 1;
                text += &format!("{}\t{line}\n", raw.number);
            }
        }
        // A line may cost an expression much more than it costs to be read.
        is_stopped = stop();
        !is_stopped
    });
    let is_read = is_read.map_err(disk)? && !is_stopped;
    let mut view = View::default();
    if shown > 0 {
        view.code("", text);
    }
    let mut brief = match found == shown as u64 {
        true => plural(found, "line"),
        false => format!("{shown} of {}", plural(found, "line")),
    };
    brief += &cut_words(cut);
    if !is_read {
        let (seconds, number) = (FIND_PATIENCE.as_secs(), reader.number());
        brief += &format!(" · after {seconds} s only the lines before {number} were searched");
    }
    Ok(Done::new(brief).content(view))
}

/// Says that lines were not searched to their ends.
fn cut_words(lines: u64) -> String {
    let kib = LINE_MAX / 1024;
    match lines {
        0 => String::new(),
        1 => format!(" · 1 line was searched up to {kib} KiB only"),
        _ => format!(" · {lines} lines were searched up to {kib} KiB only"),
    }
}

fn wait_for(job: Arc<Job>, text: String, time: Duration, context: &Context) -> Blocking<Terminal> {
    let what = job.titled();
    let waited = job.clone();
    let (budget, answer_by) = (u64::from(context.budget), context.answer_by);
    let work = move |commit: &CommitPoint| {
        let until = Context::wait_until(answer_by, time);
        let stop = || commit.is_called_off();
        // It goes on behind what was searched: an output may be long, and a line without an end,
        // too.
        let (mut reader, mut found, mut cut) = (LineReader::new(1), None, 0);
        let mut ended: Option<Arc<Ended>> = None;
        loop {
            let printed = waited.with(|state| state.printed);
            let mut look = |line: RawLine| {
                let shown = visible(&line.bytes);
                let is_it = shown.contains(&text);
                if is_it {
                    found = Some((line.number, shown));
                }
                is_it
            };
            reader.read(&waited.kept(1), &stop, &mut |line| {
                cut += u64::from(line.cut);
                !look(line)
            })?;
            // The last line may go on.
            let is_found = reader.unfinished().is_some_and(look) || found.is_some();
            if is_found || ended.is_some() || stop() || Instant::now() >= until {
                break;
            }
            ended = waited.wait(until, |state| (state.printed > printed).then_some(Duration::ZERO));
        }
        let ports = ports::of(&waited.look_at_ports());
        Ok((found, waited.ended(), ports, cut))
    };
    type Waited = std::io::Result<(Option<(u64, String)>, Option<Arc<Ended>>, Vec<u16>, u64)>;
    Blocking::new(
        what,
        time.saturating_add(WAIT_MARGIN),
        work,
        move |app: &mut Terminal, result: Waited, _| {
            let (found, ended, ports, cut) = result.map_err(disk)?;
            let own = app.port().filter(|(of, _)| of.number == job.number);
            let cut = cut_words(cut);
            match (found, ended) {
                (Some((number, line)), _) => {
                    let line = line.trim();
                    let line = &line[..line.floor_char_boundary(LINE_SHOWN)];
                    let ports = ports_words(&ports);
                    let later = own.map(|(_, port)| format!(" (later commands: $PORT = {port})"));
                    let later = later.unwrap_or_default();
                    Ok(Done::new(format!("line {number}{ports}{later}: {line}")).into())
                }
                (None, Some(ended)) => {
                    let message =
                        format!("{} ended without it: {}{cut}", job.titled(), ended.verdict());
                    Err(Fault::failed(message).hint(format!(
                        "pipemux ask 'terminal.output(-20, job=\"{}\")'",
                        job.name()
                    )))
                }
                (None, None) => {
                    let seconds = time.as_secs_f64();
                    let newest = job.with(|state| state.newest_line());
                    let ports = ports_words(&ports);
                    Err(Fault::failed(format!(
                        "not within {seconds} s{ports}{cut}; newest line: {newest}"
                    ))
                    .hint(format!(
                        "pipemux ask 'terminal.output(-20, job=\"{}\")' --budget {budget}",
                        job.name()
                    )))
                }
            }
        },
    )
}

/// Describes the ports that a command's processes listen on: ` · listens on 8080`; empty if there
/// are none.
pub fn ports_words(ports: &[u16]) -> String {
    match ports.is_empty() {
        true => String::new(),
        false => {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            format!(" · listens on {}", ports.join(", "))
        }
    }
}

/// Says whether a command runs or how it ended.
pub fn state_of(job: &Job) -> String {
    match job.ended() {
        Some(ended) => format!("{} · {}", job.name(), ended.verdict()),
        None => format!("{} runs", job.name()),
    }
}

/// Shows what a command's terminal shows.
pub fn screen_view(job: &Job) -> View {
    let (lines, (row, column)) = job.with(|state| state.screen.text(state.tail()));
    let mut view = View::default();
    view.code("", lines.join("\n") + "\n");
    view.text(format!("cursor {row}:{column}\n"));
    view
}

/// Shows the lines of an output from one on; the newest ones if they are many.
pub fn newest_lines(job: &Job, from: u64, budget: u64) -> View {
    let mut view = View::default();
    let lines = job.lines(from, LINES_MAX as usize).unwrap_or_default();
    let mut left = budget / 2;
    let fits = lines.iter().rev().take_while(|(_, line)| {
        let cost = tokens::estimate(line) + 1;
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    });
    let shown = &lines[lines.len() - fits.count()..];
    if shown.len() < lines.len() {
        let last = lines[lines.len() - shown.len() - 1].0;
        view.text(format!("… {}\n", output_command(job, from, last)));
    }
    let text: String = shown.iter().map(|(_, line)| format!("{}\n", line.trim_end())).collect();
    if !text.trim().is_empty() {
        view.code("", text);
    }
    view
}

/// Returns the value of a thing: the output of a command, the hash of a commit, or a place as
/// editors take it.
///
/// # Errors
/// It has no place, or that was edited since.
pub fn read(app: &Terminal, key: &str) -> Result<Vec<u8>, Fault> {
    let (job, part) =
        app.by_key(key).ok_or_else(|| Fault::not_found("it is forgotten").about(key))?;
    if let (Some(commit), Some(ended)) = (part.strip_prefix('m'), job.ended()) {
        let commit = commit.parse().ok().and_then(|at: usize| ended.report.git.commits.get(at));
        let gone = || Fault::not_found("it is forgotten").about(key);
        return Ok(commit.ok_or_else(gone)?.id.clone().into_bytes());
    }
    if !part.is_empty() {
        let (path, line) = app.place(key)?;
        return Ok(format!("{}:{line}", path.display()).into_bytes());
    }
    let mut text = String::new();
    // What can't be read in time is left out: the app's other calls wait.
    let read = job.each_line(1, &mut |_, line| {
        text += line.trim_end();
        text.push('\n');
        text.len() < VALUE_MAX
    });
    if let Err(error) = read
        && error.kind() != std::io::ErrorKind::TimedOut
    {
        return Err(disk(error));
    }
    Ok(text.into_bytes())
}

/// Returns a command as a thing that calls can name.
pub fn object(job: &Job) -> Object {
    Object::new(job.name(), job.titled()).ty("command")
}

fn plural(count: u64, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}
