//! What may happen, as data: a history is a list of these, and any part of it is a history too. Numbers
//! choose among what there is when their turn comes; what can't happen then is left out.

use pipemux_proto::projection::Lod;

/// Chooses among what there is.
pub type Pick = u16;
/// An index into [`crate::places::READERS`].
pub type Who = usize;

/// One thing that happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A reader asks for something.
    Ask(Who, Ask, How),
    /// A request is sent once more under the same run id.
    Again(Pick),
    /// An answer that was not confirmed at once is confirmed.
    Confirm(Pick),
    Cancel(Pick),
    /// A client goes, with what it asked for; its end is heard so many milliseconds later.
    Vanish(Pick, u64),
    /// A client breaks the protocol.
    Rude(Rudeness),
    /// More requests on one connection than one client may have open.
    FloodClient(Who),
    /// More requests than one app may owe.
    FloodApp(Who, &'static str),
    /// An app's state changes by itself.
    Change(usize, Change),
    /// How an app behaves from now on.
    Manner(usize, Manner),
    /// A process is killed.
    Kill(usize),
    /// A process closes its connection and lives on.
    HalfOpen(usize),
    /// A process says something that nobody asked for.
    Rogue(usize, Rogue),
    /// A process says so many times that it changed, or has news.
    Chatter(usize, u16, bool),
    /// All processes are lost with their parent.
    LauncherLost,
    Pass(u64),
    /// The daemon is killed so many effects from now.
    CrashDaemon(u8),
    /// The disk is full, or no longer.
    DiskFull(bool),
    /// The daemon is asked to end, and another one starts.
    Stop,
    /// The log is written anew.
    Compact,
}

/// What a reader asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    Open {
        addr: &'static str,
        file: bool,
        look: Look,
    },
    /// Opens, and says whether its session is to stay awake.
    Pin(&'static str, bool),
    View {
        addr: Option<&'static str>,
        since: Option<Pick>,
        look: Look,
        wait: u32,
    },
    Run {
        steps: Vec<Step>,
        at: bool,
        look: Look,
    },
    Click(Pick),
    Answer(&'static str),
    Read(Ref),
    Help(&'static str),
    Close(&'static str, bool),
    End(&'static str),
    Restart(&'static str),
    /// With how long to wait for more, in milliseconds.
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

/// How much is to be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Look {
    pub lod: Option<Lod>,
    pub budget: Option<u32>,
}

/// How a request is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct How {
    pub json: bool,
    /// Milliseconds; 0: none is named.
    pub deadline: u32,
    pub confirm: Confirming,
    /// True for a connection that is used again.
    pub kept: bool,
}

/// When an answer is confirmed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Confirming {
    Now,
    Late,
    Never,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub addr: &'static str,
    /// How much of the address is written.
    pub owner: Owner,
    pub act: Act,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Owner {
    Full,
    Provider,
    None,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    Say,
    /// The same each time, without a mark: what ends its app again and again is known by that.
    Same,
    Add,
    Edit(Ref),
    Select(Ref),
    Drop(Ref),
    Text(Ref),
    /// Says the value of a thing, of whatever app.
    SayOf(Ref),
    /// Says what another session's `text` gives.
    SayText(&'static str, Ref),
    /// Edits what the name `selection` stands for.
    EditSelection,
    /// Edits, and doesn't say what.
    EditNothing,
    Line(u8),
    Pick,
    Name,
    Fail,
    /// No such action.
    Nonsense,
}

/// How a thing is referred to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ref {
    /// By an id that the reader was shown.
    Shown(Pick),
    /// The same, pinned to the epoch in which it was shown last.
    Pinned(Pick),
    /// By an id that somebody was shown somewhere.
    Anyones(Pick),
    /// By the app's own key.
    Key(Pick),
    /// By any number.
    Number(u8),
}

/// What happens to an app's state by itself.
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
pub enum Manner {
    #[default]
    Normal,
    /// Answers so many milliseconds late.
    Slow(u16),
    /// Takes everything in and says nothing.
    Hangs,
    /// The same, and SIGTERM doesn't end it.
    Stopped,
    /// Answers what can't be read.
    Garbage,
    /// Answers everything twice.
    Twice,
    /// Answers in no order.
    Unordered,
    /// Does several things at once: a window that it is asked for behind a step is as it was before the step,
    /// or refused since the step is under way.
    AtOnce,
    /// Dies of the next `Invoke`, before it takes effect or after.
    DiesOnInvoke(bool),
    /// Dies of the next `Project`.
    DiesOnProject,
    /// Never greets.
    NoHello,
    /// Speaks another version.
    WrongVersion,
    DiesAtStart,
    /// Dies of the first `Open`.
    DiesOnOpen,
    RefusesOpen,
    Unstartable,
}

/// What a process says that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rogue {
    /// An answer to a request that was never made.
    NeverAsked,
    /// An answer to a request that it answered before.
    AnsweredBefore,
    /// An answer to what it was just asked, under another life's number.
    AnotherLife,
    /// Answers and news of a session that it had, and that was closed.
    ClosedLife,
    /// Bytes that are no frames.
    Garbage,
    /// An answer that can't be read to what it was just asked.
    BadReply,
    /// A second greeting.
    Hello,
    /// Requests of its own.
    Asks,
    /// Events that can't be read, and some that can.
    Events,
}

/// How a client breaks the protocol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rudeness {
    /// Bytes that are no frames.
    Garbage,
    /// A request before its greeting.
    NoHello,
    /// A request whose body can't be read.
    BadBody,
    /// Methods that only the daemon may use.
    AppMethods,
    /// Comes and goes.
    Gone,
    /// Greets in another version.
    WrongVersion,
}
