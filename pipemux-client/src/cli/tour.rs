//! `pipemux tour`: a first walk through all apps, each step a real command on a copy of a real file.

mod material;
mod stage;

use std::path::PathBuf;

use pipemux_client::ClientError;

use super::ask::Asker;
use crate::output;
use material::Material;
use stage::{Stage, Stop, links, show, shown_path};

/// Exit status of a walk that was interrupted, as shells have it.
const INTERRUPTED: u8 = 130;

/// Walks; returns the exit status, that of the failing command if one fails.
pub fn carry_out(asker: &Asker) -> Result<u8, ClientError> {
    let root = project_root(asker);
    let material = Material::find(&root);
    let outcome = Stage::new().map_err(Stop::from).and_then(|mut stage| {
        let began = std::time::Instant::now();
        introduce(&stage, &material, &root)?;
        walk(&mut stage, &material)?;
        show(&format!(
            "\nThat was it, in {:.1} s; the sessions are ended, the copy is gone.\nNow yours: pipemux open editor <file> · all verbs: pipemux --help · end the daemon: pipemux down\n",
            began.elapsed().as_secs_f32()
        ))
    });
    match outcome {
        Ok(()) | Err(Stop::Abandoned) => Ok(0),
        Err(Stop::Interrupted) => {
            output::err("the tour was interrupted: its sessions are ended, the copy is gone\n");
            Ok(INTERRUPTED)
        }
        Err(Stop::Unexpected { status }) => {
            output::err(
                "the tour stops here: this step should have ended otherwise\nlook: pipemux status · pipemux sessions\n",
            );
            Ok(status)
        }
        Err(Stop::System(error)) => {
            Err(ClientError::invalid(format!("the tour can't go on: {error}"))
                .hint("set TMPDIR to a directory that you can write to"))
        }
    }
}

/// The workspace's project; without one the current directory.
fn project_root(asker: &Asker) -> PathBuf {
    let key = PathBuf::from(&asker.options.workspace.key);
    if key.is_absolute() && key.is_dir() {
        return key;
    }
    std::env::current_dir().unwrap_or_default()
}

fn introduce(stage: &Stage, material: &Material, root: &std::path::Path) -> Result<(), Stop> {
    stage.put(&material.name, &material.text)?;
    let what = match &material.origin {
        Some(path) => format!("a copy of {}", shown_path(path, root)),
        None => format!("a file of its own, {}", material.name),
    };
    show(&format!(
        "PipeMux in a minute: three apps, on {what}.\nAll of it happens in {}, in the workspace {}: nothing of yours is touched.\n",
        stage.directory.display(),
        stage.workspace
    ))
}

fn walk(stage: &mut Stage, material: &Material) -> Result<(), Stop> {
    let Material { name, word, renamed, .. } = material;
    edit(stage, name, word, renamed)?;

    stage.step(
        "A second app. Each is a process of its own; if one dies, the others don't notice.",
        &["open", "notebook", "notes.db"],
        0,
    )?;
    let (first, last) = material.passage();
    stage.step(
        "Text moves from app to app by reference: nobody repeats it.",
        &[
            "run",
            &format!("notebook.add(title=\"about {word}\", text=editor.lines({first}, {last}))"),
        ],
        0,
    )?;
    stage.step(
        "The notes are searched in full text.",
        &["run", &format!("notebook.search(\"{word}\")")],
        0,
    )?;
    stage.step(
        "A third: what the machine does. `/tour` names a session, beside the one that you may have.",
        &["open", "monitor/tour"],
        0,
    )?;
    stage.step(
        "The whole desk on a budget of tokens: each window takes its share, and says what was cut.",
        &["view", "--budget", "300"],
        0,
    )?;
    stage.step(
        "A wrong reference lands softly: what happened, and how to go on.",
        &["read", "obj:999999"],
        3,
    )?;
    for session in ["monitor/tour", "notebook/main", "editor/main"] {
        let remark = match session {
            "monitor/tour" => "Windows close; `--end` ends the sessions too.",
            "notebook/main" => "The notes lie in their file, safe since their answer was printed.",
            _ => "And the last one.",
        };
        stage.step(remark, &["close", session, "--end"], 0)?;
    }
    Ok(())
}

/// The first app: a question, its answer, a link, a script that stops.
fn edit(stage: &mut Stage, name: &str, word: &str, renamed: &str) -> Result<(), Stop> {
    let opened = stage.step(
        "An app is a document: a heading, links for the next move, the actions once, numbered lines.",
        &["open", "editor", name],
        0,
    )?;
    stage.step(
        "Three matches, and nothing says which: it asks instead of guessing, and the save waits.",
        &["run", &format!("editor.replace(\"{word}\", \"{renamed}\"); editor.save()")],
        5,
    )?;
    let answered = stage.step(
        "The answer names the choice and restates nothing; back comes only what changed.",
        &["answer", "1,3"],
        0,
    )?;
    let offered = links(&answered).into_iter().chain(links(&opened));
    if let Some((_, link)) = offered.into_iter().find(|(label, _)| *label == "undo") {
        stage.step(
            "Low risk is a link to click. This one is bound to the change that it undoes.",
            &["click", link],
            0,
        )?;
    }
    stage.step(
        "Steps run in order. The first that fails stops the rest, and the answer says what didn't run.",
        &["run", "editor.save(); editor.replace(\"no such text here\", \"x\"); editor.goto(1)"],
        1,
    )?;
    Ok(())
}
