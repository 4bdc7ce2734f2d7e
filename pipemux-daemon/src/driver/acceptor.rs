//! Accepts clients at the daemon's socket, and keeps the socket where clients look for it.

use std::os::unix::net::UnixStream;
use std::task::{Poll, Waker};

use pipemux_core::limits::CLIENTS_MAX;

use crate::daemon_log::log;
use crate::limits::{ACCEPT_RETRY_MS, REFUSED_MAX};
use crate::listener::ClientListener;

/// The socket, and how accepting went. What fails is logged once, until it works again.
pub(super) struct ClientAcceptor {
    listener: ClientListener,
    waker: Waker,
    /// When to accept again after accepting failed, in milliseconds.
    retry_at: Option<u64>,
    accept_failing: bool,
    restore_failing: bool,
    /// True while clients are turned away.
    refusing: bool,
}

impl ClientAcceptor {
    /// New connections wake `waker`, and so does this call.
    pub(super) fn new(listener: ClientListener, waker: Waker) -> Self {
        waker.wake_by_ref();
        Self {
            listener,
            waker,
            retry_at: None,
            accept_failing: false,
            restore_failing: false,
            refusing: false,
        }
    }

    pub(super) fn listener(&self) -> &ClientListener {
        &self.listener
    }

    /// Returns the next connection, or `None` for one that was closed at once, because far too
    /// many `clients` are connected. When it is pending, the waker is woken by the next connection.
    pub(super) fn poll(&mut self, clients: usize, now_ms: u64) -> Poll<Option<UnixStream>> {
        if self.retry_at.is_some() {
            return Poll::Pending;
        }
        match self.listener.poll_accept(&self.waker) {
            Poll::Pending => {
                self.accept_failing = false;
                Poll::Pending
            }
            Poll::Ready(Err(error)) => {
                // Most likely no descriptor is free. Clients keep waiting, and a pause keeps this
                // from spinning.
                if !std::mem::replace(&mut self.accept_failing, true) {
                    log(format_args!("can't accept connections, clients wait: {error}"));
                }
                self.retry_at = Some(now_ms + ACCEPT_RETRY_MS);
                Poll::Pending
            }
            // The core answers the first clients beyond the bound; of a flood the rest is closed.
            Poll::Ready(Ok(_)) if clients >= CLIENTS_MAX + REFUSED_MAX => {
                if !std::mem::replace(&mut self.refusing, true) {
                    log(format_args!("refusing clients: {clients} are connected"));
                }
                Poll::Ready(None)
            }
            Poll::Ready(Ok(stream)) => {
                self.refusing &= clients >= CLIENTS_MAX;
                Poll::Ready(Some(stream))
            }
        }
    }

    /// Has the driver accept again soon.
    pub(super) fn wake(&self) {
        self.waker.wake_by_ref();
    }

    /// Ends the pause after a failure when its time has come; returns whether it did.
    pub(super) fn end_pause(&mut self, now_ms: u64) -> bool {
        self.retry_at.take_if(|at| *at <= now_ms).is_some()
    }

    /// When [`ClientAcceptor::end_pause`] is due, in milliseconds.
    pub(super) fn next_timeout(&self) -> Option<u64> {
        self.retry_at
    }

    /// Makes the socket again if it is gone.
    pub(super) fn restore(&mut self) {
        let restored = self.listener.restore();
        let was_failing = std::mem::replace(&mut self.restore_failing, restored.is_err());
        match restored {
            Ok(false) => {}
            Ok(true) => {
                log("the socket was gone and has been restored");
                self.waker.wake_by_ref();
            }
            Err(_) if was_failing => {}
            Err(error) => log(format_args!("the socket is gone and can't be restored: {error}")),
        }
    }
}
