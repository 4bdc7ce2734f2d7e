//! Calls that ask what an action would do.

use std::time::Duration;

use docui::blocking::CommitPoint;
use docui::testing::Host;
use docui::{
    Actions, App, Ask, Blocking, Completion, Context, Done, Fault, Found, Opening, Reply, Value,
    View, ViewRequest,
};
use pipemux_proto::app::Outcome;

docui::actions! {
    /// The app's actions.
    pub enum Action {
        /// Adds to the number.
        changes featured Add = add(number: i64), preview;
        /// Can't be undone.
        destructive featured Wipe = wipe(), preview;
        /// Asks first.
        changes featured Choose = choose(), preview;
        /// Does its work at once.
        changes featured Set = set_to as set(number: i64), preview;
        /// Has no preview.
        changes featured Other = other();
        /// An action of the app's own, whatever it is called.
        changes featured PreviewOther = preview_other();
    }
}

#[derive(Debug, Default)]
struct Counter {
    number: i64,
}

impl App for Counter {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        Ok(Self::default())
    }

    fn blocking(
        &mut self,
        action: &Action,
        context: &Context,
    ) -> Result<Option<Blocking<Self>>, Fault> {
        let added = match action {
            Action::Add { number } => *number,
            Action::Wipe {} => -self.number,
            Action::Choose {} => 0,
            _ => return Ok(None),
        };
        let asks = matches!(action, Action::Choose {});
        let preview = context.preview;
        assert!(!preview || context.query);
        let work = |commit: &CommitPoint| commit.begin();
        let finish = move |app: &mut Self, begun: bool, _: Completion| -> Result<Reply, Fault> {
            // The SDK holds the app to it: work that is only shown never gets past its commit
            // point.
            assert_eq!(begun, !preview);
            match (asks, begun) {
                (true, _) => {
                    Ok(Ask::pick_many("which?").option("one", "1st").option("two", "").into())
                }
                (_, false) => Ok(Done::new(format!("would add {added}")).into()),
                (_, true) => {
                    app.number += added;
                    Ok(Done::new("added").into())
                }
            }
        };
        Ok(Some(Blocking::new("nothing", Duration::from_secs(5), work, finish)))
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        assert!(!context.preview, "{action:?} is carried out");
        self.number = 100;
        Ok(Done::new("done").into())
    }

    fn view(&self, _: &ViewRequest) -> View {
        View::new("")
    }

    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }
}

fn host() -> Host<Counter> {
    let dir = tempfile::tempdir().unwrap();
    Host::open(&[], dir.path(), dir.path()).unwrap()
}

fn brief(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done(done) => done.brief,
        Outcome::Failed(fault) => format!("failed: {}", fault.message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn preview_takes_no_effect_and_is_never_confirmed_or_asked() {
    let mut host = host();
    assert_eq!(brief(host.preview(&Action::Add { number: 7 })), "would add 7");
    assert_eq!(host.app().unwrap().number, 0);
    assert_eq!(brief(host.invoke(&Action::Add { number: 7 })), "added");
    assert_eq!(brief(host.preview(&Action::Wipe {})), "would add -7");
    assert_eq!(brief(host.preview(&Action::Choose {})), "asks first: which?");
    assert_eq!(host.app().unwrap().number, 7);
    // The action itself is confirmed as before.
    assert!(matches!(host.invoke(&Action::Wipe {}), Outcome::Needs(_)));
}

#[test]
fn work_that_has_no_commit_point_is_refused() {
    let mut host = host();
    let refused = brief(host.preview(&Action::Set { number: 1 }));
    assert_eq!(refused, "failed: what set_to would do can't be told");
    let unknown = brief(host.preview(&Action::Other {}));
    assert!(unknown.starts_with("failed: preview_other has no parameter preview"), "{unknown}");
    assert_eq!(host.app().unwrap().number, 0);
    for said in [Value::Bool(false), Value::Null, Value::Str("yes".into())] {
        let args = [("number", Value::Int(1).into()), ("preview", said.clone().into())];
        let refused = brief(host.call("preview_add", args));
        assert_eq!(refused, "failed: preview is true, or left out to carry the call out", "{said}");
    }
    assert_eq!(brief(host.call("preview_other", [])), "done");
}

#[test]
fn prototype_of_a_preview_is_called_like_its_action() {
    let prototypes = Action::prototypes();
    let named = |name: &str| prototypes.iter().find(|one| one.name == name).unwrap();
    let preview = named("preview_set_to");
    assert_eq!(preview.compact(), "set(number: int, preview: bool)");
    assert!(preview.risk.only_looks() && preview.idempotent && !preview.previews);
    assert!(!Action::has_preview("other") && Action::has_preview("wipe"));
    assert!(!prototypes.iter().any(|one| one.name == "preview_preview_other"));
}
