//! The actions that an agent can call. Names and parameters are a contract.

use std::collections::BTreeMap;

use docui::{Anchor, Change, FilePath, Secret, TextOrPattern};

use crate::limits::WAIT_MAX;

docui::kind!(
    /// A command that was run; its name is `c3`, and the beginning of its line means the newest one
    /// that begins so.
    pub Command = "command", named
);

docui::actions! {
    /// An action of the terminal.
    pub enum Action {
        /// Runs a command, or several in order until one fails; what matters of its output, and all
        /// of it in output(). What runs longer than `wait` goes on as a job.
        changes help Run = run(
            command: Vec<String>,
            cwd: Option<FilePath> = None::<FilePath>,
            env: BTreeMap<String, Secret> = BTreeMap::<String, Secret>::new(),
            /// Seconds until it is stopped; of several, each.
            timeout: Option<f64> = None::<f64>,
            /// Seconds, at most 25.
            wait: f64 = WAIT_MAX as f64,
        );
        /// Lines of the output as they were printed; the newest command's, unless job names another
        /// one. last=20: the last ones.
        query help Output = output(
            from: i64 = 1,
            to: Option<i64> = None::<i64>,
            job: Option<Anchor<Command>> = None::<Anchor<Command>>,
            /// So many from the beginning; with last: the first line's number.
            first: Option<i64> = None::<i64>,
            last: Option<i64> = None::<i64>,
        ) -> String;
        /// Lines of the output with a text.
        query help Find = find(
            text: TextOrPattern,
            job: Option<Anchor<Command>> = None::<Anchor<Command>>,
            regex: bool = false,
        );
        /// All problems and failed tests with their details, and what the run before had.
        query help Problems = problems(job: Option<Anchor<Command>> = None::<Anchor<Command>>);
        /// Waits until the output has a text, at most 25 seconds. Later commands have the port that
        /// is listened on as $PORT.
        query help WaitFor = wait_for(
            text: String,
            seconds: f64 = WAIT_MAX as f64,
            job: Option<Anchor<Command>> = None::<Anchor<Command>>,
        );
        /// What the terminal shows, for a program that draws on it.
        query help Screen = screen(job: Option<Anchor<Command>> = None::<Anchor<Command>>);
        /// Types a text and Enter.
        changes help Input = input(
            text: String,
            job: Option<Anchor<Command>> = None::<Anchor<Command>>,
            /// False types no Enter.
            enter: bool = true,
        );
        /// Presses keys: 'ctrl-c', 'down down enter', 'esc :q enter'.
        changes help Keys = keys(
            keys: String,
            job: Option<Anchor<Command>> = None::<Anchor<Command>>,
        );
        /// Ends it with all that it started.
        changes help Stop = stop(job: Option<Anchor<Command>> = None::<Anchor<Command>>);
        /// Sends a signal: 'INT', 'HUP', 'USR1'.
        changes help Signal = signal(
            name: String,
            job: Option<Anchor<Command>> = None::<Anchor<Command>>,
        );
        /// Takes back what a command changed in files, as a merge with what came later; the newest
        /// one's, unless change names another.
        changes help Undo = undo(
            change: Option<Change> = None::<Change>,
            /// Also what others changed that ran beside it.
            shared: bool = false,
        );
        /// Makes it again.
        changes help Redo = redo(change: Option<Change> = None::<Change>);
        /// Ends it and runs it again.
        changes help Restart = restart(
            job: Option<Anchor<Command>> = None::<Anchor<Command>>,
            wait: f64 = 3.0,
        );

        // Names that models know from other tools, with their parameters and their meaning.
        /// Runs a line in a shell that you keep: the next line finds its folder, variables and
        /// functions, and what runs in its background goes on. restart=true: a new shell.
        changes alias Bash = bash(
            command: String = "",
            restart: bool = false,
            /// Seconds, at most 25.
            wait: f64 = WAIT_MAX as f64,
        );
        /// As run, for one line; the answer's value is the command's name.
        changes alias Shell = shell(
            command: String,
            cwd: Option<FilePath> = None::<FilePath>,
            env: BTreeMap<String, Secret> = BTreeMap::<String, Secret>::new(),
            timeout: Option<f64> = None::<f64>,
            wait: f64 = WAIT_MAX as f64,
        );
    }
}
