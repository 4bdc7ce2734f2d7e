//! The terminal: its keys as events, and its modes, which are put back in every case.

use std::io::{self, IsTerminal, Read, Stdout, stdin, stdout};
use std::os::unix::net::UnixStream;
use std::panic;
use std::process::exit;
use std::sync::mpsc::SyncSender;
use std::thread;

use crossterm::cursor::Show;
use crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers,
};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, WindowSize, disable_raw_mode, enable_raw_mode,
    size, window_size,
};
use nix::unistd::{getpgid, getppid, getsid};
use pipemux_client::ClientError;
use pipemux_client::proto::command;
use ratatui_core::layout::Rect;
use ratatui_core::terminal::{Terminal, TerminalOptions, Viewport};
use ratatui_crossterm::CrosstermBackend;
use signal_hook::consts::{SIGCONT, SIGSTOP, SIGTSTP};

use super::event::{Event, Key};
use super::graphics::{Canvas, Graphics};
use super::model::State;
use super::screen;

/// Most columns and rows that are drawn. A terminal that claims to be larger is drawn on from its
/// upper left corner: what is drawn is held in memory twice, and a size is only a number that any
/// program may set.
const COLUMNS_MAX: u16 = 1000;
const ROWS_MAX: u16 = 500;

/// The size assumed for a terminal that doesn't know its own, as on a serial line.
const UNKNOWN_SIZE: (u16, u16) = (80, 24);

/// The exit status of a program that panicked.
const PANICKED: i32 = 101;

/// A terminal that shows the state, until this is dropped.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// The rows of the last drawing whose width the terminal may measure differently.
    contested: Vec<(u16, String)>,
    canvas: Canvas,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// It can't be set to another mode.
    pub fn new(graphics: Option<Graphics>) -> io::Result<Screen> {
        enable_raw_mode()?;
        restore_on_panic();
        Self::enter(graphics).inspect_err(|_| restore())
    }

    fn enter(graphics: Option<Graphics>) -> io::Result<Screen> {
        enter_modes()?;
        // Its size is set by events alone, so that what is drawn fits what the state was laid out
        // for.
        let viewport = Viewport::Fixed(Rect::ZERO);
        let backend = CrosstermBackend::new(stdout());
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport })?;
        Ok(Screen { terminal, contested: Vec::new(), canvas: Canvas::new(graphics) })
    }

    /// Gives the terminal back and stops this process until somebody continues it, as a shell's
    /// `fg` does. Where nobody could, nothing is stopped.
    pub fn stop(&mut self) {
        if !can_be_continued() {
            return;
        }
        self.give_back();
        // Whoever asked for it can't be told of a failure.
        let _ = signal_hook::low_level::raise(SIGSTOP);
    }

    /// Takes the terminal over again: another program had it. All is drawn again after
    /// [`Screen::resize`].
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn take_over(&mut self) -> io::Result<()> {
        // Only what was put back is set again.
        disable_raw_mode()?;
        enable_raw_mode()?;
        enter_modes()
    }

    /// Takes another size over, and draws all again.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn resize(&mut self, width: u16, height: u16) -> io::Result<()> {
        self.canvas.erased();
        self.terminal.resize(Rect::new(0, 0, width, height))
    }

    /// Draws what has changed.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, state: &State) -> io::Result<()> {
        let pictures = screen::placements(state);
        if self.canvas.needs_erasing(&pictures) {
            self.erase()?;
        }
        let contested = self.draw_once(state)?;
        if contested != self.contested {
            // What such a row showed may reach further than where it was drawn.
            self.erase()?;
            self.contested = self.draw_once(state)?;
        }
        self.canvas.show(&mut stdout(), pictures)
    }

    /// Has all drawn again.
    fn erase(&mut self) -> io::Result<()> {
        let area = self.terminal.get_frame().area();
        self.resize(area.width, area.height)
    }

    /// Puts the terminal back into the mode of a shell. If it fails, nothing more can be done.
    fn give_back(&mut self) {
        let _ = self.canvas.free(&mut stdout());
        restore();
    }

    fn draw_once(&mut self, state: &State) -> io::Result<Vec<(u16, String)>> {
        let mut contested = Vec::new();
        self.terminal.draw(|frame| {
            screen::draw(frame, state);
            contested = screen::contested_rows(frame.buffer_mut());
        })?;
        Ok(contested)
    }
}

