//! `pipemux tour`: a guided tour of the built-in apps. Each step is a real command on a copy of a
//! real file.

mod keys;
mod sample;
mod sandbox;

use std::path::PathBuf;

use pipemux_client::ClientError;

use super::requester::Requester;
use crate::output;
use sample::SampleFile;
use sandbox::{Sandbox, TourError, parse_links, print, relative_display};

/// The exit status of an interrupted tour, by shell convention.
const INTERRUPTED: u8 = 130;

/// Runs the tour. Returns the exit status; if a command fails unexpectedly, it is the status of
/// that command.
pub fn execute(requester: &Requester) -> Result<u8, ClientError> {
    let root = project_root(requester);
    let sample = SampleFile::find(&root);
    let outcome = Sandbox::new().map_err(TourError::from).and_then(|mut sandbox| {
        let began = std::time::Instant::now();
        introduce(&sandbox, &sample, &root)?;
        run_steps(&mut sandbox, &sample)?;
        Ok(began.elapsed())
    });
    // The sandbox is gone by now.
    let told = outcome.and_then(|took| {
        print(&format!(
            "\nThat was the tour, in {:.1} s. Its daemon has ended, and nothing of it is left.\nfor you and for agents: pipemux --help · every verb: pipemux help --all · an agent's harness: pipemux setup <harness>\n",
            took.as_secs_f32()
        ))
    });
    match told {
        Ok(()) | Err(TourError::ReaderGone) => Ok(0),
        Err(TourError::Left) => {
            let text = "left: nothing of the tour remains · pipemux --help · help --all · setup";
            Ok(requester.print_own(text, &serde_json::json!({ "left": true })))
        }
        Err(TourError::Interrupted) => {
            output::write_stderr(
                b"the tour was interrupted: its daemon has ended and nothing of it is left\n",
            );
            Ok(INTERRUPTED)
        }
        Err(TourError::UnexpectedStatus { status }) => {
            output::write_stderr(
                b"the tour stops here: the last command ended with an unexpected status\nlook: pipemux doctor\n",
            );
            Ok(status)
        }
        Err(TourError::Io(error)) => {
            Err(ClientError::invalid(format!("the tour can't continue: {error}"))
                .hint("set TMPDIR to a directory that you can write to"))
        }
    }
}

/// Returns the directory of the workspace's project, or else the current directory.
fn project_root(requester: &Requester) -> PathBuf {
    let key = PathBuf::from(&requester.options.workspace.key);
    if key.is_absolute() && key.is_dir() {
        return key;
    }
    std::env::current_dir().unwrap_or_default()
}

fn introduce(
    sandbox: &Sandbox,
    sample: &SampleFile,
    root: &std::path::Path,
) -> Result<(), TourError> {
    sandbox.write_file(&sample.name, &sample.text)?;
    let file = match &sample.origin {
        Some(path) => format!("a copy of {}", relative_display(path, root)),
        None => format!("the built-in file {}", sample.name),
    };
    print(&format!(
        "PipeMux in a minute: three apps, on {file}.\nThe tour runs in {}, with a daemon of its own; your own files and sessions are not touched.\n",
        sandbox.project.display(),
    ))
}

fn run_steps(sandbox: &mut Sandbox, sample: &SampleFile) -> Result<(), TourError> {
    let SampleFile { name, word, new_word, .. } = sample;
    edit_steps(sandbox, name, word, new_word)?;

    sandbox.step(
        "A second app. Each app is a process of its own; if one dies, the others keep running.",
        &["open", "notebook", "notes.db"],
        0,
    )?;
    let (first, last) = sample.excerpt();
    sandbox.step(
        "Text moves from app to app by reference; the agent does not have to repeat it.",
        &[
            "run",
            &format!("notebook.add(title=\"about {word}\", text=editor.lines({first}, {last}))"),
        ],
        0,
    )?;
    sandbox.step(
        "Notes are found by full-text search.",
        &["run", &format!("notebook.search(\"{word}\")")],
        0,
    )?;
    sandbox.step(
        "A third app shows the load of the machine. `/tour` names a session of its own, apart from any that you have open.",
        &["open", "monitor/tour"],
        0,
    )?;
    sandbox.step(
        "The whole workspace within a token budget: each window gets a share and says what it left out.",
        &["view", "--budget", "300"],
        0,
    )?;
    sandbox.step(
        "A wrong reference is answered with what happened and what to do next.",
        &["read", "obj:999999"],
        3,
    )?;
    for session in ["monitor/tour", "notebook/main", "editor/main"] {
        let remark = match session {
            "monitor/tour" => "Now the windows are closed; `--end` also ends their sessions.",
            "notebook/main" => {
                "The notes are in their file; each was saved before its answer was printed."
            }
            _ => "The last window.",
        };
        sandbox.step(remark, &["close", session, "--end"], 0)?;
    }
    Ok(())
}

/// Shows the first app: a question, its answer, a link, and a script whose second step fails.
fn edit_steps(
    sandbox: &mut Sandbox,
    name: &str,
    word: &str,
    new_word: &str,
) -> Result<(), TourError> {
    let opened = sandbox.step(
        "An app is a document: a heading, links to likely next steps, its actions (listed once), and numbered lines.",
        &["open", "editor", name],
        0,
    )?;
    sandbox.step(
        "The word has three matches. The app asks which one is meant instead of guessing, and the save waits.",
        &["run", &format!("editor.replace(\"{word}\", \"{new_word}\"); editor.save()")],
        5,
    )?;
    let answered = sandbox.step(
        "An answer only names the choice. Only what changed is printed.",
        &["answer", "1,3"],
        0,
    )?;
    let offered = parse_links(&answered).into_iter().chain(parse_links(&opened));
    if let Some((_, link)) = offered.into_iter().find(|(label, _)| *label == "undo") {
        sandbox.step(
            "Actions of low risk are links to click. This one undoes exactly that change.",
            &["click", link],
            0,
        )?;
    }
    sandbox.step(
        "Steps run in order. The first failure stops the rest, and the answer says which steps did not run.",
        &["run", "editor.save(); editor.replace(\"no such text here\", \"x\"); editor.goto(1)"],
        1,
    )?;
    Ok(())
}
