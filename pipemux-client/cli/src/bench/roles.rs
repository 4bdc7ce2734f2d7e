//! The small programs that take part in the measurement: this program, started in another role.
//!
//! `echo` and `relay` communicate over the sockets that are their standard input and output. `app`
//! is an app, and communicates with the daemon as every app does.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use docui::{
    App, Bytes, Context, Done, ExchangeReply, Fault, Found, Opening, Reply, View, ViewRequest,
};

/// The id of the app.
pub const PROVIDER: &str = "bench";

/// The option that precedes a role's name on the command line.
pub const ROLE_OPTION: &str = "--role";

/// Length of a frame's length prefix, in bytes.
const PREFIX: usize = 4;

/// Runs the role that a command line names; returns `None` if it names none. This is called first
/// of all, so that a role starts like a small program.
pub fn play_role(words: &[OsString]) -> Option<u8> {
    let [_, verb, option, name] = words else { return None };
    if verb != "bench" || option != ROLE_OPTION {
        return None;
    }
    let result = match name.to_str()? {
        "echo" => echo(),
        "relay" => relay(),
        "nothing" => Ok(()),
        "app" => {
            // The daemon reports how the app ends, and the session's log has its errors.
            let _ = docui::run::<EchoApp>();
            Ok(())
        }
        _ => return None,
    };
    Some(u8::from(result.is_err()))
}

/// Sends each frame back.
fn echo() -> io::Result<()> {
    let mut up = socket(io::stdin())?;
    let mut frame = Vec::new();
    while read_frame(&mut up, &mut frame)? {
        up.write_all(&frame)?;
    }
    Ok(())
}

/// Passes a frame down and its reply up, one after the other: the least that a process between two
/// others can do.
fn relay() -> io::Result<()> {
    let (mut up, mut down) = (socket(io::stdin())?, socket(io::stdout())?);
    let mut frame = Vec::new();
    while read_frame(&mut up, &mut frame)? {
        down.write_all(&frame)?;
        if !read_frame(&mut down, &mut frame)? {
            break;
        }
        up.write_all(&frame)?;
    }
    Ok(())
}

/// Makes a frame with a body of `size` bytes, as [`read_frame`] reads it.
pub fn frame(size: usize) -> Vec<u8> {
    let mut frame = (size as u32).to_be_bytes().to_vec();
    frame.resize(PREFIX + size, 7);
    frame
}

/// Reads one frame with its prefix; returns false at the end of the stream.
pub fn read_frame(from: &mut UnixStream, frame: &mut Vec<u8>) -> io::Result<bool> {
    let mut have = 0;
    let mut want = PREFIX;
    if frame.is_empty() {
        frame.resize(64, 0);
    }
    loop {
        while have < want {
            match from.read(&mut frame[have..])? {
                0 => return Ok(false),
                length => have += length,
            }
        }
        let prefix = frame.first_chunk::<PREFIX>().map_or(0, |prefix| u32::from_be_bytes(*prefix));
        want = PREFIX + prefix as usize;
        if frame.len() < want {
            frame.resize(want, 0);
        }
        if have >= want {
            frame.truncate(want);
            return Ok(true);
        }
    }
}

fn socket(stream: impl AsFd) -> io::Result<UnixStream> {
    stream.as_fd().try_clone_to_owned().map(UnixStream::from)
}

docui::actions! {
    enum Action {
        /// Adds one to the number of clicks.
        changes featured Tick = tick();
    }
}

/// Answers exchanges with their own bytes, and counts clicks.
struct EchoApp {
    ticks: u64,
}

impl App for EchoApp {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        Ok(Self { ticks: 0 })
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        let Action::Tick {} = action;
        self.ticks += 1;
        Ok(Done::new(self.ticks.to_string()).into())
    }

    fn view(&self, _: &ViewRequest) -> View {
        let mut view = View::new(format!("{} ticks", self.ticks));
        view.link("tick", &Action::Tick {}).text("\n");
        view
    }

    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }

    fn exchange(&mut self, body: Bytes) -> Result<ExchangeReply, Fault> {
        Ok(ExchangeReply::new(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_any_length_are_read_whole() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let mut read = Vec::new();
        for size in [0, 1, 60, 61, 5000, 100_000, 2] {
            let sent = frame(size);
            let again = sent.clone();
            let writer = std::thread::spawn(move || {
                // In two pieces, the first within the prefix.
                theirs.write_all(&again[..2]).unwrap();
                theirs.write_all(&again[2..]).unwrap();
                theirs
            });
            assert!(read_frame(&mut ours, &mut read).unwrap());
            assert_eq!(read, sent);
            theirs = writer.join().unwrap();
        }
        drop(theirs);
        assert!(!read_frame(&mut ours, &mut read).unwrap());
    }

    #[test]
    fn only_a_complete_command_line_is_a_role() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(play_role(&words("pipemux bench --role nothing")), Some(0));
        for line in
            ["pipemux bench", "pipemux bench --role", "pipemux bench --role x", "pipemux view"]
        {
            assert_eq!(play_role(&words(line)), None, "{line}");
        }
    }
}
