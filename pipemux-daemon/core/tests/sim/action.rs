//! What may happen, as data. A scenario is a list of actions, and any part of it is a scenario too,
//! so that a failing one can be made shorter. Numbers choose among the things that exist when their
//! action is played; an action that isn't possible then is skipped.

use pipemux_proto::projection::Lod;

/// Chooses one of the things that exist when the action is played.
pub type Pick = u16;
/// An index into [`crate::sessions::READERS`].
pub type ReaderIndex = usize;

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A reader asks for something.
    Ask(ReaderIndex, Ask, RequestOptions),
    /// A request is sent again under the same run id.
    Repeat(Pick),
    /// A late confirmation is sent.
    Confirm(Pick),
    Cancel(Pick),
    /// A client with an open request vanishes; the daemon hears of it after this many milliseconds.
    Vanish(Pick, u64),
    /// A client breaks the protocol.
    BreakProtocol(ProtocolBreach),
    /// One client sends more requests than it may have open.
    FloodClient(ReaderIndex),
    /// Clients send more requests to one app than may be open there.
    FloodApp(ReaderIndex, &'static str),
    /// An app's state changes without a request.
    Change(usize, Change),
    /// An app behaves in this way from now on.
    Behaviour(usize, Behaviour),
    /// A process is killed.
    Kill(usize),
    /// A process closes its connection and keeps running.
    HalfOpen(usize),
    /// A process sends something that nobody asked for.
    RogueMessage(usize, RogueMessage),
    /// A process sends this many `Changed` events, or `Notify` events when the flag is set.
    Chatter(usize, u16, bool),
    /// The launcher dies, and all processes with it.
    LauncherLost,
    Pass(u64),
    /// The daemon is killed after this many more effects.
    CrashDaemon(u8),
    /// The disk becomes full, or has room again.
    DiskFull(bool),
    /// The daemon is stopped in order, and another one starts.
    Stop,
    /// The log is compacted.
    Compact,
}

/// What a reader asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    Open {
        addr: &'static str,
        file: bool,
        view_options: ViewOptions,
    },
    /// Opens a session and pins or unpins it.
    Pin(&'static str, bool),
    View {
        addr: Option<&'static str>,
        since: Option<Pick>,
        view_options: ViewOptions,
        wait: u32,
    },
    Run {
        steps: Vec<Step>,
        at: bool,
        view_options: ViewOptions,
    },
    Click(Pick),
    Answer(&'static str),
    /// Answers with a call, which takes the place of one that failed.
    Correct(Step),
    /// Takes a round back: one of these numbers, or the newest one of the reader.
    Undo(Option<Pick>),
    Read(Ref),
    Help(&'static str),
    Close(&'static str, bool),
    End(&'static str),
    Restart(&'static str),
    /// Reads a log, and waits up to this many milliseconds for more.
    Logs(&'static str, u32),
    Watch(u32),
    Limits,
    Set(&'static str, &'static str),
    History(bool),
    Sessions,
    Status,
    Apps,
    Down,
}

/// How much of a window is requested.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ViewOptions {
    pub lod: Option<Lod>,
    pub budget: Option<u32>,
}

/// How a request is sent and its answer confirmed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestOptions {
    pub json: bool,
    /// In milliseconds; 0 for none.
    pub deadline: u32,
    pub confirm: Confirmation,
    /// True to reuse the reader's long-lived connection.
    pub kept: bool,
}

/// When the answer of a request is confirmed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Confirmation {
    Now,
    Late,
    Never,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub addr: &'static str,
    /// How much of the address the code names.
    pub form: AddressForm,
    pub act: StepAction,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AddressForm {
    Full,
    Provider,
    None,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepAction {
    Say,
    /// The same call each time, without a mark: quarantine recognizes a call that keeps killing its
    /// app.
    Same,
    Add,
    Edit(Ref),
    Select(Ref),
    Drop(Ref),
    Text(Ref),
    /// Asks for all things, which the answer then shows.
    List,
    /// Says the value of a thing of any app.
    SayOf(Ref),
    /// Says the result of another session's `text`.
    SayText(&'static str, Ref),
    /// Edits the thing that the name `selection` stands for.
    EditSelection,
    /// Edits without naming a thing, so that the daemon asks for it.
    EditNothing,
    Line(u8),
    Pick,
    Name,
    Fail,
    /// Calls an action that doesn't exist.
    Nonsense,
}

/// How a thing is referred to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ref {
    /// By an id that the reader was shown.
    Shown(Pick),
    /// By such an id, pinned to the epoch that showed it last.
    Pinned(Pick),
    /// By an id that any reader of the workspace was shown.
    Anyones(Pick),
    /// By the app's key of it.
    Key(Pick),
    /// By any number.
    Number(u8),
}

/// A change of an app's state without a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    Add(u8),
    Edit(Pick),
    Remove(Pick),
    Hide(Pick, bool),
    Select(Pick),
}

/// How an app behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behaviour {
    #[default]
    Normal,
    /// Answers this many milliseconds late.
    Slow(u16),
    /// Reads everything and answers nothing.
    Hangs,
    /// Like `Hangs`, and ignores SIGTERM.
    Stopped,
    /// Sends answers that can't be decoded.
    Garbage,
    /// Answers everything twice.
    Twice,
    /// Answers out of order.
    Unordered,
    /// Handles requests concurrently: a window that is requested right after a step shows the state
    /// before the step, or is refused because the step is under way.
    AtOnce,
    /// Dies of an `Invoke`, after it took effect when the flag is set.
    DiesOnInvoke(bool),
    /// Dies of a `Project`.
    DiesOnProject,
    /// Never greets.
    NoHello,
    /// Greets with another protocol version.
    WrongVersion,
    DiesAtStart,
    /// Dies of an `Open`.
    DiesOnOpen,
    RefusesOpen,
    Unstartable,
}

/// What a process sends that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RogueMessage {
    /// An answer to a request that was never sent.
    NeverAsked,
    /// An answer to a request that it answered before.
    AnsweredBefore,
    /// An answer to an open request, under the number of another incarnation.
    AnotherLife,
    /// Answers and events of a session that was closed.
    ClosedLife,
    /// Bytes with invalid framing.
    Garbage,
    /// An answer that can't be decoded to an open request.
    BadReply,
    /// A second greeting.
    Hello,
    /// Requests of its own.
    Asks,
    /// Events that can't be decoded, and some that can.
    Events,
}

/// How a client breaks the protocol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProtocolBreach {
    /// Bytes with invalid framing.
    Garbage,
    /// A request before its greeting.
    NoHello,
    /// A request whose body can't be decoded.
    BadBody,
    /// Methods that only the daemon may use.
    AppMethods,
    /// Connects, greets and disconnects.
    Gone,
    /// Greets with another protocol version.
    WrongVersion,
    /// Is a process that an app started, and acts all the same.
    BelowApp,
}
