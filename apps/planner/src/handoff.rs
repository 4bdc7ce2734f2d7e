//! Hands a plan or a draft over, to a command or printed. Every hand-over is recorded, a draft's
//! with the objections to it, so that each result can be traced to its source.

use std::fs;
use std::path::{Path, PathBuf};

use docui::{Ask, Context, Done, Fault, JobHandle, Reply, View};
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::event::Event;
use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::text;
use pipemux_planner_course::versions::Version;
use pipemux_planner_course::{Refusal, Stage, ordered};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::config::{CommandLine, FILE};
use crate::drivers::{Cancel, command};
use crate::limits::{HANDOFF_DEADLINE, HANDOFF_OUTPUT_MAX};
use crate::model::Planner;
use crate::reader::{by, is_person};
use crate::store::replace;

/// The note in every file of a draft's hand-over.
const FROM_DRAFT: &str = "from a draft without consensus";

/// Hands the newest version over. A draft's warning is confirmed first.
///
/// # Errors
/// There is nothing to hand over, or its record can't be written: then nothing is handed over.
pub fn hand_over(planner: &mut Planner, command: &str, context: &Context) -> Result<Reply, Fault> {
    planner.take_outside_changes();
    let version = match planner.course.versions.newest() {
        Some(version) if matches!(planner.course.stage, Stage::Confirm | Stage::Accepted) => {
            version.clone()
        }
        Some(_) => {
            return Err(planner.fault(Refusal::new(
                "a discussion is under way: nothing is handed over now",
                "back('round3')",
            )));
        }
        None => return Err(planner.fault(Refusal::new("there is no plan or draft yet", ""))),
    };
    let is_draft = matches!(version.artifact, Artifact::Draft(_)) || version.edited;
    // The answer is of what was warned of: of what became of it meanwhile, it is asked again.
    let warned =
        (planner.course.topic.clone(), version.number, planner.course.versions.file_text());
    let is_of_it = planner.readers.warned.get(&context.reader) == Some(&warned);
    if is_draft && (context.answer.is_none() || !is_of_it) {
        planner.readers.warned.insert(context.reader.clone(), warned);
        return Ok(warning(&version, planner.course.lang()).into());
    }
    let words = match command.trim() {
        "" => planner.config.codegen.as_ref().map(CommandLine::words).unwrap_or_default(),
        line => CommandLine::Line(line.to_owned()).words(),
    };
    if command.trim().is_empty() && !words.is_empty() {
        planner.allowed = context.consents.iter().cloned().collect();
        planner.check_handoff(&words)?;
    }
    let text = planner.course.versions.file_text().unwrap_or_default();
    let hash = hex(&Sha256::digest(text.as_bytes()));
    let Some(store) = &planner.store else { return Err(Fault::failed("there is no topic")) };
    let (number, folder) = claim(store.folder(), planner.course.handed_over)?;
    let record = record(planner, context, &version, number, &hash, is_draft, &words);
    let command = words.join(" ");
    let event = Event::HandedOver { number, hash: hash.clone(), confirmed: is_draft, command };
    let begun = inputs(planner, store.folder(), &folder, &version, &text, is_draft)
        .and_then(|()| write(&folder.join("record.json"), &record))
        .and_then(|()| {
            planner.handed_over.insert(number);
            planner.commit(by(context), event)
        });
    if let Err(fault) = begun {
        // Nothing was handed over: its number may be the next one's.
        let _ = fs::remove_dir_all(&folder);
        return Err(fault);
    }
    let brief = format!(
        "hand-over {number} of {} version {} · sha256 {}",
        version.artifact.word(),
        version.number,
        &hash[..12]
    );
    let brief = if is_draft { format!("{brief} · {FROM_DRAFT}") } else { brief };
    let shown = folder.strip_prefix(&planner.root).unwrap_or(&folder).display().to_string();
    if words.is_empty() {
        finish(&folder, record, None);
        let mut view = View::default();
        view.code(
            if matches!(version.artifact, Artifact::Plan(_)) { "json" } else { "markdown" },
            text.clone(),
        );
        return Ok(Done::new(format!("{brief} · record: {shown}"))
            .content(view)
            .value(text.as_str())
            .into());
    }
    // With its time: a topic that is planned again begins with the same numbers.
    let at = jiff::Timestamp::now();
    let job = planner.session.handle.job(format!("handoff:{}:{number}:{at}", planner.course.topic));
    start(job.clone(), folder, record, words, text, is_draft, planner.root.clone());
    Ok(Reply::started(&job, format!("{brief} · record: {shown}")))
}

