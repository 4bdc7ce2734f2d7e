//! Why there is no answer.

use pipemux_proto::{Code, Fault};

/// The exit status of the command line when no daemon of this version could be reached.
pub const UNREACHABLE: u8 = 8;

/// Why a request has no answer. What the daemon answers, failures included, is none of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// No daemon could be asked; the request did not reach one.
    #[error(transparent)]
    Unreachable(Fault),
    /// The daemon speaks another version; nothing was asked.
    #[error(transparent)]
    Version(Fault),
    /// An acting request may have reached the daemon, and no answer will come.
    #[error(transparent)]
    Unknown(Fault),
    /// The daemon refused the request as a whole.
    #[error(transparent)]
    Refused(Fault),
    /// The request can't be sent as it is; nothing was sent.
    #[error(transparent)]
    Invalid(Fault),
}

impl ClientError {
    /// What happened, with its way out.
    pub fn fault(&self) -> &Fault {
        match self {
            ClientError::Unreachable(fault)
            | ClientError::Version(fault)
            | ClientError::Unknown(fault)
            | ClientError::Refused(fault)
            | ClientError::Invalid(fault) => fault,
        }
    }

    /// The exit status of the command line for it.
    pub fn exit_status(&self) -> u8 {
        match self {
            ClientError::Unreachable(_) | ClientError::Version(_) => UNREACHABLE,
            other => other.fault().code.exit_status(),
        }
    }

    /// Nobody could be asked.
    pub(crate) fn unreachable(message: impl Into<String>) -> Self {
        ClientError::Unreachable(Fault::unavailable(message))
    }

    /// The request is wrong as the caller made it.
    pub fn invalid(message: impl Into<String>) -> Self {
        ClientError::Invalid(Fault::usage(message))
    }

    /// No answer will come to a request that was sent.
    pub(crate) fn lost(acts: bool, why: &str) -> Self {
        if acts {
            let message = format!("{why}; what was asked may or may not have been done");
            ClientError::Unknown(Fault::unknown(message).hint("look: pipemux view"))
        } else {
            Self::unreachable(why).hint("run the command again, or look: pipemux status")
        }
    }

    /// Adds a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        let (ClientError::Unreachable(fault)
        | ClientError::Version(fault)
        | ClientError::Unknown(fault)
        | ClientError::Refused(fault)
        | ClientError::Invalid(fault)) = &mut self;
        fault.hints.push(hint.into());
        self
    }

    /// True when the error is certainly of another version's making.
    pub(crate) fn of_greeting(fault: Fault) -> Self {
        if fault.code == Code::Version {
            ClientError::Version(fault)
        } else {
            ClientError::Unreachable(fault)
        }
    }
}
