//! What `--help` shows before the options.

/// The verbs in groups; clap knows no groups of subcommands.
pub const VERBS: &str = "\
Look and act:
  open <provider>[/<session>] [args…]   start or attach an app and show its window
  view [<provider>/<session>]           the workspace, or one window; --since e17: what changed;
                                        --wait 60: once something changes
  click <link>                          carry out a link: click 15
  run <code> | -                        carry out calls; `stdin` in them is standard input
  listen                                carry out the `docui` blocks of a message on standard input
  answer <…>                            answer the question: 1,3 · all but 2 · yes · go
  read <ref>                            a thing's value, byte for byte
  help <provider>                       an app's actions in full
  close <provider>/<session> [--end]    close the window; --end: and end the session
  history [--detail] [--rounds N]       what was done here
  watch [--since N] [--count N]         events as they come, one a line
  set [epoch strict|meaning]            when a ref is stale; without more: all options
  set [rebase on|off]                   whether safe actions take a changed thing as it is

What runs:
  apps                                  registered apps, and why others are not registered
  app add <manifest.toml> [--replace]   register an app · app remove <provider>
  sessions                              sessions and their state
  logs <provider>/<session> [--follow]  the last lines that a session printed
  restart <provider>/<session>          end the session's process and start it anew
  end <provider>/<session>              end the session, close its windows

The daemon (every other verb starts it when it isn't up):
  up · down · status [--limits]         start it · end everything · how it is, its bounds
  doctor [--fix]                        what is wrong with it; mends what it can
  pipe                                  for programs: requests as lines of JSON, answers likewise
  bench [--quick]                       what it costs on this machine, in ratios
  tour                                  a first walk, in under a minute";

/// How the help is put together.
pub const TEMPLATE: &str = "\
{about-with-newline}
  pipemux open editor src/lib.rs
  pipemux run 'editor.replace(\"old\", \"new\"); editor.save()'{after-help}

Options:
{options}";
