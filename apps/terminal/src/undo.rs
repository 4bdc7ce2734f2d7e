//! Takes back what a command changed in files, and makes it again.

use docui::{Blocking, Change, Context, Done, Fault};
use pipemux_snapshots::{Direction, shown};

use crate::action::Action;
use crate::file_changes::{Changed, Saved};
use crate::limits::{CHANGED_SHOWN, UNDO_PATIENCE};
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
    if saved.undone == (direction == Direction::Back) {
        let why = format!("{} is {done} already", titled(&saved));
        return Err(Fault::failed(why).hint(call(other, "")));
    }
    if !shared && direction == Direction::Back && !saved.beside.is_empty() {
        let (files, beside) = (&saved.files, saved.beside.join(", "));
        let why = format!(
            "{} ran beside {beside}: who changed {files} isn't known; nothing was undone",
            titled(&saved)
        );
        return Err(Fault::refused(why).hint(format!("all of it: {}", call(verb, ", shared=true"))));
    }
    let (work, of) = (changes.clone(), saved.clone());
    Ok(Blocking::new(
        format!("the files of {}", titled(&saved)),
        UNDO_PATIENCE,
        move |commit| commit.begin().then(|| work.put(&of, direction)),
        move |_, put, _| {
            let put = put.ok_or_else(|| Fault::failed("it was called off"))?;
            let put = put.map_err(|refused| {
                let fault = Fault::failed(format!("{verb} of {}: {refused}", titled(&saved)));
                fault.hint("edit these files yourself")
            })?;
            changes.mark(&saved.name, direction)?;
            let named = Some(Change(saved.name.clone()));
            let done = Done::new(told(&put.files)).reverts().complete();
            let done = done.changed_files(changes.absolute(&put.files));
            Ok(match direction {
                Direction::Back => done.link("redo", &Action::Redo { change: named }),
                Direction::Again => done.link("undo", &Action::Undo { change: named, shared }),
            }
            .into())
        },
    ))
}

/// Says which files were written.
fn told(files: &[std::path::PathBuf]) -> String {
    if files.is_empty() {
        return "the files are so already".to_owned();
    }
    let (mut told, mut left) = (String::new(), files.len());
    for file in files {
        let file = shown(file);
        if !told.is_empty() && told.len() + file.len() > CHANGED_SHOWN {
            return format!("{told}, +{left} more");
        }
        let comma = if told.is_empty() { "" } else { ", " };
        told += &format!("{comma}{file}");
        left -= 1;
    }
    told
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
    let title = crate::model::titled(job);
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
