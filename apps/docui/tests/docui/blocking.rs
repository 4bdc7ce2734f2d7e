//! Requests whose work is done on another thread.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use docui::blocking::CommitPoint;
use docui::testing::Host;
use docui::{
    App, Blocking, Completion, Context, Done, Fault, Found, Opening, Reply, View, ViewRequest,
};
use pipemux_proto::app::Outcome;
use pipemux_proto::fault::Code;
use pipemux_proto::projection::Lod;

docui::actions! {
    /// The app's actions.
    pub enum Action {
        /// Takes effect, and then waits until it is released.
        changes featured Commit = commit(name: String);
        /// Waits until it is released, and then takes effect.
        changes featured Wait = wait(name: String);
        /// Doesn't wait.
        changes featured Count = count();
    }
}

/// What work waits for: a message on its channel, or the end of it.
type Gates = Arc<Mutex<BTreeMap<String, (Sender<()>, Option<Receiver<()>>)>>>;

struct Waiter {
    gates: Gates,
    count: u64,
    done: Vec<String>,
}

impl Waiter {
    fn gate(&self, name: &str) -> Receiver<()> {
        let mut gates = self.gates.lock().unwrap();
        let (sender, receiver) = channel();
        let entry = gates.entry(name.to_owned()).or_insert((sender, Some(receiver)));
        entry.1.take().unwrap()
    }

    fn release(&self, name: &str) {
        self.gates.lock().unwrap().remove(name);
    }
}

impl App for Waiter {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        Ok(Self { gates: Gates::default(), count: 0, done: Vec::new() })
    }

    fn blocking(&mut self, action: &Action, _: &Context) -> Result<Option<Blocking<Self>>, Fault> {
        let (name, commits_first) = match action {
            Action::Commit { name } => (name.clone(), true),
            Action::Wait { name } => (name.clone(), false),
            Action::Count {} => return Ok(None),
        };
        let gate = self.gate(&name);
        let work = move |commit: &CommitPoint| {
            if commits_first && !commit.begin() {
                return false;
            }
            let _ = gate.recv();
            commits_first || commit.begin()
        };
        let finish = move |app: &mut Self, begun: bool, completion: Completion| {
            if !begun {
                return Err(Fault::failed("called off"));
            }
            app.done.push(format!("{name} at {}", completion.version));
            Ok(Done::new(format!("{name} done")).into())
        };
        Ok(Some(Blocking::new("the gate", Duration::from_secs(10), work, finish)))
    }

    fn update(&mut self, _: Action, _: &Context) -> Result<Reply, Fault> {
        self.count += 1;
        Ok(Done::new(self.count.to_string()).into())
    }

    fn view(&self, _: &ViewRequest) -> View {
        View::new(format!("{} {:?}", self.count, self.done))
    }

    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }
}

fn host() -> Host<Waiter> {
    let dir = tempfile::tempdir().unwrap();
    Host::open(&[], dir.path(), dir.path()).unwrap()
}

fn failed(outcome: Outcome) -> Fault {
    match outcome {
        Outcome::Failed(fault) => fault,
        other => panic!("should fail: {other:?}"),
    }
}

fn title(host: &mut Host<Waiter>) -> String {
    host.project(Lod::Gist, 100).unwrap().title
}

#[test]
fn other_requests_are_handled_while_one_waits() {
    let mut host = host();
    assert!(host.begin(&Action::Wait { name: "a".into() }).is_none());
    for count in 1..=3 {
        let Outcome::Done(done) = host.invoke(&Action::Count {}) else { panic!() };
        assert_eq!(done.brief, count.to_string());
    }
    let before = host.project(Lod::Gist, 100).unwrap();
    assert_eq!(before.title, "3 []");
    host.app().unwrap().release("a");
    assert_eq!(host.wait_for_work(), Vec::<String>::new(), "the answer itself tells of it");
    let after = host.project(Lod::Gist, 100).unwrap();
    assert_eq!(after.title, format!("3 [\"a at {}\"]", before.version));
    assert_eq!(after.version, before.version + 1);
}

#[test]
fn overdue_work_that_did_not_take_effect_is_called_off() {
    let mut host = host();
    assert!(host.begin(&Action::Wait { name: "a".into() }).is_none());
    let fault = failed(host.end_wait().unwrap());
    assert_eq!(fault.code, Code::Failed);
    assert!(fault.message.starts_with("the gate did not answer within "), "{fault}");
    assert!(fault.message.ends_with("nothing was done"), "{fault}");
    host.app().unwrap().release("a");
    assert_eq!(host.wait_for_work(), Vec::<String>::new());
    assert_eq!(title(&mut host), "0 []");
}

#[test]
fn overdue_work_that_takes_effect_is_unknown_and_told_later() {
    let mut host = host();
    assert!(host.begin(&Action::Commit { name: "a".into() }).is_none());
    let fault = failed(host.end_wait().unwrap());
    assert_eq!(fault.code, Code::Unknown);
    assert!(fault.message.ends_with("it may still take effect"), "{fault}");
    host.app().unwrap().release("a");
    assert_eq!(host.wait_for_work(), ["commit took effect after all: a done"]);
    assert!(title(&mut host).starts_with("0 [\"a at "));
}

#[test]
fn session_with_work_under_way_does_not_hibernate() {
    let mut host = host();
    assert!(host.begin(&Action::Commit { name: "a".into() }).is_none());
    assert!(host.hibernate().is_err());
    host.app().unwrap().release("a");
    host.wait_for_work();
}
