//! The one place that touches both the core and IO.
//!
//! One task, one turn at a time: take all that is ready, hand it to the core, carry out what the core
//! wants, and at the end write to each destination once. Nothing here decides what an event means, and
//! nothing here waits.
//!
//! | module | holds |
//! |---|---|
//! | `driver` | the turn, timers, the end |
//! | `driver::effects` | what the core wants, carried out |
//! | `driver::traffic` | connections: accepted, written to, closed |
//! | `driver::intake` | what comes on them |
//! | `driver::apps` | what the launcher reports |
//! | `driver::prints` | what apps print |

mod apps;
mod effects;
mod intake;
mod prints;
mod traffic;

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pipemux_core::{ClientId, Core, Effect, Event, Now};
use pipemux_proto::Incarnation;
use pipemux_proto::output::Spares;
use pipemux_proto::table::Table;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Sleep, sleep};

use crate::children::Children;
use crate::connection::Connection;
use crate::journal::Journal;
use crate::large::Larges;
use crate::limits::{SHARED, SOCKET_LOOK_MS};
use crate::look::{Again, Look};
use crate::manifests::Places;
use crate::note::note;
use crate::prints::Prints;
use crate::transport::Listener;
use crate::wake::{Peer, Token, Wakes};

/// The daemon's loop and all that it holds.
pub struct Driver {
    core: Core,
    now: Now,
    started: Instant,
    events: VecDeque<Event>,
    effects: Vec<Effect>,

    wakes: Arc<Wakes>,
    listener: Listener,
    accept: Waker,
    accept_again: Option<u64>,
    /// When to look next whether the socket is still in its place.
    socket_look: u64,
    /// True since it could not be put back: told once.
    socket_failing: bool,
    /// True since clients were turned away, until there is room: told once.
    refusing: bool,
    /// True since accepting failed, until nobody waits: told once.
    accept_failing: bool,
    connections: Table<Peer, Connection>,
    clients: usize,
    next_client: u64,
    /// Connections with something to write.
    dirty: Vec<Peer>,
    /// Clients that are to be closed, with when at the latest.
    lingering: VecDeque<(u64, ClientId)>,
    /// Connections with much to read or to write, whose turn comes after the others'.
    bulky: Vec<Peer>,
    /// Until when a connection with much to move takes a small share of a turn: small frames came.
    small_until: u64,
    /// Connections with much to do that share what others leave of the present turn, while it is their part of it.
    sharing: usize,
    look: Look,
    again: Arc<Again>,
    /// What everything is read into.
    shared: Box<[u8]>,
    spares: Spares,
    large: Larges,

    children: Children,
    /// Ordered, and not known to run.
    starting: HashMap<Incarnation, effects::Starting>,
    prints: Prints,
    journal: Journal,
    manifests: Places,
    /// True while there are new records to write.
    recording: bool,
    /// True while records can't be written.
    disk_failing: bool,
    /// When they are tried again.
    disk_again: Option<u64>,
    timer: Timer,
    signals: Signals,
    /// Set by the core's last effect: when to leave at the latest.
    leave: Option<u64>,
}

/// What a driver is made of.
pub struct Parts {
    /// The decisions.
    pub core: Core,
    /// Where clients come in.
    pub listener: Listener,
    /// The apps' processes.
    pub children: Children,
    /// The saved state.
    pub journal: Journal,
    /// Where manifests are.
    pub manifests: Places,
    /// What wakes the driver.
    pub wakes: Arc<Wakes>,
    /// What the runtime asks before it sleeps.
    pub again: Arc<Again>,
}

impl Driver {
    /// To be called in a runtime.
    ///
    /// # Errors
    /// Signals can't be watched.
    pub fn new(parts: Parts) -> io::Result<Self> {
        let Parts { core, listener, children, journal, manifests, wakes, again } = parts;
        let driver = Self {
            core,
            now: Now::default(),
            started: Instant::now(),
            events: VecDeque::new(),
            effects: Vec::new(),
            listener,
            accept: wakes.waker(Token::Accept),
            accept_again: None,
            socket_look: SOCKET_LOOK_MS,
            socket_failing: false,
            refusing: false,
            accept_failing: false,
            connections: Table::default(),
            spares: Spares::default(),
            large: Larges::default(),
            clients: 0,
            next_client: 1,
            dirty: Vec::new(),
            bulky: Vec::new(),
            small_until: 0,
            sharing: 0,
            look: Look::default(),
            again,
            lingering: VecDeque::new(),
            shared: vec![0; SHARED].into(),
            children,
            starting: HashMap::new(),
            prints: Prints::default(),
            journal,
            manifests,
            recording: false,
            disk_failing: false,
            disk_again: None,
            timer: Timer::new(wakes.waker(Token::Timer)),
            signals: Signals::new(wakes.waker(Token::Signal))?,
            leave: None,
            wakes,
        };
        // Each is looked at once, which is how its waker comes to be known.
        driver.accept.wake_by_ref();
        driver.signals.waker.wake_by_ref();
        driver.wakes.waker(Token::Launcher).wake();
        Ok(driver)
    }

    /// Serves until the core has ended everything, or is told twice to end; gives back the processes.
    pub async fn run(mut self) -> Children {
        let mut ready = Vec::new();
        let written = self.journal.write_kept();
        self.note_disk(written);
        poll_fn(|context| self.turn(context.waker(), &mut ready)).await;
        self.children
    }

