//! Why a request has no answer.

use pipemux_proto::{Code, Fault};

/// The exit status of the command line if no daemon of this version could be reached.
pub const UNREACHABLE: u8 = 8;

/// The reason why a request has no answer. A failure that the daemon reports is an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// No daemon could be reached; the request was not delivered.
    #[error(transparent)]
    Unreachable(Fault),
    /// The daemon speaks another protocol version; no request was sent to it.
    #[error(transparent)]
    VersionMismatch(Fault),
    /// An acting request may have been delivered, and no answer will come.
    #[error(transparent)]
    OutcomeUnknown(Fault),
    /// The daemon refused the request as a whole.
    #[error(transparent)]
    Refused(Fault),
    /// The caller's request is invalid; nothing was sent.
    #[error(transparent)]
    Invalid(Fault),
}

impl ClientError {
    /// Makes the error of a request that is wrong as the caller made it.
    pub fn invalid(message: impl Into<String>) -> Self {
        ClientError::Invalid(Fault::usage(message))
    }

    /// Adds a hint: what the caller can do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        let (ClientError::Unreachable(fault)
        | ClientError::VersionMismatch(fault)
        | ClientError::OutcomeUnknown(fault)
        | ClientError::Refused(fault)
        | ClientError::Invalid(fault)) = &mut self;
        fault.hints.push(hint.into());
        self
    }

    /// Returns the message and the hints.
    pub fn fault(&self) -> &Fault {
        match self {
            ClientError::Unreachable(fault)
            | ClientError::VersionMismatch(fault)
            | ClientError::OutcomeUnknown(fault)
            | ClientError::Refused(fault)
            | ClientError::Invalid(fault) => fault,
        }
    }

    /// Returns the exit status with which the command line ends on this error.
    pub fn exit_status(&self) -> u8 {
        match self {
            ClientError::Unreachable(_) | ClientError::VersionMismatch(_) => UNREACHABLE,
            other => other.fault().code.exit_status(),
        }
    }

    /// Makes the error of a daemon that could not be reached.
    pub(crate) fn unreachable(message: impl Into<String>) -> Self {
        ClientError::Unreachable(Fault::unavailable(message))
    }

    /// Makes the error of a request that was sent and will not be answered. `acts` tells whether it
    /// could have changed something.
    pub(crate) fn lost(acts: bool, why: &str) -> Self {
        if acts {
            let message = format!("{why}; the request may or may not have been carried out");
            ClientError::OutcomeUnknown(Fault::unknown(message).hint("look: pipemux view"))
        } else {
            Self::unreachable(why).hint("run the command again, or look: pipemux status")
        }
    }

    /// Makes the error of a greeting that one of the sides refused.
    pub(crate) fn from_greeting(fault: Fault) -> Self {
        if fault.code == Code::Version {
            ClientError::VersionMismatch(fault)
        } else {
            ClientError::Unreachable(fault)
        }
    }
}
