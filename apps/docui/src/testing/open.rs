//! Opens an app in a test.

use std::path::Path;

use pipemux_proto::Fault;

use crate::app::App;

use super::Host;

impl<A: App> Host<A> {
    /// Opens the app as the session `app/main`, with these arguments, working directory and state
    /// directory.
    ///
    /// # Errors
    /// The app's `open` failed.
    pub fn open(args: &[&str], cwd: &Path, state_dir: &Path) -> Result<Self, Fault> {
        Self::open_as("app/main", args, cwd, state_dir)
    }

    /// Opens the app as the session with this address: `editor/main`.
    ///
    /// # Errors
    /// The address is invalid, or the app's `open` failed.
    pub fn open_as(
        address: &str,
        args: &[&str],
        cwd: &Path,
        state_dir: &Path,
    ) -> Result<Self, Fault> {
        let mut host = Self::new(address, cwd, state_dir)?;
        host.attach(args)?;
        Ok(host)
    }

    /// Opens the app as [`Host::open_as`] does, by a caller with these environment variables.
    ///
    /// # Errors
    /// As [`Host::open_as`].
    pub fn open_with_env(
        address: &str,
        env: &[(&str, &str)],
        cwd: &Path,
        state_dir: &Path,
    ) -> Result<Self, Fault> {
        let mut host = Self::new(address, cwd, state_dir)?;
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        host.env = env.iter().map(owned).collect();
        host.attach(&[])?;
        Ok(host)
    }

    /// Starts the app again after its process was lost, with the opens that the session had, each a
    /// list of arguments. An open that is refused doesn't end the session.
    ///
    /// # Panics
    /// The address is invalid.
    pub fn restart(address: &str, opens: &[&[&str]], cwd: &Path, state_dir: &Path) -> Self {
        #[allow(clippy::expect_used, reason = "a test names its sessions")]
        let mut host = Self::new(address, cwd, state_dir).expect("the session's address");
        for args in opens {
            // Later requests tell why.
            let _ = host.open_once(args, true, 0);
        }
        host
    }
}
