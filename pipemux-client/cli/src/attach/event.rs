//! What happens to an attached terminal, and what follows from it.

use bytes::Bytes;
use pipemux_client::proto::client::Verb;
use pipemux_client::proto::report::Report;

/// A key that the user presses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Enter,
    Backspace,
    Delete,
    DeleteWord,
    DeleteToStart,
    Left,
    Right,
    Start,
    End,
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
    Earlier,
    Later,
    Tab,
    Escape,
    Leave,
    /// Leaves when nothing is typed.
    EndOfInput,
}

/// An input to the state of the attached terminal.
#[derive(Debug)]
pub enum Event {
    Key(Key),
    Pasted(String),
    /// The terminal now has this many columns and rows.
    Resized(u16, u16),
    /// The present window; `delivery` is confirmed once it was drawn.
    Shown {
        report: Box<Report>,
        delivery: u64,
    },
    /// The window after a request; nothing waits for it to be drawn.
    Looked(Box<Report>),
    /// There is no window to show, for this reason.
    Unshown(String),
    /// The value of the object with this ref.
    Loaded(String, Bytes),
    /// A request was answered.
    Answered(Box<Report>),
    /// A request has no answer, or one without steps; this is the text to show.
    Told(String),
    /// The connection to the daemon was lost.
    Lost,
    /// A daemon is reachable again.
    Found,
    /// The process is to be suspended until it is continued.
    Stopping,
    /// The process was continued after a suspension.
    Continued,
    /// The terminal is gone, or the process is to end.
    Stopped,
}

/// An action that results from an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Sends a request; its answer comes as an event.
    Ask(Verb),
    /// Confirms that the window was drawn, and waits for the next change.
    Confirm(u64),
    /// Reads the value of the thing with this ref, as it was shown in this epoch: that it was shown
    /// is confirmed later.
    Load(String, u64),
    /// Opens the window again.
    Reopen,
    /// Ends the program.
    Leave,
}
