//! What an app says without being asked: from other threads, and when a timer fires.

use std::time::{Duration, SystemTime};

use docui::testing::{Host, Unasked};
use docui::{App, Context, Done, Fault, Found, Handle, Opening, Reply, View, ViewRequest};
use pipemux_proto::projection::Lod;

docui::actions! {
    /// The app's actions.
    pub enum Action {
        /// Sets a timer that fires at once.
        changes featured Start = start();
    }
}

struct Timer {
    handle: Handle,
    fires: Option<SystemTime>,
    fired: u32,
}

impl App for Timer {
    type Action = Action;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        Ok(Self { handle: opening.handle.clone(), fires: None, fired: 0 })
    }

    fn update(&mut self, _: Action, _: &Context) -> Result<Reply, Fault> {
        self.fires = Some(SystemTime::now());
        Ok(Done::new("started").into())
    }

    fn refresh(&mut self) -> bool {
        if self.fires.is_none_or(|at| at > SystemTime::now()) {
            return false;
        }
        self.fires = None;
        self.fired += 1;
        self.handle.notify("the timer fired");
        true
    }

    fn next_wake(&self) -> Option<SystemTime> {
        self.fires
    }

    fn view(&self, _: &ViewRequest) -> View {
        View::new(format!("fired {}", self.fired))
    }

    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }
}

const SOON: Duration = Duration::from_secs(60);

fn host() -> Host<Timer> {
    let dir = tempfile::tempdir().unwrap();
    Host::open(&[], dir.path(), dir.path()).unwrap()
}

#[test]
fn timer_that_fires_is_told_first_as_change_then_as_notice() {
    let mut host = host();
    assert_eq!(host.wait_unasked(Duration::ZERO), []);
    host.invoke(&Action::Start {});
    assert_eq!(host.wait_unasked(SOON), [Unasked::Changed]);
    assert_eq!(host.wait_unasked(SOON), [Unasked::Notice("the timer fired".into())]);
    assert_eq!(host.project(Lod::Gist, 100).unwrap().title, "fired 1");
    assert_eq!(host.wait_unasked(Duration::ZERO), []);
}

#[test]
fn thread_says_what_happens_while_the_app_serves_others() {
    let mut host = host();
    let handle = host.app().unwrap().handle.clone();
    let thread = std::thread::spawn(move || {
        handle.busy("boiling", Duration::from_secs(9));
        handle.notify("it boils");
        handle.changed();
    });
    thread.join().unwrap();
    assert_eq!(
        host.wait_unasked(SOON),
        [Unasked::Changed, Unasked::Busy("boiling".into()), Unasked::Notice("it boils".into())]
    );
    let handle = host.app().unwrap().handle.clone();
    handle.idle();
    // Nothing is said of a refresh that found nothing.
    handle.refresh();
    assert_eq!(host.wait_unasked(SOON), [Unasked::Idle]);
    assert_eq!(host.wait_unasked(Duration::ZERO), []);
}
