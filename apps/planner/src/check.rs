//! A plan is a contract: runs the commands of its acceptance and tests, once a person has allowed
//! exactly these, and keeps a record of what held. Apps can't call other apps, so they run as a
//! hand-over's command does: in the planner's sandbox, from the project's folder, without its keys,
//! with a deadline and a bound of their output.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use docui::{ConsentRequest, Context, Fault, Handle, JobHandle, Reply};
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::contract::is_showable;
use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::text::{count, gist, plain};
use pipemux_planner_course::{Refusal, Stage};
use sha2::{Digest, Sha256};

use crate::drivers::{Cancel, command};
use crate::handoff::{cancel_with, hex, typed};
use crate::limits::{CHECK_COMMANDS_MAX, CHECK_DEADLINE, CHECK_LINES, CHECK_OUTPUT_MAX};
use crate::model::Planner;
use crate::report::{Outcome, Report, Verdict};

/// Runs a command of a plan: the folder and the line are its arguments. What it leaves behind ends
/// with it.
const SCRIPT: &str =
    "cd \"$1\" || exit 126; sh -c \"$2\" >&2; status=$?; trap '' TERM; kill 0; exit $status";

/// Variables with keys of drivers, which no command of a plan is given.
const KEYS: [&str; 3] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PLANNER_API_KEY"];

/// Begins a check of the newest plan: all of it, or the named requirements, acceptance and tests.
///
/// # Errors
/// There is no plan or nothing to run, a person has to allow it first, or its record can't be
/// written: then nothing ran.
pub fn check(planner: &mut Planner, of: &[String], context: &Context) -> Result<Reply, Fault> {
    planner.take_outside_changes();
    let version = planner.course.versions.newest().cloned();
    let Some((version, Artifact::Plan(plan))) =
        version.as_ref().map(|version| (version, &version.artifact))
    else {
        return Err(planner.fault(Refusal::new("there is no plan to check", "")));
    };
    let mut report = Report::new(plan, of).map_err(|id| {
        let call = format!("pipemux ask '{}.artifact(\"acceptance\")'", planner.session.callee);
        Fault::not_found(format!("the plan has no requirement, acceptance or test {id:?}"))
            .hint(call)
    })?;
    let commands = commands_of(&mut report);
    check_number(planner, version.number, commands.len())?;
    let hash = hex(&Sha256::digest(commands.join("\0")));
    let key = format!("check sha256:{hash}");
    if !context.consents.contains(&key) {
        let shows = commands.iter().map(|line| format!("runs: {line}")).collect();
        let what = format!("run {} of this project's plan", count(commands.len(), "command"));
        let why = "nobody has allowed these commands of the plan";
        return Err(Fault::refused(why).needs_consent(ConsentRequest {
            key,
            what,
            shows,
            for_ms: 0,
        }));
    }
    if planner.is_checking.swap(true, Ordering::Relaxed) {
        return Err(planner.fault(Refusal::new("a check is running already", "")));
    }
    let text = planner.course.versions.file_text().unwrap_or_default();
    report.version = version.number;
    report.topic.clone_from(&planner.course.topic);
    report.sha256 = hex(&Sha256::digest(text.as_bytes()));
    (report.by, report.typed) = (context.reader.clone(), typed(context).to_owned());
    let folder = planner.store.as_ref().map(|store| store.folder().to_owned());
    let Some(path) = folder.map(|folder| report.claim(&folder)).transpose().inspect_err(|_| {
        planner.is_checking.store(false, Ordering::Relaxed);
    })?
    else {
        return Err(Fault::failed("there is no topic"));
    };
    let shown = path.strip_prefix(&planner.root).unwrap_or(&path).display();
    let commands_said = count(commands.len(), "command");
    let brief = format!(
        "check {} of plan version {}: {commands_said} · record: {shown}",
        report.number, version.number
    );
    // With its time: a topic that is planned again begins with the same numbers.
    let job = planner
        .session
        .handle
        .job(format!("check:{}:{}:{}", report.topic, report.number, report.at));
    let keys = KEYS.into_iter().map(str::to_owned).chain(planner.config.key_names());
    let run = Run {
        job: job.clone(),
        handle: planner.session.handle.clone(),
        root: planner.root.clone(),
        keys: keys.collect(),
        path,
        lang: planner.course.lang(),
        tells: !matches!(planner.course.stage, Stage::Confirm | Stage::Accepted),
    };
    let is_checking = planner.is_checking.clone();
    std::thread::spawn(move || {
        run.all(report, &commands);
        is_checking.store(false, Ordering::Relaxed);
    });
    Ok(Reply::started(&job, brief))
}

