//! The small programs that are measured: this one, started for another purpose.
//!
//! `echo` and `relay` talk over the sockets that are their standard input and output, `app` speaks with
//! the daemon as every app does.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use docui::{App, Bytes, Context, Done, Exchanged, Fault, Found, Look, Opening, Reply, View};

/// The app's name.
pub const PROVIDER: &str = "bench";

/// Stands before a role's name on the command line.
pub const OPTION: &str = "--role";

/// Length of what stands before a frame.
const PREFIX: usize = 4;

/// Plays the role that a command line names; `None` when it names none. Looked for before all else, so that
/// a role starts as a small program does.
pub fn role(words: &[OsString]) -> Option<u8> {
    let [_, verb, option, name] = words else { return None };
    if verb != "bench" || option != OPTION {
        return None;
    }
    let ended = match name.to_str()? {
        "echo" => echo(),
        "relay" => relay(),
        "nothing" => Ok(()),
        "app" => {
            // Its status is the daemon's to see; what went wrong stands in the session's log.
            let _ = docui::run::<Echo>();
            Ok(())
        }
        _ => return None,
    };
    Some(u8::from(ended.is_err()))
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

/// Passes a frame down and its answer up, one after the other: the least that a process between two
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

/// A frame of that many bytes, without its prefix: [`read_frame`] reads it.
pub fn frame(size: usize) -> Vec<u8> {
    let mut frame = (size as u32).to_be_bytes().to_vec();
    frame.resize(PREFIX + size, 7);
    frame
}

/// Reads one frame with its prefix; false at the end.
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
        /// Counts.
        changes featured Tick = tick();
    }
}

/// Answers exchanges with their own bytes, and counts clicks.
struct Echo {
    ticks: u64,
}

impl App for Echo {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        Ok(Self { ticks: 0 })
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        let Action::Tick {} = action;
        self.ticks += 1;
        Ok(Done::new(self.ticks.to_string()).into())
    }

    fn view(&self, _: &Look) -> View {
        let mut view = View::new(format!("{} ticks", self.ticks));
        view.link("tick", &Action::Tick {}).text("\n");
        view
    }

    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }

    fn exchange(&mut self, body: Bytes) -> Result<Exchanged, Fault> {
        Ok(Exchanged::new(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_whole_whatever_their_length() {
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
    fn only_a_whole_line_is_a_role() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(role(&words("pipemux bench --role nothing")), Some(0));
        for line in
            ["pipemux bench", "pipemux bench --role", "pipemux bench --role x", "pipemux view"]
        {
            assert_eq!(role(&words(line)), None, "{line}");
        }
    }
}