fn enter_modes() -> io::Result<()> {
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

/// True if a shell started this process as a job of its own: then it notices a stop, and can
/// continue it.
fn can_be_continued() -> bool {
    let parent = Some(getppid());
    getsid(parent) == getsid(None) && getpgid(parent) != getpgid(None)
}

/// Tells when the process is to stop, and when it was continued. It stops by [`Screen::stop`].
pub fn watch_stops(send: SyncSender<Event>) {
    let events: [(i32, fn() -> Event); 2] =
        [(SIGTSTP, || Event::Stopping), (SIGCONT, || Event::Continued)];
    for (signal, event) in events {
        let Ok((mut ours, theirs)) = UnixStream::pair() else { return };
        // If this fails, the signal does what it does by default.
        if signal_hook::low_level::pipe::register(signal, theirs).is_err() {
            return;
        }
        let send = send.clone();
        thread::spawn(
            move || {
                while ours.read_exact(&mut [0]).is_ok() && send.send(event()).is_ok() {}
            },
        );
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Puts the terminal back into the mode of a shell. If it fails, nothing more can be done.
fn restore() {
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Ends the program though the terminal takes nothing more: only its mode can be put back then.
#[allow(clippy::exit, reason = "the thread that would end it orderly waits for the terminal")]
pub fn abandon() -> ! {
    let _ = disable_raw_mode();
    exit(1)
}

/// Puts the terminal back before a panic of any thread is told, and ends the program: the other
/// threads would go on drawing over the message, or leave the person without a keyboard.
#[allow(clippy::exit, reason = "a hook can't end the other threads otherwise")]
fn restore_on_panic() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        restore();
        tell(info);
        exit(PANICKED);
    }));
}

/// Returns the columns and rows that are drawn.
///
/// # Errors
/// The terminal is gone.
pub fn drawn_size() -> io::Result<(u16, u16)> {
    size().map(|(width, height)| within(width, height))
}

/// Returns how many pixels wide and high a character is. None if the terminal doesn't tell.
pub fn cell() -> Option<(u32, u32)> {
    let WindowSize { rows, columns, width, height } = window_size().ok()?;
    let of = |pixels: u16, characters: u16| {
        pixels.checked_div(characters).filter(|pixels| *pixels > 0).map(u32::from)
    };
    of(width, columns).zip(of(height, rows))
}

/// Makes a size of what a terminal says of itself.
fn within(width: u16, height: u16) -> (u16, u16) {
    let (columns, rows) = UNKNOWN_SIZE;
    let width = if width == 0 { columns } else { width.min(COLUMNS_MAX) };
    (width, if height == 0 { rows } else { height.min(ROWS_MAX) })
}

/// Refuses to attach where nobody could type or see anything. `term` is what the environment says
/// of the terminal.
///
/// # Errors
/// Standard input or output is no terminal, or it is one on which nothing can be drawn.
pub fn require(session: &str, args: &[String], term: Option<&str>) -> Result<(), ClientError> {
    let missing = match (stdin().is_terminal(), stdout().is_terminal()) {
        (true, true) if matches!(term, None | Some("" | "dumb")) => {
            format!("one that can move its cursor: TERM is {:?}", term.unwrap_or_default())
        }
        (true, true) => return Ok(()),
        (false, _) => "a terminal: standard input is none".to_owned(),
        (true, false) => "a terminal: standard output is none".to_owned(),
    };
    let open: Vec<&str> =
        ["open", session].into_iter().chain(args.iter().map(String::as_str)).collect();
    Err(ClientError::invalid(format!("attach needs {missing}"))
        .hint(command::command(&open))
        .hint(format!("pipemux view {session} --wait 60")))
}