    fn turn(&mut self, driver: &Waker, ready: &mut Vec<Token>) -> Poll<()> {
        self.now = self.clocks();
        self.wakes.take(driver, ready);
        for token in ready.drain(..) {
            match token {
                Token::Accept => self.accept(),
                Token::Launcher => self.hear_launcher(),
                Token::Signal => self.take_signals(),
                Token::Timer => self.timer.elapsed(),
                Token::Peer(peer) => self.serve(peer),
                Token::Print(app) => self.read_print(app),
            }
        }
        self.do_what_is_due();
        self.write_all();
        self.serve_bulky();
        self.keep_journal();
        if self.may_leave() {
            return Poll::Ready(());
        }
        let next = [self.core.next_timeout(), self.own_timeout()].into_iter().flatten().min();
        self.timer.set(self.started, next);
        if self.look.is_worth_it(Instant::now) {
            self.again.want(driver);
        }
        Poll::Pending
    }

    /// Hands an event to the core, carries out what it wants, and so on for what follows from that.
    fn handle(&mut self, event: Event) {
        self.core.handle(event, self.now, &mut self.effects);
        self.carry_out();
        while let Some(event) = self.events.pop_front() {
            self.core.handle(event, self.now, &mut self.effects);
            self.carry_out();
        }
    }

    /// Hands in what is queued.
    fn finish_events(&mut self) {
        while let Some(event) = self.events.pop_front() {
            self.handle(event);
        }
    }

    fn do_what_is_due(&mut self) {
        let now = self.now.mono_ms;
        let due = |at: Option<u64>| at.is_some_and(|at| at <= now);
        if due(self.core.next_timeout()) {
            self.core.handle_timeout(self.now, &mut self.effects);
            self.carry_out();
        }
        if due(self.disk_again) {
            let written = self.journal.write_kept();
            self.note_disk(written);
        }
        if due(self.accept_again) {
            self.accept_again = None;
            self.accept();
        }
        if now >= self.socket_look {
            self.look_at_socket();
        }
        self.large.tidy(now);
        if due(self.prints.next_timeout()) {
            self.prints_are_due();
        }
        while let Some((at, client)) = self.lingering.front().copied() {
            if at > now {
                break;
            }
            self.lingering.pop_front();
            self.close_client(client);
        }
        self.finish_events();
    }

    fn own_timeout(&self) -> Option<u64> {
        let lingering = self.lingering.front().map(|(at, _)| *at);
        let prints = self.prints.next_timeout();
        let socket = Some(self.socket_look);
        let large = self.large.next_timeout();
        [self.accept_again, self.disk_again, socket, lingering, prints, large, self.leave]
            .into_iter()
            .flatten()
            .min()
    }

    fn take_signals(&mut self) {
        while self.signals.next() {
            if self.signals.seen > 1 {
                note("told again to end: ending at once");
                self.leave = Some(self.now.mono_ms);
            } else {
                self.handle(Event::Stop);
            }
        }
    }

    fn may_leave(&self) -> bool {
        let Some(latest) = self.leave else { return false };
        let mut clients =
            self.connections.iter().filter(|(peer, _)| matches!(peer, Peer::Client(_)));
        latest <= self.now.mono_ms || clients.all(|(_, connection)| !connection.has_output())
    }

    fn clocks(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Now { mono_ms: ms(self.started.elapsed()), unix_ms: ms(unix) }
    }
}

/// The one timer, set to the earliest of all deadlines.
struct Timer {
    sleep: Pin<Box<Sleep>>,
    waker: Waker,
    /// What it is set to; it may be earlier than needed, for setting it has its cost.
    set: Option<u64>,
}

impl Timer {
    fn new(waker: Waker) -> Self {
        Self { sleep: Box::pin(sleep(Duration::ZERO)), waker, set: None }
    }

    fn elapsed(&mut self) {
        self.set = None;
    }

    fn set(&mut self, start: Instant, at: Option<u64>) {
        let Some(at) = at else { return };
        if self.set.is_some_and(|set| set <= at) {
            return;
        }
        self.set = Some(at);
        // A time that no clock reaches needs no timer.
        let Some(instant) = start.checked_add(Duration::from_millis(at)) else { return };
        self.sleep.as_mut().reset(instant.into());
        if self.sleep.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready() {
            self.waker.wake_by_ref();
        }
    }
}

/// SIGTERM and SIGINT; SIGHUP is taken and means nothing, and so is SIGXFSZ: a file that may not grow is
/// an error where it is written.
struct Signals {
    ending: [Signal; 2],
    _ignored: [Signal; 2],
    waker: Waker,
    seen: u32,
}

impl Signals {
    fn new(waker: Waker) -> io::Result<Self> {
        let ending = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
        let too_large = SignalKind::from_raw(nix::libc::SIGXFSZ);
        let ignored = [signal(SignalKind::hangup())?, signal(too_large)?];
        Ok(Self { ending, _ignored: ignored, waker, seen: 0 })
    }

    /// True for each signal that came.
    fn next(&mut self) -> bool {
        let context = &mut Context::from_waker(&self.waker);
        let mut came = false;
        for one in &mut self.ending {
            came |= matches!(one.poll_recv(context), Poll::Ready(Some(())));
        }
        self.seen += u32::from(came);
        came
    }
}
