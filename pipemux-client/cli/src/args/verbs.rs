//! The verbs, with their arguments and help.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use clap_complete::Shell;
use pipemux_client::proto::SessionAddr;
use pipemux_client::proto::client::HeldWindow;

use crate::tool_schema::SchemaFormat;

use super::subverbs::{AppVerb, ServiceVerb};
use super::values::{
    Harness, HelpTopic, OpenTarget, With, epoch, event, help_topic, lines, open_target, priority,
    question, rounds, session, wait, weight,
};

/// Rounds that `who` shows when nothing else is said.
const WHO_SHOWN: u32 = 5;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Start or attach to an app, add its window to the workspace, and show it
    ///
    /// Opening a session that is already open adds to it, for example another file. A --lod or --budget
    /// given here becomes the window's default.
    #[command(verbatim_doc_comment)]
    Open {
        /// The app, and optionally a session: editor, editor/draft
        #[arg(value_name = "PROVIDER[/SESSION]", value_parser = open_target)]
        target: OpenTarget,
        /// Arguments for the app, such as files; those that begin with - go after --
        #[arg(value_name = "ARGS")]
        args: Vec<String>,
        /// Keep the session awake, however long it is unused
        #[arg(long, conflicts_with = "unpin")]
        pin: bool,
        /// Let the session sleep again when it is unused
        #[arg(long)]
        unpin: bool,
        /// The window's place in view and inject: a higher one stands earlier; 0 unless set
        #[arg(long, value_name = "N", value_parser = priority, allow_negative_numbers = true)]
        priority: Option<i32>,
        /// The window's part of the budget of view, compared to the others'; 1 unless set
        #[arg(long, value_name = "N", value_parser = weight, allow_negative_numbers = true)]
        weight: Option<u32>,
    },
    /// Show a window live in this terminal, with a prompt below it
    ///
    ///   pipemux attach planner
    ///   pipemux attach editor notes.md
    ///
    /// The app is opened if it isn't, and takes the arguments as with `open`. What you type below the window:
    ///
    ///   any words          go to the action that the app takes them with; a space first: whatever they look like
    ///   3                  follows the link that ⟨3⟩ stands behind, or answers the open question; /3 is always the link
    ///   /name(arguments)   runs a call of the app; of another one: /editor.save()
    ///   ?                  tells the keys, /help all of it
    ///
    /// A number follows the link that had it when you began to type, never another one that took its place meanwhile.
    /// Page Up, Page Down and the arrows scroll. Ctrl-C leaves, as q does where no words are taken, and everything goes
    /// on. Each terminal is a reader of its own, whose name begins with attach: apps take it for a person.
    ///
    /// With NO_COLOR set there are no colours, and in a locale without UTF-8 links have numbers like <3>.
    #[command(verbatim_doc_comment)]
    Attach {
        /// The app, and optionally a session: planner, planner/b
        #[arg(value_name = "PROVIDER[/SESSION]", value_parser = open_target)]
        target: OpenTarget,
        /// Arguments for the app, such as files; those that begin with - go after --
        #[arg(value_name = "ARGS")]
        args: Vec<String>,
    },
    /// Show the workspace, or one window, which is opened if its app is built in
    View {
        /// The window's session: editor/main
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: Option<SessionAddr>,
        /// Show only what changed since this epoch, such as e17
        #[arg(long, value_name = "EPOCH", value_parser = epoch, allow_negative_numbers = true)]
        since: Option<u64>,
        /// Block until something changes or SECONDS pass, then print the view
        #[arg(long, value_name = "SECONDS", value_parser = wait, allow_negative_numbers = true)]
        wait: Option<Duration>,
        /// A window that you have, and its version: only what changed since is shown, and which version it is now
        #[arg(long, value_name = "WINDOW=VERSION")]
        have: Vec<HeldWindow>,
    },
    /// Print what a model should know of the workspace, to put into its prompt
    ///
    /// The first time that is all windows; from then on only what changed since this reader was shown it, and
    /// nothing at all if nothing did. It takes at most 2,500 tokens, or as many as --budget says.
    ///
    /// With --have memotree/main=2.0.6 the client's own word counts, not what this reader was shown: the answer has what
    /// changed in that window since, or all of it where that can't be said, and the version that the client has then, such
    /// as memotree/main=3.0.0. It begins with memotree/main=none. With --json it is the version of the window's header.
    ///
    /// With --hook it is a hook of a harness: it reads the harness's JSON on standard input, reads as that session, and
    /// answers in JSON. `pipemux setup <harness> --with skill` installs it.
    #[command(verbatim_doc_comment)]
    Inject {
        /// Speak as a hook of a harness does
        #[arg(long)]
        hook: bool,
        /// Print everything again: the model has lost what it was shown, as after a compaction
        #[arg(long)]
        reset: bool,
        /// A window that the model has, and its version, or none; may be repeated
        #[arg(long, value_name = "WINDOW=VERSION")]
        have: Vec<HeldWindow>,
    },
    /// Run the action behind a link
    Click {
        /// The link: 15 or link:15
        link: String,
        /// Wait at most SECONDS for the end of each job that this starts
        #[arg(long, value_name = "SECONDS", value_parser = wait, allow_negative_numbers = true)]
        wait: Option<Duration>,
    },
    /// Run one or more calls
    ///
    /// A call names an app's action and its arguments. Calls are separated by ; or a newline; the first
    /// failure stops the rest. Pass long text through standard input, where it needs no quoting:
    ///
    ///   pipemux run 'editor.insert(3, text=stdin)' < text.md
    #[command(verbatim_doc_comment)]
    Run {
        /// The calls, quoted as one argument; - reads them from standard input, as does a here-document alone
        #[arg(value_name = "CODE")]
        code: Vec<String>,
        /// Wait at most SECONDS for the end of each job that this starts, before the next call
        #[arg(long, value_name = "SECONDS", value_parser = wait, allow_negative_numbers = true)]
        wait: Option<Duration>,
    },
    /// Run queries, which change nothing, and print their results
    ///
    /// As `run`, but a call that isn't a query is refused, and then nothing runs: a harness may allow this
    /// verb without asking a person.
    Ask {
        /// The queries, quoted as one argument; - reads them from standard input, as does a here-document alone
        #[arg(value_name = "CODE")]
        code: Vec<String>,
    },
    /// Run the `docui` blocks of a model's message, or a tool's call
    ///
    /// Reads a whole Markdown message from standard input. Only fenced code blocks that begin with
    /// ```docui are run, in order, as one run; code that the message merely mentions is ignored. Put long
    /// text into a raw block, text=<<END, in which fences have no meaning.
    ///
    /// A message that is a call of one of the tools of `pipemux tool-schema`, as JSON, is carried out:
    ///
    ///   {"name": "run_code_snippet", "parameters": {"code": "editor.undo()"}}
    ///
    /// Calls as OpenAI's and Anthropic's interfaces write them, and `tools/call` of MCP, are understood as well.
    #[command(verbatim_doc_comment)]
    Listen,
    /// Carry out tool calls as a model's interface gives them, with the tools that models know
    ///
    /// Standard input has calls as JSON, one after the other, as Anthropic's, OpenAI's and Google's interfaces and MCP
    /// write them. Each is answered with one line, in the form in which that interface wants the result:
    ///
    ///   {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}
    ///   {"type": "tool_result", "tool_use_id": "t1", "content": "a.rs", "is_error": false}
    ///
    /// What the tools do is in the history and can be undone. That a tool fails is a result: the exit status is 2
    /// only for what is no call.
    #[command(verbatim_doc_comment)]
    Exec,
    /// Answer the open question; without an answer, show it
    ///
    ///   pipemux answer 1,3                 options by number; also all · all but 2 · none
    ///   pipemux answer overwrite           an option by its label
    ///   pipemux answer yes                 confirms; no: leaves it
    ///   pipemux answer Any words           the text that is asked for; cancel: leaves it
    ///   pipemux answer title="x" n=2       the fields of a form by name; in order: 'x, 2'
    ///   pipemux answer - < text.md         the text comes from standard input; `stdin` means the same.
    ///                                      At a terminal you are asked, and it isn't shown
    ///   pipemux answer 'text="stdin"'      a text or value as in a call: this one is the word itself
    ///   pipemux answer go                  if no question is open: sends a refused call again
    ///
    /// A wrong answer leaves the question open.
    #[command(verbatim_doc_comment)]
    Answer {
        /// 2 · 1,3 · all · all but 2 · none · yes · no · go · a label · a value · name=value · a link · -
        #[arg(value_name = "ANSWER", allow_negative_numbers = true)]
        words: Vec<String>,
        /// The question to answer, when several are open
        #[arg(long, value_name = "ID", value_parser = question, allow_negative_numbers = true)]
        to: Option<u64>,
        /// Wait at most SECONDS for the end of each job that this starts
        #[arg(long, value_name = "SECONDS", value_parser = wait, allow_negative_numbers = true)]
        wait: Option<Duration>,
    },
    /// Print the value of a ref, byte for byte
    ///
    /// An error goes to standard error, so a file that the value goes to never holds one. Of a value that
    /// is no text, standard error says what it is; a terminal gets nothing else of it.
    #[command(verbatim_doc_comment)]
    Read {
        /// The ref: obj:12; job:3 prints the state and the output of a job
        #[arg(value_name = "REF")]
        target: String,
        /// Wait at most SECONDS for the end of the job
        #[arg(long, value_name = "SECONDS", value_parser = wait, allow_negative_numbers = true)]
        wait: Option<Duration>,
    },
    /// Tell what the refs and tokens in a text are now, and which calls one can make
    ///
    ///   pipemux resolve '[[MT:Node:plan]]'   one token
    ///   pipemux resolve - < message.md       every ref and token of a text, once
    ///   pipemux resolve --run - < choice.md  carries out the one call that the text names
    ///
    /// Each is live, hidden (folded, or its window is closed), asleep, stale, gone, forged (nothing here ever had
    /// that name) or ambiguous.
    #[command(verbatim_doc_comment)]
    Resolve {
        /// The text, quoted as one argument; - reads it from standard input
        text: String,
        /// Carry out the one call that the text names, as click does
        #[arg(long)]
        run: bool,
    },
    /// Describe the actions of an app, in a line each, or one of them
    ///
    ///   pipemux help                     what this command's --help prints
    ///   pipemux help --all               every verb and option
    ///   pipemux help editor              the actions; a ? marks queries, which change nothing
    ///   pipemux help editor.find         one action: its declarations, with their documentation
    ///   pipemux help editor --full       those of all actions
    ///   pipemux help editor --aliases    names of other tools that are understood as well
    #[command(verbatim_doc_comment)]
    Help {
        /// The app, or the app and one of its actions; without it, this command's help is printed
        #[arg(value_name = "APP[.ACTION]", value_parser = help_topic)]
        of: Option<HelpTopic>,
        /// List every verb and option
        #[arg(long, conflicts_with_all = ["of", "full", "aliases"])]
        all: bool,
        /// Show whole declarations, as --lod full
        #[arg(long, requires = "of")]
        full: bool,
        /// List the names of other tools that the app understands; without an app, those of all built-in apps
        #[arg(long)]
        aliases: bool,
    },
    /// Print a guide to this release as a SKILL.md, for harnesses that load one
    Skill,
    /// Print PipeMux's tools as JSON, for a harness that registers tools itself
    ///
    /// It passes the calls to `pipemux listen` or `pipemux pipe`.
    #[command(verbatim_doc_comment)]
    ToolSchema {
        /// Whose form of a tool's definition
        #[arg(long, value_enum, default_value_t = SchemaFormat::Openai)]
        format: SchemaFormat,
    },
    /// Serve a harness over the Model Context Protocol
    ///
    ///   pipemux mcp             on standard input and output, as harnesses start it
    ///   pipemux mcp --http      over HTTP, at http://127.0.0.1:7357/mcp
    ///
    /// Each connection is a reader of its own; --reader names it, and --budget bounds each answer. HTTP requests
    /// must carry the token in PIPEMUX_MCP_TOKEN, or else the one that is made and printed; the header
    /// PipeMux-Reader or ?reader=NAME names their reader. To write a harness's configuration: pipemux setup --help
    #[command(verbatim_doc_comment)]
    Mcp {
        /// Serve HTTP on this address instead of standard input and output [default: 127.0.0.1:7357]
        #[arg(long, value_name = "ADDRESS", num_args = 0..=1)]
        http: Option<Option<SocketAddr>>,
        /// Tokens that the differences in files may take in the answer of an act; 0 for none [default: 400]
        #[arg(long, value_name = "TOKENS")]
        diff: Option<u32>,
    },
    /// Set a harness up to use PipeMux, or take that back
    ///
    /// Shows each change of a file as a difference. Comments, order and other entries stay, and a file that can't be
    /// understood is left as it is.
    ///
    ///   pipemux setup claude-code                 as a server of the Model Context Protocol
    ///   pipemux setup codex --with skill          as a skill for the command line, with hooks
    ///   pipemux setup cursor --project --dry-run  show what would be written into this project
    ///   pipemux setup agents-md --project         a block in AGENTS.md, for any harness that reads it
    #[command(verbatim_doc_comment)]
    Setup {
        /// The harness
        #[arg(value_enum)]
        harness: Harness,
        /// What to set up [default: mcp], or to take out [default: both]
        #[arg(long, value_enum)]
        with: Option<With>,
        /// Write into this project instead of your home directory
        #[arg(long)]
        project: bool,
        /// Take PipeMux out again
        #[arg(long)]
        remove: bool,
        /// Only show the changes
        #[arg(long)]
        dry_run: bool,
    },
    /// Have systemd or launchd start the daemon, and restart it when it fails
    ///
    /// Nobody needs it: every command starts the daemon. With systemd it also waits for clients while the
    /// daemon restarts, so that none is turned away. Writes only below ~/.config/systemd/user
    /// ($XDG_CONFIG_HOME), or ~/Library/LaunchAgents, and says what.
    #[command(subcommand, verbatim_doc_comment)]
    Service(ServiceVerb),
    /// Print the completions of a shell
    ///
    ///   pipemux completions bash > ~/.local/share/bash-completion/completions/pipemux
    #[command(verbatim_doc_comment)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the man page of the program, or of a verb
    ///
    ///   pipemux man > ~/.local/share/man/man1/pipemux.1
    ///   pipemux man run > ~/.local/share/man/man1/pipemux-run.1
    #[command(verbatim_doc_comment)]
    Man {
        /// The verb: run, app add
        #[arg(value_name = "VERB")]
        verb: Vec<String>,
    },
    /// Close a window
    Close {
        /// The window's session: editor/main
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
        /// End the session as well
        #[arg(long)]
        end: bool,
    },
    /// Show what was done in the workspace, newest last, by the clock of this machine or of TZ
    ///
    ///   pipemux history --since today           also yesterday, 2026-11-01, 3h, 2d
    ///   pipemux history --all --since today     in all workspaces: where, by whom, and with which client
    ///   pipemux history src/a.rs                what changed this file or folder, newest first: as `who`
    #[command(verbatim_doc_comment)]
    History {
        /// Only rounds that changed this file or folder, newest first
        file: Option<PathBuf>,
        /// The rounds of all workspaces
        #[arg(long)]
        all: bool,
        /// Only rounds since then: today, yesterday, 2026-11-01, 3h, 2d
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
        /// Include each round's details
        #[arg(long)]
        detail: bool,
        /// Show what each round changed in files, as a difference
        #[arg(long)]
        diff: bool,
        /// Number of rounds to show, counted from the newest
        #[arg(long, value_name = "N", value_parser = rounds, allow_negative_numbers = true)]
        rounds: Option<u32>,
    },
    /// Show which rounds changed a file or folder, by whom, with which client and when: newest first
    ///
    /// It knows of edits by the editor and by commands in the terminal that ended within their call, not of what the
    /// memory tree and the planner write. If the file was written later than the newest of them, it says so.
    #[command(verbatim_doc_comment)]
    Who {
        /// The file or folder
        file: PathBuf,
        /// Show what each round changed, as a difference
        #[arg(long)]
        diff: bool,
        /// Show which round each line comes from
        #[arg(long, conflicts_with_all = ["diff", "rounds"])]
        lines: bool,
        /// Number of rounds to show
        #[arg(long, value_name = "N", value_parser = rounds, default_value_t = WHO_SHOWN, allow_negative_numbers = true)]
        rounds: u32,
    },
    /// Undo a round of history, in all apps that it changed
    ///
    ///   pipemux undo        your newest round that changed anything and isn't undone
    ///   pipemux undo 12     the round with this number in `pipemux history`
    ///
    /// What came later in the same files stays. Where it touches the same lines, both texts are shown and nothing
    /// is written. Steps that have no undo are named and left out. An undo is a round, too: undo it to redo.
    #[command(verbatim_doc_comment)]
    Undo {
        /// The round's number
        round: Option<u64>,
    },
    /// Set an option of the workspace, or show all options
    ///
    ///   pipemux set epoch strict     a ref is stale in every later epoch
    ///   pipemux set epoch meaning    a ref is stale once its meaning has changed (default)
    ///   pipemux set rebase on        safe actions also run on things that have changed
    ///   pipemux set rebase off       they refuse things that have changed (default)
    ///   pipemux set titles on        every link shows its call
    ///   pipemux set titles off       links show their calls where the app asks for it (default)
    ///   pipemux set panels views,environment,notices,history,questions
    ///                                view and inject begin with the open windows and what the workspace is, and
    ///                                end with the newest notices, rounds and questions; or some of them
    ///   pipemux set panels off       they show windows only (default)
    #[command(verbatim_doc_comment)]
    Set {
        /// epoch, rebase, titles or panels
        option: Option<String>,
        /// For epoch: strict or meaning; for rebase and titles: on or off; for panels: names or off
        value: Option<String>,
    },
    /// Print events as they happen, until Ctrl-C
    ///
    /// Events report actions and who ran them, changed windows, sessions that start, crash or end,
    /// questions, and notices. Watching does not affect what a reader counts as having seen. Each event
    /// has a number; --since continues after it. With --timeout, watching ends after that many seconds.
    #[command(verbatim_doc_comment)]
    Watch {
        /// Start after this event, if it is still kept [default: new events only]
        #[arg(long, value_name = "NUMBER", value_parser = event, allow_negative_numbers = true)]
        since: Option<u64>,
        /// Exit after N events
        #[arg(long, value_name = "N", value_parser = rounds, allow_negative_numbers = true)]
        count: Option<u32>,
        /// Include the events of all workspaces
        #[arg(long)]
        all: bool,
    },
    /// List the registered apps, and why others are not registered
    Apps,
    /// Register or remove an app
    #[command(subcommand)]
    App(AppVerb),
    /// List the sessions, their states and what each costs
    ///
    /// Memory and processor time are those of a session's process and all that it started; a dash is what the
    /// system doesn't tell. Tokens are those of the answers that showed the session or ran its actions, since the
    /// daemon started; of an answer with several sessions each has the same part.
    #[command(verbatim_doc_comment)]
    Sessions,
    /// Print the last lines of a session's output
    Logs {
        /// The session: editor/main
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
        /// Number of lines
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = lines, allow_negative_numbers = true)]
        lines: u32,
        /// Continue with new output, until Ctrl-C or for the seconds of --timeout
        #[arg(long)]
        follow: bool,
    },
    /// Print the frames between the daemon and an app, decoded
    ///
    ///   12:00:00.123 life 7 → Invoke #12 {action: "add", args: {text: {value: "milk"}}, …}
    ///   12:00:00.125 life 7 ← Changed {version: 3} · dropped: the version 3 is known already
    ///
    /// A session is traced from the first `trace` on, until nobody has asked for ten minutes; with dev = true in
    /// its manifest always. Secrets are left out.
    #[command(verbatim_doc_comment)]
    Trace {
        /// The session: todo/main
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
        /// Number of frames
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = lines, allow_negative_numbers = true)]
        lines: u32,
        /// Continue with new frames, until Ctrl-C or for the seconds of --timeout
        #[arg(long)]
        follow: bool,
    },
    /// End a session's process and start a new one
    Restart {
        /// The session: editor/main
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
    },
    /// End a session and close its windows
    End {
        /// The session: editor/main
        #[arg(value_name = "PROVIDER/SESSION", value_parser = session)]
        session: SessionAddr,
    },
    /// Start the daemon if it is not running, and show its status
    Up,
    /// End the daemon with all its sessions, and wait until it is gone
    ///
    ///   pipemux down           the next command, hook or tool call of a harness starts it again
    ///   pipemux down --stay    none does before a person types pipemux up at a terminal: each exits 8 and says so
    #[command(verbatim_doc_comment)]
    Down {
        /// Stay down until `pipemux up`
        #[arg(long)]
        stay: bool,
    },
    /// Show the daemon's status; never starts it
    Status {
        /// Show every limit, and how much of it is used
        #[arg(long)]
        limits: bool,
    },
    /// Show what apps ask a person to allow, and answer it at a terminal
    ///
    /// What only a person may allow, an app asks for by refusing an action: starting a program that a file of the
    /// project names, for example. Without a number, what is asked for and what is allowed in the workspace is
    /// listed. With one, everything that would be started, opened or sent is shown, and you answer yes or no: the
    /// terminal has to be yours, so an agent can't. Then the action can be sent again.
    #[command(verbatim_doc_comment)]
    Consent {
        /// The number of one of them
        number: Option<u64>,
        /// Take back what was allowed
        #[arg(long, requires = "number")]
        withdraw: bool,
    },
    /// Hold what agents do, until `resume`: run, click, answer and undo are refused; reading and jobs go on
    ///
    ///   pipemux pause                    everybody in this workspace
    ///   pipemux pause --reader NAME      this reader, in all workspaces
    ///   pipemux pause --all              everybody, in all workspaces
    ///
    /// A run that is under way stops before its next step. It lasts until you end it, also when the daemon is
    /// restarted. A reader is who a command says it is: against one that may change its name, hold the workspace.
    #[command(verbatim_doc_comment)]
    Pause {
        /// Everybody, in all workspaces
        #[arg(long)]
        all: bool,
    },
    /// End a pause: your terminal asks you, so an agent can't
    ///
    ///   pipemux resume                   that of this workspace
    ///   pipemux resume --reader NAME     that of this reader
    ///   pipemux resume --all             each of them
    #[command(verbatim_doc_comment)]
    Resume {
        /// Each pause
        #[arg(long)]
        all: bool,
    },
    /// Show the file of your rules: who only reads, what nobody uses, what commands may do
    ///
    /// A change holds from the next command on. While a line of it can't be read, nobody acts: `pipemux doctor`
    /// and `pipemux status` say which.
    #[command(verbatim_doc_comment)]
    Config {
        /// Begin the file, with each rule explained, if it isn't there
        #[arg(long)]
        write: bool,
    },
    /// Print who did what, from the audit log
    ///
    /// Each act is one line: when, what, what came of it, who confirmed it, and which process asked. Long
    /// texts are recorded as length and SHA-256. --workspace and --reader show only theirs. How much is
    /// kept is set in config.toml beside your apps: [audit] keep_days = 90, size = "64M"; 0 days: nothing.
    /// The same file sets how many rounds history has: [history] rounds = 10000, or fewer.
    #[command(verbatim_doc_comment)]
    Audit {
        /// Number of lines, counted from the newest
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = lines, allow_negative_numbers = true)]
        lines: u32,
    },
    /// Check everything that PipeMux needs, and suggest a fix for each problem
    ///
    /// Works without a daemon, and starts none. The exit status is 0 if there is no problem or all were
    /// fixed, else 1.
    #[command(verbatim_doc_comment)]
    Doctor {
        /// Fix the problems that can be fixed safely
        #[arg(long)]
        fix: bool,
    },
    /// Serve requests as lines of JSON, for programs that keep one process running
    ///
    /// A request is one line on standard input:
    ///
    ///   {"id": 1, "args": ["run", "editor.save()"]}
    ///
    ///   id         repeated in the answer
    ///   args       the arguments of a `pipemux` command line
    ///   stdin      optional: text that takes the place of standard input
    ///   json       optional: true for a report in JSON instead of Markdown text
    ///   workspace, reader, cwd, env
    ///              optional: take the place of this process's own; env is an object of strings
    ///
    /// In place of args it may have a tool's call, as `pipemux listen` takes it:
    ///
    ///   {"id": 1, "name": "ask", "parameters": {"code": "view"}}
    ///
    /// Requests are sent in the order of their lines. After an `open`, `close`, `restart` or `end`, the
    /// next request for that workspace is sent once the first has its answer; after a `down` or `app`,
    /// this holds for every next request. At most 64 requests are in flight at once.
    ///
    /// An answer is one line on standard output. Answers are printed as they arrive, in any order:
    ///
    ///   {"id": 1, "exit": 0, "text": "…"}
    ///   {"id": 1, "exit": 0, "report": {…}}      with "json": true
    ///
    /// If exit is neither 0 nor 5 (a question), the answer also has "error": {"code", "level",
    /// "message", "hints"}. The command exits once standard input has ended and every request has its
    /// answer.
    #[command(verbatim_doc_comment)]
    Pipe,
    /// Measure what PipeMux costs on this machine, compared with a minimal relay
    ///
    /// Uses a daemon and a state directory of its own, and removes both afterwards. Compare ratios
    /// between machines, not times.
    #[command(verbatim_doc_comment)]
    Bench {
        /// Run a fifth of the rounds, for a first impression within seconds
        #[arg(long)]
        quick: bool,
    },
    /// Start a guided tour of the editor, the notebook and the monitor
    ///
    /// The tour works on a copy of a file of this project, with a daemon of its own, and leaves nothing behind. At a
    /// terminal each step waits for a key.
    Tour,
    /// Any other word, which is answered with a suggestion.
    #[command(external_subcommand)]
    Unknown(Vec<String>),
}
