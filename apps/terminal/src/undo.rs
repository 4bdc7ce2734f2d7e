//! Takes back what a command changed in files, and makes it again.

use std::path::{Path, PathBuf};

use docui::{Blocking, Change, ChangedBeside, Context, Done, Fault, View};
use pipemux_snapshots::{Direction, shown};

use crate::action::Action;
use crate::file_changes::{Changed, Put, Saved};
use crate::job::{Job, duration};
use crate::limits::{CHANGED_SHOWN, LONG_RUN, UNDO_PATIENCE, UNDO_SHOWN};
use crate::model::Terminal;

/// Begins to take a change back, or to make it again.
///
/// # Errors
/// It isn't known, is so already, or may be another command's.
pub fn put(
    app: &Terminal,
    change: Option<&Change>,
    shared: bool,
    direction: Direction,
    context: &Context,
) -> Result<Blocking<Terminal>, Fault> {
    let (verb, other, done) = match direction {
        Direction::Back => ("undo", "redo", "undone"),
        Direction::Again => ("redo", "undo", "made again"),
    };
    let name = change.map(|change| change.0.as_str());
    let changes = app.jobs.file_changes().clone();
    let saved = changes.find(name, &context.reader).ok_or_else(|| unknown(app, name))?;
    let call = |verb: &str, more: &str| {
        docui::command::run(&format!("{}.{verb}({:?}{more})", app.callee, saved.name))
    };
    let is_done = saved.undone == (direction == Direction::Back);
    // What was left may be asked for.
    if is_done && (!shared || saved.kept.is_empty()) {
        let why = format!("{} is {done} already", titled(&saved));
        return Err(Fault::failed(why).hint(call(other, "")));
    }
    let all = call("undo", ", shared=true");
    let is_back = direction == Direction::Back;
    let beside = if is_back && !shared { context.changed_beside.as_slice() } else { &[] };
    if is_back && !shared {
        check_own(&saved, beside).map_err(|fault| fault.hint(format!("all of it: {all}")))?;
    }
    let keep: Vec<String> = match is_back {
        true => beside.iter().flat_map(|other| other.files.iter().cloned()).collect(),
        false => saved.kept.clone(),
    };
    let beside = beside.to_vec();
    let (work, of) = (changes.clone(), saved.clone());
    Ok(Blocking::new(
        format!("the files of {}", titled(&saved)),
        UNDO_PATIENCE,
        move |commit| commit.begin().then(|| work.put(&of, direction, &keep)),
        move |_, put, _| {
            let put = put.ok_or_else(|| Fault::failed("it was called off"))?;
            let put = put.map_err(|refused| {
                let fault = Fault::failed(format!("{verb} of {}: {refused}", titled(&saved)));
                fault.hint("edit these files yourself")
            })?;
            let kept = put.kept.iter().filter_map(|file| file.to_str().map(str::to_owned));
            let kept: Vec<String> = kept.collect();
            let others = told_of_others(&put, &beside);
            if put.files.is_empty() && !kept.is_empty() && is_back {
                let why = format!("{}: {others}; nothing was undone", titled(&saved));
                return Err(Fault::refused(why).hint(format!("all of it: {all}")));
            }
            changes.mark(&saved.name, direction, &kept, put.redo.clone())?;
            let named = Some(Change(saved.name.clone()));
            let mut brief = told(&put.files, CHANGED_SHOWN);
            if !others.is_empty() {
                brief += &format!("; left: {others}");
            }
            let view = if is_back { told_besides(&put, &saved, &all) } else { View::default() };
            let done = Done::new(brief).content(view).reverts().complete();
            let done = done.changed_files(changes.absolute(&put.files));
            Ok(match direction {
                Direction::Back => done.link("redo", &Action::Redo { change: named }),
                Direction::Again => done.link("undo", &Action::Undo { change: named, shared }),
            }
            .into())
        },
    ))
}

