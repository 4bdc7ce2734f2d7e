//! A pseudo-terminal with a shell that runs `pipemux`, and what such a terminal shows.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use pipemux_tests::programs::program;
use pipemux_tests::waiting::poll_until;
use pipemux_tests::{TestEnv, wait_for};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// How long it may take until something is shown.
const DEADLINE: Duration = Duration::from_secs(15);

/// What the shell does: it goes on after the command has ended, as a person's does, so that the
/// terminal stays as the command left it. A shell that ends would have the system put its modes
/// back. A command that was stopped goes on after a line.
const SCRIPT: &str = r#""$0" "$@"; while status=$?; echo "status $status"; read -r _; do fg; done"#;

/// A terminal on which a person runs a command.
pub struct Terminal<'e> {
    env: &'e TestEnv,
    master: File,
    shell: Child,
    shown: Arc<Mutex<vt100::Parser>>,
    /// All that was written to it.
    written: Arc<Mutex<Vec<u8>>>,
}

impl<'e> Terminal<'e> {
    /// Attaches to an app on a new terminal of so many columns and rows, of the kind that TERM
    /// names.
    pub fn attach(env: &'e TestEnv, app: &str, size: (u16, u16), term: &str) -> Self {
        Self::run(env, &["attach", app], size, &[("TERM", term)])
    }

    /// Runs `pipemux` with these arguments and variables on a new terminal of so many columns and
    /// rows.
    pub fn run(
        env: &'e TestEnv,
        args: &[&str],
        size: (u16, u16),
        variables: &[(&str, &str)],
    ) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal");
        let name = ptsname(&master, Vec::<u8>::new()).expect("its name");
        tcsetwinsize(&master, winsize(size)).expect("its size");
        let name = name.to_str().expect("a path").to_owned();
        let end = OpenOptions::new().read(true).write(true).open(name).expect("its other end");
        let another = || Stdio::from(end.try_clone().expect("its other end"));
        let shell = Command::new("setsid")
            .args(["--ctty", "sh", "-m", "-c", SCRIPT])
            .arg(program("pipemux"))
            .args(args)
            .current_dir(env.project())
            .env_clear()
            .envs(env.variables())
            .envs(variables.iter().copied())
            .stdin(another())
            .stdout(another())
            .stderr(another())
            .spawn()
            .expect("setsid");
        let master = File::from(master);
        let (columns, rows) = shown_size(size);
        let shown = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let written = Arc::new(Mutex::new(Vec::new()));
        let record = written.clone();
        let (mut output, parser) = (master.try_clone().expect("a terminal"), shown.clone());
        // It ends with the shell, whose end of the terminal is then closed.
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                record.lock().expect("no panic").extend(&bytes[..length]);
                parser.lock().expect("no panic").process(&bytes[..length]);
            }
        });
        Self { env, master, shell, shown, written }
    }

    fn parser(&self) -> MutexGuard<'_, vt100::Parser> {
        self.shown.lock().expect("no panic")
    }

    /// Returns the text that the terminal shows.
    pub fn text(&self) -> String {
        self.parser().screen().contents()
    }

    /// Waits until the terminal shows a text, and returns all that it shows then.
    #[track_caller]
    pub fn shows(&self, text: &str) -> String {
        poll_until(DEADLINE, || Some(self.text()).filter(|shown| shown.contains(text)))
            .unwrap_or_else(|| panic!("not shown: {text:?}; the terminal shows:\n{}", self.text()))
    }

    /// Waits until bytes were written to the terminal, and returns how often they were.
    #[track_caller]
    pub fn was_sent(&self, sequence: &str) -> usize {
        let count = || {
            let written = self.written.lock().expect("no panic");
            written.windows(sequence.len()).filter(|part| *part == sequence.as_bytes()).count()
        };
        wait_for(&format!("{sequence:?} is written"), || count() > 0);
        count()
    }

    /// Waits until the terminal shows a text, and returns the colour of its first character.
    #[track_caller]
    pub fn colour_of(&self, text: &str) -> vt100::Color {
        self.shows(text);
        let parser = self.parser();
        let screen = parser.screen();
        let lines: Vec<String> = screen.rows(0, screen.size().1.into()).collect();
        let found = lines.iter().enumerate().find_map(|(row, line)| {
            let at = line.find(text)?;
            screen.cell(row as u16, line[..at].chars().count() as u16)
        });
        found.expect("it is shown in one line").fgcolor()
    }

    /// Waits until the terminal shows a text no more.
    #[track_caller]
    pub fn hides(&self, text: &str) {
        wait_for(&format!("{text:?} is gone"), || !self.text().contains(text));
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("keys");
    }

    /// Gives the window another size, which the terminal shows.
    pub fn resize(&mut self, size: (u16, u16)) {
        let (columns, rows) = shown_size(size);
        self.parser().screen_mut().set_size(rows, columns);
        self.claim_size(size);
    }

    /// Has the terminal say of itself that it has another size, which is only a number.
    pub fn claim_size(&mut self, size: (u16, u16)) {
        tcsetwinsize(&self.master, winsize(size)).expect("another size");
    }

    /// Returns the process id of the command.
    #[track_caller]
    pub fn pid(&self) -> i32 {
        let all = self.env.processes();
        let found = all.iter().find(|process| {
            process.command.contains(" attach ") && !process.command.starts_with("sh")
        });
        found.unwrap_or_else(|| panic!("nobody is attached: {all:?}")).pid
    }

    /// Waits until the command has ended with a status, and checks that the shell has its terminal
    /// back: the modes, the screen that was shown before, and the cursor.
    #[track_caller]
    pub fn ended(&self, status: i32) -> String {
        let text = self.shows(&format!("status {status}"));
        let modes = tcgetattr(&self.master).expect("the modes").local_modes;
        let cooked = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        assert!(modes.contains(cooked), "{modes:?}");
        let parser = self.parser();
        let screen = parser.screen();
        assert!(!screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor());
        text
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // The terminal is hung up, which ends the command, too.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

fn shown_size((columns, rows): (u16, u16)) -> (NonZero<u16>, NonZero<u16>) {
    let there_is = |n| NonZero::new(n).expect("a terminal that shows something");
    (there_is(columns), there_is(rows))
}

fn winsize((columns, rows): (u16, u16)) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
