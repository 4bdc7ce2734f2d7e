//! `pipemux attach`: a window for a person at a terminal, with a prompt below it.
//!
//! | module | holds |
//! |---|---|
//! | `model` | an event comes in, the state changes, effects go out; no terminal and no daemon |
//! | `typed` | what a typed line means |
//! | `event` | what happens, and what follows |
//! | `numbers` | the links by the numbers that the terminal shows |
//! | `window` | what a window offers besides its text |
//! | `outcome` | what an answer says, as lines |
//! | `page`, `code`, `table`, `look` | Markdown as lines for a person; how their parts look |
//! | `pictures`, `graphics` | the pictures that a window has; how a terminal is given them |
//! | `prompt_line`, `pane`, `rows` | the typed line; a text that is scrolled; lines as inert rows of a width |
//! | `screen`, `terminal` | draws the state; keys, and the terminal's modes |
//! | `daemon` | the threads that follow the window and send requests |

mod code;
mod daemon;
mod event;
mod graphics;
mod line_history;
mod line_target;
mod look;
mod marked_text;
mod model;
mod numbers;
mod outcome;
mod page;
mod pane;
mod pictures;
mod prompt_line;
mod rows;
mod screen;
mod table;
mod terminal;
mod typed;
mod window;

use std::env;
use std::io::{self, stdin, stdout};
use std::os::fd::AsFd;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::ttyname;
use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, OpenArgs, Verb};
use pipemux_client::proto::{Code, SessionAddr, SessionId};

use super::args::OpenTarget;
use super::command_env::ProcessEnv;
use super::open;
use super::requester::Requester;
use super::streaming::on_signals;
use super::suggestions;
use crate::output::{self, colour};
use daemon::{Follower, Next};
use event::{Effect, Event};
use graphics::Graphics;
use look::Theme;
use model::State;
use terminal::Screen;

/// Events that are read ahead of being handled.
const QUEUE: usize = 64;

/// The longest time without a redraw while events keep coming.
const DRAWN_EVERY: Duration = Duration::from_millis(100);

/// The time limit for leaving after a request to end; the terminal may block output.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// The prefix of these readers' names, by which apps recognise them as persons.
const READER: &str = "attach";

/// Shows a window until the person leaves. Returns the exit status.
///
/// # Errors
/// There is no terminal, no such app, or it can't be opened.
pub fn execute(
    requester: &Requester,
    target: OpenTarget,
    args: Vec<String>,
) -> Result<u8, ClientError> {
    let process = ProcessEnv { timeout: requester.options.timeout };
    let open = open::to_args(target, args, None, &process)?;
    let session = address(&open)?;
    let callee = callee(&session);
    let unknown = || suggestions::unknown_app(open.provider.as_str(), &requester.options);
    terminal::require(&callee, &open.args, env::var("TERM").ok().as_deref())
        .map_err(|error| unknown().unwrap_or(error))?;
    let mut requester = requester.clone();
    requester.options.reader = reader(&requester);
    // The token of the environment belongs to the reader of the environment, who isn't this one.
    requester.options.reader_token = requester.global.reader_token.clone().unwrap_or_default();
    // Each call acts on what the window shows then.
    requester.global.at = None;
    // What it tells would be written over the window.
    requester.options.progress = None;
    requester.global.json = true;

    let mut connection = Connection::open(&requester.options)?;
    let answer = requester.request_on(&mut connection, Verb::Open(open.clone()))?;
    let exit = answer.exit;
    if exit == Code::NotFound.exit_status()
        && let Some(error) = unknown()
    {
        return Err(error);
    }
    if let Body::Report(report) = &answer.body
        && let Some(mut fault) = report.error.clone()
    {
        // The text of an app: it may have had a hand in the error.
        for text in fault.hints.iter_mut().chain([&mut fault.message]) {
            *text = inert(text);
        }
        return Err(ClientError::Refused(fault));
    }
    let (text, first) = daemon::shown(answer);
    if exit != 0 || matches!(first, Event::Unshown(_)) {
        output::write_stderr(format!("{}\n", inert(&text)).as_bytes());
        return Ok(exit.max(1));
    }
    let connection = Some(connection);
    let follower = Follower { requester, connection, session, open };
    let variable = |name: &str| env::var(name).ok();
    let theme = Theme::new(colour::is_wanted(&stdout()), variable);
    let graphics = Graphics::of(variable);
    show(follower, State::new(callee.clone(), theme, graphics), first, graphics)
        .map_err(|error| ClientError::invalid(format!("the terminal: {error}")))?;
    let text = format!("left {callee}, which goes on: pipemux attach {callee}\n");
    // Nobody may read it: the terminal may be gone.
    let _ = output::write_stdout(text.as_bytes());
    Ok(0)
}