/// Checks that who changed the files is known.
///
/// # Errors
/// Another command ran beside it, or others changed more files than are known.
fn check_own(saved: &Saved, beside: &[ChangedBeside]) -> Result<(), Fault> {
    let (title, files) = (titled(saved), &saved.files);
    if !saved.beside.is_empty() {
        let others = saved.beside.join(", ");
        return Err(Fault::refused(format!(
            "{title} ran beside {others}: who changed {files} isn't known; nothing was undone"
        )));
    }
    match beside.iter().find(|other| other.more_files > 0) {
        Some(other) => Err(Fault::refused(format!(
            "{title} changed {files}; which files {} changed meanwhile isn't wholly known: nothing was undone",
            other.by
        ))),
        None => Ok(()),
    }
}

/// Says which files were left, and who changed them: `a.txt, which round 5 (reviewer) changed
/// meanwhile`.
fn told_of_others(put: &Put, beside: &[ChangedBeside]) -> String {
    let others = beside.iter().filter_map(|other| {
        let is_theirs =
            |file: &&PathBuf| other.files.iter().any(|path| Path::new(path).ends_with(file));
        let files: Vec<PathBuf> = put.kept.iter().filter(is_theirs).cloned().collect();
        let words =
            || format!("{}, which {} changed meanwhile", told(&files, CHANGED_SHOWN), other.by);
        (!files.is_empty()).then(words)
    });
    others.collect::<Vec<_>>().join("; ")
}

/// Says what an undo wrote besides what its line names, what it may have taken from others, and
/// what it left.
fn told_besides(put: &Put, saved: &Saved, all: &str) -> View {
    let mut view = View::default();
    let files = told(&put.files, UNDO_SHOWN);
    if files != told(&put.files, CHANGED_SHOWN) {
        view.text(files + "\n");
    }
    if !put.kept.is_empty() {
        view.text(format!("all of it: {all}\n"));
    }
    if saved.took() >= LONG_RUN {
        let took = duration(saved.took());
        view.text(format!("it ran {took}: what a program outside of PipeMux wrote to these files meanwhile is taken back, too\n"));
    }
    if !put.unsure.is_empty() {
        let files = told(&put.unsure, UNDO_SHOWN);
        view.text(format!("left, since ignore rules changed and these may be older: {files}\n"));
    }
    let mut left = put.untaken.named();
    if saved.line.split_whitespace().any(|word| word == "git") {
        left += if left.is_empty() { "" } else { ", " };
        left += "what git has: commits, branches, the index";
    }
    if !left.is_empty() {
        view.text(format!("not taken back: {left}\n"));
    }
    view
}

/// Says which files were written, as many as fit in so many bytes.
fn told(files: &[PathBuf], room: usize) -> String {
    if files.is_empty() {
        return "the files are so already".to_owned();
    }
    let (mut told, mut left) = (String::new(), files.len());
    for file in files {
        let file = shown(file);
        if !told.is_empty() && told.len() + file.len() > room {
            return format!("{told}, +{left} more");
        }
        let comma = if told.is_empty() { "" } else { ", " };
        told += &format!("{comma}{file}");
        left -= 1;
    }
    told
}

/// Says what takes back what a command changes that goes on.
pub fn undo_of_job(app: &Terminal, job: &Job) -> String {
    let name = job.name();
    format!("once {name} has ended: {}.undo({name:?}, shared=true)", app.callee)
}

fn titled(saved: &Saved) -> String {
    format!("{} {}", saved.name, saved.line)
}

/// Says why there is nothing to be taken back.
fn unknown(app: &Terminal, name: Option<&str>) -> Fault {
    let jobs = app.jobs.all();
    let job = match name {
        Some(name) => jobs.iter().find(|job| job.name() == name),
        None => jobs.last(),
    };
    let Some(job) = job else { return Fault::not_found("what it changed isn't known any more") };
    let title = job.titled();
    match job.ended().map(|ended| ended.changed.clone()) {
        None => Fault::refused(format!("{title} still runs; nothing was undone"))
            .hint(docui::command::run(&format!("{}.stop({:?})", app.callee, job.name()))),
        Some(Changed::Nothing) => Fault::refused(format!("{title} changed no file that is kept")),
        Some(Changed::Unknown(why)) => {
            Fault::refused(format!("what {title} changed isn't known: {why}"))
        }
        Some(Changed::Files { .. }) => Fault::not_found("what it changed isn't known any more"),
    }
}