/// Takes the next number of a hand-over and makes its folder, which no other session can then take.
fn claim(topic: &Path, last: u32) -> Result<(u32, PathBuf), Fault> {
    let all = topic.join("handoffs");
    let failed = |error: std::io::Error| {
        Fault::failed(format!("{}: {error}; nothing was handed over", all.display()))
    };
    fs::create_dir_all(&all).map_err(failed)?;
    // A journal that somebody wrote may name any number.
    for number in last.saturating_add(1)..u32::MAX {
        let folder = all.join(format!("h{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok((number, folder)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(Fault::refused("this topic has no more numbers for hand-overs"))
}

/// Asks for the confirmation of a draft's risk.
fn warning(version: &Version, lang: Lang) -> Ask {
    let number = version.number;
    let what = match version.edited {
        true => lang.pick("was edited by hand since it was agreed on", "在达成共识之后被手工修改"),
        false => lang.pick("is a draft, not a plan by consensus", "是规划草案，非共识产物"),
    };
    let mut ask = Ask::confirm(lang.pick(
        format!("⚠ version {number} {what}; `answer yes` says: I know the risk. It is recorded, and every file of the hand-over says so"),
        format!("⚠ 版本 {number} {what}；`answer yes` 表示：我已知晓风险。这会被记录，交接的每个文件都会注明"),
    ));
    for objection in &version.objections {
        let (who, what) = objection.split_once(": ").unwrap_or(("objection", objection));
        ask = ask.option(who, what);
    }
    ask
}

fn record(
    planner: &Planner,
    context: &Context,
    version: &Version,
    number: u32,
    hash: &str,
    is_draft: bool,
    words: &[String],
) -> Value {
    let mut record = json!({
        "hand_over": number, "topic": planner.course.topic, "by": context.reader, "as": typed(context), "at": jiff::Timestamp::now().to_string(),
        "artifact": version.artifact.file(), "version": version.number, "sha256": hash,
        "inputs": "inputs/", "command": words, "state": "begun",
    });
    if is_draft {
        record["consensus"] = FROM_DRAFT.into();
        record["objections"] = version.objections.clone().into();
        record["edited_by_hand"] = version.edited.into();
        record["confirmed"] = json!({
            "by": context.reader, "as": typed(context), "at": jiff::Timestamp::now().to_string(), "words": "I know the risk",
        });
    }
    record
}

/// Says whether a person made a call or an agent.
pub fn typed(context: &Context) -> &'static str {
    if is_person(&context.reader) { "person" } else { "agent that relayed it" }
}

/// Says that the newest hand-over was begun by another process and has no end on record.
pub fn unfinished(planner: &Planner) -> Option<String> {
    let number = planner.course.handed_over;
    if number == 0 || planner.handed_over.contains(&number) {
        return None;
    }
    let name = format!("handoffs/h{number}/record.json");
    let path = planner.store.as_ref()?.folder().join(name);
    let record: Value = serde_json::from_slice(&docui::regular_file::read(&path).ok()?).ok()?;
    let shown = path.strip_prefix(&planner.root).unwrap_or(&path).display();
    let shown = text::flat(&shown.to_string());
    (record["state"] == "begun").then(|| {
        let again = planner.run("handoff()");
        format!("hand-over {number} has no end on record ({shown}): it was cut off, unless another session runs it · again: `{again}`")
    })
}

/// Copies all that a result may be made of.
fn inputs(
    planner: &Planner,
    topic: &Path,
    folder: &Path,
    version: &Version,
    text: &str,
    is_draft: bool,
) -> Result<(), Fault> {
    let inputs = folder.join("inputs");
    let failed = |path: &Path, error: std::io::Error| {
        Fault::failed(format!("{}: {error}; nothing was handed over", path.display()))
    };
    fs::create_dir_all(&inputs).map_err(|error| failed(&inputs, error))?;
    replace(&inputs.join(version.artifact.file()), text.as_bytes())?;
    let others = [
        topic.join("journal.jsonl"),
        topic.join("planning.clarification.jsonl"),
        planner.root.join(FILE),
    ];
    for from in others.iter().filter(|from| from.exists()) {
        if let Some(name) = from.file_name() {
            fs::copy(from, inputs.join(name)).map_err(|error| failed(from, error))?;
        }
    }
    match is_draft {
        true => replace(
            &folder.join("WITHOUT-CONSENSUS.md"),
            format!("All files here are {FROM_DRAFT}: see record.json.\n").as_bytes(),
        ),
        false => Ok(()),
    }
}

/// Returns what ends a program once its job is cancelled, for as long as what is returned besides
/// lives.
pub fn cancel_with(job: &JobHandle) -> (Cancel, std::sync::mpsc::Sender<()>) {
    let cancel = Cancel::default();
    let (watched, stop) = (job.clone(), cancel.clone());
    let (lives, end) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        while matches!(end.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) {
            if watched.cancelled_within(std::time::Duration::from_millis(200)) {
                return stop.set();
            }
        }
    });
    (cancel, lives)
}

