//! Closes descriptors that the parent process left open by accident.

use std::fs;

#[cfg(target_os = "linux")]
const OPEN: &str = "/proc/self/fd";
#[cfg(not(target_os = "linux"))]
const OPEN: &str = "/dev/fd";

/// The highest descriptor of a standard stream.
pub const STANDARD: i32 = 2;

/// Closes every descriptor above `kept`, which is [`STANDARD`] or more. Must be called first in
/// `main`, before the program opens anything. A descriptor that came from a shell or a harness
/// would otherwise stay open as long as the daemon and its apps run, and a program that waits for
/// its end would wait forever.
pub fn close_inherited(kept: i32) {
    let Ok(entries) = fs::read_dir(OPEN) else { return };
    let numbers: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > kept.max(STANDARD))
        .collect();
    for number in numbers {
        // The descriptor of this listing is among them, and closed already.
        let _ = nix::unistd::close(number);
    }
}
