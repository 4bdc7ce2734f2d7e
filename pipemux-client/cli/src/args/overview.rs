//! The part of `--help` that precedes the options.

/// The verbs in groups. This is written by hand because clap can't group subcommands.
pub const VERB_OVERVIEW: &str = "\
Look and act:
  open <provider>[/<session>] [args…]   start or attach to an app and show its window
  view [<provider>/<session>]           show the workspace, or one window; --since e17: only what changed;
                                        --wait 60: once something changes
  attach <provider>[/<session>] [args…] open it and show its window live in this terminal, with a prompt below
  inject [--reset] [--hook]             print what is new for a model's prompt; --reset: everything again
  click <link>                          run the action behind a link: click 15
  run <code> | -                        run calls; `stdin` in them stands for standard input
  ask <code> | -                        run queries only, which change nothing
  listen                                run the `docui` blocks of a message on standard input, or a tool's call
  answer [<…>]                          answer the question: 1,3 · all but 2 · yes · go; alone: show it
  read <ref>                            print the value of a ref, byte for byte
  resolve <text> | - [--run]            tell what the refs and tokens in a text are; --run: click the only one
  help <provider> [--full|--aliases]    describe the actions of an app; help --all: this text
  close <provider>/<session> [--end]    close the window; --end: end the session as well
  history [--diff] [--since today]      show what was done in the workspace; --all: in all workspaces
  who <file> [--diff|--lines]           show which rounds changed a file, by whom and when
  undo [<round>]                        undo your newest round of history, or this one, in all apps
  watch [--since N] [--count N]         print events as they happen, one per line
  set [epoch strict|meaning]            choose when a ref becomes stale; without arguments: show all options
  set [rebase on|off]                   choose whether safe actions run on things that have changed
  set [titles on|off]                   choose whether every link shows its call
  set [panels <names>|off]              choose what view and inject show besides windows

Harnesses:
  setup <harness> [--remove|--dry-run]  for claude-code, codex, gemini, cursor, vscode, zed, opencode, …
  skill                                 print a guide to this release as a SKILL.md
  mcp [--http]                          serve a harness over the Model Context Protocol
  exec                                  carry out tool calls on standard input: bash, apply_patch, …
  tool-schema [--format anthropic]      print the tools as JSON, for a harness that registers them itself

Apps and sessions:
  apps                                  list the registered apps, and why others are not registered
  app add <manifest.toml> [--replace]   register an app; app remove <provider>: remove it
  app new <name> [--lang python]        write an app to begin with; app check <manifest.toml>: find its flaws
  sessions                              list the sessions, their states and what each costs
  logs <provider>/<session> [--follow]  print the last lines of a session's output
  trace <provider>/<session> [--follow] print the frames between the daemon and an app
  restart <provider>/<session>          end the session's process and start a new one
  end <provider>/<session>              end the session and close its windows

The daemon (all other verbs start it if it is not running):
  up · down [--stay]                    start it · end it with all sessions; --stay: until the next up
  status [--limits]                     show its status, what it costs, and its limits
  consent [<number>] [--withdraw]       show what apps ask you, the person, to allow, and answer
  pause · resume [--all|--reader NAME]  hold what agents do · let them go on: for you, at a terminal
  config [--write]                      show the file of your rules: who only reads, what nobody uses
  audit [--lines N]                     print who did what, and who confirmed it
  service install|uninstall|status|logs have systemd or launchd start it; [--dry-run]
  doctor [--fix]                        find problems, suggest fixes, or make them
  pipe                                  serve requests as lines of JSON, for programs
  bench [--quick]                       measure what PipeMux costs on this machine
  tour                                  start a guided tour of the built-in apps
  completions <shell> · man [<verb>]    print a shell's completions · print a man page

Outcomes of actions and everything with --json go to standard output. Errors go to standard error when no
step ran, so that `pipemux read obj:9 > file` never fills the file with one.";

/// The layout of the help.
pub const HELP_TEMPLATE: &str = "\
{about-with-newline}
  pipemux open editor src/lib.rs
  pipemux run 'editor.rename(\"old\", \"new\"); terminal.run(\"make test\")'{after-help}

Options:
{options}";
