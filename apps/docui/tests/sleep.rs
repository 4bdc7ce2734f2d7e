//! What the SDK keeps over a sleep: versions, and what a run changed itself.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::path::PathBuf;

use docui::testing::Host;
use docui::{Anchor, App, Context, Done, Fault, Found, Lod, Look, Object, Opening, Reply, View};
use pipemux_proto::app::Outcome;

docui::actions! {
    /// What can be done.
    pub enum Action {
        /// Changes a thing's meaning.
        changes featured Poke = poke(thing: Anchor);
    }
}

/// One thing that counts how often it was poked; `RESUMES` says whether it keeps that.
struct Thing<const RESUMES: bool> {
    pokes: u64,
    file: PathBuf,
    opened: Vec<String>,
    found: bool,
}

impl<const RESUMES: bool> App for Thing<RESUMES> {
    type Action = Action;
    const RESUMES: bool = RESUMES;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let file = opening.state_dir.join("pokes");
        let saved = std::fs::read_to_string(&file).ok().filter(|_| opening.woken);
        let pokes = saved.as_deref().and_then(|saved| saved.parse().ok());
        let opened = vec![opening.callee(), opening.address()];
        Ok(Self { pokes: pokes.unwrap_or(0), file, opened, found: pokes.is_some() })
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        self.opened.extend(opening.args.clone());
        Ok(Vec::new())
    }

    fn update(&mut self, _: Action, _: &Context) -> Result<Reply, Fault> {
        self.pokes += 1;
        Ok(Done::new(self.pokes.to_string()).into())
    }

    fn view(&self, _: &Look) -> View {
        let mut view = View::new("thing");
        view.object(Object::new("t", self.pokes.to_string()).rev(self.pokes));
        view
    }

    fn find(&self, _: &str) -> Found {
        Found::Here(self.pokes)
    }

    fn save(&mut self) -> Result<(), Fault> {
        std::fs::write(&self.file, self.pokes.to_string())
            .map_err(|error| Fault::failed(error.to_string()))
    }

    fn resumed(&self) -> bool {
        self.found
    }
}

fn poke(rev: u64) -> Action {
    Action::Poke { thing: Anchor::new("t", rev) }
}

fn is_done(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done(_))
}

#[test]
fn versions_go_on_and_a_runs_own_changes_stay_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<Thing<true>>::open(&[], dir.path(), dir.path()).unwrap();
    host.attach(&["further"]).unwrap();
    let seen = host.project(Lod::Full, 100).unwrap();
    assert!(is_done(&host.invoke_as("r", seen.version, &poke(0))));
    let before = host.project(Lod::Full, 100).unwrap();
    host.sleep_and_wake(&[&[], &["further"]]).unwrap();
    assert_eq!(host.project(Lod::Full, 100).unwrap(), before);
    // A later step of that run means the thing as the run left it; another run does not.
    assert!(is_done(&host.step_as("r", seen.version, &poke(0))));
    assert!(!is_done(&host.invoke_as("r", seen.version, &poke(0))));
    assert_eq!(host.project(Lod::Full, 100).unwrap().version, before.version + 1);
    let version = host.sleep().unwrap();
    // Not the one that was saved last: nothing of it is taken up.
    let (resumed, _) = host.wake(version - 1, &[&[]]).unwrap();
    assert!(!resumed && host.app().unwrap().pokes == 0);
    assert_eq!(host.project(Lod::Full, 100).unwrap().version, 1);
}

#[test]
fn an_app_that_lost_its_state_starts_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<Thing<true>>::open(&[], dir.path(), dir.path()).unwrap();
    host.invoke(&poke(0));
    let version = host.sleep().unwrap();
    std::fs::remove_file(dir.path().join("pokes")).unwrap();
    assert!(!host.wake(version, &[&[], &["more"]]).unwrap().0);
    assert_eq!(host.project(Lod::Full, 100).unwrap().version, 2, "counted from its two opens");
}

#[test]
fn what_would_lose_something_is_not_put_to_sleep() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<Thing<false>>::open_as("other/two", &[], dir.path(), dir.path()).unwrap();
    host.invoke(&poke(0));
    assert!(host.sleep().unwrap_err().message.contains("without losing something"));
    assert_eq!(host.app().unwrap().pokes, 1);
    assert_eq!(host.app().unwrap().opened, ["other/two", "other/two"]);
    let main = Host::<Thing<true>>::open_as("other/main", &[], dir.path(), dir.path()).unwrap();
    assert_eq!(main.app().unwrap().opened, ["other", "other/main"]);
}
