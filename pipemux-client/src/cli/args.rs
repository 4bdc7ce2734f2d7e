//! The arguments of the command line, and their help.

mod overview;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use pipemux_client::proto::projection::Lod;
use pipemux_client::proto::{ProviderId, SessionAddr, SessionId};

use overview::{TEMPLATE, VERBS};

pub use values::session;
use values::{epoch, event, lines, provider, question, rounds, seconds, target, tokens, wait};

/// Long-lived applications for agents: each is a Markdown document with links and calls.
#[derive(Debug, Parser)]
#[command(
    name = "pipemux",
    version,
    help_template = TEMPLATE,
    after_help = VERBS,
    disable_help_subcommand = true,
    infer_subcommands = false,
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// Options of every verb.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every verb")]
pub struct Global {
    /// Workspace; else PIPEMUX_WORKSPACE, else the project around this directory
    #[arg(long, global = true, value_name = "NAME")]
    pub workspace: Option<String>,
    /// Who reads: what was seen counts per reader; else PIPEMUX_READER
    #[arg(long, global = true, value_name = "NAME")]
    pub reader: Option<String>,
    /// Print data instead of Markdown
    #[arg(long, global = true)]
    pub json: bool,
    /// Tokens that the answer may take, an act's too; on open it stays with the window
    #[arg(long, global = true, value_name = "TOKENS", value_parser = tokens, allow_negative_numbers = true)]
    pub budget: Option<u32>,
    /// Level of detail of what the answer shows, an act's too; on open it stays
    #[arg(long, global = true, ignore_case = true)]
    pub lod: Option<LodArg>,
    /// The epoch that refs and numbers mean, e17; else what was seen last
    #[arg(long, global = true, value_name = "EPOCH", value_parser = epoch, allow_negative_numbers = true)]
    pub at: Option<u64>,
    /// Show the call of every link
    #[arg(long, global = true)]
    pub titles: bool,
    /// How long the request may take [default: 30]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
}

/// A level of detail as it is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LodArg {
    Gist,
    Summary,
    Full,
}