/// Shows the state on the terminal and carries out what follows from events.
fn show(
    follower: Follower,
    mut state: State,
    first: Event,
    graphics: Option<Graphics>,
) -> io::Result<()> {
    let (events, queue) = sync_channel(QUEUE);
    let (next, nexts) = sync_channel(QUEUE);
    let (ask, asked) = sync_channel(QUEUE);
    let (load, to_load) = sync_channel(QUEUE);
    let mut screen = Screen::new(graphics)?;
    on_signals({
        let events = events.clone();
        move || {
            later(events, Event::Stopped);
            thread::sleep(STOP_TIMEOUT);
            terminal::abandon();
        }
    });
    terminal::watch_stops(events.clone());
    terminal::read_keys(events.clone());
    let (requester, session) = (follower.requester.clone(), follower.session.clone());
    daemon::load_values(requester.clone(), to_load, events.clone());
    daemon::send_requests(requester, session, asked, events.clone());
    follower.start(events.clone(), nexts);
    let (width, height) = terminal::drawn_size()?;
    screen.resize(width, height)?;
    state.pictures.measure(terminal::cell());
    state.update(Event::Resized(width, height));
    // The window comes before any key: what was typed ahead is for what it shows.
    let mut event = first;
    let mut drawn = Instant::now();
    // A send fails only when its thread is gone, which ends with this one.
    loop {
        if let Event::Stopping = event {
            screen.stop();
        }
        if let Event::Stopping | Event::Continued = event {
            screen.take_over()?;
            let (width, height) = terminal::drawn_size()?;
            event = Event::Resized(width, height);
        }
        if let Event::Resized(width, height) = event {
            screen.resize(width, height)?;
            state.pictures.measure(terminal::cell());
        }
        for effect in state.update(event) {
            match effect {
                Effect::Ask(verb) => {
                    let _ = ask.send(verb);
                }
                Effect::Confirm(delivery) => {
                    screen.draw(&state)?;
                    state.drawn();
                    let _ = next.send(Next::Confirm(delivery));
                }
                // Where too many wait already, one isn't shown.
                Effect::Load(name, epoch) => {
                    let _ = load.try_send((name, epoch));
                }
                Effect::Reopen => {
                    let _ = next.send(Next::Reopen);
                }
                Effect::Leave => return Ok(()),
            }
        }
        // What came meanwhile is taken first: a screen for each key would delay them all, Ctrl-C too.
        if drawn.elapsed() < DRAWN_EVERY
            && let Ok(another) = queue.try_recv()
        {
            event = another;
            continue;
        }
        screen.draw(&state)?;
        state.drawn();
        drawn = Instant::now();
        let Ok(another) = queue.recv() else { return Ok(()) };
        event = another;
    }
}

/// Sends an event without waiting for room in the queue.
fn later(events: SyncSender<Event>, event: Event) {
    thread::spawn(move || events.send(event));
}

/// Returns a text without anything that the terminal would obey.
fn inert(text: &str) -> String {
    text.lines().map(rows::inert).collect::<Vec<_>>().join("\n")
}

fn address(open: &OpenArgs) -> Result<SessionAddr, ClientError> {
    let session = match &open.session {
        Some(session) => session.clone(),
        None => SessionAddr::DEFAULT_SESSION
            .parse::<SessionId>()
            .map_err(|error| ClientError::invalid(format!("{error}")))?,
    };
    Ok(SessionAddr { provider: open.provider.clone(), session })
}

/// Returns what calls name a session: `planner`, `planner/b`.
fn callee(session: &SessionAddr) -> String {
    match session.session.as_str() {
        SessionAddr::DEFAULT_SESSION => session.provider.to_string(),
        _ => session.to_string(),
    }
}

/// Returns the reader. Two terminals are two readers, so that each is told what changed since it
/// drew its window last; a terminal that comes back is the same one again, with the question that
/// it left open.
fn reader(requester: &Requester) -> String {
    let named = requester.global.reader.as_deref().filter(|name| !name.is_empty());
    if let Some(named) = named {
        return if named.starts_with(READER) { named.into() } else { format!("{READER}-{named}") };
    }
    let path = ttyname(stdin().as_fd()).unwrap_or_default();
    let name = path.to_string_lossy();
    let name = name.trim_start_matches("/dev/").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    format!("{READER}-{name}")
}