/// Runs the command on a thread of its own.
fn start(
    job: JobHandle,
    folder: PathBuf,
    record: Value,
    words: Vec<String>,
    text: String,
    is_draft: bool,
    root: PathBuf,
) {
    std::thread::spawn(move || {
        let (cancel, ended) = cancel_with(&job);
        let env = [
            ("PLANNER_CONSENSUS", if is_draft { "draft" } else { "plan" }.to_owned()),
            ("PLANNER_RECORD", folder.join("record.json").display().to_string()),
            ("PLANNER_PROJECT", root.display().to_string()),
        ];
        let ran = command::start(
            &words,
            text.into_bytes(),
            &env,
            HANDOFF_DEADLINE,
            HANDOFF_OUTPUT_MAX,
            &cancel,
        );
        drop(ended);
        if let Ok(output) = &ran {
            job.output(&output.stdout);
            job.output(&output.stderr);
        }
        let shown = finish(&folder, record, Some(&ran));
        match &ran {
            Ok(output) if output.exit == Some(0) => job.done(shown),
            Err(why) if job.is_cancelled() => job.cancelled(why.clone()),
            _ => job.failed(shown),
        }
    });
}

/// Writes how it ended, and the decisions that the command printed. Returns that in a line.
fn finish(
    folder: &Path,
    mut record: Value,
    ran: Option<&Result<command::Output, String>>,
) -> String {
    let mark = match record["consensus"].as_str() {
        Some(mark) => format!("# {mark}\n"),
        None => String::new(),
    };
    record["ended"] = jiff::Timestamp::now().to_string().into();
    let shown = match ran {
        None => {
            record["state"] = "printed".into();
            "printed".to_owned()
        }
        Some(Err(why)) => {
            (record["state"], record["error"]) = ("failed".into(), why.clone().into());
            why.clone()
        }
        Some(Ok(output)) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let decisions: Vec<&str> = text
                .lines()
                .filter(|line| line.trim_start().to_ascii_lowercase().starts_with("decision"))
                .collect();
            let count = decisions.len();
            record["state"] = if output.exit == Some(0) { "done" } else { "failed" }.into();
            record["exit"] = output.exit.into();
            record["decisions"] = decisions.into();
            record["output"] = "output.txt".into();
            record["output_cut"] = output.cut.into();
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            // The record says what is missing if this can't be written.
            let all = format!(
                "{mark}{text}{}{stderr}",
                if stderr.is_empty() { "" } else { "\n--- standard error ---\n" }
            );
            let written = replace(&folder.join("output.txt"), all.as_bytes());
            if let Err(fault) = written {
                record["output"] = fault.message.into();
            }
            let status =
                output.exit.map_or("a signal".to_owned(), |status| format!("status {status}"));
            format!("ended with {status}, {} recorded", text::count(count, "decision"))
        }
    };
    match write(&folder.join("record.json"), &record) {
        Ok(()) => shown,
        Err(fault) => format!("{shown}; its record could not be written: {}", fault.message),
    }
}

fn write(path: &Path, record: &Value) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(record).unwrap_or_default() + "\n";
    replace(path, ordered::visible(&text).as_bytes())
}

/// Writes bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
