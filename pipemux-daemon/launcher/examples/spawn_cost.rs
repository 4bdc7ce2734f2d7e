//! Measures what a sandbox adds to the start of a program: `cargo run --release -p pipemux-launcher --example spawn_cost`.
//!
//! It starts a launcher, which is this program again, and has it start `/bin/true` many times, in turn with and
//! without a sandbox. What is told is the median, from the order until the program runs.

#![allow(clippy::print_stdout, reason = "this program prints its result")]

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pipemux_launcher::{
    Grant, Inbox, Limits, MarkOrigin, Order, Report, Sandbox, Spawn, encode, send,
};

const STARTS: u64 = 2_000;

fn main() -> io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("launcher") {
        return pipemux_launcher::run();
    }
    let (mut socket, theirs) = UnixStream::pair()?;
    let mut launcher = Command::new(std::env::current_exe()?)
        .arg("launcher")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()?;
    let state = std::env::temp_dir();
    let sandbox = Sandbox {
        files: true,
        grants: vec![Grant::own(state.to_string_lossy()), Grant::read("/var/lib")],
        private: vec!["/etc/pipemux".into(), "/var/lib/pipemux".into()],
        ..Sandbox::default()
    };
    let levels = [("none", None), ("standard", Some(sandbox))];
    let mut times: [Vec<Duration>; 2] = Default::default();
    let (mut inbox, origin) = (Inbox::default(), MarkOrigin::of(&state)?);
    for number in 0..STARTS {
        let level = (number % 2) as usize;
        let order = Order::Spawn(Spawn {
            incarnation: number,
            command: "/bin/true".into(),
            args: Vec::new(),
            env: vec![("PATH".into(), "/bin:/usr/bin".into())],
            cwd: "/".into(),
            fallback_cwd: "/".into(),
            mark: origin.mark(number),
            stdio: false,
            limits: Limits::default(),
            sandbox: levels[level].1.clone(),
        });
        let fds = [File::open("/dev/null")?.into(), File::open("/dev/null")?.into()];
        let began = Instant::now();
        send(&socket, &encode(&order)?, &fds)?;
        let mut running = true;
        while running {
            inbox.receive(&socket)?;
            while let Some(report) = inbox.next_message()? {
                match report {
                    Report::Spawned { .. } => times[level].push(began.elapsed()),
                    Report::SpawnFailed { why, .. } => return Err(io::Error::other(why)),
                    Report::Exited { .. } => running = false,
                }
            }
        }
    }
    socket.shutdown(std::net::Shutdown::Write)?;
    let _ = io::Read::read(&mut socket, &mut [0]);
    launcher.wait()?;
    for ((name, _), times) in levels.iter().zip(&mut times) {
        times.sort();
        let at = |part: usize| times[times.len() / part].as_secs_f64() * 1e6;
        println!("{name:8}  median {:7.1} µs, fastest tenth below {:7.1} µs", at(2), at(10));
    }
    Ok(())
}