impl From<LodArg> for Lod {
    fn from(lod: LodArg) -> Lod {
        match lod {
            LodArg::Gist => Lod::Gist,
            LodArg::Summary => Lod::Summary,
            LodArg::Full => Lod::Full,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Start or attach an app, add its window to the workspace, show it
    ///
    /// Again: adds to it, e.g. another file. A --lod or --budget given here stays with the window.
    Open {
        /// editor, editor/draft
        #[arg(value_name = "PROVIDER[/SESSION]", value_parser = target)]
        target: Target,
        /// For the app: files, paths; what begins with - goes after --
        #[arg(value_name = "ARGS")]
        args: Vec<String>,
        /// Keep its session awake, however long nobody uses it
        #[arg(long, conflicts_with = "unpin")]
        pin: bool,
        /// Let its session sleep again when nobody uses it
        #[arg(long)]
        unpin: bool,
    },
    /// Show the workspace, or one window
    View {
        /// editor/main
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: Option<SessionAddr>,
        /// Only what changed since that epoch: e17
        #[arg(long, value_name = "EPOCH", value_parser = epoch, allow_negative_numbers = true)]
        since: Option<u64>,
        /// Once something changed since you saw it; after so many seconds as it is then
        #[arg(long, value_name = "SECONDS", value_parser = wait, allow_negative_numbers = true)]
        wait: Option<Duration>,
    },
    /// Carry out a link
    Click {
        /// link:15, 15
        link: String,
    },
    /// Carry out calls
    ///
    /// Calls stand in a row with ; or a newline between them; the first failure stops the rest.
    /// Long text goes in as it is:
    ///
    ///   pipemux run 'editor.insert(3, text=stdin)' < text.md
    Run {
        /// The calls, quoted; - takes them from standard input
        #[arg(value_name = "CODE", required = true)]
        code: Vec<String>,
    },
    /// Carry out the `docui` blocks of a model's message
    ///
    /// Standard input is a whole message in Markdown. Only its fenced code blocks that begin with
    /// ```docui are carried out, in order, as one run; code that is merely mentioned never is. Long text
    /// stands in a raw block, text=<<END, in which fences are text.
    Listen,
    /// Answer the open question
    Answer {
        /// 2 · 1,3 · all · all but 2 · none · yes · no · go · a value · a link
        #[arg(value_name = "ANSWER", required = true, allow_negative_numbers = true)]
        words: Vec<String>,
        /// Which question, when several are open
        #[arg(long, value_name = "ID", value_parser = question, allow_negative_numbers = true)]
        to: Option<u64>,
    },
    /// Print a thing's value, byte for byte
    Read {
        /// obj:12
        #[arg(value_name = "REF")]
        target: String,
    },
    /// Print an app's actions in full
    Help {
        /// Without one: this command's help
        #[arg(value_parser = provider)]
        provider: Option<ProviderId>,
    },
    /// Close a window
    Close {
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
        /// End the session too
        #[arg(long)]
        end: bool,
    },
    /// Show what was done in the workspace, newest last
    History {
        /// With each round's detail
        #[arg(long)]
        detail: bool,
        /// How many of the newest rounds
        #[arg(long, value_name = "N", value_parser = rounds, allow_negative_numbers = true)]
        rounds: Option<u32>,
    },
    /// Set an option of the workspace, or show all
    ///
    ///   pipemux set epoch strict     a ref is stale in every later epoch
    ///   pipemux set epoch meaning    a ref is stale once its meaning changed (default)
    ///   pipemux set rebase on        safe actions take a changed thing as it is
    ///   pipemux set rebase off       they refuse it (default)
    #[command(verbatim_doc_comment)]
    Set {
        /// epoch, rebase
        option: Option<String>,
        /// strict, meaning · on, off
        value: Option<String>,
    },
    /// Print events as they come, until Ctrl-C
    ///
    /// What was done and by whom, windows that change, sessions that start, crash and end, questions,
    /// notices. It marks nothing as seen for anybody. Each event has a number; --since goes on after it.
    Watch {
        /// Events after that number, as far as they are kept; else those to come
        #[arg(long, value_name = "NUMBER", value_parser = event, allow_negative_numbers = true)]
        since: Option<u64>,
        /// End after so many events
        #[arg(long, value_name = "N", value_parser = rounds, allow_negative_numbers = true)]
        count: Option<u32>,
        /// Of all workspaces
        #[arg(long)]
        all: bool,
    },
    /// List the registered apps, and why others are not registered
    Apps,
    /// Register an app, or take one away
    #[command(subcommand)]
    App(AppVerb),
    /// List the sessions and their state
    Sessions,
    /// Print the last lines that a session printed
    Logs {
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = lines, allow_negative_numbers = true)]
        lines: u32,
        /// Go on with what it prints from now on, until Ctrl-C
        #[arg(long)]
        follow: bool,
    },
    /// End a session's process and start it anew
    Restart {
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
    },
    /// End a session and close its windows
    End {
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
    },
    /// Start the daemon, if it isn't up, and say how it is
    Up,
    /// End the daemon with all its sessions, and wait until it is gone
    Down,
    /// Say how the daemon is; never starts it
    Status {
        /// Every bound that can be reached, and how much of it is used
        #[arg(long)]
        limits: bool,
    },
    /// Check what PipeMux needs, and say what to do about what is wrong
    ///
    /// Works without a daemon, and starts none. Exit status 0: all is well, or was mended.
    Doctor {
        /// Mend what can be mended safely
        #[arg(long)]
        fix: bool,
    },
    /// Take requests as lines of JSON, answer likewise: for programs that keep a process
    ///
    /// A request: {"id": 1, "args": ["run", "editor.save()"]}, where args are what stands on a command
    /// line behind `pipemux`. Besides: "stdin": text, "json": true for data instead of Markdown,
    /// "workspace", "reader", "cwd", "env": {name: value}.
    ///
    /// Requests are sent in the order of their lines. After an `open`, `close`, `restart` or `end` the next
    /// line of that workspace is sent once it was answered, after a `down` or `app` any next line.
    ///
    /// An answer, when it is there, whatever the order: {"id": 1, "exit": 0, "text": "…"}, with "json": true
    /// {"id": 1, "exit": 0, "report": {…}}. Unless exit is 0 or 5 (it asks), besides: "error": {"code",
    /// "level", "message", "hints"}. At most 64 are worked on at once. The end of standard input ends it,
    /// once all is answered.
    Pipe,
    /// Measure this machine: what PipeMux costs beside the least that a relay can cost
    ///
    /// Uses a daemon and a state of its own, and leaves nothing. Ratios compare machines; times don't.
    Bench {
        /// A fifth of the rounds: a first impression in some seconds
        #[arg(long)]
        quick: bool,
    },
    /// Walk through all apps on copies of files of this project
    Tour,
    /// What is no verb.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

#[derive(Debug, Subcommand)]
pub enum AppVerb {
    /// Check a manifest, copy it into your apps, and have the daemon take it at once
    Add {
        /// A TOML file with at least id and command
        #[arg(value_name = "MANIFEST.TOML")]
        manifest: PathBuf,
        /// Take the place of another app of the same id
        #[arg(long)]
        replace: bool,
    },
    /// Remove a manifest from your apps; an app that comes with PipeMux is back then
    Remove {
        #[arg(value_name = "PROVIDER", value_parser = provider)]
        provider: ProviderId,
    },
}

/// What `open` opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub provider: ProviderId,
    pub session: Option<SessionId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once("pipemux").chain(line.split_whitespace()))
    }

    #[test]
    fn the_definition_holds_and_the_help_names_every_verb() {
        Cli::command().debug_assert();
        let listed: Vec<&str> = VERBS.split_whitespace().collect();
        for verb in Cli::command().get_subcommands() {
            assert!(listed.contains(&verb.get_name()), "{}", verb.get_name());
        }
        let help = Cli::command().render_help().to_string();
        assert!(help.contains("pipemux open editor") && help.contains("--budget"), "{help}");
    }

    #[test]
    fn files_come_with_and_without_dashes_and_options_anywhere() {
        for line in
            ["open editor -- a.rs b.rs", "open editor a.rs b.rs", "open editor a.rs -- b.rs"]
        {
            let Some(Verb::Open { target, args, .. }) = parse(line).unwrap().verb else { panic!() };
            assert_eq!((target.provider.as_str(), target.session), ("editor", None));
            assert_eq!(args, ["a.rs", "b.rs"]);
        }
        let cli = parse("open editor/b a.rs --json --budget 300 --lod FULL -- --json").unwrap();
        assert!(cli.global.json && cli.global.budget == Some(300));
        let Some(Verb::Open { target, args, .. }) = cli.verb else { panic!() };
        assert_eq!(target.session.unwrap().as_str(), "b");
        assert_eq!(args, ["a.rs", "--json"]);
        assert!(parse("--workspace demo view").unwrap().global.workspace.is_some());
    }

    #[test]
    fn names_are_checked_before_anything_starts() {
        for line in [
            "open Editor a.rs",
            "open editor/",
            "view editor/a/b",
            "close ../main",
            "view --budget 0",
            "view --lod most",
            "view --timeout 0",
            "view --timeout NaN",
            "view --timeout inf",
            "logs editor/main --lines -1",
            "view --since now",
            "view --since e",
            "view --since e+1",
            "click 15 --at -1",
            "run --at @e3 a()",
            "history --rounds 0",
            "view --wait 0",
            "view --wait 3601",
            "watch --count 0",
            "watch --since -1",
            "app add",
            "app remove Foo",
            "set epoch strict now",
            "listen message.md",
            "click",
            "answer",
        ] {
            assert_eq!(parse(line).map(drop).unwrap_err().exit_code(), 2, "{line}");
        }
        let Some(Verb::View { session, .. }) = parse("view monitor").unwrap().verb else {
            panic!()
        };
        assert_eq!(session.unwrap().to_string(), "monitor/main");
        for line in ["view --since 17 --at e17", "--at 17 view --since e17"] {
            let cli = parse(line).unwrap();
            assert_eq!(cli.global.at, Some(17));
            let Some(Verb::View { since, .. }) = cli.verb else { panic!() };
            assert_eq!(since, Some(17));
        }
        assert_eq!(parse("view --timeout 1.5").unwrap().global.timeout.unwrap().as_millis(), 1500);
    }
}