/// Reads keys on a thread of its own, which is abandoned at the end.
pub fn read_keys(send: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            let event = match event::read() {
                Ok(event::Event::Key(key)) if is_stop(key) => Event::Stopping,
                Ok(event::Event::Key(key)) => match to_key(key) {
                    Some(key) => Event::Key(key),
                    None => continue,
                },
                Ok(event::Event::Paste(text)) => Event::Pasted(text),
                Ok(event::Event::Resize(width, height)) => {
                    let (width, height) = within(width, height);
                    Event::Resized(width, height)
                }
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => Event::Stopped,
            };
            let ends = matches!(event, Event::Stopped);
            if send.send(event).is_err() || ends {
                return;
            }
        }
    });
}

/// True for Ctrl-Z, with which a person stops any program.
fn is_stop(event: KeyEvent) -> bool {
    event.kind != KeyEventKind::Release
        && event.code == KeyCode::Char('z')
        && event.modifiers.contains(KeyModifiers::CONTROL)
}

fn to_key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let alt = event.modifiers.contains(KeyModifiers::ALT);
    Some(match event.code {
        KeyCode::Char('c') if control => Key::Leave,
        KeyCode::Char('d') if control => Key::EndOfInput,
        KeyCode::Char('p') if control => Key::Earlier,
        KeyCode::Char('n') if control => Key::Later,
        KeyCode::Char('a') if control => Key::Start,
        KeyCode::Char('e') if control => Key::End,
        KeyCode::Char('b') if control => Key::Left,
        KeyCode::Char('f') if control => Key::Right,
        KeyCode::Char('u') if control => Key::DeleteToStart,
        KeyCode::Char('w') if control => Key::DeleteWord,
        KeyCode::Char('h') if control => Key::Backspace,
        KeyCode::Char('j' | 'm') if control => Key::Enter,
        // Alt with Enter starts another line in what is typed.
        KeyCode::Enter if alt => Key::Char('\n'),
        KeyCode::Char(c) if !control && !alt => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace if control || alt => Key::DeleteWord,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home if control => Key::Top,
        KeyCode::End if control => Key::Bottom,
        KeyCode::Home => Key::Start,
        KeyCode::End => Key::End,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Tab => Key::Tab,
        KeyCode::Esc => Key::Escape,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs::File;
    use std::process::{Command, Stdio};

    use nix::pty::openpty;
    use nix::sys::termios::{LocalFlags, tcgetattr};

    use super::*;

    /// Set for the program that is to panic.
    const PANICS: &str = "PIPEMUX_TEST_PANICS";

    #[test]
    fn panic_of_any_thread_gives_the_terminal_back() {
        if env::var_os(PANICS).is_some() {
            let _screen = Screen::new(None).unwrap();
            let _ = thread::spawn(|| panic!("on purpose")).join();
            unreachable!("the program goes on");
        }
        let terminal = openpty(None, None).unwrap();
        let end = || Stdio::from(terminal.slave.try_clone().unwrap());
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["attach::terminal::tests::panic_of_any_thread_gives_the_terminal_back"])
            .args(["--exact", "--nocapture"])
            .env(PANICS, "1")
            .stdin(end())
            .stdout(end())
            .stderr(end());
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut output = File::from(terminal.master);
        let mut shown = String::new();
        // The message comes last, and there is more room for it all than it takes.
        while !shown.contains("on purpose") {
            let mut bytes = [0; 1024];
            let length = output.read(&mut bytes).unwrap();
            shown += &String::from_utf8_lossy(&bytes[..length]);
        }
        assert_eq!(child.wait().unwrap().code(), Some(PANICKED));
        let before = shown.split("on purpose").next().unwrap();
        assert!(before.contains("\x1b[?1049h") && before.contains("\x1b[?1049l"), "{before:?}");
        let modes = tcgetattr(&terminal.slave).unwrap().local_flags;
        assert!(modes.contains(LocalFlags::ICANON | LocalFlags::ECHO), "{modes:?}");
    }

    #[test]
    fn size_is_bounded_and_never_nothing() {
        assert_eq!(within(0, 0), (80, 24));
        assert_eq!(within(1, 0), (1, 24));
        assert_eq!(within(65535, 65535), (COLUMNS_MAX, ROWS_MAX));
        assert_eq!(within(211, 58), (211, 58));
    }
}
