//! A log that is being read.

/// The mode in which a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogRead {
    /// The last lines, as text.
    Once,
    /// A part, for a client that follows the log.
    Part,
    /// The next part, which may still have to be printed.
    Watched {
        /// The position in the log where the part begins.
        after: u64,
        /// The time at which the client is notified that nothing was printed.
        until: u64,
    },
}
