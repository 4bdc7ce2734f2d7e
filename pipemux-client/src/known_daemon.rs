//! Which daemon a client talks to. A socket may lead to another machine; when that way is gone, no
//! other daemon answers in its place.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use pipemux_proto::hello::DaemonIdentity;
use pipemux_proto::paths::Paths;

use crate::error::ClientError;

/// The daemon that greeted first, for all connections that are made with the same options.
#[derive(Debug, Clone, Default)]
pub struct KnownDaemon(Arc<Mutex<Option<Known>>>);

#[derive(Debug, Clone)]
struct Known {
    identity: DaemonIdentity,
    /// True if it is the one of this state directory, which is started again when it has ended.
    is_own: bool,
}

impl KnownDaemon {
    fn get(&self) -> Option<Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True once a daemon has greeted: nothing is sent to another one before it has greeted, too.
    pub(crate) fn is_known(&self) -> bool {
        self.get().is_some()
    }

    /// Takes in a greeting.
    ///
    /// # Errors
    /// Another daemon greeted before.
    pub(crate) fn greeted(
        &self,
        identity: Option<&DaemonIdentity>,
        paths: &Paths,
    ) -> Result<(), ClientError> {
        // A daemon of an earlier release doesn't say who it is.
        let Some(identity) = identity else { return Ok(()) };
        let before = self.get();
        if before.as_ref().is_some_and(|known| known.identity == *identity) {
            return Ok(());
        }
        let is_own = paths.identity().is_some_and(|own| own == identity.id);
        match before {
            // Its state was removed meanwhile, and a new one began.
            Some(known) if known.is_own && is_own => {}
            None => {}
            Some(known) => return Err(other(&known.identity, identity)),
        }
        if !is_own {
            // For clients that come when the socket leads nowhere any more.
            let _ =
                fs::write(paths.elsewhere_file(), format!("{}\n{}\n", identity.host, identity.id));
        }
        let known = Known { identity: identity.clone(), is_own };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(())
    }

    /// Checks that a daemon may be started where nobody listens.
    ///
    /// # Errors
    /// The one that listened there was another one than the one of this state directory.
    pub(crate) fn may_start(&self, paths: &Paths) -> Result<(), ClientError> {
        let host = match self.get() {
            Some(known) if known.is_own => return Ok(()),
            Some(known) => known.identity.host,
            None => match fs::read_to_string(paths.elsewhere_file()) {
                Ok(record) => {
                    let mut lines = record.lines().map(str::to_owned);
                    let (host, id) = (lines.next().unwrap_or_default(), lines.next());
                    // A client that can't read the state directory took its daemon for another one.
                    if id.is_some() && id == paths.identity() {
                        return Ok(());
                    }
                    host
                }
                Err(_) => return Ok(()),
            },
        };
        let socket = paths.socket.display();
        let why = format!(
            "{socket} led to the daemon on {host}, and leads nowhere now; none was started here"
        );
        let file = paths.elsewhere_file().display().to_string();
        Err(ClientError::unreachable(why).hint("connect the way to it again").hint(format!(
            "for a daemon of this machine: {}",
            pipemux_proto::command::join(&["rm", &file])
        )))
    }
}

fn other(before: &DaemonIdentity, now: &DaemonIdentity) -> ClientError {
    let why = format!(
        "another daemon answers than before: the one on {}, and before the one on {}; it was asked nothing",
        now.host, before.host
    );
    ClientError::unreachable(why).hint("start the client again to use it")
}
