//! Exhaustion of resources: output, memory, descriptors, disk and processes. Each fault has a
//! bound, so that a machine without limits survives the tests.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::unistd::setsid;

use crate::wire::block;

/// How many descriptors are opened at most.
const HOARD_MAX: usize = 20_000;

/// Writes that many megabytes to standard output.
pub fn print(megabytes: usize) -> std::io::Result<String> {
    let line = [b"0123456789abcdef".repeat(64), b"\n".to_vec()].concat();
    let mut out = std::io::stdout().lock();
    (0..megabytes * 1024).try_for_each(|_| out.write_all(&line))?;
    Ok(format!("printed {megabytes} MB"))
}

/// Allocates and fills that many megabytes, or as many as are available, and keeps them.
pub fn eat(kept: &mut Vec<Vec<u8>>, megabytes: usize) -> String {
    let mut eaten = 0;
    for _ in 0..megabytes {
        let mut piece = Vec::new();
        if piece.try_reserve_exact(1024 * 1024).is_err() {
            return format!("ate {eaten} MB, more was refused");
        }
        piece.resize(1024 * 1024, 0x5a);
        kept.push(black_box(piece));
        eaten += 1;
    }
    format!("ate {eaten} MB")
}

/// Opens files until no more can be opened, and keeps them.
pub fn hoard(kept: &mut Vec<File>) -> String {
    while kept.len() < HOARD_MAX {
        match File::open("/dev/null") {
            Ok(file) => kept.push(file),
            Err(_) => return format!("hoards {} descriptors, more were refused", kept.len()),
        }
    }
    format!("hoards {} descriptors", kept.len())
}

/// Writes that many megabytes below its state directory, or as many as fit.
pub fn fill(state_dir: &str, megabytes: usize) -> String {
    let piece = vec![0x42; 1024 * 1024];
    for written in 0..megabytes {
        let path = Path::new(state_dir).join(format!("ballast-{}", written / 16));
        let file = OpenOptions::new().create(true).append(true).open(path);
        if let Err(error) = file.and_then(|mut file| file.write_all(&piece)) {
            return format!("wrote {written} MB, then: {error}");
        }
    }
    format!("wrote {megabytes} MB")
}

/// Starts this program in another mode. The new process inherits the connection.
pub fn start(mode: &str, more: &str) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args([mode, more])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Becomes that many processes, which ignore SIGTERM and never end.
pub fn split(processes: usize) -> ! {
    let _ = crate::app::ignore_sigterm();
    let others = processes.saturating_sub(1);
    for share in [others / 2, others - others / 2] {
        if share > 0 {
            let _ = start("fork-bomb", &share.to_string());
        }
    }
    block()
}

/// Leaves its session and process group, and never ends.
pub fn escape() -> ! {
    let _ = crate::app::ignore_sigterm();
    let _ = setsid();
    block()
}

/// Uses a processor without an end.
pub fn spin() -> ! {
    let mut number = 0_u64;
    loop {
        number = black_box(number.wrapping_mul(31).wrapping_add(7));
    }
}