/// Returns the commands of a report, each once, and marks what has one that can't be shown.
fn commands_of(report: &mut Report) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for item in &mut report.results {
        let Some(line) = &item.command else { continue };
        match is_showable(line) {
            true if commands.contains(line) => {}
            true => commands.push(line.clone()),
            false => {
                item.why = "its command has a line end or a character that can't be seen".into()
            }
        }
    }
    commands
}

/// Checks that there is something to run, and not too much.
fn check_number(planner: &Planner, version: u32, commands: usize) -> Result<(), Fault> {
    if commands == 0 {
        let what = format!("nothing of version {} has a command to run", version);
        let call = "adjust('name a command for each acceptance')";
        return Err(planner.fault(Refusal::new(what, call)));
    }
    if commands > CHECK_COMMANDS_MAX {
        let what = format!("{commands} commands, at most {CHECK_COMMANDS_MAX} a check");
        return Err(planner.fault(Refusal::new(what, "check(of=['R1'])")));
    }
    Ok(())
}

/// Returns what failed in the topic's newest check, for the brief of a new cycle.
///
/// # Errors
/// Nothing did.
pub fn evidence(planner: &Planner) -> Result<String, Fault> {
    let newest = planner.store.as_ref().and_then(|store| Report::newest(store.folder()));
    let none = || planner.fault(Refusal::new("nothing failed in a check of this topic", "check()"));
    newest.and_then(|report| report.evidence()).ok_or_else(none)
}

/// The data that a running check needs.
struct Run {
    job: JobHandle,
    handle: Handle,
    root: PathBuf,
    /// Variables that no command is given.
    keys: BTreeSet<String>,
    path: PathBuf,
    /// True if each verdict is told as it comes, since the window doesn't show them.
    tells: bool,
    lang: Lang,
}

impl Run {
    /// Runs all commands, one after the other.
    fn all(self, mut report: Report, commands: &[String]) {
        let (cancel, watched) = cancel_with(&self.job);
        for (at, line) in commands.iter().enumerate() {
            if self.job.is_cancelled() {
                report.set(line, &Outcome::not_run("it was cancelled"));
                continue;
            }
            self.job.progress(at as u64, commands.len() as u64, gist(line));
            report.set(line, &run(&self.root, line, &self.keys, &cancel));
            // What is missing in the record is told when it ends.
            let _ = report.write(&self.path);
            if self.tells {
                report.lines_of(line, self.lang).iter().for_each(|said| self.job.output(said));
            }
        }
        drop(watched);
        report.ended = jiff::Timestamp::now().to_string();
        let said = match report.write(&self.path) {
            Ok(()) => report.summary(self.lang),
            Err(fault) => format!("{}; its record: {}", report.summary(self.lang), fault.message),
        };
        self.handle.changed();
        match (self.job.is_cancelled(), report.has(Verdict::Failed)) {
            (true, _) => self.job.cancelled(said),
            (_, true) => self.job.failed(said),
            (..) => self.job.done(said),
        }
    }
}

/// Runs one command to its end.
fn run(root: &Path, line: &str, keys: &BTreeSet<String>, cancel: &Cancel) -> Outcome {
    let mut words = vec!["env".to_owned()];
    keys.iter().for_each(|key| words.extend(["-u".to_owned(), key.clone()]));
    let root = root.display().to_string();
    words.extend(["sh", "-c", SCRIPT, "check", &root, line].map(str::to_owned));
    let began = Instant::now();
    let ran = command::start(&words, Vec::new(), &[], CHECK_DEADLINE, 0, cancel);
    let seconds = began.elapsed().as_secs();
    match ran {
        Ok(output) => {
            let exit = output.exit;
            let verdict = if exit == Some(0) { Verdict::Passed } else { Verdict::Failed };
            let why = exit.map_or("a signal".to_owned(), |status| format!("status {status}"));
            Outcome { verdict, exit, why, seconds, output: last(&output.stderr) }
        }
        Err(_) if cancel.is_set() => Outcome::not_run("it was cancelled"),
        Err(_) if began.elapsed() >= CHECK_DEADLINE => {
            let why = format!("not done within {} s", CHECK_DEADLINE.as_secs());
            Outcome { verdict: Verdict::Failed, why, seconds, ..Outcome::default() }
        }
        Err(why) => Outcome::not_run(&why),
    }
}

/// Returns the last lines of an output.
fn last(output: &[u8]) -> String {
    let text = plain(&String::from_utf8_lossy(output));
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let text = lines[lines.len().saturating_sub(CHECK_LINES)..].join("\n");
    let excess = text.chars().count().saturating_sub(CHECK_OUTPUT_MAX);
    text.chars().skip(excess).collect()
}
