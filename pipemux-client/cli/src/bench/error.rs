//! Errors of the measurement.

use std::fmt::Display;

use pipemux_client::ClientError;

/// Makes the error of a part of the measurement that failed.
pub fn failed(what: &str, why: impl Display) -> ClientError {
    ClientError::invalid(format!("{what}: {why}")).hint("look: pipemux doctor")
}
