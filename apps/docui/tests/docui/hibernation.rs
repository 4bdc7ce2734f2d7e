//! What the SDK keeps through hibernation: the version, and what the current run changed itself.

use std::path::{Path, PathBuf};

use docui::testing::Host;
use docui::{
    Anchor, App, Context, Done, Fault, Found, Lod, Object, Opening, Reply, View, ViewRequest,
};
use pipemux_proto::app::Outcome;

docui::actions! {
    /// The app's only action.
    pub enum Action {
        /// Changes the thing's rev.
        changes featured Poke = poke(thing: Anchor);
    }
}

/// One thing that counts its pokes, and restores the count only if `RESUMES` is set.
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

    fn view(&self, _: &ViewRequest) -> View {
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
fn versions_and_run_changes_survive_hibernation() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<Thing<true>>::open(&[], dir.path(), dir.path()).unwrap();
    host.attach(&["further"]).unwrap();
    let seen = host.project(Lod::Full, 100).unwrap();
    assert!(is_done(&host.invoke_as("r", seen.version, &poke(0))));
    let before = host.project(Lod::Full, 100).unwrap();
    host.hibernate_and_wake(&[&[], &["further"]]).unwrap();
    assert_eq!(host.project(Lod::Full, 100).unwrap(), before);
    // The thing's rev is 1 by now. Only a later step of the run that changed it may still name rev
    // 0.
    assert!(is_done(&host.step_as("r", seen.version, &poke(0))));
    assert!(!is_done(&host.invoke_as("r", seen.version, &poke(0))));
    assert_eq!(host.project(Lod::Full, 100).unwrap().version, before.version + 1);
}

#[test]
fn state_saved_for_another_version_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<Thing<true>>::open(&[], dir.path(), dir.path()).unwrap();
    host.invoke(&poke(0));
    let version = host.hibernate().unwrap();
    let (resumed, _) = host.wake(version - 1, &[&[]]).unwrap();
    assert!(!resumed);
    assert_eq!(host.app().unwrap().pokes, 0);
    assert_eq!(host.project(Lod::Full, 100).unwrap().version, 1);
}

#[test]
fn state_saved_by_version_0_1_is_still_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<Thing<true>>::open(&[], dir.path(), dir.path()).unwrap();
    // The files below were saved after the first run poked the thing once, at version 2.
    host.invoke(&poke(0));
    host.hibernate().unwrap();
    for name in ["docui.asleep", "pokes"] {
        let saved = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/saved");
        std::fs::copy(Path::new(saved).join(name), dir.path().join(name)).unwrap();
    }
    assert!(host.wake(2, &[&[]]).unwrap().0);
    assert_eq!(host.project(Lod::Full, 100).unwrap().version, 2);
    assert!(is_done(&host.step_as("r", 1, &poke(0))), "the run's own change is remembered");
}

#[test]
fn app_that_lost_its_state_is_reported_as_restarted() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<Thing<true>>::open(&[], dir.path(), dir.path()).unwrap();
    host.invoke(&poke(0));
    let version = host.hibernate().unwrap();
    std::fs::remove_file(dir.path().join("pokes")).unwrap();
    assert!(!host.wake(version, &[&[], &["more"]]).unwrap().0);
    assert_eq!(host.project(Lod::Full, 100).unwrap().version, 2, "counted from its two opens");
}

#[test]
fn app_that_would_lose_state_is_not_hibernated() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<Thing<false>>::open(&[], dir.path(), dir.path()).unwrap();
    host.invoke(&poke(0));
    assert!(host.hibernate().unwrap_err().message.contains("without losing state"));
    assert_eq!(host.app().unwrap().pokes, 1);
}

#[test]
fn calls_on_the_main_session_omit_its_id() {
    let dir = tempfile::tempdir().unwrap();
    for (address, callee) in [("other/main", "other"), ("other/two", "other/two")] {
        let host = Host::<Thing<true>>::open_as(address, &[], dir.path(), dir.path()).unwrap();
        assert_eq!(host.app().unwrap().opened, [callee, address]);
    }
}
