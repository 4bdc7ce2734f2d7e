//! The service manager, where one started this daemon: systemd passes the socket that clients
//! connect to, and is told when the daemon serves, that it is alive, and when it stops. A daemon
//! that a client started has none, and all of this does nothing.

use std::os::unix::net::UnixListener;

use listenfd::ListenFd;
use sd_notify::NotifyState;

use crate::daemon_log::log;
use crate::limits::PASSED_MAX;

/// The variables set by a service manager, which the launcher and apps don't get.
pub const VARIABLES: &[&str] =
    &["LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"];

/// True for a variable of the service manager that is meant for this process.
pub fn is_variable(name: &str) -> bool {
    let is_passing = name.starts_with("LISTEN_");
    VARIABLES.contains(&name) && (!is_passing || passed_count() > 0)
}

/// Returns how many descriptors were passed to this process; they follow the standard streams.
pub fn passed_count() -> i32 {
    let number = |name: &str| std::env::var(name).ok()?.parse::<i64>().ok();
    // A process that merely inherited the variables was passed nothing.
    if number("LISTEN_PID") != Some(i64::from(std::process::id())) {
        return 0;
    }
    let count = number("LISTEN_FDS").unwrap_or(0).clamp(0, i64::from(PASSED_MAX));
    i32::try_from(count).unwrap_or(0)
}

/// Takes the socket that was passed; `None` if there is none. Must be called before the process has
/// other threads.
///
/// # Errors
/// Something else was passed than one listening Unix socket.
pub fn take_listener() -> Result<Option<UnixListener>, String> {
    match passed_count() {
        0 => return Ok(None),
        1 => {}
        count => return Err(format!("{count} sockets were passed: expected one ListenStream=")),
    }
    let taken = ListenFd::from_env().take_unix_listener(0);
    taken.map_err(|error| format!("{error}; expected one ListenStream=/…"))
}

/// Tells the service manager, if there is one, that the daemon's state changed.
pub fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        log(format_args!("can't tell the service manager: {error}"));
    }
}

/// Tells the service manager time and again that the daemon's loop runs; without that it ends the
/// daemon and starts another one.
#[derive(Debug)]
pub struct Watchdog {
    period_ms: u64,
    next_at: u64,
}

impl Watchdog {
    /// Returns the watchdog that the service manager asks for.
    pub fn from_env() -> Option<Self> {
        // Half of the time that it allows, as systemd recommends.
        let period = sd_notify::watchdog_enabled()? / 2;
        let period_ms = u64::try_from(period.as_millis()).unwrap_or(u64::MAX).max(1);
        Some(Self { period_ms, next_at: 0 })
    }

    /// The time of the next notification, in milliseconds.
    pub fn next_timeout(&self) -> u64 {
        self.next_at
    }

    /// Notifies if it is time.
    pub fn notify(&mut self, now_ms: u64) {
        if now_ms >= self.next_at {
            self.next_at = now_ms.saturating_add(self.period_ms);
            notify(NotifyState::Watchdog);
        }
    }
}
